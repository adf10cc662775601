// SPDX-License-Identifier: MIT
#include "tool_results.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "children.hpp"

namespace runq::model::compiled {

namespace {

using nlohmann::json;

/// Relative to the folder in which the command runs, if the file is within it.
[[nodiscard]] std::string uri_of(const std::string& file) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path here = fs::current_path(error);
  const fs::path inside = fs::path(file).lexically_relative(here);
  const bool is_inside = !error && !inside.empty() && *inside.begin() != "..";
  std::string text = fs::path(file).is_relative() || is_inside ? "" : "file://";
  constexpr std::string_view plain = "/-._~+:";
  for (const char c : is_inside ? inside.string() : file) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = std::isalnum(byte) != 0 || plain.find(c) != std::string_view::npos;
    text += is_plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return text;
}

[[nodiscard]] json location_of(const json& step, const std::string& text) {
  json at = {{"artifactLocation", {{"uri", uri_of(step["file"])}}}, {"region", {{"startLine", step["line"]}}}};
  return {{"physicalLocation", at}, {"message", {{"text", text}}}};
}

[[nodiscard]] bool has_place(const json& step) { return step["line"] != 0; }

/// The step that fails, the one that it is not ordered with, and the whole execution.
[[nodiscard]] json finding(const answer& a) {
  const json& r = *a.result;
  const std::string what = r["what"];
  json found = {{"ruleId", what}, {"level", "error"}, {"message", {{"text", a.headline}}}};
  if (r.contains("why")) {
    found["message"]["text"] = fmt::format("{}\nwhy: {}", a.headline, r["why"].get<std::string>());
  }
  const json& trace = r["trace"];
  if (!trace.empty() && has_place(trace.back())) found["locations"] = json::array({location_of(trace.back(), what)});
  if (r.contains("unordered") && has_place(trace[r["unordered"].get<std::size_t>()])) {
    found["relatedLocations"] = json::array({location_of(trace[r["unordered"].get<std::size_t>()], "the other one")});
  }
  json steps = json::array();
  for (const json& step : trace) {
    if (!has_place(step)) continue;
    steps.push_back({{"location", location_of(step, fmt::format("T{}: {}", step["thread"].get<int>(),
                                                                step["kind"].get<std::string>()))}});
  }
  found["codeFlows"] = json::array({{{"threadFlows", json::array({{{"locations", steps}}})}}});
  return found;
}

[[nodiscard]] std::vector<const answer*> all_of(const answer& a) {
  std::vector<const answer*> all;
  for (const answer& one : a.each) all.push_back(&one);
  if (all.empty()) all.push_back(&a);
  return all;
}

/// Without what XML cannot hold.
[[nodiscard]] std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default:
        if (static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\t') result += c;
    }
  }
  return result;
}

}  // namespace

std::string sarif_of(const answer& a) {
  json results = json::array();
  for (const answer* const one : all_of(a)) {
    if (one->status == 1 && one->result != nullptr && one->result->contains("trace")) results.push_back(finding(*one));
  }
  const json driver = {{"name", "runq-check"}, {"version", RUNQ_VERSION_TEXT}};
  const json invocation = {{"executionSuccessful", a.status != 2},
                           {"toolExecutionNotifications", json::array({{{"message", {{"text", a.headline}}}}})}};
  json run = {{"tool", {{"driver", driver}}}};
  run["invocations"] = json::array({invocation});
  run["results"] = std::move(results);
  return sent({{"version", "2.1.0"}, {"runs", json::array({run})}}) + "\n";
}

std::string junit_of(const answer& a, const run_options& options) {
  std::string cases;
  unsigned number = 0;
  for (const answer* const one : all_of(a)) {
    ++number;
    const std::string name = a.each.empty() ? options.title : fmt::format("{}, failure {}", options.title, number);
    const char* const kind = one->status == 1 ? "failure" : "error";
    cases += fmt::format("  <testcase classname=\"runq-check\" name=\"{}\">\n", escaped(name));
    if (one->status == 0) cases += fmt::format("    <system-out>{}</system-out>\n", escaped(one->text));
    if (one->status != 0) {
      cases += fmt::format("    <{0} message=\"{1}\">{2}</{0}>\n", kind, escaped(one->headline), escaped(one->text));
    }
    cases += "  </testcase>\n";
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"runq-check\" tests=\"{}\" failures=\"{}\" "
      "errors=\"{}\">\n{}</testsuite>\n",
      number, a.status == 1 ? number : 0, a.status == 2 ? 1 : 0, cases);
}

}  // namespace runq::model::compiled
