// SPDX-License-Identifier: MIT
// stands_still(): a thief asks it before it takes the task from another processor's runnext slot.
#pragma once

namespace runq::detail {

/// How long a thief watches a processor before it takes the task from its runnext slot, in pauses: a few µs. If that
/// processor starts another task meanwhile, it will soon run this one, too.
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

}  // namespace runq::detail
