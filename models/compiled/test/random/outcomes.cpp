// SPDX-License-Identifier: MIT
// The outcomes of the executions of a check. They are in memory that the process that makes the check shares with the
// process that started it.
#include <charconv>

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

const char* outcomes() noexcept {
  shared->text[shared->size] = '\0';
  return shared->overflown ? nullptr : shared->text;
}

}  // namespace random_programs
