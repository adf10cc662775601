// SPDX-License-Identifier: MIT
// A policy like runq::std_atomics that disturbs: around every access it may hold the calling thread up until other
// threads have done something, and a weak compare-exchange may fail spuriously. The memory orders are those that the
// queue asks for.
//
// The source line of an operation and the plan's seed decide whether it holds a thread up: each plan picks some *hot*
// lines, where it does so often and for long. A thread that is held up goes on when the others have made some number of
// accesses, so that others can get in between two instructions on two cores, on one, and on a busy machine.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>

#include "runq/atomics.hpp"

namespace runq::props {

namespace detail {

/// Lets other threads run until `condition`, but not for ever: at most `most` times, and not for more than some 1 ms,
/// because on a loaded machine each yield can cost a time slice.
template <class Condition>
void yield_until(int most, Condition&& condition) noexcept {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
  for (int tries = 0; tries != most && !condition() && std::chrono::steady_clock::now() <= end; ++tries) {
    std::this_thread::yield();
  }
}

}  // namespace detail

/// The calling thread's plan. Without one, nothing is disturbed.
class chaos {
 public:
  static constexpr std::size_t max_threads = 8;

  /// To be called before the threads of a run start, with their number. One run at a time.
  static void expect(std::size_t threads) noexcept {
    for (counter& c : everybody().accesses) c.n.store(0, std::memory_order::relaxed);
    everybody().held.store(0, std::memory_order::relaxed);
    everybody().active.store(threads, std::memory_order::relaxed);
  }
  /// Disturbs this thread from now on. `plan` chooses the hot lines; `thread`, below max_threads, seeds this thread's
  /// random numbers.
  static void begin(std::uint64_t plan, std::size_t thread) noexcept {
    state& s = mine();
    s.plan = plan;
    s.dice = (plan + 1) * 0x9E3779B97F4A7C15U ^ (thread + 1) * 0xD1B54A32D192ED03U;
    s.thread = thread;
    s.on = true;
  }
  static void end() noexcept {
    mine().on = false;
    everybody().active.fetch_sub(1, std::memory_order::relaxed);
  }

  static void disturb(int line) noexcept {
    state& s = mine();
    if (!s.on) return;
    // A load and a store, not an increment: an atomic increment would be a fence on some processors, and hide bugs.
    std::atomic<std::uint64_t>& done = everybody().accesses[s.thread].n;
    done.store(done.load(std::memory_order::relaxed) + 1, std::memory_order::relaxed);
    const std::uint64_t roll = next(s);
    if (hot(s, line)) {
      if (roll % 2 == 0) hold_up(s, 1 + (roll >> 8U) % 40);
    } else if (roll % 8 == 0) {
      hold_up(s, 1 + (roll >> 8U) % 6);
    }
  }

  [[nodiscard]] static bool fail_weak() noexcept {
    state& s = mine();
    return s.on && next(s) % 8 == 0;
  }

 private:
  struct state {
    std::uint64_t plan = 0;
    std::uint64_t dice = 0;
    std::size_t thread = 0;
    bool on = false;
  };
  struct alignas(64) counter {
    std::atomic<std::uint64_t> n{0};
  };
  struct shared {
    counter accesses[max_threads];
    alignas(64) std::atomic<std::size_t> active{0};
    std::atomic<std::size_t> held{0};
  };

  static state& mine() noexcept {
    static thread_local state s;
    return s;
  }
  static shared& everybody() noexcept {
    static shared all;
    return all;
  }
  static std::uint64_t next(state& s) noexcept {  // xorshift64*
    s.dice ^= s.dice >> 12U;
    s.dice ^= s.dice << 25U;
    s.dice ^= s.dice >> 27U;
    return (s.dice * 0x2545F4914F6CDD1DU) >> 16U;
  }
  static bool hot(const state& s, int line) noexcept {
    const std::uint64_t mixed = (s.plan ^ static_cast<std::uint64_t>(line)) * 0x9E3779B97F4A7C15U;
    return (mixed >> 32U) % 4 == 0;
  }
  static std::uint64_t accesses_of_others(const state& s) noexcept {
    std::uint64_t n = 0;
    for (std::size_t t = 0; t != max_threads; ++t) {
      if (t != s.thread) n += everybody().accesses[t].n.load(std::memory_order::relaxed);
    }
    return n;
  }
  // Waits until the other threads have made `accesses`, but not for ever: they may wait for a lock that this thread
  // holds.
  static void hold_up(const state& s, std::uint64_t accesses) noexcept {
    shared& all = everybody();
    if (all.held.fetch_add(1, std::memory_order::relaxed) + 1 < all.active.load(std::memory_order::relaxed)) {
      const std::uint64_t target = accesses_of_others(s) + accesses;
      detail::yield_until(
          60, [&] { return accesses_of_others(s) >= target || all.active.load(std::memory_order::relaxed) < 2; });
    }
    all.held.fetch_sub(1, std::memory_order::relaxed);
  }
};

struct chaos_atomics {
  template <class T>
  class atomic {
   public:
    atomic() noexcept = default;
    // NOLINTNEXTLINE(google-explicit-constructor): as std::atomic's
    atomic(T v) noexcept : value_(v) {}
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    T load(std::memory_order order, int line = __builtin_LINE()) const noexcept {
      chaos::disturb(line);
      const T v = value_.load(order);
      chaos::disturb(-line);
      return v;
    }
    void store(T v, std::memory_order order, int line = __builtin_LINE()) noexcept {
      chaos::disturb(line);
      value_.store(v, order);
      chaos::disturb(-line);
    }
    T exchange(T v, std::memory_order order, int line = __builtin_LINE()) noexcept {
      chaos::disturb(line);
      const T old = value_.exchange(v, order);
      chaos::disturb(-line);
      return old;
    }
    bool compare_exchange_strong(T& expected, T v, std::memory_order yes, std::memory_order no,
                                 int line = __builtin_LINE()) noexcept {
      chaos::disturb(line);
      const bool done = value_.compare_exchange_strong(expected, v, yes, no);
      chaos::disturb(-line);
      return done;
    }
    bool compare_exchange_weak(T& expected, T v, std::memory_order yes, std::memory_order no,
                               int line = __builtin_LINE()) noexcept {
      chaos::disturb(line);
      if (chaos::fail_weak()) {
        expected = value_.load(no);
        return false;
      }
      const bool done = value_.compare_exchange_weak(expected, v, yes, no);
      chaos::disturb(-line);
      return done;
    }
    T fetch_add(T v, std::memory_order order, int line = __builtin_LINE()) noexcept {
      chaos::disturb(line);
      const T old = value_.fetch_add(v, order);
      chaos::disturb(-line);
      return old;
    }
    T fetch_sub(T v, std::memory_order order, int line = __builtin_LINE()) noexcept {
      chaos::disturb(line);
      const T old = value_.fetch_sub(v, order);
      chaos::disturb(-line);
      return old;
    }

   private:
    std::atomic<T> value_{};
  };

  /// The bare value, so that ThreadSanitizer checks it.
  template <class T>
  using cell = std_atomics::cell<T>;

  class mutex {
   public:
    void lock() {
      chaos::disturb(-1);
      inner_.lock();
      chaos::disturb(-2);
    }
    void unlock() {
      chaos::disturb(-3);
      inner_.unlock();
      chaos::disturb(-4);
    }
    bool try_lock() {
      chaos::disturb(-5);
      return inner_.try_lock();
    }

   private:
    std::mutex inner_;
  };

  static void fence(std::memory_order order, int line = __builtin_LINE()) noexcept {
    chaos::disturb(line);
    std_atomics::fence(order);
    chaos::disturb(-line);
  }
  static void light_fence(std::memory_order order, int line = __builtin_LINE()) noexcept {
    chaos::disturb(line);
    std_atomics::light_fence(order);
    chaos::disturb(-line);
  }
  static void heavy_fence(std::memory_order order, int line = __builtin_LINE()) noexcept {
    chaos::disturb(line);
    std_atomics::heavy_fence(order);
    chaos::disturb(-line);
  }
  static void pause() noexcept {
    std_atomics::pause();
    chaos::disturb(-6);
  }
  [[nodiscard]] static void* allocate(std::size_t bytes) noexcept { return std_atomics::allocate(bytes); }
  static void deallocate(void* p) noexcept { std_atomics::deallocate(p); }
  static void check(bool ok, const char* what) noexcept { std_atomics::check(ok, what); }
  [[nodiscard]] static std::uintptr_t thread_token() noexcept { return std_atomics::thread_token(); }
};

}  // namespace runq::props
