// SPDX-License-Identifier: MIT
// A fork-join program as data: a tree of tasks. Each forks its children in order, waits for all of them at its join,
// and returns the sum of their values.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace runq::walkthrough {

using task_id = std::size_t;

struct task {
  std::string name;
  task_id parent = 0;  // the parent of main is main itself
  std::vector<task_id> children{};
  int own_value = 0;  // added to what the children return
};

/// tasks[0] is main.
struct program {
  std::vector<task> tasks;
};

inline constexpr task_id main_task = 0;

/// main forks fib(n) and prints what it returns. fib(n) forks fib(n - 1), then fib(n - 2), and only then joins: that is
/// `a := fib(n-1); b := fib(n-2); <-a + <-b`, because `<-fib(n-1) + <-fib(n-2)` waits before it forks again.
[[nodiscard]] program fib(int n);

/// main forks n children in a loop, named 1 to n, and joins them.
[[nodiscard]] program loop(int n);

}  // namespace runq::walkthrough
