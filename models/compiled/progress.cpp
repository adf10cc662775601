// SPDX-License-Identifier: MIT
#include "progress.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "answer.hpp"
#include "size_words.hpp"

namespace runq::model::compiled {

namespace {

[[nodiscard]] bool on_terminal() {
  static const bool is = isatty(STDERR_FILENO) != 0;
  return is;
}

bool line_is_there = false;

}  // namespace

// Does not use stdio, whose buffers hold what the program prints.
void print_progress(const search_progress& now) {
  constexpr double longest_pause = 60;
  static double next = 0;
  if (!on_terminal() && now.seconds < next) return;
  next = now.seconds + std::min(now.seconds, longest_pause);
  const std::string text = fmt::format("{:.0f} s: {} executions{}", now.seconds, now.executions, size_words(now));
  const std::string line = on_terminal() ? "\r\033[K" + text : text + "\n";
  write_all(STDERR_FILENO, line.data(), line.size());
  line_is_there = true;
}

void end_progress() {
  constexpr std::string_view clear = "\r\033[K";
  if (line_is_there && on_terminal()) write_all(STDERR_FILENO, clear.data(), clear.size());
}

}  // namespace runq::model::compiled
