// SPDX-License-Identifier: MIT
#include "runq/detail/process_locks.hpp"

#include <pthread.h>

#include "runq/detail/fatal.hpp"

namespace runq::detail {

constinit process_locks locks_of_process;

namespace {

void take_all() {
  process_locks& l = locks_of_process;
  l.dumps.lock();
  l.signals.lock();
  l.traces.lock();
  l.child_errors.lock();
  l.outside_frames.lock();
  l.giving_back.lock();
  l.cutting.lock();
  l.batches.lock();
}

// In the parent and in the child.
void release_all() {
  process_locks& l = locks_of_process;
  l.batches.unlock();
  l.cutting.unlock();
  l.giving_back.unlock();
  l.outside_frames.unlock();
  l.child_errors.unlock();
  l.traces.unlock();
  l.signals.unlock();
  l.dumps.unlock();
}

// When the program, or a library that has this one, is loaded.
[[maybe_unused]] const bool fork_takes_them = [] {
  if (pthread_atfork(take_all, release_all, release_all) != 0)
    fatal("fatal error: runq: no memory for pthread_atfork\n");
  return true;
}();

}  // namespace

}  // namespace runq::detail
