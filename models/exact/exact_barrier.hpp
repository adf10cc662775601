// SPDX-License-Identifier: MIT
// Barriers. A thread that comes to one arrives, and departs when as many have arrived as are needed: a round. Arrivals
// of one round have no order, so all orders of them are one execution; each of them happens before each departure.
//
// Which arrivals are a round has to be clear from the graph: all of a round are before each of the next one in
// (po ∪ rf)*. Where more threads come than are needed, this may fail, and the search says so (docs/checker.md).
#pragma once

#include <array>

#include "exact_graph.hpp"

namespace runq::model::exact {

/// The arrivals at a barrier in one of its rounds, in the order of the threads' numbers.
struct barrier_round {
  std::array<event_id, thread_slots> arrivals;
  unsigned count = 0;
  unsigned needed = 0;

  [[nodiscard]] bool is_complete() const noexcept { return count != 0 && count == needed; }
};
[[nodiscard]] barrier_round round_at(const graph& g, event_id barrier, std::uint32_t number) noexcept;

/// Gives `arrival`, which was just added, its round. Returns false if it is not clear which one that is.
[[nodiscard]] bool join_round(graph& g, event_id arrival) noexcept;

/// One thread of a round is told apart: PTHREAD_BARRIER_SERIAL_THREAD. If threads look at that, the first of them
/// chooses, with the event after its departure; the choice is the number of the thread among those that look, and of
/// nobody if that is as large as their number.
struct serial_choice {
  std::array<std::uint16_t, thread_slots> threads;  ///< that look
  unsigned count = 0;
  unsigned alternatives = 0;
  event_id made;  ///< nobody: nobody looks, or there is nothing to choose

  /// The number of `thread` among those that look; `count`: it does not.
  [[nodiscard]] unsigned number_of(unsigned thread) const noexcept;
};
[[nodiscard]] serial_choice choice_in(const barrier_round& round, const graph& g) noexcept;

/// Whether the thread of `arrival` can depart: the round is complete, and what it has to know was chosen.
[[nodiscard]] bool may_depart(const graph& g, event_id arrival) noexcept;
/// Gives `departure`, which was just added and may depart, what it knows.
void leave_round(graph& g, event_id departure) noexcept;
/// Calls `function` with each event that a departure after `arrival` comes after.
template <class Function>
void for_each_before_departure(const graph& g, event_id arrival, Function&& function) {
  const barrier_round round = round_at(g, g.at(arrival).variable, g.at(arrival).place);
  for (unsigned i = 0; i != round.count; ++i) function(round.arrivals[i]);
  const serial_choice choice = choice_in(round, g);
  const unsigned own = choice.number_of(arrival.thread);
  if (choice.made != nobody && own != 0 && own != choice.count) function(choice.made);
}

}  // namespace runq::model::exact
