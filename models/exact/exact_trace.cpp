// SPDX-License-Identifier: MIT
// The trace of an execution: its events in the order in which they were executed, which respects po and rf; or, where
// there is one, in an order in which they are an interleaving.
#include <algorithm>
#include <map>
#include <utility>

#include "exact_barrier.hpp"
#include "exact_judge.hpp"
#include "judged_calls.hpp"
#include "runtime.hpp"

namespace runq::model::exact {

namespace {

[[nodiscard]] std::uint32_t key(event_id e) { return std::uint32_t{e.thread} << 16 | e.index; }

/// Builds the trace event by event, and remembers how far the mo of each variable has come.
class tracer {
 public:
  explicit tracer(const graph& g) : g_(&g) {}

  void add(event_id e, int thread, site where) {
    const node& n = g_->at(e);
    if (n.kind == node_kind::write && n.exclusive) return;  // shown with the read before it
    event shown;
    shown.kind = n.shown;
    shown.thread = thread;
    shown.where = where;
    shown.order = n.applied_order();
    shown.value = n.accessed.get(n.value);
    shown.position = e.index;
    if (n.kind == node_kind::allocate) {
      shown.location = number_of(e);
    } else if (n.variable != nobody) {
      shown.location = number_of(n.variable);
    }
    if (n.variable != nobody && n.kind != node_kind::deallocate) shown.memory = memory_of(n.variable);
    shown.known = known_from(n.hb);
    if (n.kind == node_kind::write || n.kind == node_kind::init) shown.released = known_from(n.released);
    shown.constructs = n.kind == node_kind::init || n.kind == node_kind::cell_init;
    shown.place = place_of(n);
    if (n.kind == node_kind::read) describe_read(n, shown);
    if (n.kind == node_kind::arrive) shown.barrier = {n.arriving(), n.leaving()};
    if (n.kind == node_kind::depart) shown.barrier.round = n.departure().round;
    shown.accessed = n.accessed;
    const bool is_atomic = n.kind == node_kind::read || n.kind == node_kind::write || n.kind == node_kind::fence;
    shown.weakened = is_atomic && is_weakened(where, shown.kind == event_kind::cas_failure ? 1 : 0);
    const auto index = static_cast<std::uint32_t>(events_.size());
    index_[key(e)] = index;
    if (n.kind == node_kind::init || n.kind == node_kind::write) note_written(e);
    if (n.kind == node_kind::read && n.exclusive) {
      const event_id write{e.thread, static_cast<std::uint16_t>(e.index + 1)};
      if (g_->contains(write)) {
        shown.written = n.accessed.get(g_->at(write).value);
        if (n.overwrites) shown.value = std::exchange(shown.written, 0);
        shown.place = place_of(g_->at(write));
        shown.released = known_from(g_->at(write).released);
        index_[key(write)] = index;
        note_written(write);
      }
    }
    events_.push_back(shown);
    moments_.push_back({static_cast<int>(e.thread), e.index});
  }

  /// Load buffering: the source of a delayed read comes later.
  void add_source_of_delayed(event_id read) {
    const auto at = index_.find(key(read));
    if (at == index_.end()) return;
    const auto from = index_.find(key(g_->at(read).source));
    if (from != index_.end()) events_[at->second].reads_from = from->second;
  }

  [[nodiscard]] std::uint32_t index_of(event_id e) const {
    const auto at = index_.find(key(e));
    return at == index_.end() ? no_event : at->second;
  }
  [[nodiscard]] std::uint32_t number_of(event_id variable) {
    const auto next = static_cast<std::uint32_t>(locations_.size() + 1);
    return locations_.emplace(key(variable), next).first->second;
  }
  /// The variables of a program, by their numbers in the trace.
  [[nodiscard]] std::map<std::uint32_t, std::string> names(driver& of) const {
    std::map<std::uint32_t, std::string> named;
    for (const auto& [variable, number] : locations_) {
      if (variable >> 16 == constructing) named[number] = of.name_of_variable(variable & 0xffff);
    }
    return named;
  }
  /// The numbers that the program gives these variables.
  [[nodiscard]] std::map<std::uint32_t, std::uint32_t> indices() const {
    std::map<std::uint32_t, std::uint32_t> counted;
    for (const auto& [variable, number] : locations_) {
      if (variable >> 16 == constructing) counted[number] = variable & 0xffff;
    }
    return counted;
  }
  [[nodiscard]] const std::vector<event>& events() const { return events_; }
  /// For each event: its thread, and how many events of that thread come before it.
  [[nodiscard]] const std::vector<moment>& moments() const { return moments_; }
  [[nodiscard]] std::vector<event> take() { return std::move(events_); }

 private:
  /// The clock of the graph without finish(), which happens before nothing that a thread does.
  [[nodiscard]] known_events known_from(const clock& c) const {
    known_events known;
    for (unsigned thread = constructing; thread != g_->end_of_threads(); ++thread) known.push_back(c[thread]);
    return known;
  }

  [[nodiscard]] std::uint32_t memory_of(event_id variable) {
    const event_id memory = g_->contains(variable) ? g_->at(variable).memory : nobody;
    return memory == nobody ? 0 : number_of(memory);
  }

  /// no_event: it is no atomic write, or one that fails before it has a place in mo.
  [[nodiscard]] static std::uint32_t place_of(const node& n) {
    const bool has_place = n.kind == node_kind::init || (n.kind == node_kind::write && n.older != nobody);
    return has_place ? n.place : no_event;
  }

  void describe_read(const node& n, event& shown) {
    if (shown.kind == event_kind::cas_success && !n.exclusive) shown.kind = event_kind::cas_failure;
    shown.spurious = n.spurious;
    // A mutex is a variable that holds the number of its holder: the thread that took it has read 0.
    if (shown.kind == event_kind::lock) shown.value = n.exclusive ? 1 : 0;
    if (n.source == nobody) return;
    if (const auto from = index_.find(key(n.source)); from != index_.end()) shown.reads_from = from->second;
    const auto newest = newest_.find(key(n.variable));
    if (newest == newest_.end()) return;
    if (n.overwrites) return;
    shown.newest = n.accessed.get(g_->at(newest->second).value);
    shown.stale = g_->at(newest->second).place > g_->at(n.source).place;
  }

  void note_written(event_id e) {
    const auto [newest, first] = newest_.emplace(key(g_->at(e).variable), e);
    if (!first && g_->at(e).place > g_->at(newest->second).place) newest->second = e;
  }

  const graph* g_;
  std::vector<event> events_;
  std::vector<moment> moments_;
  std::map<std::uint32_t, std::uint32_t> locations_;  ///< variable or memory -> its number
  std::map<std::uint32_t, std::uint32_t> index_;      ///< event -> its index in the trace
  std::map<std::uint32_t, event_id> newest_;          ///< variable -> its newest write so far
};

/// Whether each read sees the last write before it.
[[nodiscard]] bool is_sequential(const std::vector<event>& trace) {
  std::map<std::uint32_t, std::uint32_t> last;  // location -> its last write
  for (std::uint32_t i = 0; i != trace.size(); ++i) {
    const event& e = trace[i];
    const auto before = last.find(e.location);
    if (reads(e) && e.reads_from != (before == last.end() ? no_event : before->second)) return false;
    if (writes(e)) last[e.location] = i;
  }
  return true;
}

/// The events of the threads in an order in which each read sees the last write before it, if there is one: then the
/// execution is sequentially consistent. Made from its end, with as few changes from thread to thread as come easily.
class sequential_order {
 public:
  sequential_order(const graph& g, const std::vector<event_id>& events)
      : events_(events), before_(events.size()), followers_(events.size(), 0) {
    for (std::uint32_t i = 0; i != events.size(); ++i) index_[key(events[i])] = i;
    std::map<unsigned, std::uint32_t> last_of;
    for (std::uint32_t i = 0; i != events.size(); ++i) {
      const event_id e = events[i];
      const node& n = g.at(e);
      if (const auto last = last_of.find(e.thread); last != last_of.end()) require(last->second, i);
      if (e.index == 0) require(g.spawner_of(e.thread), i);
      last_of[e.thread] = i;
      require(n.source, i);
      require(n.older, i);
      if (n.kind == node_kind::depart) {
        for_each_before_departure(g, n.departure(), [&](event_id before) { require(before, i); });
      }
      if (n.kind == node_kind::read && g.contains(n.source)) require(i, g.at(n.source).newer);
    }
  }

  /// Returns the order; it is empty if there is none.
  [[nodiscard]] std::vector<event_id> find() {
    std::vector<event_id> order;
    std::vector<bool> done(events_.size(), false);
    unsigned thread = events_.empty() ? 0 : events_.back().thread;
    while (order.size() != events_.size()) {
      std::size_t next = events_.size();
      for (std::size_t i = events_.size(); i-- != 0;) {
        if (done[i] || followers_[i] != 0) continue;
        if (next == events_.size() || events_[i].thread == thread) next = i;
        if (events_[i].thread == thread) break;
      }
      if (next == events_.size()) return {};
      done[next] = true;
      thread = events_[next].thread;
      for (const std::uint32_t earlier : before_[next]) --followers_[earlier];
      order.push_back(events_[next]);
    }
    std::reverse(order.begin(), order.end());
    return order;
  }

 private:
  void require(std::uint32_t earlier, std::uint32_t later) {
    if (earlier == later) return;
    before_[later].push_back(earlier);
    ++followers_[earlier];
  }
  void require(event_id earlier, std::uint32_t later) {
    if (const auto at = index_.find(key(earlier)); at != index_.end()) require(at->second, later);
  }
  void require(std::uint32_t earlier, event_id later) {
    if (const auto at = index_.find(key(later)); at != index_.end()) require(earlier, at->second);
  }

  const std::vector<event_id>& events_;
  std::map<std::uint32_t, std::uint32_t> index_;
  std::vector<std::vector<std::uint32_t>> before_;
  std::vector<unsigned> followers_;  ///< of each: those that are not placed yet
};

}  // namespace

void judge::describe_execution() {
  // Variables that only the construction uses are left out, because there may be many of them; not if it fails itself.
  const bool construction_fails = run_.current == constructing && !run_.complete;
  std::vector<bool> touched(run_.g->size(constructing), false);
  for (const event_id e : run_.executed) {
    const event_id variable = run_.g->at(e).variable;
    if (e.thread != constructing && variable.thread == constructing && variable != nobody)
      touched[variable.index] = true;
  }
  const auto is_shown = [&](event_id e) {
    const node& n = run_.g->at(e);
    if (n.kind == node_kind::end || does_nothing(n.shown, n.value)) return false;
    if ((n.kind == node_kind::init || n.kind == node_kind::cell_init) && !n.initialised) return false;
    return construction_fails || e.thread != constructing || n.variable.thread != constructing ||
           touched[n.variable.index];
  };
  const auto traced = [&](const std::vector<event_id>& order) {
    tracer t(*run_.g);
    for (const event_id e : order) {
      if (!is_shown(e)) continue;
      const bool outside = e.thread == constructing || e.thread == finishing;
      t.add(e, outside ? -1 : e.thread - 1, run_.site_of(e));
    }
    return t;
  };
  tracer t = traced(run_.executed);
  // An execution that is a mere interleaving is shown as one.
  if (!is_sequential(t.events())) {
    if (const std::vector<event_id> order = interleaving(); !order.empty()) t = traced(order);
  }
  if (run_.g->delayed != nobody) t.add_source_of_delayed(run_.g->delayed);
  for (stuck_thread& s : found_.result.stuck) {
    if (!s.at_barrier) continue;
    const step::depart& awaited = run_.threads[static_cast<std::size_t>(s.thread) + 1].departure;
    s.barrier = t.number_of(awaited.of);
    s.round = awaited.round;
  }
  if (driver_.finds_variables()) {
    found_.result.variables = t.names(driver_);
    found_.result.variable_indices = t.indices();
  }
  if (run_.g->contains(partner_)) found_.result.partner = t.index_of(partner_);
  found_.result.knows_sources = true;
  found_.result.buffers_loads = run_.g->delayed != nobody;
  found_.result.trace = t.take();
  show_history(found_.result, t.moments(), {static_cast<int>(constructing), static_cast<int>(finishing), 1});
}

/// Construction, the threads, and finish(), as an interleaving; empty if this execution is none.
std::vector<event_id> judge::interleaving() const {
  std::vector<event_id> of_threads;
  std::vector<event_id> order;
  std::vector<event_id> after;
  for (const event_id e : run_.executed) {
    if (e.thread == constructing)
      order.push_back(e);
    else if (e.thread == finishing)
      after.push_back(e);
    else
      of_threads.push_back(e);
  }
  const std::vector<event_id> middle = sequential_order(*run_.g, of_threads).find();
  if (middle.empty()) return {};
  order.insert(order.end(), middle.begin(), middle.end());
  order.insert(order.end(), after.begin(), after.end());
  return order;
}

}  // namespace runq::model::exact
