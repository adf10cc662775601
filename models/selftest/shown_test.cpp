// SPDX-License-Identifier: MIT
// How a failing execution is shown: what its lines have in which column, which steps are left out, what variables and
// operations are called, and how large a search is said to be.
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <stdlib.h>
#include <unistd.h>

#include "columns.hpp"
#include "counterexample.hpp"
#include "result_json.hpp"
#include "sites.hpp"
#include "size_words.hpp"
#include "source_names.hpp"

namespace runq::model {
namespace {

using enum std::memory_order;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A source with operations that have names.
class source {
 public:
  explicit source(std::string_view text) {
    close(mkstemp(path_.data()));
    std::ofstream(path_) << text;
  }
  source()
      : source(
            "nothing.load();\n"                                              // 1
            "// [q.push.publish] release: partner [q.pop.see].\n"            // 2
            "// kept: the slot is read\n"                                    // 3
            "//   by others\n"                                               // 4
            "  tail.store(1, std::memory_order::release);  \r\n"             // 5
            "// another comment\n"                                           // 6
            "  // [q.pop.see] acquire: kept: as [q.push.publish]\n"          // 7
            "if (head.load(std::memory_order::consume) == tail.load()) {\n"  // 8
            "// [q.pop.own] relaxed: as [q.pop.see]\n"                       // 9
            "slot(head.load()).load(std::memory_order::relaxed);\n"          // 10
            "// [q.pop.none]: no name\n"                                     // 11
            "d.slot(b).store(1, std::memory_order::relaxed);"                // 12
        ) {}
  ~source() { unlink(path_.c_str()); }
  source(const source&) = delete;
  source& operator=(const source&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] site line(int number) const { return {path_.c_str(), number}; }

 private:
  std::string path_ = "/tmp/runq_shown_XXXXXX";
};

TEST(sites, have_the_name_of_the_comment_above_them) {
  const source file;
  source_index sources;
  EXPECT_EQ(sources.name_of(file.line(1)), "");
  EXPECT_EQ(sources.name_of(file.line(2)), "q.push.publish");
  EXPECT_EQ(sources.name_of(file.line(5)), "q.push.publish");
  EXPECT_EQ(sources.name_of(file.line(8)), "q.pop.see");
  EXPECT_EQ(sources.name_of(file.line(12)), "q.pop.own");
  EXPECT_EQ(sources.text_of(file.line(5)), "tail.store(1, std::memory_order::release);");
  EXPECT_EQ(sources.text_of(file.line(12)), "d.slot(b).store(1, std::memory_order::relaxed);");
  EXPECT_EQ(sources.text_of(file.line(0)) + sources.text_of(file.line(13)), "");
}

TEST(sites, are_weakened_from_one_name_to_the_next) {
  const source file;
  source_index sources;
  const auto first = sources.find(file.path(), "q.hpp", "q.push.publish", 1, relaxed);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->line, 2);
  EXPECT_EQ(first->last_line, 6);
  EXPECT_EQ(first->arg, 1);
  EXPECT_EQ(sources.find(file.path(), "q.hpp", "q.pop.own", 0, relaxed)->last_line, 12);
  EXPECT_FALSE(sources.find(file.path(), "q.hpp", "q.pop", 0, relaxed));
  EXPECT_THAT(sources.names_with_orders(file.path()), ElementsAre("q.push.publish", "q.pop.see"));
}

TEST(sites, say_what_they_are_kept_for_or_whose_reason_is_theirs) {
  const source file;
  source_index sources;
  EXPECT_EQ(sources.reason_for(file.path(), "q.push.publish"), "the slot is read by others");
  EXPECT_EQ(sources.reason_for(file.path(), "q.pop.see"), "the slot is read by others");
  EXPECT_EQ(sources.reason_for(file.path(), "q.pop.own"), "the slot is read by others");
  EXPECT_EQ(sources.reason_for(file.path(), "q.pop"), "");
}

[[nodiscard]] event step(event_kind kind, int thread, std::uint32_t location, std::uint64_t value, site where = {}) {
  event e;
  e.kind = kind;
  e.thread = thread;
  e.location = location;
  e.value = value;
  e.where = where;
  return e;
}

[[nodiscard]] search_result failing(std::vector<event> trace) {
  search_result r;
  r.what = failure::check_failed;
  r.trace = std::move(trace);
  return r;
}

TEST(counterexamples, have_a_line_for_each_step) {
  const source file;
  source_index sources;
  event old = step(event_kind::load, 1, 7, 3, file.line(5));
  old.order = acquire;
  old.stale = true;
  old.newest = 4;
  old.weakened = true;
  search_result r = failing({step(event_kind::store, 0, 7, 4, file.line(5)), old,
                             step(event_kind::cell_write, 1, 9, 5, file.line(12)), step(event_kind::lock, 1, 8, 0),
                             step(event_kind::failure, 1, 0, 0)});
  r.forbidden_by_cpp20 = true;
  const std::vector<std::string> lines = render_counterexample(r, sources);
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_THAT(lines[0], testing::StartsWith("step thr "));
  EXPECT_THAT(lines[1], testing::AllOf(testing::StartsWith("   1 T0 "), HasSubstr("tail"), HasSubstr("relaxed"),
                                       HasSubstr(":5 [q.push.publish]"), HasSubstr("tail.store(1")));
  EXPECT_THAT(lines[2], testing::AllOf(HasSubstr("acquire"), HasSubstr("STALE, newest is 4, WEAKENED")));
  // The name above a plain access is not its own.
  EXPECT_THAT(lines[3], testing::AllOf(HasSubstr("slot"), HasSubstr(":12  "), Not(HasSubstr("q.pop.own"))));
  EXPECT_THAT(lines[4], HasSubstr("(failed or waiting)"));
  EXPECT_THAT(lines[6], HasSubstr("only RC11"));
  EXPECT_THAT(lines[1], Not(HasSubstr("/tmp/")));
}

TEST(counterexamples, name_the_step_that_the_failing_one_is_not_ordered_with) {
  source_index sources;
  search_result r = failing({step(event_kind::cell_write, 0, 7, 4), step(event_kind::cell_write, 1, 7, 5),
                             step(event_kind::failure, 1, 0, 0)});
  r.what = failure::data_race;
  r.knows_sources = true;
  r.partner = 0;
  const std::vector<std::string> lines = render_counterexample(r, sources);
  EXPECT_THAT(lines[1], HasSubstr("UNORDERED with 2"));
  EXPECT_THAT(lines.back(), HasSubstr("why: nothing that T1 reads up to step 2 comes from T0 after step 1"));
}

TEST(counterexamples, call_a_value_stale_only_if_the_newest_is_another_one) {
  source_index sources;
  event old = step(event_kind::load, 1, 7, 3);
  old.stale = true;
  old.newest = 3;
  const std::vector<std::string> lines = render_counterexample(
      failing({step(event_kind::store, 0, 7, 3), old, step(event_kind::failure, 1, 0, 0)}), sources);
  EXPECT_THAT(lines[2], testing::AllOf(HasSubstr("load"), Not(HasSubstr("STALE"))));
}

TEST(counterexamples, say_what_becomes_of_those_who_wait) {
  source_index sources;
  const auto said = [&](event_kind kind, std::uint64_t value, std::uint64_t written) {
    event e = step(kind, 0, 7, value);
    e.written = written;
    e.order = relaxed;
    search_result r = failing({e, step(event_kind::failure, 0, 0, 0)});
    r.variables = {{7, "waiters of cv"}};
    return render_counterexample(r, sources)[1];
  };
  EXPECT_THAT(said(event_kind::rmw, 0, 1), HasSubstr("begins to wait for cv"));
  EXPECT_THAT(said(event_kind::rmw, 0, 0), HasSubstr("wakes cv: nobody has waited yet"));
  EXPECT_THAT(said(event_kind::rmw, 2, 2), HasSubstr("wakes cv: 2 began to wait"));
  EXPECT_THAT(said(event_kind::load, 0, 0), HasSubstr("a waiter of cv sleeps"));
  EXPECT_THAT(said(event_kind::load, 1, 0), HasSubstr("a waiter of cv is woken"));
  EXPECT_THAT(said(event_kind::cas_failure, 2, 0), HasSubstr("a waiter of cv waits no longer"));
  EXPECT_THAT(said(event_kind::cas_success, 0, 1), HasSubstr("wakes a waiter of cv"));
  EXPECT_THAT(said(event_kind::cas_success, 0, 2),
              testing::AllOf(HasSubstr("waits for cv no longer"), Not(HasSubstr("relaxed"))));
}

TEST(counterexamples, show_as_many_digits_as_addresses_differ_in) {
  source_index sources;
  const auto shown = [&](std::uint64_t first, std::uint64_t second) {
    event exchange = step(event_kind::rmw, 0, 7, first);
    exchange.written = second;
    return render_counterexample(failing({exchange, step(event_kind::failure, 0, 0, 0)}), sources)[1];
  };
  EXPECT_THAT(shown(0x7f0012345678, 0x7f0012345670), HasSubstr("v7 …345678 → …345670"));
  EXPECT_THAT(shown(0x7f0012345678, 0x7f0022345678), HasSubstr("v7 …12345678 → …22345678"));
  EXPECT_THAT(shown(0x7f00000012345678, 0x0f00000012345678), HasSubstr("v7 7f00000012345678 → 0f00000012345678"));
}

TEST(counterexamples, fold_what_a_loop_reads_again_and_again) {
  const source file;
  source_index sources;
  std::vector<event> trace{step(event_kind::store, 0, 7, 1, file.line(5))};
  for (int i = 0; i != 60; ++i) trace.push_back(step(event_kind::load, 1, 7, 1, file.line(12)));
  trace.push_back(step(event_kind::store, 0, 7, 2, file.line(5)));
  trace.push_back(step(event_kind::load, 1, 7, 1, file.line(12)));  // still the same
  trace.push_back(step(event_kind::load, 1, 7, 2, file.line(12)));  // another value
  trace.push_back(step(event_kind::load, 1, 7, 2, file.line(8)));   // another place
  trace.push_back(step(event_kind::failure, 1, 0, 0));
  const std::vector<std::string> lines = render_counterexample(failing(trace), sources);
  const auto line_of = [&](const char* number) -> std::string {
    const auto found =
        std::find_if(lines.begin(), lines.end(), [&](const std::string& line) { return line.starts_with(number); });
    return found == lines.end() ? "" : *found;
  };
  EXPECT_THAT(line_of("   1 T0"), HasSubstr("← 1"));
  EXPECT_THAT(line_of("   2 T1"), testing::AllOf(HasSubstr("→ 1  "), HasSubstr("  61 times up to step 63")));
  EXPECT_EQ(line_of("   3 "), "");
  EXPECT_THAT(line_of("  62 T0"), HasSubstr("← 2"));
  EXPECT_THAT(line_of("  64 T1"), testing::AllOf(HasSubstr("→ 2"), Not(HasSubstr("times"))));
  EXPECT_THAT(line_of("  65 T1"), HasSubstr("→ 2"));
  EXPECT_THAT(lines, testing::Each(Not(HasSubstr("left out"))));
}

TEST(counterexamples, show_what_named_steps_read) {
  source_index sources;
  std::vector<event> trace(100, step(event_kind::store, 0, 7, 1));
  for (std::size_t i = 0; i != trace.size(); ++i) trace[i].location = static_cast<std::uint32_t>(i + 1);
  trace[2] = step(event_kind::store, 0, 200, 0);
  trace[4] = step(event_kind::store, 0, 200, 1);
  event& old = trace[97] = step(event_kind::load, 1, 200, 0);
  old.reads_from = 2;
  old.stale = true;
  old.newest = 1;
  trace[98] = step(event_kind::store, 1, 300, 1);
  trace[99] = step(event_kind::failure, 1, 0, 0);
  search_result r = failing(trace);
  r.knows_sources = true;
  const std::vector<std::string> lines = render_counterexample(r, sources);
  EXPECT_THAT(lines.back(), HasSubstr("step 98 does not see step 5"));
  EXPECT_THAT(lines, testing::Contains(testing::StartsWith("   3 T0")));
}

TEST(counterexamples, leave_early_steps_out_but_none_that_tells_something) {
  source_index sources;
  std::vector<event> trace(100, step(event_kind::store, 0, 7, 1));
  trace[2].stale = true;
  trace[3].location = 9;
  trace[50].location = 11;
  for (int i = 0; i != 2; ++i) trace[static_cast<std::size_t>(i)].thread = -1;  // the construction
  trace[98].location = 9;
  trace[99] = step(event_kind::failure, 0, 0, 0);
  search_result r = failing(trace);
  r.knows_sources = true;
  r.partner = 50;
  r.what = failure::data_race;
  const std::vector<std::string> lines = render_counterexample(r, sources);
  EXPECT_LE(lines.size(), max_counterexample_lines);
  const auto has_step = [&](const char* number) {
    return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) { return line.starts_with(number); });
  };
  EXPECT_TRUE(has_step("   3 T0"));  // an old value
  EXPECT_TRUE(has_step("   4 T0"));  // on the variable that failed
  EXPECT_TRUE(has_step("  51 T0"));  // named by the explanation
  EXPECT_TRUE(has_step(" 100 T0"));
  EXPECT_FALSE(has_step("   1 main"));
  std::size_t shown = 0;
  for (int i = 1; i <= 100; ++i) shown += has_step(fmt::format("{:>4} ", i).c_str()) ? 1 : 0;
  EXPECT_THAT(lines, testing::Contains(HasSubstr(fmt::format("({} earlier steps", 100 - shown))));
  // Without reason, all steps of threads are shown if they fit, and none of the construction.
  const std::vector<std::string> few =
      render_counterexample(failing({step(event_kind::store, -1, 7, 1), step(event_kind::store, 0, 7, 2),
                                     step(event_kind::failure, 0, 0, 0)}),
                            sources);
  EXPECT_THAT(few, testing::Contains(HasSubstr("(1 earlier steps")));
  EXPECT_THAT(few[1], testing::StartsWith("   2 T0"));
}

TEST(counterexamples, call_variables_by_what_most_lines_call_them) {
  const source file;
  source_index sources;
  // Line 8 has two accesses: it names none.
  search_result r =
      failing({step(event_kind::load, 0, 1, 0, file.line(8)), step(event_kind::store, 0, 2, 0, file.line(5)),
               step(event_kind::store, 0, 2, 0, file.line(5)), step(event_kind::store, 0, 2, 0, file.line(12)),
               step(event_kind::store, 0, 3, 0, file.line(12)), step(event_kind::store, 0, 4, 0, file.line(12)),
               step(event_kind::load, 0, 5, 0, file.line(1)), step(event_kind::load, 0, 0, 0, file.line(5))});
  r.variables = {{5, "flag"}};
  EXPECT_THAT(variable_names(r, sources), ElementsAre(testing::Pair(2, "tail"), testing::Pair(3, "slot(v3)"),
                                                      testing::Pair(4, "slot(v4)"), testing::Pair(5, "flag")));
  EXPECT_EQ(thread_name(-1) + thread_name(2), "mainT2");
  EXPECT_EQ(render_site({"a/b/c.hpp", 3}, sources), "c.hpp:3");
  EXPECT_EQ(render_site({"a/b/c.hpp", 0}, sources), "");
  EXPECT_EQ(render_value(7) + " " + render_value(~0ULL) + " " + render_value(0x7fff12345678ULL), "7 2^64-1 …345678");
}

TEST(counterexamples, tell_equal_names_apart_by_where_they_lie) {
  const source file;
  source_index sources;
  const auto names = [&](const std::string& first, const std::string& second) {
    search_result r = failing({step(event_kind::store, 0, 7, 1, file.line(5)),
                               step(event_kind::store, 0, 8, 1, file.line(5)), step(event_kind::failure, 0, 0, 0)});
    r.variables = {{7, first}, {8, second}};
    const auto found = variable_names(r, sources);
    return found.at(7) + " " + found.at(8);
  };
  EXPECT_EQ(names("nodes+0", "nodes+16"), "nodes+0.tail nodes+16.tail");
  EXPECT_EQ(names("nodes+0", "others+0"), "nodes.tail others.tail");
  EXPECT_EQ(names("new@3", "new@3"), "new@3.tail(v7) new@3.tail(v8)");
  EXPECT_EQ(names("new@3+8", "new@3+8"), "new@3+8.tail(v7) new@3+8.tail(v8)");
  EXPECT_EQ(names("local of T0", "local of T0"), "tail(v7) tail(v8)");
}

/// The line of the only step before the one that fails.
[[nodiscard]] std::string line_of(const event& e, const std::map<std::uint32_t, std::string>& variables = {}) {
  source_index sources;
  search_result r = failing({e, step(event_kind::failure, 0, 0, 0)});
  r.variables = variables;
  return render_counterexample(r, sources)[1];
}

TEST(counterexamples, say_what_is_special_about_a_step) {
  event spurious = step(event_kind::cas_failure, 0, 7, 0);
  EXPECT_THAT(line_of(spurious), HasSubstr("cas   v7 failed, saw 0"));
  spurious.spurious = true;
  EXPECT_THAT(line_of(spurious), HasSubstr("cas   v7 failed spuriously, saw the expected value 0"));
  EXPECT_THAT(line_of(step(event_kind::allocate, 0, 7, 16)), HasSubstr("allocate 16 bytes"));
  EXPECT_THAT(line_of(step(event_kind::allocate, 0, 7, 0)), HasSubstr("allocate v7"));
  const event read = step(event_kind::cell_read, 0, 7, 3);
  EXPECT_THAT(line_of(read), HasSubstr("read  plain v7 → 3"));
  // Of a program only the address is known.
  EXPECT_THAT(line_of(read, {{7, "data"}}), testing::AllOf(HasSubstr("read  plain data"), Not(HasSubstr("→"))));
}

TEST(counterexamples, fold_only_what_reads_the_same_in_the_same_way) {
  source_index sources;
  event first = step(event_kind::load, 1, 7, 1);
  first.reads_from = 0;
  const auto shown = [&](const event& second) {
    const std::vector<event> trace{step(event_kind::store, 0, 7, 1), first, second, step(event_kind::store, 1, 8, 1),
                                   step(event_kind::failure, 1, 0, 0)};
    return render_counterexample(failing(trace), sources);
  };
  EXPECT_THAT(shown(first), ElementsAre(testing::_, HasSubstr("store v7"), HasSubstr("2 times up to step 3"),
                                        HasSubstr("store v8"), HasSubstr("FAILS HERE")));
  event second = first;
  second.stale = true;
  EXPECT_EQ(shown(second).size(), 6U);
  second = first;
  second.newest = 5;
  EXPECT_EQ(shown(second).size(), 6U);
  second = first;
  second.reads_from = no_event;
  EXPECT_EQ(shown(second).size(), 6U);
  first.stale = true;
  first.newest = 4;
  EXPECT_THAT(shown(first)[2], HasSubstr("STALE, newest is 4, 2 times up to step 3"));
}

TEST(counterexamples, do_not_fold_the_step_that_fails) {
  source_index sources;
  search_result r = failing({step(event_kind::load, 1, 7, 1), step(event_kind::load, 1, 7, 1),
                             step(event_kind::load, 1, 7, 1), step(event_kind::failure, 1, 0, 0)});
  r.knows_sources = true;
  const std::vector<std::string> lines = render_counterexample(r, sources);
  EXPECT_THAT(lines[1], HasSubstr("2 times up to step 2"));
  EXPECT_THAT(lines[2], testing::StartsWith("   3 T1"));
}

TEST(counterexamples, show_a_step_of_the_construction_that_the_explanation_names) {
  source_index sources;
  search_result r = failing({step(event_kind::store, -1, 6, 1), step(event_kind::deallocate, -1, 7, 0),
                             step(event_kind::store, 0, 7, 1), step(event_kind::failure, 0, 0, 0)});
  r.what = failure::use_after_free;
  r.knows_sources = true;
  r.partner = 1;
  const std::vector<std::string> lines = render_counterexample(r, sources);
  EXPECT_THAT(lines[1], testing::StartsWith("   2 main"));
  EXPECT_EQ(lines.back(), "why: step 2 happens before step 3, and has freed what it uses");
}

TEST(counterexamples, leave_room_beside_old_values_and_for_the_last_line) {
  source_index sources;
  std::vector<event> trace;
  for (std::uint32_t i = 0; i != 99; ++i) {
    trace.push_back(step(event_kind::load, 0, i + 1, 1));
    trace.back().stale = i < 80;
  }
  trace.push_back(step(event_kind::failure, 0, 0, 0));
  search_result r = failing(trace);
  r.knows_sources = true;
  const std::vector<std::string> lines = render_counterexample(r, sources);
  EXPECT_THAT(lines, testing::Contains(testing::StartsWith("  80 T0")));
  EXPECT_THAT(lines, testing::Contains(testing::StartsWith("  98 T0")));
  r.forbidden_by_cpp20 = true;
  EXPECT_EQ(render_counterexample(r, sources).size(), lines.size());
}

TEST(counterexamples, take_no_name_from_a_construction_but_that_of_who_is_waited_for) {
  const source file("tail = 0;\nfilled.wait(lock);\n");
  source_index sources;
  event constructs = step(event_kind::store, 0, 1, 0, file.line(1));
  constructs.constructs = true;
  search_result r = failing({constructs, step(event_kind::store, 0, 2, 0, file.line(1)),
                             step(event_kind::rmw, 0, 3, 0, file.line(2)), step(event_kind::failure, 0, 0, 0)});
  r.variables = {{3, "waiters of local of T0"}};
  EXPECT_THAT(variable_names(r, sources), ElementsAre(testing::Pair(2, "tail"), testing::Pair(3, "waiters of filled")));
}

TEST(counterexamples, call_memory_as_its_first_member_only_if_none_of_it_is_freed) {
  const source file;
  source_index sources;
  search_result r =
      failing({step(event_kind::store, 0, 2, 0, file.line(5)), step(event_kind::store, 0, 3, 0, file.line(5)),
               step(event_kind::deallocate, 0, 3, 0, file.line(1)), step(event_kind::failure, 0, 0, 0)});
  r.variables = {{2, "new@1"}, {3, "new@2"}};
  EXPECT_THAT(variable_names(r, sources), ElementsAre(testing::Pair(2, "new@1.tail"), testing::Pair(3, "new@2")));
}

TEST(source_names, are_those_of_the_operation) {
  const auto load = [](const char* line) { return name_in_source(event_kind::load, false, line); };
  const auto store = [](const char* line) { return name_in_source(event_kind::store, false, line); };
  const auto rmw = [](const char* line) { return name_in_source(event_kind::rmw, false, line); };
  const auto cas = [](const char* line) { return name_in_source(event_kind::cas_success, false, line); };
  const auto lock = [](const char* line) { return name_in_source(event_kind::lock, false, line); };
  EXPECT_EQ(load("return r->tail_.load(relaxed);"), "tail_");
  EXPECT_EQ(load("x = std::atomic_ref{status_}.load();"), "status_");
  EXPECT_EQ(load("n = atomic_load_explicit(&tail->next, relaxed);"), "next");
  EXPECT_EQ(load("p = their_atomic_load(&q->read_position->value,"), "read_position");
  EXPECT_EQ(load("a.load() + b.load()"), "");  // either
  EXPECT_EQ(load("while (running) {"), "");
  EXPECT_EQ(store("running = true;"), "running");
  EXPECT_EQ(store("this->read = this->swap.exchange(this->read);"), "read");
  EXPECT_EQ(store("if (count == 3) flag.clear();"), "flag");
  EXPECT_EQ(store("last->next.store(&end, release);"), "next");
  EXPECT_EQ(store("(last->*Next).store(&end, release);"), "Next");
  EXPECT_EQ(store("if (atomic_store(&flag, 1), true)"), "flag");
  EXPECT_EQ(rmw("this->read = swap->exchange(1);"), "swap");
  EXPECT_EQ(rmw("while (m_flag.exchange(true)) pause();"), "m_flag");
  EXPECT_EQ(rmw("++size;"), "size");
  EXPECT_EQ(rmw("ticket k = queue->tail_counter++;"), "tail_counter");
  EXPECT_EQ(rmw("q.count -= 1;"), "count");
  EXPECT_EQ(cas("if (!atomic_compare_exchange_strong(&q->head, &old, 1))"), "head");
  EXPECT_EQ(lock("std::unique_lock<std::mutex> lk(pool->mutex);"), "mutex");
  EXPECT_EQ(lock("cv.wait(lk, [] { return done; });"), "");
  EXPECT_EQ(name_in_source(event_kind::rmw, true, "cv.wait(lk, [] { return done; });"), "cv");
  EXPECT_EQ(name_in_source(event_kind::load, true, "pthread_cond_wait(&q->filled, &q->m);"), "filled");
}

TEST(source_names, go_with_those_of_memory) {
  EXPECT_EQ(name_of_member("local of T0", "tail"), "tail");
  EXPECT_EQ(name_of_member("thread_local of T1", "tail"), "tail");
  EXPECT_EQ(name_of_member("new@7+8", "next"), "new@7.next");
  EXPECT_EQ(name_of_member("new@7", "next"), "new@7.next");
  EXPECT_EQ(name_of_member("queue+8", "tail"), "queue.tail");
  EXPECT_EQ(name_of_member("queue", "tail"), "queue");
  EXPECT_EQ(name_of_member("queue+0", "head"), "queue.head");
  EXPECT_EQ(name_of_member("queue+0", ""), "queue");
  EXPECT_EQ(name_of_member("slots+0", "slots"), "slots");
  EXPECT_EQ(name_of_member("slots+8", "slots"), "slots+8");
  EXPECT_EQ(name_of_member("queue+8", ""), "queue+8");
  EXPECT_EQ(name_of_member("", "tail"), "tail");
  EXPECT_EQ(name_of_member("waiters of local of T0", "cv"), "waiters of cv");
  // What debug information has named has its whole name.
  EXPECT_EQ(name_of_member("new@7.next", "next"), "new@7.next");
  EXPECT_EQ(name_of_member("new@7[2]", "nodes"), "new@7[2]");
  EXPECT_EQ(name_of_member("queue.slots_[2].turn", "turn"), "queue.slots_[2].turn");
  EXPECT_EQ(name_of_member("new@7.state+8", "full"), "new@7.state.full");
  EXPECT_EQ(name_of_member("queue.slots+8", "slots"), "queue.slots+8");
}

TEST(source_names, of_what_is_allocated_or_freed_are_those_of_all_of_it) {
  using enum event_kind;
  EXPECT_EQ(name_in_step(deallocate, "new@7.next"), "new@7");
  EXPECT_EQ(name_in_step(allocate, "new@7[0].next(v3)"), "new@7(v3)");
  EXPECT_EQ(name_in_step(deallocate, "new@7.(low, high)"), "new@7");
  EXPECT_EQ(name_in_step(cell_write, "new@7.next"), "new@7.next");
  EXPECT_EQ(name_in_step(deallocate, "queue.next"), "queue.next");
}

TEST(results, have_all_that_a_page_needs) {
  source_index sources;
  event written = step(event_kind::rmw, 0, 1, 3);
  written.written = 4;
  written.place = 2;
  written.position = 5;
  event read = step(event_kind::load, 1, 1, 3);
  read.newest = 4;
  read.stale = read.weakened = read.constructs = true;
  read.reads_from = 0;
  event plain = step(event_kind::cell_read, 1, 2, 0);
  plain.memory = 7;
  search_result r = failing({written, read, plain, step(event_kind::failure, 1, 0, 0)});
  r.what = failure::data_race;
  r.variables = {{1, "tail"}, {2, "slot"}};
  r.executions = 11;
  r.blocked = 12;
  r.spurious = 13;
  r.walks = 14;
  r.estimated = 15;
  r.standard_error = 16;
  r.partner = 0;
  r.knows_sources = r.buffers_loads = r.forbidden_by_cpp20 = true;
  r.stuck = {{1, 2, false, 0}, {0, -1, true, no_event}};
  r.ended = {2};
  r.calls = {{0, "push(1)", 0, 0, 0, 1, {}}, {1, "pop()", 1, 2, 2, 5, {0}}};
  const nlohmann::json j = result_json(r, sources);
  for (const auto& [name, number] : {std::pair("executions", 11), {"blocked", 12}, {"spurious", 13}, {"walks", 14}}) {
    EXPECT_EQ(j[name], number) << name;
  }
  EXPECT_EQ(j["estimated"], 15.0);
  EXPECT_EQ(j["standard_error"], 16.0);
  EXPECT_EQ(j["unordered"], 0);
  for (const char* const said : {"knows_sources", "load_buffering", "forbidden_by_cpp20"})
    EXPECT_EQ(j[said], true) << said;
  EXPECT_EQ(j["ended"], (nlohmann::json{2}));
  EXPECT_EQ(j["stuck"],
            nlohmann::json::parse(R"([{"thread": 1, "joins": 2, "since": 0}, {"thread": 0, "stopped": true}])"));
  EXPECT_EQ(j["calls"][0]["first"], 0);
  EXPECT_EQ(j["calls"][1]["after"], (nlohmann::json{0}));
  EXPECT_GT(j["calls"][1]["end"], j["calls"][1]["begin"]);
  const nlohmann::json& steps = j["trace"];
  EXPECT_EQ(steps[0]["written_text"], "4");
  EXPECT_EQ(steps[0]["mo"], 2);
  EXPECT_EQ(steps[0]["position"], 5);
  EXPECT_EQ(steps[0]["variable"], "tail");
  EXPECT_EQ(steps[1]["value_text"], "3");
  EXPECT_EQ(steps[1]["newest_text"], "4");
  EXPECT_EQ(steps[1]["reads_from"], 0);
  for (const char* const said : {"stale", "weakened", "constructs"}) EXPECT_EQ(steps[1][said], true) << said;
  EXPECT_EQ(steps[2]["memory"], 7);
  EXPECT_EQ(steps[2]["value_text"], "?");
  // What is not known is not there.
  for (const char* const none : {"reads_from", "weakened", "constructs", "memory"})
    EXPECT_FALSE(steps[0].contains(none));
  EXPECT_FALSE(steps[1].contains("mo"));
}

TEST(results, have_what_only_some_steps_and_failures_have) {
  const source file;
  source_index sources;
  event failed = step(event_kind::cas_failure, 0, 1, 3);
  failed.spurious = true;
  failed.accessed = {2, 1, 4};
  event arrives = step(event_kind::arrive, 0, 2, 3);
  arrives.barrier = {2, 1, 0};
  event departs = step(event_kind::depart, 1, 2, 0);
  departs.barrier.round = 4;
  search_result r = failing({failed, arrives, departs, step(event_kind::failure, 1, 0, 0)});
  r.how = coverage::cut_short;
  r.where = file.line(5);
  r.knows_sources = true;
  r.stuck = {{.thread = 1, .at_barrier = true, .barrier = 2, .round = 5}};
  r.calls = {{0, "push(1)", 0, 0, 0, 1, {}}, {1, "pop()", 1, 2, 2, 5, {0}}};
  r.explained_calls = {0};
  const nlohmann::json j = result_json(r, sources);
  EXPECT_EQ(j["how"], "cut_short");
  EXPECT_THAT(j["where"].get<std::string>(), testing::EndsWith(":5 [q.push.publish]"));
  EXPECT_EQ(j["failing"], 2);
  EXPECT_EQ(j["stuck"], nlohmann::json::parse(R"([{"thread": 1, "barrier": 2, "round": 5}])"));
  EXPECT_EQ(j["explained_calls"], (nlohmann::json{0}));
  EXPECT_EQ(j["wrong_calls"], (nlohmann::json{1}));
  const nlohmann::json& steps = j["trace"];
  EXPECT_EQ(steps[0]["spurious"], true);
  EXPECT_EQ(steps[0]["bytes"], (nlohmann::json{2, 1, 4}));
  EXPECT_EQ(steps[1]["arrivals"], 2);
  EXPECT_EQ(steps[1]["leaving"], 1);
  EXPECT_EQ(steps[2]["round"], 4);
  for (const char* const none : {"spurious", "bytes", "round"}) EXPECT_FALSE(steps[1].contains(none)) << none;
}

TEST(columns, are_those_of_a_terminal) {
  EXPECT_EQ(columns_of("a → b"), 5U);
  EXPECT_EQ(padded("→", 3), "→  ");
  EXPECT_EQ(cut("a→bc", 4), "a→bc");
  EXPECT_EQ(cut("a→bcd", 4), "a→b…");
}

TEST(sizes, are_said_in_two_digits_and_a_fitting_unit) {
  EXPECT_EQ(roughly(99), "99");
  EXPECT_EQ(roughly(1284), "1300");
  EXPECT_EQ(size_words({10, 0, 1}), "");
  EXPECT_EQ(size_words({10, 30, 5}), ", of about 30; about 10 s left");
  EXPECT_EQ(size_words({10, 310, 10}), ", of about 310; about 5 min left");
  EXPECT_EQ(size_words({10, 10'010, 10}), ", of about 10000; about 3 h left");
  EXPECT_EQ(size_words({10, 1'000'010, 10}), ", of about 1000000; about 12 days left");
  EXPECT_EQ(size_words({40, 30, 5}), ", of about 30; about 0 s left");
  EXPECT_EQ(size_words({10, 1e15, 5}), ", of more than 10^15");
}

}  // namespace
}  // namespace runq::model
