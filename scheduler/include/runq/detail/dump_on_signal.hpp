// SPDX-License-Identifier: MIT
// dump_on_signal: a thread of the process that prints what all tasks do when a signal comes; see options::dump_on.
#pragma once

namespace runq::detail {

class core;

/// Exists while a signal makes the scheduler's dump appear on stderr. Any number at a time, also for the same signal.
class dump_on_signal {
 public:
  /// `number`: a signal that can be caught. Throws std::system_error without descriptors or a thread.
  dump_on_signal(const core& of, int number);
  dump_on_signal(const dump_on_signal&) = delete;
  dump_on_signal& operator=(const dump_on_signal&) = delete;
  /// The last one for the signal lets it do again what it did before. Waits for a dump that is being printed.
  ~dump_on_signal();

  /// Whether it is a number of a signal that can be caught.
  [[nodiscard]] static bool possible(int number) noexcept;

 private:
  const core& of_;
};

}  // namespace runq::detail
