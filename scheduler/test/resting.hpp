// SPDX-License-Identifier: MIT
// What /proc says of the threads of this process: their names, and whether they sleep, read from their states and not
// from the processor time that they use.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <thread>

#include "support.hpp"

namespace sched_test {

/// Whether the process has only the program's own threads. A sanitizer or an emulator has threads of its own.
inline constexpr bool has_only_its_own_threads = RUNQ_TEST_TSAN == 0 && RUNQ_TEST_EMULATED == 0;

/// For every thread of this process but the calling one: its state, and how often the kernel has switched away from it.
[[nodiscard]] inline std::map<std::string, std::string> other_threads() {
  std::map<std::string, std::string> seen;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    const std::string id = entry.path().filename().string();
    if (id == std::to_string(gettid())) continue;
    std::ifstream file(entry.path() / "status");
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("State:") || line.find("ctxt_switches") != std::string::npos) seen[id] += line + "\n";
    }
  }
  return seen;
}

/// How many threads of this process have this name. A thread that was joined may still be among them for a moment.
[[nodiscard]] inline std::size_t threads_named(std::string_view wanted) {
  std::size_t n = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(entry.path() / "comm"), name);
    n += name == wanted ? 1 : 0;
  }
  return n;
}

/// Waits until all other threads sleep and none of them is woken for 100 ms. False: that did not happen within
/// `patience`.
[[nodiscard]] inline bool other_threads_come_to_rest() {
  return comes_true([] {
    const auto before = other_threads();
    for (const auto& [id, state] : before) {
      if (state.find("State:\tS") == std::string::npos) return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return other_threads() == before;
  });
}

}  // namespace sched_test
