// SPDX-License-Identifier: MIT
// Ways through the tree of all executions. Its inner nodes are events that can go on in several ways, its leaves the
// executions. A search walks it in order; here is what a part of a search needs, random walks, and how large the tree
// is by what was seen of it (Knuth: "Estimating the efficiency of backtrack programs", 1975).
#include "exact_campaign.hpp"

#include "exact_team.hpp"
#include "exact_walk.hpp"

namespace runq::model::exact {

void campaign::run() {
  run_.search_began = std::chrono::steady_clock::now();
  next_progress_ = options_.progress_seconds;
  explore_as_asked();
  while (begins_again()) explore_as_asked();
  if (has_passed_by()) {
    run_.may_begin_again = false;
    forget_all();
    explore_as_asked();
  }
  found_.result.orders_barriers = run_.orders_barriers;
  found_.result.up_to_symmetry = run_.up_to_symmetry;
  found_.result.explores_undone_rounds = !run_.skips_undone_rounds;
  found_.result.keeps_rounds = run_.keeps_rounds;
  found_.result.seconds = seconds();
}

/// Whether the search has met what only another one can judge, which has begun then. Each reason comes once at most.
bool campaign::begins_again() {
  if (takes_larger_variable()) return true;
  if (found_.knows_more) {
    forget_all();
    return true;
  }
  // The way to an execution that is shown is one of the search that has told it.
  if (shown_) return false;
  const technique misled = may_miss_race() ? technique::waiting_rounds : found_.misled;
  if (misled == technique::none) return false;
  begin_again_without(misled);
  return true;
}

/// Whether all was explored without a failure, but for a race with what a thread has done in a round in which it waits.
/// Where several share the search, only who shares it out knows.
bool campaign::may_miss_race() const {
  const search_result& r = found_.result;
  return options_.keeps_rounds_if_late && !options_.load_buffering && source_ == nullptr &&
         r.how == coverage::exhaustive && r.what == failure::none && driver_.may_miss_race();
}

/// Whether the search has met a variable that is larger than it seemed. Ways through the tree are others then.
bool campaign::takes_larger_variable() {
  if (!found_.sizes_differ) return false;
  if (!is_first_) larger_at_.push_back(pending_.way_here());
  driver_.take_larger_variable();
  forget_all();
  return true;
}

/// Begins again with the larger variable that the execution at the end of that way shows. False: it shows none.
bool campaign::finds_larger_variable(const way& at) {
  forget_all();
  bool is_there = follow(at);
  while (is_first_ && takes_larger_variable()) is_there = follow(at);
  if (is_there) explore_next();
  return takes_larger_variable();
}

void campaign::begin_again_without(technique t) {
  driver_.forget_larger_variables();
  larger_at_.clear();
  is_first_ = true;
  forget_all();
  if (t == technique::unordered_rounds) {
    run_.orders_barriers = true;
  } else if (t == technique::symmetry) {
    run_.up_to_symmetry = false;
    found_.result.told_apart = true;
  } else if (t == technique::waiting_rounds) {
    run_.keeps_rounds = true;
  } else if (t == technique::undone_rounds) {
    run_.skips_undone_rounds = run_.judges_undone_rounds = false;
  } else {
    run_.waits_in_place = run_.takes_shortcuts = run_.skips_undone_rounds = run_.judges_undone_rounds = false;
    found_.result.began_again = true;
  }
}

/// Whether the execution that is to be shown came before it was clear that the search does not begin again.
bool campaign::has_passed_by() const noexcept {
  const std::uint64_t last = options_.show_execution + (found_.result.what == failure::none ? 0 : 1);
  return run_.may_begin_again && found_.result.executions >= last;
}

/// As if nothing had been explored.
void campaign::forget_all() {
  const bool waits_block = found_.result.began_again;
  const bool told_apart = found_.result.told_apart;
  std::string why = std::move(found_.result.told_apart_by);
  pending_.clear();
  met_.forget();
  run_.known_shortcuts.forget();
  run_.has_left_out_round = run_.is_used_beside_rounds = false;
  found_ = {};
  found_.result.how = what_is_sought();
  found_.result.began_again = waits_block;
  found_.result.told_apart = told_apart;
  found_.result.told_apart_by = std::move(why);
  driver_.begin_search_again();
}

coverage campaign::what_is_sought() const noexcept {
  return options_.bound == exact_options::no_bound ? coverage::exhaustive : coverage::bounded;
}

void campaign::explore_as_asked() {
  found_.result.how = what_is_sought();
  if (shown_) {
    explore_shown();
  } else if (source_ != nullptr) {
    explore_parts();
  } else if (options_.walks != 0) {
    walk_at_random();
  } else {
    begin_at_root();
    explore(options_.jobs > 1 ? graphs_before_team : ~std::uint64_t{0});
    if (!found_.over && !pending_.empty()) explore_together();
  }
}

void campaign::begin_at_root() {
  auto root = std::make_unique<graph>();
  root->finds_variables = driver_.finds_variables();
  pending_.begin_with({std::move(root), nullptr});
}

void campaign::explore(std::uint64_t graphs) {
  while (!found_.over && !pending_.empty()) {
    explore_next();
    if (team_ != nullptr) {
      confer();
    } else if (visited() >= graphs) {
      return;
    }
  }
}

double campaign::explore_next() {
  const std::uint64_t before = visited();
  run_.g = pending_.take();
  executor_.execute();
  while (run_.wanted_shortcut.thread != constructing && !found_.over) {
    follow_shortcut();
    executor_.execute();  // from where it was
  }
  is_first_ = is_first_ && found_.sizes_differ;
  const double rest = pending_.end_of(std::move(run_.g));
  if (!found_.over && visited() != before) check_limits();
  return rest;
}

namespace {

/// How many events of `thread` do not depend on what the shortcut leaves out.
[[nodiscard]] unsigned before_shortcut(const graph& g, const shortcut& s, unsigned thread) {
  if (thread == s.thread) return s.begin;
  unsigned end = g.size(thread);
  while (end != 0 && g.at(thread, end - 1).porf[s.thread] > s.begin) --end;
  return end;
}

}  // namespace

/// Notes where the shortcut leads that the running execution asks for.
void campaign::follow_shortcut() {
  const shortcut asked = std::exchange(run_.wanted_shortcut, {});
  std::unique_ptr<graph> here = std::move(run_.g);
  run_.g = pending_.copy(*here);
  clock keep = clock{};
  for (unsigned t = constructing; t != thread_slots; t = here->next_thread(t)) {
    keep[t] = static_cast<std::uint16_t>(before_shortcut(*here, asked, t));
  }
  run_.g->restrict_to(keep);
  const shortcuts::state to = executor_.follow(asked);
  pending_.recycle(std::move(run_.g));
  run_.g = std::move(here);
  run_.known_shortcuts.note(asked.key, to);
}

// --- a part of a search ----------------------------------------------------------------------------------------------

/// Makes the graph at the end of that way the only pending one. Returns false if there is none. The executions on the
/// way are not counted: the process that met them in the order of the search has counted them.
bool campaign::follow(const way& to) {
  const std::uint64_t executions = found_.result.executions;
  const std::uint64_t blocked = found_.result.blocked;
  const std::uint64_t spurious = found_.result.spurious;
  const std::uint64_t cut_off = found_.result.cut_off;
  const double arranged = found_.result.arranged;
  const double weight_done = pending_.weight_done();
  begin_at_root();
  for (const std::uint32_t taken : to) {
    explore_next();
    if (found_.over || taken >= pending_.size()) return false;
    pending_.keep_only(taken);
  }
  found_.result.executions = executions;
  found_.result.blocked = blocked;
  found_.result.spurious = spurious;
  found_.result.cut_off = cut_off;
  found_.result.arranged = arranged;
  pending_.set_weight_done(weight_done);
  return true;
}

void campaign::explore_parts() {
  for (;;) {
    bool is_there = begins_again_as_told();
    if (is_there) {
      const std::optional<way> next = source_->next();
      if (source_->begins_again_without() != technique::none) continue;
      if (!next) return;
      is_there = explore_part(*next);
      while (is_first_ && takes_larger_variable()) is_there = explore_part(*next);
    }
    if (found_.sizes_differ) found_.misled = technique::small_variables;
    if (found_.misled != technique::none) {
      source_->ask_all_to_begin_again_without(found_.misled, pending_.way_here());
    } else if (!is_there) {
      return found_.cut_short(
          "a part of the search is not there: the program is not deterministic, or not the same everywhere");
    } else if (found_.over) {
      return;
    }
  }
}

/// Returns false if it is told of an execution that is not there.
bool campaign::begins_again_as_told() {
  const technique t = source_->begins_again_without();
  if (t == technique::small_variables) return finds_larger_variable(source_->shown_at());
  if (t != technique::none) begin_again_without(t);
  return true;
}

/// Returns false if there is no such part.
bool campaign::explore_part(const way& to) {
  if (!follow(to)) return false;
  while (!found_.over && !pending_.empty() && source_->begins_again_without() == technique::none) {
    explore_next();
    if (found_.over) break;
    found_.over = source_->stopped();
    for (unsigned wanted = source_->wanted(); wanted != 0 && pending_.size() > 1; --wanted) {
      source_->give(pending_.way_to_oldest());
      pending_.drop_oldest();
    }
  }
  return true;
}

void campaign::explore_shown() {
  constexpr const char* no_such_way = "there is no execution at the end of this way";
  while (larger_at_.size() < shown_->larger_at.size()) {
    if (!finds_larger_variable(shown_->larger_at[larger_at_.size()])) return found_.cut_short(no_such_way);
  }
  if (!follow(shown_->last)) return found_.cut_short(no_such_way);
  judge_.show_next();
  explore_next();
  found_.cut_short("the execution at the end of this way waits for ever, or sees old values for ever");
}

// --- random walks ----------------------------------------------------------------------------------------------------

void campaign::walk_at_random() {
  random_numbers random(options_.seed);
  found_.result.how = coverage::sampled;
  mean estimates;
  while (found_.result.walks != options_.walks && !found_.over) {
    const double one = walk(random);
    if (found_.over) return;
    ++found_.result.walks;
    estimates.add(one);
    found_.result.estimated = estimates.value();
    found_.result.standard_error = estimates.standard_error();
  }
}

/// From layer to layer. Returns for how many executions those stand that were met: right on average.
double campaign::walk(random_numbers& random) {
  double result = 0;
  layer now;
  begin_at_root();
  now.add(pending_.set_aside_newest(), 1, random, pending_);
  while (!now.empty()) {
    layer after;
    while (!now.empty()) {
      auto [next, stands_for] = now.take();
      pending_.begin_with(std::move(next));
      const std::uint64_t complete = found_.result.executions;
      explore_next();
      if (found_.over) return result;
      if (found_.result.executions != complete) result += stands_for;
      while (!pending_.empty()) after.add(pending_.set_aside_newest(), stands_for, random, pending_);
    }
    now = std::move(after);
  }
  return result;
}

// --- limits, and how large it is -------------------------------------------------------------------------------------

void campaign::check_limits() {
  constexpr std::uint64_t look_at_clock_every = 1 << 14;
  if (found_.result.executions >= options_.max_executions && !pending_.empty()) {
    found_.use_up_budget("max_executions = " + std::to_string(options_.max_executions));
  }
  if (options_.time_limit_seconds <= 0 && options_.progress == nullptr) return;
  events_unclocked_ += run_.executed.size();
  if (events_unclocked_ < look_at_clock_every) return;
  events_unclocked_ = 0;
  const double now = seconds();
  if (options_.time_limit_seconds > 0 && now > options_.time_limit_seconds) found_.use_up_budget("time_limit_seconds");
  if (now >= next_progress_) report_progress(now);
}

double campaign::seconds() const { return run_.seconds_of_search(); }

void campaign::report_progress(double seconds) {
  if (options_.progress == nullptr || !tells_progress_) return;
  next_progress_ = seconds + options_.progress_seconds;
  search_progress now{found_.result.executions, 0, seconds};
  double done = pending_.weight_done();
  if (team_ != nullptr) {
    now.executions = team_->executions();
    done = team_->weight_done();
  }
  now.estimated = options_.walks != 0 ? found_.result.estimated
                  : done > 0          ? static_cast<double>(now.executions) / done
                                      : 0;
  options_.progress(now);
}

}  // namespace runq::model::exact
