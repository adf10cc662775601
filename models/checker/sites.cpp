// SPDX-License-Identifier: MIT
#include "sites.hpp"

#include <fstream>
#include <regex>

namespace runq::model {

namespace {

[[nodiscard]] std::string trimmed(const std::string& line) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

const source_index::file_text& source_index::read(const std::string& file) {
  const auto known = files_.find(file);
  if (known != files_.end()) return known->second;
  file_text text;
  static const std::regex named(R"(^\s*// \[([a-z0-9_.]+)\] )");
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    text.lines.push_back(line);
    std::smatch match;
    if (std::regex_search(line, match, named)) text.names[static_cast<int>(text.lines.size())] = match[1];
  }
  return files_[file] = std::move(text);
}

std::string source_index::name_of(site where) {
  const auto& names = read(where.file).names;
  auto after = names.upper_bound(where.line);
  return after == names.begin() ? std::string{} : std::prev(after)->second;
}

std::string source_index::text_of(site where) {
  const auto& lines = read(where.file).lines;
  if (where.line < 1 || static_cast<std::size_t>(where.line) > lines.size()) return {};
  return trimmed(lines[static_cast<std::size_t>(where.line) - 1]);
}

std::optional<weakening> source_index::find(const std::string& path, const std::string& ending, const std::string& name,
                                            int arg, std::memory_order to) {
  const file_text& text = read(path);
  for (auto it = text.names.begin(); it != text.names.end(); ++it) {
    if (it->second != name) continue;
    const auto next = std::next(it);
    const int last = next == text.names.end() ? static_cast<int>(text.lines.size()) : next->first - 1;
    return weakening{ending, it->first, last, arg, to};
  }
  return std::nullopt;
}

}  // namespace runq::model
