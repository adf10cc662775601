// SPDX-License-Identifier: MIT
// A reader reads under the shared lock, and a writer writes under the other one.
#include <thread>

#include "rw_spin_lock.hpp"

int main() {
  memgraph::utils::RWSpinLock lock;
  int data = 0;
  std::thread reader([&] {
    lock.lock_shared();
    const int seen = data;
    lock.unlock_shared();
    if (seen != 0 && seen != 1) std::abort();
  });
  lock.lock();
  data = 1;
  lock.unlock();
  reader.join();
}
