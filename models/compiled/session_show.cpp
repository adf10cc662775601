// SPDX-License-Identifier: MIT
// What people see of a failing execution: names of variables, lines of source, and the plain accesses that matter.
#include <algorithm>

#include <fmt/format.h>

#include "session.hpp"
#include "source_names.hpp"

namespace runq::model::compiled {

void session::show(search_result& r) {
  show_accesses(r);
  find_signed_numbers(r);
  for (event& e : r.trace) describe(e);
  if (r.where.code != nullptr) r.where = code_.own_line(static_cast<const frame*>(r.where.code));
}

/// From addresses to lines.
void session::describe(event& e) {
  if (e.where.code == nullptr) return;
  const auto* const at = static_cast<const frame*>(e.where.code);
  const auto weakened = [&](order_of kind) { return code_.is_weakened(at, e.order, kind); };
  switch (e.kind) {
    case event_kind::load: e.weakened = weakened(order_of::load); break;
    case event_kind::store: e.weakened = weakened(order_of::store); break;
    case event_kind::rmw:
    case event_kind::cas_success: e.weakened = weakened(order_of::rmw); break;
    case event_kind::cas_failure: e.weakened = weakened(order_of::cas_failure); break;
    case event_kind::fence: e.weakened = weakened(order_of::fence); break;
    default: break;
  }
  e.where = code_.own_line(at);
}

std::string session::name_of_variable(unsigned index) {
  const void* const at = atomics_.address_of(index);
  if (at == nullptr) return {};
  const atomic_place* const found = place_of(index);
  if (found == nullptr) return name_of_memory(at, 1);
  std::string name = name_of_memory(at, found->size);
  // A global variable that is larger than this.
  if (memory_.name_of(static_cast<const std::byte*>(at) + found->size, 1) == fmt::format("{}+{}", name, found->size))
    name += start_of_larger;
  return name;
}

/// Where an atomic variable lies now; nullptr: none does.
const atomic_place* session::place_of(unsigned index) {
  const auto is_it = [=](const atomic_place& p) { return p.variable == index && !p.is_upper; };
  const auto places = memory_.at(atomics_.address_of(index)).places();
  const auto found = std::find_if(places.begin(), places.end(), is_it);
  return found == places.end() ? nullptr : &*found;
}

/// 0: its value is no number that may be negative, as far as the debug information tells, or it is the checker's own.
std::uint8_t session::signed_bytes_of(unsigned index) {
  const void* const at = atomics_.address_of(index);
  if (at == nullptr || waits_.awaited_at(at) != nullptr || reuse_.block_of(at) != nullptr) return 0;
  const atomic_place* const found = place_of(index);
  if (found == nullptr || objects_.marked_at(at) != nullptr || !memory_.shown_at(at, found->size).is_signed) return 0;
  return static_cast<std::uint8_t>(found->size);
}

void session::find_signed_numbers(search_result& r) {
  std::map<std::uint32_t, std::uint8_t> bytes;
  for (const auto& [location, index] : r.variable_indices) bytes[location] = signed_bytes_of(index);
  for (event& e : r.trace) {
    const auto found = bytes.find(e.location);
    if (found != bytes.end() && e.accessed.is_whole() && words_of(e.kind).has_order) e.signed_bytes = found->second;
  }
}

std::string session::name_of_memory(const void* at, std::size_t size) {
  if (const void* const awaited = waits_.awaited_at(at))
    return fmt::format("waiters of {}", memory_.name_of(awaited, 1));
  if (const void* const freed = reuse_.block_of(at)) return fmt::format("reuse of {}", memory_.name_of(freed, 0));
  const void* const marked = objects_.marked_at(at);
  return marked != nullptr ? memory_.name_of(marked, 1) : memory_.name_of(at, size);
}

namespace {

/// Where the step belongs: after what its thread did before it.
[[nodiscard]] std::size_t place_in(const std::vector<event>& trace, const event& e) {
  std::size_t at = 0;
  for (std::size_t i = 0; i + 1 < trace.size(); ++i) {
    const event& before = trace[i];
    const bool starts = before.kind == event_kind::spawn && static_cast<int>(before.value) == e.thread;
    if (starts || (before.thread == e.thread && before.position < e.position)) at = i + 1;
  }
  return at;
}

/// Inserts the step, and keeps what refers to others.
void insert(search_result& r, const event& e, std::size_t at) {
  const auto moved = [at](std::uint32_t index) { return index != no_event && index >= at ? index + 1 : index; };
  for (event& other : r.trace) other.reads_from = moved(other.reads_from);
  r.partner = moved(r.partner);
  r.trace.insert(r.trace.begin() + static_cast<std::ptrdiff_t>(at), e);
}

}  // namespace

/// Plain accesses are no events of the graph: those that the failure is about become steps of the trace. If the last of
/// them is plain, it is the failing one, and comes before the step that says that it fails.
void session::show_accesses(search_result& r) {
  if (r.what == failure::none || r.trace.empty()) return;
  std::vector<shown_access>& all = now_.shown;
  if (all.size() > 2) all.resize(2);  // with load buffering: of the first of several failures
  std::uint32_t number = 1;
  for (const event& e : r.trace) number = std::max(number, e.location + 1);
  // Names may be the same: two static variables of functions, two members of memory from one line.
  std::map<const void*, std::uint32_t> numbers;
  // Of several that lived there one after the other, the last is the one that still does.
  for (const auto& [location, index] : r.variable_indices) numbers[atomics_.address_of(index)] = location;
  for (const shown_access& shown : all) {
    if (shown.by.thread == user_heap::before_main) continue;
    const auto [at_number, added] = numbers.try_emplace(shown.at, number);
    if (added) ++number;
    event e = step_of(shown, at_number->second);
    const std::string name = name_of_memory(shown.at, shown.size);
    std::string& known = r.variables[e.location];
    if (shown.size != 0 || known.empty()) known = name;
    const bool is_failing = all.size() == 2 && &shown == &all.back();
    const bool is_after_partner = r.partner != no_event && all.size() == 1;
    const bool is_last = is_failing || is_after_partner;
    const std::size_t place = place_in(r.trace, e);
    if (place != 0) e.known = r.trace[place - 1].known;
    const std::size_t at = is_last ? r.trace.size() - 1 : place;
    insert(r, e, at);
    if (!is_last) r.partner = static_cast<std::uint32_t>(at);
  }
  name_memory(r, numbers);
}

event session::step_of(const shown_access& shown, std::uint32_t location) {
  event e;
  e.kind = shown.kind;
  e.thread = shown.by.thread - 1;
  e.where = {"", 0, code_.frame_at(shown.by.at)};
  e.position = shown.by.position;
  e.location = location;
  return e;
}

/// Says of each step in which block its location lies, if a step allocates or frees that block.
void session::name_memory(search_result& r, const std::map<const void*, std::uint32_t>& numbers) {
  std::map<std::uint32_t, const void*> addresses;
  for (const auto& [at, number] : numbers) addresses[number] = at;
  for (const auto& [location, index] : r.variable_indices) addresses[location] = atomics_.address_of(index);
  for (event& e : r.trace) {
    const auto address = addresses.find(e.location);
    if (address == addresses.end() || !memory_.heap().owns(address->second)) continue;
    const user_heap::block* const b = memory_.heap().find(address->second);
    const auto memory = b == nullptr ? numbers.end() : numbers.find(b->begin);
    if (memory != numbers.end()) e.memory = memory->second;
  }
}

}  // namespace runq::model::compiled
