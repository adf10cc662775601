// SPDX-License-Identifier: MIT
// What a thief asks before it takes the one task that another processor has left: stands_still() for the task in a
// runnext slot, stays() for a fork.
#pragma once

namespace runq::detail {

/// How long a thief watches a processor before it takes its last task, in pauses: a few µs. If that processor starts
/// another task meanwhile, it will soon run this one, too.
inline constexpr int watch_pauses = 128;

/// Whether a processor with nothing but a task in its runnext slot starts no task while it is watched. `queue` is the
/// thief's handle of its queue, `dispatches` counts the tasks that it has started. Any thread. Wait-free; makes at most
/// as many pauses.
template <class Atomics, class Thief, class Counter>
[[nodiscard]] bool stands_still(const Thief& queue, const Counter& dispatches, int pauses = watch_pauses) noexcept {
  if (queue.size_approx() != 0) return false;
  const auto before = dispatches.get();
  if (queue.has_work_approx()) {
    for (int i = 0; i != pauses; ++i) Atomics::pause();
  }
  return dispatches.get() == before;
}

/// Whether the oldest fork in a deque stays there while it is watched. `forks` is the thief's handle of the deque. If
/// the fork is alone and its processor takes it back within that time, a thief that takes it costs that processor more
/// than it gives. Any thread. Wait-free; makes as many pauses.
template <class Atomics, class Thief>
[[nodiscard]] bool stays(const Thief& forks, int pauses = watch_pauses) noexcept {
  const auto before = forks.oldest_approx();
  for (int i = 0; i != pauses; ++i) Atomics::pause();
  return forks.oldest_approx() == before && forks.has_work();
}

}  // namespace runq::detail
