// SPDX-License-Identifier: MIT
// The queue lock of Craig, Landin and Hagersten: a waiting thread spins on the flag of the thread before it.
// check: exhaustive
// check -DWRONG: FAIL data race
#include <atomic>
#include <cassert>
#include <thread>

#ifdef WRONG
constexpr auto seen = std::memory_order::relaxed;
#else
constexpr auto seen = std::memory_order::acquire;
#endif

std::atomic<bool> held[3];
std::atomic<std::atomic<bool>*> tail{&held[2]};
int data;

int main() {
  const auto work = [](int i) {
    held[i].store(true, std::memory_order::relaxed);
    std::atomic<bool>* const before = tail.exchange(&held[i], std::memory_order::acq_rel);
    while (before->load(seen)) std::this_thread::yield();
    ++data;
    held[i].store(false, std::memory_order::release);
  };
  std::thread a(work, 0);
  std::thread b(work, 1);
  a.join();
  b.join();
  assert(data == 2);
}
