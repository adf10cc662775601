// SPDX-License-Identifier: MIT
// The heap of a scenario. Each thread allocates from its own arena, from the beginning in every execution, so that a
// re-executed thread gets the same addresses whatever other threads do. No address is used twice in one execution, so
// that a dangling pointer never points at a new object.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "exact_graph.hpp"

namespace runq::model::exact {

/// What one thread may allocate in one execution.
inline constexpr std::size_t arena_bytes = 64 * 1024;

class heap {
 public:
  struct block {
    std::byte* begin = nullptr;
    std::size_t size = 0;
    event_id allocation = nobody;
    event_id release = nobody;  ///< the deallocate event, once it has been executed
  };

  heap() {
    for (auto& arena : arenas_) arena = std::make_unique<unit[]>(arena_bytes / sizeof(unit));
  }

  void begin_execution() noexcept {
    blocks_.clear();
    used_.fill(0);
  }

  /// nullptr when the thread's arena is exhausted.
  [[nodiscard]] void* allocate(unsigned thread, std::size_t size, event_id allocation) {
    const std::size_t units = size / sizeof(unit) + 1;  // never 0: addresses must differ
    if (units > arena_bytes / sizeof(unit) - used_[thread]) return nullptr;
    unit* begin = arenas_[thread].get() + used_[thread];
    used_[thread] += units;
    blocks_.push_back({reinterpret_cast<std::byte*>(begin), size, allocation, nobody});
    return begin;
  }

  /// The block that contains `p`, or nullptr.
  [[nodiscard]] block* find(const void* p) noexcept {
    if (blocks_.empty()) return nullptr;
    const auto* byte = static_cast<const std::byte*>(p);
    for (block& b : blocks_) {
      if (byte >= b.begin && byte < b.begin + (b.size == 0 ? 1 : b.size)) return &b;
    }
    return nullptr;
  }
  [[nodiscard]] block* find(event_id allocation) noexcept {
    for (block& b : blocks_) {
      if (b.allocation == allocation) return &b;
    }
    return nullptr;
  }
  [[nodiscard]] const std::vector<block>& blocks() const noexcept { return blocks_; }

 private:
  struct alignas(64) unit {
    std::array<std::byte, 64> bytes;
  };
  std::array<std::unique_ptr<unit[]>, thread_slots> arenas_;
  std::array<std::size_t, thread_slots> used_{};
  std::vector<block> blocks_;
};

}  // namespace runq::model::exact
