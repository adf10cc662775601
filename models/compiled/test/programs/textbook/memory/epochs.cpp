// SPDX-License-Identifier: MIT
// Epochs: a reader says in which epoch it reads, and an object that is unlinked in an epoch is freed when no reader can
// be in that epoch any more. The epoch advances when the reader is outside, or has arrived in it. A reader may be one
// epoch late, so the epoch has to advance twice.
// check: exhaustive, 13 executions
// check -DWRONG: FAIL use after free
// check -DWRONG_FENCE: FAIL use after free
#include <atomic>
#include <cassert>
#include <thread>

constexpr auto relaxed = std::memory_order::relaxed;
#ifdef WRONG
constexpr int enough = 1;
#else
constexpr int enough = 2;
#endif
#ifdef WRONG_FENCE
void order() { std::atomic_thread_fence(std::memory_order::acq_rel); }
#else
void order() { std::atomic_thread_fence(std::memory_order::seq_cst); }
#endif

std::atomic<int> epoch{1};
std::atomic<int> reading_in{0};  // 0: the reader is outside
std::atomic<int*> current{nullptr};

void use() {
  reading_in.store(epoch.load(relaxed), relaxed);
  order();
  if (const int* const p = current.load(std::memory_order::acquire)) assert(*p == 42);
  reading_in.store(0, std::memory_order::release);
}

bool go_on() {
  order();
  const int now = epoch.load(relaxed);
  const int reader = reading_in.load(std::memory_order::acquire);
  if (reader != 0 && reader != now) return false;
  epoch.store(now + 1, relaxed);
  return true;
}

int main() {
  current.store(new int(42), relaxed);
  std::thread reader(use);
  int* const old = current.exchange(nullptr, relaxed);
  int times = 0;
  while (times != enough && go_on()) ++times;
  if (times == enough) delete old;
  reader.join();
  if (times != enough) delete old;
}
