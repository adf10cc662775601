// SPDX-License-Identifier: MIT
#include "build.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jobs.hpp"

extern char** environ;

namespace runq::model {

namespace {

using clock_type = std::chrono::steady_clock;

[[nodiscard]] std::deque<std::string> last_lines(const std::string& file, std::size_t most) {
  std::deque<std::string> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
    if (lines.size() > most) lines.pop_front();
  }
  return lines;
}

// Starts the command with its output in the file.
[[nodiscard]] pid_t start(std::vector<std::string> command, const std::string& output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  std::vector<char*> argv;
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = -1;
  if (const int error = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ); error != 0) {
    usage_error("cannot start " + command[0] + ": " + std::strerror(error));
  }
  posix_spawn_file_actions_destroy(&actions);
  return child;
}

// Waits for the end of the process; calls `still_runs` now and then. Returns the status.
template <class StillRuns>
[[nodiscard]] int wait_for(pid_t child, StillRuns still_runs) {
  auto told = clock_type::now();
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) return -1;
    if (clock_type::now() - told > std::chrono::seconds(30)) {
      told = clock_type::now();
      still_runs();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace

void build_targets(const manifest& m, const std::vector<std::string>& targets) {
  if (targets.empty()) return;
  std::vector<std::string> command{m.cmake, "--build", m.build_dir, "-j",
                                   std::to_string(std::max(1U, std::thread::hardware_concurrency()))};
  for (const std::string& target : targets) command.push_back("--target=" + target);
  const std::string log = m.build_dir + "/modules.log";
  const auto began = clock_type::now();
  const auto seconds = [&] {
    return std::chrono::duration_cast<std::chrono::seconds>(clock_type::now() - began).count();
  };
  fmt::print(stderr, "build the modules ...\n");
  const int status = wait_for(start(command, log), [&] {
    const auto last = last_lines(log, 1);
    fmt::print(stderr, "  build the modules: {} s; {}\n", seconds(), last.empty() ? "" : last[0].substr(0, 100));
  });
  if (status != 0) {
    constexpr std::size_t most = 60;
    for (const std::string& line : last_lines(log, most)) fmt::print(stderr, "{}\n", line);
    fmt::print(stderr, "verify: failed: build the modules (whole output: {})\n", log);
    std::exit(1);
  }
  fmt::print(stderr, "build the modules: {} s\n", seconds());
}

}  // namespace runq::model
