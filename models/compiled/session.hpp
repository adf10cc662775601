// SPDX-License-Identifier: MIT
// One check of a compiled program: what the instrumented code asks for, translated for the exact engine.
//
// Each part has one subject, and knows of those before it:
//
//     execution         the search, and the thread that it runs
//     alike_threads     which threads begin alike, and what tells them apart
//     program_code      where that thread is in the program's code
//     program_memory    plain accesses; program_heap: blocks; program_beginning: what every execution begins with
//     program_atomics   atomic operations
//     program_keys      values that belong to a thread
//     program_threads   how threads begin and end
//     program_waits     how threads wait
//     relaxed_lines     plain accesses that count as relaxed atomic ones
//     program_locks     which thread holds which lock
//     program_reuse     which blocks are allocated again
//     program_objects   what became of mutexes, condition variables, and their like
//
// Atomic operations, locks, and the start and end of threads are events of the engine's graph. Plain accesses are none.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "distinct_failures.hpp"
#include "execution.hpp"
#include "identities.hpp"
#include "process.hpp"
#include "program_atomics.hpp"
#include "program_code.hpp"
#include "program_keys.hpp"
#include "program_locks.hpp"
#include "program_memory.hpp"
#include "program_objects.hpp"
#include "program_reuse.hpp"
#include "program_threads.hpp"
#include "program_waits.hpp"
#include "relaxed_lines.hpp"
#include "wide_values.hpp"

namespace runq::model::compiled {

/// A check from its options to its result, and what more than one part takes part in.
class session final : public exact::program {
 public:
  /// Before main() begins, and before global variables are initialised: the heap works from now on.
  session();

  // --- its parts ----------------------------------------------------------------------------------------------------
  [[nodiscard]] program_code& code() noexcept { return code_; }
  [[nodiscard]] program_memory& memory() noexcept { return memory_; }
  [[nodiscard]] program_atomics& atomics() noexcept { return atomics_; }
  [[nodiscard]] program_keys& keys() noexcept { return keys_; }
  [[nodiscard]] program_threads& threads() noexcept { return threads_; }
  [[nodiscard]] program_waits& waits() noexcept { return waits_; }
  [[nodiscard]] relaxed_lines& relaxed() noexcept { return relaxed_; }
  [[nodiscard]] const relaxed_lines& relaxed() const noexcept { return relaxed_; }
  [[nodiscard]] program_locks& locks() noexcept { return locks_; }
  [[nodiscard]] program_objects& objects() noexcept { return objects_; }

  // --- before a check -----------------------------------------------------------------------------------------------
  /// A check begins in the middle of a program. Every execution finds the program's memory, and the stack frames of its
  /// functions from `callers_stack` on, as they are now.
  void begin_at(const void* callers_stack);
  struct check_options {
    bool counts_leaks = true;
    bool describes = true;                 ///< a failing execution will be shown: it takes long to find its lines
    exact::work_source* source = nullptr;  ///< of parts of the search: see exact::search
    std::optional<exact::full_way> shown;  ///< the only execution, which is shown even if it passes
    /// Whether a race of the accesses in these two lines is accepted; it ends the search.
    std::function<bool(const code_line&, const code_line&)> is_accepted;
  };
  [[nodiscard]] check_options& options() noexcept { return options_; }
  [[nodiscard]] bounds& limits() noexcept { return now_.limits; }

  // --- the check ----------------------------------------------------------------------------------------------------
  [[nodiscard]] search_result check(const program_threads::program_start& start, const exact_options& options);
  /// Whether a check is under way.
  [[nodiscard]] bool checking() const noexcept { return now_.is_checked(); }
  /// The search of the check that is under way; nullptr: none is.
  [[nodiscard]] const exact::search* search() const noexcept { return now_.search; }
  /// Changes whenever the program does something that others can notice. For a signal handler.
  struct progress_mark {
    std::uint64_t executions;
    unsigned thread;
    unsigned position;
    friend bool operator==(const progress_mark&, const progress_mark&) = default;
  };
  [[nodiscard]] progress_mark progress() const noexcept {
    return checking() ? progress_mark{executions_, search()->running(), search()->position()} : progress_mark{};
  }
  /// Whether the address is where a thread has no more stack.
  [[nodiscard]] bool is_end_of_stack(const void* address) const noexcept;

  // --- its result ---------------------------------------------------------------------------------------------------
  [[nodiscard]] left_out& omitted() noexcept { return now_.omitted; }
  [[nodiscard]] reads_in_waits& read_while_waiting() noexcept { return now_.waits; }
  /// What the program has written to its output in the last execution.
  [[nodiscard]] const std::string& output() const noexcept { return output_; }
  /// The way to the last execution.
  [[nodiscard]] const exact::full_way& last_way() const noexcept { return last_way_; }
  /// How much of the search was done, by weight.
  [[nodiscard]] double weight_done() const noexcept { return weight_done_; }
  /// The two lines of the accepted race that has ended the search; nothing: none has.
  [[nodiscard]] const std::vector<code_line>& accepted_race() const noexcept { return accepted_race_; }
  [[nodiscard]] distinct_failures& failures() noexcept { return failures_; }
  [[nodiscard]] const exact_statistics& statistics() const noexcept { return statistics_; }

  // --- what more than one part takes part in ------------------------------------------------------------------------
  [[nodiscard]] pthread_t spawn(void* (*function)(void*), void* argument, const void* code);
  [[nodiscard]] std::span<const std::byte> captured(void* (*function)(void*), const void* argument);
  [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment, const void* code);
  /// Frees the block of the heap at `p`.
  void free(void* p, const void* code);

  // exact::program
  void begin_search_again() override;
  bool may_miss_race() const override { return !now_.waits.lines().empty() && failures_.all().empty(); }
  void take_larger_variable() override { atomics_.words().add_shown(); }
  void forget_larger_variables() override { atomics_.words().forget(); }
  void begin_execution() override;
  void run(unsigned thread) override { threads_.run(thread); }
  void enter(unsigned thread) noexcept override;
  void leave() noexcept override { identities_.take(1); }
  void end_execution() override;
  bool may_stop(unsigned thread) const override { return threads_.is_in_call(thread); }
  bool claims_to_finish(unsigned thread) const override { return threads_.is_in_lock_free_call(thread); }
  std::string name_of_variable(unsigned index) override;
  bool note_failure(failure what, const std::string& message, const std::vector<site>& where,
                    std::size_t steps) override;

 private:
  void begin_search();
  void begin_thread(unsigned thread);
  [[nodiscard]] bool begin_check(const program_threads::program_start& start, search_result& result);

  // session_failures.cpp
  [[nodiscard]] const std::string& key_of(failure what, const std::string& message, const std::vector<site>& where);
  void note_accepted_race();

  // session_show.cpp
  /// After the search: what people see of its result.
  void show(search_result& r);
  void describe(event& e);
  [[nodiscard]] std::string name_of_memory(const void* at, std::size_t size);
  void find_signed_numbers(search_result& r);
  [[nodiscard]] std::uint8_t signed_bytes_of(unsigned index);
  [[nodiscard]] const atomic_place* place_of(unsigned index);
  void show_accesses(search_result& r);
  [[nodiscard]] event step_of(const shown_access& shown, std::uint32_t location);
  void name_memory(search_result& r, const std::map<const void*, std::uint32_t>& numbers);

  execution now_;
  thread_identities identities_;
  wide_values wide_;
  program_code code_{now_};
  program_memory memory_{now_, code_, identities_, wide_};
  program_atomics atomics_{now_, code_, memory_, wide_};
  program_keys keys_{now_, code_, memory_};
  program_threads threads_{now_, code_, identities_, keys_};
  program_waits waits_{now_, code_, memory_, atomics_};
  relaxed_lines relaxed_{now_, code_, atomics_, waits_};
  program_locks locks_{now_, code_, memory_, atomics_, waits_};
  program_reuse reuse_{now_, code_, memory_.heap(), atomics_, waits_};
  program_objects objects_{now_, code_, memory_, waits_, locks_};

  check_options options_;
  exact_statistics statistics_;
  exact::full_way last_way_;
  std::uint64_t executions_ = 0;  ///< begun
  double weight_done_ = 0;
  distinct_failures failures_;
  std::unordered_map<std::string, std::string> known_failures_;  ///< keys of them, by message and code
  unsigned failures_here_ = 0;                                   ///< of this execution
  std::vector<code_line> accepted_race_;
  std::string output_;
};

[[nodiscard]] session& make_session() noexcept;
/// The only one.
[[nodiscard]] inline session& current_session() noexcept {
  return this_process.only_session != nullptr ? *this_process.only_session : make_session();
}

}  // namespace runq::model::compiled
