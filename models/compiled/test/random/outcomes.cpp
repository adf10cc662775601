// SPDX-License-Identifier: MIT
// The outcomes of the executions of a check. They are in memory that the process that makes the check shares with the
// process that started it.
#include <charconv>
#include <tuple>

#include <sys/mman.h>

#include "random.hpp"

namespace random_programs {

namespace {

struct notes {
  static constexpr std::size_t room = std::size_t{1} << 20;
  std::size_t size;
  bool overflown;
  char text[room];

  void add(unsigned value, char separator) {
    constexpr std::size_t longest = 12;
    if (size + longest >= room) {
      overflown = true;
      return;
    }
    char* const end = std::to_chars(text + size, text + room, value).ptr;
    *end = separator;
    size = static_cast<std::size_t>(end + 1 - text);
  }
};

notes* shared = nullptr;

}  // namespace

bool prepare_outcomes() noexcept {
  void* const memory = mmap(nullptr, sizeof(notes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  shared = static_cast<notes*>(memory);
  return true;
}

void forget_outcomes() noexcept {
  shared->size = 0;
  shared->overflown = false;
}

void add_outcome(const thread_result* threads, std::size_t count, const unsigned* values) noexcept {
  for (std::size_t t = 0; t != count; ++t) {
    for (unsigned i = 0; i != threads[t].reads; ++i) {
      shared->add(static_cast<unsigned>(t), ':');
      shared->add(threads[t].read[i], ' ');
    }
  }
  for (std::size_t v = 0; v != variables; ++v) shared->add(values[v], v + 1 == variables ? '\n' : ';');
}

namespace {

struct ended_thread {
  unsigned kind;
  thread_result result;
  [[nodiscard]] bool operator<(const ended_thread& other) const {
    return std::tie(kind, result.read) < std::tie(other.kind, other.result.read);
  }
};
// In order. Every execution finds them as they begin.
ended_thread ended[most_threads];
std::size_t ended_count = 0;

}  // namespace

void note_end_of_thread(unsigned kind, const thread_result& r) noexcept {
  const ended_thread own{kind, r};
  std::size_t at = ended_count++;
  for (; at != 0 && own < ended[at - 1]; --at) ended[at] = ended[at - 1];
  ended[at] = own;
}

void add_unordered_outcome(const unsigned* values) noexcept {
  thread_result sorted[most_threads];
  for (std::size_t t = 0; t != ended_count; ++t) sorted[t] = ended[t].result;
  add_outcome(sorted, ended_count, values);
}

const char* outcomes() noexcept {
  shared->text[shared->size] = '\0';
  return shared->overflown ? nullptr : shared->text;
}

}  // namespace random_programs
