// SPDX-License-Identifier: MIT
#include "sites.hpp"

#include <algorithm>
#include <fstream>
#include <regex>
#include <string_view>

namespace runq::model {

namespace {

[[nodiscard]] std::string trimmed(const std::string& line) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

// The name in "// [ring.push.publish] …", or nothing. Every worker reads every line of some headers, so this is no
// regular expression, which took a fourteenth of the time of `./kit verify`.
[[nodiscard]] std::string_view name_of_site(std::string_view line) {
  constexpr std::string_view begin = "// [";
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (!line.starts_with(begin)) return {};
  line.remove_prefix(begin.size());
  const std::size_t end = std::min(line.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_."), line.size());
  return line.substr(end).starts_with("] ") ? line.substr(0, end) : std::string_view{};
}

// The name in brackets that comes after `before`, which ends with the bracket; empty if there is none.
[[nodiscard]] std::string name_after(const std::string& text, const std::string& before) {
  const std::size_t at = text.find(before);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + before.size();
  return text.substr(begin, text.find(']', begin) - begin);
}

}  // namespace

const source_index::file_text& source_index::read(const std::string& file) {
  const auto known = files_.find(file);
  if (known != files_.end()) return known->second;
  file_text text;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    text.lines.push_back(line);
    if (const std::string_view name = name_of_site(line); !name.empty())
      text.names[static_cast<int>(text.lines.size())] = name;
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

std::size_t source_index::column_of(site where) {
  const auto& lines = read(where.file).lines;
  if (where.line < 1 || static_cast<std::size_t>(where.line) > lines.size()) return 1;
  const std::size_t begin = lines[static_cast<std::size_t>(where.line) - 1].find_first_not_of(" \t");
  return begin == std::string::npos ? 1 : begin + 1;
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
    if (text.lines[i].find("std::memory_order::") == std::string::npos || !std::regex_search(text.lines[i], strong))
      continue;
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
    const std::string own = kept == std::string::npos ? std::string{} : comment.substr(kept + 6);
    // "kept: as [ring.observe.tail]", or "acquire: as [ring.observe.tail]" and nothing about what it is kept for.
    const std::string other = name_after(own.empty() ? comment : own, own.empty() ? ": as [" : "as [");
    const bool is_own = !own.empty() && !own.starts_with("as [");
    return is_own || other.empty() || other == name ? own : reason_for(path, other);
  }
  return {};
}

}  // namespace runq::model
