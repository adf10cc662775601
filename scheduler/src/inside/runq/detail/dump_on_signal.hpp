// SPDX-License-Identifier: MIT
// dump_on_signal: a thread of the process that prints what all tasks do when a signal comes; see options::dump_on.
#pragma once

namespace runq::detail {

class core;

/// While it exists, a signal prints the scheduler's dump on stderr. There may be any number, also for the same signal.
class dump_on_signal {
 public:
  /// `number`: a signal that can be caught. Throws std::system_error if there is no descriptor or thread left.
  dump_on_signal(const core& of, int number);
  dump_on_signal(const dump_on_signal&) = delete;
  dump_on_signal& operator=(const dump_on_signal&) = delete;
  /// The last object for a signal restores what the signal did before. Waits for a dump that is being printed.
  ~dump_on_signal();

  /// Whether it is a number of a signal that can be caught.
  [[nodiscard]] static bool possible(int number) noexcept;

 private:
  const core& of_;
};

}  // namespace runq::detail
