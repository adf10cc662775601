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
struct plain_access : step {
  byte_mask bytes = 0;
  bool is_write = false;
};
static_assert(sizeof(plain_access) == 24);

/// Mostly one or two: these lie in the granule itself.
class access_list {
 public:
  access_list() = default;
  access_list(const access_list&) = delete;
  access_list& operator=(const access_list&) = delete;
  ~access_list() {
    if (items_ != few_.data()) delete[] items_;
  }

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] plain_access* begin() noexcept { return items_; }
  [[nodiscard]] plain_access* end() noexcept { return items_ + size_; }
  [[nodiscard]] plain_access& back() noexcept { return items_[size_ - 1]; }
  [[nodiscard]] const plain_access& back() const noexcept { return items_[size_ - 1]; }
  void clear() noexcept { size_ = 0; }
  void push_back(const plain_access& a) {
    if (size_ == room_) grow();
    items_[size_++] = a;
  }
  /// Only those from `first` on may be removed.
  void cut(const plain_access* first) noexcept { size_ = static_cast<std::uint32_t>(first - items_); }

 private:
  [[gnu::noinline]] void grow() {
    auto* const more = new plain_access[std::size_t{room_} * 2];
    std::copy(begin(), end(), more);
    if (items_ != few_.data()) delete[] items_;
    items_ = more;
    room_ *= 2;
  }

  std::array<plain_access, 2> few_{};
  plain_access* items_ = few_.data();
  std::uint32_t size_ = 0;
  std::uint32_t room_ = 2;
};

/// An atomic variable, or a lock.
struct atomic_place {
  std::uint8_t first = 0;  ///< its first byte in the granule
  std::uint8_t size = 0;   ///< 16: the access continues in the next granule
  std::uint16_t variable = 0;
  std::uint64_t in_memory = 0;  ///< the value that the checker last left in memory

  [[nodiscard]] byte_mask bytes() const noexcept { return bytes_from(first, size); }
};

inline constexpr std::uintptr_t granule_bytes = 8;

[[nodiscard]] inline unsigned offset_in_granule(const void* p) noexcept {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(p) % granule_bytes);
}

struct granule {
  std::uint64_t execution = 0;  ///< to which all but `known` and `is_put_back` belongs
  std::uint32_t users = 0;      ///< of heap memory, a bit for each thread that was known to be allowed to use it
  std::uint32_t releases = 0;   ///< how much memory had been freed then
  byte_mask allocated = 0;      ///< the bytes that these threads may use
  bool is_put_back = false;     ///< every execution finds it as the first one did
  access_list accesses;
  std::vector<atomic_place> atomics;
  /// For each byte of the granule: how many times other code has overwritten an atomic variable that began there.
  std::array<std::uint8_t, 8> generations{};

  struct numbered {
    std::uint8_t generation;
    atomic_place place;
  };
  std::vector<numbered> known;  ///< the variables that were here in any execution

  /// Whether the thread may use these bytes of the heap, now that memory was freed so often; false: it is not known.
  [[nodiscard]] bool may_use(unsigned thread, byte_mask bytes, std::uint32_t freed) const noexcept {
    return releases == freed && (users >> thread & 1) != 0 && (bytes & ~allocated) == 0;
  }
  void let_use(unsigned thread, byte_mask bytes, std::uint32_t freed) noexcept {
    users = (releases == freed ? users : 0) | 1U << thread;
    releases = freed;
    allocated = bytes;
  }

  /// Whether the last access was the same: then it has been compared with all others, and it is only newer now.
  [[nodiscard]] bool repeats(const plain_access& a) const noexcept {
    const plain_access& last = accesses.back();
    return last.thread == a.thread && last.bytes == a.bytes && last.is_write == a.is_write;
  }

  void notes(const plain_access& a) {
    plain_access* left = accesses.begin();
    for (plain_access& old : accesses) {
      if (says_more(a, old)) old.bytes = static_cast<byte_mask>(old.bytes & ~a.bytes);
      if (old.bytes == 0) continue;
      if (left != &old) *left = old;
      ++left;
    }
    accesses.cut(left);
    accesses.push_back(a);
  }

 private:
  /// Whether `old` says nothing more where there is `a`.
  [[nodiscard]] static bool says_more(const plain_access& a, const plain_access& old) noexcept {
    return a.is_write || (old.thread == a.thread && !old.is_write);
  }
};

class shadow {
 public:
  void begin_execution() noexcept { ++execution_; }

  /// Calls `first` if it is the first time in this execution.
  template <class First>
  [[nodiscard, gnu::always_inline]] granule& of(const void* p, First&& first) {
    const std::uintptr_t number = reinterpret_cast<std::uintptr_t>(p) / granule_bytes;
    granule& g = page_of(number / granules_per_page)[number % granules_per_page];
    if (g.execution != execution_) {
      first();
      g.execution = execution_;
      g.users = 0;
      g.accesses.clear();
      g.atomics.clear();
      g.generations = {};
    }
    return g;
  }
  [[nodiscard]] granule& of(const void* p) {
    return of(p, [] {});
  }

 private:
  static constexpr std::uintptr_t granules_per_page = 512;
  using page = std::array<granule, granules_per_page>;

  [[gnu::always_inline]] page& page_of(std::uintptr_t number) {
    entry& cached = cache_[(number ^ number / pages_per_arena) % cache_.size()];
    if (cached.at == nullptr || cached.number != number) cached = {number, find(number)};
    return *cached.at;
  }
  [[gnu::noinline]] page* find(std::uintptr_t number) {
    std::unique_ptr<page>& p = pages_[number];
    if (p == nullptr) p = std::make_unique<page>();
    return p.get();
  }

  /// So that pages at the same place of several threads' arenas have different entries in the cache.
  static constexpr std::uintptr_t pages_per_arena = user_arena_bytes / (granules_per_page * granule_bytes);
  struct entry {
    std::uintptr_t number = 0;
    page* at = nullptr;
  };
  std::uint64_t execution_ = 0;
  std::array<entry, 64> cache_{};
  std::unordered_map<std::uintptr_t, std::unique_ptr<page>> pages_;
};

}  // namespace runq::model::compiled
