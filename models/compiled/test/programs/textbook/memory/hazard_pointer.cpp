// SPDX-License-Identifier: MIT
// Hazard pointers: a reader says which object it uses, then makes sure that the object is still there. Before a thread
// frees an object, it looks whether a reader uses it.
// check: exhaustive, 8 executions
// check -DWRONG: FAIL use after free
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int*> current{nullptr};
std::atomic<int*> hazard{nullptr};

#ifdef WRONG
void order() { std::atomic_thread_fence(std::memory_order::acq_rel); }
#else
void order() { std::atomic_thread_fence(std::memory_order::seq_cst); }
#endif

int main() {
  current.store(new int(1));
  std::thread reader([] {
    int* const p = current.load(std::memory_order::acquire);
    hazard.store(p, std::memory_order::relaxed);
    order();
    if (p != nullptr && current.load(std::memory_order::acquire) == p) assert(*p == 1);
    hazard.store(nullptr, std::memory_order::release);
  });
  int* const old = current.exchange(nullptr, std::memory_order::acq_rel);
  order();
  const bool in_use = hazard.load(std::memory_order::acquire) == old;
  if (!in_use) delete old;
  reader.join();
  if (in_use) delete old;
}
