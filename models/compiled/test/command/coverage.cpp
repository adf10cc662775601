// SPDX-License-Identifier: MIT
// Some operations that every execution executes, one in two instances of a template, and some that none executes.
#include <atomic>
#include <thread>

std::atomic<int> flag{0};
int data;
int unused;

template <class T>
struct counter {
  std::atomic<T> n{0};
  bool add_to(T from) {
    return n.compare_exchange_strong(from, from + 1, std::memory_order::acq_rel, std::memory_order::acquire);
  }
  void never_called() {
    n.store(7, std::memory_order::release);
    unused = 3;
  }
};
counter<int> used;
counter<long> not_used;

int main(int arguments, char**) {
  std::thread writer([] {
    data = 1;
    flag.store(1, std::memory_order::release);
    used.add_to(0);
  });
  if (flag.load(std::memory_order::acquire) == 2) {
    std::atomic_thread_fence(std::memory_order::seq_cst);
    flag.exchange(3);
  }
  if (arguments > 5) {
    used.never_called();
    not_used.add_to(0);
  }
  writer.join();
}
