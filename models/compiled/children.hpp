// SPDX-License-Identifier: MIT
// Checks in separate processes, several at the same time. Each begins as a copy of this process.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>
#include <sys/types.h>

namespace runq::model::compiled {

struct child_answer {
  std::size_t number;
  std::string text;   ///< what the child's function has returned
  std::string error;  ///< why there is no text
};

/// JSON as text, which a child sends. Bytes in a path or in the program's output that are not UTF-8 are replaced.
[[nodiscard]] std::string sent(const nlohmann::json& j);

class children {
 public:
  /// Runs `work` in a new process, which is known by `number`. False when the system gives none.
  [[nodiscard]] bool start(std::size_t number, const std::function<std::string()>& work);
  [[nodiscard]] std::size_t running() const noexcept { return running_.size(); }
  /// Waits until one has ended. There must be one.
  [[nodiscard]] child_answer next();

 private:
  struct child {
    std::size_t number;
    pid_t process;
    int output;
    std::string text;
  };
  [[nodiscard]] std::size_t next_that_ended();
  std::vector<child> running_;
};

}  // namespace runq::model::compiled
