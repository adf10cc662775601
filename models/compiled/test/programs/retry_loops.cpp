// SPDX-License-Identifier: MIT
// Loops that try again after a compare-exchange, or a condition of several reads, has failed. A failed round is left
// out if the thread would be in the same state with the newer values at once; what a round leaves behind is never lost.
// check -DCOUNTER: exhaustive, 6 executions
// check -DCOUNTER --skip-retries off: exhaustive, 48 executions, +0 blocked
// check -DCOUNTER --every-iteration: exhaustive, 48 executions, +0 blocked
// check -DCOUNTER -DON_HEAP: exhaustive, 6 executions
// check -DCOUNTER -DLEFT_BEHIND: exhaustive, 6 executions
// check -DREREAD: exhaustive, 6 executions
// check -DSEQLOCK: exhaustive, 2 executions
// check -DSEQLOCK -DTORN: FAIL assertion
// check -DLEAVES: exhaustive, 6 executions
// check -DLEAVES --skip-retries off: exhaustive, 48 executions
// check -DCOUNTED: FAIL assertion
// check -DRETURNED: FAIL assertion
// check -DTHREAD_RETURNS: FAIL assertion
// check -DSTORED: FAIL assertion
// check -DNOTED: FAIL assertion
// check -DORDERED: FAIL data race
// check -DFREED: FAIL use after free
// check -DFREED --keep-rounds off: bounded, 2 executions; between what a loop accesses in vain and accesses that follow
// check -DPLAIN: FAIL data race
// check -DPLAIN --keep-rounds off: bounded, 2 executions; between what a loop accesses in vain and accesses that follow
// check -DPLAIN -DTOLD_BY=release -DLEARNT_BY=acquire: exhaustive, 2 executions
// check -DPLAIN -DTOLD_BY=release -DLEARNT_BY=acquire --keep-rounds on: exhaustive, 5 executions
// check -DPLAIN -DMANY: FAIL data race
// check -DPLAIN -DBESIDE: FAIL data race
// check -DSTACK: FAIL data race
// check -DWRITTEN_PLAINLY: FAIL data race
#include <array>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <thread>

#include <pthread.h>

constexpr auto relaxed = std::memory_order::relaxed;
constexpr auto acquire = std::memory_order::acquire;
constexpr auto release = std::memory_order::release;

#if defined(COUNTER)
constexpr int threads = 3;
#ifdef ON_HEAP
std::atomic<int>& count = *new std::atomic<int>(0);
#else
std::atomic<int> count{0};
#endif
#ifdef LEFT_BEHIND
// Other bytes in each execution, which the next one has in a frame of its own, and does not use.
using large_frame = std::array<int, 2000>;
[[gnu::noinline]] void leave_behind(int value) {
  large_frame frame;
  frame.fill(value);
  asm volatile("" : : "r"(frame.data()) : "memory");
}
#endif
[[gnu::noinline]] int add() {
#ifdef LEFT_BEHIND
  large_frame unused;
  asm volatile("" : : "r"(unused.data()) : "memory");
#endif
  int expected = count.load(relaxed);
  while (!count.compare_exchange_strong(expected, expected + 1, relaxed, relaxed)) {
  }
  return expected;
}
void run(int) {
  [[maybe_unused]] const int found = add();
#ifdef LEFT_BEHIND
  leave_behind(found);
#endif
}
void finish() { assert(count == threads); }
#elif defined(REREAD)
constexpr int threads = 3;
std::atomic<int> count{0};
void run(int) {
  for (;;) {
    int expected = count.load(relaxed);
    if (count.compare_exchange_strong(expected, expected + 1, relaxed, relaxed)) return;
  }
}
void finish() { assert(count == threads); }
#elif defined(SEQLOCK)
constexpr int threads = 2;
std::atomic<int> version{0}, a{0}, b{0};
void run(int index) {
  if (index == 0) {
    version.store(1, relaxed);
    std::atomic_thread_fence(release);
    a.store(1, relaxed);
    b.store(1, relaxed);
    version.store(2, release);
    return;
  }
  int before, seen_a, seen_b;
  do {
    before = version.load(acquire);
    seen_a = a.load(relaxed);
    seen_b = b.load(relaxed);
#ifndef TORN
    std::atomic_thread_fence(acquire);
#endif
  } while (before % 2 != 0 || version.load(relaxed) != before);
  assert(seen_a == seen_b);
}
void finish() {}
#elif defined(LEAVES)
// Who finds nothing to take, after having lost it, has found nothing at once.
constexpr int threads = 3;
std::atomic<int> taken{0}, unchanged{0};
void run(int) {
  int mine = taken.load(relaxed);
  while (mine != 2 && !taken.compare_exchange_strong(mine, mine + 1, relaxed, relaxed)) {
  }
  unchanged.load(relaxed);
}
void finish() {}
#elif defined(COUNTED)
constexpr int threads = 2;
std::atomic<int> count{0}, tries{0};
void run(int) {
  int expected = count.load(relaxed);
  int tried = 0;
  while (!count.compare_exchange_strong(expected, expected + 1, relaxed, relaxed)) ++tried;
  if (tried != 0) tries.store(tried, relaxed);
}
void finish() { assert(tries == 0); }
#elif defined(RETURNED)
// Only what the thread leaves on its stack tells how often it has tried.
constexpr int threads = 2;
std::atomic<int> count{0};
std::array<int, threads> tries;
int increment() {
  int expected = count.load(relaxed);
  int tried = 0;
  while (expected != 1 && !count.compare_exchange_strong(expected, expected + 1, relaxed, relaxed)) ++tried;
  return tried;
}
void run(int index) { tries[static_cast<std::size_t>(index)] = increment(); }
void finish() { assert(tries[0] + tries[1] == 0); }
#elif defined(THREAD_RETURNS)
constexpr int threads = 0;
std::atomic<int> count{0};
void* run_and_return(void*) {
  int expected = count.load(relaxed);
  intptr_t tried = 0;
  while (expected != 2 && !count.compare_exchange_strong(expected, expected + 1, relaxed, relaxed)) ++tried;
  return reinterpret_cast<void*>(tried);
}
void run(int) {}
// Only a thread that finds nothing to do, after it has tried twice, has tried twice.
void finish() {
  std::array<pthread_t, 3> all;
  for (pthread_t& t : all) pthread_create(&t, nullptr, run_and_return, nullptr);
  for (pthread_t t : all) {
    void* tried;
    pthread_join(t, &tried);
    assert(tried != reinterpret_cast<void*>(2));
  }
}
#elif defined(STORED)
// With the newer value at once the thread would do something else on its way.
constexpr int threads = 2;
std::atomic<int> count{0};
std::array<bool, threads> was_first, knew;
void run(int index) {
  const auto own = static_cast<std::size_t>(index);
  int expected = count.load(relaxed);
  if (expected == 1) knew[own] = true;
  while (!count.compare_exchange_strong(expected, expected + 1, relaxed, relaxed)) {
  }
  was_first[own] = expected == 0;
}
void finish() {
  for (std::size_t i = 0; i != threads; ++i) assert(was_first[i] || knew[i]);
}
#elif defined(NOTED)
constexpr int threads = 3;
std::atomic<int> count{0};
std::array<std::atomic<int>, threads> failed;
void run(int index) {
  std::atomic<int>& own = failed[static_cast<std::size_t>(index)];
  int expected = count.load(relaxed);
  while (!count.compare_exchange_strong(expected, expected + 1, relaxed, relaxed)) own.fetch_add(1, relaxed);
}
void finish() {
  for (const std::atomic<int>& f : failed) assert(f != 2);
}
#elif defined(ORDERED)
// The compare-exchange that fails acquires less than the load.
constexpr int threads = 2;
std::atomic<int> state{0};
int data;
void run(int index) {
  if (index == 0) {
    data = 1;
    state.store(1, release);
    return;
  }
  int expected = state.load(acquire);
  while (!state.compare_exchange_strong(expected, 2, relaxed, relaxed)) {
  }
  if (expected == 1) assert(data == 1);
}
void finish() {}
#else
// The first thread looks at what the other one replaces, and uses when the first one has finished; or a third one does,
// which knows of that only that it was replaced.
#ifndef TOLD_BY
#define TOLD_BY relaxed
#define LEARNT_BY relaxed
#endif
#ifdef BESIDE
constexpr int threads = 3;
#else
constexpr int threads = 2;
#endif
struct node {
  std::atomic<int> next{0};
  int plain = 0;
};
std::array<node, 2> nodes;
std::atomic<bool> done{false};
std::atomic<bool> is_replaced{false};
std::array<int, 100> many{};
#ifdef FREED
std::atomic<node*> head{new node};
#else
std::atomic<node*> head{&nodes[0]};
#endif
std::atomic<int*> local{nullptr};
void run(int index) {
  if (index == 1) {
    node* const old = head.exchange(&nodes[1], relaxed);
    if (old == nullptr) return;
#ifdef BESIDE
    is_replaced.store(true, relaxed);
    return;
#endif
    while (!done.load(std::memory_order::LEARNT_BY)) {
    }
#if defined(FREED)
    delete old;
#elif defined(PLAIN)
    old->plain = 1;
#elif defined(STACK)
    *local.load(acquire) = 1;
#elif defined(WRITTEN_PLAINLY)
    *reinterpret_cast<int*>(&old->next) = 1;
#endif
    return;
  }
#ifdef BESIDE
  if (index == 2) {
    if (is_replaced.load(relaxed)) nodes[0].plain = 1;
    return;
  }
#endif
#ifdef MANY
  for (const int& one : many) static_cast<void>(*static_cast<const volatile int*>(&one));
#endif
#ifdef STACK
  int mine[2] = {0, 0};
  local.store(&mine[0], release);
#endif
  node* now = head.load(acquire);
  [[maybe_unused]] int read;
  do {
    read = now->next.load(relaxed);
#if defined(PLAIN)
    read += now->plain;
#elif defined(STACK)
    read += *static_cast<volatile int*>(&mine[now == &nodes[1] ? 1 : 0]);
#endif
  } while (!head.compare_exchange_strong(now, nullptr, acquire, acquire));
  done.store(true, std::memory_order::TOLD_BY);
}
void finish() {}
#endif

int main() {
  std::array<std::thread, threads> all;
  for (int i = 0; std::thread & t : all) t = std::thread(run, i++);
  for (std::thread& t : all) t.join();
  finish();
  return 0;
}
