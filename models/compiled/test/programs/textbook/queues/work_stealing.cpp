// SPDX-License-Identifier: MIT
// The deque of Chase and Lev, with the orders of Lê and others (2013): the owner works at the bottom, thieves take at
// the top. The owner first claims by moving the bottom, then looks at the top; a thief looks at both. Without full
// fences in between each may miss the other, and both get the last task. (The deque of this project:
// deque/include/runq/chase_lev.hpp.)
// check: exhaustive, 41 executions
// check -DWRONG: FAIL assertion fails: runs
// check -DWRONG_THIEF: FAIL assertion fails: runs
#include <atomic>
#include <cassert>
#include <thread>

constexpr auto relaxed = std::memory_order::relaxed;
constexpr auto acquire = std::memory_order::acquire;
constexpr auto seq_cst = std::memory_order::seq_cst;
#ifdef WRONG
constexpr auto owner_fence = std::memory_order::acq_rel;
#else
constexpr auto owner_fence = seq_cst;
#endif
#ifdef WRONG_THIEF
constexpr auto thief_fence = std::memory_order::acq_rel;
#else
constexpr auto thief_fence = seq_cst;
#endif

std::atomic<int> top{0}, bottom{0};
std::atomic<int> slots[2];
std::atomic<int> runs[3];

void push(int task) {
  const int b = bottom.load(relaxed);
  slots[b % 2].store(task, relaxed);
  std::atomic_thread_fence(std::memory_order::release);
  bottom.store(b + 1, relaxed);
}
int pop() {
  const int b = bottom.load(relaxed) - 1;
  bottom.store(b, relaxed);
  std::atomic_thread_fence(owner_fence);
  int t = top.load(relaxed);
  int task = t <= b ? slots[b % 2].load(relaxed) : 0;
  if (t < b) return task;
  if (t == b && !top.compare_exchange_strong(t, t + 1, seq_cst, relaxed)) task = 0;  // the last one: a thief was faster
  bottom.store(b + 1, relaxed);
  return task;
}
int steal() {
  int t = top.load(acquire);
  std::atomic_thread_fence(thief_fence);
  if (t >= bottom.load(acquire)) return 0;
  const int task = slots[t % 2].load(relaxed);
  return top.compare_exchange_strong(t, t + 1, seq_cst, relaxed) ? task : 0;
}
void run(int task) {
  if (task != 0) assert(runs[task].fetch_add(1, relaxed) == 0);
}

int main() {
  push(1);
  push(2);
  std::thread thief([] {
    run(steal());
    run(steal());
  });
  run(pop());
  run(pop());
  thief.join();
}
