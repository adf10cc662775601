// SPDX-License-Identifier: MIT
// A thread waits for a condition and destroys it, as soon as the other one has notified it.
#include <memory>
#include <thread>

#include "olp/core/client/Condition.h"

int main() {
  std::thread notifier;
  {
    olp::client::Condition condition;
    notifier = std::thread([&condition] { condition.Notify(); });
    while (!condition.Wait()) {
    }
  }
  notifier.join();
}
