// SPDX-License-Identifier: MIT
// Two threads push an element each, and pop one.
#include <cassert>
#include <optional>
#include <thread>

#include "Iyp/WaitFreeRingBufferUtilities/wait-free-ring-buffer-utilities.inl"

using Iyp::WaitFreeRingBufferUtilities::AccessRequirements;

int main() {
  Iyp::WaitFreeRingBufferUtilities::RingBuffer<
      int, AccessRequirements::MULTI_PRODUCER | AccessRequirements::MULTI_CONSUMER, 2>
      ring;
  const auto push_and_pop = [&](int element) {
    assert(ring.push(element));
    const auto taken = ring.pop();
    assert(taken && (*taken == 1 || *taken == 2));
  };
  std::thread other(push_and_pop, 1);
  push_and_pop(2);
  other.join();
}
