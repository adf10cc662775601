// SPDX-License-Identifier: MIT
#include "arena.hpp"

#include <cstdint>

#include <sys/mman.h>

#include "areas.hpp"
#include "limits.hpp"
#include "report.hpp"

namespace runq::model::explore {

namespace {

std::uintptr_t arena_next = 0;

}  // namespace

void* map_memory(std::uintptr_t address, std::size_t bytes) {
  void* const wanted = reinterpret_cast<void*>(address);
  void* const memory = mmap64(wanted, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (memory != wanted) give_up("the system gives no memory");
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  return memory;
}

void* arena_allocate(std::size_t bytes) {
  bytes = (bytes + 15) / 16 * 16;
  if (arena_next == 0) {
    map_memory(arena_area, heap_bytes);
    arena_next = arena_area;
  }
  if (bytes > arena_area + heap_bytes - arena_next) give_up("the explorer itself needs more than 64 GB");
  void* const memory = reinterpret_cast<void*>(arena_next);
  arena_next += bytes;
  return memory;
}

}  // namespace runq::model::explore
