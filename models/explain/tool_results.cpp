// SPDX-License-Identifier: MIT
#include "tool_results.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "html.hpp"

namespace runq::model {

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

/// The step that fails, the one that it is not ordered with, and the whole execution, where one is known.
[[nodiscard]] json finding(const tool_result& one) {
  const json& r = one.result;
  const std::string what = r["what"];
  json found = {{"ruleId", what}, {"level", "error"}, {"message", {{"text", one.headline}}}};
  if (r.contains("why")) {
    found["message"]["text"] = fmt::format("{}\nwhy: {}", one.headline, r["why"].get<std::string>());
  }
  const json trace = r.value("trace", json::array());
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
  // SARIF allows no flow without a place.
  if (!steps.empty()) found["codeFlows"] = json::array({{{"threadFlows", json::array({{{"locations", steps}}})}}});
  return found;
}

[[nodiscard]] const char* outcome_of(const tool_result& a) {
  return a.status == 0 ? "passed" : a.status == 1 ? "failed" : "no verdict";
}

[[nodiscard]] std::string dumped(const json& j, int indent) {
  return j.dump(indent, ' ', false, json::error_handler_t::replace) + "\n";
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

std::string sarif_of(const tool_results& all) {
  json results = json::array();
  for (const tool_result& one : all.each) {
    if (one.status == 1 && one.result.contains("what")) results.push_back(finding(one));
  }
  const json driver = {{"name", all.tool}, {"version", RUNQ_VERSION_TEXT}};
  const json invocation = {{"executionSuccessful", all.status != 2},
                           {"toolExecutionNotifications", json::array({{{"message", {{"text", all.headline}}}}})}};
  json run = {{"tool", {{"driver", driver}}}};
  run["invocations"] = json::array({invocation});
  run["results"] = std::move(results);
  return dumped({{"version", "2.1.0"}, {"runs", json::array({run})}}, -1);
}

std::string junit_of(const tool_results& all) {
  std::string cases;
  const auto count = [&all](int status) {
    return std::count_if(all.each.begin(), all.each.end(), [&](const tool_result& r) { return r.status == status; });
  };
  for (const tool_result& one : all.each) {
    const char* const kind = one.status == 1 ? "failure" : "error";
    cases += fmt::format("  <testcase classname=\"{}\" name=\"{}\">\n", all.tool, escaped(one.name));
    if (one.status == 0) cases += fmt::format("    <system-out>{}</system-out>\n", escaped(one.text));
    if (one.status != 0) {
      cases += fmt::format("    <{0} message=\"{1}\">{2}</{0}>\n", kind, escaped(one.headline), escaped(one.text));
    }
    cases += "  </testcase>\n";
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" "
      "errors=\"{}\">\n{}</testsuite>\n",
      all.tool, all.each.size(), count(1), count(2), cases);
}

json results_of(const tool_results& all) {
  json searches = json::array();
  for (const tool_result& one : all.each) {
    json s = {
        {"case", one.name},           {"search", one.search},
        {"label", "main()"},          {"engine", one.engine},
        {"kind", "search"},           {"expect", "pass"},
        {"command", one.command},     {"result", one.result.is_null() ? json{{"error", one.headline}} : one.result},
        {"outcome", outcome_of(one)}, {"verdict", one.headline}};
    if (!one.more.is_null()) s.update(one.more);
    searches.push_back(std::move(s));
  }
  return {{"version", RUNQ_VERSION_TEXT},
          {"of", all.tool},
          {"searches", searches},
          {"problems", json::array()},
          {"failed", all.status == 0 ? 0 : 1},
          {"status", all.status},
          {"verdict", all.headline},
          {"ledger", all.ledger}};
}

std::string prepare_results(const result_files& files) {
  for (const std::string& file : {files.json, files.sarif, files.junit}) {
    if (!file.empty() && !std::ofstream(file)) return "cannot write " + file;
  }
  if (files.html_dir.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(files.html_dir, error);
  return error ? fmt::format("cannot make the folder {}: {}", files.html_dir, error.message()) : "";
}

std::string write_results(const tool_results& all, const json& as_json, const result_files& files) {
  std::string wrong;
  const auto write = [&wrong](const std::string& file, auto&& make_text) {
    if (file.empty() || !wrong.empty()) return;
    std::ofstream out(file);
    out << make_text();
    out.close();
    if (!out) wrong = "cannot write " + file;
  };
  write(files.json, [&] { return dumped(as_json, 1); });
  write(files.sarif, [&] { return sarif_of(all); });
  write(files.junit, [&] { return junit_of(all); });
  if (files.html_dir.empty() || !wrong.empty()) return wrong;
  try {
    write_html(files.html_dir, results_of(all));
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return {};
}

}  // namespace runq::model
