// SPDX-License-Identifier: MIT
// Whether threads sleep: by what the kernel says of them, and not by how much time they use.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>

#include "support.hpp"

namespace sched_test {

/// Whether the kernel's answers are about the program's own threads only.
inline constexpr bool has_only_its_own_threads = RUNQ_TEST_TSAN == 0 && RUNQ_TEST_EMULATED == 0;

/// For every thread of this process but the calling one: what the kernel says of its state, and how often it has been
/// switched.
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

/// Whether all of them sleep: there is a time of 100 ms in which none is woken. On their way there they may take as
/// long as they need.
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
