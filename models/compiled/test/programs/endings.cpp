// SPDX-License-Identifier: MIT
// What runs at the end of a program, in the order in which it runs without the checker.
// check -DORDER: exhaustive, 1 execution
// check -DORDER -DBY_EXIT: exhaustive, 1 execution
// check -DWRONG: FAIL check failed: endings.cpp:
// check -DWRONG_FIRST: FAIL check failed: endings.cpp:
// check -DRACE: FAIL data race
// check -DQUICK: exhaustive, 1 execution
// check -DQUICK -DWRONG_QUICKLY: FAIL check failed: endings.cpp:
// check -DAT_ONCE: exhaustive, 1 execution
// check -DAT_ONCE -DSTATUS: FAIL the program ends with status 3
// check -DLEFT: exhaustive
// check -DLEFT -DCHAIN: exhaustive
// check -DLEFT -DWRONG: FAIL check failed: endings.cpp:
// check -DON_EXIT: no verdict: not modelled: on_exit()
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <pthread.h>
#include <unistd.h>

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
