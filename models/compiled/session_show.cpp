// SPDX-License-Identifier: MIT
// What people see of a failing execution: names of variables, lines of source, and the plain accesses that matter.
#include <algorithm>

#include <fmt/format.h>

#include "session.hpp"

namespace runq::model::compiled {

/// After the search: from addresses to lines.
void session::describe(event& e) {
  if (e.where.code == nullptr) return;
  const auto* const at = static_cast<const frame*>(e.where.code);
  const auto weakened = [&](order_of kind) { return orders_.is_weakened(at, e.order, kind, symbols_); };
  switch (e.kind) {
    case event_kind::load: e.weakened = weakened(order_of::load); break;
    case event_kind::store: e.weakened = weakened(order_of::store); break;
    case event_kind::rmw:
    case event_kind::cas_success: e.weakened = weakened(order_of::rmw); break;
    case event_kind::cas_failure: e.weakened = weakened(order_of::cas_failure); break;
    case event_kind::fence: e.weakened = weakened(order_of::fence); break;
    default: break;
  }
  e.where = symbols_.own_line(at);
}

std::string session::name_of_variable(unsigned index) {
  return index < variables_.size() ? name_of_memory(variables_[index]) : "";
}

std::string session::name_of_memory(const void* at) {
  for (const auto& [of, place] : waiting_places_) {
    if (at >= &place && at < &place + 1) return fmt::format("waiters of {}", name_of_memory(of.first));
  }
  for (const auto& [of, object] : small_objects_) {
    if (at == &object.now) return name_of_memory(of);
  }
  if (std::string name = symbols_.variable_at(at); !name.empty()) {
    constexpr std::string_view unnamed = "(anonymous namespace)::";
    for (std::size_t found = name.find(unnamed); found != std::string::npos; found = name.find(unnamed)) {
      name.erase(found, unnamed.size());
    }
    return name;
  }
  if (heap_.owns(at)) {
    const user_heap::block* const b = heap_.find(at);
    if (b == nullptr) return "heap";
    const auto offset = static_cast<const std::byte*>(at) - b->begin;
    const frame* const allocated = frames_.at(b->allocated.at);
    const int line = allocated == nullptr ? 0 : symbols_.own_line(allocated).line;
    const std::string name = line == 0 ? "heap" : fmt::format("new@{}", line);
    return offset == 0 ? name : fmt::format("{}+{}", name, offset);
  }
  for (unsigned t = 1; t <= max_threads; ++t) {
    const std::byte* const stack = search_->stack_of(t).lowest();
    if (stack != nullptr && at >= stack && at < stack + exact::fiber_stack_bytes)
      return fmt::format("local of T{}", t - 1);
    const std::byte* const pointer = t == 1 ? main_pointer_ : parked_.pointer(t - 2);
    if (storage_.contains(at, pointer)) return fmt::format("thread_local of T{}", t - 1);
  }
  return {};
}

/// Plain accesses are no events of the graph: those that the failure is about become steps of the trace. If the last of
/// them is plain, it is the failing one, and comes before the step that says that it fails.
void session::show_accesses(search_result& r) {
  if (r.what == failure::none || r.trace.empty()) return;
  if (shown_accesses_.size() > 2) shown_accesses_.resize(2);  // with load buffering: of the first of several failures
  std::uint32_t number = 1;
  for (const event& e : r.trace) number = std::max(number, e.location + 1);
  // Names may be the same: two static variables of functions, two members of memory from one line.
  std::map<const void*, std::uint32_t> numbers;
  for (const auto& [location, index] : r.variable_indices) numbers.try_emplace(variables_[index], location);
  for (const shown_access& shown : shown_accesses_) {
    if (shown.by.thread == user_heap::before_main) continue;
    event e;
    e.kind = shown.kind;
    e.thread = shown.by.thread - 1;
    e.where = {"", 0, frames_.at(shown.by.at)};
    e.position = shown.by.position;
    const auto [at_number, added] = numbers.try_emplace(shown.at, number);
    if (added) ++number;
    e.location = at_number->second;
    r.variables[e.location] = name_of_memory(shown.at);
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < r.trace.size(); ++i) {
      const event& before = r.trace[i];
      const bool starts = before.kind == event_kind::spawn && static_cast<int>(before.value) == e.thread;
      if (starts || (before.thread == e.thread && before.position < e.position)) at = i + 1;
    }
    if (at != 0) e.known = r.trace[at - 1].known;
    const bool is_failing = shown_accesses_.size() == 2 && &shown == &shown_accesses_.back();
    const bool is_after_partner = r.partner != no_event && shown_accesses_.size() == 1;
    if (is_failing || is_after_partner) at = r.trace.size() - 1;
    const auto moved = [at](std::uint32_t index) { return index != no_event && index >= at ? index + 1 : index; };
    for (event& other : r.trace) other.reads_from = moved(other.reads_from);
    r.partner = moved(r.partner);
    if (!is_failing && !is_after_partner) r.partner = static_cast<std::uint32_t>(at);
    r.trace.insert(r.trace.begin() + static_cast<std::ptrdiff_t>(at), e);
  }
  name_memory(r, numbers);
}

/// Says of each step in which block its location lies, if a step allocates or frees that block.
void session::name_memory(search_result& r, const std::map<const void*, std::uint32_t>& numbers) {
  std::map<std::uint32_t, const void*> addresses;
  for (const auto& [at, number] : numbers) addresses[number] = at;
  for (const auto& [location, index] : r.variable_indices) addresses[location] = variables_[index];
  for (event& e : r.trace) {
    const auto address = addresses.find(e.location);
    if (address == addresses.end() || !heap_.owns(address->second)) continue;
    const user_heap::block* const b = heap_.find(address->second);
    const auto memory = b == nullptr ? numbers.end() : numbers.find(b->begin);
    if (memory != numbers.end()) e.memory = memory->second;
  }
}

}  // namespace runq::model::compiled
