// SPDX-License-Identifier: MIT
// Writes random programs as C++, with what the enumerator finds in them.
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>

#include <fmt/format.h>

#include "cpp_text.hpp"
#include "oracle/enumerate.hpp"
#include "program.hpp"

namespace {

using namespace random_programs;

struct output {
  std::string functions, table;
  unsigned count = 0;

  void add(const program& p, const char* flavour, const std::vector<enumeration>& expected) {
    std::string threads, found, text;
    for (std::size_t t = 0; t != p.size(); ++t) {
      const std::string name = fmt::format("program_{}_thread_{}", count, t);
      functions += fmt::format(
          "void {}([[maybe_unused]] state& s, [[maybe_unused]] thread_result& r) {{\n"
          "  [[maybe_unused]] unsigned last = 0;\n",
          name);
      for (const instruction& i : p[t]) {
        functions += fmt::format("  {}{}\n", i.guarded ? "if (last % 2 != 0) " : "", braced(i));
      }
      functions += "}\n";
      threads += name + ", ";
    }
    for (std::size_t t = p.size(); t != 4; ++t) threads += "nullptr, ";
    for (const enumeration& e : expected) found += to_cpp(e) + ", ";
    for (std::size_t n = expected.size(); n != 3; ++n) found += "{0, nullptr, nullptr}, ";
    for (const char c : to_text(p)) text += c == '\n' ? std::string("\\n") : std::string(1, c);
    table += fmt::format("  {{\"{}\", \"{}\", {{{}}}, {}, {}, {{{{{}}}}}}},\n", text, flavour, threads,
                         has(p, is_plain), has(p, waits), found);
    ++count;
  }

 private:
  static std::string braced(const instruction& i) { return "{ " + statement(i) + " }"; }
};

constexpr std::uint64_t budget = 2'000;

/// `most_spurious`: also with that many spurious failures, and fewer.
template <class Make>
void add_some(output& to, unsigned count, const char* flavour, unsigned most_spurious, Make&& make) {
  for (unsigned added = 0; added != count;) {
    const program p = make();
    std::vector<enumeration> expected;
    for (unsigned spurious = 0; spurious <= most_spurious; ++spurious) {
      auto found = enumerate_all(p, budget, spurious);
      if (found) expected.push_back(std::move(*found));
    }
    if (expected.size() != most_spurious + 1) continue;
    to.add(p, flavour, expected);
    ++added;
  }
}

}  // namespace

int main() {
  output o;
  std::mt19937 random(14);
  constexpr unsigned few = 5, more = 8;
  add_some(o, 50, "any", 0, [&] { return random_program(random, more); });
  add_some(o, 100, "any", 0, [&] { return random_cycle(random); });
  add_some(o, 10, "fenced", 0, [&] { return random_fenced_program(random); });
  add_some(o, 40, "weak_exchanges", 2, [&] { return random_program(random, more - 1, flavour::weak_exchanges); });
  add_some(o, 10, "memory", 0, [&] { return random_program(random, few, flavour::memory); });
  add_some(o, 50, "memory", 0, [&] { return random_handover(random, false); });
  add_some(o, 30, "waiting", 0, [&] { return random_program(random, few, flavour::waiting); });
  add_some(o, 50, "waiting", 0, [&] { return random_handover(random, true); });
  fmt::print(
      "#include \"random.hpp\"\n\nnamespace random_programs {{\n\nnamespace {{\n\n{}\n}}  // namespace\n\n"
      "const random_program programs[] = {{\n{}}};\nconst std::size_t program_count = {};\n\n"
      "}}  // namespace random_programs\n",
      o.functions, o.table, o.count);
}
