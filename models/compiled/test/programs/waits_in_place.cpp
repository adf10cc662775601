// SPDX-License-Identifier: MIT
// Threads that wait: in place, as is usual, and with --waits-in-place off. Who waits for ever is told, and so are
// races of rounds in vain: where waits in place cannot tell, the search begins again with waits that block.
// check -DTICKET: exhaustive, 6 executions, +0 blocked
// check -DTICKET --waits-in-place off: exhaustive, 6 executions, +24 blocked
// check -DTICKET -DNEVER: FAIL deadlock
// check -DARRIVED: exhaustive, 6 executions, +0 blocked
// check -DARRIVED -DNEVER: FAIL deadlock
// check -DCOUNTED: exhaustive, 1 execution, +0 blocked
// check -DCOUNTED -DNEVER: FAIL deadlock
// check -DEXCHANGED: exhaustive, 6 executions
// check -DEXCHANGED -DNEVER: FAIL deadlock
// check -DMCS: exhaustive, 66 executions, +0 blocked
// check -DMUTEX: exhaustive, 6 executions, +0 blocked
// check -DMUTEX -DNEVER: FAIL deadlock
// check -DCROSSED: FAIL deadlock
// check -DSEMAPHORE: exhaustive, 6 executions, +0 blocked
// check -DSEMAPHORE -DNEVER: FAIL deadlock
// check -DBARRIER --barriers-in-order: exhaustive, 6 executions, +0 blocked
// check -DBARRIER -DNEVER --barriers-in-order: FAIL deadlock
// check -DCPP_BARRIER: passes, 1 execution, +0 blocked
// check -DCPP_BARRIER -DNEVER: FAIL deadlock
// check -DLATCH: exhaustive, 6 executions
// check -DLATCH -DNEVER: FAIL deadlock
// check -DCONDITION: passes, 7 executions
// check -DCONDITION -DNEVER: FAIL deadlock
// check -DWAIT: passes, 12 executions
// check -DWAIT --skip-retries off: passes, 24 executions, +0 blocked
// check -DWAIT -DNEVER: FAIL deadlock
// check -DREPLACED: FAIL deadlock
// check -DREAD_IN_VAIN --waits-in-place off: FAIL data race
// check -DREAD_IN_VAIN: FAIL data race
// check -DWRITTEN_BESIDE --waits-in-place off: FAIL data race
// check -DWRITTEN_BESIDE: FAIL data race
// check -DWRITTEN_BEFORE: exhaustive, 3 executions, +0 blocked
// check -DWRITTEN_AFTER: exhaustive, 1 execution, +0 blocked
// check -DREPEATED --rounds 2: FAIL assertion
// check -DFREED --waits-in-place off: FAIL use after free
// check -DFREED: FAIL use after free
#include <array>
#include <atomic>
#include <barrier>
#include <cassert>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <thread>

#include <pthread.h>
#include <semaphore.h>

constexpr auto relaxed = std::memory_order::relaxed;
constexpr auto acquire = std::memory_order::acquire;
constexpr auto release = std::memory_order::release;
constexpr int threads = 3;
#ifdef NEVER
constexpr int missing = 1;
#else
constexpr int missing = 0;
#endif

int data;

#if defined(TICKET)
std::atomic<int> next{0}, serving{0};
void run(int) {
  const int mine = next.fetch_add(1, relaxed) + missing;
  while (serving.load(acquire) != mine) {
  }
  ++data;
  serving.store(mine + 1, release);
}
#elif defined(ARRIVED)
std::atomic<int> arrived{0};
void run(int) {
  arrived.fetch_add(1, std::memory_order::acq_rel);
  while (arrived.load(acquire) < threads + missing) {
  }
}
#elif defined(COUNTED)
// One thread tries again more often than a loop that counts its rounds may.
std::atomic<bool> ready{false};
std::atomic<int> turn{0};
void run(int index) {
  constexpr int stores = 8;
  if (index == 0) {
    while (!ready.load(acquire)) {
    }
    return;
  }
  for (int i = index - 1; i < stores; i += 2) {
    while (turn.load(acquire) != i) {
    }
    ready.store(i == stores - 1 && missing == 0, release);
    turn.store(i + 1, release);
  }
}
#elif defined(EXCHANGED)
std::atomic<int> held{missing};
void run(int) {
  for (int expected = 0; !held.compare_exchange_strong(expected, 1, acquire, relaxed); expected = 0) {
  }
  ++data;
  held.store(0, release);
}
#elif defined(MCS)
struct node {
  std::atomic<node*> next;
  std::atomic<bool> waits;
};
std::array<node, threads> nodes;
std::atomic<node*> tail;
void run(int index) {
  node& mine = nodes[static_cast<std::size_t>(index)];
  mine.next.store(nullptr, relaxed);
  mine.waits.store(true, relaxed);
  if (node* const before = tail.exchange(&mine, std::memory_order::acq_rel)) {
    before->next.store(&mine, release);
    while (mine.waits.load(acquire)) {
    }
  }
  ++data;
  if (mine.next.load(acquire) == nullptr) {
    node* expected = &mine;
    if (tail.compare_exchange_strong(expected, nullptr, release, relaxed)) return;
    while (mine.next.load(acquire) == nullptr) {
    }
  }
  mine.next.load(acquire)->waits.store(false, release);
}
#elif defined(MUTEX)
std::mutex m;
void run(int) {
  m.lock();
  ++data;
  if (missing == 0) m.unlock();
}
#elif defined(CROSSED)
std::array<std::mutex, threads> forks;
void run(int index) {
  const std::scoped_lock first(forks[static_cast<std::size_t>(index)]);
  const std::scoped_lock second(forks[static_cast<std::size_t>((index + 1) % threads)]);
}
#elif defined(SEMAPHORE)
sem_t permits;
[[maybe_unused]] const int initialised = sem_init(&permits, 0, 1);
void run(int) {
  sem_wait(&permits);
  ++data;
  if (missing == 0) sem_post(&permits);
}
#elif defined(BARRIER)
pthread_barrier_t all;
[[maybe_unused]] const int initialised = pthread_barrier_init(&all, nullptr, threads + missing);
void run(int) { pthread_barrier_wait(&all); }
#elif defined(CPP_BARRIER)
std::barrier<> all(threads + missing);
void run(int) { all.arrive_and_wait(); }
#elif defined(LATCH)
std::latch all(threads + missing);
void run(int) {
  all.count_down();
  while (!all.try_wait()) {
  }
}
#elif defined(CONDITION)
std::mutex m;
std::condition_variable changed;
bool ready;
void run(int index) {
  std::unique_lock lock(m);
  if (index == 0) {
    changed.wait(lock, [] { return ready; });
  } else if (index == 1) {
    ready = true;
    if (missing == 0) changed.notify_one();
  }
}
#elif defined(WAIT)
std::atomic<int> word{0};
void run(int index) {
  if (index == 0) {
    word.wait(0, acquire);
  } else if (index == 1 && missing == 0) {
    word.store(1, release);
    word.notify_all();
  }
}
#elif defined(REPLACED)
// What ends the wait may be replaced before it is seen.
std::atomic<int> state{0};
void run(int index) {
  if (index == 0) {
    while (state.load(acquire) != 1) {
    }
  } else if (index == 1) {
    state.store(1, release);
    state.store(2, release);
  }
}
#elif defined(READ_IN_VAIN)
// Races only in a round that the thread has made before the other one knows what it does.
std::atomic<int> ready{0}, chosen{0}, sum_of_all{0};
void run(int index) {
  if (index == 0) {
    int sum = 0;
    while (ready.load(relaxed) == 0) sum += data;
    sum_of_all.store(sum, relaxed);  // clang++ drops loads whose values nobody uses
  } else if (index == 1) {
    if (chosen.load(relaxed) == 1) data = 5;
    ready.store(1, release);
  } else {
    chosen.store(1, relaxed);
  }
}
#elif defined(WRITTEN_BESIDE)
std::atomic<int> ready{0};
void run(int index) {
  if (index == 0) {
    while (ready.load(acquire) == 0) {
    }
  } else if (index == 1) {
    *reinterpret_cast<int*>(&ready) = 0;
    ready.store(1, release);
  }
}
#elif defined(WRITTEN_BEFORE)
// The thread knows of the write that is not atomic when it begins to wait.
std::atomic<int> ready{0}, begun{0}, seen{0}, chosen{0};
void run(int index) {
  if (index == 0) {
    while (begun.load(acquire) == 0) {
    }
    seen.store(1, relaxed);
    while (ready.load(acquire) == 0) {
    }
  } else if (index == 1) {
    *reinterpret_cast<int*>(&ready) = 0;
    begun.store(1, release);
    while (seen.load(relaxed) == 0) {
    }
    if (chosen.load(relaxed) == 1) ready.store(2, release);
    ready.store(1, release);
  } else {
    chosen.store(1, relaxed);
  }
}
#elif defined(WRITTEN_AFTER)
// Who writes otherwise than atomically knows that the thread waits no more.
std::atomic<int> ready{0}, seen{0};
void run(int index) {
  if (index == 0) {
    while (ready.load(relaxed) == 0) {
    }
    seen.store(1, release);
  } else if (index == 1) {
    ready.store(1, relaxed);
    while (seen.load(acquire) == 0) {
    }
    *reinterpret_cast<int*>(&ready) = 0;
  }
}
#elif defined(REPEATED)
// The loop counts its first rounds. From the third one on it reads what it has read before, and waits for no other
// value.
std::atomic<int> turn{0};
void run(int index) {
  if (index == 0) {
    int first = 0, rounds = 0;
    for (int now; (now = turn.load(relaxed)) != 2;) {
      if (rounds == 0) first = now;
      if (rounds != 3) ++rounds;
    }
    assert(first != 0 || rounds != 1 || turn.load(relaxed) != 2);
  } else {
    turn.store(index, relaxed);
  }
}
#elif defined(FREED)
std::atomic<int>* const ready = new std::atomic<int>(0);
void run(int index) {
  if (index == 0) {
    while (ready->load(acquire) == 0) {
    }
  } else if (index == 1) {
    ready->store(1, release);
    delete ready;
  }
}
#endif

int main() {
#if defined(WRITTEN_BEFORE)
  ready.store(0, relaxed);  // so that it is known as atomic whenever the write that is not is replayed
#endif
  std::array<std::thread, threads> all_threads;
  for (int i = 0; i != threads; ++i) all_threads[static_cast<std::size_t>(i)] = std::thread(run, i);
  for (std::thread& t : all_threads) t.join();
  return 0;
}
