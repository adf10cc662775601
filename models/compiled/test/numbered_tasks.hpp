// SPDX-License-Identifier: MIT
// Tasks for generated programs, whose operations take and return numbers.
#pragma once

#include <array>
#include <cstddef>

#include <runq/inject.hpp>

struct task {
  int id = 0;
  runq::inject_link<task> link{};
};

/// Tasks by their numbers.
class tasks {
 public:
  [[nodiscard]] task* operator[](int id) {
    task& t = tasks_.at(static_cast<std::size_t>(id));
    t.id = id;
    return &t;
  }

 private:
  std::array<task, 16> tasks_;
};
