// SPDX-License-Identifier: MIT
// Memory that the program maps itself is zero, lies at the same address in each execution, and is judged as other
// memory is.
// check: exhaustive, 2 executions
// check -DRACE: FAIL in execution 1: data race
// check -DGONE: FAIL in execution 1: use after free
#include <atomic>
#include <cassert>
#include <cstddef>
#include <new>
#include <thread>

#include <sys/mman.h>

constexpr std::size_t bytes = 8192;

struct shared {
  std::atomic<int> count{0};
  int plain;
};

int main() {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert(memory != MAP_FAILED);
  auto* const at = ::new (memory) shared;
  assert(static_cast<int*>(memory)[2] == 0);
  munmap(static_cast<std::byte*>(memory) + bytes / 2, bytes / 2);  // a part
  const auto add = [at] {
    ++at->count;
#ifdef RACE
    ++at->plain;
#endif
  };
  std::thread other(add);
  add();
#ifdef GONE
  munmap(memory, bytes);
#endif
  other.join();
#ifndef GONE
  assert(at->count == 2);
  munmap(memory, bytes);
#endif
}
