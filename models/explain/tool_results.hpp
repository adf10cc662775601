// SPDX-License-Identifier: MIT
// What a tool has found about programs, as files and as pages: JSON, SARIF 2.1.0, which reviews show at the lines,
// JUnit's XML. The exact checker and the explorer both write them.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace runq::model {

/// Of one program, or of one of its tests.
struct tool_result {
  std::string name;
  int status = 2;            ///< 0: nothing fails; 1: something does; 2: no verdict
  std::string headline;      ///< the verdict in one line, without a line end
  std::string text;          ///< all there is to say, with line ends
  nlohmann::json result;     ///< of the search, as result_json() writes it; null: there is none
  std::string search;        ///< what kind of search it was
  std::string engine;        ///< what has made it
  std::string command;       ///< shows it again
  nlohmann::json more = {};  ///< further members of its entry in the results
};

struct tool_results {
  std::string tool;  ///< the name of the command
  int status = 2;
  std::string headline;
  std::vector<tool_result> each;
  nlohmann::json ledger = nlohmann::json::array();
};

[[nodiscard]] std::string sarif_of(const tool_results& all);
[[nodiscard]] std::string junit_of(const tool_results& all);
/// In the form of the results of ./kit verify, so that the same pages show them.
[[nodiscard]] nlohmann::json results_of(const tool_results& all);

/// Where results are to be written; an empty name: not at all.
struct result_files {
  std::string json, html_dir, sarif, junit;
};
/// Before a long search: whether there will be room for its results. Returns what is wrong, or an empty text.
[[nodiscard]] std::string prepare_results(const result_files& files);
/// Writes them, and `as_json` as JSON. Returns what is wrong, or an empty text.
[[nodiscard]] std::string write_results(const tool_results& all, const nlohmann::json& as_json,
                                        const result_files& files);

}  // namespace runq::model
