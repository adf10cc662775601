// SPDX-License-Identifier: MIT
#include "arena.hpp"

#include <cstdint>

#include <sys/mman.h>

#include "report.hpp"

namespace runq::model::explore {

namespace {

constexpr std::size_t piece_bytes = std::size_t{64} << 20;

std::uint8_t* arena_next = nullptr;
std::uint8_t* arena_end = nullptr;

}  // namespace

void* map_memory(std::size_t bytes, void* address) {
  const int fixed = address == nullptr ? 0 : MAP_FIXED_NOREPLACE;
  void* const memory =
      mmap64(address, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
  if (memory == MAP_FAILED || (address != nullptr && memory != address)) give_up("the system gives no memory");
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  return memory;
}

void* arena_allocate(std::size_t bytes) {
  bytes = (bytes + 15) / 16 * 16;
  if (bytes > static_cast<std::size_t>(arena_end - arena_next)) {
    if (bytes > piece_bytes) return map_memory(bytes);
    arena_next = static_cast<std::uint8_t*>(map_memory(piece_bytes));
    arena_end = arena_next + piece_bytes;
  }
  void* const memory = arena_next;
  arena_next += bytes;
  return memory;
}

}  // namespace runq::model::explore
