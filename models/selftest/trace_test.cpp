// SPDX-License-Identifier: MIT
// What a trace says of happens-before, compared with the axioms of C++20 (axioms.hpp) on every execution of programs
// that are made at random. The axioms read nothing of a trace but its steps, their orders, and what each reads from.
#include <random>

#include <gtest/gtest.h>

#include "axioms.hpp"
#include "exact.hpp"
#include "program_scenario.hpp"

namespace runq::model {
namespace {

namespace axioms = selftest::axioms;
using axiom_event = selftest::event;

/// The steps of a trace as events of the axioms: a read-modify-write is a read, and the write that follows it.
struct translated {
  std::vector<axiom_event> events;
  std::vector<unsigned> first;  ///< by step
  std::vector<unsigned> last;
  std::vector<unsigned> step;  ///< by event
};

[[nodiscard]] std::memory_order order_at(const event& e) {
  if (e.kind == event_kind::unlock) return std::memory_order::release;
  if (e.kind != event_kind::lock) return e.order;
  return e.value == 1 ? std::memory_order::acquire : std::memory_order::relaxed;
}

[[nodiscard]] translated translate(const std::vector<event>& trace) {
  using kind = axiom_event::kind;
  translated t;
  for (const event& e : trace) {
    const auto add = [&](kind is) {
      t.step.push_back(static_cast<unsigned>(&e - trace.data()));
      t.events.push_back({is, e.thread, is == kind::other ? axiom_event::nowhere : e.location, order_at(e)});
    };
    t.first.push_back(static_cast<unsigned>(t.events.size()));
    if (reads(e)) add(kind::read);
    if (writes(e)) add(kind::write);
    if (!reads(e) && !writes(e)) add(e.kind == event_kind::fence ? kind::fence : kind::other);
    t.last.push_back(static_cast<unsigned>(t.events.size() - 1));
  }
  return t;
}

/// Steps of no thread come before all threads, or, once a thread has made a step, after all threads.
[[nodiscard]] selftest::execution execution_of(const std::vector<event>& trace, const translated& t) {
  selftest::execution x(t.events);
  const auto thread = [&](unsigned a) { return t.events[a].thread; };
  x.po = x.pairs([&](unsigned a, unsigned b) { return a < b && thread(a) == thread(b); });
  x.asw = x.pairs([&](unsigned a, unsigned b) { return a < b && (thread(a) < 0) != (thread(b) < 0); });
  for (std::size_t i = 0; i != trace.size(); ++i) {
    if (reads(trace[i]) && trace[i].reads_from != no_event) x.rf.add(t.last[trace[i].reads_from], t.first[i]);
    if (is_rmw(trace[i])) x.rmw.add(t.first[i], t.last[i]);
  }
  return x;
}

/// What a reader that acquires a write knows from it: what happens before an operation that releases, and whose release
/// sequence, or whose fence's, the write belongs to.
[[nodiscard]] selftest::relation known_from_writes(const selftest::execution& x, const selftest::relation& hb) {
  const selftest::relation release = x.those(axioms::releases), fence = x.those(axioms::is_fence);
  const selftest::relation sequence = x.those(axioms::is_write) * (x.rf * x.rmw).transitive().optional();
  return hb.optional() * release * (fence * x.po).optional() * sequence;
}

/// The newest value at a read is that of the write, of those before it in the trace, that is the last in mo.
void expect_newest_values(const std::vector<event>& trace) {
  for (const event& e : trace) {
    if (!reads(e) || e.kind == event_kind::lock || e.reads_from == no_event) continue;
    const event* newest = nullptr;
    for (const event* w = trace.data(); w != &e; ++w) {
      if (!writes(*w) || w->location != e.location) continue;
      ASSERT_NE(w->place, no_event);
      if (newest == nullptr || w->place > newest->place) newest = w;
    }
    ASSERT_NE(newest, nullptr);
    ASSERT_EQ(e.newest, is_rmw(*newest) ? newest->written : newest->value);
    ASSERT_EQ(e.stale, newest->place > trace[e.reads_from].place);
  }
}

unsigned compared = 0;  // executions, by compare()

void compare(const search_result& r) {
  const std::vector<event>& trace = r.trace;
  const translated t = translate(trace);
  ASSERT_LE(t.events.size(), selftest::relation::room);
  const selftest::execution x = execution_of(trace, t);
  const selftest::relation hb = axioms::happens_before(x);
  const selftest::relation known = known_from_writes(x, hb);
  ++compared;
  expect_newest_values(trace);
  for (unsigned a = 0; a != trace.size(); ++a) {
    for (unsigned b = 0; b != trace.size(); ++b) {
      if (a != b) {
        ASSERT_EQ(happens_before(trace, a, b), hb.has(t.first[a], t.first[b])) << "steps " << a << " and " << b;
      }
      if (writes(trace[b]) && trace[a].thread >= 0 && trace[b].thread >= 0) {
        ASSERT_EQ(includes(trace[b].released, trace[a]), known.has(t.first[a], t.last[b]))
            << "step " << a << " is known from step " << b;
      }
    }
  }
}

void compare_on(selftest::flavour f, unsigned max_instructions) {
  std::mt19937 random(20'261'127);
  for (unsigned i = 0; i != 150; ++i) {
    const selftest::program p = selftest::random_program(random, max_instructions, f);
    selftest::current_program = &p;
    selftest::program_outcomes.clear();
    case_spec spec{.name = "traces", .property = "", .threads = static_cast<unsigned>(p.size())};
    spec.construct = [](void* where) -> scenario* { return ::new (where) selftest::program_scenario; };
    (void)run_exact(spec, {.max_executions = 40, .show_each = compare});
    if (testing::Test::HasFatalFailure()) FAIL() << selftest::to_text(p);
  }
}

TEST(traces, say_what_happens_before_what) {
  compare_on(selftest::flavour::any, 6);
  compare_on(selftest::flavour::weak_exchanges, 6);
  compare_on(selftest::flavour::memory, 5);
  EXPECT_GT(compared, 1'000U);
}

}  // namespace
}  // namespace runq::model
