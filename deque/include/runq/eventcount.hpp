// SPDX-License-Identifier: MIT
// eventcount: where threads that find no work in any queue sleep until there may be some.
//
// A queue of this kit never waits. A thread that has found all of its queues empty may sleep only if nobody has just
// pushed: the eventcount is the half of that handshake that is not the queue's. Whoever makes work pushes it and then
// notifies; whoever finds none says that it is about to sleep, asks its queues once more, and sleeps if they are still
// empty. A thread that notifies while nobody sleeps makes a fence and reads one word: no system call, no write.
// Models: models/cases/queues/eventcount/.
//
// Sources: D. Vyukov, "Eventcount" (1024cores, 2010); D. Reed and R. Kanodia, "Synchronization with eventcounts and
// sequencers" (CACM 22, 1979).
#pragma once

#if __cplusplus <= 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG <= 201703L)
#error "runqkit needs C++20: compile with -std=c++20, or as your compiler calls it"
#else

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <utility>

#include "runq/atomics.hpp"

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#endif

namespace runq {

namespace detail {

/// Where threads sleep on a word: futex(2) on Linux, elsewhere std::atomic's own waiting, which knows no time limit.
struct word_sleep {
  using word = std::atomic<std::uint32_t>;

#if defined(__linux__) && defined(SYS_futex)
  using clock = std::chrono::steady_clock;

  static void wait(word& at, std::uint32_t value) noexcept { call(at, FUTEX_WAIT_PRIVATE, value, nullptr); }
  [[nodiscard]] static clock::time_point deadline(std::chrono::nanoseconds limit) noexcept {
    const auto now = clock::now();
    return limit < clock::time_point::max() - now ? now + limit : clock::time_point::max();
  }
  [[nodiscard]] static bool wait_until(word& at, std::uint32_t value, clock::time_point deadline) noexcept {
    const std::chrono::nanoseconds left = deadline - clock::now();
    if (left.count() <= 0) return false;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec limit{static_cast<decltype(timespec::tv_sec)>(seconds.count()),
                         static_cast<decltype(timespec::tv_nsec)>((left - seconds).count())};
    call(at, FUTEX_WAIT_PRIVATE, value, &limit);
    return true;
  }
  static void wake(word& at, std::uint32_t threads) noexcept {
    constexpr std::uint32_t most = std::numeric_limits<int>::max();  // the kernel reads an int
    call(at, FUTEX_WAKE_PRIVATE, threads < most ? threads : most, nullptr);
  }

 private:
  // The errors are EAGAIN, EINTR and ETIMEDOUT; after each of them the caller looks again.
  static void call(word& at, int operation, std::uint32_t value, const timespec* limit) noexcept {
    static_assert(sizeof(word) == sizeof(std::uint32_t));
    (void)syscall(SYS_futex, &at, operation, value, limit, nullptr, 0);
  }
#else
  static void wait(word& at, std::uint32_t value) noexcept { at.wait(value, std::memory_order::relaxed); }
  static void wake(word& at, std::uint32_t threads) noexcept {
    if (threads == 1) {
      at.notify_one();
    } else {
      at.notify_all();
    }
  }
#endif
};

/// Whether a sleep may have a time limit.
template <class Sleep>
concept has_deadlines = requires(Sleep sleep) {
  sleep.deadline(std::chrono::nanoseconds{});
};

}  // namespace detail

/// Threads that wait for work, and threads that make it.
///
///     eventcount idle;
///     // whoever makes work                    // whoever looks for it
///     queue.push(task);                        idle.await([&] { return queue.has_work() || stopping; });
///     idle.notify_one();
///
/// What the condition reads must be written before the notification: an element that was pushed, a flag that was
/// stored. The condition asks each queue by has_work(), and all_empty() if several queues must be empty at one moment.
///
/// Atomics  the policy. With membarrier_atomics a notification that finds nobody costs no fence, and going to sleep
///          costs a system call more
/// Sleep    what threads sleep on, as futex(2); `word` is always the same one:
///            void wait(word, value)                   sleeps until wake(word, n), unless `word` is no longer `value`
///            void wake(word, n)                       wakes n of the threads that sleep
///          and, where a sleep may have a time limit:
///            auto deadline(ns)                        the time after so many ns
///            bool wait_until(word, value, deadline)   false if the deadline has passed, without a sleep; otherwise as
///                                                     wait(), but a sleep ends at the deadline, too
///          A sleep may end for no reason.
template <class Atomics = std_atomics, class Sleep = detail::word_sleep>
class basic_eventcount {
 public:
  /// What prepare() hands to the one wait(), wait_for() or cancel() that follows it on the same thread.
  class ticket {
    friend basic_eventcount;
    explicit constexpr ticket(std::uint32_t round) noexcept : round_(round) {}
    std::uint32_t round_;
  };

  template <class... Arguments>
  explicit basic_eventcount(Arguments&&... for_sleep) noexcept
      : round_(0U), waiting_(0U), sleep_(std::forward<Arguments>(for_sleep)...) {}
  basic_eventcount(const basic_eventcount&) = delete;
  basic_eventcount& operator=(const basic_eventcount&) = delete;

  // -- whoever looks for work --

  /// Says that the calling thread is about to sleep. After it, ask all queues; then wait() if they are empty, or
  /// cancel(). Any thread, at most 2^32 - 1 at a time. Wait-free.
  [[nodiscard]] ticket prepare() noexcept {
    // [eventcount.count] relaxed: the fence below orders it.
    (void)waiting_.fetch_add(1U, std::memory_order::relaxed);
    // [eventcount.round] relaxed: a notification that this read knows of had its fence before the one below, so the
    // queues that are asked next show its work.
    const std::uint32_t round = round_.load(std::memory_order::relaxed);
    // [eventcount.prepare] seq_cst: pairs with [eventcount.notify]: either that thread sees this one waiting, or the
    // queues that are asked next show its work; weaker: a thread sleeps beside work.
    Atomics::heavy_fence(std::memory_order::seq_cst);
    return ticket(round);
  }

  /// Instead of wait(): there is work. Wait-free.
  void cancel(ticket) noexcept { leave(); }

  /// Sleeps until a notification that came after prepare(). What happened before that notification happens before the
  /// return. Which of several threads that sleep wakes is not said, and more may wake than were notified: look for work
  /// again.
  void wait(ticket mine) noexcept {
    while (!notified_since(mine)) sleep_.wait(round_, mine.round_);
    leave();
  }

  /// Likewise, but for at most this long; false if no notification has come by then. A thread that gets false has used
  /// up no wake-up: it may go away without another look.
  [[nodiscard]] bool wait_for(ticket mine,
                              std::chrono::nanoseconds limit) noexcept requires detail::has_deadlines<Sleep> {
    const auto deadline = sleep_.deadline(limit);
    bool notified = notified_since(mine);
    while (!notified && sleep_.wait_until(round_, mine.round_, deadline)) notified = notified_since(mine);
    leave();
    return notified;
  }

  /// Returns when `condition()` is true; sleeps while it is false. It is asked once for each sleep and once before, so
  /// a condition that may take the work itself is no condition: ask whether there is some.
  template <class Condition>
  void await(Condition&& condition) {
    while (!condition()) {
      guard mine(*this);
      if (condition()) return;
      mine.wait();
    }
  }

  // -- whoever makes work --

  /// Wakes one thread that sleeps, if there is one; call it after the push. Any thread. Wait-free, apart from the
  /// system call that it makes if somebody waits.
  void notify_one() noexcept { notify(1); }
  /// Wakes this many, as after a push of a batch.
  void notify(std::uint32_t threads) noexcept {
    // [eventcount.notify] seq_cst: pairs with [eventcount.prepare]; weaker: the work is there and nobody wakes.
    Atomics::light_fence(std::memory_order::seq_cst);
    // [eventcount.anybody] relaxed: the fence orders it.
    if (waiting_.load(std::memory_order::relaxed) == 0) return;
    // [eventcount.advance] release: pairs with [eventcount.look]; weaker: a thread that wakes does not see what it was
    // woken for. A read-modify-write, so a thread that sees a later notification has seen this one as well.
    (void)round_.fetch_add(1U, std::memory_order::release);
    sleep_.wake(round_, threads);
  }
  /// Wakes all, as at the end of a program.
  void notify_all() noexcept { notify(std::numeric_limits<std::uint32_t>::max()); }

  /// How many threads sleep or are about to: a guess. Any thread. Wait-free.
  [[nodiscard]] std::uint32_t waiting_approx() const noexcept {
    // [eventcount.waiting] relaxed: a guess.
    return waiting_.load(std::memory_order::relaxed);
  }

 private:
  // A ticket that is cancelled unless it was used: a condition may throw.
  class guard {
   public:
    explicit guard(basic_eventcount& of) noexcept : of_(of), ticket_(of.prepare()) {}
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;
    ~guard() {
      if (!used_) of_.cancel(ticket_);
    }
    void wait() noexcept {
      used_ = true;
      of_.wait(ticket_);
    }

   private:
    basic_eventcount& of_;
    const ticket ticket_;
    bool used_ = false;
  };

  [[nodiscard]] bool notified_since(ticket mine) const noexcept {
    // [eventcount.look] acquire: pairs with [eventcount.advance]; weaker: the thread does not see what it was woken
    // for.
    return round_.load(std::memory_order::acquire) != mine.round_;
  }
  void leave() noexcept {
    // [eventcount.leave] relaxed: a notification that still counts this thread makes a system call for nothing.
    (void)waiting_.fetch_sub(1U, std::memory_order::relaxed);
  }

  using word = typename Atomics::template atomic<std::uint32_t>;
  word round_;    // how many notifications have found somebody; a thread sleeps while it is the one of its ticket
  word waiting_;  // threads between prepare() and the end of what follows it
  [[no_unique_address]] Sleep sleep_;
};

using eventcount = basic_eventcount<>;

}  // namespace runq

#endif  // C++20
