// SPDX-License-Identifier: MIT
// Barriers. A thread that comes to one arrives, and departs when as many have arrived as are needed: a round. Arrivals
// of one round have no order, so all orders of them are one execution; each of them happens before each departure.
//
// Which arrivals are a round has to be clear from the graph: all of a round are before each of the next one in
// (po ∪ rf)*. Where more threads come than are needed, this may fail, and the search says so (docs/checker.md).
#pragma once

#include <array>
#include <utility>

#include "exact_graph.hpp"

namespace runq::model::exact {

/// Calls `function` with each of the arrivals at the barrier, or of the departures from it.
template <class Function>
void for_each_at_barrier(const graph& g, event_id barrier, node_kind kind, Function&& function) {
  for (unsigned t = constructing + 1; t != g.end_of_threads(); ++t) {
    for (unsigned i = 0; i != g.size(t); ++i) {
      const node& n = g.at(t, i);
      if (n.kind != kind || n.variable != barrier) continue;
      function(event_id{static_cast<std::uint16_t>(t), static_cast<std::uint16_t>(i)}, n);
    }
  }
}
template <class Function>
void for_each_arrival(const graph& g, event_id barrier, Function&& function) {
  for_each_at_barrier(g, barrier, node_kind::arrive, std::forward<Function>(function));
}

/// How many threads have arrived in a round, and how many have to: of those that it began for, as many fewer as have
/// left in the rounds before.
struct barrier_round {
  unsigned arrived = 0;
  unsigned needed = 0;

  [[nodiscard]] bool is_complete() const noexcept { return arrived != 0 && arrived == needed; }
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
[[nodiscard]] serial_choice choice_in(const graph& g, event_id barrier, std::uint32_t round) noexcept;

/// Whether a thread can depart: the round is complete, and what it has to know was chosen.
[[nodiscard]] bool may_depart(const graph& g, const step::depart& how) noexcept;
/// Gives `departure`, which was just added and may depart, what it knows.
void leave_round(graph& g, event_id departure) noexcept;
/// Whether a thread departs by the token of a round that may be over, and the next one, too, when it begins to.
[[nodiscard]] bool has_late_departure(const graph& g, event_id barrier) noexcept;
/// Calls `function` with each event that such a departure comes after.
template <class Function>
void for_each_before_departure(const graph& g, const step::depart& how, Function&& function) {
  for_each_arrival(g, how.of, [&](event_id e, const node& n) {
    if (n.place == how.round) function(e);
  });
  if (how.arrival == nobody) return;
  const serial_choice choice = choice_in(g, how.of, how.round);
  const unsigned own = choice.number_of(how.arrival.thread);
  if (choice.made != nobody && own != 0 && own != choice.count) function(choice.made);
}

}  // namespace runq::model::exact
