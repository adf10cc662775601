// SPDX-License-Identifier: MIT
// The run queue of Eigen's thread pool (Eigen 3.4), made of two bounded_chase_levs. Include it before
// <unsupported/Eigen/CXX11/ThreadPool>: its include guard is that of Eigen's header, which it replaces.
#ifndef EIGEN_CXX11_THREADPOOL_RUNQUEUE_H_
#define EIGEN_CXX11_THREADPOOL_RUNQUEUE_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include <runq/atomics.hpp>
#include <runq/chase_lev.hpp>
#include <runq/one_object.hpp>

namespace Eigen {

/// The worker whose queue it is calls PushFront and PopFront; any thread calls the others. Eigen's tasks are larger
/// than a pointer, so each lies in a box of its own while it is in the queue.
///
/// Two deques: one for the tasks that the worker pushes, and one for those that other threads push. Whoever holds the
/// mutex is the owner of the second one. Everybody steals from it, the worker included.
template <typename Work, unsigned kSize>
class RunQueue {
 public:
  ~RunQueue() { Flush(); }

  /// Returns `w` if the queue is full: Eigen then runs it at once.
  Work PushFront(Work w) {
    return put(std::move(w), [this](Work* box) { return own_.push(box); });
  }
  /// Returns `w` if the queue is full, as PushFront does: a thread outside that schedules tasks faster than the workers
  /// run them then runs some itself.
  Work PushBack(Work w) {
    if (from_outside_.size() >= kSize) return w;  // probably full: no box, no lock
    return put(std::move(w), [this](Work* box) {
      const std::lock_guard lock(outside_);
      return from_outside_.push(box);
    });
  }
  Work PopFront() {
    Work* const newest = own_.size() == 0 ? nullptr : own_.pop().value_or(nullptr);
    return open(newest != nullptr ? newest : oldest(from_outside_));
  }
  Work PopBack() {
    Work* const stolen = oldest(own_);
    return open(stolen != nullptr ? stolen : oldest(from_outside_));
  }
  unsigned Size() const { return static_cast<unsigned>(own_.size() + from_outside_.size()); }
  /// A worker asks it before it sleeps, after it has announced that it will.
  bool Empty() const {
    // seq_cst: pairs with the fence of EventCount::Notify. Either this sees the push, or Notify sees the waiter;
    // weaker: both miss, and the worker sleeps beside a task. Prewait is no such fence outside of x86.
    runq::std_atomics::fence(std::memory_order::seq_cst);
    return own_.empty() && from_outside_.empty();
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
  using deque = runq::one_object<runq::bounded_chase_lev<Work*>>;
  /// Idle workers call it thousands of times before they sleep: the guess spares them the fence of a steal.
  static Work* oldest(const deque& of) { return of.size() == 0 ? nullptr : of.steal().value_or(nullptr); }

  deque own_{kSize};
  std::mutex outside_;
  deque from_outside_{kSize};
};

}  // namespace Eigen

#endif
