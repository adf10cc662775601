// SPDX-License-Identifier: MIT
#include "options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

namespace runq::model::explore {

namespace {

constexpr std::array<const char*, 6> strategies{"any", "walk", "bursts", "pct", "points", "pos"};

template <class Number>
[[nodiscard]] bool read_number(const std::string& text, Number& to) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc{} && end == text.data() + text.size();
}

[[nodiscard]] bool read_option(const std::string& name, const std::string& value, exploration_options& to) {
  if (name == "--runs") return read_number(value, to.runs) && to.runs != 0;
  if (name == "--time-limit") return read_number(value, to.time_limit) && to.time_limit > 0;
  if (name == "--seed") return read_seeds(value, to.before, to.seed);
  if (name == "--jobs") return read_number(value, to.jobs) && to.jobs >= 1 && to.jobs <= 256;
  if (name == "--strategy") {
    const auto found = std::find(strategies.begin(), strategies.end(), value);
    if (found == strategies.end()) return false;
    to.how = static_cast<strategy>(found - strategies.begin());
    return true;
  }
  if (name == "--feedback") {
    to.feedback = value == "on" ? feedback_mode::on : feedback_mode::count;
    return value == "on" || value == "count";
  }
  if (name == "--max-steps") return read_number(value, to.max_steps) && to.max_steps != 0;
  if (name == "--only") to.only = value;
  if (name == "--json") to.files.json = value;
  if (name == "--html") to.files.html_dir = value;
  if (name == "--sarif") to.files.sarif = value;
  if (name == "--junit") to.files.junit = value;
  if (name == "--tiny") to.tiny = value;
  if (name == "--title") to.title = value;
  if (name == "--make-smaller") {
    to.makes_smaller = value == "yes";
    return to.makes_smaller || value == "no";
  }
  if (name == "--stop-at") {
    to.stops_at_failure = value == "failure";
    return to.stops_at_failure || (read_number(value, to.stop_at) && to.stop_at != 0);
  }
  if (name == "--repeat") to.repeat = value;
  if (name == "--arguments") to.arguments = value;
  if (name == "--memory") {
    to.weak_memory = value == "weak";
    return value == "weak" || value == "strong";
  }
  if (name == "--timeouts") {
    to.timeouts_fail = value == "fail";
    return to.timeouts_fail || value == "heal";
  }
  if (name == "--patience") return read_number(value, to.patience) && to.patience > 0 && to.patience < 1e9;
  if (name == "--statuses") to.judges = value != "count";
  return true;
}

/// One of them, each as likely as the others.
template <std::size_t Size>
[[nodiscard]] std::uint32_t one_of(random_stream& random, const std::array<std::uint32_t, Size>& values) {
  return values[random.below(Size)];
}

}  // namespace

const char* name_of(strategy how) noexcept { return strategies[static_cast<std::size_t>(how)]; }

std::string read_options(const std::string& lines, exploration_options& to) {
  std::istringstream in(lines);
  for (std::string name, value; std::getline(in, name) && std::getline(in, value);) {
    if (!read_option(name, value, to)) return name + " does not take " + value;
  }
  return {};
}

void choose_for_run(std::uint64_t seed, const exploration_options& options) {
  random_stream random;
  random.seed(seed, 0);
  choices = {};
  choices.schedule.seed(seed, 1);
  choices.memory.seed(seed, 2);
  choices.spurious.seed(seed, 3);
  choices.program.seed(seed, 4);
  const auto drawn = static_cast<strategy>(1 + random.below(4));
  choices.how = options.how == strategy::any ? drawn : options.how;
  choices.burst = one_of<6>(random, {2, 4, 8, 16, 64, 256});
  choices.old_values = one_of<4>(random, {64, 256, 512, 768});
  choices.insertions = one_of<4>(random, {0, 128, 256, 512});
  choices.spurious_failures = one_of<4>(random, {0, 0, 32, 128});
  choices.spurious_wakeups = one_of<4>(random, {0, 0, 32, 128});
  choices.early_timeouts = one_of<4>(random, {0, 2, 16, 128});
  choices.ignored_yields = one_of<4>(random, {0, 256, 768, 1000});
  choices.reuses_memory = random.below(2) == 0;
  choices.weak_memory = options.weak_memory;
  choices.max_steps = options.max_steps;
  choices.timeouts_fail = options.timeouts_fail;
  choices.patience = static_cast<std::uint64_t>(options.patience * 1e9);
}

}  // namespace runq::model::explore
