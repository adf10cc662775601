// SPDX-License-Identifier: MIT
// Eigen 3.4's thread pool as it is, with its own queue. A worker looks whether the pool is cancelled, then Cancel()
// wakes those that sleep, then the worker goes to sleep. Nobody wakes it, and the destructor waits for it for ever: no
// memory order is to blame, only the order of the steps.
// check alone --max-events 50000: FAIL deadlock
#include <unsupported/Eigen/CXX11/ThreadPool>

int main() {
  Eigen::ThreadPool pool(2, false);
  pool.Cancel();
}
