// SPDX-License-Identifier: MIT
#include "pairs.hpp"

#include <array>

#include "scheduler.hpp"
#include "threads.hpp"

namespace runq::model::explore {

bool notes_pairs = false;

namespace {

seen_pairs* seen = nullptr;
/// Where a pair stands in the list, plus 1; at its hash, or behind it.
std::array<std::uint16_t, 2 * pairs_kept> places{};
static_assert(pairs_kept < 65536 && (pairs_kept & (pairs_kept - 1)) == 0);

[[nodiscard]] std::uint64_t hash_of(pair_kind kind, const origin& before, const origin& after) noexcept {
  const bool is_own = before.thread == after.thread;
  std::uint64_t hash = (std::uint64_t{before.code} << 32 | after.code) * 0x9e3779b97f4a7c15;
  hash ^= static_cast<std::uint64_t>(kind) << 1 | static_cast<std::uint64_t>(is_own);
  hash = (hash ^ (hash >> 29)) * 0xbf58476d1ce4e5b9;
  return hash ^ (hash >> 32);
}

}  // namespace

origin origin_here(const void* code) noexcept {
  return {static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(code)), self->number};
}

void note_pairs_into(seen_pairs& to) noexcept {
  notes_pairs = true;
  seen = &to;
  to.count = 0;
}

void note_pair(pair_kind kind, const origin& before, const origin& after) noexcept {
  const std::uint64_t pair = hash_of(kind, before, after);
  std::size_t at = pair % places.size();
  for (; places[at] != 0; at = (at + 1) % places.size()) {
    if (seen->list[places[at] - 1].pair == pair) return;
  }
  if (seen->count == pairs_kept) return;
  seen->list[seen->count] = {pair, step_now()};
  places[at] = static_cast<std::uint16_t>(++seen->count);
}

}  // namespace runq::model::explore
