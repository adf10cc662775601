// SPDX-License-Identifier: MIT
// tracer: records what ran where and when, for the trace viewers of Chrome and Perfetto (RUNQ_TRACE=file.json).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <sys/types.h>

#include "runq/detail/timers.hpp"

namespace runq::detail {

/// A lane per processor, and one per machine for blocking calls during which it had no processor. Any thread may
/// record: a lock orders them, which costs less than what it records. Times in ns.
///
/// On each lane events either follow each other or lie within each other: a blocking call within what the task ran, a
/// steal within the search for work.
class tracer {
 public:
  static constexpr std::size_t most_events = 2'000'000;  // later ones are counted, not kept

  /// The task that runs: a copy, because the task may be destroyed when its slice ends.
  struct who {
    std::uint64_t id = 0;
    const char* name = nullptr;
  };

  /// Keeps up to `limit` events for `file`. While another tracer keeps events for `file`, this one writes a file with a
  /// number, from 2 on, before the extension. Throws std::system_error when the file cannot be written.
  explicit tracer(const std::string& file, std::size_t limit = most_events);
  tracer(const tracer&) = delete;
  tracer& operator=(const tracer&) = delete;
  ~tracer();

  /// A task ran on processor `processor`.
  void ran(std::uint32_t processor, who task, instant begin, instant end);
  /// A blocking call, within what the task ran on `processor`, which was kept.
  void called(std::uint32_t processor, who task, instant begin, instant end);
  /// A blocking call of machine `machine`, which lost processor `lost`.
  void called_without(std::uint32_t machine, std::uint32_t lost, who task, instant begin, instant end);
  /// The monitor took `processor` from a blocking call, not before `at`. Until then the call has held the processor.
  void taken_from_call(std::uint32_t processor, instant at);
  /// Processor `processor` looked for work at other processors.
  void looked(std::uint32_t processor, instant begin, instant end);
  /// Processor `thief` took `count` tasks from `victim`, while it looked for work.
  void stole(std::uint32_t victim, std::uint32_t thief, std::uint64_t count, instant begin, instant end);

  /// Writes the file; says on stderr if it cannot, and how many events were not kept. The last user of the tracer calls
  /// it.
  void write() noexcept;
  /// Writes the files of all that exist, for a process that ends without destroying its schedulers.
  static void write_all() noexcept;
  [[nodiscard]] const std::string& file() const noexcept { return file_; }

 private:
  enum class kind : std::uint8_t { run, call, call_without, taken_from_call, look, steal };
  struct event {
    kind what;
    std::uint32_t lane;
    std::uint32_t other;  // steal: the victim; call_without: the processor that was lost
    std::uint64_t stolen;
    who task;
    instant begin;
    instant end;
  };
  class json;
  void add(const event& e);
  /// When processors were taken from calls: the times for each lane, in order.
  using times_of_lanes = std::map<std::uint32_t, std::vector<instant>>;
  static void put(json& out, const event& e, const times_of_lanes& taken);

  std::string file_;
  const std::size_t limit_;
  const instant start_;
  const pid_t process_;
  std::mutex mutex_;
  std::vector<event> events_;  // under mutex_
  std::uint64_t dropped_ = 0;  // under mutex_
};

}  // namespace runq::detail
