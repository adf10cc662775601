// SPDX-License-Identifier: MIT
// Eigen's thread pool with our queue: the owner takes one of two tasks, which it has pushed itself, or which came from
// outside. Meanwhile a worker that asks before it sleeps always sees the other task.
// check: exhaustive
// check -DFROM_OUTSIDE: exhaustive
#include <cassert>
#include <thread>

#include "eigen_run_queue.hpp"

struct work {
  int f = 0;
};
Eigen::RunQueue<work, 4> queue;

void push(int id) {
#ifdef FROM_OUTSIDE
  queue.PushBack(work{id});
#else
  queue.PushFront(work{id});
#endif
}

int main() {
  push(1);
  push(2);
  std::thread worker([] { assert(!queue.Empty()); });
  const int first = queue.PopFront().f;
  worker.join();
  assert(first + queue.PopFront().f == 3);
}
