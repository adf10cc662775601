// SPDX-License-Identifier: MIT
#include "results.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tool_results.hpp"

namespace runq::model::compiled {

namespace {

using nlohmann::json;

/// What kind of search it was: one that a limit has cut short was meant to be exhaustive.
[[nodiscard]] std::string search_of(const answer& a) {
  const std::string how = a.result == nullptr ? "exhaustive" : (*a.result)["how"];
  return how == "cut_short" ? "exhaustive" : how;
}

[[nodiscard]] tool_result result_of(const answer& a, std::string name, const run_options& options) {
  tool_result one{std::move(name), a.status, a.headline,    a.text, a.result == nullptr ? json() : *a.result,
                  search_of(a),    "exact",  options.replay};
  if (options.weakened.line != 0) one.more = {{"weakened", to_text(options.weakened)}};
  return one;
}

[[nodiscard]] tool_results results_of(const answer& a, const run_options& options) {
  tool_results all{"runq-check", a.status, a.headline, {}};
  for (const answer& one : a.each) {
    all.each.push_back(result_of(one, fmt::format("{}, failure {}", options.title, all.each.size() + 1), options));
  }
  if (a.each.empty()) all.each.push_back(result_of(a, options.title, options));
  if (a.ledger != nullptr) all.ledger = *a.ledger;
  return all;
}

[[nodiscard]] result_files files_of(const run_options& options) {
  return {options.json_file, options.html_dir, options.sarif_file, options.junit_file};
}

/// With a ledger, its rows are the result; and what is one of several failures is named in files for tests only.
[[nodiscard]] tool_results for_pages(tool_results all, const answer& a, const run_options& options) {
  if (a.ledger != nullptr && a.each.empty()) all.each.clear();
  for (tool_result& one : all.each) one.name = options.title;
  return all;
}

}  // namespace

std::string prepare_results(const run_options& options) { return model::prepare_results(files_of(options)); }

std::string write_results(const answer& a, const run_options& options) {
  const tool_results all = results_of(a, options);
  const tool_results pages = for_pages(all, a, options);
  result_files for_tools = files_of(options);
  result_files for_people{for_tools.json, for_tools.html_dir, "", ""};
  for_tools.json = for_tools.html_dir = "";
  const std::string wrong = model::write_results(pages, model::results_of(pages), for_people);
  return wrong.empty() ? model::write_results(all, {}, for_tools) : wrong;
}

}  // namespace runq::model::compiled
