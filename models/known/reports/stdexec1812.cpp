// SPDX-License-Identifier: MIT
// Two threads push three elements, which one thread pops; then nothing is left.
#include <cassert>
#include <cstddef>
#include <thread>

#include "stdexec/__detail/__intrusive_mpsc_queue.hpp"

struct task {
#ifdef TYPED_NEXT  // the mended version asks for a pointer to the node's own type
  STDEXEC::__std::atomic<task*> next{nullptr};
#else
  STDEXEC::__std::atomic<void*> next{nullptr};
#endif
};

int main() {
  STDEXEC::__intrusive_mpsc_queue<&task::next> queue;
  task first, second, third;
  std::thread producer([&] {
    queue.push_back(&first);
    queue.push_back(&second);
  });
  std::thread other([&] { queue.push_back(&third); });
  for (int count = 0; count < 3;) count += queue.pop_front() != nullptr ? 1 : 0;
  assert(queue.pop_front() == nullptr);
  producer.join();
  other.join();
}
