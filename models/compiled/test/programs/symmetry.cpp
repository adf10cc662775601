// SPDX-License-Identifier: MIT
// Threads that begin alike are explored up to symmetry with --symmetry on, and in every order without it. Where the
// program can tell them apart, all is explored in any case. Which executions fail does not depend on it.
// check -DCOUNTER: exhaustive, 24 executions
// check -DCOUNTER --symmetry on: exhaustive, 1 execution, +30 blocked
// check -DCOUNTER --symmetry on --skip-retries off: exhaustive, 429 executions
// check -DCOUNTER -DWRONG --symmetry on: FAIL assertion
// check -DCOUNTER -DARGUMENTS --symmetry on: exhaustive, 24 executions
// check -DCOUNTER -DTWO_KINDS --symmetry on: exhaustive, 6 executions
// check -DFIRST --symmetry on: exhaustive, 4 executions
// check -DFIRST -DWRONG --symmetry on: FAIL data race
// check --all-failures 9 -DFIRST -DWRONG --symmetry on: FAIL 1 different failure in 18 of 24 executions
// check -DTICKET --symmetry on: exhaustive, 1 execution
// check -DTICKET -DWRONG --symmetry on: FAIL data race
// check -DMUTEX --symmetry on: exhaustive, 1 execution
// check -DMUTEX -DWRONG --symmetry on: FAIL deadlock
// check -DSTACK --no-leaks: exhaustive, 2640 executions
// check -DSTACK --symmetry on --no-leaks: exhaustive, 1236 executions
// check -DSTACK -DWRONG --symmetry on --no-leaks: FAIL unpublished allocation
// check -DQUEUE --no-leaks: exhaustive, 16 executions
// check -DQUEUE --symmetry on --no-leaks: exhaustive, 13 executions
// check -DRING: exhaustive, 385 executions
// check -DRING --symmetry on: exhaustive, 180 executions
// check -DCAPTURES --symmetry on: exhaustive, 1 execution
// check -DCAPTURES -DDIFFERENT --symmetry on: exhaustive, 6 executions
// check -DSTORES --symmetry on: exhaustive, 12 executions
// check -DEXCHANGES: exhaustive, 18 executions
// check -DEXCHANGES --symmetry on: exhaustive, 9 executions
// check -DLATE: exhaustive, 48 executions
// check -DLATE --symmetry on: exhaustive, 30 executions
// check -DREVISITED: exhaustive, 16 executions
// check -DREVISITED --symmetry on: exhaustive, 12 executions
// check -DSLOTS --symmetry on: exhaustive, 1 execution
// check -DID --symmetry on: FAIL assertion
// check -DNUMBER --symmetry on: exhaustive, 2 executions
// check -DNUMBER -DBY_SYSTEM_CALL --symmetry on: exhaustive, 2 executions
// check -DBETWEEN_STARTS -DATOMIC --symmetry on: exhaustive, 3 executions
// check -DBETWEEN_STARTS --symmetry on: FAIL data race
// check -DBETWEEN_JOINS --symmetry on: FAIL assertion
// check -DBETWEEN_JOINS -DPLAIN --symmetry on: FAIL data race
// check -DRETURNS --symmetry on: FAIL assertion
// check -DADDRESS --symmetry on: FAIL assertion
// check -DSHARED_STACK --symmetry on: FAIL assertion
// check -DJOINED_BY_OTHER --symmetry on: FAIL assertion
#include <atomic>
#include <cassert>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

constexpr auto relaxed = std::memory_order::relaxed;
constexpr auto acquire = std::memory_order::acquire;
constexpr auto release = std::memory_order::release;

std::atomic<int> turn{0};

#if defined(COUNTER)
constexpr int threads = 4;
std::atomic<int> count{0};
void increment() {
#if defined(WRONG)
  count.store(count.load(relaxed) + 1, relaxed);
#elif defined(TWO_KINDS)
  count.fetch_add(1, relaxed);
#else
  int found = count.load(relaxed);
  while (!count.compare_exchange_strong(found, found + 1, relaxed, relaxed)) {
  }
#endif
}
void* run(void*) {
  increment();
  return nullptr;
}
void* run_other(void*) {
  increment();
  return nullptr;
}
void finish() { assert(count == threads); }
#elif defined(FIRST)
constexpr int threads = 3;
std::atomic<bool> is_done{false};
int data = 0;
#ifdef WRONG
constexpr auto order = relaxed;
#else
constexpr auto order = release;
#endif
void* run(void*) {
  if (turn.fetch_add(1, relaxed) == 0) {
    data = 1;
    is_done.store(true, order);
  } else if (is_done.load(acquire)) {
    assert(data == 1);
  }
  return nullptr;
}
void finish() { assert(data == 1); }
#elif defined(TICKET)
constexpr int threads = 4;
std::atomic<int> serving{0};
int data = 0;
void* run(void*) {
  const int mine = turn.fetch_add(1, relaxed);
  while (serving.load(acquire) != mine) {
  }
  ++data;
#ifdef WRONG
  serving.store(mine + 1, relaxed);
#else
  serving.store(mine + 1, release);
#endif
  return nullptr;
}
void finish() { assert(data == threads); }
#elif defined(MUTEX)
constexpr int threads = 3;
std::mutex a, b;
void* run(void*) {
#ifdef WRONG
  const bool is_first = turn.fetch_add(1, relaxed) == 0;
#else
  const bool is_first = true;
#endif
  std::scoped_lock outer(is_first ? a : b);
  std::scoped_lock inner(is_first ? b : a);
  return nullptr;
}
void finish() {}
#elif defined(STACK)
// Treiber's: each thread pushes a node, and pops one. None is deleted.
constexpr int threads = 3;
struct node {
  std::atomic<node*> next{nullptr};
  int value = 1;
};
std::atomic<node*> top{nullptr};
#ifdef WRONG
constexpr auto order = relaxed;
#else
constexpr auto order = release;
#endif
void* run(void*) {
  node* const own = new node;
  node* found = top.load(relaxed);
  do {
    own->next.store(found, relaxed);
  } while (!top.compare_exchange_strong(found, own, order, relaxed));
  found = top.load(acquire);
  while (found != nullptr && !top.compare_exchange_strong(found, found->next.load(relaxed), acquire, acquire)) {
  }
  if (found != nullptr) assert(found->value == 1);
  return nullptr;
}
void finish() { assert(top == nullptr); }
#elif defined(QUEUE)
// That of Michael and Scott: each thread puts one node in, and takes one out.
constexpr int threads = 2;
struct node {
  std::atomic<node*> next{nullptr};
  int value = 1;
};
node empty;
std::atomic<node*> head{&empty}, tail{&empty};
void put(node* own) {
  for (;;) {
    node* last = tail.load(acquire);
    node* next = last->next.load(acquire);
    if (next != nullptr) {
      tail.compare_exchange_strong(last, next, release, relaxed);
    } else if (last->next.compare_exchange_strong(next, own, release, relaxed)) {
      tail.compare_exchange_strong(last, own, release, relaxed);
      return;
    }
  }
}
void* run(void*) {
  put(new node);
  for (;;) {
    node* first = head.load(acquire);
    node* last = tail.load(acquire);
    node* const next = first->next.load(acquire);
    if (next == nullptr) return nullptr;
    if (first == last) {
      tail.compare_exchange_strong(last, next, release, relaxed);
    } else if (head.compare_exchange_strong(first, next, std::memory_order::acq_rel, relaxed)) {
      assert(next->value == 1);
      return nullptr;
    }
  }
}
void finish() {}
#elif defined(RING)
// A thread of its own pushes two elements and takes one; three thieves take one each.
constexpr int threads = 3;
std::atomic<unsigned> front{0}, back{0};
std::atomic<unsigned> slots[4];
bool take(unsigned& position) {
  while (position != back.load(acquire)) {
    const unsigned value = slots[position].load(relaxed);
    if (!front.compare_exchange_strong(position, position + 1, std::memory_order::acq_rel, acquire)) continue;
    assert(value == position + 1);
    return true;
  }
  return false;
}
void* run(void*) {
  unsigned position = front.load(acquire);
  take(position);
  return nullptr;
}
void own() {
  for (unsigned i = 0; i != 2; ++i) {
    slots[i].store(i + 1, relaxed);
    back.store(i + 1, release);
  }
  unsigned position = front.load(acquire);
  take(position);
}
void finish() {}
#elif defined(ID)
constexpr int threads = 2;
std::atomic<pthread_t> ids[threads];
pthread_t all[threads];
void* run(void*) {
  ids[turn.fetch_add(1, relaxed)].store(pthread_self(), relaxed);
  return nullptr;
}
void finish() { assert(ids[0] == all[0]); }
#elif defined(NUMBER)
constexpr int threads = 2;
void* run(void*) {
#ifdef BY_SYSTEM_CALL
  const auto number = static_cast<pid_t>(syscall(SYS_gettid));
#else
  const pid_t number = gettid();
#endif
  if (number != 0) turn.fetch_add(1, relaxed);
  return nullptr;
}
void finish() {}
#elif defined(SLOTS)
// Which slot a thread takes depends on where its memory lies: each has 64 MiB.
constexpr int threads = 2;
std::atomic<int> slots[2];
void* run(void*) {
  char* const own = new char;
  const std::uintptr_t number = reinterpret_cast<std::uintptr_t>(own) >> 26;
  slots[number % 2].fetch_add(1, relaxed);
  delete own;
  return nullptr;
}
void finish() {}
#elif defined(STORES)
constexpr int threads = 4;
std::atomic<int> x{0}, y{0};
void* run(void*) {
  x.store(1, relaxed);
  y.store(2, release);
  return nullptr;
}
void* run_other(void*) {
  y.fetch_add(1, relaxed);
  return nullptr;
}
void finish() {}
#elif defined(EXCHANGES)
constexpr int threads = 2;
std::atomic<int> x{0};
void* run(void*) {
  x.exchange(1, relaxed);
  return nullptr;
}
void* store(void*) {
  static_cast<void>(x.load(relaxed));
  return nullptr;
}
void own() { static_cast<void>(x.load(relaxed)); }
void finish() {}
#elif defined(LATE)
// Another thread's store may come before what the later of the two has read.
constexpr int threads = 2;
std::atomic<int> x{0};
void* run(void*) {
  static_cast<void>(x.load(relaxed));
  return nullptr;
}
void* store(void*) {
  x.store(3, relaxed);
  return nullptr;
}
void own() {
  x.store(1, relaxed);
  x.store(2, relaxed);
}
void finish() {}
#elif defined(REVISITED)
// What the later of the two writes may undo that the earlier one has read.
constexpr int threads = 2;
std::atomic<int> x{0}, y{0};
void* run(void*) {
  static_cast<void>(x.load(relaxed));
  y.store(1, relaxed);
  return nullptr;
}
void* store(void*) {
  static_cast<void>(y.load(relaxed));
  x.store(1, relaxed);
  return nullptr;
}
void finish() {}
#elif defined(BETWEEN_STARTS)
constexpr int threads = 2;
int data = 0;
void* run(void*) {
  // Whoever comes first has nothing to do with it.
  if (turn.fetch_add(1, relaxed) == 1) ++data;
  return nullptr;
}
#ifdef ATOMIC
void between_starts() { turn.load(relaxed); }
#else
void between_starts() { ++data; }
#endif
void finish() {}
#elif defined(BETWEEN_JOINS)
constexpr int threads = 2;
#ifdef PLAIN
int done = 0;
#else
std::atomic<int> done{0};
#endif
void* run(void*) {
  if (turn.fetch_add(1, relaxed) == 0) done = 1;
  return nullptr;
}
void between_joins() { assert(done == 1); }
void finish() {}
#elif defined(RETURNS)
constexpr int threads = 2;
void* run(void*) { return turn.fetch_add(1, relaxed) == 0 ? &turn : nullptr; }
void finish() {}
#elif defined(ADDRESS)
constexpr int threads = 2;
std::atomic<int*> addresses[threads];
void* run(void*) {
  int local = 0;
  addresses[turn.fetch_add(1, relaxed)].store(&local, relaxed);
  return nullptr;
}
void finish() { assert(addresses[0] > addresses[1]); }
#elif defined(SHARED_STACK)
constexpr int threads = 2;
char origin = 0;
std::atomic<long> distance{0};
std::atomic<bool> is_seen{false};
[[gnu::noinline]] void write(char* at) { *at = 1; }
[[gnu::noinline]] char read(const char* at) { return *at; }
void* run(void*) {
  char local = 0;
  if (turn.fetch_add(1, relaxed) == 0) {
    write(&local);
    distance.store(&local - &origin, release);
    while (!is_seen.load(acquire)) {
    }
  } else {
    while (distance.load(acquire) == 0) {
    }
    const char* const other = &origin + distance.load(relaxed);
    assert(read(other) == 1 && other > &local);
    is_seen.store(true, release);
  }
  return nullptr;
}
void finish() {}
#elif defined(JOINED_BY_OTHER)
constexpr int threads = 2;
std::atomic<int> done{0};
pthread_t all[threads];
void* run(void*) {
  if (turn.fetch_add(1, relaxed) == 0) done.store(1, relaxed);
  return nullptr;
}
void* join_first(void*) {
  pthread_join(all[0], nullptr);
  assert(done.load(relaxed) == 1);
  return nullptr;
}
void finish() {}
#endif

#ifdef CAPTURES
void add(std::atomic<int>& to, int more) { to.fetch_add(more, relaxed); }
int main() {
#ifdef DIFFERENT
  constexpr int more[3] = {1, 2, 3};
#else
  constexpr int more[3] = {1, 1, 1};
#endif
  std::thread all[3];
  for (int i = 0; i != 3; ++i) all[i] = std::thread(add, std::ref(turn), more[i]);
  for (std::thread& t : all) t.join();
  return 0;
}
#else
int main() {
#if !defined(ID) && !defined(JOINED_BY_OTHER)
  pthread_t all[threads];
#endif
#ifdef REVISITED
  pthread_t other;
  pthread_create(&other, nullptr, store, nullptr);
#endif
  for (int i = 0; i != threads; ++i) {
    void* const argument =
#ifdef ARGUMENTS
        &all[i];
#else
        nullptr;
#endif
#if defined(TWO_KINDS) || defined(STORES)
    pthread_create(&all[i], nullptr, i % 2 == 0 ? run : run_other, argument);
#else
    pthread_create(&all[i], nullptr, run, argument);
#endif
#ifdef BETWEEN_STARTS
    if (i == 0) between_starts();
#endif
  }
#if defined(LATE) || defined(EXCHANGES)
  pthread_t other;
  pthread_create(&other, nullptr, store, nullptr);
#endif
#if defined(RING) || defined(LATE) || defined(EXCHANGES)
  own();
#endif
#ifdef JOINED_BY_OTHER
  pthread_t other;
  pthread_create(&other, nullptr, join_first, nullptr);
  pthread_join(all[1], nullptr);
  pthread_join(other, nullptr);
#else
  for (int i = 0; i != threads; ++i) {
    void* result = nullptr;
    pthread_join(all[i], &result);
#ifdef RETURNS
    assert((result != nullptr) == (i == 0));
#endif
#ifdef BETWEEN_JOINS
    if (i == 0) between_joins();
#endif
  }
#endif
#if defined(LATE) || defined(EXCHANGES) || defined(REVISITED)
  pthread_join(other, nullptr);
#endif
  finish();
  return 0;
}
#endif
