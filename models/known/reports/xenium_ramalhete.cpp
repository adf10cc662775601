// SPDX-License-Identifier: MIT
// An element is there; a thread pushes another one and pops one: the other thread finds an element, too. ENTRIES are
// those of a node.
#include <cassert>
#include <thread>

#include "xenium/ramalhete_queue.hpp"
#include "xenium/reclamation/quiescent_state_based.hpp"

#ifndef ENTRIES
#define ENTRIES 4
#endif

int main() {
  xenium::ramalhete_queue<int*, xenium::policy::reclaimer<xenium::reclamation::quiescent_state_based>,
                          xenium::policy::entries_per_node<ENTRIES>>
      queue;
  int element = 1;
  queue.push(&element);
  std::thread other([&] {
    queue.push(&element);
    int* taken = nullptr;
    (void)queue.try_pop(taken);
  });
  int* taken = nullptr;
  const bool found = queue.try_pop(taken);
  assert(found);
  other.join();
}
