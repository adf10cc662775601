// SPDX-License-Identifier: MIT
#include "exact_barrier.hpp"

namespace runq::model::exact {

namespace {

/// Calls `function` with each arrival at the barrier.
template <class Function>
void for_each_arrival(const graph& g, event_id barrier, Function&& function) {
  for (unsigned t = constructing + 1; t != g.end_of_threads(); ++t) {
    for (unsigned i = 0; i != g.size(t); ++i) {
      const node& n = g.at(t, i);
      if (n.kind != node_kind::arrive || n.variable != barrier) continue;
      function(event_id{static_cast<std::uint16_t>(t), static_cast<std::uint16_t>(i)}, n);
    }
  }
}

}  // namespace

barrier_round round_at(const graph& g, event_id barrier, std::uint32_t number) noexcept {
  barrier_round round;
  for_each_arrival(g, barrier, [&](event_id e, const node& n) {
    if (n.place != number) return;
    round.arrivals[round.count++] = e;
    round.needed = static_cast<unsigned>(n.value);
  });
  return round;
}

/// By how many have arrived before. The order in which arrivals are added to a graph is the search's business, so it
/// must not matter: whatever has arrived in the round before has to be known.
bool join_round(graph& g, event_id arrival) noexcept {
  node& own = g.at(arrival);
  std::uint32_t before = 0;
  bool is_clear = true;
  for_each_arrival(g, own.variable, [&](event_id e, const node& n) {
    if (e == arrival) return;
    ++before;
    if (n.value != own.value) is_clear = false;
  });
  own.place = before / static_cast<std::uint32_t>(own.value);
  for_each_arrival(g, own.variable, [&](event_id e, const node& n) {
    if (e != arrival && n.place != own.place && !own.porf.covers(e)) is_clear = false;
  });
  return is_clear;
}

unsigned serial_choice::number_of(unsigned thread) const noexcept {
  unsigned i = 0;
  while (i != count && threads[i] != thread) ++i;
  return i;
}

serial_choice choice_in(const barrier_round& round, const graph& g) noexcept {
  serial_choice choice;
  for (unsigned i = 0; i != round.count; ++i) {
    if (g.at(round.arrivals[i]).looks) choice.threads[choice.count++] = round.arrivals[i].thread;
  }
  choice.alternatives = choice.count + (choice.count == round.count ? 0 : 1);
  if (choice.count == 0 || choice.alternatives == 1) return choice;
  for (unsigned i = 0; i != round.count; ++i) {
    if (round.arrivals[i].thread != choice.threads[0]) continue;
    choice.made = {round.arrivals[i].thread, static_cast<std::uint16_t>(round.arrivals[i].index + 2)};
  }
  return choice;
}

bool may_depart(const graph& g, event_id arrival) noexcept {
  if (!round_at(g, g.at(arrival).variable, g.at(arrival).place).is_complete()) return false;
  bool all_there = true;
  for_each_before_departure(g, arrival, [&](event_id e) { all_there = all_there && g.contains(e); });
  return all_there;
}

/// A choice is known as what is read with relaxed order: it orders nothing else.
void leave_round(graph& g, event_id departure) noexcept {
  node& own = g.at(departure);
  own.place = g.at(own.like).place;
  for_each_before_departure(g, own.like, [&](event_id e) {
    const node& before = g.at(e);
    if (before.kind == node_kind::arrive) own.hb.join(before.hb);
    own.porf.join(before.porf);
  });
}

}  // namespace runq::model::exact
