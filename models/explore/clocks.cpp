// SPDX-License-Identifier: MIT
#include "clocks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "arena.hpp"

namespace runq::model::explore {

std::uint32_t clock_width = 1;

namespace {

constexpr std::uint32_t least_room = 8;
std::array<message*, std::bit_width(max_threads) + 1> free_messages{};

[[nodiscard]] message* new_message() {
  const std::uint32_t width = clock_room();
  message*& free = free_messages[static_cast<std::size_t>(std::bit_width(width))];
  message* m = free;
  if (m != nullptr) {
    free = m->next;
  } else {
    m = static_cast<message*>(arena_allocate(sizeof(message) + std::size_t{2} * width * sizeof(std::uint32_t)));
  }
  *m = {1, width, 0, nullptr};
  return m;
}

void take_larger(std::uint32_t* to, const std::uint32_t* from, std::uint32_t width) noexcept {
  for (std::uint32_t i = 0; i != width; ++i) to[i] = std::max(to[i], from[i]);
}

}  // namespace

std::uint32_t clock_room() noexcept { return std::max(least_room, std::bit_ceil(clock_width)); }

void release(message* m) noexcept {
  if (m == nullptr || --m->references != 0) return;
  message*& free = free_messages[static_cast<std::size_t>(std::bit_width(m->width))];
  m->next = free;
  free = m;
}

void thread_clock::make_room(std::uint32_t known) {
  const std::uint32_t room = clock_room();
  auto* const words = static_cast<std::uint32_t*>(arena_allocate(std::size_t{2} * room * sizeof(std::uint32_t)));
  std::copy_n(happened, known, words);
  std::copy_n(ordered, known, words + room);
  happened = words;
  ordered = words + room;
}

void thread_clock::join(message* m) noexcept {
  if (m == nullptr) return;
  const std::uint32_t width = std::min(m->width, clock_width);
  take_larger(happened, m->happened(), width);
  take_larger(ordered, m->ordered(), width);
  fence = std::max(fence, m->fence);
}

void thread_clock::join(const thread_clock& other) noexcept {
  take_larger(happened, other.happened, clock_width);
  take_larger(ordered, other.ordered, clock_width);
  fence = std::max(fence, other.fence);
}

void thread_clock::copy(const thread_clock& other) noexcept {
  std::copy_n(other.happened, clock_width, happened);
  std::copy_n(other.ordered, clock_width, ordered);
  fence = other.fence;
}

void thread_clock::clear() noexcept {
  std::fill_n(happened, clock_width, 0U);
  std::fill_n(ordered, clock_width, 0U);
  fence = 0;
}

message* thread_clock::snapshot() const {
  message* const m = new_message();
  std::copy_n(happened, m->width, m->happened());
  std::copy_n(ordered, m->width, m->ordered());
  m->fence = fence;
  return m;
}

message* joined(message* a, message* b) {
  if (a == nullptr || b == nullptr || a == b) return hold(a == nullptr ? b : a);
  message* const m = new_message();
  std::memset(m->happened(), 0, std::size_t{2} * m->width * sizeof(std::uint32_t));
  for (message* const part : {a, b}) {
    take_larger(m->happened(), part->happened(), std::min(m->width, part->width));
    take_larger(m->ordered(), part->ordered(), std::min(m->width, part->width));
    m->fence = std::max(m->fence, part->fence);
  }
  return m;
}

}  // namespace runq::model::explore
