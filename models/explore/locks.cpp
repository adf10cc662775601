// SPDX-License-Identifier: MIT
#include "locks.hpp"

#include "arena.hpp"
#include "runtime.hpp"
#include "threads.hpp"

namespace runq::model::explore {

namespace {

pool<lock_record> records;

void remove(lock_record** at) noexcept {
  lock_record* const r = *at;
  *at = r->next;
  release(r->by_writers);
  release(r->by_readers);
  *r = {};
  records.give_back(r);
}

[[nodiscard]] lock_record& record_of(const void* object) {
  const auto address = reinterpret_cast<std::uintptr_t>(object);
  cell& c = cell_at(address);
  for (lock_record* r = c.locks; r != nullptr; r = r->next) {
    if (r->address == address) return *r;
  }
  lock_record* const r = records.take();
  *r = {address, c.locks, nullptr, nullptr, {}};
  c.locks = r;
  return *r;
}

void add(message*& to) {
  message* const own = self->now.snapshot();
  message* const both = joined(to, own);
  release(own);
  release(to);
  to = both;
  begin_event();
}

}  // namespace

void note_call_for(const volatile void* object, const void* code) {
  origin& last = record_of(const_cast<const void*>(object)).last_call;
  const origin here = origin_here(code);
  note_pair(pair_kind::next_call, last, here);
  last = here;
}
void acquire(const void* object) {
  if (!exploring) return;
  self->now.join(record_of(object).by_writers);
}
void acquire_as_writer(const void* object) {
  if (!exploring) return;
  lock_record& r = record_of(object);
  self->now.join(r.by_writers);
  self->now.join(r.by_readers);
}
void hand_on(const void* object) {
  if (!exploring) return;
  lock_record& r = record_of(object);
  release(r.by_writers);
  release(r.by_readers);
  r.by_readers = nullptr;
  r.by_writers = self->now.snapshot();
  begin_event();
}
void add_to(const void* object) {
  if (exploring) add(record_of(object).by_writers);
}
void hand_on_as_reader(const void* object) {
  if (exploring) add(record_of(object).by_readers);
}

void forget_locks(cell& c) {
  while (c.locks != nullptr) remove(&c.locks);
}
void forget_written_locks(cell& c, std::uintptr_t address, std::size_t size) {
  for (lock_record** at = &c.locks; *at != nullptr;) {
    // Its state begins there.
    if ((*at)->address >= address && (*at)->address < address + size) {
      remove(at);
    } else {
      at = &(*at)->next;
    }
  }
}

}  // namespace runq::model::explore
