// SPDX-License-Identifier: MIT
// The heap of a compiled program: which thread may use which of its blocks.
#pragma once

#include "execution.hpp"
#include "process.hpp"
#include "program_code.hpp"
#include "shadow.hpp"
#include "user_heap.hpp"

namespace runq::model::compiled {

[[nodiscard]] inline event_kind kind_of(const plain_access& a) noexcept {
  return a.is_write ? event_kind::cell_write : event_kind::cell_read;
}
[[nodiscard]] inline const char* word_for(bool is_write) noexcept { return is_write ? "write" : "read"; }

struct access_kind {
  bool is_write;
  bool is_plain;
};

/// Blocks of memory that the program allocates and frees, and what must hold of those who use them.
class program_heap {
 public:
  program_heap(execution& now, program_code& code, shadow& known) : now_(now), code_(code), shadow_(known) {}

  /// Before anything is allocated. False when there is not enough address space.
  [[nodiscard]] bool reserve() { return heap_.reserve(); }
  [[nodiscard]] user_heap& blocks() noexcept { return heap_; }
  void begin_execution();

  [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment, const step& by);
  /// Gives out a block that is free. What is left of atomic variables there is forgotten.
  [[nodiscard]] void* allocate_again(user_heap::freed_block& freed, std::size_t size, const step& by);
  /// The block at `p`, which may be freed now: no other thread uses it meanwhile.
  [[nodiscard]] user_heap::block& block_to_free(void* p, const void* code);
  void free(user_heap::block& b, const void* code);
  /// The same before main(), or outside of a check.
  void free_outside(void* p) noexcept;
  /// What was done so far to the block of memory that contains `p` comes before what the running thread does next.
  void take_over(const void* p);

  [[nodiscard]] bool owns(const void* p) const noexcept { return heap_.owns(p); }
  /// How much was allocated at `p`.
  [[nodiscard]] std::size_t size_of(void* p) noexcept;
  [[nodiscard]] const user_heap::block* find(const void* p) noexcept { return heap_.find(p); }

  /// Of the access to `size` bytes at `at`, `part` is what lies in that granule.
  void check(granule& g, const void* part, byte_mask bytes, const void* at, std::size_t size, access_kind kind,
             const void* code) {
    if (heap_.owns(part) && !g.may_use(now_.self.number, bytes, releases_)) check_block(g, part, at, size, kind, code);
  }
  /// The block, if the running thread may use those bytes of it; otherwise it is a failure.
  const user_heap::block& usable_block(const void* at, std::size_t size, access_kind kind, const void* code);
  /// Whether the running thread is known to be allowed to use that memory, which is in one granule.
  [[nodiscard]] bool may_use(const granule& g, const void* part, std::size_t size) const noexcept {
    for (const usable_memory& u : now_.self.state->usable) {
      if (u.contains(part, size, releases_)) return true;
    }
    return g.may_use(now_.self.number, bytes_from(offset_in_granule(part), size), releases_);
  }

  /// When all threads have ended: reports memory to which no global variable leads.
  void look_for_leaks(const std::vector<restored_memory::range>& global);

 private:
  void check_block(granule& g, const void* part, const void* at, std::size_t size, access_kind kind, const void* code);
  void let_use(const user_heap::block& b) noexcept {
    auto& [first, second] = now_.running().usable;
    second = std::exchange(first, {b.begin, b.end(), releases_});
  }
  void begin_block(const user_heap::block& b);
  void forget_atomics(std::byte* begin, const std::byte* end);
  void require_unused(const user_heap::block& b, const step& by, const void* code);
  void mark_reachable(const std::byte* begin, const std::byte* end, std::vector<const user_heap::block*>& found);

  execution& now_;
  program_code& code_;
  shadow& shadow_;
  user_heap heap_;
  std::uint32_t releases_ = 0;  ///< blocks that were freed in this execution
};

}  // namespace runq::model::compiled
