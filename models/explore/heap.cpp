// SPDX-License-Identifier: MIT
#include "heap.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "areas.hpp"
#include "arena.hpp"
#include "limits.hpp"
#include "report.hpp"
#include "runtime.hpp"
#include "shadow.hpp"

namespace runq::model::explore {

namespace {

constexpr std::size_t granule = 16;

enum class block_state : std::uint32_t { used = 0x1e55'0001, freed = 0x1e55'0002 };

/// Before a block.
struct alignas(granule) header {
  std::uint64_t size;  ///< as asked for
  std::uint32_t size_class;
  block_state state;
  header* next;  ///< of a freed block
};
static_assert(sizeof(header) == 32);

// Four sizes between two powers of two.
constexpr unsigned classes_end = 144;
[[nodiscard]] unsigned class_of(std::size_t bytes) noexcept {
  const std::size_t n = (std::max(bytes, granule) - 1) / granule;
  if (n < 4) return static_cast<unsigned>(n);
  const auto power = static_cast<unsigned>(std::bit_width(n)) - 3;
  return 4 + power * 4 + static_cast<unsigned>((n >> power) & 3);
}
[[nodiscard]] std::size_t capacity_of(unsigned size_class) noexcept {
  if (size_class < 4) return (size_class + 1) * granule;
  const unsigned power = (size_class - 4) / 4;
  return (((std::size_t{4} + (size_class - 4) % 4) << power) + (std::size_t{1} << power)) * granule;
}

[[nodiscard]] header& header_of(const void* p) noexcept {
  return *reinterpret_cast<header*>(reinterpret_cast<std::uintptr_t>(p) - sizeof(header));
}

/// Memory at a fixed address, in blocks.
class block_memory {
 public:
  explicit constexpr block_memory(std::uintptr_t begin) : begin_(begin), next_(begin), area_(begin) {}

  [[nodiscard]] bool has(const void* p) const noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(p);
    return address >= begin_ && address < begin_ + heap_bytes;
  }
  /// nullptr: there is no room. `is_new`: nothing was ever there.
  [[nodiscard]] void* take(std::size_t bytes, std::size_t alignment, bool& is_new) {
    if (bytes > heap_bytes) return nullptr;
    const unsigned size_class = class_of(bytes);
    header*& free = free_[size_class];
    is_new = alignment > granule || free == nullptr;
    void* p = nullptr;
    if (is_new) {
      p = take_new(capacity_of(size_class), std::max(alignment, granule));
      if (p == nullptr) return nullptr;
    } else {
      p = free + 1;
      free = free->next;
    }
    header_of(p) = {bytes, size_class, block_state::used, nullptr};
    return p;
  }
  [[nodiscard]] std::span<const std::byte> used() const noexcept {
    return {reinterpret_cast<const std::byte*>(begin_), next_ - begin_};
  }
  void give_back(header& h) noexcept {
    h.next = free_[h.size_class];
    free_[h.size_class] = &h;
  }

 private:
  [[nodiscard]] void* take_new(std::size_t bytes, std::size_t alignment) {
    const std::uintptr_t block = (next_ + sizeof(header) + alignment - 1) / alignment * alignment;
    if (block + bytes > begin_ + heap_bytes) return nullptr;
    next_ = block + bytes;
    area_.reach(next_);
    return reinterpret_cast<void*>(block);
  }

  std::uintptr_t begin_;
  std::uintptr_t next_;
  growing_area area_;
  std::array<header*, classes_end> free_{};  // the block that was given back last comes first
};

constinit block_memory of_program(heap_area);
constinit block_memory of_runtime(runtime_heap_area);

header* quarantine_first = nullptr;
header* quarantine_last = nullptr;
std::size_t in_quarantine = 0;

void keep_for_a_while(header& h) noexcept {
  h.next = nullptr;
  (quarantine_last == nullptr ? quarantine_first : quarantine_last->next) = &h;
  quarantine_last = &h;
  in_quarantine += capacity_of(h.size_class);
  while (in_quarantine > quarantine_bytes) {
    header& oldest = *quarantine_first;
    quarantine_first = oldest.next;
    if (quarantine_first == nullptr) quarantine_last = nullptr;
    in_quarantine -= capacity_of(oldest.size_class);
    of_program.give_back(oldest);
  }
}

}  // namespace

bool is_in_heap(const void* p) noexcept { return of_program.has(p); }

std::span<const std::byte> used_heap() noexcept { return of_program.used(); }

void* heap_allocate(std::size_t bytes, std::size_t alignment, const void* code) {
  bool is_new = false;
  void* const p = of_program.take(bytes, alignment, is_new);
  if (p == nullptr) return nullptr;
  if (!is_new) shadow_forget(reinterpret_cast<std::uintptr_t>(p), capacity_of(header_of(p).size_class));
  note_call(event_kind::allocate, p, bytes, code);
  return p;
}

bool is_of_runtime(const void* p) noexcept { return of_runtime.has(p); }
void* runtime_allocate(std::size_t bytes, std::size_t alignment) {
  bool is_new = false;
  return of_runtime.take(bytes, alignment, is_new);
}
void runtime_free(void* p) noexcept { of_runtime.give_back(header_of(p)); }

void heap_free(void* p, const void* code) {
  header& h = header_of(p);
  if (h.state != block_state::used) {
    if (h.state == block_state::freed) fail(failure::double_free, "memory is freed that has been freed already", code);
    fail(failure::misuse, "what is freed was not allocated, or what lies before it was overwritten", code);
  }
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  access(address, std::min<std::size_t>(h.size, freed_bytes_marked), is_a_write, code);
  h.state = block_state::freed;
  note_call(event_kind::deallocate, p, 0, code);
  shadow_mark_freed(address, h.size, code);
  if (choices.reuses_memory || !exploring) {
    of_program.give_back(h);
  } else {
    keep_for_a_while(h);
  }
}

std::size_t heap_size_of(const void* p) noexcept { return header_of(p).size; }

}  // namespace runq::model::explore
