// SPDX-License-Identifier: MIT
#include "shadow.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "areas.hpp"
#include "arena.hpp"
#include "endless.hpp"
#include "limits.hpp"
#include "locations.hpp"
#include "locks.hpp"
#include "report.hpp"
#include "runtime.hpp"
#include "system_call.hpp"
#include "threads.hpp"

namespace runq::model::explore {

std::uintptr_t watched_cell = 1;

namespace {

// Two levels: a table of regions of 1 MB, each with the cells of its memory.
constexpr unsigned region_bits = 20;
constexpr std::size_t cells_of_region = (std::size_t{1} << region_bits) / 8;
constexpr std::size_t shadow_bytes = std::size_t{1} << 41;  ///< eight times the memory of the program
constexpr std::size_t regions = std::size_t{1} << (47 - region_bits);

cell** table = nullptr;
constinit growing_area shadow(shadow_area);
std::uintptr_t next_cells = shadow_area;
std::uintptr_t last_region = ~std::uintptr_t{0};
cell* last_cells = nullptr;

[[nodiscard]] cell* existing_cells(std::uintptr_t region) noexcept {
  return table == nullptr ? nullptr : table[region % regions];
}

void note_region(std::uintptr_t region) noexcept {
  if (exploring && report->used.region_count != working_set::most) {
    report->used.regions[report->used.region_count++] = region;
  }
}

[[gnu::noinline]] cell* cells_of(std::uintptr_t region) {
  if (table == nullptr) {
    table = static_cast<cell**>(map_memory(shadow_table_area, regions * sizeof(cell*)));
  }
  cell*& cells = table[region % regions];
  if (cells == nullptr) {
    if (next_cells == shadow_area + shadow_bytes) give_up("the program uses more than 256 GB of memory");
    cells = reinterpret_cast<cell*>(next_cells);
    next_cells += cells_of_region * sizeof(cell);
    shadow.reach(next_cells);
    note_region(region);
  }
  last_region = region;
  last_cells = cells;
  return cells;
}

[[nodiscard]] std::uint8_t bytes_from(std::uintptr_t first, std::size_t count) noexcept {
  return static_cast<std::uint8_t>(((1U << count) - 1) << first);
}

[[nodiscard]] std::uint32_t to_place(const void* code) noexcept {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(code));
}

[[gnu::noinline]] void fail_at(std::uintptr_t at, const past_access& before, std::uint32_t place,
                               const past_access& mine, const void* code) {
  conflict c;
  c.address = at + static_cast<unsigned>(std::countr_zero(static_cast<unsigned>(before.bytes & mine.bytes)));
  c.before = before;
  c.before_place = place;
  c.mine = mine;
  report_conflict(c, code);
}

void access_cell(std::uintptr_t begin, std::uint8_t bytes, std::uint8_t flags, const void* code) {
  cell& c = cell_at(begin);
  const past_access mine{self->epoch(), static_cast<std::uint16_t>(self->number), bytes, flags};
  const auto same = std::bit_cast<std::uint64_t>(mine);
  if (begin == watched_cell && (flags & is_atomic) == 0)
    note_plain_access(begin + static_cast<unsigned>(std::countr_zero(bytes)), flags, code);
  for (const past_access& a : c.accesses) {
    if (std::bit_cast<std::uint64_t>(a) == same) return;
  }
  unsigned slot = cell::kept;
  for (unsigned i = 0; i != cell::kept; ++i) {
    const past_access& a = c.accesses[i];
    if (a.bytes == 0) {
      if (slot == cell::kept) slot = i;
      continue;
    }
    if ((a.bytes & bytes) == 0) continue;
    const bool is_known = self->now.happened[a.thread] >= a.epoch;
    if ((a.flags & is_a_free) != 0) {
      // Only a use after the block was freed, not its use again: that forgets what was there.
      fail_at(begin, a, c.places[i], mine, code);
      return;
    }
    if (a.thread == mine.thread) {
      // What is stronger stands for both.
      const bool is_covered = (a.bytes & ~bytes) == 0 && ((a.flags & ~flags) & is_a_write) == 0 &&
                              ((a.flags & is_atomic) == (flags & is_atomic));
      if (is_covered) slot = i;
      continue;
    }
    if (((a.flags | flags) & is_a_write) == 0 || ((a.flags & flags) & is_atomic) != 0) continue;
    if (!is_known) {
      fail_at(begin, a, c.places[i], mine, code);
      return;
    }
    // A write that happened after it stands for it.
    if ((flags & is_a_write) != 0 && (flags & is_atomic) == 0 && (a.bytes & ~bytes) == 0) slot = i;
  }
  if (slot == cell::kept) slot = (self->epoch() + to_place(code)) % cell::kept;
  c.accesses[slot] = mine;
  c.places[slot] = to_place(code);
}

void forget_objects(cell& c) {
  forget_locations(c);
  forget_locks(c);
}

template <class Do>
void each_existing_cell(std::uintptr_t address, std::size_t size, Do&& perform) {
  for (std::uintptr_t at = address / 8 * 8; at < address + size; at += 8) {
    cell* const cells = existing_cells(at >> region_bits);
    if (cells == nullptr) {
      at = ((at >> region_bits) + 1) << region_bits;
      at -= 8;
      continue;
    }
    perform(cells[(at >> 3) % cells_of_region], at);
  }
}

}  // namespace

void prepare_region(std::uintptr_t region) { static_cast<void>(cells_of(region)); }

void note_used_shadow(working_set& used) {
  constexpr std::uintptr_t page_bytes = 4096;
  constexpr std::uint64_t is_present = std::uint64_t{1} << 63;
  const int file = static_cast<int>(system_call(SYS_openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  if (file < 0) return;
  const std::uintptr_t end = std::min(next_cells, shadow_area + working_set::most * cells_of_region * sizeof(cell));
  std::array<std::uint64_t, 512> pages{};
  for (std::uintptr_t at = shadow_area; at != end; at += pages.size() * page_bytes) {
    const auto offset = static_cast<long>(at / page_bytes * sizeof(std::uint64_t));
    if (system_call(SYS_pread64, file, pages.data(), sizeof pages, offset) != sizeof pages) return;
    for (std::size_t i = 0; i != pages.size(); ++i) {
      if ((pages[i] & is_present) == 0) continue;
      const std::uintptr_t page = at + i * page_bytes;
      working_set::range* const last = used.range_count == 0 ? nullptr : &used.ranges[used.range_count - 1];
      if (last != nullptr && last->begin + last->bytes == page) {
        last->bytes += page_bytes;
      } else if (used.range_count != working_set::most) {
        used.ranges[used.range_count++] = {page, page_bytes};
      } else {
        return;
      }
    }
  }
}

cell& cell_at(std::uintptr_t address) {
  const std::uintptr_t region = address >> region_bits;
  cell* const cells = region == last_region ? last_cells : cells_of(region);
  return cells[(address >> 3) % cells_of_region];
}

void access(std::uintptr_t address, std::size_t size, std::uint8_t flags, const void* code) {
  if (!exploring || size == 0) return;
  if (--accesses_until_look == 0) [[unlikely]]
    look_at_loop(address, size, flags, code);
  const std::uintptr_t end = address + size;
  for (std::uintptr_t at = address; at < end;) {
    const std::uintptr_t next = std::min(end, (at / 8 + 1) * 8);
    const std::uint8_t bytes = bytes_from(at % 8, next - at);
    access_cell(at / 8 * 8, bytes, flags, code);
    if (flags == is_a_write) {
      cell& c = cell_at(at);
      if (c.locations != nullptr || c.locks != nullptr) forget_written_objects(c, at, next - at);
    }
    at = next;
  }
}

template <std::size_t Size>
void access(std::uintptr_t address, std::uint8_t flags, const void* code) {
  if (!exploring) return;
  if constexpr (Size <= 8) {
    if (address % 8 + Size <= 8) {
      if (--accesses_until_look == 0) [[unlikely]]
        look_at_loop(address, Size, flags, code);
      const std::uintptr_t begin = address / 8 * 8;
      access_cell(begin, bytes_from(address % 8, Size), flags, code);
      if (flags == is_a_write) {
        cell& c = cell_at(address);
        if (c.locations != nullptr || c.locks != nullptr) [[unlikely]]
          forget_written_objects(c, address, Size);
      }
      return;
    }
  }
  access(address, Size, flags, code);
}
template void access<1>(std::uintptr_t, std::uint8_t, const void*);
template void access<2>(std::uintptr_t, std::uint8_t, const void*);
template void access<4>(std::uintptr_t, std::uint8_t, const void*);
template void access<8>(std::uintptr_t, std::uint8_t, const void*);
template void access<16>(std::uintptr_t, std::uint8_t, const void*);

void shadow_forget(std::uintptr_t address, std::size_t size) {
  if (!exploring) return;
  constexpr std::uintptr_t page_memory = 4096 / sizeof(cell) * 8;  // what a page of cells stands for
  const std::uintptr_t end = address + size;
  while (address < end) {
    cell* const cells = existing_cells(address >> region_bits);
    const std::uintptr_t region_end = std::min(end, ((address >> region_bits) + 1) << region_bits);
    if (cells != nullptr && address % page_memory == 0 && region_end - address >= 64 * page_memory) {
      // The records are lost with the cells: large blocks with atomic variables are rare.
      const std::size_t bytes = (region_end - address) / page_memory * 4096;
      madvise(&cells[(address >> 3) % cells_of_region], bytes, MADV_DONTNEED);
      address += bytes / sizeof(cell) * 8;
    } else if (cells != nullptr) {
      const std::uintptr_t stop = std::min(region_end, (address / page_memory + 1) * page_memory);
      each_existing_cell(address, stop - address, [](cell& c, std::uintptr_t) {
        if (c.locations != nullptr || c.locks != nullptr) forget_objects(c);
        c = {};
      });
      address = stop;
    } else {
      address = region_end;
    }
  }
}

void shadow_mark_freed(std::uintptr_t address, std::size_t size, const void* code) {
  if (!exploring) return;
  const past_access freed{self->epoch(), static_cast<std::uint16_t>(self->number), 0xff, is_a_write | is_a_free};
  size = std::min(size, freed_bytes_marked);
  for (std::uintptr_t at = address; at < address + size; at += 8) {
    cell& c = cell_at(at);
    if (c.locations != nullptr || c.locks != nullptr) forget_objects(c);
    c = {};
    c.accesses[0] = freed;
    c.places[0] = to_place(code);
  }
}

}  // namespace runq::model::explore
