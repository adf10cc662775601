// SPDX-License-Identifier: MIT
#include "program_reuse.hpp"

namespace runq::model::compiled {

void program_reuse::begin_execution() {
  for (auto& [freed, taken] : taken_) taken = 0;
}

/// Of each thread, the last block that fits: the running thread's own first. What is known of other threads is what
/// happens-before this, so that a thread that is executed again has the same choice.
std::vector<user_heap::freed_block*> program_reuse::candidates(std::size_t size, std::size_t alignment) {
  const exact::clock known = now_.search->knows();
  const unsigned self = now_.self.number;
  const auto is_known = [&](const step& s) { return s.thread == self || s.before(known); };
  const auto may_be = [&](const user_heap::freed_block& f) {
    if (!is_known(f.freed)) now_.omitted.unordered_reuse = true;
    return is_known(f.freed) && !(f.is_taken && is_known(f.taken));
  };
  std::vector<user_heap::freed_block*> found;
  const auto add = [&](unsigned thread) {
    if (auto* const freed = heap_.blocks().last_freed(thread, size, alignment, may_be)) found.push_back(freed);
  };
  add(self);
  for (unsigned t = 1; t <= max_threads; ++t) {
    if (t != self) add(t);
  }
  return found;
}

void* program_reuse::allocate(std::size_t size, std::size_t alignment, const step& by, const void* code) {
  const bool is_said = now_.limits.reused == 0 && now_.omitted.reuse;
  if (now_.is_alone() || is_said || !heap_.blocks().may_have_freed(size)) return nullptr;
  const std::vector<user_heap::freed_block*> all = candidates(size, alignment);
  if (all.empty()) return nullptr;
  unsigned& reused = reused_[now_.self.number];
  if (reused == now_.limits.reused) {
    now_.omitted.reuse = true;
    return nullptr;
  }
  const unsigned chosen = code_.choose(static_cast<unsigned>(all.size()) + 1, code, event_kind::reuse);
  if (chosen == 0) return nullptr;
  ++reused;
  user_heap::freed_block& freed = *all[chosen - 1];
  take(freed, code);
  return heap_.allocate_again(freed, size, by);
}

/// Two threads may know of the same free. If another one has allocated the block, this execution is abandoned: in
/// another one this thread makes another choice.
void program_reuse::take(const user_heap::freed_block& freed, const void* code) {
  const unsigned since = waits_.position();
  const bool is_mine = atomics_.take(&taken_[{freed.at, freed.lives}], sizeof(std::uint32_t), 0, 1, 1, false, code);
  if (!is_mine) waits_.wait_for_others(since, code);
}

const void* program_reuse::block_of(const void* word) const noexcept {
  for (const auto& [freed, taken] : taken_) {
    if (word == &taken) return freed.first;
  }
  return nullptr;
}

}  // namespace runq::model::compiled
