// SPDX-License-Identifier: MIT
#include "exact_judge.hpp"

#include <string_view>
#include <utility>

#include "exact_consistency.hpp"
#include "exact_symmetry.hpp"

namespace runq::model::exact {

namespace {

std::string to_text(site where) {
  const std::string_view path = where.file;
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1)) + ":" +
         std::to_string(where.line);
}

}  // namespace

void judge::begin_execution() noexcept {
  partner_ = nobody;
  doubtful_ = failure::none;
  failures_here_ = 0;
}

// --- what must hold of an access ---------------------------------------------------------------------------------

void judge::require_live(event_id e) {
  const node& n = run_.g->at(e);
  const node& init = run_.g->at(n.variable);
  if (!n.hb.covers(n.variable)) {
    set_partner(n.variable);
    if (init.memory != nobody) {
      report_here(failure::unpublished_allocation, "memory is used by a thread that cannot know that it is initialised",
                  run_.site_of(e));
    }
    report_here(failure::data_race, "a variable is used by a thread that cannot know that it is initialised",
                run_.site_of(e));
  }
  if (init.memory == nobody) return;
  const heap::block* const block = run_.heap.find(init.memory);
  if (block != nullptr && block->release != nobody) {
    set_partner(block->release);
    report_here(failure::use_after_free, "memory is used after or while it is freed", run_.site_of(e));
  }
}

/// A new event has no successors, so hb can only lead to it.
void judge::require_no_race(event_id e) {
  const node& n = run_.g->at(e);
  for (unsigned t = 0; t != thread_slots; t = run_.g->next_thread(t)) {
    for (unsigned i = n.hb[t]; i < run_.g->size(t); ++i) {
      const node& other = run_.g->at(t, i);
      if (!other.accesses(n.variable)) continue;
      if (n.kind == node_kind::cell_read && other.kind == node_kind::cell_read) continue;
      const event_id there{static_cast<std::uint16_t>(t), static_cast<std::uint16_t>(i)};
      set_partner(there);
      report_here(failure::data_race, "data race with the access at " + to_text(run_.site_of(there)), run_.site_of(e));
    }
  }
}

void judge::require_initialised(event_id read, event_id source) {
  const node& from = run_.g->at(source);
  if (from.kind == node_kind::init && !from.initialised) {
    report_here(failure::uninitialised_read, "an atomic variable is read before it is written", run_.site_of(read));
  }
}

void judge::require_last_use(event_id release) {
  const node& n = run_.g->at(release);
  const site where = run_.site_of(release);
  if (run_.heap.find(n.variable)->release != nobody) report_here(failure::double_free, "memory is freed twice", where);
  if (!n.hb.covers(n.variable)) {
    report_here(failure::unpublished_allocation, "memory is freed by a thread that cannot know of it", where);
  }
  for (unsigned t = 0; t != thread_slots; t = run_.g->next_thread(t)) {
    for (unsigned i = n.hb[t]; i < run_.g->size(t); ++i) {
      const event_id variable = run_.g->at(t, i).variable;
      if (variable == nobody || run_.g->at(variable).memory != n.variable) continue;
      const event_id there{static_cast<std::uint16_t>(t), static_cast<std::uint16_t>(i)};
      set_partner(there);
      report_here(failure::use_after_free, "memory is freed while in use at " + to_text(run_.site_of(there)), where);
    }
  }
}

// --- an execution that has come to its end --------------------------------------------------------------------------

void judge::judge_execution() {
  if (failures_here_ != 0) return;
  bool all_finished = true;
  for (unsigned t = 1; t <= driver_.last_thread(*run_.g); ++t) {
    const status s = run_.threads[t].now;
    if (s == status::waiting || s == status::arrived || s == status::discarded || s == status::joining)
      return judge_waiting_threads();
    all_finished = all_finished && (s == status::finished || s == status::unborn);
  }
  if (run_.one_has_stopped()) return judge_beside_stopped_thread();
  if (!is_new_graph()) return;
  driver_.end_execution(run_, all_finished);
  if (!found_.over && failures_here_ == 0) complete_execution();
}

/// A thread that waits although it has seen the newest values will wait for ever. One that has seen an old value would
/// look again: another graph shows what it does then. If there is such a thread, this graph says nothing about the
/// others. Who waits at a barrier has seen who has come.
void judge::judge_waiting_threads() {
  unsigned stuck = 0;
  unsigned joining = 0;
  for (unsigned t = 1; t <= driver_.last_thread(*run_.g); ++t) {
    const status s = run_.threads[t].now;
    if (s == status::joining) joining = t;
    if (s == status::discarded || (s == status::waiting && !saw_newest_values(t))) {
      ++found_.result.blocked;
      return;
    }
    if ((s == status::waiting || s == status::arrived) && stuck == 0) stuck = t;
  }
  if (run_.one_has_stopped()) return judge_beside_stopped_thread();
  if (stuck == 0) stuck = joining;  // no thread waits for a value: they join themselves, or each other
  for (unsigned t = 1; t <= driver_.last_thread(*run_.g); ++t) {
    const thread_state& s = run_.threads[t];
    const auto number = static_cast<int>(t) - 1;
    if (s.now == status::finished) found_.result.ended.push_back(number);
    if (s.now == status::joining) found_.result.stuck.push_back({number, static_cast<int>(s.joined) - 1});
    if (s.now == status::waiting || s.now == status::arrived)
      found_.result.stuck.push_back({number, -1, false, s.await_begin, s.now == status::arrived});
    if (s.now == status::frozen) found_.result.stuck.push_back({number, -1, true});
  }
  run_.current = stuck;
  report(failure::deadlock, "a thread waits for ever, and no thread will wake it", run_.threads[stuck].where);
}

/// A thread that has stopped for ever may hold up others, but no call that is claimed lock-free. All threads that wait
/// have seen the newest values.
void judge::judge_beside_stopped_thread() {
  if (!is_new_graph()) return;
  for (unsigned t = 1; t <= driver_.last_thread(*run_.g); ++t) {
    const status s = run_.threads[t].now;
    if ((s != status::waiting && s != status::arrived) || !driver_.claims_to_finish(t)) continue;
    found_.result.stuck.push_back(
        {static_cast<int>(t) - 1, -1, false, run_.threads[t].await_begin, s == status::arrived});
    found_.result.stuck.push_back({static_cast<int>(run_.may_stop) - 1, -1, true});
    run_.current = t;
    return report(failure::not_lock_free,
                  "a call that is claimed lock-free waits for ever for a thread that has stopped",
                  run_.threads[t].where);
  }
  complete_execution();
}

/// In a program, an old write of the newest value counts as the newest: the waiting thread may have written it in a
/// loop. A lock that it takes and gives back in such a loop has shown it everything, if no other thread has had the
/// lock since. A value that it stores in each round of such a loop is the newest, or the next round changes something.
bool judge::saw_newest_values(unsigned thread) const {
  for (unsigned i = run_.threads[thread].await_begin; i < run_.g->size(thread); ++i) {
    const node& n = run_.g->at(thread, i);
    if (n.kind == node_kind::write && !n.exclusive && run_.g->at(run_.g->at(n.variable).newest).value != n.value) {
      return false;
    }
    if (n.kind != node_kind::read) continue;
    if (n.spurious) return false;  // it would try again
    if (run_.g->at(n.source).newer == nobody) continue;
    if (!driver_.waiting_loops_write()) return false;
    const event_id written{static_cast<std::uint16_t>(thread), static_cast<std::uint16_t>(i + 1)};
    if (n.exclusive && run_.g->changes_value(written)) {
      if (!only_waiting_rounds_after(n.source)) return false;
    } else if (run_.g->at(run_.g->at(n.variable).newest).value != n.value) {
      return false;
    }
  }
  return true;
}

/// Whether all newer writes are in the last rounds of loops in which threads wait: they have changed nothing.
bool judge::only_waiting_rounds_after(event_id write) const {
  for (event_id e = run_.g->at(write).newer; e != nobody; e = run_.g->at(e).newer) {
    const thread_state& t = run_.threads[e.thread];
    if (t.now != status::waiting || e.index < t.await_begin) return false;
  }
  return true;
}

/// False for a graph with a delayed read that was visited before. Visiting any other graph twice is a bug.
bool judge::is_new_graph() {
  const bool has_delayed = run_.g->delayed != nobody;
  if (options_.walks != 0) return true;  // walks may meet the same graph again
  if (!options_.check_duplicates && !has_delayed) return true;
  if (met_.first_time(met_before::what::complete, fingerprint(*run_.g))) return true;
  if (!has_delayed) ++found_.statistics.duplicates;
  return !has_delayed;
}

void judge::complete_execution() {
  if (run_.complete) {
    for (const heap::block& b : run_.heap.blocks()) {
      if (b.release != nobody) continue;
      run_.current = b.allocation.thread;
      report(failure::leak, "memory is never freed", run_.threads[b.allocation.thread].sites[b.allocation.index]);
      return;
    }
  }
  ++found_.result.executions;
  if (run_.up_to_symmetry) found_.result.arranged += arrangements(*run_.g);
  const bool may_be_spurious = options_.spurious_failures != 0 || options_.spurious_of_thread != 0;
  if (may_be_spurious && run_.g->spurious_failures() != 0) ++found_.result.spurious;
  const bool is_asked_for = found_.result.executions == options_.show_execution && !run_.may_begin_again;
  if (is_asked_for || shows_this_) {
    describe_execution();
    found_.cut_short("stopped at execution " + std::to_string(found_.result.executions) + ", as asked");
  }
  if (options_.show_each != nullptr) {
    describe_execution();
    options_.show_each(found_.result);
    found_.result.trace.clear();
  }
}

// --- failures ------------------------------------------------------------------------------------------------------

bool judge::doubt_resolved() {
  for (unsigned t = 1; t <= driver_.last_thread(*run_.g); ++t) {
    if (run_.threads[t].position != run_.g->size(t)) return false;
  }
  for (unsigned t = 1; t <= driver_.last_thread(*run_.g) && doubtful_ != failure::none; ++t) {
    if (run_.threads[t].now != status::failed) continue;
    run_.current = t;
    report(doubtful_, doubtful_message_, run_.threads[t].where);
    return false;
  }
  return true;
}

/// An execution counts once, however many of its threads fail.
void judge::note_failure(failure what, const std::string& message, site where) {
  if (failures_here_++ == 0) ++found_.result.executions;
  found_.has_noted_race = found_.has_noted_race || what == failure::data_race;
  std::vector<site> places{where};
  for (const stuck_thread& s : std::exchange(found_.result.stuck, {})) {
    if (s.thread >= 0) places.push_back(run_.threads[static_cast<unsigned>(s.thread) + 1].where);
  }
  found_.result.ended.clear();
  if (!driver_.note_failure(what, message, places, run_.executed.size())) {
    found_.cut_short("stopped after so many failures, as asked");
  }
}

void judge::report(failure what, std::string message, site where) {
  if (found_.over || run_.followed != nullptr) return;
  if (is_only_noted()) return note_failure(what, message, where);
  found_.over = true;
  ++found_.result.executions;
  found_.result.what = what;
  found_.result.message = std::move(message);
  found_.result.where = where;
  found_.result.forbidden_by_cpp20 = run_.g->delayed == nobody && !has_total_order(*run_.g);
  describe_execution();
  event last;
  last.kind = event_kind::failure;
  last.thread = run_.thread_index();
  last.where = where;
  found_.result.trace.push_back(last);
}

void judge::report_here(failure what, std::string message, site where) {
  if (run_.followed != nullptr) run_.abandon();  // its own execution will show it
  if (run_.in_doubt() && run_.thread_index() >= 0) {
    if (doubtful_ != failure::none) run_.stop_running_thread(status::frozen);  // one failure is enough
    doubtful_ = what;
    doubtful_message_ = std::move(message);
    run_.threads[run_.current].where = where;
    run_.stop_running_thread(status::failed);
  }
  report(what, std::move(message), where);
  if (!found_.over) run_.stop_running_thread(status::failed);
  run_.abandon();
}

void judge::report_stuck_alone(site where) {
  found_.result.stuck.push_back({-1, -1, false, run_.running().await_begin});
  report_here(failure::deadlock, "no thread is left that could end this wait", where);
}

}  // namespace runq::model::exact
