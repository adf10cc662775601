// SPDX-License-Identifier: MIT
// Rounds of loops that add to variables, and take that back: as the failed attempts of a read-write lock, to which
// readers add 1, and its writer 4. Such a round is left out, unless somebody may tell that there was one. Whoever can
// tell here tells main(), which only complete executions show.
// check: exhaustive, +0 blocked
// check --skip-retries off: exhaustive, +0 blocked
// check --skip-retries on: exhaustive, 14 executions, +196 blocked
// check -DLOADED --skip-retries on: FAIL assertion
// check -DLOADED_PLAINLY --skip-retries on: FAIL assertion
// check -DLOADED_FOR_TABLE --skip-retries on: FAIL assertion
// check -DLOADED_LATER --skip-retries on: FAIL assertion
// check -DEXCHANGED_LATER --skip-retries on: FAIL assertion
// check -DLOADED_KNOWING --skip-retries on: FAIL assertion
// check -DLOADED_IN_ROUND --skip-retries on: FAIL assertion
// check -DADDED --skip-retries on: FAIL assertion
// check -DADDED_PLAINLY --skip-retries on: FAIL assertion
// check -DEXCHANGED --skip-retries on: FAIL assertion
// check -DREAD_PLAINLY --skip-retries on: FAIL data race
// check -DWRITTEN --skip-retries on: FAIL assertion
// check -DWRITTEN_OFTEN --skip-retries on: FAIL assertion
// check -DCOUNTED --skip-retries on: FAIL assertion
// check -DTICKED --skip-retries on: FAIL assertion
// check -DSLEPT --skip-retries on: FAIL assertion
// check -DRELEASED --skip-retries on: FAIL double free
// check -DSECOND_STEP --skip-retries on: FAIL assertion
// check -DBYTES --skip-retries on: FAIL assertion
// check -DTWO_SIZES --skip-retries on: FAIL assertion
// check -DTWO_READERS --skip-retries on: FAIL assertion
// check -DAWAITED --skip-retries on: FAIL assertion
// check -DSTORED --skip-retries on: FAIL assertion
// check -DBYTE_LOADED --skip-retries on: FAIL assertion
// check -DCHOSEN --skip-retries on: FAIL assertion
// check -DFREED --skip-retries on: FAIL use after free
// check -DREAD_LATER --skip-retries on: FAIL data race
// check -DREAD_ON_STACK --skip-retries on: FAIL data race
// check -DREADS_PLAINLY --skip-retries on: FAIL data race
// check -DSTARTED_LATER --skip-retries on: FAIL assertion
// check -DLEFT --skip-retries on: FAIL leak
// check -DDESTROYED --skip-retries on: FAIL assertion
// These look, and cannot tell.
// check -DCOUNTS_ALONE --skip-retries on: exhaustive, 1 execution, +0 blocked
// check -DEXCHANGES --skip-retries on: passes, 2 executions
// check -DLOADED_AFTER_JOIN --skip-retries on: exhaustive, 26 executions
// check -DLOADED_BY_OWN --skip-retries on: exhaustive, 2 executions
// check -DTWO_LOCKS --skip-retries on: exhaustive, 16 executions
// check -DWRITES --skip-retries on: exhaustive, 2 executions
// check -DLENT --skip-retries on: passes, 12 executions
#include <atomic>
#include <cassert>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <thread>

constexpr auto relaxed = std::memory_order::relaxed;
constexpr auto acquire = std::memory_order::acquire;
constexpr auto release = std::memory_order::release;
constexpr auto acq_rel = std::memory_order::acq_rel;
constexpr int all = 4;

std::atomic<int> lock{0};
std::atomic<int> told{0};
std::atomic<int> other{0};
std::atomic<int> done{0};
std::atomic<int> unchanged{0};
int told_plainly = 0;
int written = 0;
int table[32];
int failed = 0;
std::atomic<int> ticks{0};
void* block = nullptr;

#if defined(SECOND_STEP)
constexpr int first_step = 1, second_step = 2;  // together they are 3, of which nobody sees the first
#elif defined(BYTES)
constexpr int first_step = 256, second_step = 0;
#else
constexpr int first_step = 1, second_step = 0;
#endif

int add_share(int share) {
#ifdef BYTES
  // The second byte of the lock; who owns it has a share of the first.
  return 256 * reinterpret_cast<std::atomic<std::uint8_t>*>(&lock)[1].fetch_add(static_cast<std::uint8_t>(share / 256),
                                                                                acquire) +
         lock.load(relaxed) % 256;
#else
  return lock.fetch_add(share, acquire);
#endif
}

[[gnu::noinline]] void note_often(int value) {
  for (int& t : table) t = value;
}

#if defined(WRITTEN)
void take_share() {
  while (lock.fetch_add(1, acquire) >= all) {
    failed = 1;
    lock.fetch_sub(1, relaxed);
    while (lock.load(relaxed) >= all) {
    }
  }
  lock.fetch_sub(1, release);
}
#else
void take_share(int share = first_step) {
  int before = add_share(share);
#if defined(TWO_LOCKS) || defined(CHOSEN)
  other.fetch_add(2, relaxed);
#endif
  [[maybe_unused]] int tried = 0;
  while (before >= all) {
    ++tried;
#ifdef TICKED
    ticks.fetch_add(1, relaxed);
#endif
#ifdef SLEPT
    std::this_thread::sleep_for(std::chrono::hours(1));
#endif
#ifdef RELEASED
    std::free(block);
#endif
#if defined(TWO_LOCKS) || defined(CHOSEN)
    other.fetch_sub(2, relaxed);
#endif
    if (second_step != 0) lock.fetch_add(second_step, relaxed);
    lock.fetch_sub(share + second_step, relaxed);
#if defined(LOADED_IN_ROUND)
    for (int found = lock.load(relaxed); found >= all; found = lock.load(relaxed)) {
      if (found == all + 1) told.store(1, relaxed);
    }
#else
    int found;
    do {
      found = lock.load(relaxed);
    } while (found >= all);
#ifdef LOADED_BY_OWN
    if (found == 1) told.store(1, relaxed);
#endif
#endif
    before = add_share(share);
#if defined(TWO_LOCKS) || defined(CHOSEN)
    other.fetch_add(2, relaxed);
#endif
  }
#ifdef COUNTED
  if (tried != 0) told.store(1, relaxed);
#endif
#ifdef WRITTEN_OFTEN
  note_often(tried);
#endif
#ifdef WRITES
  failed = 0;
#endif
#ifdef LEFT
  if (tried == 0) std::free(block);
#endif
  assert(written == 0 || written == 1);
#if defined(TWO_LOCKS) || defined(CHOSEN)
  other.fetch_sub(2, relaxed);
#endif
  lock.fetch_sub(share, release);
}
#endif

void take_all() {
  while (lock.fetch_add(all, acquire) != 0) {
    lock.fetch_sub(all, relaxed);
    while (lock.load(relaxed) != 0) {
    }
  }
#ifdef CHOSEN
  other.fetch_add(all, relaxed);
  other.fetch_sub(all, relaxed);
#endif
  written = 1;
  lock.fetch_sub(all, release);
}

/// Whoever tells nothing does something else, of which a probe can say where it leads.
void tell(bool what) {
  if (what) told.fetch_add(1, relaxed);
  unchanged.load(relaxed);
}

void look() {
  [[maybe_unused]] int expected = all + 1;
#if defined(LOADED)
  tell(lock.load(relaxed) == all + 1);
#elif defined(LOADED_PLAINLY)
  told_plainly = lock.load(relaxed) == all + 1 ? 1 : 0;
#elif defined(LOADED_FOR_TABLE)
  told.store(table[lock.load(relaxed)], relaxed);
#elif defined(LOADED_LATER)
  while (done.load(relaxed) == 0) {
  }
  tell(lock.load(relaxed) == all + 1);
#elif defined(EXCHANGED_LATER)
  while (done.load(relaxed) == 0) {
  }
  expected = 0;
  lock.compare_exchange_strong(expected, 0, relaxed);
  tell(expected == all + 1);
#elif defined(LOADED_KNOWING)
  done.load(acquire);
  tell(lock.load(relaxed) == all + 1);
#elif defined(ADDED)
  tell(lock.fetch_add(0, relaxed) == all + 1);
#elif defined(ADDED_PLAINLY)
  told_plainly = lock.fetch_add(0, relaxed) == all + 1 ? 1 : 0;
#elif defined(EXCHANGED)
  expected = all;
  tell(!lock.compare_exchange_strong(expected, all, relaxed) && expected == all + 1);
#elif defined(READ_PLAINLY)
  int seen = 0;
  __builtin_memcpy(&seen, reinterpret_cast<const char*>(&lock), sizeof seen);
  asm volatile("" : : "r"(seen));  // the compiler must not leave the read out
#elif defined(SECOND_STEP)
  tell(lock.load(relaxed) == all + 3);
#elif defined(BYTES)
  tell(lock.load(relaxed) / 256 != 0);
#elif defined(BYTE_LOADED)
  tell(reinterpret_cast<std::atomic<std::uint8_t>*>(&lock)->load(relaxed) == all + 1);
#elif defined(EXCHANGES)
  for (;;) {
    ticks.exchange(1, relaxed);
    const bool is_over = done.load(relaxed) != 0;
    ticks.exchange(0, relaxed);
    if (is_over) return;
  }
#elif defined(CHOSEN)
  const std::atomic<int>& one = done.load(relaxed) != 0 ? lock : other;
  tell(one.load(relaxed) == all + 1);
#elif defined(TWO_LOCKS)
  tell(other.load(relaxed) == 1);
#elif defined(TWO_SIZES)
  tell(lock.load(relaxed) == all + 16);
#elif defined(TWO_READERS)
  tell(lock.load(relaxed) == all + 2);
#elif defined(TICKED) || defined(SLEPT) || defined(RELEASED) || defined(COUNTED) || defined(WRITTEN) || \
    defined(WRITTEN_OFTEN) || defined(LOADED_BY_OWN) || defined(WRITES) || defined(LEFT)
#else
  take_share();
#endif
}

void be_reader() {
  take_share();
#ifdef TWO_SIZES
  take_share(16);
#endif
  done.store(1, release);
}

#if defined(AWAITED)
// main() has the lock for the writer. Who sees a share, sees what the writer has done before.
void run() {
  lock.store(all, relaxed);
  std::thread writer([] {
    other.store(1, relaxed);
    lock.fetch_sub(all, release);
  });
  std::thread reader([] {
    while (lock.fetch_add(1, acq_rel) >= all) {
      lock.fetch_sub(1, acq_rel);
      while (lock.load(relaxed) >= all) {
      }
    }
    done.store(1, relaxed);
  });
  std::thread third([] {
    while (lock.load(acquire) % all == 0) {
    }
    if (other.load(relaxed) == 0) told.store(1, relaxed);
  });
  writer.join();
  reader.join();
  third.join();
}
#elif defined(STORED)
// What is taken back is not added, but stored.
void run() {
  std::thread user([] {
    for (;;) {
      while (lock.exchange(1, acquire) != 0) {
      }
      const bool is_over = done.load(relaxed) != 0;
      lock.store(0, release);
      if (is_over) return;
    }
  });
  std::thread third([] {
    if (lock.load(relaxed) != 0) told.store(1, relaxed);
    done.store(1, relaxed);
  });
  user.join();
  third.join();
}
#elif defined(FREED) || defined(READ_LATER) || defined(READ_ON_STACK) || defined(READS_PLAINLY)
// The last round adds nothing: then only rounds that are undone use the variable, or what they read.
void run() {
#ifdef FREED
  auto* const variable = new std::atomic<int>(0);
#elif defined(READ_ON_STACK)
  std::atomic<int> on_stack{0};
  auto* const variable = &on_stack;
#else
  auto* const variable = &ticks;
#endif
  std::thread user([variable] {
    auto* const mine = variable;  // which is not read again in each round
    while (done.load(relaxed) != 2) {
      mine->fetch_add(1, relaxed);
#ifdef READS_PLAINLY
      const int seen = written;
      asm volatile("" : : "r"(seen));  // the compiler must not leave the read out
#endif
      mine->fetch_sub(1, relaxed);
    }
    other.store(1, relaxed);
  });
  const auto use = [variable] {
    done.store(1, relaxed);
    done.store(2, relaxed);
    while (other.load(relaxed) == 0) {
    }
#if defined(FREED)
    delete variable;
#elif defined(READS_PLAINLY)
    written = 1;
#else
    const char* at = reinterpret_cast<const char*>(variable);
    asm volatile("" : "+r"(at));  // clang does not show accesses to what it knows to be a function's own
    __builtin_memcpy(&table[0], at, sizeof(int));
#endif
  };
#ifdef READ_ON_STACK
  use();
#else
  std::thread third(use);
  third.join();
#endif
  user.join();
}
#elif defined(COUNTS_ALONE)
void run() {
  while (written++ != 2) {
    lock.fetch_add(1, relaxed);
    lock.fetch_sub(1, relaxed);
  }
}
#elif defined(DESTROYED)
// An exchange takes back what others have added, too.
void run() {
  std::thread user([] {
    while (done.load(relaxed) != 2) {
      other.exchange(1, relaxed);
      other.exchange(0, relaxed);
    }
  });
  std::thread third([] {
    other.fetch_add(4, relaxed);
    done.store(1, relaxed);
    done.store(2, relaxed);
  });
  user.join();
  third.join();
  if (other.load(relaxed) == 0) told.store(1, relaxed);
}
#elif defined(STARTED_LATER)
// Who looks may do so before the others are there.
void run() {
  std::thread third([] { tell(lock.load(relaxed) == all + 1); });
  std::thread starter([] {
    std::thread reader(be_reader), writer(take_all);
    reader.join();
    writer.join();
  });
  starter.join();
  third.join();
}
#elif defined(LENT)
// One that has a share takes it back for a moment: that is no round that is left out. If it were, who looks could tell.
void run() {
  std::thread lender([] {
    other.fetch_add(1, relaxed);
    while (done.load(relaxed) == 0) {
      other.fetch_sub(1, relaxed);
      other.fetch_add(1, relaxed);
    }
  });
  std::thread third([] { tell(other.load(relaxed) == 0); });
  std::thread reader(be_reader), writer(take_all);
  lender.join();
  third.join();
  reader.join();
  writer.join();
  told.store(0, relaxed);
}
#else
void run() {
  lock.store(0, relaxed);
#ifdef SLEPT
  const auto before = std::chrono::steady_clock::now();
#endif
#if defined(RELEASED) || defined(LEFT)
  block = std::malloc(1);
#endif
  table[all + 1] = 1;
#ifdef TWO_READERS
  std::thread second([] { take_share(); });
#endif
  std::thread reader(be_reader), third(look), writer(take_all);
#ifdef LOADED_AFTER_JOIN
  reader.join();
  third.join();
  if (lock.load(relaxed) == all + 1) told.store(1, relaxed);
  other.load(relaxed);
  writer.join();
#else
  writer.join();
  reader.join();
  third.join();
#endif
#ifdef TWO_READERS
  second.join();
#endif
#ifdef SLEPT
  if (std::chrono::steady_clock::now() - before >= std::chrono::hours(1)) told = 1;
#endif
#ifdef RELEASED
  std::free(block);
#endif
  block = nullptr;
  assert(failed == 0);
#ifdef WRITTEN_OFTEN
  assert(table[31] == 0);
#endif
}
#endif

int main() {
  run();
  assert(told == 0);
  assert(told_plainly == 0);
  assert(ticks == 0);
}
