// SPDX-License-Identifier: MIT
// Two threads meet at the barrier twice.
#include <thread>

#include "common/thread.h"

int main() {
  Common::Barrier barrier(2);
  const auto meet_twice = [&barrier] {
    barrier.Sync();
    barrier.Sync();
  };
  std::thread other(meet_twice);
  meet_twice();
  other.join();
}
