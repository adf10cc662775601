// SPDX-License-Identifier: MIT
#include "program_atomics.hpp"

#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "exact_barrier.hpp"

namespace runq::model::compiled {

using exact::event_id;
using exact::node;

namespace {

constexpr unsigned mutex_bytes = 4;

[[nodiscard]] std::uint64_t mask_of(unsigned size) {
  return size >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * size) - 1;
}

}  // namespace

void program_atomics::find_libraries() {
  waiters_ = find_symbol("_ZZNSt8__detail18__waiter_pool_base6_S_forEPKvE3__w");
}

std::uint64_t program_atomics::load(const void* at, unsigned size, std::memory_order order, const void* code,
                                    event_id like) {
  // notify() of libstdc++ 12 may look for waiters before what it notifies of is seen: every processor orders the two,
  // but C++20 does not.
  if (order == std::memory_order::seq_cst && waiters_.contains(at)) fence(order, code);
  const site where = code_.here(code);
  granule& g = memory_.at(at);
  location variable = variable_at(g, at, size, where, code);
  const std::uint64_t value = now_.search->load(variable, order, like, where);
  check_access(g, at, size, code);
  return value;
}

void program_atomics::store(void* at, unsigned size, std::uint64_t value, std::memory_order order, const void* code) {
  const site where = code_.here(code);
  granule& g = memory_.at(at);
  location variable = variable_at(g, at, size, where, code);
  now_.search->store(variable, value, order, where);
  if (repeats_value()) {
    now_.running().repeated = now_.search->position();
  } else {
    now_.note_change();
  }
  check_access(g, at, size, code);
  leave_in_memory(g, at, size, value);
}

std::uint64_t program_atomics::rmw(void* at, unsigned size, rmw_op op, std::uint64_t operand, std::memory_order order,
                                   const void* code) {
  if (unlocks_shared_pointer(op, size, operand, order, code)) order = std::memory_order::release;
  const site where = code_.here(code);
  granule& g = memory_.at(at);
  location variable = variable_at(g, at, size, where, code);
  const std::uint64_t value = now_.search->rmw(variable, op, operand, order, where);
  check_access(g, at, size, code);
  const std::uint64_t written = apply(op, value, operand) & mask_of(size);
  if (written != value) now_.note_change();
  leave_in_memory(g, at, size, written);
  return value;
}

std::uint64_t program_atomics::add_to_lock(void* at, unsigned size, std::memory_order order, const void* code) {
  const site where = code_.here(code);
  state_of_lock lock = lock_at(at, size, where, code);
  const std::uint64_t value = now_.search->rmw(lock.variable, rmw_op::add, 1, order, where);
  check_access(memory_.at(at), at, size, code);
  now_.note_change();
  leave_in_memory(memory_.at(lock.at), lock.at, size, (value + 1) & mask_of(size));
  return value;
}

std::uint64_t program_atomics::load_lock(void* at, unsigned size, const void* code) {
  const site where = code_.here(code);
  state_of_lock lock = lock_at(at, size, where, code);
  const std::uint64_t value = now_.search->load(lock.variable, std::memory_order::relaxed, exact::nobody, where);
  check_access(memory_.at(at), at, size, code);
  return value;
}

/// Its initial state. If it lies elsewhere, another lock was perhaps there before.
void program_atomics::begin_lock(void* at, unsigned size, std::uint64_t value) {
  auto* const state = static_cast<std::byte*>(words_.state_of(at));
  if (state == at) return wide_.write(at, size, value);
  granule& g = memory_.at(state);
  if (const atomic_place* const p = place_of({state, size}, g)) {
    memory_.end_atomic(g, state - offset_in_granule(state), atomic_place(*p));
  }
  wide_.write(state, size, value);
}

std::uint64_t program_atomics::held_in_lock(void* at, unsigned size) { return wide_.read(words_.state_of(at), size); }

/// What was initialised before the check finds its state in its memory.
void program_atomics::begin_execution() {
  words_.for_each_state([this](const void* lock, std::uint64_t& state) {
    const bool is_there = memory_.beginning().is_global(lock) || memory_.heap().find(lock) != nullptr;
    std::uint32_t first = 0;
    if (is_there) std::memcpy(&first, lock, sizeof first);
    state = first;
  });
}

bool program_atomics::compare_exchange(void* at, unsigned size, std::uint64_t& expected, std::uint64_t desired,
                                       bool weak, std::memory_order success, std::memory_order failure,
                                       const void* code, event_id like) {
  const site where = code_.here(code);
  granule& g = memory_.at(at);
  location variable = variable_at(g, at, size, where, code);
  const std::uint64_t wanted = expected;
  const bool done = now_.search->compare_exchange(variable, expected, desired, weak, success, failure, like, where);
  check_access(g, at, size, code);
  if (done) leave_in_memory(g, at, size, desired);
  if (done && desired != wanted) now_.note_change();
  if (!done && expected == wanted) {
    ++now_.running().spurious_failures;
    now_.running().failed_spuriously = now_.search->position();
  }
  return done;
}

/// One that fails in a round which changes nothing is no other execution: so of each thread the first may fail.
void program_atomics::note_success_of_weak() noexcept {
  const unsigned most = now_.limits.spurious_of_thread;
  if (most == 0 || now_.running().spurious_failures >= most) now_.omitted.spurious_failures = true;
}

// A loop that waits may have fences in it: without those of the earlier rounds there is less order, not more.
void program_atomics::fence(std::memory_order order, const void* code) { now_.search->fence(order, code_.here(code)); }

void program_atomics::plain_load(void* at, unsigned size, const void* code, event_id like) {
  const std::uint64_t value = load(at, size, std::memory_order::relaxed, code, like);
  leave_in_memory(memory_.at(at), at, size, value);
}

/// The variable begins with what is there before the program writes.
void program_atomics::begin_plain_store(void* at, unsigned size, const void* code) {
  static_cast<void>(variable_at(memory_.at(at), at, size, code_.here(code), code));
}

void program_atomics::end_plain_store(void* at, unsigned size, const void* code) {
  const std::uint64_t written = wide_.read(at, size);
  const mixed_word word = words_.around(at, size);
  if (const atomic_place* const p = place_of(word, memory_.at(word.begin)))
    wide_.write(word.begin, word.size, p->in_memory);
  store(at, size, written, std::memory_order::relaxed, code);
}

bool program_atomics::take(void* at, unsigned size, std::uint64_t first, std::uint64_t count, std::uint64_t delta,
                           bool blocking, const void* code) {
  const site where = code_.here(code);
  state_of_lock lock = lock_at(at, size, where, code);
  const bool done = now_.search->take(lock.variable, first, count, delta, blocking, where);
  check_access(memory_.at(at), at, size, code);
  if (!done) return false;
  const exact::graph& graph = now_.search->current_graph();
  leave_in_memory(memory_.at(lock.at), lock.at, size,
                  graph.at(now_.search->running(), now_.search->position() - 1).value);
  return true;
}

void program_atomics::give_back(void* at, unsigned size, std::uint64_t delta, bool is_all, const void* code) {
  const site where = code_.here(code);
  state_of_lock lock = lock_at(at, size, where, code);
  std::uint64_t before = delta;
  if (is_all) {
    now_.search->store(lock.variable, 0, std::memory_order::release, where);
  } else {
    before = now_.search->rmw(lock.variable, rmw_op::sub, delta, std::memory_order::release, where);
  }
  check_access(memory_.at(at), at, size, code);
  leave_in_memory(memory_.at(lock.at), lock.at, size, before - delta);
}

event_id program_atomics::arrive(const void* at, unsigned size, arriving how, const void* code) {
  const site where = code_.here(code);
  state_of_lock lock = lock_at(at, size, where, code);
  const event_id arrival = now_.search->arrive(lock.variable, how, where);
  now_.note_effect();
  check_access(memory_.at(at), at, size, code);
  return arrival;
}

/// The barrier may be destroyed meanwhile.
bool program_atomics::depart(event_id arrival, const void* code) {
  return now_.search->depart(arrival, code_.here(code));
}

void program_atomics::depart(const void* at, unsigned size, std::uint32_t round, bool by_token, const void* code) {
  const site where = code_.here(code);
  state_of_lock lock = lock_at(at, size, where, code);
  now_.note_effect();
  now_.search->depart(lock.variable, round, by_token, where);
}

bool program_atomics::has_late_departure(const void* at, unsigned size) {
  void* const state = words_.state_of(const_cast<void*>(at));
  const atomic_place* const p = place_of(words_.around(state, size), memory_.at(state));
  return p != nullptr && exact::has_late_departure(now_.search->current_graph(),
                                                   {static_cast<std::uint16_t>(exact::constructing), p->variable});
}

void program_atomics::lock(void* mutex, const void* code) {
  const site where = code_.here(code);
  state_of_lock at = lock_at(mutex, mutex_bytes, where, code);
  now_.search->mutex_lock(at.variable, where);
  check_access(memory_.at(mutex), mutex, mutex_bytes, code);
}

bool program_atomics::try_lock(void* mutex, exact::event_id like, const void* code) {
  const site where = code_.here(code);
  state_of_lock at = lock_at(mutex, mutex_bytes, where, code);
  const bool done = now_.search->mutex_try_lock(at.variable, like, where);
  check_access(memory_.at(mutex), mutex, mutex_bytes, code);
  return done;
}

void program_atomics::unlock(void* mutex, const void* code) {
  const site where = code_.here(code);
  state_of_lock at = lock_at(mutex, mutex_bytes, where, code);
  now_.search->mutex_unlock(at.variable, where);
  check_access(memory_.at(mutex), mutex, mutex_bytes, code);
}

location program_atomics::variable_at(granule& g, const void* at, unsigned size, const site& where, const void* code) {
  atomic_place* const p = place_of({static_cast<std::byte*>(const_cast<void*>(at)), size}, g);
  if (p != nullptr && p->is_lock) begin_again_if_others_use(*p, const_cast<void*>(at), false, code);
  return any_variable_at(g, at, size, where, code);
}

location program_atomics::any_variable_at(granule& g, const void* at, unsigned size, const site& where,
                                          const void* code) {
  this_process.touched = {static_cast<const std::byte*>(at), size, code};
  if ((reinterpret_cast<std::uintptr_t>(at) & (size - 1)) != 0) {
    code_.fail(failure::misuse, fmt::format("an atomic operation of {} bytes on the misaligned address {}", size, at),
               code);
  }
  const mixed_word word = words_.around(const_cast<void*>(at), size);
  if (word.size != size) require_no_write_beside(word, at, size);
  location variable = variable_of(word, word.begin == at ? g : memory_.at(word.begin), where, code);
  variable.accessed = word.part_at(at, size);
  if (!variable.accessed.is_whole()) now_.omitted.mixed_sizes = true;
  return variable;
}

/// No other thread has written to the rest of the word otherwise than atomically, so that this one does not know of it.
void program_atomics::require_no_write_beside(const mixed_word& word, const void* at, unsigned size) {
  if (now_.is_alone()) return;
  for (unsigned i = 0; i < word.size; i += granule_bytes) {
    const std::byte* const begin = word.begin + i;
    const byte_mask of_word = bytes_from(offset_in_granule(begin), word.size - i);
    const bool is_here =
        reinterpret_cast<std::uintptr_t>(at) / granule_bytes == reinterpret_cast<std::uintptr_t>(begin) / granule_bytes;
    const byte_mask accessed = is_here ? bytes_from(offset_in_granule(at), size) : byte_mask{0};
    memory_.at(begin).for_each_access([&](const plain_access& old) {
      const bool is_beside = (old.bytes & of_word) != 0 && (old.bytes & accessed) == 0 && old.is_write;
      if (!is_beside || old.thread == now_.search->running() || now_.search->knows(old.thread, old.position)) return;
      code_.refuse(write_beside_parts, old.at.code);
    });
  }
}

/// A lock has all of its memory.
location program_atomics::whole_variable_at(granule& g, const void* at, unsigned size, const site& where,
                                            const void* code) {
  const location variable = any_variable_at(g, at, size, where, code);
  if (!variable.accessed.is_whole()) code_.refuse("an atomic operation on the memory of a lock", code);
  return variable;
}

/// The variable that is the state of the lock.
program_atomics::state_of_lock program_atomics::lock_at(const void* at, unsigned size, const site& where,
                                                        const void* code) {
  auto* const lock = const_cast<void*>(at);
  if (void* const state = words_.state_of(lock); state != lock) {
    now_.omitted.lock_memory = true;
    return {whole_variable_at(memory_.at(state), state, size, where, code), state};
  }
  if (words_.around(lock, size).size != size) begin_again_with_lock(lock, code);
  granule& g = memory_.at(lock);
  const auto place = [&] { return place_of({static_cast<std::byte*>(lock), size}, g); };
  atomic_place* const p = place();
  if (p != nullptr && !p->is_lock) begin_again_if_others_use(*p, lock, true, code);
  const location found = whole_variable_at(g, lock, size, where, code);
  place()->is_lock = true;
  return {found, lock};
}

/// What lies there is taken for a lock from now on, or for none any more.
void program_atomics::begin_again_if_others_use(atomic_place& place, void* lock, bool is_lock, const void* code) {
  const bool is_reused =
      now_.on_a_stack(lock) && now_.concurrent_event(place.variable, false, now_.search->position()) == exact::nobody;
  if (!is_reused && !is_private(place, lock)) begin_again_with_lock(lock, code);
  place.is_lock = is_lock;
}

void program_atomics::begin_again_with_lock(void* lock, const void* code) {
  const std::string where = code_.to_text(code_.frame_of(code));
  words_.show_lock(lock, where);
  now_.search->give_up_sizes(fmt::format("atomic operations on the memory of a lock, at {}", where));
}

location program_atomics::variable_of(const mixed_word& word, granule& g, const site& where, const void* code) {
  const atomic_place* const p = place_of(word, g);
  if (p == nullptr || wide_.read(word.begin, word.size) != p->in_memory) {
    return new_variable_at(g, word.begin, word.size, where, code);
  }
  return now_.search->known_variable(p->variable, mask_of(word.size));
}

/// The variable that is that word, in the granule where it begins; nullptr: it is none.
atomic_place* program_atomics::place_of(const mixed_word& word, granule& g) {
  for (atomic_place& p : g.places()) {
    if (p.first == offset_in_granule(word.begin) && p.size == word.size && !p.is_upper) return &p;
  }
  return nullptr;
}

location program_atomics::new_variable_at(granule& g, const void* at, unsigned size, const site& where,
                                          const void* code) {
  const auto first = static_cast<std::uint8_t>(offset_in_granule(at));
  const auto* const begin = static_cast<const std::byte*>(at) - first;
  const auto bytes = static_cast<std::uint8_t>(size);
  granule* const upper = size > granule_bytes ? &memory_.at(begin + granule_bytes) : nullptr;
  make_room(g, begin, bytes_from(first, size), at, size, code);
  if (upper != nullptr) make_room(*upper, begin + granule_bytes, bytes_from(0, size - granule_bytes), at, size, code);
  memory_.beginning().keep(at, size);
  const std::uint16_t variable = variable_number(g, at, size, code);
  const std::uint64_t value = wide_.read(at, size);
  const location found = now_.search->find_variable(variable, mask_of(size), value, where);
  g.atomics->now.push_back({first, bytes, false, false, variable, value});
  if (upper != nullptr) upper->atomics->now.push_back({0, bytes, true, false, variable, 0});
  return found;
}

/// Ends the variables that lie in `bytes` of the granule at `part`, for one of `size` bytes at `at`.
void program_atomics::make_room(granule& g, const std::byte* part, byte_mask bytes, const void* at, unsigned size,
                                const void* code) {
  if (g.atomics == nullptr) g.atomics = std::make_unique<atomic_places>();
  for (std::size_t i = g.places().size(); i-- != 0;) {
    const atomic_place p = g.places()[i];
    if ((p.bytes() & bytes) == 0) continue;
    const bool same = part + p.first == at && p.size == size && !p.is_upper;
    const bool reused = same && now_.on_a_stack(at) &&
                        now_.concurrent_event(p.variable, false, now_.search->position()) == exact::nobody;
    if (!reused && !is_private(p, part + p.first)) {
      if (same) code_.refuse("an atomic variable that code without instrumentation has written", code);
      begin_again_with_word(p, part, at, size, code);
    }
    memory_.end_atomic(g, part, p);
  }
}

/// The variable at `p` is also accessed by operations of that other size.
void program_atomics::begin_again_with_word(const atomic_place& p, const std::byte* part, const void* at, unsigned size,
                                            const void* code) {
  auto* const granule_begin = const_cast<std::byte*>(part);
  const mixed_word there{p.is_upper ? granule_begin - granule_bytes : granule_begin + p.first, p.size};
  const std::string where = code_.to_text(code_.frame_of(code));
  words_.show(there, {static_cast<std::byte*>(const_cast<void*>(at)), size}, where);
  now_.search->give_up_sizes(fmt::format("atomic operations of different sizes on the same memory, at {}", where));
}

std::uint16_t program_atomics::variable_number(granule& g, const void* at, unsigned size, const void* code) {
  const auto first = static_cast<std::uint8_t>(offset_in_granule(at));
  const std::uint8_t generation = g.atomics->generations[first];
  for (const atomic_places::numbered& k : g.atomics->known) {
    if (k.generation == generation && k.place.first == first && k.place.size == size) return k.place.variable;
  }
  if (variables_.size() == exact::max_thread_events) {
    now_.search->give_up(fmt::format("limit reached: {} atomic variables", exact::max_thread_events));
  }
  if (generation == 0xff) code_.refuse("an atomic variable that is constructed 255 times in the same place", code);
  const auto variable = static_cast<std::uint16_t>(variables_.size());
  variables_.push_back(at);
  g.atomics->known.push_back({generation, {first, static_cast<std::uint8_t>(size), false, false, variable, 0}});
  return variable;
}

/// Whether the variable lies on the running thread's stack, and no other thread has used it. Compilers do not show
/// plain accesses to such variables: it may have gone, and something else may have come in its place.
bool program_atomics::is_private(const atomic_place& place, const void* at) const {
  if (!now_.on_own_stack(at)) return false;
  const exact::graph& graph = now_.search->current_graph();
  const event_id init{static_cast<std::uint16_t>(exact::constructing), place.variable};
  for (unsigned t = 1; t <= max_threads; ++t) {
    if (t == now_.search->running()) continue;
    for (unsigned i = 0; i != graph.size(t); ++i) {
      if (graph.at(t, i).accesses(init)) return false;
    }
  }
  return true;
}

/// Notes the value that an atomic write has left in memory: if another value is there later, code without hooks has
/// written it.
void program_atomics::leave_in_memory(granule& g, void* at, unsigned size, std::uint64_t value) {
  wide_.write(at, size, value);
  const mixed_word word = words_.around(at, size);
  atomic_place* const p = place_of(word, word.begin == at ? g : memory_.at(word.begin));
  if (p != nullptr) p->in_memory = word.size == size ? value : wide_.read(word.begin, word.size);
  now_.alike.write(now_, at, size);
}

/// Whether the running thread's last event, a store, leaves the variable as it was.
bool program_atomics::repeats_value() const {
  const unsigned stored = now_.search->position() - 1;
  return restores_value(stored, stored);
}

bool program_atomics::restores_value(unsigned position, unsigned since) const {
  const exact::graph& graph = now_.search->current_graph();
  const auto self = static_cast<std::uint16_t>(now_.search->running());
  const event_id last{self, static_cast<std::uint16_t>(position)};
  event_id first = last;
  event_id before = graph.at(last).older;
  while (before.thread == self && before.index >= since) first = std::exchange(before, graph.at(before).older);
  if (before == exact::nobody || graph.at(before).value != graph.at(last).value) return false;
  if (before.thread == exact::constructing || now_.search->knows().covers(before)) return true;
  // A read-modify-write knows what it has read.
  return first.index != 0 && graph.at(self, first.index - 1U).source == before;
}

/// load() unlocks with relaxed order, which the next store() formally races with.
bool program_atomics::unlocks_shared_pointer(rmw_op op, unsigned size, std::uint64_t operand, std::memory_order order,
                                             const void* code) {
  return op == rmw_op::sub && operand == 1 && size == sizeof(void*) && order == std::memory_order::relaxed &&
         code_.is_from(code, "bits/shared_ptr_atomic.h");
}

/// The running thread's last operation.
void program_atomics::note_late_access(const void* at, unsigned size, const void* code) {
  const exact::graph& graph = now_.search->current_graph();
  const bool is_write = graph.at(now_.search->running(), now_.search->position() - 1).changes_memory();
  memory_.note_late_access(at, bytes_from(offset_in_granule(at), size), {true, is_write}, code);
  if (offset_in_granule(at) + size <= granule_bytes) return;
  const void* const rest = static_cast<const std::byte*>(at) + granule_bytes;
  memory_.note_late_access(rest, bytes_from(0, size - granule_bytes), {true, is_write}, code);
}

void program_atomics::check_parts(granule& g, const void* at, unsigned size, const void* code) {
  check_part(g, at, bytes_from(offset_in_granule(at), size), at, size, code);
  if (size <= granule_bytes) return;
  const void* const rest = static_cast<const std::byte*>(at) + granule_bytes;
  check_part(memory_.at(rest), rest, bytes_from(0, size - granule_bytes), at, size, code);
}

void program_atomics::check_part(granule& g, const void* part, byte_mask bytes, const void* at, unsigned size,
                                 const void* code) {
  memory_.heap().check(g, part, bytes, at, size, {true, false}, code);
  if (now_.is_alone() || !g.has_accesses()) return;
  const exact::graph& graph = now_.search->current_graph();
  const node& n = graph.at(now_.search->running(), now_.search->position() - 1);
  plain_access a{code_.step_here(code), bytes, n.changes_memory()};
  --a.position;
  g.for_each_access([&](const plain_access& old) { memory_.check_against(old, a, at, false); });
}

}  // namespace runq::model::compiled
