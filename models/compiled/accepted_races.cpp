// SPDX-License-Identifier: MIT
#include "accepted_races.hpp"

#include <fstream>

#include <fmt/format.h>

#include "symbols.hpp"

namespace runq::model::compiled {

const accepted_races::entry* accepted_races::accepting(const code_line& a, const code_line& b) const {
  for (const entry& e : entries) {
    for (const code_line& of : {a, b}) {
      if (of.line == e.at.line && path_ends_with(of.file, e.at.file)) return &e;
    }
  }
  return nullptr;
}

std::string accepted_races::add(std::string_view text, std::string_view reason) {
  constexpr std::string_view kind = "race:";
  entry e;
  if (!text.starts_with(kind) || !read_code_line(text.substr(kind.size()), e.at)) {
    return fmt::format("only races are accepted, as race:queue.cpp:42, not '{}'", text);
  }
  e.reason = reason;
  entries.push_back(e);
  return {};
}

std::string accepted_races::add_from(const std::string& file) {
  std::ifstream in(file);
  if (!in) return "cannot read " + file;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.find_first_not_of(" \t") == std::string::npos || line.front() == '#') continue;
    const std::size_t space = line.find_first_of(" \t");
    const std::size_t reason = line.find_first_not_of(" \t", space);
    if (space == std::string::npos || reason == std::string::npos) {
      return fmt::format("{}:{}: a reason is missing behind '{}'", file, number, line);
    }
    if (const std::string wrong = add(line.substr(0, space), line.substr(reason)); !wrong.empty()) {
      return fmt::format("{}:{}: {}", file, number, wrong);
    }
  }
  return in.bad() ? "cannot read " + file : "";
}

}  // namespace runq::model::compiled
