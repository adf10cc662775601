// SPDX-License-Identifier: MIT
// The oracle of histories: what it must accept and what it must refuse, under both engines. No queue is involved: a
// scenario claims to have done operations, and some of the claims are lies.
#include "linearize.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "counterexample.hpp"
#include "exact.hpp"
#include "processors_spec.hpp"
#include "relacy.hpp"
#include "scenario.hpp"
#include "why.hpp"

namespace runq::model {
namespace {

constexpr std::size_t items = 4;

/// A history of operations that were not done. Each takes one step, because time is counted in steps.
struct claims {
  void operator()(op_kind kind, std::span<const int> ids = {}, std::size_t limit = items) {
    const moment began = log.begin();
    step.store(1, std::memory_order::relaxed);
    log.add(began, kind, ids, limit);
  }
  void operator()(op_kind kind, std::initializer_list<int> ids) {
    (*this)(kind, std::span<const int>(ids.begin(), ids.size()));
  }

  history<8, items> log{items};
  atomic<int> step{0};
};

template <class Scenario>
case_spec spec_of(unsigned threads) {
  case_spec spec{.name = "selftest", .property = "", .threads = threads};
  spec.construct = [](void* where) -> scenario* { return ::new (where) Scenario; };
  return spec;
}

struct judgement {
  failure exact, relacy;
  friend bool operator==(const judgement&, const judgement&) = default;
};
void PrintTo(const judgement& j, std::ostream* out) {
  *out << "exact: " << (j.exact == failure::none ? "accepted" : "refused")
       << ", relacy: " << (j.relacy == failure::none ? "accepted" : "refused");
}
constexpr judgement accepted{failure::none, failure::none};
constexpr judgement refused{failure::not_linearizable, failure::not_linearizable};

template <class Scenario>
judgement judge(unsigned threads) {
  const search_result exact = run_exact(spec_of<Scenario>(threads), {});
  const search_result relacy = run_relacy(spec_of<Scenario>(threads), {.search = relacy_search::full, .executions = 0});
  EXPECT_NE(exact.executions, 0U);
  EXPECT_NE(relacy.executions, 0U);
  return {exact.what, relacy.what};
}

// --- what comes before what ----------------------------------------------------------------------------------------

// Thread 0 appends. finish() comes after it, so it cannot find the queue empty.
struct empty_in_finish final : scenario {
  claims claim;
  void thread(unsigned index) override {
    if (index == 0) claim(op_kind::append, {1});
  }
  void finish() override {
    claim(op_kind::find_empty);
    claim.log.require_linearizable();
  }
};

// The construction appends. Every thread comes after it, so none can find the queue empty.
struct empty_after_preload final : scenario {
  claims claim;
  empty_after_preload() { claim(op_kind::append, {1}); }
  void thread(unsigned index) override {
    if (index == 0) claim(op_kind::find_empty);
  }
  void finish() override { claim.log.require_linearizable(); }
};

// Thread 0 appends while thread 1 finds the queue empty: that may be.
struct empty_beside_append final : scenario {
  claims claim;
  void thread(unsigned index) override {
    if (index == 0) claim(op_kind::append, {1});
    if (index == 1) claim(op_kind::find_empty);
  }
  void finish() override {
    claim(op_kind::take_front, {1});
    claim.log.require_linearizable();
  }
};

// Thread 0 appends, then tells. Thread 1, once told, finds the queue empty. `Tell` and `Told`: whether telling orders
// the two.
template <std::memory_order Tell, std::memory_order Told>
struct empty_once_told final : scenario {
  claims claim;
  atomic<int> told{0};
  void thread(unsigned index) override {
    if (index == 0) {
      claim(op_kind::append, {1});
      told.store(1, Tell);
    } else if (told.load(Told) == 1) {
      claim(op_kind::find_empty);
    }
  }
  void finish() override { claim.log.require_linearizable(); }
};

TEST(linearize, an_append_is_before_an_empty_in_finish) { EXPECT_EQ(judge<empty_in_finish>(2), refused); }

TEST(linearize, a_preload_is_before_an_empty_in_a_thread) { EXPECT_EQ(judge<empty_after_preload>(2), refused); }

TEST(linearize, an_append_may_be_after_an_empty_beside_it) { EXPECT_EQ(judge<empty_beside_append>(2), accepted); }

// The exact engine has clocks. Relacy's engine has none: it judges less, never more.
TEST(linearize, an_empty_that_knows_of_an_append_is_refused_where_happens_before_is_known) {
  using ordered = empty_once_told<std::memory_order::release, std::memory_order::acquire>;
  using unordered = empty_once_told<std::memory_order::relaxed, std::memory_order::relaxed>;
  EXPECT_EQ(judge<ordered>(2), (judgement{failure::not_linearizable, failure::none}));
  EXPECT_EQ(judge<unordered>(2), accepted);
}

// A call may make no step that an engine knows of.
struct without_steps final : scenario {
  claims claim;
  void thread(unsigned) override { claim.log.add(claim.log.begin(), op_kind::find_empty, {}); }
  void finish() override { claim.log.require_linearizable(); }
};

TEST(linearize, calls_without_steps_are_not_before_those_of_other_threads) {
  EXPECT_EQ(judge<without_steps>(3), accepted);
}

// Thread 0 appends without a step, and then tells that it did. Thread 1, once told, finds the queue empty.
struct told_after_no_steps final : scenario {
  claims claim;
  atomic<int> told{0};
  void thread(unsigned index) override {
    if (index == 0) {
      const int id = 1;
      claim.log.add(claim.log.begin(), op_kind::append, {&id, 1});
      told.store(1, std::memory_order::release);
    } else if (told.load(std::memory_order::acquire) == 1) {
      claim(op_kind::find_empty);
    }
  }
  void finish() override { claim.log.require_linearizable(); }
};

TEST(linearize, a_call_without_steps_is_before_what_knows_of_a_later_step) {
  EXPECT_EQ(judge<told_after_no_steps>(2), (judgement{failure::not_linearizable, failure::none}));
}

// --- what each operation answers -----------------------------------------------------------------------------------

struct operation {
  op_kind kind;
  std::vector<int> ids{};
  std::size_t limit = items;
};
struct sequence {
  const char* what;
  std::vector<operation> operations;
};
const sequence* current_sequence = nullptr;

// Claims `current_sequence`, one operation after the other.
struct in_sequence final : scenario {
  claims claim;
  void thread(unsigned index) override {
    if (index != 0) return;
    for (const operation& o : current_sequence->operations) claim(o.kind, o.ids, o.limit);
  }
  void finish() override { claim.log.require_linearizable(); }
};

void expect_of_each(const std::vector<sequence>& sequences, failure want) {
  for (const sequence& s : sequences) {
    current_sequence = &s;
    EXPECT_EQ(run_exact(spec_of<in_sequence>(2), {}).what, want) << s.what;
  }
}

TEST(linearize, accepts_what_a_queue_answers) {
  using enum op_kind;
  expect_of_each({{"an empty queue", {{find_empty}, {append, {1}}, {find_work}, {take_front, {1}}, {find_empty}}},
                  {"first in, first out", {{append, {1, 2}}, {take_front, {1}}, {take_front, {2}}}},
                  {"from the back", {{append, {1, 2}}, {take_back, {2}}, {take_back, {1}}}},
                  {"half of three, rounded up", {{append, {1, 2, 3}}, {take_half, {1, 2}}, {take_half, {3}}}},
                  {"half, but one at most", {{append, {1, 2, 3}}, {take_half, {1}, 1}}},
                  {"lower half of three", {{append, {1, 2, 3}}, {take_lower_half, {1}}, {take_lower_half, {2}}}},
                  {"everything", {{append, {1, 2, 3}}, {take_all, {1, 2, 3}}, {find_empty}}},
                  {"a full queue", {{append, {1, 2, 3, 4}}, {refuse}}},
                  {"as many as fit", {{append, {1, 2, 3}}, {append_some, {4}}}},
                  {"a slot", {{replace, {1}}, {replace, {2, 1}}, {take_front, {2}}, {find_empty}}}},
                 failure::none);
}

TEST(linearize, refuses_what_no_queue_answers) {
  using enum op_kind;
  expect_of_each({{"empty with one inside", {{append, {1}}, {find_empty}}},
                  {"work with nothing inside", {{append, {1}}, {take_front, {1}}, {find_work}}},
                  {"taken twice", {{append, {1}}, {take_front, {1}}, {take_front, {1}}}},
                  {"taken before it was put", {{take_front, {1}}, {append, {1}}}},
                  {"out of order", {{append, {1, 2}}, {take_front, {2}}}},
                  {"oldest from the back", {{append, {1, 2}}, {take_back, {1}}}},
                  {"half rounded down", {{append, {1, 2, 3}}, {take_half, {1}}}},
                  {"more than the limit", {{append, {1, 2, 3}}, {take_half, {1, 2}, 1}}},
                  {"lower half rounded up", {{append, {1, 2, 3}}, {take_lower_half, {1, 2}}}},
                  {"not everything", {{append, {1, 2, 3}}, {take_all, {1, 2}}}},
                  {"refused with room", {{append, {1, 2, 3}}, {refuse}}},
                  {"more than fits", {{append, {1, 2, 3}}, {append, {4, 5}}}},
                  {"stopped with room", {{append, {1, 2}}, {append_some, {3}}}},
                  {"nothing displaced", {{replace, {1}}, {replace, {2}}}},
                  {"the wrong one displaced", {{replace, {1}}, {replace, {2, 3}}}}},
                 failure::not_linearizable);
}

// --- what is told of a history that no order explains

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> texts(const search_result& r) {
  std::vector<std::string> all;
  for (const shown_call& c : r.calls) all.push_back((c.thread < 0 ? "main " : std::to_string(c.thread) + " ") + c.text);
  return all;
}

// A slot whose takers look and then empty it, in two steps: two of them get the same task. The construction fills it.
struct taken_twice final : scenario {
  history<8, items> log{1};
  atomic<int> slot{0};
  taken_twice() {
    const moment began = log.begin();
    slot.store(1, std::memory_order::relaxed);
    const int id = 1;
    log.add(began, op_kind::append, {&id, 1});
  }
  void take() {
    const moment began = log.begin();
    const int id = slot.load(std::memory_order::acquire);
    if (id != 0) slot.store(0, std::memory_order::release);
    if (id == 0) log.add(began, op_kind::find_empty, {});
    if (id != 0) log.add(began, op_kind::take_front, {&id, 1});
  }
  void thread(unsigned) override { take(); }
  void finish() override {
    take();
    log.require_linearizable();
  }
};

TEST(linearize, tells_the_calls_and_which_answer_no_order_explains) {
  const search_result relacy = run_relacy(spec_of<taken_twice>(2), {.search = relacy_search::full, .executions = 0});
  for (const search_result& r : {run_exact(spec_of<taken_twice>(2), {}), relacy}) {
    ASSERT_EQ(r.what, failure::not_linearizable);
    ASSERT_EQ(r.calls.size(), 4U);
    EXPECT_EQ(texts(r).front(), "main append 1");
    EXPECT_EQ(texts(r).back(), "main look → empty");
    EXPECT_EQ(r.calls[1].text, "take front → 1");
    EXPECT_EQ(r.calls[2].text, "take front → 1");
    EXPECT_NE(r.calls[1].thread, r.calls[2].thread);
    // Neither taker knows of the other.
    EXPECT_THAT(r.calls[2].after, ElementsAre(0));
    EXPECT_THAT(r.calls[3].after, ElementsAre(0, 1, 2));
    ASSERT_LT(r.unexplained_call, 3U);
    ASSERT_EQ(r.explained_calls.size(), 3U);
    EXPECT_THAT(r.explained_calls, ElementsAre(0, 3 - r.unexplained_call, 3));
    // The steps of each are in the trace.
    for (const std::size_t call : {1U, 2U}) {
      EXPECT_EQ(r.trace.at(r.calls[call].first).kind, event_kind::load);
      EXPECT_EQ(r.trace.at(r.calls[call].last).kind, event_kind::store);
      EXPECT_EQ(r.trace.at(r.calls[call].last).thread, r.calls[call].thread);
    }
  }
}

TEST(linearize, draws_the_calls_along_their_time) {
  source_index sources;
  const std::vector<std::string> lines = render_counterexample(run_exact(spec_of<taken_twice>(2), {}), sources);
  ASSERT_LE(lines.size(), max_counterexample_lines);
  ASSERT_GT(lines.size(), 5U);
  EXPECT_THAT(lines[0], HasSubstr("calls and answers"));
  EXPECT_EQ(lines[1], "1 main  append 1        ├──┤");
  EXPECT_EQ(lines[2], "2 T1    take front → 1        ├──┤        ← no order explains it");
  EXPECT_EQ(lines[3], "3 T0    take front → 1        ├──┤");
  EXPECT_EQ(lines[4], "4 main  look → empty                ├──┤");
  EXPECT_THAT(lines.back(),
              HasSubstr("why: no order of the calls explains call 2 (T1: take front → 1); without it they "
                        "have one: 1, 3, 4; every read sees the last write before it"));
}

// 20 calls of the construction, one of a thread, 15 of finish().
struct many_calls final : scenario {
  history<40, items> log{items};
  atomic<int> step{0};
  void claim(op_kind kind, std::initializer_list<int> ids) {
    const moment began = log.begin();
    step.store(1, std::memory_order::relaxed);
    log.add(began, kind, std::span<const int>(ids.begin(), ids.size()));
  }
  many_calls() {
    for (int i = 0; i != 10; ++i) claim(op_kind::append, {1}), claim(op_kind::take_front, {1});
  }
  void thread(unsigned index) override {
    if (index == 0) claim(op_kind::take_front, {4});
  }
  void finish() override {
    for (int i = 0; i != 15; ++i) claim(op_kind::find_empty, {});
    log.require_linearizable();
  }
};

TEST(linearize, a_long_history_leaves_room_for_the_steps) {
  source_index sources;
  const std::vector<std::string> lines = render_counterexample(run_exact(spec_of<many_calls>(2), {}), sources);
  EXPECT_LE(lines.size(), max_counterexample_lines);
  const auto with = [&lines](const std::string& text) {
    return std::count_if(lines.begin(), lines.end(),
                         [&](const std::string& l) { return l.find(text) != std::string::npos; });
  };
  EXPECT_EQ(with("1–20 main"), 1);
  EXPECT_EQ(with("(3 calls left out)"), 1);
  EXPECT_EQ(with("main  look → empty"), 13);
  EXPECT_THAT(lines.back(), HasSubstr("no order of the calls explains call 21 (T0: take front → 4)"));
}

// Tasks come out that never went in: no order explains these answers, nor all but one of them.
struct nothing_fits final : scenario {
  claims claim;
  void thread(unsigned index) override {
    if (index == 0) claim(op_kind::append, {1});
    claim(op_kind::take_front, {5});
  }
  void finish() override { claim.log.require_linearizable(); }
};

TEST(linearize, names_what_cannot_come_next_where_several_answers_are_wrong) {
  source_index sources;
  const search_result r = run_exact(spec_of<nothing_fits>(2), {});
  EXPECT_EQ(r.unexplained_call, no_event);
  EXPECT_EQ(r.explained_calls.size(), 1U);
  const std::vector<std::string> lines = render_counterexample(r, sources);
  EXPECT_THAT(lines.back(),
              HasSubstr("no order of the calls explains their answers: each of call 2 (T0: take front → 5) "
                        "and call 3 (T1: take front → 5) cannot come next after 1"));
  EXPECT_EQ(
      std::count_if(lines.begin(), lines.end(), [](const std::string& l) { return l.ends_with("← cannot come next"); }),
      2);
}

// --- what each step of a trace reads and writes

event step_of(event_kind kind, int thread, std::uint64_t value, std::uint32_t from = no_event) {
  event e;
  e.kind = kind;
  e.thread = thread;
  e.location = 1;
  e.value = value;
  e.reads_from = from;
  return e;
}

TEST(steps, a_lock_that_is_not_taken_reads_and_does_not_write) {
  const event granted = step_of(event_kind::lock, 0, 1);
  const event denied = step_of(event_kind::lock, 0, 0);
  EXPECT_TRUE(reads(granted) && writes(granted));
  EXPECT_TRUE(reads(denied) && !writes(denied));
  EXPECT_TRUE(writes(step_of(event_kind::unlock, 0, 0)) && !reads(step_of(event_kind::unlock, 0, 0)));
  EXPECT_TRUE(reads(step_of(event_kind::cas_failure, 0, 0)) && !writes(step_of(event_kind::cas_failure, 0, 0)));
  EXPECT_FALSE(reads(step_of(event_kind::cell_read, 0, 0)) || writes(step_of(event_kind::cell_write, 0, 0)));
  EXPECT_TRUE(acquires(granted) && !acquires(denied));
}

TEST(steps, of_each_thread_know_the_first_events) {
  std::vector<event> trace{step_of(event_kind::store, 0, 1), step_of(event_kind::store, 0, 2),
                           step_of(event_kind::load, 1, 1)};
  trace[1].position = 1;
  trace[2].known = {0, 1, 1};
  EXPECT_TRUE(happens_before(trace, 0, 1) && happens_before(trace, 0, 2));
  EXPECT_FALSE(happens_before(trace, 1, 2) || happens_before(trace, 1, 0));
  trace[2].known = {};  // of a thread that has been left out
  EXPECT_FALSE(happens_before(trace, 0, 2));
  // The construction comes first, whatever is known.
  trace[0].thread = -1;
  EXPECT_TRUE(happens_before(trace, 0, 2));
}

TEST(steps, a_lock_that_is_not_taken_explains_no_failure) {
  search_result r;
  r.what = failure::check_failed;
  r.knows_sources = true;
  // T1 is refused the lock while T0 holds it, and T0 gives it back to T1 after that.
  r.trace = {step_of(event_kind::lock, 0, 1), step_of(event_kind::lock, 1, 0, 0), step_of(event_kind::unlock, 0, 0),
             step_of(event_kind::lock, 1, 1, 2), step_of(event_kind::failure, 1, 0)};
  EXPECT_THAT(why(r, {}).sentence, HasSubstr("every read sees the last write before it"));
  // Refused between T0's unlock and its own lock: what it reads is still T0's unlock.
  r.trace = {step_of(event_kind::unlock, 0, 0), step_of(event_kind::lock, 1, 0, 0), step_of(event_kind::lock, 1, 1, 0),
             step_of(event_kind::failure, 1, 0)};
  EXPECT_THAT(why(r, {}).sentence, HasSubstr("every read sees the last write before it"));
}

// --- calls of several steps: what the histories of local_queue are judged by

using processors = processors_spec<2, 2, 4>;
using asked = processor_call;

// `Before` in the constructor; `First` ‖ `Second` in two threads; `After` in finish().
template <const std::vector<processors::call>& Before, const std::vector<processors::call>& First,
          const std::vector<processors::call>& Second, const std::vector<processors::call>& After>
struct claimed_by_processors final : scenario {
  call_log<processors, 16> log;
  atomic<int> step{0};
  void claim(const std::vector<processors::call>& calls) {
    for (const processors::call& c : calls) {
      const moment began = log.begin();
      step.store(1, std::memory_order::relaxed);
      log.add(began, c);
    }
  }
  claimed_by_processors() { claim(Before); }
  void thread(unsigned index) override { claim(index == 0 ? First : Second); }
  void finish() override {
    claim(After);
    log.require_linearizable({});
  }
};

using calls = std::vector<processors::call>;
const calls nothing;
const calls full_ring{{.what = asked::push, .task = 1}, {.what = asked::push, .task = 2}};
const calls overflow{{.what = asked::push, .task = 3, .count = 2}};
const calls no_overflow{{.what = asked::push, .task = 3}};
const calls oldest_first{{.what = asked::take, .task = 1}, {.what = asked::take, .task = 3}, {.what = asked::take}};
const calls newest_first{{.what = asked::take, .task = 3}, {.what = asked::take, .task = 1}};
const calls in_runnext{{.what = asked::push_next, .task = 1}};
const calls displace{{.what = asked::push_next, .task = 2}};
const calls no_work{{.what = asked::has_work}};
const calls steal_one{{.what = asked::steal, .own = 1, .victim = 0, .task = 1, .count = 1}};
const calls steal_next{{.what = asked::steal, .own = 1, .victim = 0, .task = 1, .count = 1, .next = true}};
const calls steal_nothing{{.what = asked::steal, .own = 1, .victim = 0, .next = true}};
const calls leave{{.what = asked::leave}};
const calls left_in_order{{.what = asked::take, .task = 1}, {.what = asked::take, .task = 2}};

template <const calls& Before, const calls& First, const calls& Second, const calls& After>
judgement judge_processors() {
  return judge<claimed_by_processors<Before, First, Second, After>>(2);
}

TEST(linearize, an_overflow_is_half_of_a_full_ring_then_the_new_task) {
  EXPECT_EQ((judge_processors<full_ring, overflow, nothing, oldest_first>()), accepted);
  EXPECT_EQ((judge_processors<full_ring, overflow, nothing, newest_first>()), refused);
  EXPECT_EQ((judge_processors<full_ring, no_overflow, nothing, nothing>()), refused);
  EXPECT_EQ((judge_processors<nothing, overflow, nothing, nothing>()), refused);
}
TEST(linearize, a_steal_makes_room_for_a_push_at_the_same_time) {
  EXPECT_EQ((judge_processors<full_ring, no_overflow, steal_one, nothing>()), accepted);
  EXPECT_EQ((judge_processors<full_ring, overflow, steal_one, nothing>()), refused);
}
TEST(linearize, a_displaced_task_is_nowhere_until_its_push_ends) {
  EXPECT_EQ((judge_processors<in_runnext, nothing, no_work, nothing>()), refused);
  // Between its two steps runnext holds the new task, so there is work all the time.
  EXPECT_EQ((judge_processors<in_runnext, displace, no_work, nothing>()), refused);
  EXPECT_EQ((judge_processors<in_runnext, displace, steal_nothing, nothing>()), refused);
  EXPECT_EQ((judge_processors<in_runnext, nothing, steal_next, nothing>()), accepted);
  EXPECT_EQ((judge_processors<in_runnext, nothing, steal_one, nothing>()), refused);
}
TEST(linearize, a_processor_that_leaves_gives_everything_in_order) {
  EXPECT_EQ((judge_processors<full_ring, leave, nothing, left_in_order>()), accepted);
  EXPECT_EQ((judge_processors<full_ring, leave, nothing, newest_first>()), refused);
}

// --- what a counterexample says of a mutex -------------------------------------------------------------------------

// Thread 0 holds the mutex; thread 1 fails to lock it, and says so.
struct lock_refused final : scenario {
  mutex m;
  void thread(unsigned index) override {
    if (index == 0) {
      m.lock();
      m.unlock();
    } else if (!m.try_lock()) {
      require(false, "not to be had");
    } else {
      m.unlock();
    }
  }
};

void expect_taken_by_thread_0_only(const search_result& r) {
  ASSERT_EQ(r.what, failure::check_failed);
  std::vector<std::string> locks;
  for (const event& e : r.trace) {
    if (e.kind == event_kind::lock) {
      locks.push_back("T" + std::to_string(e.thread) + (e.value == 1 ? " taken" : " not"));
    }
  }
  EXPECT_EQ(locks, (std::vector<std::string>{"T0 taken", "T1 not"}));
}

TEST(traces, say_of_a_lock_whether_it_was_taken) {
  expect_taken_by_thread_0_only(run_exact(spec_of<lock_refused>(2), {}));
  expect_taken_by_thread_0_only(run_relacy(spec_of<lock_refused>(2), {.search = relacy_search::full, .executions = 0}));
}

}  // namespace
}  // namespace runq::model
