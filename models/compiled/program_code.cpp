// SPDX-License-Identifier: MIT
#include "program_code.hpp"

#include <cstring>
#include <tuple>

#include <fmt/format.h>

#include "abi.hpp"

namespace runq::model::compiled {

void program_code::enter_function(const void* code) {
  thread_state& t = now_.running();
  t.at = frames_.callee(t.at, code);
  // Before the end of the stack is reached.
  if (has_used_up_stack()) {
    fail(failure::crash, fmt::format("a thread has used up its stack of {} bytes", exact::fiber_stack_bytes), code);
  }
}

namespace {

[[nodiscard]] const std::byte* word_at(const std::byte* place) noexcept {
  const std::byte* word = nullptr;
  std::memcpy(&word, place, sizeof word);
  return word;
}

/// Whether the program may have made a call that returns there.
[[nodiscard]] bool may_return_to(const code_ranges& program, const std::byte* code) noexcept {
  return program.contains(code) && program.contains(code - longest_call_bytes) && follows_call(code);
}

}  // namespace

/// Where the program called the library that calls at `code_of_library`: the innermost return address of the program
/// behind the last place on the stack that holds that one. Deeper places are the checker's own, and may hold any
/// address that it has seen before. The result is only shown to people, so a guess will do. To look through the stack
/// takes long: if the addresses are still where they were found the last time, that result counts.
const void* program_code::code_of_caller(const void* code_of_library) noexcept {
  const auto* const stack = static_cast<const std::byte*>(__builtin_frame_address(0));
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
  static_assert(std::tuple_size_v<decltype(library_calls_)> == 64);
  const auto number = reinterpret_cast<std::uintptr_t>(stack) * odd + reinterpret_cast<std::uintptr_t>(code_of_library);
  library_call& last = library_calls_[number * odd >> 58];
  if (last.stack == stack && last.code_of_library == code_of_library && word_at(last.from) == code_of_library &&
      word_at(last.at) == last.code) {
    return last.code;
  }
  const std::byte* const end = now_.search->stack_of(now_.search->running()).lowest() + exact::fiber_stack_bytes;
  const std::byte* from = stack;
  for (const std::byte* place = stack; place + sizeof(void*) <= end; place += sizeof(void*)) {
    if (word_at(place) == code_of_library) from = place;
  }
  for (const std::byte* at = from; at + sizeof(void*) <= end; at += sizeof(void*)) {
    const std::byte* const code = word_at(at);
    if (!may_return_to(own_code_, code)) continue;
    last = {stack, code_of_library, from, at, code};
    return code;
  }
  return nullptr;
}

std::string program_code::to_text(const frame* at) {
  const site where = symbols_.own_line(at);
  const std::string_view path = where.file;
  if (where.line == 0) return "an unknown line";
  return fmt::format("{}:{}", path.substr(path.rfind('/') + 1), where.line);
}

std::string program_code::to_text(exact::event_id e) {
  return to_text(static_cast<const frame*>(now_.search->site_of(e).code));
}

bool program_code::is_in_std_lock(const void* code) {
  const frame* const at = frame_of(code);
  const auto [known, added] = known_in_std_lock_.try_emplace(at, false);
  if (added) known->second = symbols_.is_in_std_lock(at);
  return known->second;
}

bool program_code::is_in_try_lock(const void* code) {
  const frame* const at = frame_of(code);
  const auto [known, added] = known_in_try_lock_.try_emplace(at, false);
  if (added) known->second = symbols_.is_in_try_lock(at);
  return known->second;
}

bool program_code::is_from(const void* code, std::string_view header) {
  const auto [at, added] = known_headers_.try_emplace({code, header}, false);
  if (added) at->second = symbols_.is_within(frame_of(code), header);
  return at->second;
}

unsigned program_code::choose(unsigned alternatives, const void* code, event_kind shown) {
  now_.note_effect();
  return now_.search->choose(alternatives, here(code), shown);
}

void program_code::fail(failure what, const std::string& message, const void* code) {
  now_.search->report_here(what, message, here(code));
}

void program_code::refuse(const std::string& what, const void* code) {
  give_up(fmt::format("not modelled: {}", what), code);
}

void program_code::give_up(const std::string& message, const void* code) {
  now_.search->give_up(fmt::format("{}, at {}", message, to_text(frame_of(code))));
}

}  // namespace runq::model::compiled
