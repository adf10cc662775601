// SPDX-License-Identifier: MIT
// The trace of an execution: its events in the order in which they were executed, which respects po and rf.
#include <map>

#include "exact_search.hpp"
#include "runtime.hpp"

namespace runq::model::exact {

namespace {

/// Builds the trace event by event, and remembers how far the mo of each variable has come.
class tracer {
 public:
  explicit tracer(const graph& g) : g_(g) {}

  void add(event_id e, int thread, site where) {
    const node& n = g_.at(e);
    if (n.kind == node_kind::write && n.exclusive) return;  // shown with the read before it
    event shown;
    shown.kind = n.shown;
    shown.thread = thread;
    shown.where = where;
    shown.order = n.applied_order();
    shown.value = n.value;
    shown.position = e.index;
    if (n.kind == node_kind::allocate) {
      shown.location = number_of(e);
    } else if (n.variable != nobody) {
      shown.location = number_of(n.variable);
    }
    if (n.kind == node_kind::read) describe_read(n, shown);
    const bool is_atomic = n.kind == node_kind::read || n.kind == node_kind::write || n.kind == node_kind::fence;
    shown.weakened = is_atomic && is_weakened(where, shown.kind == event_kind::cas_failure ? 1 : 0);
    const auto index = static_cast<std::uint32_t>(events_.size());
    index_[key(e)] = index;
    if (n.kind == node_kind::init || n.kind == node_kind::write) note_written(e);
    if (n.kind == node_kind::read && n.exclusive) {
      const event_id write{e.thread, static_cast<std::uint16_t>(e.index + 1)};
      if (g_.contains(write)) {
        shown.written = g_.at(write).value;
        index_[key(write)] = index;
        note_written(write);
      }
    }
    events_.push_back(shown);
  }

  /// Load buffering: the source of a delayed read comes later.
  void add_source_of_delayed(event_id read) {
    const auto at = index_.find(key(read));
    if (at == index_.end()) return;
    const auto from = index_.find(key(g_.at(read).source));
    if (from != index_.end()) events_[at->second].reads_from = from->second;
  }

  [[nodiscard]] std::uint32_t index_of(event_id e) const {
    const auto at = index_.find(key(e));
    return at == index_.end() ? no_event : at->second;
  }
  /// The variables of a program, by their numbers in the trace.
  [[nodiscard]] std::map<std::uint32_t, std::string> names(program& of) const {
    std::map<std::uint32_t, std::string> named;
    for (const auto& [variable, number] : locations_) {
      if (variable >> 16 == constructing) named[number] = of.name_of_variable(variable & 0xffff);
    }
    return named;
  }
  [[nodiscard]] std::vector<event> take() { return std::move(events_); }

 private:
  static std::uint32_t key(event_id e) { return std::uint32_t{e.thread} << 16 | e.index; }

  std::uint32_t number_of(event_id variable) {
    const auto next = static_cast<std::uint32_t>(locations_.size() + 1);
    return locations_.emplace(key(variable), next).first->second;
  }

  void describe_read(const node& n, event& shown) {
    if (shown.kind == event_kind::cas_success && !n.exclusive) shown.kind = event_kind::cas_failure;
    // A mutex is a variable that holds the number of its holder: 0 was read by who took it.
    if (shown.kind == event_kind::lock) shown.value = n.exclusive ? 1 : 0;
    if (n.source == nobody) return;
    if (const auto from = index_.find(key(n.source)); from != index_.end()) shown.reads_from = from->second;
    const auto newest = newest_.find(key(n.variable));
    if (newest == newest_.end()) return;
    shown.newest = g_.at(newest->second).value;
    shown.stale = g_.at(newest->second).place > g_.at(n.source).place;
  }

  void note_written(event_id e) {
    const auto [newest, first] = newest_.emplace(key(g_.at(e).variable), e);
    if (!first && g_.at(e).place > g_.at(newest->second).place) newest->second = e;
  }

  const graph& g_;
  std::vector<event> events_;
  std::map<std::uint32_t, std::uint32_t> locations_;  ///< variable or memory -> its number
  std::map<std::uint32_t, std::uint32_t> index_;      ///< event -> its index in the trace
  std::map<std::uint32_t, event_id> newest_;          ///< variable -> its newest write so far
};

}  // namespace

void search::describe_execution() {
  // Variables that only the construction touches would bury the rest.
  std::vector<bool> touched(g_->size(constructing), false);
  for (const event_id e : executed_) {
    const event_id variable = g_->at(e).variable;
    if (e.thread != constructing && variable.thread == constructing && variable != nobody)
      touched[variable.index] = true;
  }
  tracer t(*g_);
  for (const event_id e : executed_) {
    const node& n = g_->at(e);
    if (n.kind == node_kind::end) continue;
    const bool constructed = n.kind == node_kind::init || n.kind == node_kind::cell_init;
    if (constructed && !n.initialised) continue;
    if (e.thread == constructing && n.variable.thread == constructing && !touched[n.variable.index]) continue;
    const bool outside = e.thread == constructing || e.thread == finishing;
    t.add(e, outside ? -1 : e.thread - 1, threads_[e.thread].sites[e.index]);
  }
  if (g_->delayed != nobody) t.add_source_of_delayed(g_->delayed);
  if (program_ != nullptr) result_.variables = t.names(*program_);
  if (g_->contains(partner_)) result_.partner = t.index_of(partner_);
  result_.trace = t.take();
}

}  // namespace runq::model::exact
