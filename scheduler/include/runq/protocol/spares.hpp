// SPDX-License-Identifier: MIT
// spares: processors for the end of a run: for machines that come back from a blocking section when there is none any
// more, and for the thread that destroys the tasks. Models: models/cases/scheduler/spares/.
//
// They stay for the ends of later runs, because timers may refer to their heaps, and count with all others.
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

  /// One that nobody else uses until the next reuse(): one of before, or a new one, to which `make` returns a pointer.
  /// Any thread. Takes a lock.
  template <class Make>
  [[nodiscard]] Processor& take(Make&& make) {
    const std::lock_guard lock(mutex_);
    Processor* p = unused_.get();
    if (p != nullptr) {
      unused_.set(p->next_spare.get());
      return *p;
    }
    p = make();
    // [spares.top] relaxed: the mutex orders those who write it.
    p->next_spare.set(all_.load(std::memory_order::relaxed));
    // [spares.publish] release: pairs with [spares.all]; weaker: who counts reads a processor that is not constructed.
    all_.store(p, std::memory_order::release);
    return *p;
  }

  /// All that were taken can be again. When nobody uses them any more. Takes a lock.
  void reuse() {
    const std::lock_guard lock(mutex_);
    // [spares.reuse] relaxed: the mutex orders those who write it.
    unused_.set(all_.load(std::memory_order::relaxed));
  }

  /// Calls `f`, which may destroy it, with each; then there is none. When nobody uses them any more.
  template <class F>
  void clear(F&& f) {
    // [spares.clear] relaxed: nobody else is there any more.
    Processor* p = all_.load(std::memory_order::relaxed);
    // [spares.cleared] relaxed: nobody else is there any more.
    all_.store(nullptr, std::memory_order::relaxed);
    unused_.set(nullptr);
    while (p != nullptr) {
      Processor* const next = p->next_spare.get();
      f(*p);
      p = next;
    }
  }

  /// Calls `f` with each that there is, in use or not. Any thread.
  template <class F>
  void for_each(F&& f) const {
    // [spares.all] acquire: pairs with [spares.publish]; weaker: `f` gets a processor that is not constructed.
    for (Processor* p = all_.load(std::memory_order::acquire); p != nullptr; p = p->next_spare.get()) f(*p);
  }

 private:
  typename Atomics::template atomic<Processor*> all_;  // the first is the newest; written under the lock
  typename Atomics::mutex mutex_;
  typename Atomics::template cell<Processor*> unused_{nullptr};  // from this one on nobody uses them; under the lock
};

}  // namespace runq
