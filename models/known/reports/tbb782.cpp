// SPDX-License-Identifier: MIT
// Two threads push an element and pop one: both find one.
#include <cassert>
#include <cstdlib>
#include <thread>

#include "oneapi/tbb/concurrent_queue.h"

// What of the library is no header.
namespace tbb::detail::r1 {
void* cache_aligned_allocate(std::size_t size) { return std::malloc(size); }
void cache_aligned_deallocate(void* memory) { std::free(memory); }
void throw_exception(exception_id) { std::abort(); }
}  // namespace tbb::detail::r1

int main() {
  tbb::concurrent_queue<int> queue;
  const auto push_and_pop = [&queue] {
    queue.push(1);
    int value = 0;
    assert(queue.try_pop(value));
  };
  std::thread other(push_and_pop);
  push_and_pop();
  other.join();
}
