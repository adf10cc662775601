// SPDX-License-Identifier: MIT
// Atomic variables: the stores that may still be read, in modification order. A read takes any that coherence and
// the order of seq_cst operations leave; a store goes to any place in the order that they leave. Memory holds the
// newest.
#pragma once

#include <atomic>
#include <cstdint>

#include "pairs.hpp"
#include "shadow.hpp"
#include "steps.hpp"

namespace runq::model::explore {

using wide = unsigned __int128;

/// That a thread has read or written a store, or a newer one.
struct observer {
  std::uint32_t epoch;
  std::uint16_t thread;
  std::uint64_t total_order;  ///< the time of the first such seq_cst operation; 0: there is none
};

struct store_record {
  wide value;
  message* released;
  store_record* next;  ///< of a free one
  origin by_code;
  std::uint64_t step;  ///< its number in what is shown of a failing run
  std::uint8_t observers;
  bool is_read_by_rmw;  ///< the next one is that of a read-modify-write, and nothing comes between
  bool is_known;        ///< to all threads: older ones can no longer be read
  observer by[observers_kept];
};

struct location {
  std::uintptr_t address;
  location* next;            ///< in the same cell; or a free one
  std::uint64_t changed_at;  ///< the step, and by which thread, the last time
  std::uint32_t changed_by;
  std::uint8_t size;
  std::uint8_t count;
  store_record* stores[stores_kept + 1];  ///< oldest first
};

/// The operations of the running thread. `value`s have the bits that fit into `size`.
[[nodiscard]] wide atomic_load(std::uintptr_t address, unsigned size, std::memory_order order, const void* code);
void atomic_store(std::uintptr_t address, unsigned size, wide value, std::memory_order order, const void* code);
/// The value that it has read.
wide atomic_rmw(std::uintptr_t address, unsigned size, rmw_op op, wide operand, std::memory_order order,
                const void* code);
/// Whether `expected` was found; otherwise it becomes what was found.
[[nodiscard]] bool atomic_compare_exchange(std::uintptr_t address, unsigned size, wide& expected, wide desired,
                                           bool is_weak, std::memory_order success, std::memory_order failure,
                                           const void* code);
void atomic_fence(std::memory_order order, const void* code);
/// The same, within another step: of a call that is a fence by itself.
void seq_cst_fence();

/// One in each thread, at the same time.
void seq_cst_fence_in_all_threads();

/// All that begin in the cell.
void forget_locations(cell& c);
/// Those of the cell, and the locks, that have bytes there.
void forget_written_objects(cell& c, std::uintptr_t address, std::size_t size);

}  // namespace runq::model::explore
