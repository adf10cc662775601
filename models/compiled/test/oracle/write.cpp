// SPDX-License-Identifier: MIT
// Writes the generated programs as C++, with what the enumerator finds in them: `write MOST PART PARTS` writes that
// part of at most MOST programs of each family, evenly taken from all of it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "cpp_text.hpp"
#include "oracle/enumerate.hpp"
#include "oracle/shapes.hpp"

namespace {

using namespace random_programs;

struct output {
  std::string functions, table;
  unsigned count = 0;

  void add(const family& f, const program& p) {
    std::string threads, found, text;
    for (std::size_t t = 0; t != p.size(); ++t) threads += add_thread(p, t) + ", ";
    for (std::size_t t = p.size(); t != 4; ++t) threads += "nullptr, ";
    for (unsigned spurious = 0; spurious != 3; ++spurious) {
      const auto expected =
          spurious <= f.most_spurious ? enumerate_all(p, std::uint64_t{1} << 20, spurious) : std::nullopt;
      found += expected ? to_cpp(*expected) + ", " : "{0, nullptr, nullptr}, ";
    }
    for (const char c : to_text(p)) text += c == '\n' ? std::string("\\n") : std::string(1, c);
    const bool is_allocated = has(p, [](action a) { return a == action::allocate; });
    const bool counts = !has(p, [](action a) {
      return waits(a) || a == action::wait || a == action::notify_one || a == action::notify_all;
    });
    table += fmt::format("  {{\"{}\", \"{}\", {{{}}}, {}, {}, {}, {{{{{}}}}}}},\n", f.name, text, threads,
                         has(p, [](action a) { return a == action::start; }), has(p, is_plain) && !is_allocated, counts,
                         found);
    ++count;
  }

 private:
  std::string add_thread(const program& p, std::size_t t) {
    const std::string name = fmt::format("program_{}_thread_{}", count, t);
    functions += fmt::format(
        "void {}([[maybe_unused]] state& s, [[maybe_unused]] thread_result& r) {{\n"
        "  [[maybe_unused]] unsigned last = 0;\n",
        name);
    const bool is_allocated = has(p, [](action a) { return a == action::allocate; });
    for (const instruction& i : p[t]) {
      functions += fmt::format("  {}{{ {} }}\n", i.guarded ? "if (last % 2 != 0) " : "", text_of(i, is_allocated));
    }
    functions += "}\n";
    return name;
  }
  static std::string text_of(const instruction& i, bool is_allocated) {
    std::string text = statement(i);
    const std::string direct = fmt::format("s.plain[{}]", i.variable);
    if (const std::size_t at = text.find(direct); is_allocated && at != std::string::npos)
      text.replace(at, direct.size(), fmt::format("plain_at(s, {})", i.variable));
    return text;
  }
};

void add_some(output& to, const family& f, std::uint64_t most, std::uint64_t part, std::uint64_t parts) {
  std::uint64_t all = 0, number = 0;
  f.each([&](const program&) { ++all; });
  const std::uint64_t every = (all + most - 1) / most;
  f.each([&](const program& p) {
    const std::uint64_t n = number++;
    if (n % every == 0 && n / every % parts == part) to.add(f, p);
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  if (number(1) == 0 || number(3) == 0) return 2;
  output o;
  for (const family& f : families()) add_some(o, f, number(1), number(2), number(3));
  fmt::print(
      "#include \"oracle.hpp\"\n#include \"outside.hpp\"\n\nnamespace oracle_programs {{\n\nnamespace {{\n\n{}\n"
      "const oracle_program programs[] = {{\n{}}};\n\nconst program_list added{{RUNQ_LEVEL, programs, {}}};\n\n"
      "}}  // namespace\n\n}}  // namespace oracle_programs\n",
      o.functions, o.table, o.count);
}
