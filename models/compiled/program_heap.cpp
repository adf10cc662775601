// SPDX-License-Identifier: MIT
#include "program_heap.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace runq::model::compiled {

using exact::event_id;

void program_heap::begin_execution() {
  heap_.begin_execution();
  releases_ = 0;
}

/// The part of an access that lies in one granule: afterwards the thread is known to be allowed to use it.
void program_heap::check_block(granule& g, const void* part, const void* at, std::size_t size, access_kind kind,
                               const void* code) {
  const user_heap::block& b = usable_block(at, size, kind, code);
  let_use(b);
  const std::byte* const granule_begin = static_cast<const std::byte*>(part) - offset_in_granule(part);
  const std::byte* const first = std::max<const std::byte*>(b.begin, granule_begin);
  static_assert(exact::thread_slots <= 32);
  g.let_use(now_.self.number, bytes_from(offset_in_granule(first), static_cast<std::size_t>(b.end() - first)),
            releases_);
}

const user_heap::block& program_heap::usable_block(const void* at, std::size_t size, access_kind kind,
                                                   const void* code) {
  const bool is_write = kind.is_write;
  const auto show_this = [&] {
    if (kind.is_plain)
      now_.show(is_write ? event_kind::cell_write : event_kind::cell_read, code_.step_here(code), at, size);
  };
  const user_heap::block* const b = heap_.find(at);
  if (b == nullptr || !b->contains(static_cast<const std::byte*>(at) + size - 1)) {
    code_.fail(failure::misuse, fmt::format("{} of {} bytes outside of what was allocated", word_for(is_write), size),
               code);
  }
  if (b->is_released) {
    now_.show(event_kind::deallocate, b->released, b->begin, 0);
    show_this();
    code_.fail(failure::use_after_free,
               fmt::format("memory is used after or while it is freed by T{} at {}; it was allocated at {}",
                           b->released.thread - 1, code_.to_text(b->released.at), code_.to_text(b->allocated.at)),
               code);
  }
  if (b->allocated.thread != now_.search->running() && !b->allocated.before(now_.search->knows())) {
    now_.show(event_kind::allocate, b->allocated, b->begin, 0);
    show_this();
    code_.fail(failure::unpublished_allocation,
               fmt::format("memory is used by a thread that cannot know that it was allocated at {}",
                           code_.to_text(b->allocated.at)),
               code);
  }
  return *b;
}

void* program_heap::allocate_again(user_heap::freed_block& freed, std::size_t size, const step& by) {
  const user_heap::block& b = heap_.allocate_again(freed, size, by);
  ++releases_;
  forget_atomics(freed.at, b.end());
  begin_block(b);
  return freed.at;
}

void program_heap::forget_atomics(std::byte* begin, const std::byte* end) {
  for (std::byte* part = begin; part < end; part += granule_bytes) {
    granule& g = shadow_.of(part);
    for (const atomic_place& place : g.places()) ++g.atomics->generations[place.first];
    if (g.atomics != nullptr) g.atomics->now.clear();
  }
}

void* program_heap::allocate(std::size_t size, std::size_t alignment, const step& by) {
  void* const p = heap_.allocate(size, alignment, by);
  if (p != nullptr) {
    begin_block(*heap_.find(p));
  } else if (now_.is_checked()) {
    now_.search->give_up(fmt::format("limit reached: {} bytes of heap memory per thread", user_arena_bytes));
  }
  return p;
}

void program_heap::begin_block(const user_heap::block& b) {
  constexpr int pattern = 0xbe;  // so that no code relies on zeros, or on what an earlier execution left
  std::memset(b.begin, pattern, b.size);
  if (now_.is_checked()) let_use(b);
}

std::size_t program_heap::size_of(void* p) noexcept {
  const user_heap::block* const b = heap_.find(p);
  return b == nullptr ? 0 : b->size - static_cast<std::size_t>(static_cast<std::byte*>(p) - b->begin);
}

void program_heap::take_over(const void* p) {
  if (now_.search == nullptr || !heap_.owns(p)) return;
  const user_heap::block* const b = heap_.find(p);
  if (b == nullptr) return;
  for (std::byte* part = b->begin; part < b->begin + b->size; part += granule_bytes - offset_in_granule(part)) {
    const byte_mask bytes = bytes_from(offset_in_granule(part), static_cast<std::size_t>(b->begin + b->size - part));
    shadow_.of(part).for_each_access(
        [=](plain_access& old) { old.bytes = static_cast<byte_mask>(old.bytes & ~bytes); });
  }
}

/// No other thread uses the block while it is freed.
void program_heap::require_unused(const user_heap::block& b, const step& by, const void* code) {
  plain_access a;
  static_cast<step&>(a) = by;
  a.is_write = true;
  for (std::byte* part = b.begin; part < b.end(); part += granule_bytes - offset_in_granule(part)) {
    granule& g = shadow_.of(part);
    a.bytes = bytes_from(offset_in_granule(part), static_cast<std::size_t>(b.begin + b.size - part));
    g.for_each_access([&](const plain_access& old) {
      if (old.thread != by.thread && (old.bytes & a.bytes) != 0) now_.alike.access_after(now_, old, a, part);
      if (old.thread == by.thread || (old.bytes & a.bytes) == 0 || old.before(now_.search->knows())) return;
      now_.show(kind_of(old), old, part - offset_in_granule(part) + std::countr_zero(old.bytes),
                static_cast<std::size_t>(std::popcount(old.bytes)));
      now_.show(event_kind::deallocate, by, b.begin, 0);
      code_.fail(failure::use_after_free,
                 fmt::format("memory is freed while in use: {} by T{} at {}", word_for(old.is_write), old.thread - 1,
                             code_.to_text(old.at)),
                 code);
    });
    for (const atomic_place& place : g.places()) {
      const event_id other = now_.concurrent_event(place.variable, false, by.position);
      if (other == exact::nobody) continue;
      now_.search->set_partner(other);
      now_.show(event_kind::deallocate, by, b.begin, 0);
      code_.fail(
          failure::use_after_free,
          fmt::format("memory is freed while in use: atomically by T{} at {}", other.thread - 1, code_.to_text(other)),
          code);
    }
  }
}

user_heap::block& program_heap::block_to_free(void* p, const void* code) {
  user_heap::block* const b = heap_.find(p);
  if (b == nullptr || b->begin != p) code_.fail(failure::misuse, "what is freed was not allocated", code);
  now_.note_effect();
  const step by = code_.step_here(code);
  if (b->is_released) {
    now_.show(event_kind::deallocate, b->released, p, 0);
    now_.show(event_kind::deallocate, by, p, 0);
    code_.fail(failure::double_free,
               fmt::format("memory is freed twice: before by T{} at {}", b->released.thread - 1,
                           code_.to_text(b->released.at)),
               code);
  }
  if (b->allocated.thread != by.thread && !b->allocated.before(now_.search->knows())) {
    now_.show(event_kind::allocate, b->allocated, p, 0);
    now_.show(event_kind::deallocate, by, p, 0);
    code_.fail(failure::unpublished_allocation,
               fmt::format("memory is freed by a thread that cannot know that it was allocated at {}",
                           code_.to_text(b->allocated.at)),
               code);
  }
  // Large blocks take long to look through, and most are freed by a thread that is alone.
  if (!now_.is_alone()) require_unused(*b, by, code);
  if (!now_.is_alone() && now_.comes_late()) {
    now_.note_late_access(b->begin, b->size, {false, true}, &b->allocated, [&] { return code_.to_text(by.at); });
  }
  return *b;
}

void program_heap::free(user_heap::block& b, const void* code) {
  ++releases_;
  b.is_released = true;
  b.released = code_.step_here(code);
  heap_.note_free(b);
}

void program_heap::free_outside(void* p) noexcept {
  if (user_heap::block* const b = heap_.find(p)) b->is_released = true;
}

/// Memory that no global variable leads to, when all threads have ended.
void program_heap::look_for_leaks(const std::vector<restored_memory::range>& global) {
  std::vector<const user_heap::block*> left;
  for (unsigned t = 1; t <= max_threads; ++t) {
    for (const user_heap::block& b : heap_.blocks_of(t)) {
      if (!b.is_released) left.push_back(&b);
    }
  }
  if (left.empty()) return;
  std::vector<const user_heap::block*> found;
  for (const restored_memory::range& r : global) mark_reachable(r.begin, r.end, found);
  for (std::size_t i = 0; i != found.size(); ++i) {
    mark_reachable(found[i]->begin, found[i]->begin + found[i]->size, found);
  }
  for (const user_heap::block* b : left) {
    if (std::find(found.begin(), found.end(), b) != found.end()) continue;
    now_.show(event_kind::allocate, b->allocated, b->begin, 0);
    now_.search->report(
        failure::leak,
        fmt::format("{} bytes, allocated at {}, are never freed", b->size, code_.to_text(b->allocated.at)),
        {"", 0, code_.frame_at(b->allocated.at)});
    return;
  }
}

void program_heap::mark_reachable(const std::byte* begin, const std::byte* end,
                                  std::vector<const user_heap::block*>& found) {
  for (const std::byte* at = begin; at + sizeof(void*) <= end; at += sizeof(void*)) {
    const void* p = nullptr;
    std::memcpy(&p, at, sizeof p);
    if (!heap_.owns(p)) continue;
    const user_heap::block* const b = heap_.find(p);
    if (b != nullptr && std::find(found.begin(), found.end(), b) == found.end()) found.push_back(b);
  }
}

}  // namespace runq::model::compiled
