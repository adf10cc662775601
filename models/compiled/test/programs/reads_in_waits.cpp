// SPDX-License-Identifier: MIT
// A thread reads memory in the rounds of a loop in which it waits. Another thread knows by a relaxed operation that the
// loop has ended, and writes there: they race, although no execution of the search has such a round and that write.
// check: bounded; that only relaxed operations order after it (at reads_in_waits.cpp:
// check -DTOLD_BY=release -DLEARNT_BY=acquire: exhaustive
// check -DBEFORE: FAIL data race
// check -DANOTHER: exhaustive
// check -DATOMICALLY: bounded; between what a loop reads while it waits and writes
// check -DATOMICALLY -DIN_CONDITION: FAIL data race
// check -DON_STACK: bounded; between what a loop reads while it waits and writes
// check -DFREED: bounded; between what a loop reads while it waits and writes
// check -DFREED -DTOLD_BY=release -DLEARNT_BY=acquire: exhaustive
// check -DBY_A_THIRD: bounded; between what a loop reads while it waits and writes
// check -DBY_A_NEW_ONE: bounded; between what a loop reads while it waits and writes
// check -DMANY: bounded; between what a loop reads while it waits and writes
// check -DTOLD_BY_WAKING --spurious-wakeups 0: bounded; between what a loop reads while it waits and writes
// check -DWOKEN_FOR_NO_REASON: bounded; between what a loop reads while it waits and writes
// check -DWOKEN_FOR_NO_REASON -DTOLD_BY=release -DLEARNT_BY=acquire: bounded, 2 executions
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

#ifndef TOLD_BY
#define TOLD_BY relaxed
#define LEARNT_BY relaxed
#endif
#ifdef MANY
constexpr int places = 2000;  // more than are noted one by one
#else
constexpr int places = 1;
#endif

namespace {

#ifdef ATOMICALLY
using looked_at = std::atomic<int>;
#else
using looked_at = int;
#endif
struct everything {
  looked_at seen[places]{};
  int another = 0;
};
constexpr auto relaxed = std::memory_order::relaxed;
std::atomic<int> done{0};
std::atomic<bool> has_ended{false};
everything global;
std::mutex mutex;
std::condition_variable woken;
bool is_ready = false;

int look(const looked_at& at) {
#ifdef ATOMICALLY
  return at.load(relaxed);
#else
  return at;
#endif
}

// What it leaves on its stack is gone when it returns: so each round of the loop below ends as it has begun.
[[gnu::noinline]] void look_at_all(const everything& all) {
  for (const looked_at& at : all.seen) {
    const int found = look(at);
    asm volatile("" : : "r"(found));
  }
}

void use(everything& all) {
#ifdef WOKEN_FOR_NO_REASON
  std::unique_lock lock(mutex);
  while (!is_ready) {
    woken.wait(lock);
    if (!is_ready) look_at_all(all);
  }
  lock.unlock();
#else
#ifdef TOLD_BY_WAKING
  mutex.lock();  // whoever is to be woken waits by now
  mutex.unlock();
#endif
  static const everything nobodys;
  look_at_all(nobodys);  // the loop begins as its rounds do
  while (done.load(relaxed) != 2) look_at_all(all);
#endif
#ifdef IN_CONDITION
  static_cast<void>(look(all.seen[0]));
#endif
#ifdef TOLD_BY_WAKING
  woken.notify_one();
#else
  has_ended.store(true, std::memory_order::TOLD_BY);
#endif
}

void wait_and_write(everything& all) {
  while (!has_ended.load(std::memory_order::LEARNT_BY)) continue;
#if defined(FREED)
  delete &all;
#elif defined(ANOTHER)
  all.another = 1;
#elif defined(ATOMICALLY)
  std::memset(static_cast<void*>(&all.seen[0]), 0, sizeof(int));
#elif defined(BY_A_NEW_ONE)
  std::thread([&] { all.seen[0] = 1; }).join();
#elif !defined(BEFORE)
  all.seen[0] = 1;
#endif
}

}  // namespace

int main() {
#if defined(FREED)
  everything& all = *new everything;
#elif defined(ON_STACK)
  everything all;
#else
  everything& all = global;
#endif
#ifdef TOLD_BY_WAKING
  std::unique_lock waits(mutex);
#endif
  std::thread user(use, std::ref(all));
#ifdef BY_A_THIRD
  std::thread third(wait_and_write, std::ref(all));
#elif defined(WOKEN_FOR_NO_REASON)
  std::thread third([] {
    const std::lock_guard lock(mutex);
    is_ready = true;
    woken.notify_one();
  });
#endif
#ifdef TOLD_BY_WAKING
  std::thread third([] {
    done.store(1, relaxed);
    done.store(2, relaxed);
  });
  woken.wait(waits);
  all.seen[0] = 1;
  waits.unlock();
#else
  done.store(1, relaxed);
#ifdef BEFORE
  all.another = 1;
  std::memset(static_cast<void*>(&all.seen[0]), 0, sizeof(int));
#endif
  done.store(2, relaxed);
#ifndef BY_A_THIRD
  wait_and_write(all);
#endif
#endif
#if defined(BY_A_THIRD) || defined(TOLD_BY_WAKING) || defined(WOKEN_FOR_NO_REASON)
  third.join();
#endif
  user.join();
}
