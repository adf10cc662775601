// SPDX-License-Identifier: MIT
// process_locks: the locks that all schedulers of a process share, and fork() with them.
#pragma once

#include <mutex>

#include "runq/detail/policy.hpp"

namespace runq::detail {

/// fork() takes all of them before it makes the child process, and both processes release them. So the child finds each
/// lock free, and what it guards complete, whatever the parent's other threads were doing. A lock that belongs to one
/// scheduler is not here: the child cannot use its parent's schedulers. No thread may call fork() while it has one.
///
/// In the order in which fork() takes them, and in which a thread that needs several does.
struct process_locks {
  std::mutex dumps;           // which thread prints dumps: dump_on_signal.cpp
  std::mutex signals;         // who has the pipe of signals: signals.cpp
  std::mutex traces;          // which traces are written: tracer.cpp
  std::mutex child_errors;    // which forked child failed first: forks.cpp
  std::mutex outside_frames;  // the free frames of threads without a processor: frames.cpp
  std::mutex giving_back;     // one thread at a time counts what is free in the slabs: frames.cpp
  std::mutex cutting;         // the slab that blocks are cut from: frames.cpp
  short_lock batches;         // the free blocks of all processors: frames.cpp
};
extern constinit process_locks locks_of_process;

}  // namespace runq::detail
