// SPDX-License-Identifier: MIT
// Memory that the program maps itself lies at the same address in each run, whatever the explorer has mapped before:
// failures_test.py compares what is printed here.
//
// check -DWRONG: FAIL assertion fails: memory == nullptr
// check: none fails
#include <cassert>
#include <cstddef>
#include <cstdio>

#include <sys/mman.h>

int main() {
  constexpr std::size_t bytes = std::size_t{16} << 20;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert(memory != MAP_FAILED);
  std::printf("mapped at %p\n", memory);
  std::fflush(stdout);
#ifndef WRONG
  munmap(memory, bytes);
  memory = nullptr;
#endif
  assert(memory == nullptr);
}
