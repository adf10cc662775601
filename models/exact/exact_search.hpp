// SPDX-License-Identifier: MIT
// The search of the exact engine: TruSt (Kokologiannakis, Marmanis, Gladstein, Vafeiadis: "Truly Stateless, Optimal
// Dynamic Partial Order Reduction", POPL 2022).
//
// The search keeps a stack of graphs that wait to be extended. It takes one, re-executes the scenario's threads against
// it, and lets them add events at its end: the thread with the lowest number first, as far as it goes. Where a new
// event has several consistent continuations (the sources of a read, the places of a write in mo, earlier reads that a
// new write may revisit), it goes on with one and pushes copies with the others. No state but the stack: what was
// visited need not be remembered, because revisits are allowed only where they cannot lead to the same graph twice.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "exact.hpp"
#include "exact_consistency.hpp"
#include "exact_fiber.hpp"
#include "exact_graph.hpp"
#include "exact_heap.hpp"
#include "waiting.hpp"

namespace runq::model::exact {

class team;

/// A path through the search from its beginning: for each execution, which of the continuations was taken that it left
/// for later.
using way = std::vector<std::uint32_t>;

/// Where a search that is a part of a larger one gets its work, and where it leaves some for others. A part is named by
/// the path to it, which is the same in every process. A graph cannot be sent, because its numbers are valid in one
/// process only.
class work_source {
 public:
  virtual ~work_source() = default;
  /// Called when nothing is left to do. Returns the next part, or nothing if there is none.
  [[nodiscard]] virtual std::optional<way> next() = 0;
  /// Called after each execution. Returns how many parts other processes would take.
  [[nodiscard]] virtual unsigned wanted() = 0;
  virtual void give(way part) = 0;
  /// Whether the result is no longer wanted.
  [[nodiscard]] virtual bool stopped() const noexcept = 0;
};

/// What a search executes again and again instead of a scenario: a program with its own memory (models/compiled). Its
/// first thread is number 1; search::spawn() creates the others. These calls tell the program where the search stands:
class program {
 public:
  virtual ~program() = default;
  /// Puts the memory into the state from which every execution begins.
  virtual void begin_execution() = 0;
  /// Runs the body of a thread, on its stack.
  virtual void run(unsigned thread) = 0;
  /// On the stack of the search: enter() is called before a thread runs, leave() when no thread will run for now.
  virtual void enter(unsigned thread) noexcept = 0;
  virtual void leave() noexcept = 0;
  /// All threads have come to their ends, in a complete execution; may report() a failure.
  virtual void end_execution() = 0;
  /// Of the thread that let_stop() named: whether it may stop for ever where it is now.
  [[nodiscard]] virtual bool may_stop(unsigned thread) const = 0;
  /// Whether the thread is in a call that finishes although another thread has stopped for ever.
  [[nodiscard]] virtual bool claims_to_finish(unsigned thread) const = 0;
  /// The name of the variable with that number; empty if unknown.
  [[nodiscard]] virtual std::string name_of_variable(unsigned index) = 0;
};

class search final : public engine, public waiting_engine {
 public:
  search(const case_spec& spec, const exact_options& options);
  search(program& executed, const exact_options& options);

  [[nodiscard]] search_result run();
  [[nodiscard]] const exact_statistics& statistics() const noexcept { return statistics_; }
  /// After a search by several processes: whether one process has to search again, to report the failure that was
  /// found.
  enum class again : std::uint8_t { no, as_before, without_time_limit };
  [[nodiscard]] again undecided() const noexcept { return undecided_; }
  /// Before run(), for a program: explore only the parts of the search that come from there. May be nullptr.
  void take_work_from(work_source* source) noexcept { source_ = source; }
  /// Before run(), for a program: explore only the execution at the end of that path, and describe it even if it
  /// passes.
  void show_only(way to) { shown_ = std::move(to); }
  /// The path to the running execution of a program.
  [[nodiscard]] way way_here() const;
  /// How far the search is; the numbers only grow.
  [[nodiscard]] const search_result& so_far() const noexcept { return result_; }
  /// How much of the search is done, by weight.
  [[nodiscard]] double weight_done() const noexcept { return weight_done_; }
  [[nodiscard]] std::size_t waiting() const noexcept { return pending_.size(); }

  // engine
  void atomic_init(location& at, bool initialised, std::uint64_t value, site where) override;
  void atomic_destroy(location&) noexcept override {}
  std::uint64_t load(location& at, std::memory_order order, site where) override;
  void store(location& at, std::uint64_t value, std::memory_order order, site where) override;
  std::uint64_t rmw(location& at, rmw_op op, std::uint64_t operand, std::memory_order order, site where) override;
  bool compare_exchange(location& at, std::uint64_t& expected, std::uint64_t desired, bool weak,
                        std::memory_order success, std::memory_order failure, site where) override;
  void fence(std::memory_order order, site where) override;
  void cell_init(location& at, bool initialised, site where) override;
  void cell_destroy(location&) noexcept override {}
  void cell_read(location& at, std::uint64_t value, site where) override;
  void cell_write(location& at, std::uint64_t value, site where) override;
  void mutex_init(location& at, site where) override;
  void mutex_destroy(location&) noexcept override {}
  void mutex_lock(location& at, site where) override;
  bool mutex_try_lock(location& at, site where) override;
  /// `like`: see load(). May be nobody.
  [[nodiscard]] bool mutex_try_lock(location& at, event_id like, site where);
  void mutex_unlock(location& at, site where) override;
  void* allocate(std::size_t size, site where) override;
  void deallocate(void* p, site where) override;
  void pause(site) override {}
  [[noreturn]] void fail(failure what, const char* text, site where) override;
  [[nodiscard]] int thread_index() const noexcept override;
  [[nodiscard]] std::uint64_t operations() const noexcept override { return threads_[current_].operations; }

  // waiting_engine
  [[nodiscard]] moment now() const noexcept override {
    return {static_cast<int>(current_), static_cast<std::uint32_t>(threads_[current_].position)};
  }
  [[nodiscard]] bool happened_before(moment end, moment begin) const noexcept override;
  void await_begin() override;
  void await_failed(site where) override;
  void discard(site where) override;
  [[nodiscard]] bool retries_block() const noexcept override { return options_.retries_block; }

  // for programs
  /// The `index`-th variable, which holds `value` before the first write: makes sure that it exists.
  [[nodiscard]] location find_variable(unsigned index, std::uint64_t mask, std::uint64_t value, site where);
  /// The same of a variable that this execution has found before.
  [[nodiscard]] static location known_variable(unsigned index, std::uint64_t mask) noexcept;
  /// Starts the thread with that number, which must be the same whenever the running thread gets to this point.
  void spawn(unsigned thread, site where);
  /// Waits until the thread has ended.
  void join(unsigned thread, site where);
  /// One of the numbers 0 … alternatives-1: all of them are explored.
  [[nodiscard]] unsigned choose(unsigned alternatives, site where);
  /// In this execution that thread may stop for ever before each operation that might change memory, where may_stop()
  /// says so: both are explored. To be called by the thread that starts it, or by itself. 0: no thread stops.
  void let_stop(unsigned thread) noexcept { may_stop_ = thread; }
  /// A load that can only read what the running thread's event `like` has read, or what coherence forces. `like` may be
  /// `nobody`.
  [[nodiscard]] std::uint64_t load(location& at, std::memory_order order, event_id like, site where);
  [[nodiscard]] bool compare_exchange(location& at, std::uint64_t& expected, std::uint64_t desired, bool weak,
                                      std::memory_order success, std::memory_order failure, event_id like, site where);
  /// What a lock or a semaphore does: adds `delta` to one of the `count` values from `first` on. Another one is read
  /// with relaxed order, and then, `blocking`, it waits. Returns whether it was done.
  bool take(location& at, std::uint64_t first, std::uint64_t count, std::uint64_t delta, bool blocking, site where);
  /// The running thread waits for ever, for other values than those that it has read since its event `since`. That is
  /// no failure, because in another execution it goes on.
  [[noreturn]] void wait_unjudged(unsigned since, site where);
  [[nodiscard]] unsigned running() const noexcept { return current_; }
  /// Events of the running thread so far.
  [[nodiscard]] unsigned position() const noexcept { return threads_[current_].position; }
  [[nodiscard]] const unsigned* position_of(unsigned thread) const noexcept { return &threads_[thread].position; }
  /// Whether the running thread has no further event in the graph.
  [[nodiscard]] bool at_frontier() const noexcept { return position() == g_->size(current_); }
  void await_since(unsigned position) noexcept { threads_[current_].await_begin = position; }
  /// What happens-before the next event of the running thread.
  [[nodiscard]] clock knows() const noexcept;
  /// Whether more than `count` events of `thread` are among that.
  [[nodiscard]] bool knows(unsigned thread, unsigned count) const noexcept {
    const unsigned own = position();
    return own == 0 ? knows()[thread] > count : g_->at(current_, own - 1).hb[thread] > count;
  }
  [[nodiscard]] const graph& current_graph() const noexcept { return *g_; }
  [[nodiscard]] site site_of(event_id e) const noexcept { return threads_[e.thread].sites[e.index]; }
  /// The running thread comes to its end here.
  [[noreturn]] void finish_thread();
  /// The event that the failure to be reported next is not ordered with.
  void set_partner(event_id e) noexcept { partner_ = e; }
  /// Ends the search with a failure of this execution.
  void report(failure what, std::string message, site where);
  /// Ends the search with a failure of the running thread, which does not go on.
  [[noreturn]] void report_here(failure what, std::string message, site where);
  /// Ends the search without a verdict; the running thread does not go on.
  [[noreturn]] void give_up(std::string message);
  [[nodiscard]] const fiber& stack_of(unsigned thread) const noexcept { return threads_[thread].stack; }

 private:
  enum class status : std::uint8_t {
    unborn,    ///< not started yet
    ready,     ///< can run, or waits until the source of its next read has been replayed
    frontier,  ///< everything that the graph has of it is replayed; its next event would be new
    finished,
    joining,    ///< waits for the end of another thread
    waiting,    ///< in an await or a lock: only another graph lets it go on
    discarded,  ///< in assume(false)
    frozen,     ///< exact_options::freeze_thread, or let_stop()
    failed      ///< in a replay that may still turn out to be impossible (load buffering)
  };
  struct thread_state {
    fiber stack;
    status now = status::ready;
    unsigned position = 0;  ///< events replayed or added
    std::uint64_t operations = 0;
    unsigned joined = 0;       ///< joining: the other thread
    unsigned await_begin = 0;  ///< position at which the last evaluation of an awaited condition began
    site where{};              ///< of the operation in which it waits
    std::vector<site> sites;   ///< of each event
  };

  // exact_team.cpp: several processes
  void explore_together();
  void work_as_other();
  void work(bool has_work);
  void confer();
  void add_up(team& t);
  /// Whether `number` is new: to this process's set, or to the team's.
  [[nodiscard]] bool first_time(std::unordered_set<std::uint64_t>& alone, unsigned together, std::uint64_t number);

  // exact_walk.cpp: through the tree of all executions
  struct turn {
    std::shared_ptr<const turn> before;
    std::uint32_t taken = 0;
  };
  struct part {
    std::unique_ptr<graph> from;
    std::shared_ptr<const turn> last;  ///< of a program: the last turn on the way there
  };
  void begin_at_root();
  void go_on_with_only(std::size_t which);
  /// Executes the graph that was pushed last. Returns the weight of what ends with that.
  double explore_next();
  [[nodiscard]] double share_weight(std::size_t first);
  [[nodiscard]] static way way_of(const turn* last);
  void push(std::unique_ptr<graph> g);
  [[nodiscard]] bool follow(const way& to);
  void explore_parts();
  void explore_shown();
  void walk_at_random();
  void report_progress(double seconds);

  // exact_search.cpp: one execution
  /// Until nothing is pending; alone, at most until `graphs` have been visited.
  void explore(std::uint64_t graphs = ~std::uint64_t{0});
  void run_graph();
  void begin_execution();
  void construct_scenario();
  bool replay_threads();
  [[nodiscard]] bool extend_threads();
  void end_execution();
  void complete_execution();
  void finish_scenario();
  void judge_waiting_threads();
  [[nodiscard]] bool one_has_stopped() const noexcept {
    return may_stop_ != 0 && threads_[may_stop_].now == status::frozen;
  }
  void judge_beside_stopped_thread();
  [[nodiscard]] bool saw_newest_values(unsigned thread) const;
  [[nodiscard]] bool only_waiting_rounds_after(event_id write) const;
  void resume(unsigned thread);
  [[noreturn]] void stop_running_thread(status why);
  [[noreturn]] void abandon();
  void cut_short(std::string message);
  [[nodiscard]] bool over() const noexcept { return over_; }
  void use_up_budget(const std::string& limit);
  void check_limits();
  [[nodiscard]] bool is_new_graph();
  [[nodiscard]] bool in_doubt() const noexcept { return g_->delayed != nobody && !extending_; }
  [[nodiscard]] bool doubt_resolved();
  /// No thread with a higher number has been started.
  [[nodiscard]] unsigned last_thread() const noexcept {
    return program_ != nullptr ? g_->end_of_threads() - 1 : spec_->threads;
  }
  [[nodiscard]] bool can_extend(unsigned thread) const noexcept;
  static void thread_entry(void* self);
  static void main_entry(void* self);

  // exact_operations.cpp: one operation of a thread
  event_id perform(const operation& wanted, site where);
  void stop_or_go_on(site where);
  [[nodiscard]] unsigned choose(unsigned alternatives, event_kind shown, site where);
  [[nodiscard]] bool replay(const operation& wanted, site where);
  void await_source(const node& read);
  void note_executed(site where);
  void require_live(event_id e, site where);
  void require_no_race(event_id e, site where);
  [[nodiscard]] event_id variable_of(const location& at, site where);
  void add_cell_access(const operation& wanted, site where);
  void add_join(const operation& wanted, site where);
  void add_deallocate(const operation& wanted, site where);
  [[nodiscard]] bool lock(location& at, bool blocking, event_id like, site where);
  [[nodiscard]] bool exchange(location& at, std::uint64_t& expected, operation wanted, site where);

  // exact_extend.cpp: TruSt
  void extend(const operation& wanted, site where);
  void add_choice(const operation& wanted, site where);
  void add_read(const operation& wanted, site where);
  void add_write(const operation& wanted, site where);
  [[nodiscard]] bool finish_rmw(unsigned thread);
  void try_source(event_id read, event_id source, site where);
  void push_with_source(event_id read);
  [[nodiscard]] bool may_fail_spuriously(const graph& g, event_id read) const noexcept;
  void revisit_reads(event_id write);
  [[nodiscard]] bool may_revisit(event_id read, event_id write) const;
  [[nodiscard]] bool is_waited_for(event_id read) const noexcept;
  [[nodiscard]] bool maximally_added(event_id e, const clock& prefix) const;
  void revisit(event_id read, event_id write);
  void try_revisit_at(graph& g, event_id read, event_id write, event_id older);
  [[nodiscard]] std::unique_ptr<graph> new_graph();
  [[nodiscard]] std::unique_ptr<graph> copy(const graph& g);
  void recycle(std::unique_ptr<graph> g) { spare_.push_back(std::move(g)); }

  // exact_delay.cpp: load buffering
  void delay_reads(event_id write);
  [[nodiscard]] bool may_be_delayed(event_id read, event_id write) const;
  void delay(event_id read, event_id write);
  void try_delayed_at(graph& g, event_id read, event_id write, event_id older);
  [[nodiscard]] bool adapt(event_id e, const operation& wanted);

  // exact_trace.cpp
  /// Fills in the steps of this execution, and what they are about.
  void describe_execution();
  [[nodiscard]] std::vector<event_id> interleaving() const;

  const case_spec* const spec_ = nullptr;  ///< one of these two
  program* const program_ = nullptr;
  const exact_options options_;
  search_result result_;
  exact_statistics statistics_;
  bool over_ = false;
  bool out_of_budget_ = false;    ///< over because of a limit of how long to search
  bool stopped_by_team_ = false;  ///< over because another process is
  again undecided_ = again::no;
  team* team_ = nullptr;  ///< while there are several processes
  std::chrono::steady_clock::time_point start_;
  std::uint64_t events_unclocked_ = 0;      ///< executed since the clock was last read
  std::unordered_set<std::uint64_t> seen_;  ///< complete graphs: those with a delayed read, or all for check_duplicates
  std::unordered_set<std::uint64_t> delayed_bases_;  ///< load buffering: what was tried

  std::vector<part> pending_;
  std::vector<std::uint32_t>
      pushed_at_;                     ///< in this execution: the stamp of the event with which each graph was pushed
  std::shared_ptr<const turn> turn_;  ///< of the graph that is being executed
  double weight_done_ = 0;
  double next_progress_ = 0;  ///< in seconds since the start
  bool tells_progress_ = true;
  work_source* source_ = nullptr;
  std::optional<way> shown_;
  bool shows_this_ = false;
  std::vector<std::unique_ptr<graph>> spare_;
  std::unique_ptr<graph> g_;  ///< the graph that is being executed

  std::array<thread_state, thread_slots> threads_;  ///< construction and finish() share the stack of `constructing`
  unsigned current_ = constructing;
  unsigned may_stop_ = 0;             ///< let_stop()
  bool extending_ = false;            ///< the threads have been replayed: the running one may add events
  bool impossible_ = false;           ///< load buffering: replayed, a thread does something else than the graph says
  failure doubtful_ = failure::none;  ///< a failure in a replay that may still turn out to be impossible
  std::string doubtful_message_;
  bool ends_wait_ = false;  ///< what is pushed lets a thread go on that waits in this execution
  event_id partner_ = nobody;
  bool complete_ = false;  ///< the scenario has been finished and destroyed
  std::vector<event_id> executed_;
  exact::heap heap_;
  scenario* scenario_ = nullptr;
  struct aligned_delete {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte[], aligned_delete> memory_;  ///< the scenario: always at the same address
};

}  // namespace runq::model::exact
