// SPDX-License-Identifier: MIT
#include "undone_rounds.hpp"

#include <algorithm>

#include "exact_symmetry.hpp"
#include "register_use.hpp"

namespace runq::model::compiled {

using exact::event_id;
using exact::node;
using exact::node_kind;

bool undone_rounds::is_undone(unsigned begin, unsigned end, exact::undone_round& round) {
  const exact::graph& graph = now_.search->current_graph();
  round = exact::look_at_round(graph, now_.search->running(), begin, end);
  return round.is_undone && std::all_of(round.disturbed.begin(), round.disturbed.end(), [&](const auto& d) {
           if (!may_look_at_result(moment_of(d.read).code)) return true;
           const exact::shortcuts::state seen = state_after(d.read, graph.at(d.read).value, true);
           return seen.has_value() && seen == state_after(d.read, d.without, true);
         });
}

thread_state::moment undone_rounds::moment_of(event_id e) const {
  const std::vector<thread_state::moment>& moments = now_.threads[e.thread].moments;
  return e.index < moments.size() ? moments[e.index] : thread_state::moment{};
}

/// The state to which the thread of `read` would come after it, had it read that. Its state before it decides that,
/// and, with `may_read`, what it then reads plainly.
exact::shortcuts::state undone_rounds::state_after(event_id read, std::uint64_t value, bool may_read) {
  if (moment_of(read).state == 0) return {};
  return now_.search->state_after(read, value, mixed(moment_of(read).state, value), may_read);
}

void undone_rounds::leave_out(const exact::undone_round& round) {
  if (!now_.search->judges_undone_rounds()) return;
  exact::differences_left_out& known = now_.search->differences();
  bool is_new = false;
  for (const exact::passing_difference& d : round.differences) is_new = known.add(d) || is_new;
  if (!is_new) return;
  looked_at_.clear();
  now_.search->begin_again_with_differences();
}

void undone_rounds::look_at_last_operation() {
  if (now_.is_alone() || !now_.search->judges_undone_rounds()) return;
  const exact::graph& graph = now_.search->current_graph();
  const event_id last{static_cast<std::uint16_t>(now_.search->running()),
                      static_cast<std::uint16_t>(now_.search->position() - 1)};
  const node& n = graph.at(last);
  if (n.kind == node_kind::write && n.exclusive && exact::adds(graph.at(last.thread, last.index - 1U))) return;
  if (n.kind == node_kind::read && exact::only_reads(n) && n.accessed.is_whole()) {
    if (now_.search->differences().has(n.variable)) look_at_load(last);
    return;
  }
  now_.search->note_other_use(n.variable.index);
}

/// The threads that may have left out a round at the time of the load. One that has not been started yet may, too.
std::vector<unsigned> undone_rounds::threads_beside(event_id load) const {
  const exact::graph& graph = now_.search->current_graph();
  std::vector<unsigned> beside;
  for (unsigned t = 1; t != exact::finishing; ++t) {
    const bool is_over = graph.has_ended(t) && graph.at(load).hb.covers(graph.last_of(t));
    if (t != load.thread && !is_over) beside.push_back(t);
  }
  return beside;
}

/// Whether what the one thread does in an execution the other one does, too, or would, were they to change places.
bool undone_rounds::may_have_round_of(unsigned thread, unsigned other) const {
  return thread == other ||
         (now_.search->is_up_to_symmetry() && exact::begin_alike(now_.search->current_graph(), thread, other));
}

void undone_rounds::look_at_load(event_id load) {
  const std::uint64_t before = moment_of(load).state;
  const std::vector<unsigned> beside = threads_beside(load);
  const node& n = now_.search->current_graph().at(load);
  std::uint64_t key = mixed(mixed(before, n.value), n.variable.index);  // which it is may be forgotten
  for (const unsigned t : beside) key = mixed(key, t);
  if (looked_at_.contains(key)) return;
  require_same(load, beside);
  looked_at_.insert(key);
}

/// With all differences that the variable may have had, alone and together: the thread goes on as it does without
/// them, or has read in vain. What makes it go on must not be one of them.
void undone_rounds::require_same(event_id load, const std::vector<unsigned>& beside) {
  struct sum {
    std::uint64_t by;
    std::vector<std::size_t> less;  ///< those with one difference less
    bool is_in_vain = false;
  };
  const node n = now_.search->current_graph().at(load);
  const std::uint64_t mask = now_.search->current_graph().at(n.variable).mask();
  std::vector<sum> sums{{0, {}}};
  constexpr std::size_t most = 256;
  for (const unsigned t : beside) {
    const std::size_t without = sums.size();
    for (const exact::passing_difference& d : now_.search->differences().all()) {
      if (!may_have_round_of(t, d.thread) || d.variable != n.variable) continue;
      const std::size_t first = sums.size();
      for (std::size_t i = 0; i != without; ++i) {
        std::vector<std::size_t> less{i};
        for (const std::size_t other : sums[i].less) less.push_back(first + other);
        sums.push_back({(sums[i].by + d.by) & mask, std::move(less)});
      }
    }
    if (sums.size() > most) now_.search->give_up_undone_rounds();
  }
  exact::shortcuts::state goes_on;
  for (sum& s : sums) {
    const exact::shortcuts::state then = state_after(load, (n.value + s.by) & mask, false);
    if (!then || *then == exact::shortcuts::depends_on_memory) now_.search->give_up_undone_rounds();
    s.is_in_vain = *then == moment_of(load).state;
    if (s.is_in_vain) continue;
    const bool is_same = !goes_on || goes_on == then;
    const bool needs_it = std::any_of(s.less.begin(), s.less.end(), [&](std::size_t i) { return sums[i].is_in_vain; });
    if (!is_same || needs_it) now_.search->give_up_undone_rounds();
    goes_on = then;
  }
}

}  // namespace runq::model::compiled
