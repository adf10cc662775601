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

std::vector<std::string> source_index::names_with_orders(const std::string& path) {
  const file_text& text = read(path);
  static const std::regex strong(R"(std::memory_order::(acquire|release|acq_rel|seq_cst|consume))");
  std::vector<std::string> found;
  for (std::size_t i = 0; i != text.lines.size(); ++i) {
    if (!std::regex_search(text.lines[i], strong)) continue;
    const std::string name = name_of({path.c_str(), static_cast<int>(i) + 1});
    if (found.empty() || found.back() != name) found.push_back(name);
  }
  return found;
}

std::string source_index::reason_for(const std::string& path, const std::string& name) {
  const file_text& text = read(path);
  for (const auto& [line, found] : text.names) {
    if (found != name) continue;
    std::string comment;
    for (std::size_t i = static_cast<std::size_t>(line) - 1; i != text.lines.size(); ++i) {
      const std::string here = trimmed(text.lines[i]);
      if (!here.starts_with("//")) break;
      if (!comment.empty()) comment += ' ';
      comment += trimmed(here.substr(2));
    }
    const std::size_t kept = comment.find("kept: ");
    if (kept != std::string::npos) return comment.substr(kept + 6);
  }
  return {};
}

}  // namespace runq::model
