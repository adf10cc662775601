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

constexpr unsigned most_jobs = 64;

/// The options of one call, read one after the other.
class reader {
 public:
  reader(std::string_view words, run_options& to) : words_(split(words)), to_(to) {}

  [[nodiscard]] std::string read() {
    while (next_ != words_.size() && wrong_.empty()) take(words_[next_++]);
    if (wrong_.empty() && to_.ledger && (to_.weakened.line != 0 || to_.search.show_execution != 0)) {
      wrong_ = "--ledger makes many checks: it goes with neither --weaken nor --execution";
    }
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
    } else if (option == "--weaken") {
      const std::string_view change = word(option, "FILE:LINE:ORDER");
      if (wrong_.empty()) wrong_ = read_order_change(change, to_.weakened);
    } else if (option == "--ledger") {
      to_.ledger = true;
    } else if (option == "--ledger-of") {
      to_.ledger = true;
      to_.ledger_of.emplace_back(word(option, "the name of a file"));
    } else if (option == "--jobs") {
      to_.jobs = static_cast<unsigned>(number(option));
      if (wrong_.empty() && (to_.jobs == 0 || to_.jobs > most_jobs)) {
        wrong_ = fmt::format("--jobs takes a number from 1 to {}", most_jobs);
      }
    } else if (option == "--json") {
      to_.json_file = word(option, "the name of a file");
    } else if (option == "--html") {
      to_.html_dir = word(option, "the name of a folder");
    } else if (option == "--title") {
      to_.title = word(option, "a name");
    } else if (option == "--replay") {
      to_.replay = word(option, "a command");
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
  s.orders().weaken(options.weakened);
  for (const std::string& file : options.ledger_of) s.orders().include_file(file);
}

std::string option_of_command(const run_options& options) {
  if (options.ledger) return "--ledger";
  if (!options.json_file.empty()) return "--json";
  return options.html_dir.empty() ? "" : "--html";
}

std::string read_options(std::string_view words, run_options& to) { return reader(words, to).read(); }

}  // namespace runq::model::compiled
