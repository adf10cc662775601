// SPDX-License-Identifier: MIT
// In programs of tests over headers with all mutants (mutants.cmake): a word of the command line, --mutant=NAME,
// chooses one, and --reached=FILE writes which mutated functions were called. Words are read before main(), where an
// exploration begins, and a file that is mapped is the same one in each of its runs. This source is not instrumented.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "variant.hpp"

namespace runq::model {

std::uint64_t chosen_mutant = 0;
bool mutants_are_noted = false;

namespace {

struct noted {
  std::uint64_t number;  // 0: of none
  std::uint64_t calls;
};
constexpr std::size_t size = 4096;  // a hash table, and more than twice as large as there are mutants
noted* table = nullptr;

void note_into(const char* file) {
  const int descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor == -1 || ftruncate(descriptor, size * sizeof(noted)) != 0) return;
  void* const memory = mmap(nullptr, size * sizeof(noted), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (memory == MAP_FAILED) return;
  table = static_cast<noted*>(memory);
  mutants_are_noted = true;
}

[[gnu::constructor]] void read_words(int count, char** words, char**) {
  constexpr std::string_view mutant = "--mutant=";
  constexpr std::string_view reached = "--reached=";
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word.starts_with(mutant)) chosen_mutant = mutant_number(word.substr(mutant.size()));
    if (word.starts_with(reached)) note_into(words[i] + reached.size());
  }
}

}  // namespace

void note_mutant(std::uint64_t number) noexcept {
  std::size_t at = number % size;
  while (table[at].number != number && table[at].number != 0) at = (at + 1) % size;
  table[at].number = number;
  ++table[at].calls;  // threads are fibers of one kernel thread here
}

}  // namespace runq::model
