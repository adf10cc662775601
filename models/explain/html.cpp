// SPDX-License-Identifier: MIT
#include "html.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "html/describe.hpp"
#include "html/execution.hpp"

namespace runq::model {

namespace {

using namespace html;

/// html/page.html, which draws the data that stand in the place of "@DATA@".
constexpr std::string_view page_template =
#include "runq_page.inc"
    ;

// ----- the names of the pages

[[nodiscard]] bool fits_file_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
}

/// Only letters, digits and ".", "_", "-".
[[nodiscard]] std::string file_name(std::string_view raw) {
  constexpr std::size_t longest = 150;  // file systems allow 255 bytes; a number and ".html" follow
  std::string safe;
  for (const char c : raw.substr(0, longest)) {
    if (fits_file_name(c)) {
      safe += c;
    } else if (!safe.empty() && safe.back() != '-') {
      safe += '-';
    }
  }
  // Neither hidden, nor taken for an option.
  while (!safe.empty() && (safe.front() == '.' || safe.front() == '-')) safe.erase(0, 1);
  while (!safe.empty() && safe.back() == '-') safe.pop_back();
  return safe.empty() ? "trace" : safe;
}

[[nodiscard]] std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// A name that no other search has yet, for two searches may differ only in characters that a file name cannot have, or
/// in their engine. Compared without regard to case, because some file systems do.
[[nodiscard]] std::string unused_name(const std::string& wanted, std::set<std::string>& used) {
  std::string name = wanted;
  for (unsigned i = 2; !used.insert(lower_case(name)).second; ++i) name = fmt::format("{}-{}", wanted, i);
  return name + ".html";
}

/// Adds "page", the name of its page, to each search that has a trace.
void name_pages(json& searches) {
  std::set<std::string> used{"index"};
  for (json& search : searches) {
    if (list(object(search, "result"), "trace").empty()) continue;
    std::string wanted = text(search, "case") + "-" + text(search, "label");
    if (text(search, "kind") == "litmus") wanted += "-" + text(search, "engine");
    search["page"] = unused_name(file_name(wanted), used);
  }
}

// ----- what stands in the pages

/// The order as it is in the shipped header, where the ledger knows it.
[[nodiscard]] std::string shipped_order(const json& search, const json& ledger) {
  const std::string site = changed_site(search);
  for (const json& row : ledger) {
    if (!site.empty() && text(row, "site") == site) return text(row, "written");
  }
  return {};
}

[[nodiscard]] json timeline_data(const json& search, const json& ledger) {
  json data = execution_json(search);
  data["page"] = "timeline";
  data["search"] = search;
  data["shipped"] = shipped_order(search, ledger);
  data["replay"] = replay_of(search);
  for (const char* key : {"trace", "cases"}) data["search"]["result"].erase(key);
  return data;
}

/// The page of the mutant that makes the same change in the same case, if it was run.
[[nodiscard]] std::string page_of(const json& row, const json& searches) {
  for (const json& s : searches) {
    const std::string kind = text(s, "kind");
    if (kind != "search" && kind != "litmus" && s.contains("page") && text(s, "case") == text(row, "case") &&
        changed_site(s) == text(row, "site") && text(s, "changed").ends_with(text(row, "weaker"))) {
      return s["page"];
    }
  }
  return {};
}

/// How many searches of cases under a mutant were cut off before they found anything.
[[nodiscard]] unsigned undecided(const json& searches) {
  unsigned n = 0;
  for (const json& s : searches) {
    if (text(s, "kind") != "mutant") continue;
    for (const json& c : list(object(s, "result"), "cases")) {
      n += text(c, "what") == "none" && text(c, "how") == "cut_short" ? 1 : 0;
    }
  }
  return n;
}

[[nodiscard]] json only(const json& from, std::initializer_list<const char*> keys) {
  json some = json::object();
  for (const char* key : keys) {
    if (from.contains(key)) some[key] = from[key];
  }
  return some;
}

[[nodiscard]] json index_data(json report) {
  json& searches = report["searches"];
  add_totals(report);
  report["page"] = "index";
  report["undecided"] = undecided(searches);
  for (json& row : report["ledger"]) row["page"] = page_of(row, searches);
  for (json& s : searches) {
    json result = only(s["result"], {"executions", "blocked", "seconds", "what", "message", "by", "where", "error"});
    result["relacy"] = only(object(s["result"], "relacy"), {"what", "executions"});
    s["result"] = std::move(result);
  }
  return report;
}

// ----- the files

/// JSON in which no "<" stands, so that nothing in it ends the element that it stands in, or begins a comment.
[[nodiscard]] std::string embeddable(const json& data) {
  std::string safe;
  for (const char c : data.dump(-1, ' ', false, json::error_handler_t::replace)) {
    c == '<' ? safe += "\\u003c" : safe += c;
  }
  return safe;
}

[[nodiscard]] std::string page(const json& data) {
  constexpr std::string_view place = "@DATA@";
  std::string html(page_template);
  return html.replace(html.find(place), place.size(), embeddable(data));
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace

void write_html(const std::string& dir, const json& raw_report) {
  json report = described(raw_report);
  const std::filesystem::path folder(dir);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw std::runtime_error(fmt::format("cannot make the folder {}: {}", dir, error.message()));
  name_pages(report["searches"]);
  for (const json& search : report["searches"]) {
    if (search.contains("page")) {
      write_file(folder / search["page"].get<std::string>(), page(timeline_data(search, report["ledger"])));
    }
  }
  write_file(folder / "index.html", page(index_data(std::move(report))));
}

}  // namespace runq::model
