// SPDX-License-Identifier: MIT
#include "endless.hpp"

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <link.h>

#include "fibers.hpp"
#include "heap.hpp"
#include "limits.hpp"
#include "report.hpp"
#include "runtime.hpp"
#include "scheduler.hpp"
#include "shadow.hpp"
#include "threads.hpp"

namespace runq::model::explore {

std::uint32_t accesses_until_look = accesses_without_a_step;

namespace {

using bytes = std::span<const std::byte>;

struct word_before {
  const std::uint64_t* at;
  std::uint64_t value;
};
constexpr std::size_t most_words_elsewhere = 1024;

/// What a thread that runs alone goes on by: its registers are on its stack, in the frame of look_at_loop().
struct program_state {
  std::uint64_t step = 0;
  std::uintptr_t address = 0;
  const void* code = nullptr;
  const std::byte* stack = nullptr;    ///< where it ends; nullptr: there is no state to compare with
  std::vector<word_before> elsewhere;  ///< what was written outside of the parts
  std::vector<bytes> parts;
  std::vector<std::byte> copy;
};

program_state& before() {
  static auto& kept = *new program_state;
  return kept;
}
std::uint64_t last_look = ~std::uint64_t{0};  ///< the step
std::uint64_t window = 0;                     ///< with so many accesses the next state is compared
std::uint64_t left_of_window = 0;
std::uint64_t bytes_to_compare = 0;  ///< with this state: then another one is taken

/// What modules of the program can write to; the runtime's own data are none of its state.
void add_modules(std::vector<bytes>& to) {
  dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* data) {
        const auto own = reinterpret_cast<std::uintptr_t>(&accesses_until_look);
        std::vector<bytes> found;
        bool is_own = false;
        for (unsigned i = 0; i != module->dlpi_phnum; ++i) {
          const auto& h = module->dlpi_phdr[i];
          if (h.p_type != PT_LOAD || (h.p_flags & PF_W) == 0) continue;
          const std::uintptr_t begin = module->dlpi_addr + h.p_vaddr;
          is_own = is_own || own - begin < h.p_memsz;
          found.emplace_back(reinterpret_cast<const std::byte*>(begin), h.p_memsz);
        }
        auto& all = *static_cast<std::vector<bytes>*>(data);
        if (!is_own) all.insert(all.end(), found.begin(), found.end());
        return 0;
      },
      &to);
}

[[nodiscard]] std::vector<bytes> parts_of_state(const std::byte* stack) {
  std::vector<bytes> parts{stack_from(self->number, stack), thread_locals_of(self->number)};
  parts.push_back(used_heap());
  add_modules(parts);
  return parts;
}

[[nodiscard]] bool is_part_of_state(std::uintptr_t address) {
  return std::any_of(before().parts.begin(), before().parts.end(),
                     [=](bytes part) { return address - reinterpret_cast<std::uintptr_t>(part.data()) < part.size(); });
}

void take_state(std::uintptr_t address, const void* code, const std::byte* stack) {
  program_state& s = before();
  s.stack = nullptr;
  s.elsewhere.clear();
  s.parts = parts_of_state(stack);
  std::size_t size = 0;
  for (const bytes part : s.parts) size += part.size();
  if (size > state_bytes) return;
  s.copy.clear();
  for (const bytes part : s.parts) s.copy.insert(s.copy.end(), part.begin(), part.end());
  s.step = step_now();
  s.address = address;
  s.code = code;
  s.stack = stack;
  bytes_to_compare = 16 * state_bytes;
}

/// Compares in pieces, so that it is known how much had to be compared.
[[nodiscard]] bool is_as_before(bytes now, const std::byte* then) {
  constexpr std::size_t piece = 4096;
  for (std::size_t at = 0; at < now.size(); at += piece) {
    const std::size_t size = std::min(piece, now.size() - at);
    bytes_to_compare -= std::min<std::uint64_t>(bytes_to_compare, size);
    if (std::memcmp(now.data() + at, then + at, size) != 0) return false;
  }
  return true;
}

/// Before the thread writes there; false: that is too much to be kept.
[[nodiscard]] bool keep_what_is_written(std::uintptr_t address, std::size_t size) {
  auto& kept = before().elsewhere;
  constexpr std::uintptr_t word = sizeof(std::uint64_t);
  for (std::uintptr_t at = address / word * word; at < address + size; at += word) {
    const auto* const p = reinterpret_cast<const std::uint64_t*>(at);
    if (is_part_of_state(at) || std::any_of(kept.begin(), kept.end(), [p](word_before w) { return w.at == p; }))
      continue;
    if (kept.size() == most_words_elsewhere) return false;
    kept.push_back({p, *p});
  }
  return true;
}

[[nodiscard]] bool is_state_as_before() {
  const program_state& s = before();
  if (used_heap().size() != s.parts[2].size()) return false;
  if (std::any_of(s.elsewhere.begin(), s.elsewhere.end(), [](word_before w) { return *w.at != w.value; })) return false;
  const std::byte* then = s.copy.data();
  return std::all_of(s.parts.begin(), s.parts.end(), [&](bytes part) {
    const bool is_same = is_as_before(part, then);
    then += part.size();
    return is_same;
  });
}

/// Until the thread has made many accesses more.
void wait_for_more() {
  before().stack = nullptr;
  accesses_until_look = accesses_without_a_step;
}

/// `stack`: below it is nothing of the program's.
void judge_loop(std::uintptr_t address, std::size_t size, std::uint8_t flags, const void* code,
                const std::byte* stack) {
  const runtime_scope scope;
  const program_state& s = before();
  if (step_now() != last_look) {
    last_look = step_now();
    window = accesses_without_a_step / 16;
    return wait_for_more();
  }
  accesses_until_look = 1;
  if (s.stack != nullptr) {
    if ((flags & is_a_write) != 0 && !keep_what_is_written(address, size)) return wait_for_more();
    if (address == s.address && code == s.code && stack == s.stack && is_state_as_before()) {
      fail(failure::livelock,
           fmt::format("no end: T{} goes round in a loop without a step, and registers and memory are the same again",
                       self->number),
           nullptr);
    }
    if (--left_of_window != 0 && bytes_to_compare != 0) return;
  }
  left_of_window = window;
  window *= 2;
  take_state(address, code, stack);
  if (s.stack == nullptr) wait_for_more();
}

[[gnu::noinline]] void judge_from_here(std::uintptr_t address, std::size_t size, std::uint8_t flags, const void* code) {
  judge_loop(address, size, flags, code, static_cast<const std::byte*>(__builtin_frame_address(0)));
  asm volatile("" ::: "memory");  // no jump in place of the call: this frame stays
}

}  // namespace

/// What the callers have in registers, and go on to use, lies in this frame then, or above it.
[[gnu::noinline]] void look_at_loop(std::uintptr_t address, std::size_t size, std::uint8_t flags, const void* code) {
  std::jmp_buf registers{};
  static_cast<void>(setjmp(registers));
  judge_from_here(address, size, flags, code);
  asm volatile("" ::"r"(&registers) : "memory");
}

}  // namespace runq::model::explore
