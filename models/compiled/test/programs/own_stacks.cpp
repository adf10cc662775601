// SPDX-License-Identifier: MIT
// What a thread keeps on its own stack others may access, too: main()'s variables above all. What a round of a loop
// does there, and what a compare-exchange that fails writes there, races as it does elsewhere. Each program has a
// macro, which stands first in its lines `// check`.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#ifndef TOLD_BY
#define TOLD_BY relaxed
#define LEARNT_BY relaxed
#endif

namespace {

constexpr auto relaxed = std::memory_order::relaxed;

[[maybe_unused]] void read(const int& at) {
  const int found = at;
  asm volatile("" : : "r"(found));
}

#if defined(BARRIER)
// main() reads in its rounds what the woken thread reads, too, before it has the mutex again.
// check -DBARRIER --spurious-wakeups 0: bounded, 2 executions
// check -DBARRIER: bounded, 2 executions, +2 blocked
// check -DBARRIER -DTHREADS=3: bounded, 12 executions, +9 blocked
// check -DBARRIER -DTHREADS=3 -DSTATIC: bounded, 12 executions, +9 blocked

#ifndef THREADS
#define THREADS 2
#endif
struct barrier {
  std::mutex mutex;
  std::condition_variable is_complete;
  int here = 0;
  int round = 0;

  void arrive_and_wait() {
    std::unique_lock lock(mutex);
    const int mine = round;
    if (++here == THREADS) {
      here = 0;
      ++round;
      is_complete.notify_all();
      return;
    }
    while (round == mine) is_complete.wait(lock);
  }
};

void check() {
#ifdef STATIC
  static
#endif
      barrier all;
  std::thread others[THREADS - 1];
  for (std::thread& t : others) t = std::thread([&] { all.arrive_and_wait(); });
  all.arrive_and_wait();
  for (std::thread& t : others) t.join();
}

#elif defined(FAILED_ROUND)
// A round that fails writes what the next one only reads. Who knows of the next one may race with the first.
// check -DFAILED_ROUND: FAIL data race
// check -DFAILED_ROUND --skip-retries off: FAIL data race
// check -DFAILED_ROUND --keep-rounds off: bounded; between what a loop accesses in vain and
// check -DFAILED_ROUND -DBY_A_THREAD: FAIL data race
// check -DFAILED_ROUND -DTOLD_BY=release -DLEARNT_BY=acquire: exhaustive, 3 executions
// check -DFAILED_ROUND -DROUNDS_READ: exhaustive, 3 executions

std::atomic<int> count{0};
std::atomic<const int*> last{nullptr};

[[gnu::noinline]] void look(int now, int& seen) {
  if (now != 0) return read(seen);
#ifdef ROUNDS_READ
  read(seen);
#else
  seen = 0;
#endif
}
// What it leaves on its stack is gone when it returns.
[[gnu::noinline]] int try_to_add(int& seen) {
  int now = count.load(relaxed);
  look(now, seen);
  return count.compare_exchange_strong(now, now + 2, relaxed) ? now + 2 : 0;
}
void add() {
  int seen = 0;
  std::thread other([] {
    count.fetch_add(1, relaxed);
    if (const int* const at = last.load(std::memory_order::LEARNT_BY)) read(*at);
  });
  int sum = 0;
  while ((sum = try_to_add(seen)) == 0) continue;
  if (sum == 3) last.store(&seen, std::memory_order::TOLD_BY);
  other.join();
}
void check() {
#ifdef BY_A_THREAD
  std::thread(add).join();
#else
  add();
#endif
}

#elif defined(EXPECTED)
// A compare-exchange that fails writes what it has expected. One that succeeds has only read it.
// check -DEXPECTED: FAIL data race
// check -DEXPECTED -DWRITES -DSUCCEEDS: FAIL data race
// check -DEXPECTED -DSUCCEEDS: exhaustive
// check -DEXPECTED -DBY_A_THREAD: FAIL data race
// check -DEXPECTED -DBY_A_THREAD -DSUCCEEDS: exhaustive
// check -DEXPECTED -DBEFORE: exhaustive
// check -DEXPECTED -DANOTHER: exhaustive

#ifdef SUCCEEDS
std::atomic<int> at{0};
#else
std::atomic<int> at{1};
#endif

void exchange() {
  int expected = 0;
  [[maybe_unused]] int another = 0;
#ifdef BEFORE
  at.compare_exchange_strong(expected, 2, relaxed);
#endif
  std::thread other([&] {
#if defined(WRITES)
    expected = 0;
#elif defined(ANOTHER)
    read(another);
#else
    read(expected);
#endif
  });
#ifndef BEFORE
  at.compare_exchange_strong(expected, 2, relaxed);
#endif
  other.join();
}
void check() {
#ifdef BY_A_THREAD
  std::thread(exchange).join();
#else
  exchange();
#endif
}

#elif defined(BESIDE_ITS_OWN)
// Variables that lie side by side: what the thread has accessed last is another one than what it accesses now.
// check -DBESIDE_ITS_OWN: FAIL data race
// check -DBESIDE_ITS_OWN --keep-rounds on: FAIL data race
// check -DBESIDE_ITS_OWN -DANOTHER: exhaustive

std::atomic<bool> has_read{false};

void check() {
  struct alignas(8) {
    int first = 0;
    short second = 0;
    short third = 0;
  } own;
  std::thread other([&] {
    read(own.first);
    has_read.store(true, relaxed);
  });
  while (!has_read.load(relaxed)) continue;
  const auto write = [](auto& at) {
    at = 1;
    asm volatile("" : : "r"(&at) : "memory");
  };
  write(own.second);
  write(own.third);
#ifndef ANOTHER
  write(own.first);
#endif
  other.join();
}

#else
// So does one that fails for no reason, in a round that is left out.
// check -DLEFT: FAIL data race
// check -DLEFT -DSTATIC: FAIL data race
// check -DLEFT -DSTATIC --keep-rounds off: bounded; between what a loop accesses in vain and
// check -DLEFT -DTOLD_BY=release -DLEARNT_BY=acquire: exhaustive, 1 execution
// check -DLEFT -DSTATIC -DTOLD_BY=release -DLEARNT_BY=acquire: exhaustive, 1 execution

std::atomic<int> at{0};
std::atomic<bool> has_ended{false};

void check() {
#ifdef STATIC
  static
#endif
      int expected = 0;
  std::thread other([&] {
    while (!has_ended.load(std::memory_order::LEARNT_BY)) continue;
    read(expected);
  });
  while (!at.compare_exchange_weak(expected, 2, relaxed)) continue;
  has_ended.store(true, std::memory_order::TOLD_BY);
  other.join();
}
#endif

}  // namespace

int main() {
  check();
  return 0;
}
