// SPDX-License-Identifier: MIT
// live_tasks: how many tasks exist. Asked when no task runs, it tells whether all have ended.
//
// Source: Go counts its goroutines by walking over them (gcount, runtime/proc.go). Here each processor counts the tasks
// that were started and that ended on it, so that starting a task costs no read-modify-write; a task may end on another
// processor than it was started on, so only the sum means something. Models: models/cases/scheduler/live_tasks/.
#pragma once

#include <atomic>
#include <cstdint>

#include "runq/atomics.hpp"

namespace runq {

/// One processor's part of the count. Only the thread that holds the processor calls start() and end(); any thread may
/// call the others, whose answers may be out of date. All operations are wait-free.
template <class Atomics = std_atomics>
class task_tally {
 public:
  task_tally() noexcept : started_(std::uint64_t{0}), ended_(std::uint64_t{0}) {}
  task_tally(const task_tally&) = delete;
  task_tally& operator=(const task_tally&) = delete;

  void start() noexcept {
    // [tally.start.read] relaxed: the thread that holds the processor writes it, and got the processor under the host's
    // lock.
    const std::uint64_t before = started_.load(std::memory_order::relaxed);
    // [tally.start] relaxed: the thread that asks whether all tasks have ended holds the lock under which the processor
    // was given up.
    started_.store(before + 1, std::memory_order::relaxed);
  }
  void end() noexcept {
    // [tally.end.read] relaxed: the thread that holds the processor writes it, and got the processor under the host's
    // lock.
    const std::uint64_t before = ended_.load(std::memory_order::relaxed);
    // [tally.end] relaxed: the thread that asks whether all tasks have ended holds the lock under which the processor
    // was given up.
    ended_.store(before + 1, std::memory_order::relaxed);
  }
  [[nodiscard]] std::uint64_t started() const noexcept {
    // [tally.started] relaxed: a thread that needs the exact number holds the lock under which the processor was given
    // up.
    return started_.load(std::memory_order::relaxed);
  }
  [[nodiscard]] std::uint64_t ended() const noexcept {
    // [tally.ended] relaxed: a thread that needs the exact number holds the lock under which the processor was given
    // up.
    return ended_.load(std::memory_order::relaxed);
  }

 private:
  typename Atomics::template atomic<std::uint64_t> started_;
  typename Atomics::template atomic<std::uint64_t> ended_;
};

/// The tasks that no processor counts: those that threads outside have started, and those that the end of a run has
/// destroyed. All operations but count() are wait-free.
template <class Atomics = std_atomics>
class live_tasks {
 public:
  live_tasks() noexcept : outside_(std::uint64_t{0}), destroyed_(std::uint64_t{0}) {}
  live_tasks(const live_tasks&) = delete;
  live_tasks& operator=(const live_tasks&) = delete;

  /// A thread that holds no processor starts a task. Any thread, before another thread can take the task, and before
  /// the caller takes the lock of the host under which count() is called.
  void start_outside() noexcept {
    // [live.outside] release: pairs with [live.outside.count]: a thread that counts the task also sees that the caller
    // has a handle; weaker: a deadlock is reported although the caller is about to queue the task.
    outside_.fetch_add(std::uint64_t{1}, std::memory_order::release);
  }
  /// The end of a run has destroyed `n` tasks. Called while no machine runs.
  void destroy(std::uint64_t n) noexcept {
    // [live.destroy] relaxed: the lock that this thread takes next orders it before count().
    destroyed_.fetch_add(n, std::memory_order::relaxed);
  }
  /// How many tasks threads outside have started. Any thread.
  [[nodiscard]] std::uint64_t started_outside() const noexcept {
    // [live.outside.read] relaxed: for statistics.
    return outside_.load(std::memory_order::relaxed);
  }

  /// How many tasks there are. `for_each_tally(f)` calls f(tally) with the tally of every processor. Exact under the
  /// lock that hands out processors, while no machine holds one, except for tasks that a thread outside is about to
  /// start.
  template <class ForEachTally>
  [[nodiscard]] std::uint64_t count(ForEachTally&& for_each_tally) const {
    // [live.outside.count] acquire: pairs with [live.outside]; weaker: a deadlock is reported although a thread outside
    // is about to queue a task.
    std::uint64_t live = outside_.load(std::memory_order::acquire);
    // [live.destroyed] relaxed: the lock that the caller holds orders it after [live.destroy].
    live -= destroyed_.load(std::memory_order::relaxed);
    for_each_tally([&live](const task_tally<Atomics>& tally) { live += tally.started() - tally.ended(); });
    return live;
  }

 private:
  typename Atomics::template atomic<std::uint64_t> outside_;
  typename Atomics::template atomic<std::uint64_t> destroyed_;
};

}  // namespace runq
