// SPDX-License-Identifier: MIT
#include "program_objects.hpp"

#include <cstring>

#include <fmt/format.h>

namespace runq::model::compiled {

namespace {

[[nodiscard]] std::uint64_t read_mark(const void* mark) noexcept {
  std::uint64_t value = 0;
  std::memcpy(&value, mark, sizeof value);
  return value;
}
void write_mark(void* mark, std::uint64_t value) noexcept { std::memcpy(mark, &value, sizeof value); }

}  // namespace

void program_objects::begin_execution() {
  objects_.clear();
  for (auto& [at, object] : small_objects_) object.now = object.at_start;
}

void* program_objects::mark_of(const object_kind& kind, const void* at) {
  if (kind.mark == mark_elsewhere) return &small_objects_[at].now;
  return static_cast<std::byte*>(const_cast<void*>(at)) + kind.mark;
}

void program_objects::note_outside(const object_kind& kind, void* at) {
  const std::uint64_t mark = marks::of(at, marks::initialised);
  if (kind.mark != mark_elsewhere) return write_mark(mark_of(kind, at), mark);
  const std::lock_guard lock(outside_);
  small_objects_[at] = {mark, mark};
}

void program_objects::forget_outside(const void* at) {
  const std::lock_guard lock(outside_);
  small_objects_.erase(at);
}

void program_objects::take_over_spin_locks() {
  constexpr int unlocked = 1;
  for (const auto& [at, object] : small_objects_) {
    auto* const lock = static_cast<int*>(const_cast<void*>(at));
    if ((memory_.beginning().is_global(at) || memory_.heap().owns(at)) && *lock == unlocked) *lock = 0;
  }
}

/// The object's memory is there, and may be used.
void program_objects::require_memory(const object_kind& kind, const void* at, bool is_write, const void* code) {
  program_memory::touch(at, kind.size, code);
  if (reinterpret_cast<std::uintptr_t>(at) % kind.alignment != 0) {
    code_.fail(failure::misuse, fmt::format("a {} is used at the misaligned address {}", kind.name, at), code);
  }
  program_heap& heap = memory_.heap();
  if (heap.owns(at)) static_cast<void>(heap.usable_block(at, kind.size, {is_write, true}, code));
}

void program_objects::read(const object_kind& kind, const void* at, const void* code) {
  memory_.access(mark_of(kind, at), sizeof(std::uint64_t), false, code);
}
void program_objects::write(const object_kind& kind, const void* at, const char* call, const void* code) {
  const program_memory::object_call by{&kind, at, call};
  if (kind.mark == mark_elsewhere) memory_.access_in_call(by, mark_of(kind, at), sizeof(std::uint64_t), true, code);
  memory_.access_in_call(by, at, kind.size, true, code);
}

std::string program_objects::where_it_began(const void* at) {
  const auto known = objects_.find(at);
  if (known == objects_.end()) return "before main()";
  return fmt::format("by T{} at {}", known->second.initialised.thread - 1, code_.to_text(known->second.initialised.at));
}

/// Before a call uses the object, or destroys it.
void program_objects::require_object(const object_kind& kind, const void* at, const char* call, const void* code) {
  const std::uint64_t mark = read_mark(mark_of(kind, at));
  switch (marks::state_of(at, mark)) {
    case object_state::initialised: return;
    case object_state::zeros:
      if (kind.may_be_zeros) return;
      fail_as_unknown(kind, at, call, code);
    case object_state::destroyed: fail_as_destroyed(kind, at, call, code);
    case object_state::something_else: break;
  }
  const void* const original = marks::original(mark);
  if (!objects_.contains(original)) fail_as_unknown(kind, at, call, code);
  code_.fail(failure::misuse,
             fmt::format("{} is {} that is a copy of {}, initialised {}: only the original may be used",
                         memory_.name_of_object(kind, at), call, memory_.name_of_object(kind, original),
                         where_it_began(original)),
             code);
}

void program_objects::fail_as_unknown(const object_kind& kind, const void* at, const char* call, const void* code) {
  code_.fail(failure::misuse,
             fmt::format("{} is {} that was never initialised", memory_.name_of_object(kind, at), call), code);
}

void program_objects::fail_as_destroyed(const object_kind& kind, const void* at, const char* call, const void* code) {
  const object_history& h = objects_[at];
  if (h.destroyed.thread != 0) now_.show(event_kind::cell_write, h.destroyed, at, kind.size);
  code_.fail(failure::misuse,
             fmt::format("{} is {} after or while it is destroyed by T{} at {}", memory_.name_of_object(kind, at), call,
                         h.destroyed.thread - 1, code_.to_text(h.destroyed.at)),
             code);
}

void program_objects::use(const object_kind& kind, const void* at, const void* code) {
  require_memory(kind, at, false, code);
  require_object(kind, at, "used", code);
  read(kind, at, code);
}

void program_objects::initialise(const object_kind& kind, void* at, const void* code) {
  if (now_.search == nullptr) return note_outside(kind, at);
  require_memory(kind, at, true, code);
  // A function may leave its variables as they are; the next one finds them in its own.
  if (marks::state_of(at, read_mark(mark_of(kind, at))) == object_state::initialised && !now_.on_a_stack(at)) {
    code_.fail(failure::misuse,
               fmt::format("{} is initialised again: it was initialised {}, and not destroyed since",
                           memory_.name_of_object(kind, at), where_it_began(at)),
               code);
  }
  write(kind, at, "initialised", code);
  object_history& history = objects_[at];
  history = {code_.step_here(code), {}, history.lives + 1};
  std::memset(at, 0, kind.size);
  write_mark(mark_of(kind, at), marks::of(at, marks::initialised));
}

void program_objects::destroy(const object_kind& kind, void* at, const void* code) {
  require_memory(kind, at, true, code);
  require_object(kind, at, "destroyed", code);
  write(kind, at, "destroyed", code);
  require_idle(at, kind.size, "destroyed", code);
  objects_[at].destroyed = code_.step_here(code);
  write_mark(mark_of(kind, at), marks::of(at, marks::destroyed));
}

void program_objects::forget(const void* begin, const void* end) {
  for (auto o = small_objects_.lower_bound(begin); o != small_objects_.end() && o->first < end; ++o) o->second.now = 0;
}

void program_objects::require_idle(const void* begin, std::size_t size, const char* what, const void* code) {
  locks_.require_not_held(begin, size, what, code);
  waits_.require_no_waiter(begin, size, what, code);
}

const void* program_objects::marked_at(const void* mark) const noexcept {
  for (const auto& [at, object] : small_objects_) {
    if (mark == &object.now) return at;
  }
  return nullptr;
}

}  // namespace runq::model::compiled
