// SPDX-License-Identifier: MIT
// The locks of a compiled program: which thread holds which.
#pragma once

#include <array>

#include "execution.hpp"
#include "program_atomics.hpp"
#include "program_code.hpp"
#include "program_memory.hpp"
#include "program_threads.hpp"
#include "program_waits.hpp"

namespace runq::model::compiled {

/// Locks that threads take, hold, and give back. What kinds of locks there are, and what a call of each may do, is up
/// to the functions that take the place of the C library's.
class program_locks {
 public:
  program_locks(execution& now, program_code& code, program_memory& memory, program_atomics& atomics,
                program_waits& waits)
      : now_(now), code_(code), memory_(memory), atomics_(atomics), waits_(waits) {}

  void begin_thread(unsigned thread) { failed_tries_[thread] = 0; }

  // --- operations ---------------------------------------------------------------------------------------------------
  void lock(void* mutex, const void* code);
  [[nodiscard]] bool try_lock(void* mutex, const void* code, exact::event_id like = exact::nobody);
  void unlock(void* mutex, const void* code);
  /// The thread that has taken a lock gives it back. Any thread may give a semaphore a permit.
  enum class taken_from : std::uint8_t { lock, semaphore };
  /// See program_atomics.
  [[nodiscard]] bool take(void* at, unsigned size, std::uint64_t first, std::uint64_t count, std::uint64_t delta,
                          bool blocking, taken_from what, const void* code);
  void give_back(void* at, unsigned size, std::uint64_t delta, bool is_all, const void* code);
  /// A try_lock() that C++ allows to fail for no reason. Returns whether it does.
  [[nodiscard]] bool fails_for_no_reason(const void* code);

  // --- holders ------------------------------------------------------------------------------------------------------
  /// How many times the running thread holds this.
  [[nodiscard]] unsigned& held(const void* lock) { return holding(lock).times; }
  /// It holds the lock once more.
  void note_held(const object_kind& kind, const void* lock, const void* code);
  /// Before it gives the lock back.
  void require_held(const object_kind& kind, const void* lock, const void* code);
  /// No thread holds a lock in that memory, of which `what` is about to happen. Other threads' calls that are not
  /// ordered with this one were found before, as conflicting accesses.
  void require_not_held(const void* begin, std::size_t size, const char* what, const void* code);
  /// At the end of an execution: reports a lock whose thread has ended.
  [[nodiscard]] bool are_abandoned(const program_threads& threads);

 private:
  [[nodiscard]] held_lock& holding(const void* lock);
  void note_failed_try(const void* code);

  execution& now_;
  program_code& code_;
  program_memory& memory_;
  program_atomics& atomics_;
  program_waits& waits_;
  std::array<unsigned, exact::thread_slots> failed_tries_{};  ///< for no reason, by thread
};

}  // namespace runq::model::compiled
