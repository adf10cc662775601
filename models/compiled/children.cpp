// SPDX-License-Identifier: MIT
#include "children.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "answer.hpp"

namespace runq::model::compiled {

std::string sent(const nlohmann::json& j) { return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace); }

bool children::start(std::size_t number, const std::function<std::string()>& work) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const pid_t process = fork();
  if (process == 0) {
    close(ends[0]);
    const std::string text = work();
    write_all(ends[1], text.data(), text.size());
    _exit(0);
  }
  close(ends[1]);
  if (process < 0) {
    close(ends[0]);
    return false;
  }
  running_.push_back({number, process, ends[0], {}});
  return true;
}

/// Reads what all children send until one of them closes its end.
std::size_t children::next_that_ended() {
  for (;;) {
    std::vector<pollfd> outputs;
    for (const child& c : running_) outputs.push_back({c.output, POLLIN, 0});
    if (poll(outputs.data(), outputs.size(), -1) < 0) continue;
    for (std::size_t i = 0; i != running_.size(); ++i) {
      if (outputs[i].revents == 0) continue;
      std::array<char, 4096> some;
      const ssize_t got = read(running_[i].output, some.data(), some.size());
      if (got > 0) {
        running_[i].text.append(some.data(), static_cast<std::size_t>(got));
      } else if (got == 0 || errno != EINTR) {
        return i;
      }
    }
  }
}

child_answer children::next() {
  const std::size_t i = next_that_ended();
  child c = std::move(running_[i]);
  running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
  close(c.output);
  int status = 0;
  while (waitpid(c.process, &status, 0) < 0 && errno == EINTR) {
  }
  child_answer a{c.number, std::move(c.text), {}};
  if (WIFSIGNALED(status)) {
    a.error = fmt::format("the check was ended by signal {}", WTERMSIG(status));
  } else if (status != 0 || a.text.empty()) {
    a.error = fmt::format("the check ended with status {}", WEXITSTATUS(status));
  }
  return a;
}

}  // namespace runq::model::compiled
