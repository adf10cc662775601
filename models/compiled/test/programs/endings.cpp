// SPDX-License-Identifier: MIT
// How a program ends: with which status and failure, and what runs before.
// Each program has a macro, which stands first in its lines `// check`. The last program has none.
#include <atomic>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <pthread.h>
#include <unistd.h>

#if defined(AT_END)

// What runs at the end of a program, in the order in which it runs without the checker.
// check -DAT_END -DORDER: exhaustive, 1 execution
// check -DAT_END -DORDER -DBY_EXIT: exhaustive, 1 execution
// check -DAT_END -DWRONG: FAIL check failed: endings.cpp:
// check -DAT_END -DWRONG_FIRST: FAIL check failed: endings.cpp:
// check -DAT_END -DRACE: FAIL data race
// check -DAT_END -DQUICK: exhaustive, 1 execution
// check -DAT_END -DQUICK -DWRONG_QUICKLY: FAIL check failed: endings.cpp:
// check -DAT_END -DAT_ONCE: exhaustive, 1 execution
// check -DAT_END -DAT_ONCE -DSTATUS: FAIL the program ends with status 3
// check -DAT_END -DLEFT: exhaustive
// check -DAT_END -DLEFT -DCHAIN: exhaustive
// check -DAT_END -DLEFT -DWRONG: FAIL check failed: endings.cpp:
// check -DAT_END -DON_EXIT: no verdict: not modelled: on_exit()

bool runs = false;  // of the programs that are compiled together, this one
bool at_end = false;
char order[16];
int data;

void note(char what) { order[std::strlen(order)] = what; }

struct noted {
  char what;
  ~noted() {
    if (runs) note(what);
  }
};
noted global{'g'};
thread_local noted of_thread{'t'};

void fails() { assert(!runs); }

__attribute__((destructor(101))) static void last() {
  if (!runs) return;
#ifdef WRONG
  fails();
#elif defined(RACE)
  assert(data < 2);
#elif defined(LEFT)
  assert(data == 2);
#elif defined(ORDER)
  // What main() has of its own, a static variable and handlers in turn, what is global, and then this.
  assert(std::strcmp(order, "tbsagd") == 0);
#elif defined(QUICK) || defined(AT_ONCE)
  fails();
#endif
}
__attribute__((destructor)) static void before_last() {
  if (!runs) return;
#ifdef WRONG_FIRST
  fails();
#endif
  note('d');
}

int main() {
  runs = true;
#if defined(ORDER)
  static_cast<void>(&of_thread);
  of_thread.what = 't';
  std::atexit([] { note('a'); });
  static const noted of_main{'s'};
  std::atexit([] { note('b'); });
#ifdef BY_EXIT
  std::exit(0);
#endif
#elif defined(RACE)
  std::thread([] { ++data; }).detach();
#elif defined(QUICK)
  std::atexit(fails);
  std::at_quick_exit([] { assert(order[0] == 'q'); });
  std::at_quick_exit([] {
    note('q');
#ifdef WRONG_QUICKLY
    fails();
#endif
  });
  std::quick_exit(0);
#elif defined(AT_ONCE)
  std::atexit(fails);
#ifdef STATUS
  _exit(3);
#else
  std::_Exit(0);
#endif
#elif defined(LEFT)
  // The program ends with its last thread.
  pthread_t t;
  pthread_create(
      &t, nullptr,
      [](void*) -> void* {
        data = 1;
#ifdef CHAIN
        std::thread([] { ++data; }).detach();
#else
        std::thread([] { ++data; }).join();
#endif
        return nullptr;
      },
      nullptr);
  pthread_exit(nullptr);
#elif defined(ON_EXIT)
  on_exit([](int, void*) {}, nullptr);
#endif
}

#else

// check: exhaustive, 1 execution
// check -DABORT: FAIL abort()
// check -DTHROW: FAIL std::runtime_error: oh
// check -DTHROW_IN_THREAD: FAIL std::runtime_error: oh
// check -DNULL_POINTER: FAIL SEGV
// check -DSTATUS: FAIL status 3
// check -DEXIT: exhaustive, 1 execution
// check -DDEEP: FAIL used up its stack
// check -DDEEP_AGAIN: FAIL used up its stack
// check -DDIVIDE: FAIL FPE
// check -DWILD: FAIL SEGV
// check -DWILD_LOCK: FAIL SEGV
// check -DMISALIGNED: FAIL misaligned address
// check -DALIGNMENT: FAIL no power of two
// check -DENDLESS: no verdict: limit reached: a thread runs for 5 s of processor time

int* volatile nowhere = nullptr;
std::atomic<int>* volatile no_variable = nullptr;
std::mutex* volatile no_mutex = nullptr;
alignas(8) char room_for_two[8];
int volatile zero = 0;

int deep(int n) {
  volatile char room[1024];
  room[0] = static_cast<char>(n);
  return n == 0 ? 0 : deep(n - 1) + room[0];
}
// The same calls again, each of which needs more.
[[gnu::noinline]] int deep_and_wide(int n, std::size_t bytes) {
  void* const more = __builtin_alloca(bytes);
  asm volatile("" : : "r"(more) : "memory");
  return n == 0 ? 0 : 1 + deep_and_wide(n - 1, bytes);
}

int main() {
  std::thread t([] {
#ifdef THROW_IN_THREAD
    throw std::runtime_error("oh");
#endif
  });
  t.join();
#if defined(ABORT)
  std::abort();
#elif defined(THROW)
  throw std::runtime_error("oh");
#elif defined(NULL_POINTER)
  *nowhere = 1;
#elif defined(STATUS)
  return 3;
#elif defined(EXIT)
  std::exit(0);
#elif defined(DEEP)
  return deep(1'000'000);
#elif defined(DEEP_AGAIN)
  for (const std::size_t bytes : {16UL, 16UL * 1024}) zero = zero + deep_and_wide(100, bytes);
#elif defined(DIVIDE)
  return 100 / zero;
#elif defined(WILD)
  no_variable->store(1);
#elif defined(WILD_LOCK)
  no_mutex->lock();
#elif defined(MISALIGNED)
  __atomic_store_n(reinterpret_cast<int*>(room_for_two + 1 + zero), 1, __ATOMIC_RELAXED);
#elif defined(ALIGNMENT)
  nowhere = static_cast<int*>(std::aligned_alloc(static_cast<std::size_t>(3 + zero), 9));
#elif defined(ENDLESS)
  for (;;) asm volatile("");
#endif
}

#endif
