// SPDX-License-Identifier: MIT
// One check of a compiled program: what the instrumented code asks for, translated for the exact engine.
//
// Atomic operations, locks, and the start and end of threads are events of the engine's graph. Plain accesses are none:
// the program's memory holds the values, because a thread is executed in an order that respects what it has read, and
// the shadow memory compares each access with the clocks of the graph. Memory is only wrong where there is a race,
// which ends the check.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "caller.hpp"
#include "exact_search.hpp"
#include "executed.hpp"
#include "frames.hpp"
#include "memory.hpp"
#include "objects.hpp"
#include "orders.hpp"
#include "shadow.hpp"
#include "symbols.hpp"
#include "user_heap.hpp"

namespace runq::model::compiled {

/// True while the program's own code runs: the functions that it calls are modelled. When the checker itself calls the
/// same functions, they do what they always do.
extern bool in_program;

/// Memory of the program that the checker reads or writes on its behalf: a fault there is the program's.
struct touched_memory {
  const std::byte* begin = nullptr;
  std::size_t size = 0;
  const void* code = nullptr;

  [[nodiscard]] bool contains(const void* address) const noexcept { return address >= begin && address < begin + size; }
  /// No such address exists; the processor does not say which one it was.
  [[nodiscard]] bool is_no_address() const noexcept;
};
extern touched_memory touched;

/// While the checker works on behalf of the program.
class checker_scope {
 public:
  checker_scope() noexcept { in_program = false; }
  checker_scope(const checker_scope&) = delete;
  checker_scope& operator=(const checker_scope&) = delete;
  ~checker_scope() { in_program = true; }
};

using main_function = int (*)(int, char**, char**);
using exit_handler = void (*)(void*);

/// What C++20 allows in a program and the search did not explore.
struct left_out {
  bool spurious_failures = false;  ///< a weak compare-exchange succeeded where it might have failed (once more)
  bool unknown_weakness = false;   ///< so did one of which the compiler does not tell whether it is weak
  bool local_members = false;      ///< plain accesses that clang does not show
  bool spurious_wakeups = false;   ///< a wait for a condition variable might have ended for no reason (once more)
  bool rounds = false;             ///< a loop that waits, and counts, was left in one of its first rounds, or its last
  bool consume = false;            ///< a load by that order acquired everything
  bool tries = false;              ///< std::mutex::try_lock() might have failed for no reason (once more)
  bool repeated_stores = false;    ///< a loop that stores in each round what is there already was taken to wait
  bool clocks = false;             ///< a clock was read: it either shows the same time, or has gone on by a day
  bool timeouts = false;           ///< a timed wait might have ended, or a clock gone on, once more
  bool values = false;             ///< __VERIFIER_nondet_int(), or one of its like, might have returned another value
  bool reuse = false;              ///< a block might have been allocated that was freed before (once more)
  // Both together:
  bool lock_rounds = false;   ///< a loop that takes locks, and gives them back, was taken to wait
  bool failed_tries = false;  ///< a try_lock failed that is not std::lock's: it may have noticed such a round
};

/// From `first` to `last`, both included.
struct value_range {
  std::int64_t first = 0;
  std::int64_t last = 0;
};
/// "0..3"
[[nodiscard]] inline std::string to_text(const value_range& r) {
  return std::to_string(r.first) + ".." + std::to_string(r.last);
}

/// How far the search goes where C++20 sets no limit.
struct bounds {
  unsigned spurious_failures = 0;  ///< in an execution
  unsigned spurious_wakeups = 1;   ///< of a thread: waits for condition variables that end for no reason
  bool wakes_at_once_only = true;  ///< they end before anything else happens
  unsigned reused = 0;             ///< of a thread: allocations that get a block which it has freed
  unsigned timeouts = 2;           ///< of a thread: timed waits that end, and deadlines that pass
  value_range any_value{0, 3};     ///< of __VERIFIER_nondet_int() and its like: at most `most_values` of them
  static constexpr std::int64_t most_values = 65'536;
  bool judges_timed_waits = false;  ///< a deadlock may consist of waits whose timeouts are not explored
  unsigned rounds = 4;              ///< of a loop that waits: in later ones it reads what it has read before
  /// Of a loop that waits, counts its rounds, and only reads: in later ones it waits until it reads something else.
  static constexpr unsigned most_rounds = 256;
};

class session final : public exact::program {
 public:
  /// Before main() begins, and before global variables are initialised: the heap works from now on.
  session();

  // --- the run -------------------------------------------------------------------------------------------------------
  /// Called before a check() that begins in the middle of a program. Every execution finds the program's memory, and
  /// the stack frames of its functions from `callers_stack` on, as they are now.
  void begin_at(const void* callers_stack);
  /// Called before check(), if no failing execution will be shown: it takes long to find the lines of one.
  void describe_nothing() noexcept { describes_ = false; }
  [[nodiscard]] bool is_whole_program() const noexcept { return callers_begin_ == nullptr; }
  /// For a program that calls runq::check() and then ends as usual: registers the exit handlers of its global
  /// initialisers.
  void register_exit_handlers();
  [[nodiscard]] search_result check(main_function main, int argc, char** argv, char** environment,
                                    const exact_options& options);
  [[nodiscard]] bool handle_fault(void* address) noexcept { return memory_.handle_fault(address); }
  /// Whether a thread that comes by in the same state again, having done nothing but read, waits for another value.
  void recognise_waiting(bool on) noexcept { recognises_waiting_ = on; }
  void count_leaks(bool on) noexcept { leaks_count_ = on; }
  void set_bounds(const bounds& b) noexcept { bounds_ = b; }
  [[nodiscard]] const bounds& limits() const noexcept { return bounds_; }
  /// Before check(): see exact::search.
  void take_work_from(exact::work_source* source) noexcept { source_ = source; }
  [[nodiscard]] bool is_part() const noexcept { return source_ != nullptr; }
  void show_only(const exact::way& to) { shown_ = to; }
  /// The search of the check that is under way; nullptr: none is.
  [[nodiscard]] const exact::search* search() const noexcept { return search_; }
  /// The way to the last execution of the check before.
  [[nodiscard]] const exact::way& last_way() const noexcept { return last_way_; }
  /// Whether the address is where a thread has no more stack.
  [[nodiscard]] bool is_end_of_stack(const void* address) const noexcept;
  /// Changes whenever the program does something that others can notice. For a signal handler.
  struct progress_mark {
    std::uint64_t executions;
    unsigned thread;
    unsigned position;
    friend bool operator==(const progress_mark&, const progress_mark&) = default;
  };
  [[nodiscard]] progress_mark progress() const noexcept {
    return search_ == nullptr ? progress_mark{} : progress_mark{executions_, search_->running(), search_->position()};
  }
  /// Ends the check without a verdict.
  [[noreturn]] void give_up(const std::string& message, const void* code);
  /// Whether a check is under way.
  [[nodiscard]] bool checking() const noexcept { return search_ != nullptr; }
  [[nodiscard]] left_out& omitted() noexcept { return omitted_; }
  /// What the program has written to its output in the last execution.
  [[nodiscard]] const std::string& output() const noexcept { return output_; }
  [[nodiscard]] program_orders& orders() noexcept { return orders_; }
  [[nodiscard]] executed_code& executed() noexcept { return executed_; }
  [[nodiscard]] const exact_statistics& statistics() const noexcept { return statistics_; }

  /// The name of the function that the code belongs to, which may be one that the compiler has inlined.
  [[nodiscard]] std::string function_at(const void* code) { return symbols_.function_at(code); }

  // --- calls --------------------------------------------------------------------------------------------------------
  void enter_function(const void* code);
  void leave_function() noexcept;

  // --- memory -------------------------------------------------------------------------------------------------------
  [[gnu::always_inline]] void access(const void* at, std::size_t size, bool is_write, const void* code) {
    if (size == 0) return;
    if (is_write && !on_own_stack(at)) note_effect();
    access_plainly(at, size, is_write, code);
  }
  /// The same for an access by the running program. Most accesses take few instructions and call no function.
  [[gnu::always_inline]] void access_by_program(const void* at, std::size_t size, bool is_write, const void* code) {
    const unsigned first = offset_in_granule(at);
    if (first + size > granule_bytes) return access_slowly(at, size, is_write, code);
    granule* const g = look_quickly(at, size, at, size, is_write, code);
    if (g == nullptr) return access_slowly(at, size, is_write, code);
    if (is_write && !on_own_stack(at)) note_effect();
    if (is_alone()) return;
    if (!program_code_.first_contains(code)) return access_slowly(at, size, is_write, code);
    const byte_mask bytes = bytes_from(first, size);
    if (!g->notes_quickly(access_in_program(bytes, is_write, code))) access_beside(*g, at, bytes, is_write, code);
  }
  /// What a compare-exchange expects may be shared memory, as the link of a node: compilers show no access to it.
  enum class expected_access : std::uint8_t { read, left, changed };
  void access_expected(const void* at, std::size_t size, expected_access how, const void* code);
  [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment, const void* code);
  void release(void* p, const void* code);
  /// What was done so far to the block of memory that contains `p` comes before what the running thread does next.
  void take_over(const void* p);
  [[nodiscard]] bool owns(const void* p) const noexcept { return heap_.owns(p); }
  /// Whether it is a global variable, or lies on the stack of a thread.
  [[nodiscard]] bool is_variable(const void* p) const noexcept { return memory_.contains(p) || on_a_stack(p); }
  /// How much was allocated at `p`.
  [[nodiscard]] std::size_t size_of(void* p) noexcept;

  // --- atomic operations: values of up to 64 bits -------------------------------------------------------------------
  std::uint64_t load(const void* at, unsigned size, std::memory_order order, const void* code,
                     exact::event_id like = exact::nobody);
  void store(void* at, unsigned size, std::uint64_t value, std::memory_order order, const void* code);
  std::uint64_t rmw(void* at, unsigned size, rmw_op op, std::uint64_t operand, std::memory_order order,
                    const void* code);
  bool compare_exchange(void* at, unsigned size, std::uint64_t& expected, std::uint64_t desired, bool weak,
                        std::memory_order success, std::memory_order failure, const void* code,
                        exact::event_id like = exact::nobody);
  /// The thread that has taken a lock gives it back. Any thread may give a semaphore a permit.
  enum class taken_from : std::uint8_t { lock, semaphore };
  /// Adds `delta` to one of the `count` values from `first` on, or, `blocking`, waits until there is one.
  bool take(void* at, unsigned size, std::uint64_t first, std::uint64_t count, std::uint64_t delta, bool blocking,
            taken_from what, const void* code);
  /// Subtracts `delta` from a lock that holds it, by a store if it is all that the lock holds.
  void give_back(void* at, unsigned size, std::uint64_t delta, bool is_all, const void* code);
  void fence(std::memory_order order, const void* code);
  /// The order that applies where the program has written that one.
  [[nodiscard]] std::memory_order effective(std::memory_order written, order_of kind, const void* code) {
    if (executed_.is_recording()) executed_.note(code, written);
    return orders_.is_active() ? orders_.effective(frame_of(code), written, kind, symbols_) : written;
  }
  /// Before an operation that may change nothing: whether the thread has been here before, and so waits.
  void look_for_waiting(const caller_state& caller, const void* code);
  /// Called after look_for_waiting(), when the thread is about to read the variable. If this round has to read what an
  /// earlier round of the loop read, returns the event that read it there; otherwise `nobody`.
  [[nodiscard]] exact::event_id read_in_earlier_round(const caller_state& caller, const void* at, bool may_write,
                                                      const void* code);
  /// Values of 128 bits, and the numbers that represent them.
  [[nodiscard]] std::uint64_t number_of(unsigned __int128 value);
  [[nodiscard]] unsigned __int128 wide_value(std::uint64_t number) const { return wide_values_[number]; }

  // --- threads ------------------------------------------------------------------------------------------------------
  [[nodiscard]] pthread_t spawn(void* (*function)(void*), void* argument, const void* code);
  /// pthread_exit: unwinds the running thread's stack, and ends it.
  [[noreturn]] void exit_thread(void* result, const void* code);
  // Values that belong to a thread.
  [[nodiscard]] unsigned create_key(exit_handler destroy, const void* code);
  void delete_key(unsigned key, const void* code);
  [[nodiscard]] void*& value_of_key(unsigned key, const void* code);
  /// What the thread has returned.
  void* join(pthread_t thread, const void* code);
  void detach(pthread_t thread, const void* code);
  [[nodiscard]] bool is_running(pthread_t thread) const noexcept { return pthread_equal(thread, pthread_self()) != 0; }
  void at_thread_exit(exit_handler function, void* argument);
  void at_exit(exit_handler function, void* argument);
  void at_quick_exit(exit_handler function, void* argument);
  /// The program may be about to open a file.
  void note_open() noexcept { files_.note_open(); }
  /// Which handlers run when the program ends.
  enum class ending : std::uint8_t { exit, quick_exit, at_once };
  /// exit(status) and its like, or the end of main().
  [[noreturn]] void exit_program(int status, ending how, const void* code);

  // --- locks and waiting --------------------------------------------------------------------------------------------
  void lock(void* mutex, const void* code);
  [[nodiscard]] bool try_lock(void* mutex, const void* code, exact::event_id like = exact::nobody);
  void unlock(void* mutex, const void* code);
  /// How many times the running thread holds this.
  [[nodiscard]] unsigned& held(const void* lock) { return holding(lock).times; }
  /// Before it gives the lock back.
  void require_held(const object_kind& kind, const void* lock, const void* code);
  /// It holds the lock once more.
  void note_held(const object_kind& kind, const void* lock, const void* code);
  /// A try_lock() that C++ allows to fail for no reason. Returns whether it does.
  [[nodiscard]] bool fails_for_no_reason(const void* code);
  /// A wait for a condition variable, as the running thread comes to it.
  struct wait_begun {
    std::uint64_t state;
    /// The events before the round that led here from a wake-up for no reason, in which nothing has changed; otherwise
    /// `no_round`.
    unsigned round;
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
  /// A wait that may end by a timeout begins. Returns whether it does end so.
  [[nodiscard]] bool times_out(const void* code);
  /// The wait does not time out, and what it waits for is not there yet: abandons this execution. In another one it is
  /// there. `since`: the position() at which the wait has begun.
  [[noreturn]] void wait_for_others(unsigned since, const void* code);
  [[nodiscard]] unsigned position() const noexcept;
  /// The time that a clock shows, in nanoseconds. It changes only where a deadline may pass.
  [[nodiscard]] std::uint64_t time(const void* code);
  [[nodiscard]] std::uint64_t known_time() const;
  /// From now on the clock shows at least that time to the running thread, and to whatever happens after this.
  void let_time_pass_until(std::uint64_t nanoseconds);
  [[nodiscard]] unsigned choose(unsigned alternatives, const void* code);
  /// The running thread is in a call that a history records, or no longer.
  void begin_call(bool is_lock_free) noexcept;
  [[nodiscard]] bool is_in_call() const noexcept { return threads_[running_thread()].in_call; }
  void end_call() noexcept;
  /// One of the first `threads` threads of the program, or none, stops for ever somewhere in its calls.
  void let_one_stop(unsigned threads, const void* code);
  // Threads that wait at an address until another thread wakes them: condition variables, futexes.
  /// The running thread waits from now on. Returns the number by which it can be woken.
  [[nodiscard]] unsigned begin_waiting(const void* at, const void* code);
  /// The same for a condition variable, which must not be destroyed meanwhile. All that wait have the same mutex.
  [[nodiscard]] unsigned begin_waiting_for_condition(const void* at, const void* mutex, const void* code);
  /// Waits until it is woken. `for_ever`: see wait_while().
  void wait_until_woken(const void* at, unsigned number, bool for_ever, const void* code);
  /// The thread waits no longer. False: another thread has woken it already.
  [[nodiscard]] bool stop_waiting(const void* at, unsigned number, const void* code);
  /// Wakes one of those that wait, any of them, or all. Returns how many.
  unsigned wake(const void* at, bool all, const void* code);

  /// Waits until the variable of `size` bytes holds another value than `value`. `for_ever`: if no thread ever changes
  /// it, that is a deadlock; otherwise such executions do not count, because another one shows what happens then.
  void wait_while(const void* at, unsigned size, std::uint64_t value, std::memory_order order, bool for_ever,
                  const void* code);

  // --- objects of pthreads ------------------------------------------------------------------------------------------
  /// All of these are accesses to the object's memory. An initialised object is all zeros, but for its mark.
  void initialise_object(const object_kind& kind, void* at, const void* code);
  void destroy_object(const object_kind& kind, void* at, const void* code);
  /// The object is there, and may be used: it is initialised, and not destroyed.
  void use_object(const object_kind& kind, const void* at, const void* code);
  /// It was initialised outside of a check, and is as the C library has left it. By any thread.
  void note_object_outside(const object_kind& kind, void* at);
  /// It was destroyed outside of a check.
  void forget_object_outside(const void* at);
  [[nodiscard]] std::string name_of_object(const object_kind& kind, const void* at);
  /// How many objects have been initialised there in this execution.
  [[nodiscard]] unsigned lives_of(const void* at) { return objects_[at].lives; }
  /// A word by which threads wait for the object with that number, outside of the program's memory.
  [[nodiscard]] std::uint32_t* waiting_word(const void* at, unsigned life) {
    return &waiting_places_[{at, life}].begun;
  }

  // --- verdicts -----------------------------------------------------------------------------------------------------
  [[noreturn]] void fail(failure what, const std::string& message, const void* code);
  /// Something that the checker does not model, which `what` names.
  [[noreturn]] void refuse(const std::string& what, const void* code);
  /// Whether it lies in the program itself, rather than in a library.
  [[nodiscard]] bool is_own_code(const void* code) const noexcept { return program_code_.contains(code); }
  /// Whether the code is compiled from that header.
  [[nodiscard]] bool is_from(const void* code, std::string_view header);
  [[nodiscard]] unsigned running_thread() const noexcept { return search_->running(); }

  // exact::program
  void begin_execution() override;
  void run(unsigned thread) override;
  void enter(unsigned thread) noexcept override;
  void leave() noexcept override;
  void end_execution() override;
  bool may_stop(unsigned thread) const override { return threads_[thread].in_call; }
  bool claims_to_finish(unsigned thread) const override { return threads_[thread].in_lock_free_call; }
  std::string name_of_variable(unsigned index) override;

 private:
  struct handler {
    exit_handler function;
    void* argument;
  };
  struct visit {
    std::uint64_t state;
    unsigned position;  ///< events before it
    unsigned timed;     ///< clocks read, and timed waits, before it
  };
  struct rounds_at {
    const void* code;
    const std::byte* stack;
    const void* at;
    unsigned count;        ///< that have read `value`
    exact::event_id last;  ///< the read in the last of them
    std::uint64_t value;
  };
  struct held_lock {
    const void* lock;
    unsigned times;
    const object_kind* kind;
    code_place since;
  };
  struct taken_lock {
    const void* lock;
    unsigned position;  ///< events up to it
  };
  /// A block of the heap that the thread was known to be allowed to use, when memory had been freed so often.
  struct usable_memory {
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;
    std::uint32_t releases = 0;

    [[nodiscard]] bool contains(const void* at, std::size_t size, std::uint32_t freed) const noexcept {
      return at >= begin && static_cast<const std::byte*>(at) + size <= end && releases == freed;
    }
  };
  struct passed_time {
    step at;
    std::uint64_t until;
  };
  struct thread_info {
    frame* at = nullptr;
    void* (*function)(void*) = nullptr;
    void* argument = nullptr;
    void* result = nullptr;
    unsigned spawned = 0;     ///< threads that it has started
    unsigned keys = 0;        ///< that it has created
    bool is_started = false;  ///< in this execution
    step started;
    bool has_ended = false;          ///< otherwise than with the program
    const char* given_up = nullptr;  ///< its handle: "joined" or "detached"
    step given_up_by;
    std::array<usable_memory, 2> usable;  ///< the last ones that it has used, the newest first
    bool has_effect = false;              ///< it has done something else than to read since `visits` was looked at
    std::vector<handler> exit_handlers;
    std::vector<visit> visits;      ///< since it has last done anything but read
    std::vector<rounds_at> rounds;  ///< as well
    std::vector<visit> woken;       ///< as well: waits for condition variables that have ended for no reason
    unsigned timed = 0;             ///< clocks read, and timed waits
    unsigned timeouts = 0;
    unsigned repeated = 0;  ///< events up to the last store that has left its variable as it was
    unsigned spurious_wakeups = 0;
    unsigned failed_tries = 0;  ///< for no reason
    unsigned reused = 0;
    std::vector<passed_time> passed;
    std::vector<held_lock> held;
    std::vector<taken_lock> taken;  ///< and not given back
    std::vector<void*> values;      ///< by key
    bool in_call = false;           ///< that a history records
    bool has_called = false;        ///< likewise, in this execution
    bool in_lock_free_call = false;
  };

  [[nodiscard]] thread_info& running() noexcept { return *self_.info; }
  /// The running thread does something that others can notice, or that it can find again.
  void note_effect() noexcept { running().has_effect = true; }
  /// Forgets what was noted before the last effect.
  void forget_before_effect() {
    thread_info& t = running();
    if (!std::exchange(t.has_effect, false)) return;
    t.visits.clear();
    t.rounds.clear();
    t.woken.clear();
  }
  void note_taken(const void* lock);
  void note_given_back(const void* lock);
  void note_failed_try(const void* code);
  [[nodiscard]] bool is_in_std_lock(const void* code);
  [[nodiscard]] bool is_in_try_lock(const void* code);
  [[nodiscard]] std::uint64_t state_of(const caller_state& caller);
  [[nodiscard]] bool takes_locks_since(unsigned position) const;
  [[nodiscard]] bool repeats_value() const;
  void wait_as_in(const visit& before, const void* code);
  void leave_out_round(const wait_begun& wait, const void* code);
  [[nodiscard]] bool may_wake_for_no_reason(const void* code);
  void begin_thread(unsigned thread);
  void describe(event& e);
  [[nodiscard]] std::string name_of_memory(const void* at);
  void show_accesses(search_result& r);
  [[noreturn]] void end_thread(void* result);
  void run_destructors();
  void wait_for_all_threads();
  void require_key(unsigned key, const char* what, bool is_write, const void* code);
  void run_key_handlers(std::vector<void*>& values);
  /// Whether the round is one of those that add nothing, because the standard library's loop has no memory of them.
  [[nodiscard]] bool counts_in_vain(const void* code);
  /// Whether a read-modify-write is what std::atomic<std::shared_ptr> of libstdc++ 12 unlocks itself with.
  [[nodiscard]] bool unlocks_shared_pointer(rmw_op op, unsigned size, std::uint64_t operand, std::memory_order order,
                                            const void* code);
  [[nodiscard]] bool on_own_stack(const void* at) const noexcept {
    return reinterpret_cast<std::uintptr_t>(at) - reinterpret_cast<std::uintptr_t>(self_.stack) <
           exact::fiber_stack_bytes;
  }
  [[nodiscard]] bool on_a_stack(const void* at) const noexcept;
  /// Where the running thread is. A library that is not instrumented may have called on the program's behalf: then its
  /// caller counts.
  [[nodiscard]] code_place place_in_program(const void* code) noexcept {
    return {running().at, program_code_.contains(code) ? code : code_of_caller(code)};
  }
  [[nodiscard]] frame* frame_of(const void* code) noexcept { return frames_.at(place_in_program(code)); }
  [[nodiscard]] const void* code_of_caller(const void* code_of_library) noexcept;
  [[nodiscard]] site here(const void* code) noexcept { return {"", 0, frame_of(code)}; }
  /// `code` is the program's own.
  [[nodiscard]] plain_access access_in_program(byte_mask bytes, bool is_write, const void* code) noexcept {
    return {{{running().at, code}, *self_.position, static_cast<std::uint8_t>(self_.number)}, bytes, is_write};
  }
  [[nodiscard]] step step_here(const void* code) noexcept {
    return {place_in_program(code), *self_.position, static_cast<std::uint8_t>(self_.number)};
  }
  [[nodiscard]] std::string to_text(const frame* at);
  [[nodiscard]] std::string to_text(const code_place& at) { return to_text(frames_.at(at)); }
  [[nodiscard]] std::string to_text(exact::event_id e);

  // session_memory.cpp
  /// The atomic variable of `size` bytes at `at`, of which the first are in that granule.
  [[nodiscard]] location variable_at(granule& g, const void* at, unsigned size, const site& where, const void* code);
  [[nodiscard]] location new_variable_at(granule& g, const void* at, unsigned size, const site& where,
                                         const void* code);
  [[nodiscard]] std::uint16_t variable_number(granule& g, const void* at, unsigned size, const void* code);
  [[nodiscard]] std::uint64_t memory_value(const void* at, unsigned size);
  void write_memory(void* at, unsigned size, std::uint64_t value);
  [[nodiscard]] bool is_private(const atomic_place& place, const void* at) const;
  void leave_in_memory(granule& g, void* at, unsigned size, std::uint64_t value);
  /// Faults as the program's access would. Its compiler has removed the access, because the value is not needed.
  static void touch(const void* at, std::size_t size, const void* code) {
    const auto* const begin = static_cast<const volatile std::byte*>(at);
    touched = {static_cast<const std::byte*>(at), size, code};
    std::atomic_signal_fence(std::memory_order::seq_cst);
    static_cast<void>(*begin);
    static_cast<void>(begin[size - 1]);
    std::atomic_signal_fence(std::memory_order::seq_cst);
  }
  /// After the operation, because others may have run within it. `g` has the first bytes.
  void check_atomic_access(granule& g, const void* at, unsigned size, const void* code) {
    const bool is_simple = size <= granule_bytes && (is_alone() || !g.has_accesses());
    if (!is_simple || (heap_.owns(at) && !may_use(g, at, size))) check_atomic_parts(g, at, size, code);
  }
  void check_atomic_parts(granule& g, const void* at, unsigned size, const void* code);
  void check_atomic_part(granule& g, const void* part, byte_mask bytes, const void* at, unsigned size,
                         const void* code);
  struct access_kind {
    bool is_write;
    bool is_plain;
  };
  /// Of the access to `size` bytes at `at`, `part` is what lies in that granule.
  void check_heap(granule& g, const void* part, byte_mask bytes, const void* at, std::size_t size, access_kind kind,
                  const void* code) {
    if (heap_.owns(part) && !g.may_use(self_.number, bytes, releases_)) check_block(g, part, at, size, kind, code);
  }
  void check_block(granule& g, const void* part, const void* at, std::size_t size, access_kind kind, const void* code);
  [[nodiscard]] const user_heap::block& usable_block(const void* at, std::size_t size, access_kind kind,
                                                     const void* code);
  [[nodiscard]] bool may_use(const granule& g, const void* part, std::size_t size) const noexcept {
    for (const usable_memory& u : self_.info->usable) {
      if (u.contains(part, size, releases_)) return true;
    }
    return g.may_use(self_.number, bytes_from(offset_in_granule(part), size), releases_);
  }
  void let_use(const user_heap::block& b) noexcept {
    auto& [first, second] = running().usable;
    second = std::exchange(first, {b.begin, b.end(), releases_});
  }
  /// Of the access to `size` bytes at `at`, the `part_size` bytes at `part` lie in one granule: returns that if the
  /// thread is known to be allowed to use them, and no atomic variable is there. Otherwise, and where more has to be
  /// noted, it returns nullptr.
  [[nodiscard, gnu::always_inline]] granule* look_quickly(const void* part, std::size_t part_size, const void* at,
                                                          std::size_t size, bool is_write, const void* code) {
    if (size == 0 || executed_.is_recording() || (is_write && callers_begin_ != nullptr)) return nullptr;
    granule* const g = shadow_.find_quickly(part);
    if (g == nullptr) return nullptr;
    if (!shadow_.is_current(*g)) {
      const bool before = std::exchange(in_program, false);
      touch(at, size, code);
      in_program = before;
      shadow_.begin(*g);
    }
    if (heap_.owns(part) && !may_use(*g, part, part_size)) return nullptr;
    return g->has_atomics() ? nullptr : g;
  }
  [[gnu::always_inline]] void access_plainly(const void* at, std::size_t size, bool is_write, const void* code) {
    const unsigned first = offset_in_granule(at);
    if (first + size > granule_bytes) return access_parts(at, size, is_write, code);
    access_part(at, bytes_from(first, size), at, size, is_write, code);
  }
  /// From a hook: access().
  void access_slowly(const void* at, std::size_t size, bool is_write, const void* code);
  /// From a hook: the thread may use the bytes, others have accessed them.
  void access_beside(granule& g, const void* at, byte_mask bytes, bool is_write, const void* code);
  void access_parts(const void* at, std::size_t size, bool is_write, const void* code);
  /// Of the access to `size` bytes at `at`, the part that lies in one granule.
  [[gnu::always_inline]] void access_part(const void* part, byte_mask bytes, const void* at, std::size_t size,
                                          bool is_write, const void* code) {
    // Memory that was accessed before is there.
    granule& g = shadow_.of(part, [=] { touch(at, size, code); });
    check_heap(g, part, bytes, at, size, {is_write, true}, code);
    if (is_write && part == at) keep_original(at, size);
    if (is_alone() && !g.has_atomics()) return;
    const plain_access a{step_here(code), bytes, is_write};
    if (g.has_atomics() || !g.notes_quickly(a)) access_shared(g, part, a);
  }
  void access_shared(granule& g, const void* part, const plain_access& a);
  [[nodiscard]] void* again_or_new(std::size_t size, std::size_t alignment, const step& by, const void* code);
  [[nodiscard]] bool uses_again(const void* code);
  /// Whether all other threads have been joined, or none has been started yet: what the running thread does now
  /// happens-before everything that comes, and after everything that was, so that it races with nothing.
  [[nodiscard]] bool is_alone() const noexcept { return unjoined_ == 0; }
  void access_atomics(granule& g, const void* at, const plain_access& a);
  void check_against(const plain_access& old, const plain_access& a, const void* at, bool is_plain) {
    const bool conflicts = (old.bytes & a.bytes) != 0 && (old.is_write || a.is_write) && old.thread != a.thread;
    if (!conflicts || search_->knows(old.thread, old.position) || is_of_standard_library(at)) return;
    report_race(old, a, at, is_plain);
  }
  void require_unused(const user_heap::block& b, const step& by, const void* code);
  [[nodiscard]] bool is_of_standard_library(const void* at) const noexcept {
    return std::any_of(standard_library_.begin(), standard_library_.end(),
                       [at](const address_range& r) { return r.contains(at); });
  }
  [[noreturn]] void report_race(const plain_access& old, const plain_access& a, const void* at, bool is_plain);
  void show(event_kind kind, const step& by, const void* at) { shown_accesses_.push_back({kind, by, at}); }
  void check_against_atomic(atomic_place& place, const void* granule_begin, const plain_access& a);
  [[nodiscard]] exact::event_id concurrent_event(std::uint16_t variable, bool writes_only, unsigned position) const;
  void run_exit_handlers(std::vector<handler>& handlers);
  // session_objects.cpp
  [[nodiscard]] void* mark_of(const object_kind& kind, const void* at);
  void require_memory(const object_kind& kind, const void* at, bool is_write, const void* code);
  void require_object(const object_kind& kind, const void* at, const char* call, const void* code);
  void access_object(const object_kind& kind, const void* at, bool is_write, const void* code);
  void require_idle(const void* begin, std::size_t size, const char* what, const void* code);
  [[nodiscard]] bool has_abandoned_locks();
  void take_over_spin_locks();
  void forget_objects(const void* begin, const void* end);
  [[nodiscard]] std::string where_object_began(const void* at);
  [[nodiscard]] std::string while_in_use();
  [[nodiscard]] held_lock& holding(const void* lock);
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
  [[nodiscard]] waiting_place& place_of(const void* at) { return waiting_places_[{at, 0}]; }
  [[nodiscard]] unsigned slot_of(pthread_t thread, const char* what, const void* code);
  thread_info& give_up_handle(unsigned thread, const char* what, const void* code);
  void look_for_leaks();
  void name_memory(search_result& r, const std::map<const void*, std::uint32_t>& numbers);
  /// Before a write to memory that the program had before a check in its middle.
  void keep_original(const void* at, std::size_t size) {
    if (callers_begin_ != nullptr) keep_original_granules(at, size);
  }
  void keep_original_granules(const void* at, std::size_t size);
  [[nodiscard]] bool is_put_back(const void* at) const noexcept;
  void mark_reachable(const std::byte* begin, const std::byte* end, std::vector<const user_heap::block*>& found);

  exact::search* search_ = nullptr;
  exact_statistics statistics_;
  exact::work_source* source_ = nullptr;
  std::optional<exact::way> shown_;
  exact::way last_way_;
  std::uint64_t executions_ = 0;  ///< begun
  frame_tree frames_;
  symbols symbols_;
  program_orders orders_;
  executed_code executed_;
  shadow shadow_;
  user_heap heap_;
  restored_memory memory_;
  thread_storage storage_;
  open_files files_;
  parked_threads parked_;
  std::byte* main_pointer_ = nullptr;
  unsigned storage_of_ = 1;     ///< the thread whose thread-local variables are in use
  std::uint32_t releases_ = 0;  ///< blocks that were freed in this execution
  unsigned unjoined_ = 0;       ///< threads that were started in this execution, and not joined
  /// Of the thread that runs, or has run last.
  struct {
    unsigned number = 0;
    const unsigned* position = nullptr;  ///< its events so far
    thread_info* info = nullptr;
    const std::byte* stack = nullptr;  ///< its lowest address
  } self_;
  code_ranges program_code_;
  /// A call of a library's, and the program's call that led to it.
  struct library_call {
    const std::byte* stack = nullptr;  ///< where it was looked for
    const void* code_of_library = nullptr;
    const std::byte* from = nullptr;  ///< where on the stack `code_of_library` is
    const std::byte* at = nullptr;    ///< where on the stack `code` is
    const void* code = nullptr;
  };
  std::array<library_call, 64> library_calls_;  ///< the last one of each kind

  main_function main_ = nullptr;
  int argc_ = 0;
  char** argv_ = nullptr;
  char** environment_ = nullptr;

  std::array<thread_info, exact::thread_slots> threads_;
  /// Which number the n-th thread that a thread starts has: the same in all executions.
  std::map<std::pair<unsigned, unsigned>, unsigned> thread_numbers_;
  std::vector<const void*> variables_;  ///< where the atomic variables lie, by their numbers
  std::map<unsigned __int128, std::uint64_t> wide_numbers_;
  std::vector<unsigned __int128> wide_values_;
  std::vector<handler> exit_handlers_;         ///< of this execution
  std::vector<handler> handlers_before_main_;  ///< with those of global variables only
  std::vector<handler> quick_handlers_;        ///< of this execution
  std::vector<handler> quick_handlers_before_main_;
  std::vector<destructor> destructors_;
  /// Lies outside of the program's memory, but is accessed like it.
  /// For a barrier also by how often it was initialised: threads may still leave an earlier one.
  std::map<std::pair<const void*, unsigned>, waiting_place> waiting_places_;
  /// A check in the middle of a program: its stack, and what else the check has overwritten.
  std::byte* callers_begin_ = nullptr;
  std::vector<std::byte> callers_stack_;
  std::vector<std::pair<std::uint64_t*, std::uint64_t>> originals_;
  std::string output_;
  bool leaks_count_ = true;
  bool describes_ = true;
  bool recognises_waiting_ = true;
  left_out omitted_;
  bounds bounds_;
  /// A plain access that the failure is about: the engine's trace has no plain accesses.
  struct shown_access {
    event_kind kind{};
    step by;
    const void* at = nullptr;
  };
  std::vector<shown_access> shown_accesses_;  ///< the one in conflict, if it is plain, and the failing one
  struct object_history {
    step initialised;
    step destroyed;
    unsigned lives = 0;
  };
  std::map<const void*, object_history> objects_;  ///< that were initialised or destroyed in this execution
  struct small_object {
    std::uint64_t now = 0;
    std::uint64_t at_start = 0;  ///< of main()
  };
  std::map<const void*, small_object> small_objects_;  ///< the marks of those that have no room for one
  std::mutex outside_;                                 ///< while real threads may note one there
  /// The call that initialises or destroys an object, while its access is compared with others.
  struct {
    const object_kind* kind = nullptr;  ///< nullptr: a key
    const void* at = nullptr;
    const char* what = nullptr;
  } object_call_;
  struct key_record {
    exit_handler destroy = nullptr;  ///< what ends its values
    bool exists = false;
    step deleted;
  };
  std::vector<key_record> keys_;  ///< of this execution
  std::vector<key_record> keys_before_main_;
  /// Which number the n-th key that a thread creates has: the same in all executions.
  std::map<std::pair<unsigned, unsigned>, unsigned> key_numbers_;
  /// A key is no memory: a byte here stands for it, which is accessed like the program's memory.
  std::array<std::uint64_t, PTHREAD_KEYS_MAX> key_uses_{};
  std::vector<void*> values_before_main_;
  std::map<std::pair<const void*, std::string_view>, bool> known_headers_;
  std::map<const frame*, bool> known_in_std_lock_;
  std::map<const frame*, bool> known_in_try_lock_;
  std::vector<address_range> standard_library_;  ///< see memory_of_standard_library()
  address_range waiters_;  ///< where the standard library counts the threads that wait for an atomic variable
};

/// The only one; nullptr until somebody has asked for it.
extern session* only_session;
[[nodiscard]] session& make_session() noexcept;
[[nodiscard]] inline session& current_session() noexcept {
  return only_session != nullptr ? *only_session : make_session();
}

}  // namespace runq::model::compiled
