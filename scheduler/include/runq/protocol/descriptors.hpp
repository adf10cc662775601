// SPDX-License-Identifier: MIT
// descriptors: what a scheduler knows of each open descriptor, and what becomes of the events that the kernel reports:
// registration and withdrawal beside a poll that is under way, late events, rings.
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

/// What is known of one open descriptor. Its memory stays, so that a late event may look at it, and is used again.
/// Aligned, because the kernel carries its address together with 16 bits of its generation.
template <class Waiter, class Atomics = std_atomics>
struct polled_descriptor {
  readiness<Waiter, Atomics> readable;
  readiness<Waiter, Atomics> writable;
  // The end of the stream is near, or an error, or urgent data.
  noticed_fact<Atomics> unusual;
  typename Atomics::template cell<int> fd{-1};  // who has it open
  // Which use of the record it is, to tell late events of earlier ones.
  typename Atomics::template atomic<std::uint32_t> generation{0U};
  typename Atomics::template cell<polled_descriptor*> next_free{nullptr};  // under the lock of `descriptors`
};

/// What a reader knows of its direction: whether another attempt would get nothing before the next notice comes. A read
/// that gets less than was asked for has emptied the stream, and the next edge tells when it is not empty: epoll(7).
/// Unless there is no next edge, because the end, an error or urgent data, where a read stops short, has been announced
/// already. One task at a time.
template <class Atomics = std_atomics>
class drained_mark {
  template <class T>
  using cell = typename Atomics::template cell<T>;

 public:
  [[nodiscard]] bool drained() const noexcept { return drained_.get(); }
  /// Before an attempt.
  void attempts() noexcept { drained_.set(false); }
  /// After an attempt that got less than was asked for, but not nothing.
  void stopped_short(const noticed_fact<Atomics>& unusual) noexcept {
    drained_.set(was_woken_.get() && !unusual.known());
  }
  /// Before readiness::wait().
  void waits() noexcept {
    drained_.set(false);
    was_woken_.set(true);
  }
  /// After one that was false. A notice that woke the task makes what is unusual visible; one that was kept for it need
  /// not, and then the next read finds out by itself.
  void goes_on_at_once() noexcept { was_woken_.set(false); }

 private:
  cell<bool> drained_{false};
  cell<bool> was_woken_{false};  // by a notice that came while the task waited
};

/// One event, as the kernel reports it.
struct polled_event {
  std::uint64_t tag;  ///< of the descriptor; 0: a ring
  bool readable;      ///< its readers go on
  bool writable;      ///< its writers go on
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

  /// A record for `fd`, of which the kernel reports events from now on. Null: it refuses to, and `error` says why.
  /// Throws std::bad_alloc. Any thread.
  [[nodiscard]] descriptor* open(int fd, int& error) {
    descriptor& d = take_record();
    d.fd.set(fd);
    d.readable.reset();
    d.writable.reset();
    d.unusual.forget();
    // [descriptors.open] release: pairs with [descriptors.polled] and [descriptors.in_use]; weaker: an event finds a
    // record that is not yet written. No model objects to relaxed, because the kernel's lock orders the same; kept:
    // ThreadSanitizer does not see the order of a system call that is made by syscall(2).
    open_.fetch_add(1U, std::memory_order::release);
    error = host_.watch(fd, tag(d));
    if (error == 0) return &d;
    close(d);
    return nullptr;
  }

  /// Forgets `d`, of which the kernel reports nothing any more, and for which nobody waits. Who has opened it.
  void close(descriptor& d) {
    // [descriptors.close.generation] relaxed: an event that comes with the old one is a notice too many.
    d.generation.fetch_add(1U, std::memory_order::relaxed);
    // [descriptors.close] relaxed: seen late, it costs a poll.
    open_.fetch_sub(1U, std::memory_order::relaxed);
    const std::lock_guard lock(mutex_);
    d.next_free.set(free_.get());
    free_.set(&d);
  }

  /// Wakes who waits for `d`; who is about to wait does not. Any thread.
  void wake(descriptor& d) {
    (void)notify(d.readable);
    (void)notify(d.writable);
  }

  struct polled {
    std::size_t woken = 0;  ///< tasks that are runnable now
    bool rung = false;      ///< a ring was used up
  };
  /// Waits up to `timeout` for events, and makes the tasks that waited for them runnable. Any number of threads without
  /// a timeout, who leave rings alone; one with.
  polled poll(instant timeout) {
    typename Host::events events;
    host_.wait(events, timeout);
    // [descriptors.polled] acquire: pairs with [descriptors.open]: the kernel hands out records that were made
    // meanwhile; weaker: an event is dropped as one of an earlier use. kept:
    // ThreadSanitizer does not see the order of a system call that is made by syscall(2).
    (void)open_.load(std::memory_order::acquire);
    // [descriptors.last_poll.set] relaxed: for the monitor, which may poll once too often.
    last_poll_.store(host_.clock(), std::memory_order::relaxed);
    polled result;
    for (std::size_t i = 0; i != events.size(); ++i) deliver(events.event(i), timeout != 0, result);
    return result;
  }

  /// Whether there is anything to poll for. Any thread.
  [[nodiscard]] bool in_use() const noexcept { return count() != 0; }

  /// How many are open. Any thread.
  [[nodiscard]] std::size_t count() const noexcept {
    // [descriptors.in_use] acquire: pairs with [descriptors.open]; weaker: polls without the descriptor that it was
    // asked for. No model objects to relaxed; kept: the answer decides who sleeps in the poller.
    return open_.load(std::memory_order::acquire);
  }

  /// When somebody last looked for events. Any thread.
  [[nodiscard]] instant last_poll() const noexcept {
    // [descriptors.last_poll] relaxed: the monitor may see an old time, and poll once too often.
    return last_poll_.load(std::memory_order::relaxed);
  }

 private:
  static constexpr unsigned address_bits = 48;

  // The kernel hands these 64 bits back with every event: the record's address, and 16 bits of its generation.
  [[nodiscard]] static std::uint64_t tag(const descriptor& d) noexcept {
    // [descriptors.tag] relaxed: open() has the newest one, by the lock, and poll() one that is as new as the event
    // ([descriptors.polled]); a newer one tells an event of an earlier use.
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
      // A poll that does not wait leaves the ring to the one that does.
      if (!waited) return;
      host_.hear_ring();
      result.rung = true;
      return;
    }
    descriptor& d = *reinterpret_cast<descriptor*>(event.tag & ((std::uint64_t{1} << address_bits) - 1));
    if (tag(d) != event.tag) return;  // of an earlier use
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
