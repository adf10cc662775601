// SPDX-License-Identifier: MIT
// What a fragment in the documentation may use without declaring it.
#pragma once

struct task {
  runq::inject_link<task> link{};
  void run() {}
};
