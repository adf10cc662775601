// SPDX-License-Identifier: MIT
// What is known of each byte of a compiled program's memory in the running execution: which threads have accessed it
// without an atomic operation, and which atomic variable lies there. It is stored by granules of eight bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "user_heap.hpp"

namespace runq::model::compiled {

/// Some of the eight bytes of a granule.
using byte_mask = std::uint8_t;

[[nodiscard]] constexpr byte_mask bytes_from(unsigned first, std::size_t count) noexcept {
  return static_cast<byte_mask>((count >= 8 ? 0xffU : (1U << count) - 1) << first);
}

/// What is not modelled of memory that atomic operations of different sizes access.
inline constexpr const char* write_beside_parts =
    "a write that is not atomic to a part of memory, beside atomic operations of different sizes on other parts of it "
    "(--plain-as-relaxed makes it one of them)";

/// All bytes of a variable of that size, a bit for each.
[[nodiscard]] constexpr std::uint32_t bytes_of(unsigned size) noexcept { return (1U << size) - 1; }

/// The last access of a thread to some bytes; earlier ones of the same kind say nothing more.
struct plain_access : step {
  byte_mask bytes = 0;
  bool is_write = false;

  /// Whether the same thread has accessed the same bytes. Compared by parts: g++ would put the two together in memory.
  [[nodiscard]] bool repeats(const plain_access& other) const noexcept {
    return ((thread ^ other.thread) | (bytes ^ other.bytes)) == 0;
  }
};
static_assert(sizeof(plain_access) == 24);

/// Mostly none or one, which lies in the list itself.
class access_list {
 public:
  access_list() = default;
  access_list(const access_list&) = delete;
  access_list& operator=(const access_list&) = delete;
  ~access_list() {
    if (items_ != &first_) delete[] items_;
  }

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] plain_access* begin() noexcept { return items_; }
  [[nodiscard]] plain_access* end() noexcept { return items_ + size_; }
  void clear() noexcept { size_ = 0; }
  [[nodiscard]] bool has_room() const noexcept { return size_ != room_; }
  void push_back(const plain_access& a) {
    if (!has_room()) grow();
    add(a);
  }
  /// There is room.
  void add(const plain_access& a) noexcept { items_[size_++] = a; }
  /// Only those from `first` on may be removed.
  void cut(const plain_access* first) noexcept { size_ = static_cast<std::uint32_t>(first - items_); }

 private:
  [[gnu::noinline]] void grow() {
    auto* const more = new plain_access[std::size_t{room_} * 2];
    std::copy(begin(), end(), more);
    if (items_ != &first_) delete[] items_;
    items_ = more;
    room_ *= 2;
  }

  plain_access first_;
  plain_access* items_ = &first_;
  std::uint32_t size_ = 0;
  std::uint32_t room_ = 1;
};

/// An atomic variable, or a lock.
struct atomic_place {
  std::uint8_t first = 0;  ///< its first byte in the granule
  std::uint8_t size = 0;   ///< 16: it lies in two granules, each of which has it
  bool is_upper = false;   ///< of these, this is the second one
  bool is_lock = false;
  std::uint16_t variable = 0;
  std::uint64_t in_memory = 0;  ///< the value that the checker last left in memory

  [[nodiscard]] byte_mask bytes() const noexcept { return bytes_from(first, size); }
  /// Of the variable, those that are these in the granule.
  [[nodiscard]] std::uint32_t bytes_of_variable(byte_mask in_granule) const noexcept {
    const unsigned of_both = bytes() & in_granule;
    return is_upper ? of_both << 8 : of_both >> first;
  }
};

inline constexpr std::uintptr_t granule_bytes = 8;

[[nodiscard]] inline unsigned offset_in_granule(const void* p) noexcept {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(p) % granule_bytes);
}

/// The atomic variables in a granule.
struct atomic_places {
  std::vector<atomic_place> now;
  /// For each byte of the granule: how many times other code has overwritten an atomic variable that began there.
  std::array<std::uint8_t, 8> generations{};

  struct numbered {
    std::uint8_t generation;
    atomic_place place;
  };
  std::vector<numbered> known;  ///< those that were here in any execution
};

struct granule {
  std::uint64_t execution = 0;  ///< to which the rest belongs, but for `is_put_back` and what is known of variables
  std::uint32_t users = 0;      ///< of heap memory, a bit for each thread that was known to be allowed to use it
  std::uint32_t releases = 0;   ///< how much memory had been freed then
  byte_mask allocated = 0;      ///< the bytes that these threads may use
  bool is_put_back = false;     ///< every execution finds it as the first one did
  plain_access last;            ///< the newest plain access, if there is one
  access_list older;            ///< what the others have done where newer accesses do not say more
  std::unique_ptr<atomic_places> atomics;  ///< nullptr: there never were any

  void begin(std::uint64_t now) noexcept {
    execution = now;
    users = 0;
    last.thread = 0;
    older.clear();
    if (atomics == nullptr) return;
    atomics->now.clear();
    atomics->generations = {};
  }
  [[nodiscard]] bool has_atomics() const noexcept { return atomics != nullptr && !atomics->now.empty(); }
  [[nodiscard]] std::span<atomic_place> places() noexcept {
    return atomics == nullptr ? std::span<atomic_place>() : std::span(atomics->now);
  }

  /// Whether the thread may use these bytes of the heap, now that memory was freed so often; false: it is not known.
  [[nodiscard]] bool may_use(unsigned thread, byte_mask bytes, std::uint32_t freed) const noexcept {
    return releases == freed && (users >> thread & 1) != 0 && (bytes & ~allocated) == 0;
  }
  void let_use(unsigned thread, byte_mask bytes, std::uint32_t freed) noexcept {
    users = (releases == freed ? users : 0) | 1U << thread;
    releases = freed;
    allocated = bytes;
  }

  [[nodiscard]] bool has_accesses() const noexcept { return last.thread != 0; }
  /// Whether no other thread has accessed it.
  [[nodiscard]] bool is_of_one_thread(unsigned thread) noexcept {
    return last.thread == thread &&
           std::all_of(older.begin(), older.end(), [=](const plain_access& a) { return a.thread == thread; });
  }
  template <class Function>
  void for_each_access(Function&& function) {
    for (plain_access& a : older) function(a);
    if (has_accesses()) function(last);
  }
  /// The frequent cases, in which the access need not be compared with others. Returns false if this is none of them.
  [[nodiscard]] bool notes_quickly(const plain_access& a) noexcept {
    if (!last.repeats(a)) {
      if (has_accesses()) return false;
    } else if (last.is_write != a.is_write) {
      if (a.is_write) {
        // Mostly the read was that of what the thread had written before.
        if (older.size() > 1 || (older.size() == 1 && !older.begin()->repeats(a))) return false;
        older.clear();
      } else {
        // No other access to these bytes is left. What races with a read that is no newer than the write races with the
        // write, too.
        if (last.position == a.position) return true;
        if (!older.has_room()) return false;
        older.add(last);
      }
    }
    last = a;
    return true;
  }
  void notes(const plain_access& a) {
    plain_access* left = older.begin();
    for (plain_access& old : older) {
      leave_what_says_more(old, a);
      if (old.bytes == 0) continue;
      if (left != &old) *left = old;
      ++left;
    }
    older.cut(left);
    leave_what_says_more(last, a);
    if (has_accesses() && last.bytes != 0) older.push_back(last);
    last = a;
  }

 private:
  /// `old` says nothing more where there is `a`, if that is a write, or if both are reads of one thread.
  static void leave_what_says_more(plain_access& old, const plain_access& a) noexcept {
    if (!a.is_write && (old.thread != a.thread || old.is_write)) return;
    old.bytes = static_cast<byte_mask>(old.bytes & ~a.bytes);
  }
};

class shadow {
 public:
  void begin_execution() noexcept { ++execution_; }

  /// Calls `first` if it is the first time in this execution.
  template <class First>
  [[nodiscard, gnu::always_inline]] granule& of(const void* p, First&& first) {
    granule& g = find(p);
    if (!is_current(g)) {
      first();
      begin(g);
    }
    return g;
  }
  /// The granule, which this execution need not have begun; nullptr: it is not found quickly.
  [[nodiscard, gnu::always_inline]] granule* find_quickly(const void* p) noexcept {
    const entry& cached = entry_of(p);
    return cached.page == page_of(p) ? cached.at(p) : nullptr;
  }
  [[nodiscard]] bool is_current(const granule& g) const noexcept { return g.execution == execution_; }
  void begin(granule& g) const noexcept { g.begin(execution_); }
  [[nodiscard]] granule& of(const void* p) {
    return of(p, [] {});
  }

 private:
  static constexpr std::uintptr_t granules_per_page = shadow_page_bytes / granule_bytes;
  using page = std::array<granule, granules_per_page>;
  /// A page that was used lately.
  struct entry {
    std::uintptr_t page = ~std::uintptr_t{0};  ///< its number; this one is no page's
    std::uintptr_t origin = 0;                 ///< where the granule of address 0 would be, at this distance

    [[nodiscard, gnu::returns_nonnull]] granule* at(const void* p) const noexcept {
      return reinterpret_cast<granule*>(origin + reinterpret_cast<std::uintptr_t>(p) / granule_bytes * sizeof(granule));
    }
  };
  [[nodiscard]] static std::uintptr_t page_of(const void* p) noexcept {
    return reinterpret_cast<std::uintptr_t>(p) / shadow_page_bytes;
  }
  [[nodiscard]] entry& entry_of(const void* p) noexcept { return cache_[page_of(p) % cache_.size()]; }
  [[nodiscard, gnu::always_inline]] granule& find(const void* p) {
    entry& cached = entry_of(p);
    if (cached.page != page_of(p)) use(cached, page_of(p));
    return *cached.at(p);
  }
  [[gnu::noinline]] void use(entry& cached, std::uintptr_t number) {
    std::unique_ptr<page>& p = pages_[number];
    if (p == nullptr) p = std::make_unique<page>();
    cached = {number, reinterpret_cast<std::uintptr_t>(p.get()) - number * granules_per_page * sizeof(granule)};
  }

  std::uint64_t execution_ = 0;
  std::array<entry, 256> cache_{};
  std::unordered_map<std::uintptr_t, std::unique_ptr<page>> pages_;
};

}  // namespace runq::model::compiled
