// SPDX-License-Identifier: MIT
// What the checker keeps of memory and of loops: each shows that a part is kept, and no longer than it holds.
// check -DREAD_AFTER: FAIL data race: this read by T0, and the write by T1
// check -DREAD_AFTER_OTHERS: FAIL data race: this read by T0, and the write by T1
// check -DANOTHER_EXECUTION: exhaustive
// check -DUSED_AGAIN: FAIL use after free
// check -DNOT_FOR_ALL: FAIL unpublished allocation
// check -DGIVEN_AGAIN --reuse 1: FAIL unpublished allocation
// check -DMANY_READERS: FAIL data race: this write by T0, and the read by T2
// check -DBESIDE_A_BLOCK: FAIL outside of what was allocated
// check -DPARTLY_BEYOND: FAIL outside of what was allocated
// check -DALIGNED: exhaustive
// check -DSMALLER --reuse 2: exhaustive
// check -DTWO_AGAIN --reuse 2: exhaustive
// check -DNOT_AGAIN --reuse 1: FAIL assertion
// check -DREADERS: exhaustive
// check -DNEW_ATOMIC: exhaustive
// check -DNEW_ATOMIC -DBESIDE_OTHERS: exhaustive
// check -DATOMIC_FIRST: FAIL data race
// check -DATOMIC_FIRST -DREADS: FAIL data race
// check -DATOMIC_FIRST -DREADS -DREADS_BOTH: exhaustive
// check -DLAST_EVENT: FAIL data race
// check -DFREED_ATOMIC: FAIL use after free
// check -DMIDDLE: FAIL misuse: what is freed was not allocated
// check -DUNKNOWN_FREED: FAIL unpublished allocation: memory is freed by a thread
// check -DNEW_MEMORY: exhaustive
// check -DCHAIN: exhaustive
// check -DZEROS: exhaustive
// check -DREALLOCATED: exhaustive
// check -DROUNDS_AFTER_STORE: FAIL assertion
// check -DTHREE_TURNS: exhaustive
// check -DELEMENTS: exhaustive
// check -DADDS: exhaustive
// check -DSTATIC_THROWS: exhaustive
// check -DSTATIC_THROWS_BESIDE: exhaustive
// check -DCONSUMES: bounded; what consume orders less than acquire does
#include <atomic>
#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>

using enum std::memory_order;

alignas(8) long long data;  // apart from the atomic variables
std::atomic<int> a{0}, b{0}, c{0};
std::atomic<volatile char*> box{nullptr};
volatile char* first_block;

// Not inlined: the compiler would make one read of several.
[[gnu::noinline]] long long read_data() { return data; }
[[gnu::noinline]] int look(std::atomic<int>& at) { return at.load(relaxed); }
void wait_for(std::atomic<int>& flag, std::memory_order order) {
  while (flag.load(order) == 0) continue;
}

struct node {
  node* next;
};
node* head;

struct alignas(64) line {
  char bytes[64];
};

int main() {
#if defined(READ_AFTER)
  std::thread t([] {
    data = 2;
    a.store(1, relaxed);
    assert(read_data() == 2);
    b.store(1, relaxed);
  });
  wait_for(b, relaxed);
  assert(read_data() != 9);
  t.join();
#elif defined(READ_AFTER_OTHERS)
  std::thread t([] {
    data = 2;
    a.store(1, release);
    wait_for(b, acquire);
    assert(read_data() == 2);
    c.store(1, relaxed);
  });
  std::thread reader([] {
    wait_for(a, acquire);
    assert(read_data() == 2);
    b.store(1, release);
  });
  wait_for(c, relaxed);
  assert(read_data() != 9);
  t.join();
  reader.join();
#elif defined(ANOTHER_EXECUTION)
  // Both read, or the second one writes and the first one does nothing.
  std::thread chooser([] { a.store(1, relaxed); });
  const bool writes = a.load(relaxed) == 1;
  std::thread t([writes] { assert(writes || read_data() == 0); });
  std::thread u([writes] {
    if (writes) {
      data = 3;
    } else {
      assert(read_data() == 0);
    }
  });
  chooser.join();
  t.join();
  u.join();
#elif defined(USED_AGAIN)
  volatile char* const p = new char[8];
  std::thread t([p] {
    p[0] = 1;
    a.store(1, release);
    wait_for(b, acquire);
    p[0] = 2;
  });
  wait_for(a, acquire);
  delete[] p;
  b.store(1, release);
  t.join();
#elif defined(NOT_FOR_ALL)
  // The second thread knows of the allocation, the third does not.
  std::thread maker([] { box.store(new char[8], release); });
  std::thread t([] {
    volatile char* p = nullptr;
    while ((p = box.load(acquire)) == nullptr) continue;
    static_cast<void>(*p);
    a.store(1, relaxed);
  });
  std::thread u([] {
    wait_for(a, relaxed);
    static_cast<void>(*box.load(relaxed));
  });
  maker.join();
  t.join();
  u.join();
  delete[] box.load();
#elif defined(GIVEN_AGAIN)
  // A thread that has used a block does not know that its address was given out again, which others know.
  volatile char* const p = first_block = new char[8];
  std::thread t([p] {
    static_cast<void>(*p);
    a.store(1, release);
    wait_for(b, relaxed);
    if (b.load(relaxed) == 2) static_cast<void>(*p);
  });
  std::thread u([p] {
    volatile char* q = nullptr;
    while ((q = box.load(acquire)) == nullptr) continue;
    static_cast<void>(*q);
    b.store(q == p ? 2 : 1, relaxed);
  });
  wait_for(a, acquire);
  delete[] p;
  box.store(new char[8], release);
  t.join();
  u.join();
  delete[] box.load();
#elif defined(MANY_READERS)
  std::thread all[4];
  for (std::thread& t : all) t = std::thread([] { assert(read_data() != 9); });
  for (int i : {0, 2, 3}) all[i].join();
  data = 1;
  all[1].join();
#elif defined(BESIDE_A_BLOCK)
  volatile char* const p = new char[16]{};
  volatile char* const q = new char[16]{};
  const volatile char* const r = p + 16;
  assert(*r != 9);
  delete[] p;
  delete[] q;
#elif defined(PARTLY_BEYOND)
  auto* const p = new char[6]{};
  int value;
  char* volatile at = p + 4;
  value = *reinterpret_cast<volatile int*>(at);
  assert(value != 9);
  delete[] p;
#elif defined(ALIGNED)
  for (int i = 0; i != 3; ++i) {
    auto* const p = new line;
    void* const q = std::aligned_alloc(256, 256);
    assert(reinterpret_cast<std::uintptr_t>(p) % 64 == 0 && reinterpret_cast<std::uintptr_t>(q) % 256 == 0);
    delete p;
    std::free(q);
  }
#elif defined(SMALLER) || defined(TWO_AGAIN) || defined(NOT_AGAIN)
  std::thread t([] { a.store(1, relaxed); });
  auto* const p = new char[16];
  auto* const beside = new char[16]{7};
  const auto freed = reinterpret_cast<std::uintptr_t>(p);
  delete[] p;
#if defined(SMALLER)
  auto* const large = new char[64];
  std::memset(large, 1, 64);
  assert(beside[0] == 7);
  delete[] large;
#elif defined(TWO_AGAIN)
  auto* const one = new char[16];
  auto* const two = new char[16];
  assert(one != two);
  static_cast<void>(freed);
  delete[] one;
  delete[] two;
#else
  auto* const one = new char[16];
  assert(reinterpret_cast<std::uintptr_t>(one) == freed);
  delete[] one;
#endif
  static_cast<void>(freed);
  delete[] beside;
  t.join();
#elif defined(READERS)
  std::thread t([] { assert(read_data() == 0); });
  std::thread u([] { assert(read_data() == 0); });
  assert(read_data() == 0);
  t.join();
  u.join();
#elif defined(NEW_ATOMIC)
  // Another variable in the same place.
#ifdef BESIDE_OTHERS
  std::thread t([] { c.store(1, relaxed); });
#endif
  a.store(1, relaxed);
  ::new (&a) std::atomic<int>(5);
  assert(a.load(relaxed) == 5);
#ifdef BESIDE_OTHERS
  t.join();
#endif
#elif defined(ATOMIC_FIRST)
  // The atomic access comes first.
  std::thread t([] {
#ifdef READS
    static_cast<void>(a.load(relaxed));
#else
    a.store(1, relaxed);
#endif
    b.store(1, relaxed);
  });
  auto* const plain = reinterpret_cast<volatile int*>(&a);
  wait_for(b, relaxed);
#if defined(READS) && !defined(READS_BOTH)
  *plain = 1;
#else
  static_cast<void>(*plain);
#endif
  t.join();
#elif defined(LAST_EVENT)
  // The other thread knows of the last event before the plain access, and of no more.
  std::thread t([] {
    if (b.load(acquire) == 1) a.store(1, relaxed);
  });
  std::thread u([] {
    b.store(1, release);
    static_cast<void>(*reinterpret_cast<volatile int*>(&a));
  });
  t.join();
  u.join();
#elif defined(FREED_ATOMIC)
  auto* const p = new std::atomic<int>(0);
  std::thread t([p] {
    wait_for(a, acquire);
    static_cast<void>(p->load(relaxed));
  });
  delete p;
  a.store(1, release);
  t.join();
#elif defined(MIDDLE)
  auto* const p = static_cast<char*>(std::malloc(64));
  char* volatile middle = p + 16;
  std::free(middle);
#elif defined(UNKNOWN_FREED)
  std::thread t([] { box.store(new char[8], relaxed); });
  volatile char* const p = box.exchange(nullptr, relaxed);
  delete[] p;
  t.join();
  delete[] box.load();
#elif defined(NEW_MEMORY)
  // What an execution leaves in memory no other one finds.
  std::thread t([] { a.store(1, relaxed); });
  static_cast<void>(a.load(relaxed));
  volatile char* const p = new char[16];
  assert(p[3] != 7);
  p[3] = 7;
  delete[] p;
  t.join();
#elif defined(CHAIN)
  // One global variable leads to all of them.
  head = new node{new node{new node{nullptr}}};
#elif defined(ZEROS)
  auto* const p = static_cast<unsigned char*>(std::calloc(3, 5));
  for (int i = 0; i != 15; ++i) assert(p[i] == 0);
  std::free(p);
  volatile std::size_t many = SIZE_MAX / 2;
  void* const none = std::calloc(many, 4);
  assert(none == nullptr);
#elif defined(REALLOCATED)
  auto* p = static_cast<char*>(std::malloc(4));
  std::memcpy(p, "abc", 4);
  p = static_cast<char*>(std::realloc(p, 64));
  assert(std::memcmp(p, "abc", 4) == 0);
  p = static_cast<char*>(std::realloc(p, 2));
  assert(p[0] == 'a' && p[1] == 'b');
  std::free(p);
#elif defined(ROUNDS_AFTER_STORE)
  // Rounds are counted from the last effect on.
  std::thread t([] { a.store(1, relaxed); });
  int seen = 0;
  for (int i = 0; i != 2; ++i) {
    for (int j = 0; j != 3; ++j) seen = 10 * seen + look(a);
    c.store(i + 1, relaxed);
  }
  assert(seen != 1);
  t.join();
#elif defined(THREE_TURNS)
  // The loop ends by what it has counted in memory.
  static volatile int turns = 0;
  while (look(a) == 0) {
    turns = turns + 1;
    if (turns == 3) break;
  }
  assert(turns == 3);
#elif defined(ELEMENTS)
  // The same read of six variables is no loop that waits.
  static std::atomic<int> all[6];
  std::thread t([] { all[5].store(1, relaxed); });
  int sum = 0;
  for (auto& each : all) sum += look(each);
  assert(sum == 0 || sum == 1);
  t.join();
#elif defined(ADDS)
  do {
    a.fetch_add(1, relaxed);
  } while (look(a) != 3);
  do {
    int zero = 0;
    b.compare_exchange_strong(zero, 1);
    int one = 1;
    b.compare_exchange_strong(one, 2);
  } while (look(b) != 2);
#elif defined(STATIC_THROWS)
  // An initialisation that throws is made again.
  for (int i = 0; i != 3; ++i) {
    try {
      static const int value = ++data == 2 ? 5 : throw 1;
      assert(value == 5);
    } catch (int) {
      assert(i == 0);
    }
  }
  assert(data == 2);
#elif defined(STATIC_THROWS_BESIDE)
  // Who tries after another thread has failed knows what that one did.
  const auto work = [] {
    try {
      static const int value = data++ == 0 ? throw 1 : 5;
      assert(value == 5);
    } catch (int) {
    }
  };
  std::thread t(work);
  work();
  t.join();
  assert(data == 1 || data == 2);
#elif defined(CONSUMES)
  std::thread t([] {
    data = 1;
    a.store(1, release);
  });
  if (a.load(consume) == 1) assert(read_data() == 1);
  t.join();
#endif
}
