// SPDX-License-Identifier: MIT
// The run queue of Eigen's thread pool (Eigen 3.4), made of a bounded_chase_lev and a shared_fifo. Include it before
// <unsupported/Eigen/CXX11/ThreadPool>: its include guard is that of Eigen's header, which it replaces.
#ifndef EIGEN_CXX11_THREADPOOL_RUNQUEUE_H_
#define EIGEN_CXX11_THREADPOOL_RUNQUEUE_H_

#include <atomic>
#include <memory>
#include <utility>

#include <runq/atomics.hpp>
#include <runq/chase_lev.hpp>
#include <runq/one_object.hpp>
#include <runq/shared_fifo.hpp>

namespace Eigen {

/// The worker whose queue it is calls PushFront and PopFront; any thread calls the others. Eigen's tasks are larger
/// than a pointer, so each lies in a box of its own while it is in the queue.
template <typename Work, unsigned kSize>
class RunQueue {
 public:
  ~RunQueue() { Flush(); }

  /// Returns `w` if the queue is full: Eigen then runs it at once.
  Work PushFront(Work w) {
    return put(std::move(w), [this](Work* box) { return own_.push(box); });
  }
  /// The same, so that a thread outside that schedules faster than the workers run lends a hand.
  Work PushBack(Work w) {
    if (from_outside_.size_approx() >= kSize) return w;
    return put(std::move(w), [this](Work* box) { return from_outside_.put(box); });
  }
  Work PopFront() {
    Work* const newest = own_.pop().value_or(nullptr);
    return open(newest != nullptr ? newest : oldest_from_outside());
  }
  Work PopBack() {
    Work* const oldest = own_.steal();
    return open(oldest != nullptr ? oldest : oldest_from_outside());
  }
  unsigned Size() const { return static_cast<unsigned>(own_.size() + from_outside_.size_approx()); }
  /// A worker asks it before it sleeps, after it has announced that it will.
  bool Empty() const {
    // seq_cst: pairs with the fence of EventCount::Notify. Either this sees the push, or Notify sees the waiter;
    // weaker: both miss, and the worker sleeps beside a task. Prewait is no such fence outside of x86.
    runq::std_atomics::fence(std::memory_order::seq_cst);
    return own_.empty() && !from_outside_.look();
  }
  void Flush() {
    while (!Empty()) (void)PopBack();
  }

 private:
  template <typename Push>
  static Work put(Work w, const Push& push) {
    auto box = std::make_unique<Work>(std::move(w));
    if (!push(box.get())) return std::move(*box);
    (void)box.release();
    return Work();
  }
  static Work open(Work* box) {
    const std::unique_ptr<Work> owned(box);
    return owned == nullptr ? Work() : std::move(*owned);
  }
  /// One at a time: a batch on its way to the owner's deque would be in neither queue, a thief that looks for work
  /// would go to sleep, and nobody would wake it if the owner's first task waits for the second.
  Work* oldest_from_outside() { return from_outside_.has_work() ? from_outside_.take().value_or(nullptr) : nullptr; }

  runq::one_object<runq::bounded_chase_lev<Work*>> own_{kSize};
  runq::shared_fifo<Work*> from_outside_;
};

}  // namespace Eigen

#endif
