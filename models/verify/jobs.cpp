// SPDX-License-Identifier: MIT
#include "jobs.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace runq::model {

namespace {

using json = nlohmann::json;
using clock_type = std::chrono::steady_clock;

struct process {
  pid_t pid = -1;
  int out = -1;
  job* of = nullptr;
  std::string pending;
};

volatile std::sig_atomic_t interrupted = 0;
void on_interrupt(int) { interrupted = 1; }

[[nodiscard]] process start(job& j) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) usage_error("cannot make a pipe: " + std::string(std::strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  if (j.asked) j.arguments = {to_text(*j.asked)};
  std::vector<char*> argv{j.worker.data()};
  for (std::string& a : j.arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  process p;
  p.of = &j;
  if (const int error = posix_spawn(&p.pid, j.worker.c_str(), &actions, nullptr, argv.data(), environ); error != 0) {
    usage_error("cannot start " + j.worker + ": " + std::strerror(error));
  }
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  p.out = ends[0];
  return p;
}

// A line of a worker: progress, or the result.
void take_line(job& j, const std::string& line) {
  if (line.starts_with("P ")) j.progress = line.substr(2);
  if (line.starts_with("R ")) j.result = json::parse(line.substr(2), nullptr, false);
}

// Reads what a worker has written; false when it has closed its output.
[[nodiscard]] bool read_some(process& p) {
  char buffer[65536];
  const ssize_t n = read(p.out, buffer, sizeof buffer);
  if (n <= 0) return n < 0 && errno == EINTR;
  p.pending.append(buffer, static_cast<std::size_t>(n));
  for (std::size_t end = p.pending.find('\n'); end != std::string::npos; end = p.pending.find('\n')) {
    take_line(*p.of, p.pending.substr(0, end));
    p.pending.erase(0, end + 1);
  }
  return true;
}

void finish(process& p) {
  close(p.out);
  int status = 0;
  while (waitpid(p.pid, &status, 0) < 0 && errno == EINTR) continue;
  if (!p.of->result.is_object()) {
    p.of->result = {{"error", WIFSIGNALED(status)
                                  ? fmt::format("the worker died of signal {}", WTERMSIG(status))
                                  : fmt::format("the worker ended with status {} and no result", WEXITSTATUS(status))}};
  }
}

/// One line about what is going on: on a terminal overwritten in place, else now and then.
class progress_line {
 public:
  void show(std::size_t done, std::size_t total, const std::vector<process>& running) {
    const auto now = clock_type::now();
    if (now - last_ < (terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(20))) return;
    last_ = now;
    std::string text = fmt::format("{}/{} searches, {:.0f} s", done, total, seconds(now));
    for (const process& p : running) {
      text += fmt::format("  {} {} {}", p.of->case_name, p.of->label,
                          p.of->progress.empty() ? "" : fmt::format("({})", p.of->progress));
    }
    if (terminal_) {
      fmt::print(stderr, "\r\033[K{}", text.substr(0, 118));
    } else {
      fmt::print(stderr, "{}\n", text);
    }
    std::fflush(stderr);
  }
  void clear() const {
    if (terminal_) fmt::print(stderr, "\r\033[K");
  }

 private:
  [[nodiscard]] double seconds(clock_type::time_point now) const {
    return std::chrono::duration<double>(now - started_).count();
  }
  const bool terminal_ = isatty(STDERR_FILENO) != 0;
  const clock_type::time_point started_ = clock_type::now();
  clock_type::time_point last_ = started_;
};

[[nodiscard]] std::vector<job*> longest_first(std::span<job> jobs) {
  std::vector<job*> queue;
  for (job& j : jobs) queue.push_back(&j);
  std::stable_sort(queue.begin(), queue.end(), [](const job* a, const job* b) { return a->effort > b->effort; });
  return queue;
}

}  // namespace

search_request* search_of(job& j, search_kind kind) {
  if (!j.asked) return nullptr;
  auto* const search = std::get_if<search_request>(&j.asked->what);
  return search != nullptr && search->kind == kind ? search : nullptr;
}

std::size_t run_all(std::span<job> jobs, unsigned width, const std::function<void(job&)>& report) {
  const std::vector<job*> queue = longest_first(jobs);
  std::vector<process> running;
  progress_line progress;
  std::size_t next = 0;
  std::size_t ended = 0;
  std::size_t reported = 0;
  const auto report_ready = [&] {
    for (; reported != jobs.size() && jobs[reported].result.is_object(); ++reported) {
      progress.clear();
      report(jobs[reported]);
    }
  };
  while ((next != queue.size() || !running.empty()) && interrupted == 0) {
    for (; next != queue.size() && running.size() < width; ++next) {
      job& j = *queue[next];
      if (j.broken.empty()) {
        running.push_back(start(j));
      } else {
        j.result = {{"error", j.broken}};
        ++ended;
      }
    }
    std::vector<pollfd> watched;
    for (const process& p : running) watched.push_back({p.out, POLLIN, 0});
    if (poll(watched.data(), watched.size(), 200) > 0) {
      for (std::size_t i = watched.size(); i-- != 0;) {
        if (watched[i].revents == 0 || read_some(running[i])) continue;
        finish(running[i]);
        ++ended;
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    report_ready();
    progress.show(ended, jobs.size(), running);
  }
  progress.clear();
  for (process& p : running) {
    kill(p.pid, SIGKILL);
    finish(p);
  }
  return reported;
}

std::string output_of(const std::string& worker, const request& asked) {
  job j;
  j.worker = worker;
  j.asked = asked;
  process p = start(j);
  std::string text;
  char buffer[65536];
  for (ssize_t n = 0; (n = read(p.out, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  finish(p);
  return text;
}

void catch_interrupt() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, nullptr);
}

bool was_interrupted() noexcept { return interrupted != 0; }

std::string read_file(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

void usage_error(const std::string& what) {
  fmt::print(stderr, "verify: {}\n", what);
  std::exit(2);
}

}  // namespace runq::model
