// SPDX-License-Identifier: MIT
// The laws of oracle/laws.hpp, for the engine and for the enumerator; and that a judge that is broken breaks each.
#include "oracle/laws.hpp"

#include <gtest/gtest.h>

#include "oracle/enumerate.hpp"
#include "oracle/judges.hpp"
#include "oracle/shapes.hpp"

namespace runq::model::selftest {
namespace {

using order = std::memory_order;

std::optional<enumeration> by_enumerator(const program& p) { return enumerate_all(p, 50'000); }

/// Some programs of each family, evenly taken; more of those that start threads, which one law is about.
std::vector<program> some_programs() {
  constexpr std::size_t of_each = RUNQ_TEST_QUICK ? 12 : 300;
  std::vector<program> some;
  for (const family& f : families()) {
    const bool starts = std::string(f.name) == "start_and_join";
    std::size_t all = 0, number = 0;
    f.each([&](const program&) { ++all; });
    const std::size_t every = all / (starts ? 20 * of_each : of_each) + 1;
    f.each([&](const program& p) {
      if (number++ % every == 0) some.push_back(p);
    });
  }
  return some;
}

law_result ask(law about, const std::vector<program>& programs, const program_judge& judge) {
  law_result result;
  for (const program& p : programs) about(p, judge, result);
  return result;
}

struct named_law {
  const char* name;
  law about;
  /// A judge that does not keep it.
  std::optional<enumeration> (*broken)(const program&);
};

template <class Change>
std::optional<enumeration> after(program p, Change&& change) {
  change(p);
  return by_enumerator(p);
}

std::optional<enumeration> with_a_relaxed_first_thread(const program& p) {
  return after(p, [](program& changed) {
    for (instruction& i : changed[0]) i.order = order::relaxed;
  });
}
std::optional<enumeration> losing_an_outcome_of_three_threads(const program& p) {
  auto e = by_enumerator(p);
  if (e && p.size() == 3 && e->outcomes.size() > 1) e->outcomes.erase(e->outcomes.begin());
  return e;
}
std::optional<enumeration> with_a_relaxed_second_store(const program& p) {
  return after(p, [](program& changed) {
    for (thread_code& code : changed) {
      for (std::size_t n = 1; n < code.size(); ++n) {
        const bool repeats = code[n].what == action::store && code[n - 1].what == action::store &&
                             code[n].variable == code[n - 1].variable;
        if (repeats) code[n].order = order::relaxed;
      }
    }
  });
}
std::optional<enumeration> without_sequential_consistency(const program& p) {
  return after(p, [](program& changed) {
    for (thread_code& code : changed) {
      for (instruction& i : code) {
        if (i.order == order::seq_cst && i.what != action::fence) i.order = order::relaxed;
      }
    }
  });
}
std::optional<enumeration> without_the_join_of_the_last_thread(const program& p) {
  return after(p, [](program& changed) {
    for (thread_code& code : changed) {
      std::erase_if(code, [](const instruction& i) { return i.what == action::join && i.variable == 3; });
    }
  });
}

const std::vector<named_law> all_laws{
    {"threads may be permuted", threads_may_be_permuted, with_a_relaxed_first_thread},
    {"an empty thread changes nothing", an_empty_thread_changes_nothing, losing_an_outcome_of_three_threads},
    {"a store may be repeated", a_store_may_be_repeated, with_a_relaxed_second_store},
    {"a stronger order adds nothing", a_stronger_order_adds_nothing, without_sequential_consistency},
    {"a weaker order loses nothing", a_weaker_order_loses_nothing, without_sequential_consistency},
    {"main may let a thread do it", main_may_let_a_thread_do_it, without_the_join_of_the_last_thread}};

void expect_laws(const program_judge& judge) {
  const std::vector<program> programs = some_programs();
  for (const named_law& l : all_laws) {
    const law_result r = ask(l.about, programs, judge);
    EXPECT_GE(r.asked, 20U) << l.name;
    EXPECT_EQ(r.broken, 0U) << l.name << ": " << r.first;
  }
}

TEST(laws, hold_for_the_engine) { expect_laws(answer_of_engine); }
TEST(laws, hold_for_the_enumerator) { expect_laws(by_enumerator); }
TEST(laws, are_broken_by_broken_judges) {
  const std::vector<program> programs = some_programs();
  for (const named_law& l : all_laws) {
    const law_result r = ask(l.about, programs, l.broken);
    EXPECT_GE(r.broken, 1U) << l.name << ": of " << r.asked;
  }
}

}  // namespace
}  // namespace runq::model::selftest
