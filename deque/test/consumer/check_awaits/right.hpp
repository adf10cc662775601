// SPDX-License-Identifier: MIT
#pragma once

#include <runq/runq.hpp>

struct result {
  int id;
  std::string text;
  bool ok;
};

inline runq::task<std::string> text_of(int id) { co_return TEXT + std::to_string(id); }
