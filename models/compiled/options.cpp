// SPDX-License-Identifier: MIT
#include "options.hpp"

#include <algorithm>
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
constexpr int most_size = 1000;

/// The options of one call, read one after the other.
class reader {
 public:
  reader(std::string_view words, run_options& to) : words_(split(words)), to_(to) {}

  [[nodiscard]] std::string read() {
    while (next_ != words_.size() && wrong_.empty()) take(words_[next_++]);
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
    if (search.all_failures && (search.walks != 0 || search.load_buffering || search.show_execution != 0 || to_.ledger))
      return "--all-failures goes with none of --sample, --load-buffering, --execution and --ledger";
    if (!to_.accepted.is_empty() && (search.show_execution != 0 || to_.ledger))
      return "races are accepted by several searches: --accept goes with neither --execution nor --ledger";
    return {};
  }

  /// Reads the option by its line of the table, in which these names stand: to_, search, limits, and the functions
  /// below.
  void take(std::string_view option) {
    exact_options& search = to_.search;
    bounds& limits = to_.limits;
    option_ = option;
#define OPTION(name, value, what, read, help) \
  if (option == (name)) {                     \
    needs_ = what;                            \
    read;                                     \
    return;                                   \
  }
#define COMMAND_OPTION(name, value, what, read, help)                      \
  if (option == (name) && to_.of_command.empty()) to_.of_command = option; \
  OPTION(name, value, what, read, help)
#define INTERNAL_OPTION(name, value, what, read, help) OPTION(name, value, what, read, help)
#define TOOL_OPTION(name, value, what, read, help)
#include "options_table.hpp"
#undef OPTION
#undef COMMAND_OPTION
#undef INTERNAL_OPTION
#undef TOOL_OPTION
    wrong_ = fmt::format("there is no option '{}'", option);
  }

  // --- what the lines of the table call: each reads the value of the option, if it has one

  static void flag(bool& to, bool value = true) { to = value; }
  void text(std::string& to) { to = word(); }
  void on_or_off(bool& to) {
    const std::string_view value = word();
    if (wrong_.empty() && value != "on" && value != "off")
      wrong_ = fmt::format("{} takes on or off, not '{}'", option_, value);
    to = value != "off";
  }
  void skip_retries() {
    const std::string_view value = word();
    if (wrong_.empty() && value != "on" && value != "reading" && value != "off")
      wrong_ = fmt::format("{} takes on, reading or off, not '{}'", option_, value);
    to_.search.skips_retries = value != "off";
    to_.search.skips_undone_rounds = value == "on";
  }
  void keep_rounds() {
    const std::string_view value = word();
    if (wrong_.empty() && value != "late" && value != "on" && value != "off")
      wrong_ = fmt::format("{} takes late, on or off, not '{}'", option_, value);
    to_.search.keeps_rounds = value == "on";
    to_.search.keeps_rounds_if_late = value == "late";
  }
  template <class Number>
  void number(Number& to, std::uint64_t most = ~std::uint64_t{0}) {
    const std::string_view text = word();
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (wrong_.empty() && (error != std::errc{} || end != text.data() + text.size())) {
      wrong_ = fmt::format("{} needs a number, not '{}'", option_, text);
    }
    if (wrong_.empty() && value > most) wrong_ = fmt::format("{} takes a number up to {}", option_, most);
    to = static_cast<Number>(value);
  }
  void walks() {
    number(to_.search.walks);
    if (wrong_.empty() && to_.search.walks == 0) wrong_ = "--sample takes a number of walks, at least 1";
  }
  void spurious() {
    number(to_.search.spurious_failures);
    to_.limits.spurious_failures = to_.search.spurious_failures;
    to_.search.spurious_of_thread = 0;
  }
  /// Without loops that are recognised, each failure in one would be another execution.
  void every_iteration() {
    to_.every_iteration = true;
    to_.search.spurious_of_thread = 0;
  }
  void wakeups() {
    number(to_.limits.spurious_wakeups);
    to_.limits.wakes_at_once_only = false;
  }
  void weakening() {
    const std::string_view change = word();
    if (wrong_.empty()) wrong_ = read_order_change(change, to_.weakened);
  }
  void all_failures() {
    number(to_.most_failures);
    to_.search.all_failures = true;
    if (wrong_.empty() && to_.most_failures == 0) wrong_ = "--all-failures takes a number of failures, at least 1";
  }
  void accept() {
    const std::string_view race = word();
    if (wrong_.empty()) wrong_ = to_.accepted.add(race, "");
  }
  void accept_from() {
    const std::string file(word());
    if (wrong_.empty()) wrong_ = to_.accepted.add_from(file);
  }
  void plain_as_relaxed() {
    const std::string_view text = word();
    code_line at;
    if (wrong_.empty() && !read_code_line(text, at)) {
      wrong_ = fmt::format("{} takes FILE:LINE, as queue.cpp:42, not '{}'", option_, text);
    }
    to_.relaxed.push_back(at);
  }
  void ledger_of() {
    to_.ledger = true;
    to_.ledger_of.emplace_back(word());
  }
  void wrapper() { to_.wrappers.emplace_back(word()); }
  void jobs() {
    number(to_.jobs);
    if (wrong_.empty() && (to_.jobs == 0 || to_.jobs > most_jobs)) {
      wrong_ = fmt::format("--jobs takes a number from 1 to {}", most_jobs);
    }
  }
  /// "-1..3"
  void values() {
    const std::string_view text = word();
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
  /// The value of the option.
  [[nodiscard]] std::string_view word() {
    if (next_ != words_.size() && !words_[next_].empty()) return words_[next_++];
    wrong_ = fmt::format("{} needs {}", option_, needs_);
    return {};
  }
  [[nodiscard]] static bool read_number(std::string_view text, std::int64_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size();
  }
  /// "producers=2,rounds=1"
  void sizes() {
    std::string_view left = word();
    const std::string all(left);
    while (!left.empty() && wrong_.empty()) {
      const std::string_view one = left.substr(0, left.find(','));
      left.remove_prefix(std::min(left.size(), one.size() + 1));
      const std::size_t equals = std::min(one.find('='), one.size());
      std::int64_t value = 0;
      const bool read = equals != 0 && equals < one.size() && read_number(one.substr(equals + 1), value);
      if (!read || value < 0 || value > most_size) {
        wrong_ = fmt::format("{} takes NAME=N, or several with commas between, N up to {}, not '{}'", option_,
                             most_size, all);
      }
      to_.sizes.emplace_back(one.substr(0, equals), static_cast<int>(value));
    }
  }
  void path() {
    const std::string_view text = word();
    const std::size_t slash = std::min(text.find('/'), text.size());
    std::optional<exact::full_way> read = to_full_path(text.substr(0, slash));
    std::int64_t failure = 0;
    if (slash != text.size() && (!read_number(text.substr(slash + 1), failure) || failure < 0)) read.reset();
    to_.search.shown_failure = static_cast<unsigned>(failure);
    if (wrong_.empty() && !read)
      wrong_ = fmt::format("--path takes numbers with dots between, as 0.3.1, not '{}'", text);
    to_.has_path = read.has_value();
    if (read) to_.path = *read;
  }

  std::vector<std::string_view> words_;
  std::size_t next_ = 0;
  std::string_view option_;  ///< that is being read
  std::string_view needs_;   ///< what people are told that it needs
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

std::string path_text(const exact::full_way& path) {
  std::string text;
  for (const exact::way& w : path.larger_at) text += path_text(w) + '+';
  return text + path_text(path.last);
}

std::optional<exact::full_way> to_full_path(std::string_view text) {
  exact::full_way path;
  for (;;) {
    const std::size_t plus = std::min(text.find('+'), text.size());
    std::optional<exact::way> one = to_path(text.substr(0, plus));
    if (!one) return {};
    if (plus == text.size()) {
      path.last = std::move(*one);
      return path;
    }
    path.larger_at.push_back(std::move(*one));
    text.remove_prefix(plus + 1);
  }
}

bounds limits_of(const run_options& options) {
  bounds limits = options.limits;
  limits.spurious_of_thread = options.search.spurious_of_thread;
  return limits;
}

void prepare(session& s, const run_options& options) {
  s.options().counts_leaks = options.leaks;
  choose_sizes(options.sizes);
  s.waits().recognise_loops(!options.every_iteration);
  s.limits() = limits_of(options);
  if (options.has_path) s.options().shown = options.path;
  s.code().orders().weaken(options.weakened);
  for (const std::string& file : options.wrappers) s.code().show_callers_of(file);
  for (const code_line& l : options.relaxed) s.relaxed().add(l);
  if (options.volatile_is_relaxed) s.relaxed().add_volatile();
  if (options.search.all_failures && !options.has_path) s.failures().keep(options.most_failures);
  if (!options.executed_file.empty()) s.code().executed().record();
  for (const std::string& file : options.ledger_of) s.code().orders().include_file(file);
}

std::string not_shared_out(const run_options& options) {
  const exact_options& search = options.search;
  const char* const option = options.ledger                   ? "--ledger"
                             : !options.executed_file.empty() ? "--coverage"
                             : search.all_failures            ? "--all-failures"
                             : !options.accepted.is_empty()   ? "--accept"
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
