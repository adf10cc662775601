// SPDX-License-Identifier: MIT
#include "results.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "html.hpp"
#include "tool_results.hpp"

namespace runq::model::compiled {

namespace {

using nlohmann::json;

[[nodiscard]] const char* outcome_of(const answer& a) {
  return a.status == 0 ? "passed" : a.status == 1 ? "failed" : "no verdict";
}

/// What kind of search it was: one that a limit has cut short was meant to be exhaustive.
[[nodiscard]] std::string search_of(const json& result) {
  const std::string how = result["how"];
  return how == "cut_short" ? "exhaustive" : how;
}

[[nodiscard]] json search(const answer& a, const run_options& options) {
  json s = {{"case", options.title},
            {"search", a.result == nullptr ? "exhaustive" : search_of(*a.result)},
            {"label", "main()"},
            {"engine", "exact"},
            {"expect", "pass"},
            {"command", options.replay},
            {"result", a.result == nullptr ? json{{"error", a.headline}} : *a.result},
            {"outcome", outcome_of(a)},
            {"verdict", a.headline}};
  if (options.weakened.line != 0) s["weakened"] = to_text(options.weakened);
  return s;
}

/// In the form of the results of ./kit verify, so that the same pages show them.
[[nodiscard]] json results_of(const answer& a, const run_options& options) {
  json searches = json::array();
  for (const answer& one : a.each) searches.push_back(search(one, options));
  if (a.ledger == nullptr && a.each.empty()) searches.push_back(search(a, options));
  return {{"version", RUNQ_VERSION_TEXT},
          {"searches", searches},
          {"problems", json::array()},
          {"failed", a.status == 0 ? 0 : 1},
          {"status", a.status},
          {"verdict", a.headline},
          {"ledger", a.ledger == nullptr ? json::array() : *a.ledger}};
}

}  // namespace

std::string prepare_results(const run_options& options) {
  for (const std::string& file : {options.json_file, options.sarif_file, options.junit_file}) {
    if (!file.empty() && !std::ofstream(file)) return "cannot write " + file;
  }
  if (options.html_dir.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(options.html_dir, error);
  return error ? fmt::format("cannot make the folder {}: {}", options.html_dir, error.message()) : "";
}

std::string write_results(const answer& a, const run_options& options) {
  std::string wrong;
  const auto write = [&wrong](const std::string& file, auto&& make_text) {
    if (file.empty() || !wrong.empty()) return;
    std::ofstream out(file);
    out << make_text();
    out.close();
    if (!out) wrong = "cannot write " + file;
  };
  write(options.json_file,
        [&] { return results_of(a, options).dump(1, ' ', false, json::error_handler_t::replace) + "\n"; });
  write(options.sarif_file, [&] { return sarif_of(a); });
  write(options.junit_file, [&] { return junit_of(a, options); });
  if (options.html_dir.empty() || !wrong.empty()) return wrong;
  try {
    write_html(options.html_dir, results_of(a, options));
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return {};
}

}  // namespace runq::model::compiled
