// SPDX-License-Identifier: MIT
// The queues in the shapes that other people's runtimes ask for: one class for each, and what it must do.
// docs/integrate.md says which one is for whom.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <mutex>
#include <thread>
#include <vector>

#include <runq/chase_lev.hpp>
#include <runq/local_queue.hpp>
#include <runq/one_object.hpp>
#include <runq/ring.hpp>

namespace {

struct task {
  int number = 0;
  runq::inject_link<task> link{};
};

// Fork/join: the owner works at the newest end, thieves take the oldest, and "nothing" is a null pointer.
struct fork_join_deque : runq::one_object<runq::chase_lev<task*>> {
  task* pop() { return one_object::pop().value_or(nullptr); }
  task* steal() { return one_object::steal(); }
};

// Fork/join with a limit: push() hands back a task that does not fit, and the caller runs it.
struct bounded_deque {
  task* push(task* t) { return deque.push(t) ? nullptr : t; }
  task* pop(auto when_empty) {
    const auto t = deque.pop();
    return t ? *t : when_empty();
  }
  bool steal(task*& t) { return (t = deque.steal()) != nullptr; }
  runq::one_object<runq::bounded_chase_lev<task*>> deque{4};
};

// A host whose producers push under a mutex of its own, from any thread, so that each is the owner in turn. It pops
// under the same mutex; thieves need none.
struct deque_with_producers : fork_join_deque {
  std::size_t push(auto first, std::ptrdiff_t n) {
    return push_batch(std::counted_iterator(first, n), std::default_sentinel).count;
  }
};

// A fair scheduler: first in, first out. A task that does not fit goes to a queue that all processors share.
struct fair_queue : runq::one_object<runq::local_queue<&task::link>> {
  explicit fair_queue(runq::inject<&task::link>& g) : one_object(g), global(g) {}
  task* pop() {
    task* const t = one_object::pop().task;
    return t != nullptr ? t : make_owner().take_from(global, 1);
  }
  runq::inject<&task::link>& global;
};

// An executor with priorities: one queue for each priority. Owner and thieves look into the most urgent one first.
struct priority_queues : std::array<fork_join_deque, 3> {
  bool push(task* t, std::size_t priority) { return at(priority).push(t); }
  task* pop() { return first(&fork_join_deque::pop); }
  task* steal() { return first(&fork_join_deque::steal); }
  task* first(auto take) {
    task* t = nullptr;
    for (iterator level = begin(); t == nullptr && level != end(); ++level) t = std::invoke(take, *level);
    return t;
  }
};

// Tasks that must run on one thread: a queue that any thread may fill, and of which no thief is ever made.
struct with_pinned_tasks : fork_join_deque {
  void push_pinned(task* t) { pinned.put(t); }  // any thread
  task* pop() {
    task* const t = pinned.take();
    return t != nullptr ? t : fork_join_deque::pop();
  }
  runq::inject<&task::link> pinned;
};

// A tree of forks on one thread: each task but a leaf forks two and joins them, and while it waits it runs what it gets
// from the queue, on top of its own stack. Returns how many tasks were on the stack at most.
struct join {
  int levels = 0;      // below this one
  int unfinished = 0;  // children
  join* parent = nullptr;
};
template <class Owner>
class nested_joins {
 public:
  explicit nested_joins(Owner& owner) : owner_(owner) {}
  int deepest(int levels) {
    join root{.levels = levels};
    run(root);
    return deepest_;
  }

 private:
  void run(join& f) {
    deepest_ = std::max(deepest_, ++depth_);
    if (f.levels != 0) {
      std::array<join, 2> children;
      children.fill({.levels = f.levels - 1, .parent = &f});
      f.unfinished = 2;
      for (join& child : children) {
        if (!owner_.push(&child)) run(child);
      }
      while (f.unfinished != 0) {
        if (const auto next = owner_.pop()) run(**next);
      }
    }
    if (f.parent != nullptr) --f.parent->unfinished;
    --depth_;
  }

  Owner& owner_;
  int depth_ = 0;
  int deepest_ = 0;
};

void check(bool ok, const char* what) {
  if (ok) return;
  std::printf("wrong: %s\n", what);
  std::exit(1);
}

}  // namespace

int main() {
  std::array<task, 6> t;
  const std::vector<task*> all{&t[0], &t[1], &t[2], &t[3], &t[4], &t[5]};

  fork_join_deque deque;
  check(deque.empty() && deque.pop() == nullptr && deque.steal() == nullptr, "an empty deque gives null pointers");
  for (task* const one : all) check(deque.push(one), "a deque that grows takes all");
  check(deque.size() == 6 && deque.pop() == &t[5] && deque.steal() == &t[0],
        "a pop takes the newest, a steal the oldest");

  bounded_deque bounded;
  for (int i = 0; i != 4; ++i)
    check(bounded.push(all[static_cast<std::size_t>(i)]) == nullptr, "there is room for four");
  check(bounded.push(&t[4]) == &t[4], "a push of a fifth task hands it back");
  task* stolen = nullptr;
  check(bounded.steal(stolen) && stolen == &t[0], "a steal into a variable takes the oldest");
  for (int i = 0; i != 3; ++i) check(bounded.pop([] { return nullptr; }) != nullptr, "three are left");
  check(bounded.pop([&] { return &t[5]; }) == &t[5], "a pop from an empty deque calls the function that it was given");
  check(!bounded.steal(stolen), "nothing is left to steal");

  deque_with_producers produced;
  std::mutex of_the_host;
  const auto produce = [&](std::ptrdiff_t from) {
    const std::lock_guard lock(of_the_host);
    check(produced.push(all.begin() + from, 3) == 3, "a producer pushes all its tasks");
  };
  std::thread first(produce, 0);
  std::thread second(produce, 3);
  first.join();
  second.join();
  int taken = 0;
  while (produced.pop() != nullptr || produced.steal() != nullptr) ++taken;
  check(taken == 6, "a third thread takes all that both producers have pushed");

  runq::inject<&task::link> global;
  fair_queue mine(global);
  fair_queue yours(global);
  for (task* const one : all) mine.push(one);
  check(yours.steal_from(mine) == &t[2], "a thief runs the newest of the three that it took");
  check(yours.pop() == &t[0] && yours.pop() == &t[1] && mine.pop() == &t[3], "first in, first out");
  global.put(&t[0]);
  check(mine.pop() == &t[4] && mine.pop() == &t[5] && mine.pop() == &t[0] && mine.pop() == nullptr,
        "a processor whose queue is empty takes from the global queue");

  priority_queues urgent_first;
  check(urgent_first.push(&t[0], 2) && urgent_first.push(&t[1], 0) && urgent_first.push(&t[2], 1),
        "a push has memory for its task");
  check(urgent_first.pop() == &t[1] && urgent_first.steal() == &t[2] && urgent_first.pop() == &t[0],
        "the most urgent task is taken first");

  with_pinned_tasks worker;
  worker.push_pinned(&t[0]);
  check(worker.push(&t[1]), "a push has memory for its task");
  check(worker.steal() == &t[1] && worker.steal() == nullptr, "no thief gets a pinned task");
  check(worker.pop() == &t[0] && worker.pop() == nullptr, "the thread to which a task is pinned gets it");
  runq::chase_lev<join*> lifo;
  auto lifo_owner = lifo.make_owner();
  runq::ring<join*> fifo;
  auto fifo_owner = fifo.make_owner();
  const int with_deque = nested_joins(lifo_owner).deepest(7);
  const int with_ring = nested_joins(fifo_owner).deepest(7);
  std::printf("a tree of 255 tasks, 8 levels: the stack holds at most %d with a deque, %d with a ring\n", with_deque,
              with_ring);
  check(with_deque == 8, "with a deque the stack is as deep as the tree");
  check(with_ring == 128, "with a ring the stack holds half of all tasks");
  std::puts("every shape does what its host expects");
}
