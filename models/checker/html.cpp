// SPDX-License-Identifier: MIT
#include "html.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
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

/// Two searches may differ only in characters that a file name cannot have, or in their engine. Compared without regard
/// to case, because some file systems do.
[[nodiscard]] std::string unused_name(const std::string& wanted, std::set<std::string>& used) {
  std::string name = wanted;
  for (unsigned i = 2; !used.insert(lower_case(name)).second; ++i) name = fmt::format("{}-{}", wanted, i);
  return name + ".html";
}

[[nodiscard]] std::vector<std::string> page_names(const json& searches) {
  std::vector<std::string> names;
  std::set<std::string> used{"index"};
  for (const json& search : searches) {
    const std::string wanted = html::file_name(html::text(search, "case") + "-" + html::label_of(search));
    names.push_back(html::has_trace(search) ? unused_name(wanted, used) : "");
  }
  return names;
}

}  // namespace

void write_html(const std::string& dir, const json& report) {
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
