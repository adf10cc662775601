// SPDX-License-Identifier: MIT
#include "options.hpp"

#include <charconv>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace runq::model::compiled {

namespace {

[[nodiscard]] std::vector<std::string_view> split(std::string_view text) {
  const char separator = text.find('\n') == std::string_view::npos ? ' ' : '\n';
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    if (end != 0) words.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return words;
}

/// The options of one call, read one after the other.
class reader {
 public:
  reader(std::string_view words, run_options& to) : words_(split(words)), to_(to) {}

  [[nodiscard]] std::string read() {
    while (next_ != words_.size() && wrong_.empty()) take(words_[next_++]);
    return wrong_;
  }

 private:
  void take(std::string_view option) {
    exact_options& search = to_.search;
    if (option == "--execution") {
      search.show_execution = number(option);
    } else if (option == "--max-executions") {
      search.max_executions = number(option);
    } else if (option == "--max-events") {
      search.max_events_per_thread = static_cast<unsigned>(number(option));
    } else if (option == "--time-limit") {
      search.time_limit_seconds = static_cast<double>(number(option));
    } else if (option == "--spurious") {
      to_.limits.spurious_failures = search.spurious_failures = static_cast<unsigned>(number(option));
    } else if (option == "--timeouts") {
      to_.limits.timeouts = static_cast<unsigned>(number(option));
    } else if (option == "--rounds") {
      to_.limits.rounds = static_cast<unsigned>(number(option));
    } else if (option == "--load-buffering") {
      search.load_buffering = true;
    } else if (option == "--check-duplicates") {
      search.check_duplicates = true;
    } else if (option == "--every-iteration") {
      to_.every_iteration = true;
    } else if (option == "--no-leaks") {
      to_.leaks = false;
    } else {
      wrong_ = fmt::format("there is no option '{}'", option);
    }
  }

  [[nodiscard]] std::string_view word(std::string_view option, std::string_view what) {
    if (next_ != words_.size()) return words_[next_++];
    wrong_ = fmt::format("{} needs {}", option, what);
    return {};
  }
  [[nodiscard]] std::uint64_t number(std::string_view option) {
    const std::string_view text = word(option, "a number");
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (wrong_.empty() && (error != std::errc{} || end != text.data() + text.size())) {
      wrong_ = fmt::format("{} needs a number, not '{}'", option, text);
    }
    return value;
  }

  std::vector<std::string_view> words_;
  std::size_t next_ = 0;
  run_options& to_;
  std::string wrong_;
};

}  // namespace

void prepare(session& s, const run_options& options) {
  s.count_leaks(options.leaks);
  s.recognise_waiting(!options.every_iteration);
  s.set_bounds(options.limits);
}

std::string read_options(std::string_view words, run_options& to) { return reader(words, to).read(); }

}  // namespace runq::model::compiled
