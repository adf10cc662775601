// SPDX-License-Identifier: MIT
// Atomic operations of a compiled program, translated for the exact engine: they are events of its graph.
#pragma once

#include <atomic>
#include <vector>

#include "execution.hpp"
#include "mixed_words.hpp"
#include "program_code.hpp"
#include "program_memory.hpp"
#include "undone_rounds.hpp"
#include "wide_values.hpp"

namespace runq::model::compiled {

/// The program's atomic variables and locks, which are found when they are first used. Values have up to 64 bits.
class program_atomics {
 public:
  program_atomics(execution& now, program_code& code, program_memory& memory, wide_values& wide)
      : now_(now), code_(code), memory_(memory), wide_(wide), undone_(now) {}

  /// When a check begins.
  void find_libraries();

  // --- operations ---------------------------------------------------------------------------------------------------
  std::uint64_t load(const void* at, unsigned size, std::memory_order order, const void* code,
                     exact::event_id like = exact::nobody);
  void store(void* at, unsigned size, std::uint64_t value, std::memory_order order, const void* code);
  std::uint64_t rmw(void* at, unsigned size, rmw_op op, std::uint64_t operand, std::memory_order order,
                    const void* code);
  bool compare_exchange(void* at, unsigned size, std::uint64_t& expected, std::uint64_t desired, bool weak,
                        std::memory_order success, std::memory_order failure, const void* code,
                        exact::event_id like = exact::nobody);
  /// A weak compare-exchange has succeeded: whether it might have failed is explored, or left out.
  void note_success_of_weak() noexcept;
  void fence(std::memory_order order, const void* code);

  // --- plain accesses that count as relaxed: see relaxed_lines.hpp --------------------------------------------------
  /// The program's own instruction will read the value that this leaves in memory.
  void plain_load(void* at, unsigned size, const void* code, exact::event_id like);
  /// Before and after the program's own instruction has written.
  void begin_plain_store(void* at, unsigned size, const void* code);
  void end_plain_store(void* at, unsigned size, const void* code);

  /// At a barrier, whose word of `size` bytes stays as it is: see exact::program_operations.
  using arriving = exact::program_operations::arriving;
  [[nodiscard]] exact::event_id arrive(const void* at, unsigned size, arriving how, const void* code);
  [[nodiscard]] bool depart(exact::event_id arrival, const void* code);
  void depart(const void* at, unsigned size, std::uint32_t round, bool by_token, const void* code);
  [[nodiscard]] std::uint32_t round_of(exact::event_id arrival) const noexcept {
    return now_.search->current_graph().at(arrival).place;
  }
  /// Whether a thread may come with its token of a round at that word when the next one is over, too.
  [[nodiscard]] bool has_late_departure(const void* at, unsigned size);
  [[noreturn]] void give_up_rounds(const std::string& why) { now_.search->give_up_rounds(why); }
  [[nodiscard]] bool has_rounds() const noexcept { return now_.search->has_rounds(); }

  // --- operations of locks: what they mean to the running thread is said by program_locks ---------------------------
  void lock(void* mutex, const void* code);
  [[nodiscard]] bool try_lock(void* mutex, exact::event_id like, const void* code);
  void unlock(void* mutex, const void* code);
  /// Adds `delta` to one of the `count` values from `first` on, or, `blocking`, waits until there is one.
  [[nodiscard]] bool take(void* at, unsigned size, std::uint64_t first, std::uint64_t count, std::uint64_t delta,
                          bool blocking, const void* code);
  /// Subtracts `delta` from a lock that holds it, by a store if it is all that the lock holds.
  void give_back(void* at, unsigned size, std::uint64_t delta, bool is_all, const void* code);
  /// Adds one to what a lock holds, and returns what it was.
  std::uint64_t add_to_lock(void* at, unsigned size, std::memory_order order, const void* code);
  [[nodiscard]] std::uint64_t load_lock(void* at, unsigned size, const void* code);
  /// A lock is initialised, and holds that.
  void begin_lock(void* at, unsigned size, std::uint64_t value);
  /// What it holds, for a thread that knows: no other one changes it.
  [[nodiscard]] std::uint64_t held_in_lock(void* at, unsigned size);
  void begin_execution();

  [[nodiscard]] undone_rounds& undone() noexcept { return undone_; }
  [[nodiscard]] wide_values& wide() noexcept { return wide_; }
  [[nodiscard]] mixed_words& words() noexcept { return words_; }

  // --- variables ----------------------------------------------------------------------------------------------------
  /// Whether the write at `position` of the running thread leaves the variable as it was before the thread's event at
  /// `since`: the last write that is not one of the thread's since then has the same value, and the thread knows it.
  [[nodiscard]] bool restores_value(unsigned position, unsigned since) const;
  /// Where the one with that number lies; nullptr: there is none.
  [[nodiscard]] const void* address_of(unsigned variable) const noexcept {
    return variable < variables_.size() ? words_.seen_as(variables_[variable]) : nullptr;
  }

 private:
  /// The atomic variable of `size` bytes at `at`, of which the first are in that granule.
  [[nodiscard]] location variable_at(granule& g, const void* at, unsigned size, const site& where, const void* code);
  /// The same, or a lock.
  [[nodiscard]] location any_variable_at(granule& g, const void* at, unsigned size, const site& where,
                                         const void* code);
  [[nodiscard]] location whole_variable_at(granule& g, const void* at, unsigned size, const site& where,
                                           const void* code);
  struct state_of_lock {
    location variable;
    void* at = nullptr;  ///< in the lock, or elsewhere: see mixed_words
  };
  [[nodiscard]] state_of_lock lock_at(const void* at, unsigned size, const site& where, const void* code);
  void begin_again_if_others_use(atomic_place& place, void* lock, bool is_lock, const void* code);
  void require_no_write_beside(const mixed_word& word, const void* at, unsigned size);
  [[nodiscard]] location variable_of(const mixed_word& word, granule& g, const site& where, const void* code);
  [[nodiscard]] static atomic_place* place_of(const mixed_word& word, granule& g);
  [[nodiscard]] location new_variable_at(granule& g, const void* at, unsigned size, const site& where,
                                         const void* code);
  void make_room(granule& g, const std::byte* part, byte_mask bytes, const void* at, unsigned size, const void* code);
  [[noreturn]] void begin_again_with_lock(void* lock, const void* code);
  [[noreturn]] void begin_again_with_word(const atomic_place& p, const std::byte* part, const void* at, unsigned size,
                                          const void* code);
  [[nodiscard]] std::uint16_t variable_number(granule& g, const void* at, unsigned size, const void* code);
  [[nodiscard]] bool is_private(const atomic_place& place, const void* at) const;
  void leave_in_memory(granule& g, void* at, unsigned size, std::uint64_t value);
  [[nodiscard]] bool repeats_value() const;
  [[nodiscard]] bool unlocks_shared_pointer(rmw_op op, unsigned size, std::uint64_t operand, std::memory_order order,
                                            const void* code);
  /// `g` has the first bytes.
  void check_access(granule& g, const void* at, unsigned size, const void* code) {
    if (now_.search->judges_undone_rounds()) undone_.look_at_last_operation();
    if (!now_.is_alone() && now_.comes_late()) note_late_access(at, size, code);
    const bool is_simple = size <= granule_bytes && (now_.is_alone() || !g.has_accesses());
    program_heap& heap = memory_.heap();
    if (!is_simple || (heap.owns(at) && !heap.may_use(g, at, size))) check_parts(g, at, size, code);
  }
  void note_late_access(const void* at, unsigned size, const void* code);
  void check_parts(granule& g, const void* at, unsigned size, const void* code);
  void check_part(granule& g, const void* part, byte_mask bytes, const void* at, unsigned size, const void* code);

  execution& now_;
  program_code& code_;
  program_memory& memory_;
  wide_values& wide_;
  undone_rounds undone_;
  mixed_words words_;
  std::vector<const void*> variables_;  ///< where they lie, by their numbers
  address_range waiters_;  ///< where the standard library counts the threads that wait for an atomic variable
};

}  // namespace runq::model::compiled
