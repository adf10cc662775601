// SPDX-License-Identifier: MIT
// Two threads push; whoever pops has to find an element, once a push has ended, or be told to come again.
#include <atomic>
#include <cassert>
#include <thread>
#include <type_traits>

struct node {
  std::atomic<node*> next{nullptr};
};
inline void MPSC_intrusive_store_next(node* at, node* next) { at->next.store(next, std::memory_order_release); }
inline node* MPSC_intrusive_load_next(const node& at) { return at.next.load(std::memory_order_acquire); }

#include "base/mpsc_intrusive_queue.h"

int main() {
  base::MPSCIntrusiveQueue<node> queue;
  node first, second;
  std::thread producer([&] { queue.Push(&first); });
  queue.Push(&second);
  const auto [element, empty] = queue.PopWeak();
  assert(element != nullptr || !empty);
  producer.join();
}
