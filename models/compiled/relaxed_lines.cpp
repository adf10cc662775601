// SPDX-License-Identifier: MIT
#include "relaxed_lines.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "hook.hpp"
#include "session.hpp"

namespace runq::model::compiled {

std::string to_text(const code_line& l) { return fmt::format("{}:{}", l.file, l.line); }

bool read_code_line(std::string_view text, code_line& to) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view number = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), to.line);
  to.file = text.substr(0, colon);
  return error == std::errc{} && end == number.data() + number.size() && to.line > 0;
}

/// Of the innermost line that is the program's own, as failures show it.
bool relaxed_lines::is_relaxed(const void* code) {
  if (lines_.empty()) return false;
  const frame* const at = code_.frame_of(code);
  const auto [known, added] = known_.try_emplace(at, false);
  if (!added) return known->second;
  const site where = code_.own_line(at);
  for (std::size_t i = 0; i != lines_.size(); ++i) {
    if (where.line != lines_[i].line || !path_ends_with(where.file, lines_[i].file)) continue;
    met_.insert(i);
    known->second = true;
  }
  return known->second;
}

/// While no other thread runs, nothing races.
bool relaxed_lines::performs(const caller_state* caller, const void* at, std::size_t size, bool is_write,
                             bool is_volatile, const void* code) {
  if ((!all_volatile_ || !is_volatile) && !is_relaxed(code)) return false;
  if (now_.is_alone()) return false;
  auto* begin = static_cast<std::byte*>(const_cast<void*>(at));
  while (size != 0) {
    std::size_t count = size >= 16 && reinterpret_cast<std::uintptr_t>(begin) % 16 == 0 && size % 16 == 0 ? 16 : 8;
    while (count > size || reinterpret_cast<std::uintptr_t>(begin) % count != 0) count /= 2;
    const part p{begin, static_cast<unsigned>(count)};
    if (is_write) {
      atomics_.begin_plain_store(p.at, p.size, code);
      begun_.push_back(p);
    } else {
      read(caller, p, code);
    }
    begin += count;
    size -= count;
  }
  if (is_write) {
    begun_by_ = now_.self.number;
    begun_at_ = code;
    this_process.has_begun_stores = true;
  }
  return true;
}

void relaxed_lines::read(const caller_state* caller, const part& p, const void* code) {
  exact::event_id like = exact::nobody;
  if (caller != nullptr) {
    waits_.look_for_loop(*caller, code);
    like = waits_.read_in_earlier_round(*caller, p.at, false, code);
  }
  atomics_.plain_load(p.at, p.size, code, like);
}

void relaxed_lines::finish_stores() {
  const std::vector<part> begun = std::exchange(begun_, {});
  this_process.has_begun_stores = false;
  // The thread that has begun them may have stopped since.
  if (!now_.is_checked() || begun_by_ != now_.self.number) return;
  for (const part& p : begun) atomics_.end_plain_store(p.at, p.size, begun_at_);
}

std::vector<code_line> relaxed_lines::not_met() const {
  std::vector<code_line> left;
  for (std::size_t i = 0; i != lines_.size(); ++i) {
    if (!met_.contains(i)) left.push_back(lines_[i]);
  }
  return left;
}

void finish_begun_stores() noexcept { current_session().relaxed().finish_stores(); }

namespace {

/// The access of a program that runq-check has compiled for these options.
void access(const caller_state* caller, const void* at, std::size_t size, bool is_write, bool is_volatile,
            const void* code) {
  if (!this_process.in_program) return;
  const checker_scope scope;
  session& s = current_session();
  if (s.code().executed().is_recording()) s.code().executed().note(code);
  if (s.relaxed().performs(caller, at, size, is_write, is_volatile, code)) return;
  s.memory().access(at, size, is_write, code);
}

}  // namespace

}  // namespace runq::model::compiled

#define RUNQ_NOTED(size)                                                              \
  extern "C" void runq_noted_read##size(void* at) {                                   \
    runq::model::compiled::access(&runq_caller, at, size, false, false, RUNQ_CALLER); \
  }                                                                                   \
  extern "C" void runq_noted_volatile_read##size(void* at) {                          \
    runq::model::compiled::access(&runq_caller, at, size, false, true, RUNQ_CALLER);  \
  }                                                                                   \
  RUNQ_HOOK void __tsan_noted_write##size(void* at) {                                 \
    runq::model::compiled::access(nullptr, at, size, true, false, RUNQ_CALLER);       \
  }                                                                                   \
  RUNQ_HOOK void __tsan_noted_volatile_write##size(void* at) {                        \
    runq::model::compiled::access(nullptr, at, size, true, true, RUNQ_CALLER);        \
  }                                                                                   \
  RUNQ_ENTRY("__tsan_", "noted_read" #size)                                           \
  RUNQ_ENTRY("__tsan_", "noted_volatile_read" #size)

RUNQ_NOTED(1)
RUNQ_NOTED(2)
RUNQ_NOTED(4)
RUNQ_NOTED(8)
RUNQ_NOTED(16)
