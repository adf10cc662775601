// SPDX-License-Identifier: MIT
// One thread reads by a fast pointer while the other one stores a new value.
#include <cassert>
#include <thread>
#include <vector>

#include "atomic_shared_ptr.h"

int main() {
  LFStructs::AtomicSharedPtr<int> shared(new int(1));
  std::thread reader([&shared] {
    auto seen = shared.getFast();
    assert(*seen.get() == 1 || *seen.get() == 2);
  });
  shared.store(new int(2));
  reader.join();
}
