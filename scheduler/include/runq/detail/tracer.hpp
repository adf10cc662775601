// SPDX-License-Identifier: MIT
// tracer: records what ran where and when, for the trace viewers of Chrome and Perfetto (RUNQ_TRACE=file.json).
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "runq/detail/timers.hpp"

namespace runq::detail {

/// A lane per processor, and one per machine for blocking calls during which it had no processor. Any thread may
/// record: a lock orders them, which costs less than what it records. Times in ns.
class tracer {
 public:
  static constexpr std::size_t most_events = 2'000'000;  // later ones are counted, not kept

  /// Who runs: copied, because a task may be gone when its slice ends.
  struct who {
    std::uint64_t id = 0;
    const char* name = nullptr;
  };

  /// Throws std::system_error when `file` cannot be written.
  explicit tracer(std::string file);

  /// A task ran on processor `processor`.
  void ran(std::uint32_t processor, who task, instant begin, instant end);
  /// A blocking call, within what the task ran on `processor`, which was kept.
  void called(std::uint32_t processor, who task, instant begin, instant end);
  /// A blocking call of machine `machine`, which lost its processor.
  void called_without(std::uint32_t machine, who task, instant begin, instant end);
  /// Processor `thief` took `count` tasks from `victim`.
  void stole(std::uint32_t victim, std::uint32_t thief, std::uint64_t count, instant begin, instant end);

  /// Writes the file. Throws std::system_error.
  void write();

 private:
  enum class kind : std::uint8_t { run, call, steal };
  struct event {
    kind what;
    std::uint32_t lane;
    std::uint32_t victim;
    std::uint64_t stolen;
    who task;
    instant begin;
    instant end;
  };
  void add(const event& e);

  const std::string file_;
  const instant start_;
  std::mutex mutex_;
  std::vector<event> events_;  // under mutex_
  std::uint64_t dropped_ = 0;  // under mutex_
};

}  // namespace runq::detail
