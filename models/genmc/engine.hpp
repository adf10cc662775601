// SPDX-License-Identifier: MIT
// GenMC as an engine. It checks LLVM bitcode: a case is compiled to a program of its own, whose shared accesses are
// real atomics and plain memory. Headers of this folder take the place of those of the same name in models/check/.
#pragma once

#include <cstddef>
#include <cstdint>

// What GenMC's interpreter understands besides atomics and plain memory.
extern "C" {
struct runq_genmc_mutex {
  int state;
};
void __VERIFIER_assert_fail(const char* what, const char* file, int line) noexcept;
void* __VERIFIER_malloc(std::size_t bytes) noexcept;
void __VERIFIER_free(void* p) noexcept;
int __VERIFIER_thread_create(const void* attributes, void* (*body)(void*), void* argument) noexcept;
void* __VERIFIER_thread_join(long thread) noexcept;
int __VERIFIER_mutex_lock(runq_genmc_mutex* m) noexcept;
int __VERIFIER_mutex_trylock(runq_genmc_mutex* m) noexcept;
int __VERIFIER_mutex_unlock(runq_genmc_mutex* m) noexcept;
void __VERIFIER_assume(bool ok) noexcept;
void __VERIFIER_loop_begin() noexcept;
void __VERIFIER_spin_start() noexcept;
void __VERIFIER_spin_end(bool done) noexcept;
}

namespace runq::model {

/// GenMC answers "safety violation", whatever kind of failure a check names.
enum class failure : unsigned char { check_failed, lost, run_twice, out_of_order, not_linearizable };

/// A point of an execution; GenMC does not tell (linearize.hpp).
struct moment {};

struct engine {
  /// Steps are not counted here: a bound on them holds trivially, and the exact engine judges it.
  [[nodiscard]] static constexpr std::uint64_t operations() noexcept { return 0; }
  /// GenMC does not tell, so the answer is that of a scenario's construction.
  [[nodiscard]] static constexpr int thread_index() noexcept { return -1; }
};

[[nodiscard]] constexpr engine current_engine() noexcept { return {}; }

}  // namespace runq::model
