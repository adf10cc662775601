// SPDX-License-Identifier: MIT
// One execution: construct the scenario, replay its threads against the graph, extend it, judge the result.
#include "exact_search.hpp"

#include <new>

#include "exact_team.hpp"

namespace runq::model::exact {

search::search(const case_spec& spec, const exact_options& options)
    : spec_(&spec), options_(options), memory_(new (std::align_val_t{64}) std::byte[max_scenario_size]) {}

search::search(program& executed, const exact_options& options) : program_(&executed), options_(options) {}

search_result search::run() {
  start_ = std::chrono::steady_clock::now();
  engine* const before = set_current_engine(this);
  result_.how = options_.bound == exact_options::no_bound ? coverage::exhaustive : coverage::bounded;
  next_progress_ = options_.progress_seconds;
  if (shown_) {
    explore_shown();
  } else if (source_ != nullptr) {
    explore_parts();
  } else if (options_.walks != 0) {
    walk_at_random();
  } else {
    begin_at_root();
    explore(options_.jobs > 1 ? graphs_before_team : ~std::uint64_t{0});
    if (!over() && !pending_.empty()) explore_together();
  }
  set_current_engine(before);
  result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  return std::move(result_);
}

void search::explore(std::uint64_t graphs) {
  while (!over() && !pending_.empty()) {
    explore_next();
    if (team_ != nullptr) {
      confer();
    } else if (result_.executions + result_.blocked >= graphs) {
      return;
    }
  }
}

void search::run_graph() {
  // A revisited read-modify-write gets its write part before anything else happens; often that already shows that the
  // graph is inconsistent.
  if (g_->unfinished_rmw != 0 && !finish_rmw(g_->unfinished_rmw)) return;
  begin_execution();
  if (program_ == nullptr) construct_scenario();
  const bool runs_to_its_end = !over() && replay_threads() && extend_threads();
  if (program_ != nullptr) program_->leave();
  if (runs_to_its_end) end_execution();
}

void search::begin_execution() {
  partner_ = nobody;
  executed_.clear();
  heap_.begin_execution();
  extending_ = false;
  complete_ = false;
  impossible_ = false;
  doubtful_ = failure::none;
  may_stop_ = 0;
  for (thread_state& t : threads_) {
    t.now = status::ready;
    t.position = 0;
    t.operations = 0;
  }
  if (program_ == nullptr) {
    threads_[constructing].stack.prepare(&main_entry, this);
    for (unsigned t = 1; t <= spec_->threads; ++t) threads_[t].stack.prepare(&thread_entry, this);
    return;
  }
  for (unsigned t = 2; t <= max_threads; ++t) threads_[t].now = status::unborn;
  threads_[1].stack.prepare(&thread_entry, this);
  threads_[constructing].position = all_events;
  program_->begin_execution();
}

void search::main_entry(void* self) {
  auto& s = *static_cast<search*>(self);
  s.scenario_ = s.spec_->construct(s.memory_.get());
  s.threads_[constructing].now = status::finished;
  s.threads_[constructing].stack.suspend();
  s.scenario_->finish();
  s.scenario_->~scenario();
  s.complete_ = true;
  s.abandon();
}

void search::thread_entry(void* self) {
  auto& s = *static_cast<search*>(self);
  if (s.program_ == nullptr) {
    s.scenario_->thread(s.current_ - 1);
  } else {
    s.program_->run(s.current_);
    s.finish_thread();
  }
  s.stop_running_thread(status::finished);
}

void search::construct_scenario() {
  current_ = constructing;
  threads_[constructing].stack.resume();
  current_ = constructing;
}

void search::finish_scenario() {
  current_ = finishing;
  threads_[constructing].stack.resume();
}

void search::resume(unsigned thread) {
  current_ = thread;
  if (program_ != nullptr) program_->enter(thread);
  threads_[thread].stack.resume();
}

void search::abandon() {
  for (;;) threads_[current_ == finishing ? constructing : current_].stack.suspend();
}

void search::stop_running_thread(status why) {
  threads_[current_].now = why;
  abandon();
}

/// Runs every thread up to its frontier. Threads wait for each other's writes, which ends because porf has no cycle.
/// With a delayed read porf has a cycle, and threads may turn out to be unable to follow the graph; then returns false.
bool search::replay_threads() {
  for (bool repeat = true; repeat;) {
    repeat = false;
    const std::size_t before = executed_.size();
    for (unsigned t = 1; t <= last_thread(); ++t) {
      if (threads_[t].now != status::ready) continue;
      resume(t);
      if (over() || impossible_) return false;
      repeat = repeat || threads_[t].now == status::ready;
    }
    if (repeat && executed_.size() == before) return false;
  }
  return g_->delayed == nobody || doubt_resolved();
}

/// Load buffering: if every thread has followed the graph to its end, the execution exists, and a failure in it counts.
bool search::doubt_resolved() {
  for (unsigned t = 1; t <= last_thread(); ++t) {
    if (threads_[t].position != g_->size(t)) return false;
  }
  for (unsigned t = 1; t <= last_thread() && doubtful_ != failure::none; ++t) {
    if (threads_[t].now != status::failed) continue;
    current_ = t;
    report(doubtful_, doubtful_message_, threads_[t].where);
    return false;
  }
  return true;
}

/// Returns false if the search is over.
bool search::extend_threads() {
  extending_ = true;
  for (unsigned t = 1; t <= last_thread() && !over();) {
    if (!can_extend(t)) {
      ++t;
      continue;
    }
    threads_[t].now = status::ready;
    resume(t);
    t = program_ != nullptr ? 1 : t + 1;  // a thread with a lower number may wait for its end
  }
  return !over();
}

bool search::can_extend(unsigned thread) const noexcept {
  const thread_state& t = threads_[thread];
  if (t.now == status::joining) return g_->has_ended(t.joined);
  return t.now == status::frontier || (program_ != nullptr && t.now == status::ready);
}

void search::end_execution() {
  bool all_finished = true;
  for (unsigned t = 1; t <= last_thread(); ++t) {
    const status s = threads_[t].now;
    if (s == status::waiting || s == status::discarded || s == status::joining) return judge_waiting_threads();
    all_finished = all_finished && (s == status::finished || s == status::unborn);
  }
  if (one_has_stopped()) return judge_beside_stopped_thread();
  if (!is_new_graph()) return;
  if (program_ != nullptr) {
    program_->end_execution();
  } else if (all_finished) {
    finish_scenario();
  }
  if (!over()) complete_execution();
}

/// A thread that waits although it has seen the newest values will wait for ever. One that has seen an old value would
/// look again: another graph shows what it does then. If there is such a thread, this graph says nothing about the
/// others.
void search::judge_waiting_threads() {
  unsigned stuck = 0;
  unsigned joining = 0;
  for (unsigned t = 1; t <= last_thread(); ++t) {
    const status s = threads_[t].now;
    if (s == status::joining) joining = t;
    if (s == status::discarded || (s == status::waiting && !saw_newest_values(t))) {
      ++result_.blocked;
      return check_limits();
    }
    if (s == status::waiting && stuck == 0) stuck = t;
  }
  if (one_has_stopped()) return judge_beside_stopped_thread();
  if (stuck == 0) stuck = joining;  // no thread waits for a value: they join themselves, or each other
  for (unsigned t = 1; t <= last_thread(); ++t) {
    const thread_state& s = threads_[t];
    const auto number = static_cast<int>(t) - 1;
    if (s.now == status::finished) result_.ended.push_back(number);
    if (s.now == status::joining) result_.stuck.push_back({number, static_cast<int>(s.joined) - 1});
    if (s.now == status::waiting) result_.stuck.push_back({number, -1, false, s.await_begin});
    if (s.now == status::frozen) result_.stuck.push_back({number, -1, true});
  }
  current_ = stuck;
  report(failure::deadlock, "a thread waits for ever, and no thread will wake it", threads_[stuck].where);
}

/// A thread that has stopped for ever may hold up others, but no call that is claimed lock-free. All threads that wait
/// have seen the newest values.
void search::judge_beside_stopped_thread() {
  if (!is_new_graph()) return;
  for (unsigned t = 1; t <= last_thread(); ++t) {
    if (threads_[t].now != status::waiting || !program_->claims_to_finish(t)) continue;
    result_.stuck.push_back({static_cast<int>(t) - 1, -1, false, threads_[t].await_begin});
    result_.stuck.push_back({static_cast<int>(may_stop_) - 1, -1, true});
    current_ = t;
    return report(failure::not_lock_free,
                  "a call that is claimed lock-free waits for ever for a thread that has stopped", threads_[t].where);
  }
  complete_execution();
}

/// In a program, an old write of the newest value counts as the newest: the waiting thread may have written it in a
/// loop. A lock that it takes and gives back in such a loop has shown it everything, if no other thread has had the
/// lock since.
bool search::saw_newest_values(unsigned thread) const {
  for (unsigned i = threads_[thread].await_begin; i < g_->size(thread); ++i) {
    const node& n = g_->at(thread, i);
    if (n.kind != node_kind::read || g_->at(n.source).newer == nobody) continue;
    if (program_ == nullptr || n.spurious) return false;
    const event_id written{static_cast<std::uint16_t>(thread), static_cast<std::uint16_t>(i + 1)};
    if (n.exclusive && g_->changes_value(written)) {
      if (!only_waiting_rounds_after(n.source)) return false;
    } else if (g_->at(g_->at(n.variable).newest).value != n.value) {
      return false;
    }
  }
  return true;
}

/// Whether all newer writes are in the last rounds of loops in which threads wait: they have changed nothing.
bool search::only_waiting_rounds_after(event_id write) const {
  for (event_id e = g_->at(write).newer; e != nobody; e = g_->at(e).newer) {
    const thread_state& t = threads_[e.thread];
    if (t.now != status::waiting || e.index < t.await_begin) return false;
  }
  return true;
}

void search::complete_execution() {
  if (complete_) {
    for (const heap::block& b : heap_.blocks()) {
      if (b.release != nobody) continue;
      current_ = b.allocation.thread;
      report(failure::leak, "memory is never freed", threads_[b.allocation.thread].sites[b.allocation.index]);
      return;
    }
  }
  ++result_.executions;
  if (options_.spurious_failures != 0 && g_->spurious_failures() != 0) ++result_.spurious;
  if (result_.executions == options_.show_execution || shows_this_) {
    describe_execution();
    cut_short("stopped at execution " + std::to_string(result_.executions) + ", as asked");
  }
  if (options_.show_each != nullptr) {
    describe_execution();
    options_.show_each(result_);
    result_.trace.clear();
  }
  check_limits();
}

void search::check_limits() {
  constexpr std::uint64_t look_at_clock_every = 1 << 14;
  if (result_.executions >= options_.max_executions && !pending_.empty()) {
    use_up_budget("max_executions = " + std::to_string(options_.max_executions));
  }
  if (options_.time_limit_seconds <= 0 && options_.progress == nullptr) return;
  events_unclocked_ += executed_.size();
  if (events_unclocked_ < look_at_clock_every) return;
  events_unclocked_ = 0;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  if (options_.time_limit_seconds > 0 && seconds > options_.time_limit_seconds) use_up_budget("time_limit_seconds");
  if (seconds >= next_progress_) report_progress(seconds);
}

void search::use_up_budget(const std::string& limit) {
  if (over_) return;
  out_of_budget_ = true;
  cut_short("limit reached: " + limit + "; raise it, or make the scenario smaller");
}

void search::cut_short(std::string message) {
  if (over_) return;
  over_ = true;
  result_.how = coverage::cut_short;
  result_.message = std::move(message);
}

/// Ends the search with a failure of this execution.
void search::report(failure what, std::string message, site where) {
  if (over_) return;
  over_ = true;
  ++result_.executions;
  result_.what = what;
  result_.message = std::move(message);
  result_.where = where;
  result_.forbidden_by_cpp20 = g_->delayed == nobody && !has_total_order(*g_);
  describe_execution();
  event last;
  last.kind = event_kind::failure;
  last.thread = thread_index();
  last.where = where;
  result_.trace.push_back(last);
}

void search::report_here(failure what, std::string message, site where) {
  if (in_doubt() && thread_index() >= 0) {
    if (doubtful_ != failure::none) stop_running_thread(status::frozen);  // one failure is enough
    doubtful_ = what;
    doubtful_message_ = std::move(message);
    threads_[current_].where = where;
    stop_running_thread(status::failed);
  }
  report(what, std::move(message), where);
  abandon();
}

/// False for a graph with a delayed read that was visited before. Visiting any other graph twice is a bug.
bool search::is_new_graph() {
  const bool has_delayed = g_->delayed != nobody;
  if (options_.walks != 0) return true;  // walks may meet the same graph again
  if (!options_.check_duplicates && !has_delayed) return true;
  if (first_time(seen_, 0, fingerprint(*g_))) return true;
  if (!has_delayed) ++statistics_.duplicates;
  return !has_delayed;
}

}  // namespace runq::model::exact
