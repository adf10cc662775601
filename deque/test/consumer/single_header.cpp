// SPDX-License-Identifier: MIT
// The same as main.cpp, but it includes one copied file instead of the folder of headers.
#include "runq_all.hpp"

struct task {
  runq::inject_link<task> link{};
};

int main() {
  runq::inject<&task::link> global;
  runq::local_queue<&task::link> queue(global);
  auto owner = queue.make_owner();
  task a;
  owner.push(&a);
  return owner.pop().task == &a ? 0 : 1;
}
