// SPDX-License-Identifier: MIT
// A thread that waits for work is stopped.
#include "wpi/util/SafeThread.hpp"

// What of the library is no header: no event is used here.
namespace wpi::util {
void SetEvent(WPI_EventHandle) {}
}  // namespace wpi::util

struct worker : wpi::util::SafeThread {
  void Main() override {
    std::unique_lock lock(m_mutex);
    while (m_active) m_cond.wait(lock);
  }
};

int main() {
  wpi::util::SafeThreadOwner<worker> owner;
  owner.Start();
  owner.Join();
}
