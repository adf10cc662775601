// SPDX-License-Identifier: MIT
// Accesses to the program's memory: what is asked of the engine, and what must hold of the rest.
#include <cstring>

#include <fmt/format.h>

#include "session.hpp"

namespace runq::model::compiled {

using exact::event_id;
using exact::node;

namespace {

[[nodiscard]] std::uint64_t mask_of(unsigned size) {
  return size >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * size) - 1;
}
[[nodiscard]] event_kind kind_of(const plain_access& a) {
  return a.is_write ? event_kind::cell_write : event_kind::cell_read;
}
[[nodiscard]] const char* name_of(bool is_write) { return is_write ? "write" : "read"; }

}  // namespace

// --- atomic variables are found when they are first used ------------------------------------------------------------

std::uint64_t session::number_of(unsigned __int128 value) {
  const auto [at, added] = wide_numbers_.try_emplace(value, wide_values_.size());
  if (added) wide_values_.push_back(value);
  return at->second;
}

namespace {

template <class T>
[[nodiscard]] T read_as(const void* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
template <class T>
void write_as(void* at, T value) noexcept {
  std::memcpy(at, &value, sizeof value);
}

}  // namespace

std::uint64_t session::memory_value(const void* at, unsigned size) {
  switch (size) {
    case 1: return read_as<std::uint8_t>(at);
    case 2: return read_as<std::uint16_t>(at);
    case 4: return read_as<std::uint32_t>(at);
    case 8: return read_as<std::uint64_t>(at);
    default: return number_of(read_as<unsigned __int128>(at));
  }
}

void session::write_memory(void* at, unsigned size, std::uint64_t value) {
  switch (size) {
    case 1: return write_as(at, static_cast<std::uint8_t>(value));
    case 2: return write_as(at, static_cast<std::uint16_t>(value));
    case 4: return write_as(at, static_cast<std::uint32_t>(value));
    case 8: return write_as(at, value);
    default: return write_as(at, wide_value(value));
  }
}

std::uint16_t session::variable_number(granule& g, const void* at, unsigned size, const void* code) {
  const auto first = static_cast<std::uint8_t>(offset_in_granule(at));
  const std::uint8_t generation = g.atomics->generations[first];
  for (const atomic_places::numbered& k : g.atomics->known) {
    if (k.generation == generation && k.place.first == first && k.place.size == size) return k.place.variable;
  }
  if (variables_.size() == exact::max_thread_events) {
    search_->give_up(fmt::format("limit reached: {} atomic variables", exact::max_thread_events));
  }
  if (generation == 0xff) refuse("an atomic variable that is constructed 255 times in the same place", code);
  const auto variable = static_cast<std::uint16_t>(variables_.size());
  variables_.push_back(at);
  g.atomics->known.push_back({generation, {first, static_cast<std::uint8_t>(size), variable, 0}});
  return variable;
}

/// Compilers need not show what a function writes to its own variables, even where others use them later.
bool session::on_a_stack(const void* at) const noexcept {
  for (unsigned t = 1; t <= max_threads; ++t) {
    const std::byte* const stack = search_->stack_of(t).lowest();
    if (stack != nullptr && at >= stack && at < stack + exact::fiber_stack_bytes) return true;
  }
  return false;
}

/// A loop that only reads repeats itself until it reads another value. Its state, which decides what it does next, is
/// the registers and its own stack. Other memory is as it was: the thread has written none, and it can see what others
/// write there only after it has read another value.
void session::look_for_waiting(const caller_state& caller, const void* code) {
  if (!recognises_waiting_) return;
  forget_before_effect();
  constexpr std::size_t most_visits = 64;  // a loop with more operations is not recognised
  const std::uint64_t state = state_of(caller);
  std::vector<visit>& visits = running().visits;
  // While the thread is replayed, the graph says what it does.
  if (search_->at_frontier()) {
    for (const visit& v : visits) {
      if (v.state == state) wait_as_in(v, code);
    }
  }
  if (visits.size() == most_visits) visits.erase(visits.begin());
  visits.push_back({state, search_->position(), running().timed});
}

/// Whether the running thread's last event, a store, leaves the variable as it was: the write before it, which the
/// thread knows of, has the same value.
bool session::repeats_value() const {
  const exact::graph& graph = search_->current_graph();
  const node& stored = graph.at(search_->running(), search_->position() - 1);
  const event_id before = stored.older;
  if (before == exact::nobody || graph.at(before).value != stored.value) return false;
  return before.thread == exact::constructing || search_->knows().covers(before);
}

/// The running thread is where it was then.
void session::wait_as_in(const visit& before, const void* code) {
  // A deadline may end this: an execution in which it does is explored, too.
  if (before.timed != running().timed) wait_for_others(before.position, code);
  if (takes_locks_since(before.position)) omitted_.lock_rounds = true;
  if (running().repeated > before.position) omitted_.repeated_stores = true;
  search_->await_since(before.position);
  search_->await_failed(here(code));
}

bool session::takes_locks_since(unsigned position) const {
  const exact::graph& graph = search_->current_graph();
  for (unsigned i = position; i != search_->position(); ++i) {
    if (graph.changes_value({static_cast<std::uint16_t>(search_->running()), static_cast<std::uint16_t>(i)})) {
      return true;
    }
  }
  return false;
}

/// The state of the running thread: its registers, its stack, and the locks that it holds. The words of the stack are
/// taken by four independent sums, because a multiplication takes longer than all the rest.
std::uint64_t session::state_of(const caller_state& caller) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
  constexpr std::size_t lanes = 4;
  const auto mix = [](std::uint64_t& sum, std::uint64_t word) {
    sum = (sum ^ word) * odd;
    sum ^= sum >> 32;
  };
  std::array<std::uint64_t, lanes> sums{1, 2, 3, 4};
  const std::byte* const end = self_.stack + exact::fiber_stack_bytes;
  const std::byte* at = caller.stack;
  for (; at + lanes * sizeof(std::uint64_t) <= end; at += lanes * sizeof(std::uint64_t)) {
    for (std::size_t i = 0; i != lanes; ++i) mix(sums[i], read_as<std::uint64_t>(at + i * sizeof(std::uint64_t)));
  }
  std::uint64_t state = 0;
  for (; at + sizeof(std::uint64_t) <= end; at += sizeof(std::uint64_t)) mix(state, read_as<std::uint64_t>(at));
  for (const std::uint64_t sum : sums) mix(state, sum);
  for (const std::uint64_t r : caller.registers) mix(state, r);
  for (const taken_lock& l : running().taken) mix(state, reinterpret_cast<std::uintptr_t>(l.lock));
  for (const held_lock& h : running().held) {
    if (h.times > 1) mix(state, reinterpret_cast<std::uintptr_t>(h.lock) + h.times);  // a recursive mutex
  }
  return state;
}

/// A loop that counts its rounds is never in the same state twice. After some rounds the search explores only
/// executions in which the loop ends by itself: it reads what it has read before, whatever has been written meanwhile.
/// A loop that writes, or goes on for more than bounds::most_rounds, waits until it reads something else: what follows
/// its end by the count is not explored.
event_id session::read_in_earlier_round(const caller_state& caller, const void* at, bool may_write, const void* code) {
  if (!recognises_waiting_) return exact::nobody;
  forget_before_effect();
  const event_id next{static_cast<std::uint16_t>(search_->running()), static_cast<std::uint16_t>(search_->position())};
  for (rounds_at& r : running().rounds) {
    if (r.code != code || r.stack != caller.stack || r.at != at) continue;
    const event_id last = r.last;
    const std::uint64_t value = search_->current_graph().at(last).value;
    if (value != r.value) r.count = 1;
    r.value = value;
    r.last = next;
    if (++r.count <= bounds_.rounds) return exact::nobody;
    if (!counts_in_vain(code)) omitted_.rounds = true;
    if (may_write || r.count > bounds::most_rounds) wait_for_others(last.index, code);
    return last;
  }
  running().rounds.push_back({code, caller.stack, at, 1, next, 0});
  return exact::nobody;
}

/// std::atomic::wait() spins for a fixed number of rounds, and forgets how many it took.
bool session::counts_in_vain(const void* code) { return is_from(code, "bits/atomic_wait.h"); }

bool session::is_from(const void* code, std::string_view header) {
  const auto [at, added] = known_headers_.try_emplace({code, header}, false);
  if (added) at->second = symbols_.is_within(frame_of(code), header);
  return at->second;
}

/// load() unlocks with relaxed order, which the next store() formally races with.
bool session::unlocks_shared_pointer(rmw_op op, unsigned size, std::uint64_t operand, std::memory_order order,
                                     const void* code) {
  return op == rmw_op::sub && operand == 1 && size == sizeof(void*) && order == std::memory_order::relaxed &&
         is_from(code, "bits/shared_ptr_atomic.h");
}

/// Whether the variable lies on the running thread's stack, and no other thread has used it. Compilers do not show
/// plain accesses to such variables: it may have gone, and something else may have come in its place.
bool session::is_private(const atomic_place& place, const void* at) const {
  if (!on_own_stack(at)) return false;
  const exact::graph& graph = search_->current_graph();
  const event_id init{static_cast<std::uint16_t>(exact::constructing), place.variable};
  for (unsigned t = 1; t <= max_threads; ++t) {
    if (t == search_->running()) continue;
    for (unsigned i = 0; i != graph.size(t); ++i) {
      if (graph.at(t, i).accesses(init)) return false;
    }
  }
  return true;
}

location session::variable_at(granule& g, const void* at, unsigned size, const site& where, const void* code) {
  touched = {static_cast<const std::byte*>(at), size, code};
  if ((reinterpret_cast<std::uintptr_t>(at) & (size - 1)) != 0) {
    fail(failure::misuse, fmt::format("an atomic operation of {} bytes on the misaligned address {}", size, at), code);
  }
  const unsigned first = offset_in_granule(at);
  for (const atomic_place& p : g.places()) {
    const bool same = p.first == first && p.size == size;
    if (same && memory_value(at, size) == p.in_memory) return search_->known_variable(p.variable, mask_of(size));
  }
  return new_variable_at(g, at, size, where, code);
}

location session::new_variable_at(granule& g, const void* at, unsigned size, const site& where, const void* code) {
  const unsigned first = offset_in_granule(at);
  const auto* const granule_begin = static_cast<const std::byte*>(at) - first;
  if (g.atomics == nullptr) g.atomics = std::make_unique<atomic_places>();
  std::vector<atomic_place>& places = g.atomics->now;
  for (std::size_t i = places.size(); i-- != 0;) {
    const atomic_place p = places[i];
    if ((p.bytes() & bytes_from(first, size)) == 0) continue;
    const bool same = p.first == first && p.size == size;
    const bool reused =
        same && on_a_stack(at) && concurrent_event(p.variable, false, search_->position()) == exact::nobody;
    if (!reused && !is_private(p, granule_begin + p.first)) {
      refuse(same ? "an atomic variable that code without instrumentation has written"
                  : "atomic operations of different sizes on the same memory",
             code);
    }
    ++g.atomics->generations[p.first];
    places.erase(places.begin() + static_cast<std::ptrdiff_t>(i));
  }
  keep_original(at, size);
  const std::uint16_t variable = variable_number(g, at, size, code);
  const std::uint64_t value = memory_value(at, size);
  const location found = search_->find_variable(variable, mask_of(size), value, where);
  places.push_back({static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(size), variable, value});
  return found;
}

/// Notes the value that an atomic write has left in memory: if another value is there later, code without hooks has
/// written it.
void session::leave_in_memory(granule& g, void* at, unsigned size, std::uint64_t value) {
  write_memory(at, size, value);
  const unsigned first = offset_in_granule(at);
  for (atomic_place& p : g.places()) {
    if (p.first == first && p.size == size) p.in_memory = value;
  }
}

std::uint64_t session::load(const void* at, unsigned size, std::memory_order order, const void* code, event_id like) {
  // notify() of libstdc++ 12 may look for waiters before what it notifies of is seen: every processor orders the two,
  // but C++20 does not.
  if (order == std::memory_order::seq_cst && waiters_.contains(at)) fence(order, code);
  const site where = here(code);
  granule& g = shadow_.of(at);
  location variable = variable_at(g, at, size, where, code);
  const std::uint64_t value = search_->load(variable, order, like, where);
  check_atomic_access(g, at, size, code);
  return value;
}

void session::store(void* at, unsigned size, std::uint64_t value, std::memory_order order, const void* code) {
  const site where = here(code);
  granule& g = shadow_.of(at);
  location variable = variable_at(g, at, size, where, code);
  search_->store(variable, value, order, where);
  if (repeats_value()) {
    running().repeated = search_->position();
  } else {
    note_effect();
  }
  check_atomic_access(g, at, size, code);
  leave_in_memory(g, at, size, value);
}

std::uint64_t session::rmw(void* at, unsigned size, rmw_op op, std::uint64_t operand, std::memory_order order,
                           const void* code) {
  if (unlocks_shared_pointer(op, size, operand, order, code)) order = std::memory_order::release;
  const site where = here(code);
  granule& g = shadow_.of(at);
  location variable = variable_at(g, at, size, where, code);
  const std::uint64_t value = search_->rmw(variable, op, operand, order, where);
  check_atomic_access(g, at, size, code);
  const std::uint64_t written = apply(op, value, operand) & mask_of(size);
  if (written != value) note_effect();
  leave_in_memory(g, at, size, written);
  return value;
}

bool session::compare_exchange(void* at, unsigned size, std::uint64_t& expected, std::uint64_t desired, bool weak,
                               std::memory_order success, std::memory_order failure, const void* code, event_id like) {
  const site where = here(code);
  granule& g = shadow_.of(at);
  location variable = variable_at(g, at, size, where, code);
  const std::uint64_t wanted = expected;
  const bool done = search_->compare_exchange(variable, expected, desired, weak, success, failure, like, where);
  check_atomic_access(g, at, size, code);
  if (done) leave_in_memory(g, at, size, desired);
  // The next time a spurious failure will be a success.
  if (done ? desired != wanted : expected == wanted) note_effect();
  return done;
}

bool session::take(void* at, unsigned size, std::uint64_t first, std::uint64_t count, std::uint64_t delta,
                   bool blocking, taken_from what, const void* code) {
  const site where = here(code);
  granule& g = shadow_.of(at);
  location variable = variable_at(g, at, size, where, code);
  const bool done = search_->take(variable, first, count, delta, blocking, where);
  check_atomic_access(g, at, size, code);
  if (!done) {
    if (what == taken_from::lock) note_failed_try(code);
    return false;
  }
  const exact::graph& graph = search_->current_graph();
  leave_in_memory(g, at, size, graph.at(search_->running(), search_->position() - 1).value);
  if (what == taken_from::lock) {
    note_taken(at);
  } else {
    note_effect();
  }
  return true;
}

void session::give_back(void* at, unsigned size, std::uint64_t delta, bool is_all, const void* code) {
  note_given_back(at);
  const site where = here(code);
  granule& g = shadow_.of(at);
  location variable = variable_at(g, at, size, where, code);
  std::uint64_t before = delta;
  if (is_all) {
    search_->store(variable, 0, std::memory_order::release, where);
  } else {
    before = search_->rmw(variable, rmw_op::sub, delta, std::memory_order::release, where);
  }
  check_atomic_access(g, at, size, code);
  leave_in_memory(g, at, size, before - delta);
}

// A loop that waits may have fences in it: without those of the earlier rounds there is less order, not more.
void session::fence(std::memory_order order, const void* code) { search_->fence(order, here(code)); }

// --- what must hold -------------------------------------------------------------------------------------------------

void session::check_atomic_parts(granule& g, const void* at, unsigned size, const void* code) {
  check_atomic_part(g, at, bytes_from(offset_in_granule(at), size), at, size, code);
  if (size <= granule_bytes) return;
  const void* const rest = static_cast<const std::byte*>(at) + granule_bytes;
  check_atomic_part(shadow_.of(rest), rest, bytes_from(0, size - granule_bytes), at, size, code);
}

void session::check_atomic_part(granule& g, const void* part, byte_mask bytes, const void* at, unsigned size,
                                const void* code) {
  check_heap(g, part, bytes, at, size, {true, false}, code);
  if (is_alone() || !g.has_accesses()) return;
  const exact::graph& graph = search_->current_graph();
  const node& n = graph.at(search_->running(), search_->position() - 1);
  plain_access a{step_here(code), bytes, n.kind == exact::node_kind::write};
  --a.position;
  g.for_each_access([&](const plain_access& old) { check_against(old, a, part, false); });
}

/// The part of an access that lies in one granule: afterwards the thread is known to be allowed to use it.
void session::check_block(granule& g, const void* part, const void* at, std::size_t size, access_kind kind,
                          const void* code) {
  const user_heap::block& b = usable_block(at, size, kind, code);
  let_use(b);
  const std::byte* const granule_begin = static_cast<const std::byte*>(part) - offset_in_granule(part);
  const std::byte* const first = std::max<const std::byte*>(b.begin, granule_begin);
  static_assert(exact::thread_slots <= 32);
  g.let_use(self_.number, bytes_from(offset_in_granule(first), static_cast<std::size_t>(b.end() - first)), releases_);
}

const user_heap::block& session::usable_block(const void* at, std::size_t size, access_kind kind, const void* code) {
  const bool is_write = kind.is_write;
  const auto show_this = [&] {
    if (kind.is_plain) show(is_write ? event_kind::cell_write : event_kind::cell_read, step_here(code), at);
  };
  const user_heap::block* const b = heap_.find(at);
  if (b == nullptr || !b->contains(static_cast<const std::byte*>(at) + size - 1)) {
    fail(failure::misuse, fmt::format("{} of {} bytes outside of what was allocated", name_of(is_write), size), code);
  }
  if (b->is_released) {
    show(event_kind::deallocate, b->released, b->begin);
    show_this();
    fail(failure::use_after_free,
         fmt::format("memory is used after or while it is freed by T{} at {}; it was allocated at {}",
                     b->released.thread - 1, to_text(b->released.at), to_text(b->allocated.at)),
         code);
  }
  if (b->allocated.thread != search_->running() && !b->allocated.before(search_->knows())) {
    show(event_kind::allocate, b->allocated, b->begin);
    show_this();
    fail(failure::unpublished_allocation,
         fmt::format("memory is used by a thread that cannot know that it was allocated at {}",
                     to_text(b->allocated.at)),
         code);
  }
  return *b;
}

/// A loop that waits may leave the same value there in every round: only a different value is an effect.
void session::access_expected(const void* at, std::size_t size, expected_access how, const void* code) {
  if (on_own_stack(at)) return;
  if (how == expected_access::changed) note_effect();
  access_plainly(at, size, how != expected_access::read, code);
}

void session::access_slowly(const void* at, std::size_t size, bool is_write, const void* code) {
  const checker_scope scope;
  if (executed_.is_recording()) executed_.note(code);
  access(at, size, is_write, code);
}

void session::access_beside(granule& g, const void* at, byte_mask bytes, bool is_write, const void* code) {
  const checker_scope scope;
  access_shared(g, at, access_in_program(bytes, is_write, code));
}

void session::access_parts(const void* at, std::size_t size, bool is_write, const void* code) {
  const auto* part = static_cast<const std::byte*>(at);
  const std::byte* const end = part + size;
  while (part < end) {
    const unsigned first = offset_in_granule(part);
    const std::size_t count = std::min<std::size_t>(granule_bytes - first, static_cast<std::size_t>(end - part));
    if (!is_alone() || look_quickly(part, count, at, size, is_write, code) == nullptr) {
      access_part(part, bytes_from(first, count), at, size, is_write, code);
    }
    part += count;
  }
}

/// There are other accesses to the granule, or atomic variables in it.
void session::access_shared(granule& g, const void* part, const plain_access& a) {
  g.for_each_access([&](const plain_access& old) { check_against(old, a, part, true); });
  if (g.has_atomics()) access_atomics(g, part, a);
  g.notes(a);
}

void session::access_atomics(granule& g, const void* at, const plain_access& a) {
  const std::byte* const begin = static_cast<const std::byte*>(at) - offset_in_granule(at);
  std::vector<atomic_place>& places = g.atomics->now;
  for (std::size_t i = places.size(); i-- != 0;) {
    atomic_place& place = places[i];
    if ((place.bytes() & a.bytes) == 0) continue;
    check_against_atomic(place, begin, a);
    if (!a.is_write) continue;
    // Something else lives there from now on.
    ++g.atomics->generations[place.first];
    places.erase(places.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void session::report_race(const plain_access& old, const plain_access& a, const void* at, bool is_plain) {
  show(kind_of(old), old, at);
  if (is_plain) show(kind_of(a), a, at);
  fail(failure::data_race,
       fmt::format("{}this {} by T{}, and the {} by T{} at {}", while_in_use(), name_of(a.is_write), a.thread - 1,
                   name_of(old.is_write), old.thread - 1, to_text(old.at)),
       a.at.code);
}

/// An event of the variable that neither happens-before the running thread's next one nor after its `position`-th.
event_id session::concurrent_event(std::uint16_t variable, bool writes_only, unsigned position) const {
  const exact::graph& graph = search_->current_graph();
  const exact::clock known = search_->knows();
  const unsigned self = search_->running();
  const event_id init{static_cast<std::uint16_t>(exact::constructing), variable};
  for (unsigned t = 1; t <= max_threads; ++t) {
    if (t == self) continue;
    for (unsigned i = known[t]; i < graph.size(t); ++i) {
      const node& n = graph.at(t, i);
      if (!n.accesses(init) || (writes_only && n.kind != exact::node_kind::write)) continue;
      if (n.hb[self] <= position) return {static_cast<std::uint16_t>(t), static_cast<std::uint16_t>(i)};
    }
  }
  return exact::nobody;
}

/// A plain access to memory in which an atomic variable lives. A read finds its newest value there.
void session::check_against_atomic(atomic_place& place, const void* granule_begin, const plain_access& a) {
  const event_id other = concurrent_event(place.variable, !a.is_write, a.position);
  if (other != exact::nobody) {
    search_->set_partner(other);
    show(kind_of(a), a, static_cast<const std::byte*>(granule_begin) + place.first);
    fail(failure::data_race,
         fmt::format("{}this {} by T{} is not atomic, the access by T{} at {} is", while_in_use(), name_of(a.is_write),
                     a.thread - 1, other.thread - 1, to_text(other)),
         a.at.code);
  }
  if (a.is_write) return;
  const exact::graph& graph = search_->current_graph();
  const event_id init{static_cast<std::uint16_t>(exact::constructing), place.variable};
  // The newest write that this access knows of; in a replay, later ones may be in the graph already.
  event_id newest = graph.at(init).newest;
  const exact::clock known = search_->knows();
  while (newest != init && !known.covers(newest)) newest = graph.at(newest).older;
  auto* const begin = static_cast<std::byte*>(const_cast<void*>(granule_begin)) + place.first;
  place.in_memory = graph.at(newest).value;
  write_memory(begin, place.size, place.in_memory);
}

/// Before a write to memory that the program had before a check in its middle: so that it can be undone.
void session::keep_original_granules(const void* at, std::size_t size) {
  const auto* part = static_cast<const std::byte*>(at) - offset_in_granule(at);
  for (const std::byte* const end = static_cast<const std::byte*>(at) + size; part < end; part += granule_bytes) {
    granule& g = shadow_.of(part);
    if (g.is_put_back) continue;
    g.is_put_back = true;
    if (is_put_back(part)) continue;
    auto* const word = reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(part));
    std::uint64_t value = 0;
    std::memcpy(&value, word, sizeof value);
    originals_.emplace_back(word, value);
  }
}

// --- heap -----------------------------------------------------------------------------------------------------------

/// What a thread has freed it may get again while others run, so that an address that one of them has kept is that of
/// something else. What is left of atomic variables there is forgotten.
void* session::again_or_new(std::size_t size, std::size_t alignment, const step& by, const void* code) {
  std::byte* const freed = search_ == nullptr || is_alone() ? nullptr : heap_.last_freed(by.thread, size, alignment);
  if (freed == nullptr || !uses_again(code)) return heap_.allocate(size, alignment, by);
  const user_heap::block& b = heap_.allocate_again(freed, size, by);
  ++releases_;
  for (std::byte* part = freed; part < b.end(); part += granule_bytes) {
    granule& g = shadow_.of(part);
    for (const atomic_place& place : g.places()) ++g.atomics->generations[place.first];
    if (g.atomics != nullptr) g.atomics->now.clear();
  }
  return freed;
}

bool session::uses_again(const void* code) {
  thread_info& t = running();
  if (t.reused == bounds_.reused) {
    omitted_.reuse = true;
    return false;
  }
  if (choose(2, code) == 0) return false;
  ++t.reused;
  return true;
}

void* session::allocate(std::size_t size, std::size_t alignment, const void* code) {
  step by;
  if (search_ != nullptr) {
    note_effect();
    by = step_here(code);
  } else {
    by.thread = user_heap::before_main;
  }
  void* const p = again_or_new(size, alignment, by, code);
  constexpr int pattern = 0xbe;  // so that no code relies on zeros, or on what an earlier execution left
  if (p != nullptr) {
    std::memset(p, pattern, size);
    if (search_ != nullptr) let_use(*heap_.find(p));
  } else if (search_ != nullptr) {
    search_->give_up(fmt::format("limit reached: {} bytes of heap memory per thread", user_arena_bytes));
  }
  return p;
}

std::size_t session::size_of(void* p) noexcept {
  const user_heap::block* const b = heap_.find(p);
  return b == nullptr ? 0 : b->size - static_cast<std::size_t>(static_cast<std::byte*>(p) - b->begin);
}

void session::take_over(const void* p) {
  if (search_ == nullptr || !heap_.owns(p)) return;
  const user_heap::block* const b = heap_.find(p);
  if (b == nullptr) return;
  for (std::byte* part = b->begin; part < b->begin + b->size; part += granule_bytes - offset_in_granule(part)) {
    const byte_mask bytes = bytes_from(offset_in_granule(part), static_cast<std::size_t>(b->begin + b->size - part));
    shadow_.of(part).for_each_access(
        [=](plain_access& old) { old.bytes = static_cast<byte_mask>(old.bytes & ~bytes); });
  }
}

/// No other thread uses the block while it is freed.
void session::require_unused(const user_heap::block& b, const step& by, const void* code) {
  plain_access a;
  static_cast<step&>(a) = by;
  a.is_write = true;
  for (std::byte* part = b.begin; part < b.end(); part += granule_bytes - offset_in_granule(part)) {
    granule& g = shadow_.of(part);
    a.bytes = bytes_from(offset_in_granule(part), static_cast<std::size_t>(b.begin + b.size - part));
    g.for_each_access([&](const plain_access& old) {
      if (old.thread == by.thread || (old.bytes & a.bytes) == 0 || old.before(search_->knows())) return;
      show(kind_of(old), old, part);
      show(event_kind::deallocate, by, b.begin);
      fail(failure::use_after_free,
           fmt::format("memory is freed while in use: {} by T{} at {}", name_of(old.is_write), old.thread - 1,
                       to_text(old.at)),
           code);
    });
    for (const atomic_place& place : g.places()) {
      const event_id other = concurrent_event(place.variable, false, by.position);
      if (other == exact::nobody) continue;
      search_->set_partner(other);
      show(event_kind::deallocate, by, b.begin);
      fail(failure::use_after_free,
           fmt::format("memory is freed while in use: atomically by T{} at {}", other.thread - 1, to_text(other)),
           code);
    }
  }
}

void session::release(void* p, const void* code) {
  user_heap::block* const b = heap_.find(p);
  if (search_ == nullptr) {
    if (b != nullptr) b->is_released = true;
    return;
  }
  if (b == nullptr || b->begin != p) fail(failure::misuse, "what is freed was not allocated", code);
  note_effect();
  const step by = step_here(code);
  if (b->is_released) {
    show(event_kind::deallocate, b->released, p);
    show(event_kind::deallocate, by, p);
    fail(failure::double_free,
         fmt::format("memory is freed twice: before by T{} at {}", b->released.thread - 1, to_text(b->released.at)),
         code);
  }
  if (b->allocated.thread != by.thread && !b->allocated.before(search_->knows())) {
    show(event_kind::allocate, b->allocated, p);
    show(event_kind::deallocate, by, p);
    fail(failure::unpublished_allocation,
         fmt::format("memory is freed by a thread that cannot know that it was allocated at {}",
                     to_text(b->allocated.at)),
         code);
  }
  // Large blocks take long to look through, and most are freed by a thread that is alone.
  if (!is_alone()) require_unused(*b, by, code);
  require_idle(b->begin, b->size, "freed", code);
  forget_objects(b->begin, b->end());
  ++releases_;
  b->is_released = true;
  b->released = by;
  heap_.note_free(*b);
}

}  // namespace runq::model::compiled
