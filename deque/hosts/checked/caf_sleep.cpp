// SPDX-License-Identifier: MIT
// CAF's workers with our policy: one makes an actor ready and stays busy, the other looks for work, and sleeps if it
// finds nothing. It finds the actor, or is woken.
// check alone: bounded
// check alone -DFROM_OUTSIDE: bounded
#include <array>
#include <cassert>
#include <cstddef>
#include <thread>

#include "caf_work_stealing.hpp"

// The policy's view of CAF.
class caf::resumable {};
using policy = runq_hosts::caf_work_stealing;
struct worker;
struct coordinator {
  policy::coordinator_data& data() { return shared; }
  std::size_t num_workers() const { return workers.size(); }
  worker* worker_by_id(std::size_t i) { return workers[i]; }
  policy::coordinator_data shared{nullptr};
  std::array<worker*, 2> workers{};
};
struct worker {
  policy::worker_data& data() { return own; }
  coordinator* parent() { return all; }
  std::size_t id() const { return number; }
  coordinator* all;
  std::size_t number;
  policy::worker_data own{nullptr};
};

int main() {
  policy::looks_before_sleep = 1;
  coordinator all;
  worker busy{&all, 0};
  worker idle{&all, 1};
  all.workers = {&busy, &idle};
  caf::resumable actor;
  std::thread other([&] { assert(policy().dequeue(&idle) == &actor); });
#ifdef FROM_OUTSIDE
  policy().central_enqueue(&all, &actor);
#else
  policy().internal_enqueue(&busy, &actor);
#endif
  other.join();
}
