// SPDX-License-Identifier: MIT
// The owner pushes a job that it has just written, a thief takes it and reads it.
#include <array>
#include <cassert>
#include <cstdlib>
#include <thread>

#include "parlay/internal/work_stealing_deque.h"

parlay::internal::Deque<int> jobs;

int main() {
  int job = 0;
  std::thread thief([] {
    if (const auto [stolen, empty] = jobs.pop_top(); stolen != nullptr) assert(*stolen == 1);
  });
  job = 1;
  jobs.push_bottom(&job);
  thief.join();
}
