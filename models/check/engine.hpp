// SPDX-License-Identifier: MIT
// What a model checker must offer so that a scenario can run on it: one virtual function per kind of shared access.
//
// A scenario is ordinary C++ over the shipped headers, instantiated with `runq::model::atomics` (atomics.hpp). Each
// operation of that policy ends in a call of the engine that is running it. So a scenario is compiled once and runs on
// every engine, and no engine's headers leak into it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "part.hpp"

namespace runq::model {

/// Where in the source an operation stands. `arg` tells the orders of one call apart: 0 is the only or the success
/// order, 1 the failure order of a compare-exchange.
struct site {
  const char* file = "";
  int line = 0;
  const void* code =
      nullptr;  ///< in a compiled program: the address from which file and line are found when they are needed
};

/// What an execution may fail by. Mutants name it (`killed by:`).
enum class failure : unsigned char {
  none,
  check_failed,      ///< a check of the scenario, or of a queue's contract, that is none of the next four
  lost,              ///< what was put in did not come out
  run_twice,         ///< what was put in came out twice
  out_of_order,      ///< a newer one came out before an older one
  not_linearizable,  ///< no sequential order explains the answers
  data_race,
  uninitialised_read,
  use_after_free,
  double_free,
  leak,
  unpublished_allocation,
  deadlock,       ///< no thread can go on: a lost wake-up
  livelock,       ///< the execution exceeded the step limit
  misuse,         ///< a mutex unlocked by another thread, and the like
  crash,          ///< a compiled program: a signal, abort(), an uncaught exception
  not_lock_free,  ///< a compiled program: a call that is claimed lock-free waits for a thread that has stopped
};

/// A point in the run of a thread: the number of steps it has made so far. Threads are numbered by the engine.
struct moment {
  int thread = -1;
  std::uint32_t steps = 0;
};

enum class rmw_op : unsigned char { exchange, add, sub, bit_and, bit_or, bit_xor, bit_nand };

/// Applies `op` as std::atomic would for an unsigned integer; the caller truncates to the width of its type.
[[nodiscard]] constexpr std::uint64_t apply(rmw_op op, std::uint64_t old, std::uint64_t operand) noexcept {
  switch (op) {
    case rmw_op::exchange: return operand;
    case rmw_op::add: return old + operand;
    case rmw_op::sub: return old - operand;
    case rmw_op::bit_and: return old & operand;
    case rmw_op::bit_or: return old | operand;
    case rmw_op::bit_xor: return old ^ operand;
    case rmw_op::bit_nand: return ~(old & operand);
  }
  return old;
}

/// One shared variable, atomic or plain, or one mutex, as an engine sees it. Values travel as 64 bits; `mask` keeps the
/// bits that the variable's type has.
struct location {
  void* record = nullptr;      ///< the engine's own, set in *_init, released in *_destroy
  std::uint64_t mask = ~0ULL;  ///< 0xff for an 8-bit variable, and so on
  part accessed{};             ///< by the operation that is asked for
};

/// A checker. Exactly one is current while a scenario runs; all of its threads are fibers of one operating-system
/// thread, so a scenario may keep notes in ordinary memory without synchronisation.
class engine {
 public:
  virtual ~engine() = default;

  /// `initialised` false: reading the variable before a write that happens-before it is an error.
  virtual void atomic_init(location& at, bool initialised, std::uint64_t value, site where) = 0;
  virtual void atomic_destroy(location& at) noexcept = 0;
  virtual std::uint64_t load(location& at, std::memory_order order, site where) = 0;
  virtual void store(location& at, std::uint64_t value, std::memory_order order, site where) = 0;
  virtual std::uint64_t rmw(location& at, rmw_op op, std::uint64_t operand, std::memory_order order, site where) = 0;
  /// On failure `expected` becomes the value read. Weak: may fail although the value was the expected one.
  virtual bool compare_exchange(location& at, std::uint64_t& expected, std::uint64_t desired, bool weak,
                                std::memory_order success, std::memory_order failure, site where) = 0;
  virtual void fence(std::memory_order order, site where) = 0;

  /// Plain memory. The value itself stays with the caller, which calls these before it reads or writes it.
  virtual void cell_init(location& at, bool initialised, site where) = 0;
  virtual void cell_destroy(location& at) noexcept = 0;
  virtual void cell_read(location& at, std::uint64_t value, site where) = 0;
  virtual void cell_write(location& at, std::uint64_t value, site where) = 0;

  virtual void mutex_init(location& at, site where) = 0;
  virtual void mutex_destroy(location& at) noexcept = 0;
  virtual void mutex_lock(location& at, site where) = 0;
  virtual bool mutex_try_lock(location& at, site where) = 0;
  virtual void mutex_unlock(location& at, site where) = 0;

  /// Heap memory whose use after free, double free and leak are errors.
  virtual void* allocate(std::size_t size, site where) = 0;
  virtual void deallocate(void* p, site where) = 0;

  /// The thread cannot go on until another one does something: lets the engine run that one.
  virtual void pause(site where) = 0;

  /// A check of the scenario or of a queue's contract failed: `text` says what it asked. Does not return to the
  /// scenario.
  [[noreturn]] virtual void fail(failure what, const char* text, site where) = 0;

  /// Index of the running thread, 0 … threads-1; -1 while the scenario is constructed or finishes.
  [[nodiscard]] virtual int thread_index() const noexcept = 0;
  /// Where the running thread is now. Construction and finish() are threads of their own.
  [[nodiscard]] virtual moment now() const noexcept = 0;
  /// Whether all that a thread did up to `end` happens-before all that a thread does after `begin`. An engine without
  /// clocks knows program order only, and that construction comes first and finish() last.
  [[nodiscard]] virtual bool happened_before(moment end, moment begin) const noexcept = 0;
  /// Atomic operations, plain accesses and fences that the running thread has made so far in this execution.
  [[nodiscard]] virtual std::uint64_t operations() const noexcept = 0;
};

/// The engine that runs the scenario now; there is one whenever a scenario's code runs.
[[nodiscard]] engine& current_engine() noexcept;
/// For engines: makes `e` current and returns the one that was before, or nullptr.
engine* set_current_engine(engine* e) noexcept;

/// What kind of operation an order belongs to; decides which orders are weaker.
enum class order_of : unsigned char { load, store, rmw, cas_failure, fence };

/// The order to use in place of the `written` one: weaker if the running check has weakened this operation. Every
/// operation passes its orders through here, so that a mutant of an order needs no recompilation, and so that the
/// ledger learns which operations there are. `arg` is 0 for the only or the success order, 1 for a failure order.
[[nodiscard]] std::memory_order effective_order(std::memory_order written, order_of kind, site where, int arg) noexcept;

}  // namespace runq::model
