// SPDX-License-Identifier: MIT
// One thread puts a task into a queue of Eigen's thread pool, and notifies. The other announces that it will sleep,
// looks into the queue once more, and sleeps if it finds nothing. With our queue it finds the task, or is woken. With
// Eigen's own (3.4) it may sleep for ever on processors that let a load overtake the store of an earlier
// compare-exchange. x86 does not.
// check alone: bounded
// check alone -DFROM_OUTSIDE: bounded
// check alone -DOWN_QUEUE -DFROM_OUTSIDE: FAIL deadlock
#ifndef OWN_QUEUE
#include "eigen_run_queue.hpp"
#endif
#include <cassert>
#include <thread>
#include <unsupported/Eigen/CXX11/ThreadPool>

struct work {
  int f = 0;
};
Eigen::RunQueue<work, 4> queue;

void push() {
#ifdef FROM_OUTSIDE
  queue.PushBack(work{1});
#else
  queue.PushFront(work{1});
#endif
}

int main() {
  Eigen::MaxSizeVector<Eigen::EventCount::Waiter> waiters(1);
  waiters.resize(1);
  Eigen::EventCount sleepers(waiters);
  std::thread worker([&] {
    sleepers.Prewait();
    if (queue.Empty()) {
      sleepers.CommitWait(&waiters[0]);
    } else {
      sleepers.CancelWait();
    }
    assert(queue.PopBack().f == 1);
  });
  push();
  sleepers.Notify(false);
  worker.join();
}
