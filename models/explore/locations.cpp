// SPDX-License-Identifier: MIT
#include "locations.hpp"

#include <algorithm>
#include <cstring>

#include "arena.hpp"
#include "deviations.hpp"
#include "locks.hpp"
#include "report.hpp"
#include "runtime.hpp"
#include "scheduler.hpp"
#include "threads.hpp"

namespace runq::model::explore {

namespace {

pool<location> location_pool;
pool<store_record> store_pool;

/// What all threads know together that have made seq_cst fences.
std::uint32_t of_fences[max_threads];
/// The order of seq_cst operations: that in which they are executed.
std::uint64_t total_order = 0;

[[nodiscard]] bool is_seq_cst(std::memory_order order) noexcept { return order == std::memory_order::seq_cst; }

[[nodiscard]] wide in_memory(std::uintptr_t address, unsigned size) noexcept {
  wide value = 0;
  std::memcpy(&value, reinterpret_cast<const void*>(address), size);
  return value;
}
void put_into_memory(std::uintptr_t address, unsigned size, wide value) noexcept {
  std::memcpy(reinterpret_cast<void*>(address), &value, size);
}

[[nodiscard]] wide cut_to(wide value, unsigned size) noexcept {
  return size == sizeof value ? value : value & ((static_cast<wide>(1) << (size * 8)) - 1);
}

void give_back(store_record* s) noexcept {
  release(s->released);
  s->released = nullptr;
  store_pool.give_back(s);
}

[[nodiscard]] store_record* new_store(wide value, const origin& by) {
  store_record* const s = store_pool.take();
  *s = {};
  s->value = value;
  s->by_code = by;
  s->step = no_step;
  return s;
}

/// From now on only what memory holds.
void begin_again(location& l, unsigned size) {
  for (unsigned i = 0; i != l.count; ++i) give_back(l.stores[i]);
  l.size = static_cast<std::uint8_t>(size);
  l.count = 1;
  l.stores[0] = new_store(in_memory(l.address, size), {});
  l.stores[0]->is_known = true;
}

[[nodiscard]] location& location_at(std::uintptr_t address, unsigned size) {
  cell& c = cell_at(address);
  for (location* l = c.locations; l != nullptr; l = l->next) {
    if (l->address != address) continue;
    // Somebody has written whom the runtime did not see.
    if (l->size != size || l->stores[l->count - 1]->value != in_memory(address, size)) {
      begin_again(*l, size);
      break_silence();
    }
    return *l;
  }
  location* const l = location_pool.take();
  l->address = address;
  l->count = 0;
  l->next = c.locations;
  c.locations = l;
  begin_again(*l, size);
  return *l;
}

[[nodiscard]] bool is_observed(const store_record& s, bool by_seq_cst) noexcept {
  if (s.is_known) return true;
  for (unsigned i = 0; i != s.observers; ++i) {
    const observer& o = s.by[i];
    if (self->now.ordered[o.thread] >= o.epoch) return true;
    if (o.total_order != 0 && (by_seq_cst || o.total_order <= self->now.fence)) return true;
    if (by_seq_cst && of_fences[o.thread] >= o.epoch) return true;
  }
  return false;
}

/// The oldest store that the running thread may still read.
[[nodiscard]] unsigned floor_of(const location& l, bool by_seq_cst) noexcept {
  unsigned i = l.count - 1U;
  while (i != 0 && !is_observed(*l.stores[i], by_seq_cst)) --i;
  return i;
}

void observe(store_record& s, bool by_seq_cst) noexcept {
  if (s.is_known && !by_seq_cst) return;
  const auto mine = static_cast<std::uint16_t>(self->number);
  for (unsigned i = 0; i != s.observers; ++i) {
    observer& o = s.by[i];
    if (o.thread != mine) continue;
    if (by_seq_cst && o.total_order == 0) o.total_order = total_order;
    return;
  }
  if (s.observers == observers_kept) {
    s.is_known = true;
    return;
  }
  s.by[s.observers++] = {self->epoch(), mine, by_seq_cst ? total_order : 0};
}

void note_change(location& l) noexcept {
  last_change = counts.steps;
  l.changed_at = step_now();
  l.changed_by = self->number;
  if (!ticks()) break_silence();
}
/// The running thread reads the variable.
void note_look(const location& l) noexcept {
  if (is_fair && l.changed_by != self->number && l.changed_at >= silent_since) break_silence();
}

/// Puts a store behind number `after`; drops the oldest one of too many.
void insert(location& l, unsigned after, store_record* s) noexcept {
  if (s->value != l.stores[l.count - 1]->value) note_change(l);
  std::copy_backward(l.stores + after + 1, l.stores + l.count, l.stores + l.count + 1);
  l.stores[after + 1] = s;
  ++l.count;
  if (notes_pairs) {
    note_pair(pair_kind::next_store, l.stores[after]->by_code, s->by_code);
    if (after + 2U != l.count) note_pair(pair_kind::next_store, s->by_code, l.stores[after + 2]->by_code);
  }
  if (after + 2U == l.count) put_into_memory(l.address, l.size, s->value);
  if (l.count <= stores_kept) return;
  give_back(l.stores[0]);
  std::copy(l.stores + 1, l.stores + l.count, l.stores);
  --l.count;
}

/// What the thread does next is not part of what it has handed on.
void end_release(std::memory_order order) noexcept {
  if (releases(order)) begin_event();
}

[[nodiscard]] unsigned place_of(const location& l, const store_record& s) noexcept {
  return static_cast<unsigned>(std::find(l.stores, l.stores + l.count, &s) - l.stores);
}

/// The clock that a store of the running thread hands on.
[[nodiscard]] message* message_of_store(std::memory_order order) {
  if (releases(order)) return self->now.snapshot();
  return self->has_released ? self->released.snapshot() : nullptr;
}

void acquire_from(const store_record& s, std::memory_order order) {
  if (s.released == nullptr) return;
  if (acquires(order)) {
    self->now.join(s.released);
  } else {
    self->pending.join(s.released);
    self->has_pending = true;
  }
}

void access_atomically(std::uintptr_t address, unsigned size, bool writes, const void* code) {
  const auto flags = static_cast<std::uint8_t>(is_atomic | (writes ? is_a_write : 0));
  switch (size) {
    case 1: access<1>(address, flags, code); break;
    case 2: access<2>(address, flags, code); break;
    case 4: access<4>(address, flags, code); break;
    case 8: access<8>(address, flags, code); break;
    default: access<16>(address, flags, code);
  }
}

/// `changes`: unless it is a compare-exchange that fails, which nobody knows before.
void begin_operation(std::uintptr_t address, unsigned size, bool writes, bool changes, std::memory_order order,
                     const void* code) {
  const auto* const object = reinterpret_cast<const void*>(address);
  changes ? step_before_change(object) : step({object, false});
  begin_event();
  if (is_seq_cst(order)) ++total_order;
  access_atomically(address, size, writes, code);
}

/// A store to read: mostly the newest.
[[nodiscard]] store_record& choose_store(location& l, std::memory_order order) {
  const unsigned newest = l.count - 1U;
  if (newest == 0 || !choices.weak_memory) return *l.stores[newest];
  const unsigned floor = floor_of(l, is_seq_cst(order));
  if (floor == newest) return *l.stores[newest];
  return *l.stores[newest - deviate(deviation_kind::old_value, newest - floor, [=] {
                     if (!choices.memory.happens(choices.old_values)) return 0U;
                     return newest - floor - choices.memory.below(newest - floor + 1);
                   })];
}

/// Ends a read-modify-write that has read `from`.
void write_after(location& l, store_record& from, wide value, std::memory_order order, const void* code) {
  acquire_from(from, order);
  message* const own = message_of_store(order);
  store_record* const s = new_store(value, origin_here(code));
  s->released = joined(own, from.released);  // it continues the release sequence
  release(own);
  observe(*s, is_seq_cst(order));
  s->step = last_step();
  know_last_step(s->released);
  from.is_read_by_rmw = true;
  const unsigned after = place_of(l, from);
  if (after + 1U != l.count) ++counts.inserted;
  insert(l, after, s);
  end_release(order);
}

void note(event_kind kind, const location& l, const store_record& read, wide written, std::memory_order order,
          const void* code) {
  if (!telling) return;
  shown_step s;
  s.kind = kind;
  s.address = l.address;
  s.order = order;
  s.code = code;
  s.value = static_cast<std::uint64_t>(read.value);
  s.written = static_cast<std::uint64_t>(written);
  s.reads_from = read.step;
  s.newest = static_cast<std::uint64_t>(l.stores[l.count - 1]->value);
  s.stale = &read != l.stores[l.count - 1];
  note_step(s);
}

void count_read(const location& l, const store_record& s, const void* code) noexcept {
  note_look(l);
  const bool is_old = &s != l.stores[l.count - 1];
  if (is_old) ++counts.old_values;
  if (notes_pairs) note_pair(is_old ? pair_kind::read_old : pair_kind::read, s.by_code, origin_here(code));
}

}  // namespace

wide atomic_load(std::uintptr_t address, unsigned size, std::memory_order order, const void* code) {
  begin_operation(address, size, false, false, order, code);
  location& l = location_at(address, size);
  store_record& s = choose_store(l, order);
  count_read(l, s, code);
  note(event_kind::load, l, s, 0, order, code);
  observe(s, is_seq_cst(order));
  acquire_from(s, order);
  know_last_step(nullptr);
  return s.value;
}

void atomic_store(std::uintptr_t address, unsigned size, wide value, std::memory_order order, const void* code) {
  begin_operation(address, size, true, true, order, code);
  location& l = location_at(address, size);
  store_record* const s = new_store(cut_to(value, size), origin_here(code));
  s->released = message_of_store(order);
  unsigned after = l.count - 1U;
  if (choices.weak_memory && after != 0) {
    after -= deviate(deviation_kind::insertion, after, [&] {
      if (!choices.memory.happens(choices.insertions)) return 0U;
      const unsigned floor = floor_of(l, is_seq_cst(order));
      return after - floor - choices.memory.below(after - floor + 1);
    });
    if (mode == deviation_mode::followed) after = std::max(after, floor_of(l, is_seq_cst(order)));
    while (after + 1U != l.count && l.stores[after]->is_read_by_rmw) ++after;
  }
  observe(*s, is_seq_cst(order));
  if (after + 1U != l.count) ++counts.inserted;
  if (telling) {
    shown_step shown;
    shown.kind = event_kind::store;
    shown.address = address;
    shown.order = order;
    shown.code = code;
    shown.value = static_cast<std::uint64_t>(s->value);
    note_step(shown);
  }
  s->step = last_step();
  know_last_step(s->released);
  insert(l, after, s);
  end_release(order);
}

wide atomic_rmw(std::uintptr_t address, unsigned size, rmw_op op, wide operand, std::memory_order order,
                const void* code) {
  begin_operation(address, size, true, true, order, code);
  location& l = location_at(address, size);
  store_record* from = &choose_store(l, order);
  // What another read-modify-write has read is not read by this one; what is newest has not been read.
  if (from->is_read_by_rmw) from = l.stores[l.count - 1];
  const wide old = from->value;
  wide desired = operand;
  if (size <= 8) {
    desired = apply(op, static_cast<std::uint64_t>(old), static_cast<std::uint64_t>(operand));
  } else if (op != rmw_op::exchange) {
    refuse("arithmetic on an atomic of 128 bits");
  }
  desired = cut_to(desired, size);
  count_read(l, *from, code);
  note(event_kind::rmw, l, *from, desired, order, code);
  observe(*from, is_seq_cst(order));
  write_after(l, *from, desired, order, code);
  return old;
}

bool atomic_compare_exchange(std::uintptr_t address, unsigned size, wide& expected, wide desired, bool is_weak,
                             std::memory_order success, std::memory_order failure, const void* code) {
  const bool is_total = is_seq_cst(success) || is_seq_cst(failure);
  begin_operation(address, size, false, true, is_total ? std::memory_order::seq_cst : success, code);
  location& l = location_at(address, size);
  store_record* from = &choose_store(l, is_total ? std::memory_order::seq_cst : failure);
  const bool for_no_reason =
      is_weak && deviate(deviation_kind::spurious_failure, 1, [] {
                   return static_cast<std::uint32_t>(choices.spurious.happens(choices.spurious_failures));
                 }) != 0;
  if (from->value == expected && from->is_read_by_rmw && !for_no_reason) from = l.stores[l.count - 1];
  count_read(l, *from, code);
  if (from->value != expected || for_no_reason) {
    note(event_kind::cas_failure, l, *from, 0, failure, code);
    observe(*from, is_seq_cst(failure));
    acquire_from(*from, failure);
    know_last_step(nullptr);
    expected = from->value;
    return false;
  }
  access_atomically(address, size, true, code);
  desired = cut_to(desired, size);
  note(event_kind::cas_success, l, *from, desired, success, code);
  observe(*from, is_seq_cst(success));
  write_after(l, *from, desired, success, code);
  return true;
}

void seq_cst_fence() {
  if (self->has_pending) self->now.join(self->pending);
  ++total_order;
  for (std::uint32_t i = 0; i != clock_width; ++i) {
    of_fences[i] = self->now.ordered[i] = std::max(of_fences[i], self->now.ordered[i]);
  }
  self->now.fence = total_order;
  self->released.copy(self->now);
  self->has_released = true;
  begin_event();
}

void seq_cst_fence_in_all_threads() {
  thread* const caller = self;
  // The second time each one learns what all others had done, those that have ended, too.
  for (int round = 0; round != 2; ++round) {
    for (std::uint32_t i = 0; i != clock_width; ++i) {
      self = thread_at(i);
      if (self == nullptr) continue;
      if (self->state == thread_state::ready || self->state == thread_state::blocked) {
        seq_cst_fence();
      } else {
        for (std::uint32_t k = 0; k != clock_width; ++k) {
          of_fences[k] = std::max(of_fences[k], self->now.ordered[k]);
        }
      }
    }
  }
  self = caller;
}

void atomic_fence(std::memory_order order, const void* code) {
  if (order == std::memory_order::relaxed) return;
  // Those that are seq_cst have an order.
  step_before_change(is_seq_cst(order) ? &of_fences : nullptr);
  begin_event();
  if (telling) {
    shown_step shown;
    shown.kind = event_kind::fence;
    shown.order = order;
    shown.code = code;
    note_step(shown);
  }
  if (is_seq_cst(order)) return seq_cst_fence();
  if (acquires(order) && self->has_pending) self->now.join(self->pending);
  if (releases(order)) {
    self->released.copy(self->now);
    self->has_released = true;
    begin_event();
  }
}

void forget_locations(cell& c) {
  while (c.locations != nullptr) {
    location* const l = c.locations;
    c.locations = l->next;
    for (unsigned i = 0; i != l->count; ++i) give_back(l->stores[i]);
    location_pool.give_back(l);
  }
}

void forget_written_objects(cell& c, std::uintptr_t address, std::size_t size) {
  for (location** at = &c.locations; *at != nullptr;) {
    location* const l = *at;
    if (l->address >= address + size || address >= l->address + l->size) {
      at = &l->next;
      continue;
    }
    *at = l->next;
    for (unsigned i = 0; i != l->count; ++i) give_back(l->stores[i]);
    location_pool.give_back(l);
  }
  forget_written_locks(c, address, size);
}

}  // namespace runq::model::explore
