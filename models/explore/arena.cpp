// SPDX-License-Identifier: MIT
#include "arena.hpp"

#include <cstdint>

#include <sys/mman.h>

#include "areas.hpp"
#include "limits.hpp"
#include "report.hpp"

namespace runq::model::explore {

namespace {

constinit growing_area arena(arena_area);
std::uintptr_t arena_next = arena_area;

}  // namespace

void* map_memory(std::uintptr_t address, std::size_t bytes) {
  void* const wanted = reinterpret_cast<void*>(address);
  void* const memory = mmap64(wanted, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (memory != wanted) give_up("the system gives no memory");
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  return memory;
}

void growing_area::grow(std::uintptr_t end) {
  constexpr std::uintptr_t step = std::uintptr_t{1} << 30;
  const std::uintptr_t more = (end - mapped_ + step - 1) / step * step;
  map_memory(mapped_, more);
  mapped_ += more;
}

void* arena_allocate(std::size_t bytes) {
  bytes = (bytes + 15) / 16 * 16;
  if (bytes > arena_area + heap_bytes - arena_next) give_up("the explorer itself needs more than 64 GB");
  void* const memory = reinterpret_cast<void*>(arena_next);
  arena_next += bytes;
  arena.reach(arena_next);
  return memory;
}

}  // namespace runq::model::explore
