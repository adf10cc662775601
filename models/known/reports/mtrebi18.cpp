// SPDX-License-Identifier: MIT
// A pool with one thread executes a task, and is shut down.
#include "ThreadPool.h"

int main() {
  ThreadPool pool(1);
  pool.init();
  auto done = pool.submit([] { return 1; });
  const int answer = done.get();
  pool.shutdown();
  return answer == 1 ? 0 : 1;
}
