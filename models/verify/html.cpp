// SPDX-License-Identifier: MIT
#include "html.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "html/common.hpp"
#include "html/overview.hpp"
#include "html/timeline.hpp"

namespace runq::model {

namespace {

using nlohmann::json;

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw std::runtime_error("cannot write " + path.string());
}

[[nodiscard]] std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// A litmus test comes as one search with a result per engine; from here on it is a search per engine, as in a case.
// With load buffering, the exact engine is expected to show what C++20 allows, no less and no more.
void append_by_engine(json& searches, const json& search) {
  for (const auto& [engine, result] : html::object(search, "result").items()) {
    if (!result.is_object()) continue;
    json one = search;
    one["engine"] = engine;
    one["result"] = result;
    if (engine == "load buffering") one["litmus"][engine] = html::flag(html::object(search, "litmus"), "cpp20");
    searches.push_back(std::move(one));
  }
}

[[nodiscard]] json by_engine(const json& report) {
  json searches = json::array();
  for (const json& search : html::list(report, "searches")) {
    const json& result = html::object(search, "result");
    if (html::is_litmus(search) && !result.contains("what") && !result.contains("error")) {
      append_by_engine(searches, search);
    } else {
      searches.push_back(search);
    }
  }
  json changed = report.is_object() ? report : json::object();
  changed["searches"] = std::move(searches);
  return changed;
}

/// A name that no other search has yet, for two searches may differ only in characters that a file name cannot have, or
/// in their engine. Compared without regard to case, because some file systems do.
[[nodiscard]] std::string unused_name(const std::string& wanted, std::set<std::string>& used) {
  std::string name = wanted;
  for (unsigned i = 2; !used.insert(lower_case(name)).second; ++i) name = fmt::format("{}-{}", wanted, i);
  return name + ".html";
}

[[nodiscard]] std::vector<std::string> page_names(const json& searches) {
  std::vector<std::string> names;
  std::set<std::string> used{"index"};
  for (const json& search : searches) {
    const std::string wanted = html::file_name(html::text(search, "case") + "-" + html::label_of(search) +
                                               (html::is_litmus(search) ? "-" + html::engine_of(search) : ""));
    names.push_back(html::has_trace(search) ? unused_name(wanted, used) : "");
  }
  return names;
}

}  // namespace

void write_html(const std::string& dir, const json& raw_report) {
  const json report = by_engine(raw_report);
  const std::filesystem::path folder(dir);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw std::runtime_error(fmt::format("cannot make the folder {}: {}", dir, error.message()));
  const json& searches = html::list(report, "searches");
  const std::vector<std::string> pages = page_names(searches);
  for (std::size_t i = 0; i != pages.size(); ++i) {
    if (!pages[i].empty()) write_file(folder / pages[i], html::timeline_page(searches[i], report));
  }
  write_file(folder / "index.html", html::overview_page(report, pages));
}

}  // namespace runq::model
