// SPDX-License-Identifier: MIT
// Calls that are recorded and judged: a stack whose pop says "nothing" although something is always inside.
// check: FAIL not linearizable: no sequential order explains what the calls returned
// check -DOWN_RUN: FAIL not linearizable: no sequential order explains what the calls returned
// check -DRETRY: passes
// check -DRETRY -DOWN_RUN: passes
// check -DRETRY -DAS_QUEUE: FAIL not linearizable
// check -DRELAXED: passes
// check -DQUIESCENT: FAIL not linearizable: no sequential order explains what the calls returned, also if
// check -DLATE: FAIL not linearizable
// check -DLATE -DQUIESCENT: passes
// check -DRETRY -DEARLY: FAIL misuse: a call is made after its history was judged
// check -DNO_STEPS: exhaustive, 1 execution
// check -DNO_STEPS -DAS_QUEUE: FAIL not linearizable
// check -DTWO_OBJECTS: exhaustive
// check -DAFTER_A_CALL: FAIL misuse: T0 tries to lock the mutex
// check -DTWO_SPECIFICATIONS: FAIL not linearizable
// check -DTWO_SPECIFICATIONS -DBOTH_HAVE_ROOM: exhaustive
// check -DUNDER_WAY: FAIL misuse: a history is judged while a call is under way
// check -DORDER_MATTERS: FAIL not linearizable
// check -DEXPECTED_RACES: FAIL data race
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include <runq/specifications.hpp>

struct node {
  int value;
  node* next;
};
class stack {
 public:
  ~stack() {
    while (pop()) {
    }
  }
  bool push(int value) {
    node* const n = new node{value, head_.load(std::memory_order::relaxed)};
    // What the compare-exchange expects is the link itself: another value there is no reason to wait.
    while (!head_.compare_exchange_weak(n->next, n, std::memory_order::release, std::memory_order::relaxed)) {
    }
    return true;
  }
  std::optional<int> pop() {
    node* top = head_.load(std::memory_order::acquire);
    while (top != nullptr) {
      node* const n = top;
      if (head_.compare_exchange_strong(top, n->next, std::memory_order::acquire, std::memory_order::acquire)) {
        const int value = n->value;
        delete n;
        return value;
      }
#ifndef RETRY
      break;
#endif
    }
    return {};
  }

 private:
  std::atomic<node*> head_{nullptr};
};

#if defined(OWN_RUN)
using recorded_stack = runq::recorded<stack>;
#elif defined(AS_QUEUE)
using recorded_stack = runq::recorded<stack, runq::spec::queue<int>>;
#elif defined(RELAXED)
/// May take nothing though something is inside.
struct relaxed_stack : runq::spec::stack<int> {
  std::optional<int> pop() { return runq::any_of(2) == 0 ? runq::spec::stack<int>::pop() : std::nullopt; }
};
using recorded_stack = runq::recorded<stack, relaxed_stack>;
#else
using recorded_stack = runq::recorded<stack, runq::spec::stack<int>>;
#endif

constexpr auto push = [](auto& s, int value) { return s.push(value); };
constexpr auto pop = [](auto& s) { return s.pop(); };

#ifdef TWO_SPECIFICATIONS
// The same calls of two objects, the second of which is judged by a queue with less room.
struct two_numbers {
  bool push(int) { return ++count <= 2; }
  int count = 0;
};
constexpr auto make_numbers = [] { return two_numbers{}; };
constexpr auto make_two = [] { return runq::spec::queue<int>(2); };
#ifdef BOTH_HAVE_ROOM
constexpr auto make_less = [] { return runq::spec::queue<int>(3); };
#else
constexpr auto make_less = [] { return runq::spec::queue<int>(1); };
#endif
int main() {
  runq::recorded_by<decltype(make_numbers), decltype(make_two)> first;
  runq::recorded_by<decltype(make_numbers), decltype(make_less)> second;
  first.call("push", push, 1);
  first.call("push", push, 2);
  first.require_linearizable();
  second.call("push", push, 1);
  second.call("push", push, 2);
  second.require_linearizable();
}
#elif defined(AFTER_A_CALL)
// What a specification may say of a call is no word on what comes after it.
std::mutex mutex;
int main() {
  recorded_stack s;
  s.call("push", push, 1);
  mutex.lock();
  if (mutex.try_lock()) mutex.unlock();
  mutex.unlock();
}
#elif defined(EXPECTED_RACES)
// The memory of the value that a compare-exchange expects is treated like any other.
int main() {
  int expected = 0;
  std::atomic<int> variable{1};
  int* const shared = &expected;
  std::thread other([shared, &variable] { static_cast<void>(variable.compare_exchange_strong(*shared, 2)); });
  expected = 3;
  other.join();
}
#elif defined(TWO_OBJECTS)
// Objects at the same address, one after the other.
int main() {
  for (int i = 0; i != 2; ++i) {
    runq::recorded<runq::spec::stack<int>, runq::spec::queue<int>> calls;
    if (i == 0) calls.call("push", push, 1);
    calls.call("pop", pop);
    calls.require_linearizable();
  }
}
#elif defined(UNDER_WAY)
std::atomic<bool> begun{false}, may_end{false};
struct slow {
  bool push(int) {
    begun = true;
    while (!may_end) continue;
    return true;
  }
};
int main() {
  runq::recorded<slow, runq::spec::stack<int>> calls;
  std::thread other([&calls] { calls.call("push", push, 1); });
  while (!begun) continue;
  calls.require_linearizable();
  may_end = true;
  other.join();
}
#elif defined(ORDER_MATTERS)
// A pop that takes nothing is right beside the push, and wrong after it; otherwise the two histories are the same.
struct forgetful {
  bool push(int) { return true; }
  std::optional<int> pop() { return {}; }
};
std::atomic<bool> pushed{false};
int main() {
  runq::recorded<forgetful, runq::spec::stack<int>> calls;
  std::thread other([&calls] {
    calls.call("push", push, 1);
    pushed.store(true, std::memory_order::release);
  });
  static_cast<void>(pushed.load(std::memory_order::acquire));
  calls.call("pop", pop);
  other.join();
  calls.require_linearizable();
}
#elif defined(NO_STEPS)
// Calls that share nothing: only their order in the program says which one comes first.
#ifdef AS_QUEUE
runq::recorded<runq::spec::stack<int>, runq::spec::queue<int>> calls;
#else
runq::recorded<runq::spec::stack<int>> calls;
#endif
int main() {
  std::thread other([] {
    calls.call("push", push, 1);
    calls.call("push", push, 2);
    calls.call("pop", pop);
  });
  other.join();
  calls.call("pop", pop);
  calls.require_linearizable();
}
#else
int main() {
  recorded_stack calls;
#ifndef LATE
  calls.call("push", push, 1);
#endif
  std::thread other([&calls] { calls.call("push", push, 2); });
#ifdef LATE  // all of this is while the other call is under way
  calls.call("push", push, 1);
#endif
#ifdef EARLY
  calls.require_linearizable();
#endif
  calls.call("pop", pop);
  other.join();
  calls.call("pop", pop);
#ifdef QUIESCENT
  calls.require_quiescently_consistent();
#else
  calls.require_linearizable();
#endif
}
#endif
