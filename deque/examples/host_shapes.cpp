// SPDX-License-Identifier: MIT
// The queues in the shapes that other people's runtimes ask for: one class for each, and what it must do.
// docs/integrate.md says which one is for whom.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <thread>
#include <vector>

#include <runq/chase_lev.hpp>
#include <runq/local_queue.hpp>
#include <runq/ring.hpp>

namespace {

struct task {
  int number = 0;
  runq::inject_link<task> link{};
};

// Fork/join: the owner works at the newest end, thieves take the oldest, and "nothing" is a null pointer.
class fork_join_deque {
 public:
  bool push(task* t) { return owner_.push(t); }
  task* pop() { return owner_.pop().value_or(nullptr); }
  task* steal() { return deque_.make_thief().steal(); }
  bool empty() const { return !deque_.make_thief().has_work(); }
  std::size_t size() const { return deque_.make_thief().size_approx(); }

 private:
  runq::chase_lev<task*> deque_;
  runq::chase_lev<task*>::owner owner_ = deque_.make_owner();
};

// The same with a limit: a task that does not fit comes back, and the caller runs it.
class bounded_deque {
 public:
  task* push(task* t) { return owner_.push(t) ? nullptr : t; }
  template <class Otherwise>
  task* pop(Otherwise when_empty) {
    const auto t = owner_.pop();
    return t ? *t : when_empty();
  }
  bool steal(task*& t) { return (t = deque_.make_thief().steal()) != nullptr; }

 private:
  runq::bounded_chase_lev<task*> deque_{4};
  runq::bounded_chase_lev<task*>::owner owner_ = deque_.make_owner();
};

// A host whose producers push under a mutex of its own, from any thread, so that each is the owner in turn.
class deque_with_producers {
 public:
  template <class Iterator>
  std::size_t push(Iterator first, std::size_t n) {
    const std::lock_guard lock(mutex_);
    return owner_.push_batch(std::counted_iterator(first, static_cast<std::ptrdiff_t>(n)), std::default_sentinel).count;
  }
  task* pop() {
    const std::lock_guard lock(mutex_);
    return owner_.pop().value_or(nullptr);
  }
  task* steal() { return deque_.make_thief().steal(); }  // without the mutex

 private:
  std::mutex mutex_;
  runq::basic_chase_lev<task*, runq::unchecked_owner<>> deque_;
  decltype(deque_)::owner owner_ = deque_.make_owner();
};

// A fair scheduler: first in, first out. A task that does not fit goes to a queue that all processors share.
class fair_queue {
 public:
  explicit fair_queue(runq::inject<&task::link>& global) : global_(global), queue_(global) {}
  void push(task* t) { owner_.push(t); }
  task* pop() {
    if (task* const t = owner_.pop().task) return t;
    return owner_.take_from(global_, 1);
  }
  task* steal_from(const fair_queue& victim) { return owner_.steal_from(victim.queue_.make_thief()); }

 private:
  runq::inject<&task::link>& global_;
  runq::local_queue<&task::link> queue_;
  runq::local_queue<& task::link>::owner owner_ = queue_.make_owner();
};

// An executor with priorities: a queue for each, the most urgent first, for the owner and for thieves.
class priority_queues {
 public:
  bool push(task* t, std::size_t priority) { return levels_[priority].push(t); }
  task* pop() {
    return first([](fork_join_deque& d) { return d.pop(); });
  }
  task* steal() {
    return first([](fork_join_deque& d) { return d.steal(); });
  }

 private:
  template <class Take>
  task* first(Take take) {
    for (fork_join_deque& d : levels_) {
      if (task* const t = take(d)) return t;
    }
    return nullptr;
  }
  std::array<fork_join_deque, 3> levels_;
};

// Tasks that must run on one thread: a queue that any thread may fill, and of which no thief is ever made.
class with_pinned_tasks {
 public:
  void push_pinned(task* t) { pinned_.put(t); }  // any thread
  bool push(task* t) { return shared_.push(t); }
  task* pop() {
    if (task* const t = pinned_.take()) return t;
    return shared_.pop();
  }
  task* steal() { return shared_.steal(); }

 private:
  runq::inject<&task::link> pinned_;
  fork_join_deque shared_;
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
  check(deque.size() == 6 && deque.pop() == &t[5] && deque.steal() == &t[0], "the newest, and the oldest");

  bounded_deque bounded;
  for (int i = 0; i != 4; ++i)
    check(bounded.push(all[static_cast<std::size_t>(i)]) == nullptr, "there is room for four");
  check(bounded.push(&t[4]) == &t[4], "the fifth comes back");
  task* stolen = nullptr;
  check(bounded.steal(stolen) && stolen == &t[0], "a steal into a variable");
  for (int i = 0; i != 3; ++i) check(bounded.pop([] { return nullptr; }) != nullptr, "three are left");
  check(bounded.pop([&] { return &t[5]; }) == &t[5], "what to do when it is empty");
  check(!bounded.steal(stolen), "nothing is left to steal");

  deque_with_producers produced;
  std::thread first([&] { check(produced.push(all.begin(), 3) == 3, "one producer"); });
  std::thread second([&] { check(produced.push(all.begin() + 3, 3) == 3, "another producer"); });
  first.join();
  second.join();
  int taken = 0;
  while (produced.pop() != nullptr || produced.steal() != nullptr) ++taken;
  check(taken == 6, "all that both have pushed, popped by a third thread");

  runq::inject<&task::link> global;
  fair_queue mine(global);
  fair_queue yours(global);
  for (task* const one : all) mine.push(one);
  check(yours.steal_from(mine) == &t[2], "a thief runs the newest of the three that it took");
  check(yours.pop() == &t[0] && yours.pop() == &t[1] && mine.pop() == &t[3], "first in, first out");
  global.put(&t[0]);
  check(mine.pop() == &t[4] && mine.pop() == &t[5] && mine.pop() == &t[0] && mine.pop() == nullptr,
        "then the global queue");

  priority_queues urgent_first;
  check(urgent_first.push(&t[0], 2) && urgent_first.push(&t[1], 0) && urgent_first.push(&t[2], 1), "there is memory");
  check(urgent_first.pop() == &t[1] && urgent_first.steal() == &t[2] && urgent_first.pop() == &t[0], "by priority");

  with_pinned_tasks worker;
  worker.push_pinned(&t[0]);
  check(worker.push(&t[1]), "there is memory");
  check(worker.steal() == &t[1] && worker.steal() == nullptr, "no thief gets a pinned task");
  check(worker.pop() == &t[0] && worker.pop() == nullptr, "its thread does");
  runq::chase_lev<join*> lifo;
  auto lifo_owner = lifo.make_owner();
  runq::ring<join*> fifo;
  auto fifo_owner = fifo.make_owner();
  const int with_deque = nested_joins(lifo_owner).deepest(7);
  const int with_ring = nested_joins(fifo_owner).deepest(7);
  std::printf("a tree of 255 tasks, 8 levels: the stack holds at most %d with a deque, %d with a ring\n", with_deque,
              with_ring);
  check(with_deque == 8, "with a deque the stack is as deep as the tree");
  check(with_ring == 128, "with a ring it holds half of all tasks");
  std::puts("every shape does what its host expects");
}
