// SPDX-License-Identifier: MIT
// The execution that runs now: its graph, its threads with their stacks, its heap. The executor moves it, the explorer
// extends its graph, and the judge looks at it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "exact_fiber.hpp"
#include "exact_graph.hpp"
#include "exact_heap.hpp"
#include "exact_shortcut.hpp"
#include "exact_undone.hpp"

namespace runq::model::exact {

enum class status : std::uint8_t {
  unborn,    ///< not started yet
  ready,     ///< can run, or waits until the source of its next read has been replayed
  frontier,  ///< everything that the graph has of it is replayed; its next event would be new
  finished,
  joining,    ///< waits for the end of another thread
  arrived,    ///< at a barrier: waits for others
  waiting,    ///< in an await or a lock: only another graph lets it go on
  in_place,   ///< in an await or a lock: it tries again when something new is written (exact_options::waits_in_place)
  discarded,  ///< in assume(false)
  frozen,     ///< exact_options::freeze_thread, or let_stop()
  failed      ///< in a replay that may still turn out to be impossible (load buffering)
};

struct thread_state {
  fiber stack;
  status now = status::ready;
  unsigned position = 0;  ///< events replayed or added
  std::uint64_t operations = 0;
  unsigned joined = 0;        ///< joining: the other thread
  unsigned await_begin = 0;   ///< position at which the last evaluation of an awaited condition began
  site where{};               ///< of the operation in which it waits
  event_id awaited = nobody;  ///< in_place: the variable that it has read
  step::depart departure{};   ///< arrived: how it waits to depart
  std::vector<site> sites;    ///< of each event

  /// Of the next event.
  void note_executed(site of) {
    if (sites.size() <= position) sites.resize(position + 1);
    sites[position++] = of;
  }
};

/// By what a search explores fewer executions. It may meet what only a search without it can judge: then it begins
/// again without it (README.md).
enum class technique : std::uint8_t {
  none,
  waits_in_place,    ///< exact_options::waits_in_place, and skips_retries with it
  unordered_rounds,  ///< of a barrier: see exact_options::orders_barriers
  symmetry,          ///< exact_options::up_to_symmetry
  undone_rounds,     ///< exact_options::skips_undone_rounds
  waiting_rounds,    ///< that are left out: see exact_options::keeps_rounds
  small_variables    ///< a variable has the size of its first access, and is in truth a part of a larger one
};

/// How far threads that begin alike have been joined. Only who has joined none or all of them may do anything else.
struct joined_alike {
  std::array<unsigned, thread_slots> by{};     ///< by the first of them: who has joined some
  std::array<unsigned, thread_slots> count{};  ///< likewise: how many
};

struct execution {
  std::unique_ptr<graph> g;
  std::array<thread_state, thread_slots> threads;  ///< construction and finish() share the stack of `constructing`
  unsigned current = constructing;
  bool extending = false;  ///< the threads have been replayed: the running one may add events
  bool complete = false;   ///< the scenario has been finished and destroyed
  bool waits_in_place = false;
  bool orders_barriers = false;
  bool up_to_symmetry = false;
  bool keeps_rounds = false;
  joined_alike joined;
  unsigned may_stop = 0;               ///< the thread that may stop for ever; 0: none
  bool takes_shortcuts = false;        ///< exact_options::skips_retries, where it applies
  bool has_left_out_round = false;     ///< in this search
  bool is_used_beside_rounds = false;  ///< in this search: see program_operations::require_no_round_left_out()
  bool skips_undone_rounds = false;    ///< exact_options::skips_undone_rounds, where it applies
  bool judges_undone_rounds = false;   ///< whether nothing is lost by that; otherwise another search has said so
  differences_left_out differences;
  shortcuts known_shortcuts;
  shortcut wanted_shortcut;            ///< the running thread has to know where it leads, before all goes on
  const shortcut* followed = nullptr;  ///< this execution only follows it
  shortcuts::state followed_to;        ///< where it leads
  bool may_begin_again = false;        ///< the number of an execution that is to be shown may turn out to be another
  std::chrono::steady_clock::time_point search_began;
  std::vector<event_id> executed;
  exact::heap heap;

  void begin() noexcept;
  [[nodiscard]] double seconds_of_search() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - search_began).count();
  }
  [[nodiscard]] thread_state& running() noexcept { return threads[current]; }
  [[nodiscard]] const thread_state& running() const noexcept { return threads[current]; }
  /// The running thread as scenarios count; -1: construction, or finish().
  [[nodiscard]] int thread_index() const noexcept {
    return current == constructing || current == finishing ? -1 : static_cast<int>(current) - 1;
  }
  /// The next event of the running thread.
  [[nodiscard]] event_id next_event() const noexcept {
    return {static_cast<std::uint16_t>(current), static_cast<std::uint16_t>(threads[current].position)};
  }
  [[nodiscard]] site site_of(event_id e) const noexcept { return threads[e.thread].sites[e.index]; }
  /// The next event of the running thread has been replayed or added.
  void note_executed(site where) {
    executed.push_back(next_event());
    threads[current].note_executed(where);
  }
  /// The last event of the running thread, a read in a wait, has been in vain.
  void take_back_wait();
  /// With a delayed read, as long as it is not clear that the threads can follow the graph.
  [[nodiscard]] bool in_doubt() const noexcept { return g->delayed != nobody && !extending; }
  [[nodiscard]] bool one_has_stopped() const noexcept {
    return may_stop != 0 && threads[may_stop].now == status::frozen;
  }
  /// The running thread is on the shortcut that this execution follows.
  [[nodiscard]] bool on_shortcut() const noexcept {
    return followed != nullptr && extending && current == followed->thread;
  }
  /// The running thread does not go on in this execution.
  [[noreturn]] void abandon();
  [[noreturn]] void stop_running_thread(status why);
};

}  // namespace runq::model::exact
