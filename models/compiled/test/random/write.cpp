// SPDX-License-Identifier: MIT
// Writes random programs as C++, with what the brute force finds in them.
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>

#include <fmt/format.h>

#include "brute_force.hpp"
#include "program.hpp"

namespace {

using namespace runq::model;
using namespace runq::model::selftest;

const char* name_of(std::memory_order order) {
  switch (order) {
    case std::memory_order::relaxed: return "std::memory_order::relaxed";
    case std::memory_order::acquire: return "std::memory_order::acquire";
    case std::memory_order::release: return "std::memory_order::release";
    case std::memory_order::acq_rel: return "std::memory_order::acq_rel";
    default: return "std::memory_order::seq_cst";
  }
}

/// The name that runq::verdict::failure() gives it.
const char* name_of(failure what) {
  switch (what) {
    case failure::data_race: return "data race";
    case failure::use_after_free: return "use after free";
    case failure::double_free: return "double free";
    case failure::deadlock: return "deadlock";
    default: return "another failure";
  }
}

std::string statement(const instruction& i) {
  const std::string v = fmt::format("s.v[{}]", i.variable);
  const std::string operand = fmt::format("{}U{}", i.operand, i.adds_last_read ? " + last" : "");
  const std::string order = name_of(i.order);
  // What is written depends on what was read before: the compare-exchange must not have changed it yet.
  const auto exchange = [&](const char* strength) {
    return fmt::format("v.compare_exchange_{}(last, operand, {}, {})", strength, order, name_of(i.failure_order));
  };
  const std::string begin =
      fmt::format("{{ auto& v = {}; const unsigned operand = {}; last = {}U; ", v, operand, i.expected);
  switch (i.what) {
    case action::load: return fmt::format("r.note(last = {}.load({}));", v, order);
    case action::store: return fmt::format("{}.store({}, {});", v, operand, order);
    case action::add: return fmt::format("r.note(last = {}.fetch_add({}, {}));", v, operand, order);
    case action::exchange: return fmt::format("r.note(last = {}.exchange({}, {}));", v, operand, order);
    case action::compare_exchange: return begin + exchange("strong") + "; r.note(last); }";
    case action::weak_exchange: return begin + exchange("weak") + "; r.note(last); }";
    case action::fence: return fmt::format("std::atomic_thread_fence({});", order);
    case action::lock: return "s.mutex.lock();";
    case action::unlock: return "s.mutex.unlock();";
    case action::plain_read: return fmt::format("r.plain += *s.plain[{}];", i.variable);
    case action::plain_write: return fmt::format("*s.plain[{}] = {};", i.variable, operand);
    case action::release: return fmt::format("free_plain(s, r, {});", i.variable);
    case action::wait_load:
      return fmt::format("while ((last = {}.load({})) != {}U) continue; r.note(last);", v, order, i.expected);
    case action::wait_exchange:
      return fmt::format("while ((last = {}.exchange({}, {})) == {}U) continue; r.note(last);", v, operand, order,
                         i.operand);
    case action::wait_compare:
      return begin + fmt::format("while (!{}) last = {}U; r.note(last); }}", exchange("strong"), i.expected);
  }
  return {};
}

std::string lines_of(const std::set<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "\n    \"" + line + "\\n\"";
  return text.empty() ? "\"\"" : text;
}

std::string to_cpp(const enumeration& e) {
  std::set<std::string> outcomes, failures;
  for (std::string line : e.outcomes) {
    line.pop_back();  // behind the last variable
    outcomes.insert(line);
  }
  for (const failure f : e.failures) failures.insert(name_of(f));
  return fmt::format("{{{}, {}, {}}}", e.graphs, lines_of(outcomes), lines_of(failures));
}

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
      auto found = enumerate(p, budget, false, spurious);
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
