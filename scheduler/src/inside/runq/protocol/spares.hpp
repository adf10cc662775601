// SPDX-License-Identifier: MIT
// spares: extra processors for the end of a run: for machines that come back from a blocking section when no processor
// is left, and for the thread that destroys the tasks. Models: models/cases/scheduler/spares/.
//
// They are kept for the ends of later runs, because timers may refer to their heaps. Statistics include them.
#pragma once

#include <atomic>
#include <mutex>

#include "runq/atomics.hpp"

namespace runq {

/// `Processor` has a `typename Atomics::cell<Processor*> next_spare`, which this writes once.
template <class Processor, class Atomics = std_atomics>
class spare_processors {
 public:
  spare_processors() noexcept : all_(nullptr) {}
  spare_processors(const spare_processors&) = delete;
  spare_processors& operator=(const spare_processors&) = delete;

  /// Returns a processor that no other thread uses until the next reuse(): an existing one, or a new one, to which
  /// `make` returns a pointer. Any thread. Takes a lock.
  template <class Make>
  [[nodiscard]] Processor& take(Make&& make) {
    const std::lock_guard lock(mutex_);
    Processor* p = unused_.get();
    if (p != nullptr) {
      unused_.set(p->next_spare.get());
      return *p;
    }
    p = make();
    // [spares.top] relaxed: the mutex orders the threads that write it.
    p->next_spare.set(all_.load(std::memory_order::relaxed));
    // [spares.publish] release: pairs with [spares.all]; weaker: a thread that adds up statistics reads a processor
    // that is not constructed.
    all_.store(p, std::memory_order::release);
    return *p;
  }

  /// Makes all processors that were taken available again. No thread may use one any more. Takes a lock.
  void reuse() {
    const std::lock_guard lock(mutex_);
    // [spares.reuse] relaxed: the mutex orders the threads that write it.
    unused_.set(all_.load(std::memory_order::relaxed));
  }

  /// Calls `f`, which may destroy the processor, with each one, and forgets them. No thread may use one any more.
  template <class F>
  void clear(F&& f) {
    // [spares.clear] relaxed: only this thread is left.
    Processor* p = all_.load(std::memory_order::relaxed);
    // [spares.cleared] relaxed: only this thread is left.
    all_.store(nullptr, std::memory_order::relaxed);
    unused_.set(nullptr);
    while (p != nullptr) {
      Processor* const next = p->next_spare.get();
      f(*p);
      p = next;
    }
  }

  /// Calls `f` with each processor, in use or not. Any thread.
  template <class F>
  void for_each(F&& f) const {
    // [spares.all] acquire: pairs with [spares.publish]; weaker: `f` gets a processor that is not constructed.
    for (Processor* p = all_.load(std::memory_order::acquire); p != nullptr; p = p->next_spare.get()) f(*p);
  }

 private:
  typename Atomics::template atomic<Processor*> all_;  // the first is the newest; written under the lock
  typename Atomics::mutex mutex_;
  typename Atomics::template cell<Processor*> unused_{nullptr};  // the first one that is not in use; under the lock
};

}  // namespace runq
