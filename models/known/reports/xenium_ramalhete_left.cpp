// SPDX-License-Identifier: MIT
// A node is full, another one follows, and nobody takes the elements: they are destroyed with the queue.
#include <memory>

#include "xenium/ramalhete_queue.hpp"
#include "xenium/reclamation/quiescent_state_based.hpp"

int main() {
  xenium::ramalhete_queue<std::unique_ptr<int>, xenium::policy::reclaimer<xenium::reclamation::quiescent_state_based>,
                          xenium::policy::entries_per_node<2>>
      queue;
  for (int i = 0; i != 3; ++i) queue.push(std::make_unique<int>(i));
}
