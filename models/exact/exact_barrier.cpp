// SPDX-License-Identifier: MIT
#include "exact_barrier.hpp"

namespace runq::model::exact {

barrier_round round_at(const graph& g, event_id barrier, std::uint32_t number) noexcept {
  barrier_round round;
  unsigned left = 0;
  for_each_arrival(g, barrier, [&](event_id, const node& n) {
    round.needed = static_cast<unsigned>(n.value);
    if (n.place == number) round.arrived += n.arriving();
    if (n.place < number) left += n.leaving();
  });
  round.needed -= left;
  return round;
}

/// By how many have arrived before. The order in which arrivals are added to a graph is the search's business, so it
/// must not matter: whatever has arrived in the rounds before has to be known.
bool join_round(graph& g, event_id arrival) noexcept {
  node& own = g.at(arrival);
  constexpr std::uint32_t in_none = ~std::uint32_t{0};
  own.place = in_none;
  std::uint32_t last = 0;
  bool is_clear = true;
  for_each_arrival(g, own.variable, [&](event_id, const node& n) {
    if (n.place != in_none && n.place > last) last = n.place;
    if (n.value != own.value) is_clear = false;
  });
  own.place = round_at(g, own.variable, last).is_complete() ? last + 1 : last;
  for_each_arrival(g, own.variable, [&](event_id e, const node& n) {
    if (n.place != own.place && !own.porf.covers(e)) is_clear = false;
  });
  const barrier_round joined = round_at(g, own.variable, own.place);
  return is_clear && joined.arrived <= joined.needed;
}

unsigned serial_choice::number_of(unsigned thread) const noexcept {
  unsigned i = 0;
  while (i != count && threads[i] != thread) ++i;
  return i;
}

serial_choice choice_in(const graph& g, event_id barrier, std::uint32_t round) noexcept {
  serial_choice choice;
  unsigned arrivals = 0;
  event_id first = nobody;
  for_each_arrival(g, barrier, [&](event_id e, const node& n) {
    if (n.place != round) return;
    ++arrivals;
    if (!n.looks) return;
    if (choice.count == 0) first = e;
    choice.threads[choice.count++] = e.thread;
  });
  choice.alternatives = choice.count + (choice.count == arrivals ? 0 : 1);
  if (choice.count == 0 || choice.alternatives == 1) return choice;
  choice.made = {first.thread, static_cast<std::uint16_t>(first.index + 2)};
  return choice;
}

bool may_depart(const graph& g, const step::depart& how) noexcept {
  if (!round_at(g, how.of, how.round).is_complete()) return false;
  bool all_there = true;
  for_each_before_departure(g, how, [&](event_id e) { all_there = all_there && g.contains(e); });
  return all_there;
}

/// A choice is known as what is read with relaxed order: it orders nothing else.
void leave_round(graph& g, event_id departure) noexcept {
  node& own = g.at(departure);
  own.place = own.departure().round;
  for_each_before_departure(g, own.departure(), [&](event_id e) {
    const node& before = g.at(e);
    if (before.kind == node_kind::arrive) own.hb.join(before.hb);
    own.porf.join(before.porf);
  });
}

/// Nobody has arrived in the next round because of the departure.
bool has_late_departure(const graph& g, event_id barrier) noexcept {
  bool found = false;
  const auto is_late = [&](event_id departure, const node& n) {
    if (!n.departure().by_token || !round_at(g, barrier, n.place + 1).is_complete()) return false;
    bool is_known = false;
    for_each_arrival(g, barrier, [&](event_id, const node& a) {
      is_known = is_known || (a.place == n.place + 1 && a.porf.covers(departure));
    });
    return !is_known;
  };
  for_each_at_barrier(g, barrier, node_kind::depart,
                      [&](event_id e, const node& n) { found = found || is_late(e, n); });
  return found;
}

}  // namespace runq::model::exact
