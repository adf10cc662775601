// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "exact_operations.hpp"
#include "exact_symmetry.hpp"
#include "exact_undone.hpp"

namespace runq::model::exact {

/// What a program asks for besides: threads that start others, variables that are found, choices; and what it wants to
/// know.
class program_operations : public scenario_operations {
 public:
  using scenario_operations::compare_exchange;
  using scenario_operations::load;
  using scenario_operations::mutex_try_lock;
  using scenario_operations::scenario_operations;

  /// The `index`-th variable, which holds `value` before the first write: makes sure that it exists.
  [[nodiscard]] location find_variable(unsigned index, std::uint64_t mask, std::uint64_t value, site where);
  /// The same of a variable that this execution has found before.
  [[nodiscard]] static location known_variable(unsigned index, std::uint64_t mask) noexcept;
  /// Starts the thread with that number, which must be the same whenever the running thread gets to this point.
  /// `like`: a thread that begins alike, which the running one has started as the first of them, since
  /// beginning_of_starts(); 0: there is none.
  void spawn(unsigned thread, site where, unsigned like = 0);
  /// Waits until the thread has ended.
  void join(unsigned thread, site where);
  /// The running thread comes to its end here.
  [[noreturn]] void finish_thread() { executor_.finish_thread(); }
  /// See step::arrive.
  struct arriving {
    unsigned needed;
    bool looks = false;
    unsigned count = 1;
    unsigned leaving = 0;
  };
  /// The running thread arrives at a barrier. Returns the arrival. `looks`: it will look at what depart() returns.
  [[nodiscard]] event_id arrive(location& at, arriving how, site where);
  /// Waits until as many have arrived. Returns whether this thread is the one of them that is told apart. To be called
  /// right after arrive(), if the thread looks at that.
  [[nodiscard]] bool depart(event_id arrival, site where);
  /// The same of any thread, which is not told apart: waits until that round is complete. `by_token`: see step::depart.
  void depart(location& at, std::uint32_t round, bool by_token, site where);
  /// Whether barriers are made of that; otherwise, of counters.
  [[nodiscard]] bool has_rounds() const noexcept { return !run_.orders_barriers; }
  /// The search begins again without.
  [[noreturn]] void give_up_rounds(const std::string& why);
  /// One of the numbers 0 … alternatives-1: all of them are explored.
  [[nodiscard]] unsigned choose(unsigned alternatives, site where, event_kind shown = event_kind::choice);
  /// In this execution that thread may stop for ever before each operation that might change memory, where may_stop()
  /// says so: both are explored. To be called by the thread that starts it, or by itself. 0: no thread stops.
  void let_stop(unsigned thread) noexcept { run_.may_stop = thread; }
  /// A load that can only read what the running thread's event `like` has read, or what coherence forces. `like` may be
  /// `nobody`.
  [[nodiscard]] std::uint64_t load(location& at, std::memory_order order, event_id like, site where);
  void store(location& at, std::uint64_t value, std::memory_order order, site where) override;
  [[nodiscard]] bool compare_exchange(location& at, std::uint64_t& expected, std::uint64_t desired, bool weak,
                                      std::memory_order success, std::memory_order failure, event_id like, site where);
  [[nodiscard]] bool mutex_try_lock(location& at, event_id like, site where);
  /// What a lock or a semaphore does: adds `delta` to one of the `count` values from `first` on. Another one is read
  /// with relaxed order, and then, `blocking`, it waits. Returns whether it was done.
  bool take(location& at, std::uint64_t first, std::uint64_t count, std::uint64_t delta, bool blocking, site where);
  /// The running thread waits for ever, for other values than those that it has read since its event `since`. That is
  /// no failure, because in another execution it goes on.
  [[noreturn]] void wait_unjudged(unsigned since, site where);
  /// The running thread waits, as after await_failed(), but not in place.
  [[noreturn]] void block(site where);
  /// What follows in this execution, another one shows, too.
  [[noreturn]] void leave_out() { executor_.leave_out(); }
  void await_since(unsigned position) noexcept { run_.running().await_begin = position; }

  /// Whether the running thread, which is in that state now, would be in the same state if it had done nothing from its
  /// event `begin` on but what it has done since its event `kept`. May go back to a beginning of this execution, so
  /// that it asks once more.
  [[nodiscard]] bool is_reached_without(unsigned begin, unsigned kept, std::uint64_t state);
  /// The state in which the thread of `read` would come to its next operation, had it read that value there. `key`
  /// decides that, and what it then reads plainly: without `may_read`, the answer is only that it does. May go back to
  /// a beginning, too.
  [[nodiscard]] shortcuts::state state_after(event_id read, std::uint64_t value, std::uint64_t key, bool may_read);
  /// The running thread is followed, but not along an execution that there is: nothing that fails there is a failure.
  [[nodiscard]] bool on_probe() const noexcept { return run_.on_shortcut() && run_.followed->is_probe; }
  [[nodiscard]] bool is_probing() const noexcept { return run_.followed != nullptr && run_.followed->is_probe; }
  [[nodiscard]] bool may_read_on_probe() const noexcept { return run_.followed->may_read; }
  /// What it would do depends on memory, or is not known.
  [[noreturn]] void end_probe(shortcuts::state found) {
    run_.followed_to = found;
    run_.abandon();
  }
  /// exact_options::keeps_rounds
  [[nodiscard]] bool keeps_rounds() const noexcept { return run_.keeps_rounds; }
  [[nodiscard]] bool takes_shortcuts() const noexcept { return run_.takes_shortcuts; }
  /// Whether the running thread is followed for that. It tells its state before each operation that only reads.
  [[nodiscard]] bool on_shortcut() const noexcept { return run_.on_shortcut(); }
  void tell_state(shortcuts::state state);
  [[nodiscard]] unsigned beginning_of_shortcut() const noexcept { return run_.followed->begin; }

  [[nodiscard]] unsigned running() const noexcept { return run_.current; }
  /// Events of the running thread so far.
  [[nodiscard]] unsigned position() const noexcept { return run_.running().position; }
  [[nodiscard]] const unsigned* position_of(unsigned thread) const noexcept { return &run_.threads[thread].position; }
  /// Whether the running thread has no further event in the graph.
  [[nodiscard]] bool at_frontier() const noexcept { return position() == run_.g->size(run_.current); }
  /// What happens-before the next event of the running thread.
  [[nodiscard]] clock knows() const noexcept;
  /// Whether more than `count` events of `thread` are among that.
  [[nodiscard]] bool knows(unsigned thread, unsigned count) const noexcept {
    const unsigned own = position();
    return own == 0 ? knows()[thread] > count : run_.g->at(run_.current, own - 1).hb[thread] > count;
  }
  [[nodiscard]] const graph& current_graph() const noexcept { return *run_.g; }
  [[nodiscard]] site site_of(event_id e) const noexcept { return run_.site_of(e); }
  [[nodiscard]] const fiber& stack_of(unsigned thread) const noexcept { return run_.threads[thread].stack; }
  [[nodiscard]] fiber& running_stack() noexcept { return run_.running().stack; }

  /// See class judge.
  void set_partner(event_id e) noexcept { judge_.set_partner(e); }
  /// exact_options::up_to_symmetry, as long as nothing has told threads apart.
  [[nodiscard]] bool is_up_to_symmetry() const noexcept { return run_.up_to_symmetry; }
  /// Whether others begin as the thread does.
  [[nodiscard]] bool has_others_like(unsigned thread) const noexcept { return exact::has_others_like(*run_.g, thread); }
  /// Events of the running thread before those that start threads, up to now.
  [[nodiscard]] unsigned beginning_of_starts() const noexcept {
    return exact::beginning_of_starts(*run_.g, run_.current, position());
  }
  /// Whether, of threads that begin alike, the running one has joined some, and others not yet.
  [[nodiscard]] bool is_between_joins() const noexcept { return executor_.is_between_joins(); }
  /// Threads that begin alike can be told apart: the search begins again without up_to_symmetry.
  void give_up_symmetry(std::string why) { executor_.give_up_symmetry(std::move(why)); }
  void report(failure what, std::string message, site where);
  [[noreturn]] void report_here(failure what, std::string message, site where);
  /// Ends the search without a verdict; the running thread does not go on.
  [[noreturn]] void give_up(std::string message);
  /// The same, because accesses of different sizes make a larger variable of several: the search begins again with it.
  [[noreturn]] void give_up_sizes(std::string message);
  /// The same, because of a wait in place: the search begins again, with waits that block.
  [[noreturn]] void give_up_waits_in_place(std::string message);
  /// For rounds that are undone:
  [[nodiscard]] bool skips_undone_rounds() const noexcept { return run_.skips_undone_rounds; }
  [[nodiscard]] bool judges_undone_rounds() const noexcept {
    return run_.judges_undone_rounds && run_.followed == nullptr;
  }
  [[nodiscard]] differences_left_out& differences() noexcept { return run_.differences; }
  /// A thread uses that variable otherwise than by loads and additions.
  void note_other_use(unsigned variable);
  /// The search begins again, and explores them.
  [[noreturn]] void give_up_undone_rounds();
  /// The search begins again, and knows those that it has found.
  [[noreturn]] void begin_again_with_differences();
  /// The running thread's last round, from its event `since` on, is left out: the thread waits as after
  /// wait_unjudged(), and if no graph that follows is without the round, the execution ends. Otherwise the others go
  /// on: `no_race_is_lost`: so they need not for the sake of races with the round. The search begins again if what has
  /// been left out may be missed.
  [[noreturn]] void leave_out_round(unsigned since, bool no_race_is_lost, site where);
  /// The running thread does what may go wrong beside a round that is left out in this search.
  void require_no_round_left_out();
};

}  // namespace runq::model::exact
