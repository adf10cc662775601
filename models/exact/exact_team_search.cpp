// SPDX-License-Identifier: MIT
// The search of one member of a team.
#include <algorithm>
#include <cstring>

#include <unistd.h>

#include "exact_campaign.hpp"
#include "exact_team.hpp"

namespace runq::model::exact {

void campaign::explore_together() {
  team t(std::min(options_.jobs, max_jobs), options_.check_duplicates || options_.load_buffering);
  if (!t.exists()) return explore();
  team_ = &t;
  met_.let_remember(&t);
  if (t.fork_members() != 0) {
    work_as_other();
    _exit(0);
  }
  work(true);
  t.wait_for_members();
  team_ = nullptr;
  met_.let_remember(nullptr);
  add_up(t);
}

void campaign::work_as_other() {
  pending_.clear();
  found_.result = {};
  found_.result.how = coverage::exhaustive;
  found_.statistics = {};
  tells_progress_ = false;
  work(false);
  team::summary& s = team_->own();
  s.failed = found_.result.what != failure::none;
  s.executions = found_.result.executions;
  s.blocked = found_.result.blocked;
  s.spurious = found_.result.spurious;
  s.cut_off = found_.result.cut_off;
  s.statistics = found_.statistics;
  std::strncpy(s.message.data(), found_.result.message.c_str(), s.message.size() - 1);
  s.notes = notes();
  s.how = found_.stopped_by_team || !found_.over ? team::ending::no_more_work
          : found_.out_of_budget                 ? team::ending::out_of_budget
                                                 : team::ending::decided;
}

void campaign::work(bool has_work) {
  for (;;) {
    if (has_work) explore();
    if (found_.over) break;
    std::unique_ptr<graph> next = pending_.new_graph();
    if (!team_->take(*next, has_work)) break;
    has_work = true;
    pending_.begin_with({std::move(next), nullptr});
  }
  if (found_.over) team_->stop();
}

/// After each graph.
void campaign::confer() {
  constexpr std::uint64_t add_up_every = 1024;
  if (found_.over) return;
  if (team_->stopped()) {
    found_.over = found_.stopped_by_team = true;
    return;
  }
  team_->publish(found_.result.executions, pending_.weight_done());
  if (visited() % add_up_every == 0 && team_->executions() >= options_.max_executions) {
    found_.use_up_budget("max_executions = " + std::to_string(options_.max_executions));
    return;
  }
  if (pending_.size() < 2 || !team_->wants_graphs() || !team_->offer(pending_.oldest())) return;
  pending_.drop_oldest();
}

/// Adds up what the team has found. If the search did not come to its end, one process makes it again and reports that
/// result: which failure a team meets first is a matter of chance.
void campaign::add_up(team& t) {
  bool failed = found_.result.what != failure::none || t.lost_a_member();
  bool decided = failed || (found_.over && !found_.stopped_by_team && !found_.out_of_budget);
  std::string budget = found_.out_of_budget ? found_.result.message : "";
  for (const team::summary* s : t.others()) {
    failed = failed || s->failed;
    decided = decided || s->failed || s->how == team::ending::decided;
    if (s->how == team::ending::out_of_budget) budget = s->message.data();
    found_.result.executions += s->executions;
    found_.result.blocked += s->blocked;
    found_.result.spurious += s->spurious;
    found_.result.cut_off += s->cut_off;
    found_.statistics.duplicates += s->statistics.duplicates;
    found_.statistics.froze = found_.statistics.froze || s->statistics.froze;
    if (!add_notes(s->notes)) decided = true;
  }
  undecided_ = failed ? again::without_time_limit : decided ? again::as_before : again::no;
  if (decided || budget.empty()) return;
  found_.result.how = coverage::cut_short;
  found_.result.message = budget;
}

}  // namespace runq::model::exact
