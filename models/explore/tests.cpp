// SPDX-License-Identifier: MIT
#include "tests.hpp"

#include <algorithm>
#include <cstring>
#include <regex>
#include <sstream>

#include <unistd.h>

#include "report.hpp"

namespace runq::model::explore {

namespace {

/// All that a run has written.
[[nodiscard]] std::string whole_output_of(const run_slot& slot) {
  std::string text(static_cast<std::size_t>(lseek(slot.output, 0, SEEK_END)), '\0');
  const ssize_t read = pread(slot.output, text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(read < 0 ? 0 : read));
  return text;
}

[[nodiscard]] std::regex expression(const std::string& text) {
  try {
    return std::regex(text);
  } catch (const std::regex_error&) {
    give_up("--only takes a regular expression, which " + text + " is not");
  }
}

}  // namespace

program with_argument(const program& p, const std::string& argument) {
  program changed = p;
  auto** const words = new char*[static_cast<std::size_t>(p.argc) + 2];
  std::memcpy(words, p.argv, static_cast<std::size_t>(p.argc) * sizeof(char*));
  words[p.argc] = strdup(argument.c_str());
  words[p.argc + 1] = nullptr;
  changed.argv = words;
  ++changed.argc;
  return changed;
}

std::string reason_of_skip(const std::string& output) {
  if (output.find("\n[  SKIPPED ] ") == std::string::npos) return {};
  const std::string mark = ": Skipped\n";
  const std::size_t at = output.find(mark);
  if (at == std::string::npos) return "it does not say why";
  const std::size_t begin = at + mark.size();
  return output.substr(begin, output.find('\n', begin) - begin);
}

std::vector<std::string> tests_of(const exploration_options& options, const program& p) {
  run_slot slot = make_slot();
  run_request listing;
  listing.seed = 0;
  listing.weak_memory = false;
  static_cast<void>(run_once(slot, listing, options, with_argument(p, "--gtest_list_tests")));
  const std::regex wanted = expression(options.only);
  std::vector<std::string> tests;
  std::string suite;
  std::istringstream lines(whole_output_of(slot));
  give_back(slot);
  for (std::string line; std::getline(lines, line);) {
    line.erase(std::min(line.find(" #"), line.size()));  // what a parameter is
    while (!line.empty() && line.back() == ' ') line.pop_back();
    if (line.empty()) continue;
    if (line[0] != ' ') {
      suite = line;
    } else if (const std::string name = suite + line.substr(2); std::regex_search(name, wanted)) {
      tests.push_back(name);
    }
  }
  return tests;
}

}  // namespace runq::model::explore
