// SPDX-License-Identifier: MIT
// The owner pushes a task that it has just written; a thief steals it and reads it.
#include <cassert>
#include <thread>

#include "ftl/config.h"
#include "ftl/wait_free_queue.h"

int main() {
  ftl::WaitFreeQueue<int*> queue;
  int task = 0;
  std::thread thief([&queue] {
    int* stolen = nullptr;
    if (queue.Steal(&stolen)) assert(*stolen == 1);
  });
  task = 1;
  queue.Push(&task);
  thief.join();
}
