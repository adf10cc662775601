// SPDX-License-Identifier: MIT
// A writer stores a pair of equal numbers, a reader sees equal numbers.
#include <cassert>
#include <thread>

#include "xenium/policy.hpp"
#include "xenium/seqlock.hpp"

struct pair {
  long first, second;
};

int main() {
  xenium::seqlock<pair> shared(pair{0, 0});
  std::thread writer([&shared] { shared.store({1, 1}); });
  const pair seen = shared.load();
  assert(seen.first == seen.second);
  writer.join();
}
