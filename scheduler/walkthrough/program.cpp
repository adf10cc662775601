// SPDX-License-Identifier: MIT
#include "walkthrough/program.hpp"

#include <utility>

namespace runq::walkthrough {
namespace {

task_id add_child(program& p, task_id parent, std::string name, int own_value) {
  const task_id child = p.tasks.size();
  p.tasks.push_back({.name = std::move(name), .parent = parent, .own_value = own_value});
  p.tasks[parent].children.push_back(child);
  return child;
}

void add_fib(program& p, task_id parent, int n) {
  const bool leaf = n <= 2;
  const task_id self = add_child(p, parent, "f" + std::to_string(n), leaf ? 1 : 0);
  if (leaf) return;
  add_fib(p, self, n - 1);
  add_fib(p, self, n - 2);
}

program only_main() {
  program p;
  p.tasks.push_back({.name = "main"});
  return p;
}

}  // namespace

program fib(int n) {
  program p = only_main();
  add_fib(p, main_task, n);
  return p;
}

program loop(int n) {
  program p = only_main();
  for (int i = 1; i <= n; ++i) add_child(p, main_task, std::to_string(i), 1);
  return p;
}

}  // namespace runq::walkthrough
