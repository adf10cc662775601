// SPDX-License-Identifier: MIT
// descriptors: what a scheduler knows of each open descriptor, and how it handles the events that the kernel reports:
// descriptors that are opened and closed while a thread polls, late events, and rings.
//
// Source: Go's pollDesc and netpoll (runtime/netpoll.go, netpoll_epoll.go). Models:
// models/cases/scheduler/descriptors/.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>

#include "runq/atomics.hpp"
#include "runq/protocol/readiness.hpp"

namespace runq {

/// What is known of one open descriptor. Its memory is reused but never freed, so a late event may read it. Aligned,
/// because the kernel carries its address together with 16 bits of its generation.
template <class Waiter, class Atomics = std_atomics>
struct polled_descriptor {
  readiness<Waiter, Atomics> readable;
  readiness<Waiter, Atomics> writable;
  // The end of the stream is near, or there is an error or urgent data.
  noticed_fact<Atomics> unusual;
  typename Atomics::template cell<int> fd{-1};  // used by the task that has it open
  // Counts the uses of this record: tells late events of an earlier use.
  typename Atomics::template atomic<std::uint32_t> generation{0U};
  typename Atomics::template cell<polled_descriptor*> next_free{nullptr};  // under the lock of `descriptors`
};

/// What a reader knows of its direction: whether another attempt would get nothing before the next notice comes. A read
/// that gets less than was asked for has emptied the stream, and the next edge tells when there is more: see epoll(7).
/// But there is no next edge if the end, an error or urgent data, where a read stops short, has been announced already.
/// The notice of that is either used up, and then the reader knows `unusual`, or it ends the next wait. One task at a
/// time.
template <class Atomics = std_atomics>
class drained_mark {
  template <class T>
  using cell = typename Atomics::template cell<T>;

 public:
  [[nodiscard]] bool drained() const noexcept { return drained_.get(); }
  /// Called before an attempt.
  void attempts() noexcept { drained_.set(false); }
  /// Called after an attempt that got something, but less than was asked for.
  void stopped_short(const noticed_fact<Atomics>& unusual) noexcept { drained_.set(!unusual.known()); }
  /// Called before readiness::wait(): a task that goes on after a notice reads again.
  void waits() noexcept { drained_.set(false); }

 private:
  cell<bool> drained_{false};
};

/// One event, as the kernel reports it.
struct polled_event {
  std::uint64_t tag;  ///< of the descriptor; 0: a ring
  bool readable;      ///< the kernel says that reading will not block
  bool writable;      ///< the kernel says that writing will not block
  bool unusual;       ///< the end, an error, or urgent data
};

/// `Host` is the kernel, and the scheduler around it:
///   descriptor& new_record()        memory for one more, which stays; throws std::bad_alloc. Under a lock
///   int watch(int fd, uint64 tag)   reports events of `fd` from now on, with that tag; returns 0 or an error number
///   events                          a type for the events of one poll, with size() and event(i), a polled_event
///   void wait(events&, instant)     waits for events so long; 0: not at all; never: without end
///   void hear_ring()                uses up the rings of before
///   void wake(Waiter&)              makes a task runnable
///   instant clock()                 what time it is
template <class Host, class Waiter, class Atomics = std_atomics>
class descriptors {
 public:
  using instant = std::int64_t;
  using descriptor = polled_descriptor<Waiter, Atomics>;

  explicit descriptors(Host& host) noexcept : host_(host), open_(0U), last_poll_(0) {}
  descriptors(const descriptors&) = delete;
  descriptors& operator=(const descriptors&) = delete;

  /// Returns a record for `fd`. From now on the kernel reports its events. Returns null if the kernel refuses; `error`
  /// says why. Throws std::bad_alloc. Any thread.
  [[nodiscard]] descriptor* open(int fd, int& error) {
    descriptor& d = take_record();
    d.fd.set(fd);
    d.readable.reset();
    d.writable.reset();
    d.unusual.forget();
    // [descriptors.open] release: pairs with [descriptors.polled] and [descriptors.in_use]; weaker: an event finds a
    // record that is not yet written. kept: no model fails with relaxed, because a lock inside the kernel gives the
    // same order. But ThreadSanitizer does not see that order where the system call is made by syscall(2), and would
    // report a data race.
    open_.fetch_add(1U, std::memory_order::release);
    error = host_.watch(fd, tag(d));
    if (error == 0) return &d;
    close(d);
    return nullptr;
  }

  /// Forgets `d`. The kernel reports nothing of it any more, and no task waits for it. Called by the task that opened
  /// it.
  void close(descriptor& d) {
    // [descriptors.close.generation] relaxed: an event with the old generation only causes an unneeded notice.
    d.generation.fetch_add(1U, std::memory_order::relaxed);
    // [descriptors.close] relaxed: a thread that reads the old number only polls once too often.
    open_.fetch_sub(1U, std::memory_order::relaxed);
    const std::lock_guard lock(mutex_);
    d.next_free.set(free_.get());
    free_.set(&d);
  }

  /// Wakes the tasks that wait for `d`; a task that is about to wait does not. Any thread.
  void wake(descriptor& d) {
    (void)notify(d.readable);
    (void)notify(d.writable);
  }

  struct polled {
    std::size_t woken = 0;  ///< tasks that are runnable now
    bool rung = false;      ///< a ring was used up
  };
  /// Waits up to `timeout` for events, and makes the tasks that waited for them runnable. Any number of threads may
  /// call it at once with a timeout of 0, which leave rings alone; only one thread with a longer timeout.
  polled poll(instant timeout) {
    typename Host::events events;
    host_.wait(events, timeout);
    // [descriptors.polled] acquire: pairs with [descriptors.open]: the kernel hands out records that were made
    // meanwhile; weaker: an event is dropped as one of an earlier use. kept: no model fails with relaxed, because a
    // lock inside the kernel gives the same order. But ThreadSanitizer does not see that order where the system call is
    // made by syscall(2), and would report a data race.
    (void)open_.load(std::memory_order::acquire);
    // [descriptors.last_poll.set] relaxed: for the monitor, which may poll once too often.
    last_poll_.store(host_.clock(), std::memory_order::relaxed);
    polled result;
    for (std::size_t i = 0; i != events.size(); ++i) deliver(events.event(i), timeout != 0, result);
    return result;
  }

  /// Whether there is any descriptor to poll for. Any thread.
  [[nodiscard]] bool in_use() const noexcept { return count() != 0; }

  /// How many descriptors are open. Any thread.
  [[nodiscard]] std::size_t count() const noexcept {
    // [descriptors.in_use] acquire: pairs with [descriptors.open]; weaker: polls without the descriptor that it was
    // asked for. kept: no model fails with relaxed, but a machine decides by this answer whether it sleeps in the
    // poller.
    return open_.load(std::memory_order::acquire);
  }

  /// When a thread last looked for events. Any thread.
  [[nodiscard]] instant last_poll() const noexcept {
    // [descriptors.last_poll] relaxed: the monitor may see an old time, and poll once too often.
    return last_poll_.load(std::memory_order::relaxed);
  }

 private:
  static constexpr unsigned address_bits = 48;

  // The kernel hands these 64 bits back with every event: the record's address, and 16 bits of its generation.
  [[nodiscard]] static std::uint64_t tag(const descriptor& d) noexcept {
    // [descriptors.tag] relaxed: open() reads the newest generation, by the lock. poll() reads one at least as new as
    // the event ([descriptors.polled]); a newer one means that the event belongs to an earlier use.
    return reinterpret_cast<std::uintptr_t>(&d) |
           (std::uint64_t{d.generation.load(std::memory_order::relaxed) & 0xFFFFU} << address_bits);
  }

  [[nodiscard]] descriptor& take_record() {
    const std::lock_guard lock(mutex_);
    descriptor* const d = free_.get();
    if (d == nullptr) return host_.new_record();
    free_.set(d->next_free.get());
    return *d;
  }

  void deliver(const polled_event& event, bool waited, polled& result) {
    if (event.tag == 0) {
      // A poll that does not wait leaves the ring to the thread that waits.
      if (!waited) return;
      host_.hear_ring();
      result.rung = true;
      return;
    }
    descriptor& d = *reinterpret_cast<descriptor*>(event.tag & ((std::uint64_t{1} << address_bits) - 1));
    if (tag(d) != event.tag) return;  // the event belongs to an earlier use
    if (event.unusual) d.unusual.happens();
    if (event.readable && notify(d.readable)) ++result.woken;
    if (event.writable && notify(d.writable)) ++result.woken;
  }

  [[nodiscard]] bool notify(readiness<Waiter, Atomics>& side) {
    Waiter* const w = side.notify();
    if (w != nullptr) host_.wake(*w);
    return w != nullptr;
  }

  Host& host_;
  typename Atomics::mutex mutex_;
  typename Atomics::template cell<descriptor*> free_{nullptr};  // under mutex_
  typename Atomics::template atomic<std::size_t> open_;
  typename Atomics::template atomic<instant> last_poll_;
};

}  // namespace runq
