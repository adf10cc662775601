// SPDX-License-Identifier: MIT
// Locks, condition variables, barriers and semaphores: what became of each, and who holds it or waits for it.
#include <cstring>
#include <mutex>

#include <fmt/format.h>

#include "session.hpp"

namespace runq::model::compiled {

std::string session::name_of_object(const object_kind& kind, const void* at) {
  const std::string name = name_of_memory(at);
  return name.empty() ? fmt::format("the {} at {}", kind.name, at) : fmt::format("the {} {}", kind.name, name);
}

void* session::mark_of(const object_kind& kind, const void* at) {
  if (kind.mark == mark_elsewhere) return &small_objects_[at].now;
  return static_cast<std::byte*>(const_cast<void*>(at)) + kind.mark;
}

namespace {

[[nodiscard]] std::uint64_t read_mark(const void* mark) noexcept {
  std::uint64_t value = 0;
  std::memcpy(&value, mark, sizeof value);
  return value;
}
void write_mark(void* mark, std::uint64_t value) noexcept { std::memcpy(mark, &value, sizeof value); }

}  // namespace

void session::note_object_outside(const object_kind& kind, void* at) {
  const std::uint64_t mark = marks::of(at, marks::initialised);
  if (kind.mark != mark_elsewhere) return write_mark(mark_of(kind, at), mark);
  const std::lock_guard lock(outside_);
  small_objects_[at] = {mark, mark};
}
void session::forget_object_outside(const void* at) {
  const std::lock_guard lock(outside_);
  small_objects_.erase(at);
}

/// Those that were initialised outside of the check: unlocked, the C library's hold another value than the checker's.
void session::take_over_spin_locks() {
  constexpr int unlocked = 1;
  for (const auto& [at, object] : small_objects_) {
    auto* const lock = static_cast<int*>(const_cast<void*>(at));
    if ((memory_.contains(at) || heap_.owns(at)) && *lock == unlocked) *lock = 0;
  }
}

/// The object's memory is there, and may be used.
void session::require_memory(const object_kind& kind, const void* at, bool is_write, const void* code) {
  touch(at, kind.size, code);
  if (reinterpret_cast<std::uintptr_t>(at) % kind.alignment != 0) {
    fail(failure::misuse, fmt::format("a {} is used at the misaligned address {}", kind.name, at), code);
  }
  if (heap_.owns(at)) static_cast<void>(usable_block(at, kind.size, {is_write, true}, code));
}

/// An access that conflicts with other threads' initialisation and destruction, and with their free(). Only the object
/// as a whole can be written: its words are used by atomic operations, which other threads may make at the same time.
void session::access_object(const object_kind& kind, const void* at, bool is_write, const void* code) {
  if (kind.mark == mark_elsewhere) access(mark_of(kind, at), sizeof(std::uint64_t), is_write, code);
  if (is_write) return access(at, kind.size, true, code);
  if (kind.mark != mark_elsewhere) access(mark_of(kind, at), sizeof(std::uint64_t), false, code);
}

std::string session::where_object_began(const void* at) {
  const auto known = objects_.find(at);
  if (known == objects_.end()) return "before main()";
  return fmt::format("by T{} at {}", known->second.initialised.thread - 1, to_text(known->second.initialised.at));
}

/// Before a call uses the object, or destroys it.
void session::require_object(const object_kind& kind, const void* at, const char* call, const void* code) {
  const std::uint64_t mark = read_mark(mark_of(kind, at));
  switch (marks::state_of(at, mark)) {
    case object_state::initialised: return;
    case object_state::zeros:
      if (kind.may_be_zeros) return;
      fail(failure::misuse, fmt::format("{} is {} that was never initialised", name_of_object(kind, at), call), code);
    case object_state::destroyed: {
      const object_history& h = objects_[at];
      if (h.destroyed.thread != 0) show(event_kind::cell_write, h.destroyed, at);
      fail(failure::misuse,
           fmt::format("{} is {} after or while it is destroyed by T{} at {}", name_of_object(kind, at), call,
                       h.destroyed.thread - 1, to_text(h.destroyed.at)),
           code);
    }
    case object_state::something_else: break;
  }
  const void* const original = marks::original(mark);
  if (objects_.contains(original)) {
    fail(failure::misuse,
         fmt::format("{} is {} that is a copy of {}, initialised {}: only the original may be used",
                     name_of_object(kind, at), call, name_of_object(kind, original), where_object_began(original)),
         code);
  }
  fail(failure::misuse, fmt::format("{} is {} that was never initialised", name_of_object(kind, at), call), code);
}

void session::use_object(const object_kind& kind, const void* at, const void* code) {
  require_memory(kind, at, false, code);
  require_object(kind, at, "used", code);
  access_object(kind, at, false, code);
}

/// Another thread uses the object at the same time: what the failure is about.
std::string session::while_in_use() {
  if (object_call_.what == nullptr) return {};
  if (object_call_.kind == nullptr) return fmt::format("a key is {} while in use: ", object_call_.what);
  return fmt::format("{} is {} while in use: ", name_of_object(*object_call_.kind, object_call_.at), object_call_.what);
}

void session::initialise_object(const object_kind& kind, void* at, const void* code) {
  if (search_ == nullptr) return note_object_outside(kind, at);
  require_memory(kind, at, true, code);
  // A function may leave its variables as they are; the next one finds them in its own.
  if (marks::state_of(at, read_mark(mark_of(kind, at))) == object_state::initialised && !on_a_stack(at)) {
    fail(failure::misuse,
         fmt::format("{} is initialised again: it was initialised {}, and not destroyed since",
                     name_of_object(kind, at), where_object_began(at)),
         code);
  }
  object_call_ = {&kind, at, "initialised"};
  access_object(kind, at, true, code);
  object_call_ = {};
  object_history& history = objects_[at];
  history = {step_here(code), {}, history.lives + 1};
  std::memset(at, 0, kind.size);
  write_mark(mark_of(kind, at), marks::of(at, marks::initialised));
}

void session::destroy_object(const object_kind& kind, void* at, const void* code) {
  require_memory(kind, at, true, code);
  require_object(kind, at, "destroyed", code);
  object_call_ = {&kind, at, "destroyed"};
  access_object(kind, at, true, code);
  object_call_ = {};
  require_idle(at, kind.size, "destroyed", code);
  objects_[at].destroyed = step_here(code);
  write_mark(mark_of(kind, at), marks::of(at, marks::destroyed));
}

/// What is there next is another object.
void session::forget_objects(const void* begin, const void* end) {
  for (auto o = small_objects_.lower_bound(begin); o != small_objects_.end() && o->first < end; ++o) o->second.now = 0;
}

// --- who holds it, and who waits -----------------------------------------------------------------------------------

session::held_lock& session::holding(const void* lock) {
  std::vector<held_lock>& all = running().held;
  for (held_lock& h : all) {
    if (h.lock == lock) return h;
  }
  return all.emplace_back(held_lock{lock, 0, nullptr, {}});
}

void session::note_held(const object_kind& kind, const void* lock, const void* code) {
  held_lock& h = holding(lock);
  if (++h.times != 1) return;
  h.kind = &kind;
  h.since = place_in_program(code);
}

void session::require_held(const object_kind& kind, const void* lock, const void* code) {
  if (held(lock) != 0) return;
  fail(failure::misuse,
       fmt::format("T{} gives back {}, which it does not hold", search_->running() - 1, name_of_object(kind, lock)),
       code);
}

/// No thread holds a lock in that memory, or waits for a condition variable there. Other threads' calls that are not
/// ordered with this one were found before, as conflicting accesses.
void session::require_idle(const void* begin, std::size_t size, const char* what, const void* code) {
  const auto within = [=](const void* at) { return at >= begin && at < static_cast<const std::byte*>(begin) + size; };
  for (unsigned t = 1; t <= max_threads; ++t) {
    for (const held_lock& h : threads_[t].held) {
      if (h.times == 0 || !within(h.lock)) continue;
      fail(failure::misuse,
           fmt::format("{} is {} while T{} holds it, taken at {}", name_of_object(*h.kind, h.lock), what, t - 1,
                       to_text(h.since)),
           code);
    }
  }
  for (auto& [key, place] : waiting_places_) {
    if (!within(key.first)) continue;
    for (unsigned i = 0; i != std::min(place.begun, waiting_place::most); ++i) {
      if (place.woken[i] != 0 || place.waiters[i].thread == 0) continue;
      fail(failure::misuse,
           fmt::format("{} is {} while T{} waits for it at {}", name_of_object(a_condition_variable, key.first), what,
                       place.waiters[i].thread - 1, to_text(place.waiters[i].at)),
           code);
    }
  }
}

/// Reports a lock whose thread has ended: no other thread may give it back. If one waits for it, that is a deadlock.
/// The calls of a generated program may end between lock() and unlock().
bool session::has_abandoned_locks() {
  for (unsigned t = 1; t <= max_threads; ++t) {
    if (!threads_[t].is_started || !threads_[t].has_ended || threads_[t].has_called) continue;
    for (const held_lock& h : threads_[t].held) {
      if (h.times == 0) continue;
      search_->report(failure::misuse,
                      fmt::format("T{} has ended while it holds {}, taken at {}", t - 1,
                                  name_of_object(*h.kind, h.lock), to_text(h.since)),
                      {"", 0, frames_.at(h.since)});
      return true;
    }
  }
  return false;
}

}  // namespace runq::model::compiled
