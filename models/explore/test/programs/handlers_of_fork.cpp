// SPDX-License-Identifier: MIT
// What a program asks to be called when it forks is for its own forks, not for the processes in which its runs are
// made: a handler could wait for ever for a lock that is taken before main().
//
// check: none fails
#include <cassert>

#include <pthread.h>

bool is_called = false;

[[gnu::constructor]] void ask_before_main() {
  pthread_atfork([] { is_called = true; }, nullptr, nullptr);
}

int main() {
  assert(!is_called);
  return 0;
}
