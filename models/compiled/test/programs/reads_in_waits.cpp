// SPDX-License-Identifier: MIT
// A thread accesses memory in the rounds of a loop in which it waits. Another thread knows by a relaxed operation that
// the loop has ended, and accesses that, too: they race, although no execution has such a round and that access, unless
// one round is kept.
// check: FAIL data race
// check --keep-rounds on: FAIL data race
// check --all-failures 2: FAIL 1 different failure
// check -DFAILS_ALREADY --all-failures 2: FAIL 1 different failure
// check --keep-rounds off: bounded; that follow it, but do not happen after it (at reads_in_waits.cpp:
// check --load-buffering: bounded; that follow it, but do not happen after it (at reads_in_waits.cpp:
// check --load-buffering --keep-rounds on: bounded; that follow it, but do not happen after it (at
// check --bound 20: bounded; that follow it, but do not happen after it (at reads_in_waits.cpp:
// check -DTOLD_BY=release -DLEARNT_BY=acquire: exhaustive, 1 execution
// check -DTOLD_BY=release -DLEARNT_BY=acquire --keep-rounds on: exhaustive, 6 executions
// check -DTOLD_TWICE: exhaustive, 6 executions
// check -DTOLD_TWICE --keep-rounds off: bounded, 1 execution
// check -DBEFORE: FAIL data race
// check -DANOTHER: exhaustive, 1 execution
// check -DATOMICALLY: FAIL data race
// check -DATOMICALLY --keep-rounds off: bounded; between what a loop accesses in vain and
// check -DATOMICALLY -DIN_CONDITION: FAIL data race
// check -DON_STACK: FAIL data race
// check -DFREED: FAIL use after free
// check -DFREED --keep-rounds off: bounded; between what a loop accesses in vain and
// check -DFREED -DTOLD_BY=release -DLEARNT_BY=acquire: exhaustive, 1 execution
// check -DBY_A_THIRD: FAIL data race
// check -DBY_A_NEW_ONE: FAIL data race
// check -DBY_A_NEW_ONE --keep-rounds off: bounded; between what a loop accesses in vain and
// check -DMANY: FAIL data race
// check -DMANY --keep-rounds off: bounded; between what a loop accesses in vain and
// check -DTOLD_BY_WAKING --spurious-wakeups 0: FAIL data race
// check -DTOLD_BY_WAKING --spurious-wakeups 0 --keep-rounds off: bounded; between what a loop accesses in vain
// check -DWOKEN_FOR_NO_REASON: FAIL data race
// check -DWOKEN_FOR_NO_REASON --keep-rounds off: bounded; between what a loop accesses in vain and
// check -DWOKEN_FOR_NO_REASON -DTOLD_BY=release -DLEARNT_BY=acquire: bounded, 2 executions
// check -DFAILED_FOR_NO_REASON: FAIL data race
// check -DFAILED_FOR_NO_REASON --keep-rounds off: bounded; between what a loop accesses in vain and
// check -DFAILED_FOR_NO_REASON -DTOLD_BY=release -DLEARNT_BY=acquire: exhaustive, 1 execution
// check -DLONG: FAIL data race
// check -DLONG -DTOLD_BY=release -DLEARNT_BY=acquire --keep-rounds on: exhaustive, 6 executions
// check -DWIDE: FAIL data race
// check -DWIDE --keep-rounds off: bounded; between what a loop accesses in vain and
// check -DWIDE -DTOLD_BY=release -DLEARNT_BY=acquire: exhaustive, 1 execution
// check -DWIDE -DANOTHER: exhaustive, 1 execution
// check -DBY_AN_ATOMIC: FAIL data race
// check -DBY_AN_ATOMIC --keep-rounds off: bounded; between what a loop accesses in vain and
// check -DBY_AN_ATOMIC -DTOLD_BY=release -DLEARNT_BY=acquire: exhaustive, 1 execution
// check -DBY_AN_ATOMIC -DATOMICALLY: exhaustive, 1 execution
// check -DSWAPPED -DATOMICALLY -DREAD: FAIL data race
// check -DSWAPPED -DATOMICALLY -DREAD --keep-rounds off: bounded; between what a loop accesses in vain and
// check -DSWAPPED -DATOMICALLY -DREAD -DTOLD_BY=release -DLEARNT_BY=acquire: exhaustive, 1 execution
// check -DATOMICALLY -DREAD: exhaustive, 1 execution
// check -DREAD: exhaustive, 1 execution
// check -DON_OWN_STACK: FAIL data race
// check -DON_OWN_STACK --keep-rounds off: bounded; between what a loop accesses in vain and
// check -DON_OWN_STACK -DTOLD_BY=release -DLEARNT_BY=acquire: exhaustive
// check -DON_OWN_STACK -DROUNDS_WRITE -DREAD: FAIL data race
// check -DON_OWN_STACK -DROUNDS_WRITE -DREAD -DBY_AN_ATOMIC: FAIL data race
// check -DON_STACK -DMAIN_WAITS -DREAD: exhaustive, 1 execution
// check -DON_STACK -DMAIN_WAITS -DROUNDS_WRITE -DREAD_SEEN: exhaustive, 1 execution
// check -DON_STACK -DMAIN_WAITS -DWRITTEN_BEFORE -DREAD_ANOTHER: exhaustive, 1 execution
// check -DON_STACK -DMAIN_WAITS -DROUNDS_WRITE -DREAD: FAIL data race
// check -DON_STACK -DMAIN_WAITS -DROUNDS_WRITE -DREAD -DTOLD_BY=release -DLEARNT_BY=acquire: exhaustive
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
#if defined(MANY)
constexpr int places = 2000;  // more than are noted one by one
#elif defined(WIDE)
constexpr int places = 6;  // one access reads all
#else
constexpr int places = 1;
#endif

namespace {

#ifdef ATOMICALLY
using looked_at = std::atomic<int>;
#else
using looked_at = int;
#endif
struct alignas(8) everything {
  mutable looked_at seen[places]{};
  mutable int another = 0;
};
constexpr auto relaxed = std::memory_order::relaxed;
std::atomic<int> done{0};
std::atomic<bool> has_ended{false};
std::atomic<bool> has_also_ended{false};
std::atomic<everything*> known{nullptr};
std::atomic<int> many[40]{};
everything global;
std::mutex mutex;
std::condition_variable woken;
bool is_ready = false;

int look(looked_at& at) {
#if defined(SWAPPED)
  return at.exchange(0, relaxed);
#elif defined(ATOMICALLY)
  return at.load(relaxed);
#else
  return at;
#endif
}

// What it leaves on its stack is gone when it returns: so each round of the loop below ends as it has begun.
[[gnu::noinline]] void look_at_all(const everything& all) {
#ifdef WIDE
  int found[places];
  std::memcpy(found, all.seen, sizeof found);
  asm volatile("" : : "r"(found) : "memory");
  return;
#endif
  for (looked_at& at : all.seen) {
    const int found = look(at);
    asm volatile("" : : "r"(found));
  }
#ifdef LONG
  for (const std::atomic<int>& one : many) static_cast<void>(one.load(relaxed));
#endif
#ifdef ROUNDS_WRITE
  all.another = 0;
#endif
}

void use([[maybe_unused]] everything& of_main) {
#ifdef FAILS_ALREADY
  if (done.load(relaxed) == 1) global.another = 2;
#endif
#ifdef ON_OWN_STACK
  everything all;
  known.store(&all, std::memory_order::release);
#else
  everything& all = of_main;
#endif
#if defined(FAILED_FOR_NO_REASON)
  for (int free = 0; !done.compare_exchange_weak(free, 2, relaxed); free = 0) look_at_all(all);
#elif defined(WOKEN_FOR_NO_REASON)
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
#ifdef WRITTEN_BEFORE
  all.another = 0;
  known.store(&all, std::memory_order::release);
#endif
  static const everything nobodys;
  look_at_all(nobodys);  // the loop begins as its rounds do
  while (done.load(relaxed) < 2) look_at_all(all);
#endif
#ifdef IN_CONDITION
  static_cast<void>(look(all.seen[0]));
#endif
#if defined(TOLD_BY_WAKING)
  woken.notify_one();
#elif defined(TOLD_TWICE)
  has_ended.store(true, std::memory_order::release);
  has_also_ended.store(true, relaxed);
#else
  has_ended.store(true, std::memory_order::TOLD_BY);
#endif
#ifdef ON_OWN_STACK
  while (done.load(std::memory_order::acquire) != 3) continue;
#endif
}

void access(everything& all) {
#if defined(FREED)
  delete &all;
#elif defined(READ) && defined(BY_AN_ATOMIC)
  static_cast<void>(std::atomic_ref(all.another).load(relaxed));
#elif defined(READ_ANOTHER)
  const int found = all.another;
  asm volatile("" : : "r"(found));
#elif defined(READ_SEEN)
  int found;
  std::memcpy(&found, static_cast<const void*>(&all.seen[0]), sizeof found);
  asm volatile("" : : "r"(found));
#elif defined(READ)
  int found;
#ifdef ROUNDS_WRITE
  std::memcpy(&found, &all.another, sizeof found);
#else
  std::memcpy(&found, static_cast<const void*>(&all.seen[0]), sizeof found);
#endif
  asm volatile("" : : "r"(found));
#elif defined(ANOTHER)
  all.another = 1;
#elif defined(ATOMICALLY) && defined(BY_AN_ATOMIC)
  all.seen[0].store(1, relaxed);
#elif defined(ATOMICALLY)
  std::memset(static_cast<void*>(&all.seen[0]), 0, sizeof(int));
#elif defined(BY_AN_ATOMIC)
  std::atomic_ref(all.seen[0]).store(1, relaxed);
#elif defined(BY_A_NEW_ONE)
  std::thread([&] { all.seen[0] = 1; }).join();
#elif defined(WIDE)
  all.seen[places - 1] = 1;
#elif !defined(BEFORE)
  all.seen[0] = 1;
#endif
}

void wait_and_access([[maybe_unused]] everything& of_main) {
#ifdef ON_OWN_STACK
  while (known.load(std::memory_order::acquire) == nullptr) continue;
  everything& all = *known.load(relaxed);
#else
  everything& all = of_main;
#endif
#ifdef TOLD_TWICE
  while (!has_ended.load(std::memory_order::acquire)) continue;
  while (!has_also_ended.load(relaxed)) continue;
#else
  while (!has_ended.load(std::memory_order::LEARNT_BY)) continue;
#endif
  access(all);
#ifdef ON_OWN_STACK
  done.store(3, std::memory_order::release);
#endif
}

void end_loop_and_access(everything& all) {
#ifdef FAILS_ALREADY
  all.another = 1;
#endif
#ifdef WRITTEN_BEFORE
  while (known.load(std::memory_order::acquire) == nullptr) continue;
#endif
#ifndef FAILED_FOR_NO_REASON
  done.store(1, relaxed);
#ifdef BEFORE
  all.another = 1;
  std::memset(static_cast<void*>(&all.seen[0]), 0, sizeof(int));
#endif
  done.store(2, relaxed);
#endif
#ifndef BY_A_THIRD
  wait_and_access(all);
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
#ifdef MAIN_WAITS
  std::thread other(end_loop_and_access, std::ref(all));
  use(all);
  other.join();
#else
  std::thread user(use, std::ref(all));
#ifdef BY_A_THIRD
  std::thread third(wait_and_access, std::ref(all));
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
  end_loop_and_access(all);
#endif
#if defined(BY_A_THIRD) || defined(TOLD_BY_WAKING) || defined(WOKEN_FOR_NO_REASON)
  third.join();
#endif
  user.join();
#endif
}
