// SPDX-License-Identifier: MIT
// What is known of each byte of a compiled program's memory in the running execution: which threads have accessed it
// without an atomic operation, and which atomic variable lies there. It is stored by granules of eight bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "user_heap.hpp"

namespace runq::model::compiled {

/// Some of the eight bytes of a granule.
using byte_mask = std::uint8_t;

[[nodiscard]] constexpr byte_mask bytes_from(unsigned first, std::size_t count) noexcept {
  return static_cast<byte_mask>((count >= 8 ? 0xffU : (1U << count) - 1) << first);
}

/// The last access of a thread to some bytes; earlier ones of the same kind say nothing more.
struct plain_access {
  step by;
  byte_mask bytes = 0;
  bool is_write = false;
};

/// An atomic variable, or a lock.
struct atomic_place {
  std::uint8_t first = 0;  ///< its first byte in the granule
  std::uint8_t size = 0;   ///< 16: the access continues in the next granule
  std::uint16_t variable = 0;
  std::uint64_t in_memory = 0;  ///< the value that the checker last left in memory

  [[nodiscard]] byte_mask bytes() const noexcept { return bytes_from(first, size); }
};

struct granule {
  std::uint64_t execution = 0;  ///< to which all but `known` and `is_put_back` belongs
  std::vector<plain_access> accesses;
  std::vector<atomic_place> atomics;
  /// For each byte of the granule: how many times other code has overwritten an atomic variable that began there.
  std::array<std::uint8_t, 8> generations{};

  struct numbered {
    std::uint8_t generation;
    atomic_place place;
  };
  std::vector<numbered> known;  ///< the variables that were here in any execution
  bool is_put_back = false;     ///< every execution finds it as the first one did

  void notes(const plain_access& a) {
    if (accesses.size() == 1 && says_more(a, accesses.front()) && (accesses.front().bytes & ~a.bytes) == 0) {
      accesses.front() = a;
      return;
    }
    for (plain_access& old : accesses) {
      if (says_more(a, old)) old.bytes = static_cast<byte_mask>(old.bytes & ~a.bytes);
    }
    std::erase_if(accesses, [](const plain_access& old) { return old.bytes == 0; });
    accesses.push_back(a);
  }

 private:
  /// Whether `old` says nothing more where there is `a`.
  [[nodiscard]] static bool says_more(const plain_access& a, const plain_access& old) noexcept {
    return a.is_write || (old.by.thread == a.by.thread && !old.is_write);
  }
};

class shadow {
 public:
  void begin_execution() noexcept { ++execution_; }

  [[nodiscard]] granule& of(const void* p) {
    const std::uintptr_t number = reinterpret_cast<std::uintptr_t>(p) / 8;
    granule& g = page_of(number / granules_per_page)[number % granules_per_page];
    if (g.execution != execution_) {
      g.execution = execution_;
      g.accesses.clear();
      g.atomics.clear();
      g.generations = {};
    }
    return g;
  }

 private:
  static constexpr std::uintptr_t granules_per_page = 512;
  using page = std::array<granule, granules_per_page>;

  page& page_of(std::uintptr_t number) {
    entry& cached = cache_[number % cache_.size()];
    if (cached.at == nullptr || cached.number != number) {
      std::unique_ptr<page>& p = pages_[number];
      if (p == nullptr) p = std::make_unique<page>();
      cached = {number, p.get()};
    }
    return *cached.at;
  }

  struct entry {
    std::uintptr_t number = 0;
    page* at = nullptr;
  };
  std::uint64_t execution_ = 0;
  std::array<entry, 64> cache_{};
  std::unordered_map<std::uintptr_t, std::unique_ptr<page>> pages_;
};

}  // namespace runq::model::compiled
