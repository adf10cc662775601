// SPDX-License-Identifier: MIT
#include "options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace runq::model::compiled {

namespace {

/// Between line ends a word may be empty. Between spaces no word is empty.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text) {
  const char separator = text.find('\n') == std::string_view::npos ? ' ' : '\n';
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    if (end != 0 || separator == '\n') words.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return words;
}

constexpr unsigned most_jobs = 64;
/// Options that a check in a test does not have.
constexpr std::array<std::string_view, 5> of_command{"--ledger", "--ledger-of", "--jobs", "--json", "--html"};

/// The options of one call, read one after the other.
class reader {
 public:
  reader(std::string_view words, run_options& to) : words_(split(words)), to_(to) {}

  [[nodiscard]] std::string read() {
    while (next_ != words_.size() && wrong_.empty()) {
      const std::string_view option = words_[next_++];
      const bool is_of_command = std::find(of_command.begin(), of_command.end(), option) != of_command.end();
      if (is_of_command && to_.of_command.empty()) to_.of_command = option;
      take(option);
    }
    if (wrong_.empty()) wrong_ = conflict();
    if (wrong_.empty() && to_.ledger && (to_.weakened.line != 0 || to_.search.show_execution != 0)) {
      wrong_ = "--ledger makes many checks: it goes with neither --weaken nor --execution";
    }
    if (wrong_.empty() && to_.ledger && !to_.executed_file.empty()) {
      wrong_ = "--ledger makes many checks, and --coverage tells of one: choose one";
    }
    return wrong_;
  }

 private:
  [[nodiscard]] std::string conflict() const {
    const exact_options& search = to_.search;
    const bool bounded = search.bound != exact_options::no_bound;
    if (search.walks != 0 && bounded) return "--sample and --bound are two ways not to explore everything: choose one";
    if (search.load_buffering && bounded)
      return "--bound does not go with --load-buffering: executions have several ways";
    if (to_.has_path && (search.walks != 0 || search.show_execution != 0 || to_.ledger)) {
      return "--path shows one execution: it goes with none of --sample, --execution and --ledger";
    }
    return {};
  }

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
    } else if (option == "--bound") {
      search.bound = static_cast<unsigned>(number(option, exact_options::no_bound - 1));
    } else if (option == "--sample") {
      search.walks = number(option);
      if (wrong_.empty() && search.walks == 0) wrong_ = "--sample takes a number of walks, at least 1";
    } else if (option == "--seed") {
      search.seed = number(option);
    } else if (option == "--path") {
      read_path(word(option, "the path that a failure shows, as 0.3.1"));
    } else if (option == "--spurious-wakeups") {
      to_.limits.spurious_wakeups = static_cast<unsigned>(number(option));
      to_.limits.wakes_at_once_only = false;
    } else if (option == "--reuse") {
      to_.limits.reused = static_cast<unsigned>(number(option));
    } else if (option == "--nondet") {
      read_values(word(option, "a range, as 0..3"));
    } else if (option == "--timeouts") {
      to_.limits.timeouts = static_cast<unsigned>(number(option));
    } else if (option == "--judge-timed-waits") {
      to_.limits.judges_timed_waits = true;
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
    } else if (option == "--executed") {
      to_.executed_file = word(option, "the name of a file");
    } else if (option == "--without-assertions") {
      to_.without_assertions = true;
    } else if (option == "--title") {
      to_.title = word(option, "a name");
    } else if (option == "--replay") {
      to_.replay = word(option, "a command");
    } else {
      wrong_ = fmt::format("there is no option '{}'", option);
    }
  }

  [[nodiscard]] std::string_view word(std::string_view option, std::string_view what) {
    if (next_ != words_.size() && !words_[next_].empty()) return words_[next_++];
    wrong_ = fmt::format("{} needs {}", option, what);
    return {};
  }
  [[nodiscard]] std::uint64_t number(std::string_view option, std::uint64_t most = ~std::uint64_t{0}) {
    const std::string_view text = word(option, "a number");
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (wrong_.empty() && (error != std::errc{} || end != text.data() + text.size())) {
      wrong_ = fmt::format("{} needs a number, not '{}'", option, text);
    }
    if (wrong_.empty() && value > most) wrong_ = fmt::format("{} takes a number up to {}", option, most);
    return value;
  }
  /// "-1..3"
  void read_values(std::string_view text) {
    value_range range;
    const std::string_view::size_type dots = text.find("..");
    const bool read = dots != std::string_view::npos && read_number(text.substr(0, dots), range.first) &&
                      read_number(text.substr(dots + 2), range.last);
    if (!wrong_.empty()) return;
    if (!read || range.first > range.last) {
      wrong_ = fmt::format("--nondet takes a range, as 0..3, not '{}'", text);
    } else if (static_cast<std::uint64_t>(range.last) - static_cast<std::uint64_t>(range.first) >=
               bounds::most_values) {
      wrong_ = fmt::format("--nondet takes a range of at most {} values", bounds::most_values);
    } else {
      to_.limits.any_value = range;
    }
  }
  [[nodiscard]] static bool read_number(std::string_view text, std::int64_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size();
  }
  void read_path(std::string_view text) {
    const std::optional<exact::way> read = to_path(text);
    if (wrong_.empty() && !read)
      wrong_ = fmt::format("--path takes numbers with dots between, as 0.3.1, not '{}'", text);
    to_.has_path = read.has_value();
    if (read) to_.path = *read;
  }

  std::vector<std::string_view> words_;
  std::size_t next_ = 0;
  run_options& to_;
  std::string wrong_;
};

}  // namespace

std::string path_text(const exact::way& path) { return path.empty() ? "-" : fmt::format("{}", fmt::join(path, ".")); }

std::optional<exact::way> to_path(std::string_view text) {
  exact::way path;
  if (text == "-") return path;
  for (const char* at = text.data();; ++at) {
    std::uint32_t taken = 0;
    const auto [end, error] = std::from_chars(at, text.data() + text.size(), taken);
    if (error != std::errc{}) return {};
    path.push_back(taken);
    at = end;
    if (at == text.data() + text.size()) return path;
    if (*at != '.') return {};
  }
}

void prepare(session& s, const run_options& options) {
  s.count_leaks(options.leaks);
  s.recognise_waiting(!options.every_iteration);
  s.set_bounds(options.limits);
  if (options.has_path) s.show_only(options.path);
  s.orders().weaken(options.weakened);
  if (!options.executed_file.empty()) s.executed().record();
  for (const std::string& file : options.ledger_of) s.orders().include_file(file);
}

std::string not_shared_out(const run_options& options) {
  const exact_options& search = options.search;
  const char* const option = options.ledger                   ? "--ledger"
                             : !options.executed_file.empty() ? "--coverage"
                             : search.walks != 0              ? "--sample"
                             : search.show_execution != 0     ? "--execution"
                             : options.has_path               ? "--path"
                             : search.load_buffering          ? "--load-buffering"
                             : search.check_duplicates        ? "--check-duplicates"
                                                              : nullptr;
  return option == nullptr ? "" : fmt::format("{} is for one process: leave out --jobs, or mpirun", option);
}

std::string read_options(std::string_view words, run_options& to) { return reader(words, to).read(); }

}  // namespace runq::model::compiled
