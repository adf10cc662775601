// SPDX-License-Identifier: MIT
// membarrier_atomics: the atomics policy that ships, with a light fence that costs no instruction, where the kernel can
// make the threads of a process pass a barrier.
//
// The light fence then only keeps the compiler from moving accesses. The heavy fence is the system call membarrier(2),
// private and expedited: each thread of the process that is running passes a full memory barrier before the call
// returns, and one that is not running has passed one when it was switched away. Threads that make heavy fences at the
// same time share the calls (shared_barrier.hpp). What C++ does not say of this is
// stated as an axiom in docs/limits.md, and is what the models in models/cases/queues/split_ring/by_interrupt.cpp
// assume.
//
// Where there is no such call, or it is forbidden, or RUNQ_NO_MEMBARRIER is defined (in the whole program, or nowhere),
// both are std::atomic_thread_fence, as in std_atomics. So they are under ThreadSanitizer, which does not know the
// call.
#pragma once

#if __cplusplus <= 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG <= 201703L)
#error "runqkit needs C++20: compile with -std=c++20, or as your compiler calls it"
#else

#include <atomic>
#include <cstdint>

#include "runq/atomics.hpp"
#include "runq/shared_barrier.hpp"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RUNQ_DETAIL_TSAN 1
#endif
#endif
#if defined(__linux__) && !defined(RUNQ_NO_MEMBARRIER) && !defined(__SANITIZE_THREAD__) && !defined(RUNQ_DETAIL_TSAN)
#define RUNQ_DETAIL_MEMBARRIER 1
#include <sys/syscall.h>
#include <unistd.h>
#else
#define RUNQ_DETAIL_MEMBARRIER 0
#endif

namespace runq {

namespace detail {

/// The barrier that all threads of the process pass.
class process_barrier {
 public:
  /// Whether there is one. Decided when the program starts, or by the first call, and never again.
  [[nodiscard]] static bool available() noexcept {
    // [membarrier.decided] relaxed, unmodelled: the answer is all that the threads tell each other by it.
    const decision found = decided.load(std::memory_order::relaxed);
    return (found == decision::none ? decide() : found) == decision::yes;
  }
  /// The same, without a call; false until it has been decided. A thread that reads true knows that every other
  /// thread's available() says true.
  [[nodiscard]] static bool known_to_be_available() noexcept {
    // [membarrier.known] relaxed, unmodelled: a thread that reads false takes the stronger fence.
    return decided.load(std::memory_order::relaxed) == decision::yes;
  }
  /// available() must be true.
  static void pass() noexcept {
    const bool mine = among_threads.pass([]() noexcept { make(); });
    // [membarrier.count] relaxed, unmodelled: a statistic.
    (mine ? made : shared).fetch_add(1, std::memory_order::relaxed);
  }
  [[nodiscard]] static std::uint64_t count() noexcept {
    // [membarrier.counted] relaxed, unmodelled: a statistic.
    return made.load(std::memory_order::relaxed);
  }
  [[nodiscard]] static std::uint64_t count_shared() noexcept {
    // [membarrier.counted_shared] relaxed, unmodelled: a statistic.
    return shared.load(std::memory_order::relaxed);
  }

 private:
  // The numbers of linux/membarrier.h, which a system's headers may lack.
  static constexpr int private_expedited = 1 << 3;
  static constexpr int register_private_expedited = 1 << 4;

  [[nodiscard]] static bool call([[maybe_unused]] int command) noexcept {
#if RUNQ_DETAIL_MEMBARRIER && defined(SYS_membarrier)
    return syscall(SYS_membarrier, command, 0, 0) == 0;
#else
    return false;
#endif
  }
  static void make() noexcept {
    if (call(private_expedited)) return;
    // A child of fork() need not have inherited the registration.
    if (!call(register_private_expedited) || !call(private_expedited)) {
      contract_violated("membarrier(2) does not work any more: it was forbidden after it had been found to work");
    }
  }
  enum class decision : unsigned char { none, no, yes };
  // No static variable of available() instead: its initialisation would need the C++ run-time library, which the C
  // interface does without. Threads that decide at the same time all get the first one's answer.
  [[nodiscard]] static decision decide() noexcept {
    const bool works = call(register_private_expedited) && call(private_expedited);
    const decision mine = works ? decision::yes : decision::no;
    decision first = decision::none;
    // [membarrier.decide] relaxed, unmodelled: see available(). Relaxed on failure: the same.
    return decided.compare_exchange_strong(first, mine, std::memory_order::relaxed, std::memory_order::relaxed) ? mine
                                                                                                                : first;
  }

  static inline std::atomic<decision> decided{decision::none};
  static inline shared_barrier<std_atomics> among_threads;
  static inline std::atomic<std::uint64_t> made{0};
  static inline std::atomic<std::uint64_t> shared{0};
};

// So that the first pops need not wait for a thief to ask. Not inline: that clang++ initialises by the C++ run-time
// library.
[[maybe_unused]] const bool process_barrier_at_start = process_barrier::available();

/// std_atomics with a light fence that costs no instruction, and a heavy one that is the barrier, where `Choice` says
/// that they are available; otherwise both are fences of the language. `Choice` has available() and
/// known_to_be_available(), as process_barrier has, and says yes only where that does.
template <class Choice>
struct barrier_fences : std_atomics {
  static void light_fence(std::memory_order order) noexcept {
    if (Choice::known_to_be_available()) {
      std::atomic_signal_fence(order);
    } else {
      fence(order);
    }
  }
  static void heavy_fence(std::memory_order order) noexcept {
    if (Choice::available()) {
      process_barrier::pass();
    } else {
      fence(order);
    }
  }
};

}  // namespace detail

/// The production policy with fences that cost the thread that passes often no instruction, and the other one a system
/// call and an interrupt of each processor that runs a thread of the process. Everything else is std_atomics.
struct membarrier_atomics : detail::barrier_fences<detail::process_barrier> {
  /// Whether the light fence costs nothing in this process; otherwise both are fences of the language. Any thread.
  [[nodiscard]] static bool asymmetric() noexcept { return detail::process_barrier::available(); }
  /// How many heavy fences have been system calls so far. Any thread.
  [[nodiscard]] static std::uint64_t barriers() noexcept { return detail::process_barrier::count(); }
  /// How many heavy fences were the system call of another thread, which made one at the same time. Any thread.
  [[nodiscard]] static std::uint64_t shared_barriers() noexcept { return detail::process_barrier::count_shared(); }
};

}  // namespace runq

#endif  // C++20
