// SPDX-License-Identifier: MIT
// Dekker's flags, of which one thread's fence is the compiler's only: the other one's membarrier is a fence in both.
// check -DWAY=0: passes
// check -DWAY=1: FAIL check failed: assertion first || second fails
#include <atomic>
#include <cassert>
#include <thread>

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

int main() {
  assert((syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0) & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0);
  assert(syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0);
  std::atomic<bool> x{false};
  std::atomic<bool> y{false};
  bool first = false;
  bool second = false;
  std::thread often([&] {
    x.store(true, std::memory_order::relaxed);
    std::atomic_signal_fence(std::memory_order::seq_cst);
    first = y.load(std::memory_order::relaxed);
  });
  std::thread seldom([&] {
    y.store(true, std::memory_order::relaxed);
    if (WAY == 0) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    second = x.load(std::memory_order::relaxed);
  });
  often.join();
  seldom.join();
  assert(first || second);
}
