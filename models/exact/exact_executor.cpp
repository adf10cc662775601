// SPDX-License-Identifier: MIT
// One execution: the threads are replayed against the graph, then they extend it, and the end is judged.
#include "exact_executor.hpp"

#include <algorithm>
#include <string>

#include "exact_barrier.hpp"
#include "exact_symmetry.hpp"

namespace runq::model::exact {

void executor::execute() {
  // A revisited read-modify-write gets its write part before anything else happens; often that already shows that the
  // graph is inconsistent.
  if (run_.g->unfinished_rmw != 0 && !explorer_.finish_rmw(run_.g->unfinished_rmw)) return;
  const bool has_an_end = run_to_its_end();
  driver_.leave();
  if (has_an_end) judge_.judge_execution();
}

/// Returns false if the search is over, if there is no such execution, or if it waits for a shortcut.
bool executor::run_to_its_end() {
  impossible_ = futile_ = false;
  run_.begin();
  judge_.begin_execution();
  driver_.begin_execution(run_, &thread_entry, this);
  return !found_.over && replay_threads() && extend_threads() && (!run_.up_to_symmetry || is_in_order(*run_.g));
}

shortcuts::state executor::follow(const shortcut& s) {
  run_.followed = &s;
  run_.followed_to = {};
  impossible_ = futile_ = false;
  run_.begin();
  judge_.begin_execution();
  driver_.begin_execution(run_, &thread_entry, this);
  if (!found_.over && replay_threads() && run_.threads[s.thread].now == status::frontier) {
    run_.extending = true;
    run_.threads[s.thread].now = status::ready;
    resume(s.thread);
  }
  driver_.leave();
  run_.followed = nullptr;
  return run_.followed_to;
}

void executor::thread_entry(void* self) {
  auto& e = *static_cast<executor*>(self);
  e.driver_.run(e, e.run_.current);
  e.run_.stop_running_thread(status::finished);
}

void executor::resume(unsigned thread) {
  run_.current = thread;
  driver_.enter(thread);
  run_.threads[thread].stack.resume();
}

/// Runs every thread up to its frontier. Threads wait for each other's writes, which ends because porf has no cycle.
/// With a delayed read porf has a cycle, and threads may turn out to be unable to follow the graph; then returns false.
bool executor::replay_threads() {
  for (bool repeat = true; repeat;) {
    repeat = false;
    const std::size_t before = run_.executed.size();
    for (unsigned t = 1; t <= driver_.last_thread(*run_.g); ++t) {
      if (run_.threads[t].now != status::ready) continue;
      resume(t);
      if (is_over() || impossible_) return false;
      repeat = repeat || run_.threads[t].now == status::ready;
    }
    if (repeat && run_.executed.size() == before) return false;
  }
  return !futile_ && (run_.g->delayed == nobody || judge_.doubt_resolved());
}

/// Returns false if the execution has no end.
bool executor::extend_threads() {
  run_.extending = true;
  for (unsigned t = 1; t <= driver_.last_thread(*run_.g) && !is_over();) {
    if (!can_extend(t)) {
      ++t;
      continue;
    }
    run_.threads[t].now = status::ready;
    resume(t);
    if (futile_) return false;
    t = 1;  // a thread with a lower number may wait for its end
  }
  if (!is_over()) end_waits();
  return !is_over();
}

bool executor::can_extend(unsigned thread) const noexcept {
  if (lets_others_begin(thread)) return false;
  const thread_state& t = run_.threads[thread];
  if (t.now == status::joining) return run_.g->has_ended(t.joined);
  if (t.now == status::arrived) return may_depart(*run_.g, t.departure);
  if (t.now == status::in_place) {
    const event_id next{static_cast<std::uint16_t>(thread), static_cast<std::uint16_t>(t.position)};
    return explorer_.can_try(next, t.awaited);
  }
  return t.now == status::frontier || t.now == status::ready;
}

void executor::start(unsigned thread) {
  run_.threads[thread].now = status::ready;
  run_.threads[thread].stack.prepare(&thread_entry, this);
}

void executor::finish_thread() {
  perform(step::end{}, {});
  run_.stop_running_thread(status::finished);
}

// --- waits in place: docs/checker.md ------------------------------------------------------------------------------

bool executor::wait_in_place() {
  const thread_state& t = run_.running();
  if (!run_.waits_in_place || last_rounds_ || t.position != t.await_begin + 1) return false;
  const event_id read = run_.g->last_of(run_.current);
  const node& r = run_.g->at(read);
  if (r.kind != node_kind::read || r.exclusive || r.spurious || r.has_no_choice) return false;
  if (run_.g->at(r.source).newer != nobody) {
    futile_ = true;  // once the others have been replayed: what they do beside this read is judged
    run_.stop_running_thread(status::waiting);
  }
  run_.take_back_wait();
  return true;
}

void executor::leave_out() {
  futile_ = true;
  run_.stop_running_thread(status::waiting);
}

/// Stops the running thread as long as it has tried all that it could read.
void executor::wait_for_untried(const operation& wanted) {
  if (!run_.waits_in_place) return;
  thread_state& t = run_.running();
  while (!last_rounds_ && !explorer_.can_try(run_.next_event(), wanted.variable)) {
    t.now = status::in_place;
    t.awaited = wanted.variable;
    t.stack.suspend();
  }
}

/// Nobody can go on: each thread that waits in place reads the newest value once more, and blocks, so that it is judged
/// and shown.
void executor::end_waits() {
  last_rounds_ = true;
  for (unsigned t = 1; t <= driver_.last_thread(*run_.g) && !is_over(); ++t) {
    if (run_.threads[t].now != status::in_place) continue;
    run_.threads[t].now = status::ready;
    resume(t);
  }
  last_rounds_ = false;
}

// --- threads that begin alike: exact_symmetry.hpp -----------------------------------------------------------------

bool executor::is_between_joins() const noexcept {
  for (unsigned t = constructing + 1; t != run_.g->end_of_threads(); ++t) {
    if (run_.joined.by[t] != run_.current) continue;
    unsigned others = 0;
    for (unsigned u = t; u != run_.g->end_of_threads(); ++u) others += first_like(*run_.g, u) == t ? 1U : 0U;
    if (run_.joined.count[t] != others) return true;
  }
  return false;
}

/// What is done between two joins comes after one of the threads only.
void executor::require_joins_together(const operation& wanted) {
  if (wanted.kind == node_kind::join || !is_between_joins()) return;
  give_up_symmetry("their joins do not come one right after the other");
}

void executor::note_join(unsigned joined) {
  if (!has_others_like(*run_.g, joined)) return;
  const unsigned first = first_like(*run_.g, joined);
  unsigned& by = run_.joined.by[first];
  if ((by != 0 && by != run_.current) || first_like(*run_.g, run_.current) == first) {
    give_up_symmetry("they are joined by different threads");
  }
  by = run_.current;
  ++run_.joined.count[first];
}

/// If it is the thread's first step, it must be that of the others, and in order.
void executor::note_new(event_id e) {
  if (run_.on_shortcut() || first_step(*run_.g, e.thread) != e) return;
  for (unsigned t = constructing + 1; t != run_.g->end_of_threads(); ++t) {
    if (t == e.thread || !begin_alike(*run_.g, t, e.thread)) continue;
    const event_id other = first_step(*run_.g, t);
    if (other != nobody && !are_alike(run_.g->at(other), run_.g->at(e))) give_up_symmetry("they do not begin alike");
  }
  if (is_never_in_order(*run_.g)) leave_out();
}

/// The first steps of all come first: then fewer of them may be revisited by what another one does later.
bool executor::lets_others_begin(unsigned thread) const noexcept {
  if (!run_.up_to_symmetry || first_step(*run_.g, thread) == nobody) return false;
  for (unsigned t = constructing + 1; t != run_.g->end_of_threads(); ++t) {
    const status now = run_.threads[t].now;
    if ((now == status::frontier || now == status::ready) && begin_alike(*run_.g, t, thread) &&
        first_step(*run_.g, t) == nobody) {
      return true;
    }
  }
  return false;
}

void executor::give_up_symmetry(std::string why) {
  found_.misled = technique::symmetry;
  found_.result.told_apart_by = why;
  found_.cut_short("threads that begin alike are told apart: " + why + "; check with --symmetry off");
  run_.abandon();
}

// --- an operation: replay ------------------------------------------------------------------------------------------

event_id executor::perform(const operation& wanted, site where) {
  if (run_.may_stop != 0 && run_.current == run_.may_stop &&
      (wanted.changes_memory() || wanted.change != update::none)) {
    stop_or_go_on(where);
  }
  thread_state& t = run_.running();
  const event_id e = run_.next_event();
  if (options_.freeze_thread >= 0 && run_.thread_index() == options_.freeze_thread &&
      t.operations == options_.freeze_after) {
    found_.statistics.froze = true;
    run_.stop_running_thread(status::frozen);
  }
  ++t.operations;
  if (run_.up_to_symmetry) require_joins_together(wanted);
  const bool is_new = !replay(wanted, where);
  if (is_new) extend(wanted, where);
  if (run_.up_to_symmetry && wanted.kind == node_kind::join) note_join(wanted.thread());
  if (run_.up_to_symmetry && is_new) note_new(e);
  return e;
}

/// Other threads cannot tell how far a thread has come but by what it has written: so it may stop before a write only.
void executor::stop_or_go_on(site where) {
  if (!driver_.may_stop(run_.current)) return;
  const event_id e = perform(step::choose{2, event_kind::stop}, where);
  if (run_.g->at(e).value == 1) run_.stop_running_thread(status::frozen);
}

/// Follows the graph. Returns false when the thread is at its frontier and may add the event.
bool executor::replay(const operation& wanted, site where) {
  thread_state& t = run_.running();
  if (t.position < run_.g->size(run_.current)) {
    const node& n = run_.g->at(run_.current, t.position);
    if (!wanted.repeats(n)) adapt_to(wanted, where);
    const bool delayed = run_.g->delayed == run_.next_event();
    if ((n.kind == node_kind::read && !delayed) || n.kind == node_kind::join) await(n.source);
    if (n.kind == node_kind::depart) await_arrivals(n.departure());
    run_.note_executed(where);
    if (n.kind == node_kind::read && n.exclusive) run_.note_executed(where);
    return true;
  }
  if (!run_.extending && run_.current != constructing) {
    t.now = status::frontier;
    t.stack.suspend();
  }
  // The operation adds up to two events, and a revisit may turn a failed compare-exchange into a successful one.
  if (run_.g->size(run_.current) + 2 > std::min(options_.max_events_per_thread, max_thread_events))
    end_at_limit_of_events();
  if (run_.g->sequential().size() + 3 > max_sequential) end_at_limit_of_sequential();
  return false;
}

/// The thread asks for another operation than the graph has. After a race with a plain write this may be the race's
/// fault: where it is replayed before the atomic operations, they find another variable than where it is replayed after
/// them. The race was noted, and the execution has no end then.
void executor::adapt_to(const operation& wanted, site where) {
  if (!run_.in_doubt() && !found_.has_noted_race) {
    judge_.report_here(failure::misuse, "the scenario is not deterministic: replayed, a thread does something else",
                       where);
  }
  if (run_.in_doubt() && explorer_.adapt(run_.next_event(), wanted)) return;
  impossible_ = true;
  run_.abandon();
}

void executor::end_at_limit_of_events() {
  found_.cut_short("limit reached: max_events_per_thread = " + std::to_string(options_.max_events_per_thread) +
                   driver_.advice_on_endless_loops());
  run_.abandon();
}

void executor::end_at_limit_of_sequential() {
  found_.cut_short("limit reached: max_sequential = " + std::to_string(max_sequential) +
                   " seq_cst events; make the scenario smaller");
  run_.abandon();
}

/// One execution may take long: it is asked for every few events, not only after each execution.
bool executor::is_out_of_time() {
  constexpr unsigned look_at_clock_every = 64;
  if (options_.time_limit_seconds <= 0 || ++extended_ % look_at_clock_every != 0) return false;
  return run_.seconds_of_search() > options_.time_limit_seconds;
}

void executor::end_at_limit_of_time() {
  found_.use_up_budget("time_limit_seconds");
  run_.abandon();
}

/// Waits until `before` has been replayed: then plain memory holds what was written before it, too.
void executor::await(event_id before) {
  while (run_.threads[before.thread].position <= before.index) run_.running().stack.suspend();
}

void executor::await_arrivals(const step::depart& how) {
  for_each_before_departure(*run_.g, how, [this](event_id e) { await(e); });
}

// --- an operation: a new event -------------------------------------------------------------------------------------

void executor::extend(const operation& wanted, site where) {
  if (run_.on_shortcut()) return extend_shortcut(wanted, where);
  if (is_out_of_time()) end_at_limit_of_time();
  while (lets_others_begin(run_.current)) {
    run_.running().now = status::ready;
    run_.running().stack.suspend();
  }
  if (wanted.kind == node_kind::join) return add_join(wanted, where);
  if (wanted.kind == node_kind::arrive) return add_arrival(wanted, where);
  if (wanted.kind == node_kind::depart) return add_departure(wanted, where);
  if (wanted.kind == node_kind::read) wait_for_untried(wanted);
  const event_id e = append(wanted, where);
  switch (wanted.kind) {
    case node_kind::read: return explore_read(e, where);
    case node_kind::write: judge_.require_live(e); return explorer_.explore_write(e);
    case node_kind::cell_read:
    case node_kind::cell_write: judge_.require_live(e); return judge_.require_no_race(e);
    case node_kind::deallocate: return judge_.require_last_use(e);
    case node_kind::choice: return explorer_.explore_choice(e);
    case node_kind::join:
    case node_kind::arrive:
    case node_kind::depart:
    case node_kind::spawn:
    case node_kind::end:
    case node_kind::init:
    case node_kind::cell_init:
    case node_kind::fence:
    case node_kind::allocate: break;
  }
}

/// The thread reads what it is to read. If it does something else, the shortcut cannot be followed.
void executor::extend_shortcut(const operation& wanted, site where) {
  const shortcut& s = *run_.followed;
  const unsigned at = run_.running().position - s.begin;
  if (at == s.kept.size() || !may_stand_for(wanted, s.kept[at])) run_.abandon();
  const node& kept = s.kept[at];
  const event_id e = append(wanted, where);
  if (wanted.kind == node_kind::read) read_as(e, kept);
  if (run_.g->at(e).exclusive != kept.exclusive) run_.abandon();
  if (!kept.exclusive) {
    if (!only_reads(run_.g->at(e))) run_.abandon();
    return;
  }
  const event_id write = run_.g->append(run_.current, run_.g->at(e).write_part(run_.g->at(kept.variable).mask()));
  run_.g->at(write).exclusive = true;
  run_.note_executed(where);
}

/// On a shortcut: the write from which the thread has read may depend on what is left out.
void executor::read_as(event_id read, const node& kept) {
  const bool is_there = run_.g->contains(kept.source) && kept.source.thread != run_.current;
  const bool is_own = kept.source.thread == run_.current && kept.source.index < run_.followed->begin;
  if (is_there || is_own) return run_.g->set_source(read, kept.source);
  node& r = run_.g->at(read);
  r.value = kept.value;
  r.exclusive = r.succeeds();
}

event_id executor::append(const operation& wanted, site where) {
  const event_id e = run_.g->append(run_.current, wanted);
  run_.note_executed(where);
  return e;
}

void executor::explore_read(event_id read, site where) {
  judge_.require_live(read);
  explorer_.explore_read(read);
  if (!run_.g->at(read).exclusive) return;
  if (!explorer_.finish_rmw(run_.current)) run_.abandon();  // not reached: to read and write the newest is consistent
  run_.note_executed(where);
}

void executor::add_join(const operation& wanted, site where) {
  thread_state& t = run_.running();
  while (!run_.g->has_ended(wanted.thread())) {
    t.now = status::joining;
    t.joined = wanted.thread();
    t.where = where;
    t.stack.suspend();
  }
  run_.g->join(append(wanted, where), run_.g->last_of(wanted.thread()));
}

void executor::add_arrival(const operation& wanted, site where) {
  if (join_round(*run_.g, append(wanted, where))) return;
  give_up_rounds("threads come to a barrier at the same time of which some belong to its next round");
}

void executor::give_up_rounds(const std::string& why) {
  found_.misled = technique::unordered_rounds;
  found_.cut_short(why + "; check with --barriers-in-order");
  run_.abandon();
}

void executor::add_departure(const operation& wanted, site where) {
  thread_state& t = run_.running();
  while (!may_depart(*run_.g, wanted.departure())) {
    t.now = status::arrived;
    t.departure = wanted.departure();
    t.await_begin = t.position;
    t.where = where;
    t.stack.suspend();
  }
  leave_round(*run_.g, append(wanted, where));
}

}  // namespace runq::model::exact
