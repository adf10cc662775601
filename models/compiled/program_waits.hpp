// SPDX-License-Identifier: MIT
// How a thread of a compiled program waits: in a loop, until another thread wakes it, until a time.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "caller.hpp"
#include "execution.hpp"
#include "program_atomics.hpp"
#include "program_code.hpp"
#include "program_memory.hpp"

namespace runq::model::compiled {

/// Threads that wait, and what becomes of their waits.
class program_waits final : public end_observer {
 public:
  program_waits(execution& now, program_code& code, program_memory& memory, program_atomics& atomics)
      : now_(now), code_(code), memory_(memory), atomics_(atomics) {}

  /// Whether a thread that comes by in the same state again, having done nothing but read, waits for another value.
  void recognise_loops(bool on) noexcept { recognises_loops_ = on; }
  void begin_execution() noexcept;
  void begin_thread(unsigned thread);

  // --- loops --------------------------------------------------------------------------------------------------------
  /// Before an operation that may change nothing: whether the thread has been here before, and so waits.
  void look_for_loop(const caller_state& caller, const void* code);
  /// Called after look_for_loop(), when the thread is about to read the variable. If this round has to read what an
  /// earlier round of the loop read, returns the event that read it there; otherwise `nobody`.
  [[nodiscard]] exact::event_id read_in_earlier_round(const caller_state& caller, const void* at, bool may_write,
                                                      const void* code);
  void thread_ends(const void* result) override;
  [[nodiscard]] bool tells(unsigned variable, std::uint64_t value) const noexcept override;
  /// The running thread has taken a lock.
  void note_taken(const void* lock);
  /// It is about to give it back.
  void note_given_back(const void* lock);

  // --- waits for a wake-up: of condition variables, futexes ---------------------------------------------------------
  /// A wait for a condition variable, as the running thread comes to it.
  struct wait_begun {
    std::uint64_t state;
    /// The events before the round that led here from a wake-up for no reason, in which nothing has changed; otherwise
    /// `no_round`.
    unsigned round;
    std::size_t plain = 0;  ///< thread_state::access_count before that round
    static constexpr unsigned no_round = ~0U;
  };
  [[nodiscard]] wait_begun before_wait(const caller_state& caller);
  /// Before the thread gives its mutex back. Returns whether the wait ends at once, for no reason: nothing else has
  /// happened then. If the thread has come back to the wait after it had ended so, abandons this execution: in another
  /// one it waits on.
  [[nodiscard]] bool returns_at_once(const wait_begun& wait, const void* code);
  /// The same for a wait that has begun, and ends for no reason at any time.
  [[nodiscard]] bool wakes_up_for_no_reason(const wait_begun& wait, const void* code);
  /// The wait has ended for no reason.
  void note_woken(const wait_begun& wait);
  /// The running thread waits at that address from now on. Returns the number by which it can be woken.
  [[nodiscard]] unsigned begin_waiting(const void* at, const void* code);
  /// The same for a condition variable, which must not be destroyed meanwhile. All that wait have the same mutex.
  [[nodiscard]] unsigned begin_waiting_for_condition(const void* at, const void* mutex, const void* code);
  /// Waits until it is woken. `for_ever`: see wait_while().
  void wait_until_woken(const void* at, unsigned number, bool for_ever, const void* code);
  /// The thread waits no longer. False: another thread has woken it already.
  [[nodiscard]] bool stop_waiting(const void* at, unsigned number, const void* code);
  /// Wakes at most so many of those that wait, any of them. Returns how many.
  unsigned wake(const void* at, unsigned most, const void* code);
  /// No thread waits for a condition variable in that memory, of which `what` is about to happen.
  void require_no_waiter(const void* begin, std::size_t size, const char* what, const void* code);

  // --- waits for a value --------------------------------------------------------------------------------------------
  /// Waits until the variable of `size` bytes holds another value than `value`. `for_ever`: if no thread ever changes
  /// it, that is a deadlock; otherwise such executions do not count, because another one shows what happens then.
  void wait_while(const void* at, unsigned size, std::uint64_t value, std::memory_order order, bool for_ever,
                  const void* code);
  /// Waits, by acquire loads, until the variable of four bytes holds more than `value`: for ever if it never does.
  void wait_until_above(const void* at, std::uint64_t value, const void* code);
  /// The wait does not time out, and what it waits for is not there yet: abandons this execution. In another one it is
  /// there. `since`: the position() at which the wait has begun.
  [[noreturn]] void wait_for_others(unsigned since, const void* code);
  [[nodiscard]] unsigned position() const noexcept { return now_.search->position(); }
  /// A word by which threads wait for the object with that number, outside of the program's memory.
  [[nodiscard]] std::uint32_t* word_of(const void* at, unsigned life) { return &places_[{at, life}].begun; }
  /// What of the program threads wait for at an address outside of its memory; nullptr: that is no such address.
  [[nodiscard]] const void* awaited_at(const void* word) const noexcept;

  // --- time ---------------------------------------------------------------------------------------------------------
  /// A wait that may end by a timeout begins. Returns whether it does end so.
  [[nodiscard]] bool times_out(const void* code);
  /// The time that a clock shows, in nanoseconds. It changes only where a deadline may pass.
  [[nodiscard]] std::uint64_t time(const void* code);
  [[nodiscard]] std::uint64_t known_time() const;
  /// From now on the clock shows at least that time to the running thread, and to whatever happens after this.
  void let_time_pass_until(std::uint64_t nanoseconds);

 private:
  struct visit {
    const void* code;
    const std::byte* stack;
    std::uint64_t state;
    unsigned position;                ///< events before it
    unsigned timed;                   ///< clocks read, and timed waits, before it
    std::uint64_t accesses = 0;       ///< plain accesses before it
    std::size_t shared_accesses = 0;  ///< thread_state::shared_accesses before it
    std::size_t writes = 0;           ///< plain writes before it
    unsigned effects = 0;             ///< other ones
    std::size_t plain = 0;            ///< thread_state::access_count before it
  };
  struct rounds_at {
    const void* code;
    const std::byte* stack;
    const void* at;
    unsigned count;        ///< that have read `value`
    exact::event_id last;  ///< the read in the last of them
    std::uint64_t value;
  };
  struct passed_time {
    step at;
    std::uint64_t until;
  };
  struct thread_info {
    std::vector<visit> visits;      ///< since it has last done anything but read and change atomic variables
    std::vector<rounds_at> rounds;  ///< since it has last done anything but read
    rounds_at before_last_read{};   ///< what the last read has changed in `rounds`; count 0: it was added
    std::vector<visit> came_by;     ///< the last of all visits
    std::vector<visit> woken;       ///< as well: waits for condition variables that have ended for no reason
    unsigned timed = 0;             ///< clocks read, and timed waits
    unsigned timeouts = 0;
    unsigned spurious_wakeups = 0;
    unsigned failed_spuriously = 0;  ///< thread_state::failed_spuriously, as it was last seen
    std::vector<passed_time> passed;
  };
  /// Lies outside of the program's memory, but is accessed like it.
  struct waiting_place {
    static constexpr unsigned most = 56;
    std::uint32_t begun = 0;                 ///< how many threads have begun to wait, one after the other
    std::array<std::uint8_t, most> woken{};  ///< of each: 1: yes; 2: it waits no longer
    struct waiter : step {
      const void* mutex = nullptr;
    };
    std::array<waiter, most> waiters{};  ///< of a condition variable: who they are; otherwise nobody

    void begin_execution() noexcept {
      begun = 0;
      woken = {};
    }
  };

  [[nodiscard]] thread_info& mine() noexcept { return threads_[now_.self.number]; }
  [[nodiscard]] waiting_place& place_of(const void* at) { return places_[{at, 0}]; }
  void forget_before_effect();
  [[nodiscard]] std::uint64_t state_of(const caller_state& caller);
  [[nodiscard]] bool undoes_changes_since(unsigned position, bool is_late_round) const;
  [[nodiscard]] bool had_seen(exact::event_id write, unsigned position) const;
  [[nodiscard]] const visit* beginning_of_wait(std::uint64_t state) const;
  void wait_as_in(const visit& before, const void* code);
  [[nodiscard]] unsigned length_of_last_round(const visit& now) const;
  [[nodiscard]] unsigned length_of_failed_attempt(const visit& now) const;
  void look_for_shortcut(const visit& now);
  void look_for_undone_round(const visit& now);
  [[nodiscard]] bool reads_heap_again(unsigned begin, unsigned end) const;
  [[nodiscard]] std::optional<std::uint64_t> with_writes(std::uint64_t state, std::size_t since) const;
  void leave_out_round(unsigned begin, bool no_race_is_lost, const void* code);
  void tell_state(std::uint64_t state);
  [[nodiscard]] bool may_be_left_out(unsigned begin, unsigned end) const;
  using accesses = std::vector<reads_in_waits::place>;
  [[nodiscard]] std::optional<accesses> accessed_once(const visit& begin, const visit& end) const;
  void add_accessed_once_on_heap(unsigned begin, unsigned end, accesses& found) const;
  [[nodiscard]] reads_in_waits::place place_of(const shared_access& a) const;
  void add_variable(const exact::node& n, accesses& to) const;
  void note_accesses_since(unsigned position, std::size_t plain);
  void begin_round_again(unsigned position);
  [[nodiscard]] bool takes_locks_since(unsigned position) const;
  /// Whether the round is one of those that add nothing, because the standard library's loop has no memory of them.
  [[nodiscard]] bool counts_in_vain(const void* code);
  void leave_out_round(const wait_begun& wait, const void* code);
  [[nodiscard]] bool may_wake_for_no_reason(const void* code);

  execution& now_;
  program_code& code_;
  program_memory& memory_;
  program_atomics& atomics_;
  bool recognises_loops_ = true;
  std::array<thread_info, exact::thread_slots> threads_;
  /// By address, and for a barrier by how often it was initialised: threads may still leave an earlier one.
  std::map<std::pair<const void*, unsigned>, waiting_place> places_;
};

}  // namespace runq::model::compiled
