// SPDX-License-Identifier: MIT
#include "runq/detail/process_locks.hpp"

#include <pthread.h>

#include "runq/detail/fatal.hpp"

namespace runq::detail {

constinit process_locks locks_of_process;

namespace {

// All of them, in the order in which fork() takes them.
template <class F>
void in_order(F&& f) {
  process_locks& l = locks_of_process;
  const auto each = [&f](auto&... lock) { (f(lock), ...); };
  each(l.dumps, l.signals, l.traces, l.child_errors, l.outside_frames, l.giving_back, l.cutting, l.batches);
}

void take_all() {
  in_order([](auto& lock) { lock.lock(); });
}

// In the parent and in the child.
void release_all() {
  in_order([](auto& lock) { lock.unlock(); });
}

// When the program, or a library that has this one, is loaded.
[[maybe_unused]] const bool fork_takes_them = [] {
  // unreached: a program that starts has memory.
  if (pthread_atfork(take_all, release_all, release_all) != 0) {
    fatal("fatal error: runq: no memory for pthread_atfork\n");
  }
  return true;
}();

}  // namespace

}  // namespace runq::detail
