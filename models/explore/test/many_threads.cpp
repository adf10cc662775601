// SPDX-License-Identifier: MIT
// As many threads at a time as there can be, and all of them know what the first thread has written.
//
// check -DTHREADS=1000: none fails
// check -DTHREADS=1000 -DWRONG: FAIL data race
// check -DTHREADS=1023: none fails
// check -DTHREADS=1024: not supported: more than 1,024 threads at a time
#include <atomic>
#include <cassert>
#include <thread>
#include <vector>

int written = 0;
std::atomic<int> here{0};
std::atomic<bool> may_end{false};

int main() {
  std::vector<std::thread> threads;
  std::vector<int> sum(THREADS);
  written = 1;
  for (int i = 0; i != THREADS; ++i) {
    threads.emplace_back([i, &sum] {
      sum[i] = written;
      here.fetch_add(1, std::memory_order::release);
      here.notify_all();
      may_end.wait(false, std::memory_order::acquire);
#ifdef WRONG
      if (i == THREADS - 1) sum[0] = 2;
#endif
    });
  }
  for (int n = here.load(std::memory_order::acquire); n != THREADS; n = here.load(std::memory_order::acquire)) {
    here.wait(n, std::memory_order::acquire);
  }
  int all = 0;
  for (const int s : sum) all += s;
  assert(all == THREADS);
  may_end.store(true, std::memory_order::release);
  may_end.notify_all();
#ifdef WRONG
  sum[0] = 3;
#endif
  for (std::thread& t : threads) t.join();
}
