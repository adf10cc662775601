// SPDX-License-Identifier: MIT
// check: passes, 2 executions
// check -DLEAK: FAIL leak
// check -DLEAK --no-leaks: passes
// check -DTWICE: FAIL double free
// check -DOVERRUN: FAIL outside of what was allocated
// check -DVARIABLE: FAIL what is freed was not allocated
// check -DLOCAL: FAIL what is freed was not allocated
// check -DUNPUBLISHED: FAIL unpublished allocation
// check -DGLOBAL: passes, 2 executions
#include <atomic>
#include <cstdlib>
#include <thread>

std::atomic<int*> box{nullptr};
int* kept;

int main() {
#if defined(VARIABLE) || defined(LOCAL)
  int local = 0;
#ifdef LOCAL
  void* volatile variable = &local;
#else
  void* volatile variable = &box;
#endif
  std::free(variable);
  return local;
#endif
  std::thread maker([] {
#ifdef UNPUBLISHED
    int* const p = new int[4];
    box.store(p, std::memory_order::relaxed);
#else
    int* const p = new int[4]{1, 2, 3, 4};
#ifdef OVERRUN
    p[4] = 5;
#endif
    box.store(p, std::memory_order::release);
#endif
  });
  std::thread taker([] {
    int* const p = box.exchange(nullptr, std::memory_order::acquire);
    if (p != nullptr) {
      p[0] = 7;
#if defined(LEAK)
#elif defined(GLOBAL)
      kept = p;
#else
      delete[] p;
#endif
#ifdef TWICE
      delete[] p;
#endif
    }
  });
  maker.join();
  taker.join();
  delete[] box.load();
}
