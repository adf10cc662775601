// SPDX-License-Identifier: MIT
// A std::thread object belongs to one thread at a time: to join and to detach are changes of it.
// check: exhaustive, 1 execution
// check -DDETACHED: FAIL data race
// check -DLOOKED_AT: FAIL data race
#include <thread>

std::thread shared;

int main() {
  shared = std::thread([] {});
  std::thread other([] {
#if defined(DETACHED)
    shared.detach();
#elif defined(LOOKED_AT)
    static_cast<void>(shared.joinable());
#endif
  });
  shared.join();
  other.join();
}
