// SPDX-License-Identifier: MIT
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <runq/linearizable.hpp>
#include <runq/specifications.hpp>
#include <unistd.h>

#include "linearizable_classes.hpp"

namespace {

template <class Class, class Specification>
struct stack_test : runq::linearizable<Class, Specification> {
  stack_test() {
    this->operation("push", RUNQ_CODE([](auto& s, int value) { return s.push(value); }), runq::fresh);
    this->operation("pop", RUNQ_CODE([](auto& s) { return s.pop(); }));
  }
};
template <class Class, class Specification>
[[nodiscard]] runq::linearizable_verdict check_stack() {
  return stack_test<Class, Specification>().check();
}

// Without the times that it took.
[[nodiscard]] std::string without_times(std::string text) {
  for (std::size_t at = text.find(" s)"); at != std::string::npos; at = text.find(" s)", at + 1)) {
    text.replace(text.rfind(',', at), at - text.rfind(',', at), "");
  }
  const std::size_t end = text.find(" executions, ");
  if (end != std::string::npos) text.erase(end, text.find_first_of(":;", end) - end);
  return text;
}

TEST(Check, AShownExecutionIsNoVerdict) {
  runq::check_options options;
  options.execution = 1;
  const runq::verdict v = runq::check(options, [] { std::atomic<int>(0).store(1); });
  EXPECT_TRUE(v.undecided()) << v;
  EXPECT_EQ(v.text().rfind("execution 1, which does not fail:", 0), 0U) << v;
}

TEST(Check, RefusesOptionsOfTheCommand) {
  ::setenv("RUNQ_CHECK", "--ledger", 1);
  const runq::verdict v = runq::check([] {});
  ::unsetenv("RUNQ_CHECK");
  EXPECT_TRUE(v.undecided()) << v;
  EXPECT_EQ(v.text().rfind("no verdict: --ledger is for runq-check", 0), 0U) << v;
}

TEST(Linearizable, GeneratesEveryProgramOnceSmallestFirst) {
  stack_test<runq::spec::stack<int>, runq::spec::stack<int>> test;
  // One thread: 2 of one call, 4 of two. Two threads: 3 of 1 + 1 calls, 4 · 2 of 2 + 1, 4 · 5 / 2 of 2 + 2.
  const auto all = test.programs();
  ASSERT_EQ(all.size(), 27U);
  std::size_t before = 0;
  for (const auto& program : all) {
    std::size_t calls = 0;
    for (const auto& thread : program) calls += thread.size();
    EXPECT_GE(calls, before);
    before = calls;
    for (const auto& other : all) EXPECT_TRUE(&other == &program || other != program);
  }
  test.options.threads = 3;
  test.options.calls = 1;
  EXPECT_EQ(test.programs().size(), 2U + 3U + 4U);
}

TEST(Linearizable, RolesLeaveProgramsOut) {
  runq::linearizable<runq::spec::deque<int>> test;
  test.operation("push", RUNQ_CODE([](auto& d, int v) { return d.push_back(v); }), runq::fresh).by("owner");
  test.operation("steal", RUNQ_CODE([](auto& d) { return d.pop_front(); })).beside("owner");
  test.options.calls = 1;
  // push; steal; push and steal; steal and steal
  EXPECT_EQ(test.programs().size(), 5U);
  const runq::linearizable_verdict v = test.check();
  EXPECT_EQ(v.programs(), 4U) << v;
  // One thread: push; steal; push twice; steal twice.
  test.options.threads = 1;
  test.options.calls = 2;
  const runq::linearizable_verdict alone = test.check();
  EXPECT_EQ(alone.programs(), 4U) << alone;
}

struct right_sum {
  int add(int a, int b) { return a + b; }
};
/// Wrong for one pair of arguments.
template <int A, int B>
struct wrong_sum {
  int add(int a, int b) { return a == A && b == B ? 0 : a + b; }
};
template <int A, int B>
void expect_found_and_printed() {
  runq::linearizable<wrong_sum<A, B>, right_sum> test;
  test.operation("add", RUNQ_CODE([](auto& s, int a, int b) { return s.add(a, b); }), runq::one_of(1, 2),
                 runq::one_of(3, 4));
  test.options.threads = 1;
  test.options.calls = 1;
  EXPECT_EQ(test.programs().size(), 4U);
  const runq::linearizable_verdict v = test.check();
  EXPECT_EQ(v.failure(), "not linearizable") << A << ", " << B << ": " << v;
  const std::string call = "object.call(\"add\", call_add, " + std::to_string(A) + ", " + std::to_string(B) + ");";
  EXPECT_NE(v.program().find(call), std::string::npos) << v;
}
TEST(Linearizable, MakesEveryCombinationOfArguments) {
  expect_found_and_printed<1, 3>();
  expect_found_and_printed<1, 4>();
  expect_found_and_printed<2, 3>();
  expect_found_and_printed<2, 4>();
}

/// Wrong where a thread calls twice, the second time with a smaller number.
class picky_exchange {
 public:
  int set(int value) {
    const int before = last_.exchange(value);
    return before == 2 && value == 1 ? 9 : before;
  }

 private:
  std::atomic<int> last_{0};
};
struct right_exchange {
  int last = 0;
  int set(int value) { return std::exchange(last, value); }
};
TEST(Linearizable, ThreadsMakeEveryPairOfCalls) {
  runq::linearizable<picky_exchange, right_exchange> test;
  test.operation("set", RUNQ_CODE([](auto& s, int value) { return s.set(value); }), runq::one_of(1, 2));
  test.options.threads = 1;
  const runq::linearizable_verdict v = test.check();
  EXPECT_EQ(v.failure(), "not linearizable") << v;
  EXPECT_EQ(v.calls(), 2U) << v;
  EXPECT_EQ(test.programs().size(), 2U + 4U);
}

TEST(Linearizable, SaysWhatItLeavesOut) {
  stack_test<treiber_stack<true>, runq::spec::stack<int>> test;
  const runq::linearizable_verdict v = test.check();
  EXPECT_EQ(v.text().rfind("exhaustive: linearizable: ", 0), 0U) << v;
  EXPECT_NE(v.text().find("; left out: load buffering\n"), std::string::npos) << v;
  test.options.each.bound = 1;
  const runq::linearizable_verdict bounded = test.check();
  EXPECT_EQ(bounded.text().rfind("bounded: linearizable: ", 0), 0U) << bounded;
}

/// A function of the C library that the checker does not see.
struct asks_the_system {
  std::atomic<int> asked{0};
  int ask() { return asked.fetch_add(::access("/", F_OK) + 1); }
};
struct asks_nobody {
  int asked = 0;
  int ask() { return asked++; }
};
TEST(Linearizable, NamesCodeThatIsNotSeenOnceForAllPrograms) {
  runq::linearizable<asks_the_system, asks_nobody> test;
  test.operation("ask", RUNQ_CODE([](auto& s) { return s.ask(); }));
  for (const unsigned jobs : {1U, 2U}) {
    test.options.jobs = jobs;
    const runq::linearizable_verdict v = test.check();
    EXPECT_EQ(v.text().rfind("bounded: linearizable: ", 0), 0U) << v;
    EXPECT_NE(v.text().find(", code that is not seen (named below)\nnot seen: access(), in libc.so.6: called "),
              std::string::npos)
        << v;
    EXPECT_EQ(v.text().find("\nnot seen"), v.text().rfind("\nnot seen")) << v;
  }
}

TEST(Linearizable, PassesAStackThatIsOne) {
  const runq::linearizable_verdict v = check_stack<treiber_stack<true>, runq::spec::stack<int>>();
  EXPECT_TRUE(v.passed()) << v;
  EXPECT_EQ(v.programs(), 27U);
  EXPECT_EQ(v.programs_passed(), 27U);
  EXPECT_EQ(v.failure(), "");
  EXPECT_NE(v.text().find("linearizable: 27 of 27 programs of up to 2 threads with 2 calls"), std::string::npos) << v;
}

TEST(Linearizable, FindsTheSmallestProgramThatFails) {
  const runq::linearizable_verdict v = check_stack<treiber_stack<false>, runq::spec::stack<int>>();
  EXPECT_TRUE(v.failed());
  EXPECT_EQ(v.failure(), "not linearizable") << v;
  EXPECT_EQ(v.calls(), 3U) << v;
  EXPECT_NE(v.text().find("no order explains it"), std::string::npos) << v;
  // A class that is its own specification is wrong only where threads meet.
  const runq::linearizable_verdict own = check_stack<treiber_stack<false>, treiber_stack<false>>();
  EXPECT_EQ(own.failure(), "not linearizable") << own;
  EXPECT_EQ(own.calls(), 3U) << own;
}

TEST(Linearizable, IsTheSameFromRunToRunAndWithAnyNumberOfJobs) {
  stack_test<treiber_stack<false>, runq::spec::stack<int>> test;
  const std::string once = without_times(test.check().text());
  EXPECT_EQ(without_times(test.check().text()), once);
  test.options.jobs = 3;
  EXPECT_EQ(without_times(test.check().text()), once);
}

TEST(Linearizable, PrintsAProgramThatCompilesAndFailsTheSameWay) {
  const runq::linearizable_verdict v = check_stack<treiber_stack<false>, runq::spec::stack<int>>();
  const std::string file = testing::TempDir() + "linearizable_program_" + std::to_string(getpid()) + ".cpp";
  std::ofstream(file) << "#include \"linearizable_classes.hpp\"\n" << v.program();
  const std::string command = std::string("'" RUNQ_CHECK_COMMAND "' '") + file + "' -- '-I" RUNQ_TEST_FOLDER "' 2>&1";
  FILE* const output = popen(command.c_str(), "r");
  ASSERT_NE(output, nullptr);
  std::string said;
  for (int c = std::fgetc(output); c != EOF; c = std::fgetc(output)) said += static_cast<char>(c);
  EXPECT_EQ(WEXITSTATUS(pclose(output)), 1) << said;
  EXPECT_EQ(said.rfind("FAIL", 0), 0U) << said << v;
  EXPECT_NE(said.find("not linearizable"), std::string::npos) << said << v;
  std::remove(file.c_str());
}

TEST(Linearizable, CountsWhatItDoesNotDecide) {
  stack_test<treiber_stack<true>, runq::spec::stack<int>> test;
  test.options.each.max_executions = 1;
  const runq::linearizable_verdict v = test.check();
  EXPECT_TRUE(v.undecided());
  EXPECT_NE(v.text().find("limit reached"), std::string::npos) << v;
  EXPECT_EQ(v.calls(), 2U) << v;
}

TEST(Linearizable, ALostRaceNeedsAWinnerBesideIt) {
  const runq::linearizable_verdict right = check_stack<treiber_stack<false>, stack_that_loses>();
  EXPECT_TRUE(right) << right;
  // The pop has no other thread to lose against.
  const runq::linearizable_verdict wrong = check_stack<shy_stack, stack_that_loses>();
  EXPECT_EQ(wrong.failure(), "not linearizable") << wrong;
  EXPECT_EQ(wrong.calls(), 1U) << wrong;
  EXPECT_EQ(wrong.text().find("std::thread t1"), std::string::npos) << wrong;
  EXPECT_TRUE((check_stack<shy_stack, stack_that_fails>()));
}

template <class Specification>
[[nodiscard]] runq::linearizable_verdict check_watched_stack() {
  runq::linearizable<watched_stack, Specification> test;
  test.initially("push", RUNQ_CODE([](auto& s, int value) { return s.push(value); }), 1);
  test.operation("pop", RUNQ_CODE([](auto& s) { return s.pop(); }));
  test.operation("empty", RUNQ_CODE([](auto& s) { return s.empty(); }));
  test.options.calls = 1;
  return test.check();
}
TEST(Linearizable, NobodyLosesAgainstACallThatChangesNothing) {
  const runq::linearizable_verdict v = check_watched_stack<stack_that_loses>();
  EXPECT_EQ(v.failure(), "not linearizable") << v;
  EXPECT_NE(v.text().find("call_empty"), std::string::npos) << v;
  // Which calls change a specification that cannot be compared is not known.
  EXPECT_TRUE(check_watched_stack<opaque_stack_that_loses>());
}

TEST(Linearizable, ALockFreeCallWaitsForNobodyWhoHasStopped) {
  stack_test<treiber_stack<true>, runq::spec::stack<int>> plain;
  runq::linearizable<treiber_stack<true>, runq::spec::stack<int>> test;
  test.operation("push", RUNQ_CODE([](auto& s, int value) { return s.push(value); }), runq::fresh).lock_free();
  test.operation("pop", RUNQ_CODE([](auto& s) { return s.pop(); })).lock_free();
  const runq::linearizable_verdict v = test.check();
  EXPECT_TRUE(v.passed()) << v;
  EXPECT_NE(v.text().find("linearizable, lock-free where claimed: 27 of 27"), std::string::npos) << v;
  EXPECT_GT(v.executions(), plain.check().executions()) << v;
}

template <class Lock>
[[nodiscard]] runq::linearizable_verdict check_locked_counter(bool add_is_lock_free) {
  runq::linearizable<locked_counter<Lock>, runq::spec::counter> test;
  auto& add = test.operation("add", RUNQ_CODE([](auto& c, long more) { return c.add(more); }), 1L);
  if (add_is_lock_free) add.lock_free();
  test.operation("read", RUNQ_CODE([](auto& c) { return c.read(); })).lock_free();
  return test.check();
}
TEST(Linearizable, ALockIsNotLockFree) {
  for (const bool spins : {false, true}) {
    const auto check = spins ? &check_locked_counter<spin_lock<true>> : &check_locked_counter<std::mutex>;
    const runq::linearizable_verdict wrong = check(true);
    EXPECT_EQ(wrong.failure(), "not lock-free") << wrong;
    EXPECT_EQ(wrong.calls(), 2U) << wrong;
    EXPECT_NE(wrong.program().find("runq::let_one_stop(2);"), std::string::npos) << wrong;
    EXPECT_NE(wrong.program().find("object.lock_free_call(\"add\", "), std::string::npos) << wrong;
    EXPECT_NE(wrong.text().find("has stopped for ever at step "), std::string::npos) << wrong;
    // Without the claim an addition may wait. A read keeps its claim: it does not wait for an addition that has
    // stopped.
    const runq::linearizable_verdict right = check(false);
    EXPECT_TRUE(right) << right;
  }
}

/// Like stack_that_loses, but cannot be copied: its calls are made again from the beginning.
class loner_that_loses : public stack_that_loses {
 public:
  loner_that_loses() = default;
  loner_that_loses(const loner_that_loses&) = delete;
};
TEST(Linearizable, ASpecificationNeedNotBeCopied) {
  const runq::linearizable_verdict right = check_stack<treiber_stack<false>, loner_that_loses>();
  EXPECT_TRUE(right) << right;
  const runq::linearizable_verdict wrong = check_stack<shy_stack, loner_that_loses>();
  EXPECT_EQ(wrong.failure(), "not linearizable") << wrong;
  EXPECT_EQ(wrong.calls(), 2U) << wrong;
}

/// A permit that is taken twice is waited for, until it is returned.
class one_permit {
 public:
  bool take() {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [this] { return !is_taken_; });
    return is_taken_ = true;
  }
  bool give() {
    const std::lock_guard lock(mutex_);
    is_taken_ = false;
    returned_.notify_all();
    return true;
  }

 private:
  bool is_taken_ = false;
  std::mutex mutex_;
  std::condition_variable returned_;
};
struct one_permit_specified {
  bool is_taken = false;
  bool take() {
    if (is_taken) runq::wait_for_another_call();
    return is_taken = true;
  }
  bool give() {
    if (!is_taken) runq::not_allowed();
    is_taken = false;
    return true;
  }
};
TEST(Linearizable, ProgramsThatWaitForEverOrAreNotAllowedAreLeftOut) {
  runq::linearizable<one_permit, one_permit_specified> test;
  test.operation("take", RUNQ_CODE([](auto& p) { return p.take(); }));
  test.operation("give", RUNQ_CODE([](auto& p) { return p.give(); }));
  const runq::linearizable_verdict v = test.check();
  EXPECT_TRUE(v) << v;
  // One thread takes; takes and gives; two threads do the latter.
  EXPECT_EQ(v.programs(), 3U) << v;
  EXPECT_EQ(v.programs() + v.programs_left_out(), test.programs().size()) << v;
}

TEST(Linearizable, WhatAClassHasLostIsMissedInTheEnd) {
  stack_test<locked_stack<true>, runq::spec::stack<int>> right;
  stack_test<locked_stack<false>, runq::spec::stack<int>> wrong;
  right.options.calls = wrong.options.calls = 1;
  const runq::linearizable_verdict passes = right.check();
  EXPECT_TRUE(passes) << passes;
  EXPECT_NE(passes.text().find("; in the end pop() empties the object"), std::string::npos) << passes;
  const runq::linearizable_verdict fails = wrong.check();
  EXPECT_EQ(fails.failure(), "not linearizable") << fails;
  EXPECT_EQ(fails.calls(), 2U) << fails;
  EXPECT_NE(fails.program().find("object.call(\"pop\", call_pop).has_value(); --left"), std::string::npos) << fails;
  // No program has two calls that push, and one that finds out.
  wrong.options.drain = false;
  const runq::linearizable_verdict missed = wrong.check();
  EXPECT_TRUE(missed) << missed;
  EXPECT_EQ(missed.text().find("empties the object"), std::string::npos) << missed;
  // The class by itself knows what it should have, too.
  stack_test<locked_stack<false>, locked_stack<false>> own;
  own.options.calls = 1;
  EXPECT_EQ(own.check().failure(), "not linearizable");
}

/// Its take() waits while there is nothing to take; its look() takes nothing.
class mailbox {
 public:
  void put(int value) {
    const std::lock_guard lock(mutex_);
    inside_.push(value);
    filled_.notify_all();
  }
  std::optional<int> take() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [this] { return !inside_.empty(); });
    return inside_.pop();
  }
  std::optional<int> look() {
    const std::lock_guard lock(mutex_);
    return inside_.empty() ? std::nullopt : std::optional<int>(1);
  }

 private:
  runq::spec::stack<int> inside_;
  std::mutex mutex_;
  std::condition_variable filled_;
};
struct mailbox_specified : runq::spec::stack<int> {
  void put(int value) { push(value); }
  std::optional<int> take() {
    if (empty()) runq::wait_for_another_call();
    return pop();
  }
  [[nodiscard]] std::optional<int> look() const { return empty() ? std::nullopt : std::optional<int>(1); }
};
TEST(Linearizable, NothingIsTakenInTheEndByACallThatWaitsOrOnlyLooks) {
  runq::linearizable<mailbox, mailbox_specified> test;
  test.operation("put", RUNQ_CODE([](auto& m, int value) { m.put(value); }), runq::fresh);
  test.operation("take", RUNQ_CODE([](auto& m) { return m.take(); }));
  test.operation("look", RUNQ_CODE([](auto& m) { return m.look(); }));
  test.options.calls = 1;
  const runq::linearizable_verdict v = test.check();
  EXPECT_TRUE(v) << v;
  EXPECT_EQ(v.text().find("empties the object"), std::string::npos) << v;
}

TEST(Linearizable, TellsWhatTheGenerationCosts) {
  const runq::linearizable_verdict v = check_stack<treiber_stack<true>, runq::spec::stack<int>>();
  EXPECT_GT(v.search_seconds(), 0) << v;
  EXPECT_GE(v.generation_seconds(), 0) << v;
  EXPECT_NE(v.text().find(" s (generation 0."), std::string::npos) << v;
}

// --- each specification has a wrong twin -----------------------------------------------------------------------------

TEST(Specification, StackAndQueueAreNotTheSame) {
  const runq::linearizable_verdict claimed = [] {
    stack_test<runq::spec::queue<int>, runq::spec::stack<int>> test;
    test.options.threads = 1;
    test.options.calls = 3;
    return test.check();
  }();
  EXPECT_EQ(claimed.failure(), "not linearizable") << claimed;
  EXPECT_EQ(claimed.calls(), 2U) << claimed;
  stack_test<runq::spec::stack<int>, runq::spec::queue<int>> test;
  test.options.threads = 1;
  test.options.calls = 3;
  EXPECT_EQ(test.check().failure(), "not linearizable");
}

template <class Class>
[[nodiscard]] runq::linearizable_verdict check_deque() {
  runq::linearizable<Class, runq::spec::deque<int>> test;
  test.operation("push_back", RUNQ_CODE([](auto& d, int v) { return d.push_back(v); }), runq::fresh);
  test.operation("pop_front", RUNQ_CODE([](auto& d) { return d.pop_front(); }));
  test.operation("pop_back", RUNQ_CODE([](auto& d) { return d.pop_back(); }));
  test.options.threads = 1;
  test.options.calls = 3;
  return test.check();
}
TEST(Specification, DequeHasAWrongTwin) {
  EXPECT_TRUE(check_deque<runq::spec::deque<int>>());
  const runq::linearizable_verdict v = check_deque<wrong_deque>();
  EXPECT_EQ(v.failure(), "not linearizable") << v;
}

template <class Class>
[[nodiscard]] runq::linearizable_verdict check_set() {
  runq::linearizable<Class, runq::spec::set<int>> test;
  test.operation("insert", RUNQ_CODE([](auto& s, int v) { return s.insert(v); }), runq::one_of(1, 2));
  test.operation("erase", RUNQ_CODE([](auto& s, int v) { return s.erase(v); }), 1);
  test.operation("contains", RUNQ_CODE([](auto& s, int v) { return s.contains(v); }), 1);
  test.options.threads = 1;
  return test.check();
}
TEST(Specification, SetHasAWrongTwin) {
  const runq::linearizable_verdict right = check_set<runq::spec::set<int>>();
  EXPECT_TRUE(right) << right;
  EXPECT_EQ(right.programs(), 4U + 16U);
  EXPECT_EQ(check_set<wrong_set>().failure(), "not linearizable");
}

template <class Class>
[[nodiscard]] runq::linearizable_verdict check_map() {
  runq::linearizable<Class, runq::spec::map<int, int>> test;
  test.operation("assign", RUNQ_CODE([](auto& m, int key, int value) { return m.assign(key, value); }), 1, runq::fresh);
  test.operation("erase", RUNQ_CODE([](auto& m, int key) { return m.erase(key); }), 1);
  test.operation("find", RUNQ_CODE([](auto& m, int key) { return m.find(key); }), 1);
  test.options.threads = 1;
  return test.check();
}
TEST(Specification, MapHasAWrongTwin) {
  EXPECT_TRUE((check_map<runq::spec::map<int, int>>()));
  EXPECT_EQ(check_map<wrong_map>().failure(), "not linearizable");
}

template <class Class>
[[nodiscard]] runq::linearizable_verdict check_register() {
  runq::linearizable<Class, runq::spec::reg<int>> test;
  test.operation("exchange", RUNQ_CODE([](auto& r, int value) { return r.exchange(value); }), runq::fresh);
  test.operation("read", RUNQ_CODE([](auto& r) { return r.read(); }));
  return test.check();
}
TEST(Specification, RegisterHasAWrongTwin) {
  EXPECT_TRUE(check_register<atomic_register<true>>());
  EXPECT_EQ(check_register<atomic_register<false>>().failure(), "not linearizable");
}

template <class Class>
[[nodiscard]] runq::linearizable_verdict check_counter() {
  runq::linearizable<Class, runq::spec::counter> test;
  test.operation("increment", RUNQ_CODE([](auto& c) { c.increment(); }));
  test.finally("read", RUNQ_CODE([](auto& c) { return c.read(); }));
  return test.check();
}
TEST(Specification, CounterHasAWrongTwin) {
  EXPECT_TRUE(check_counter<atomic_counter<true>>());
  const runq::linearizable_verdict v = check_counter<atomic_counter<false>>();
  EXPECT_EQ(v.failure(), "not linearizable") << v;
  EXPECT_EQ(v.calls(), 2U) << v;
}

template <class Class>
[[nodiscard]] runq::linearizable_verdict check_semaphore() {
  runq::linearizable<Class, runq::spec::semaphore> test;
  test.initially("release", RUNQ_CODE([](auto& s) { s.release(); }));
  test.operation("try_acquire", RUNQ_CODE([](auto& s) { return s.try_acquire(); }));
  test.operation("acquire", RUNQ_CODE([](auto& s) { s.acquire(); }));
  test.operation("release", RUNQ_CODE([](auto& s) { s.release(); }));
  return test.check();
}
TEST(Specification, SemaphoreHasAWrongTwinAndWaits) {
  const runq::linearizable_verdict right = check_semaphore<spinning_semaphore<true>>();
  EXPECT_TRUE(right) << right;
  EXPECT_GT(right.programs_left_out(), 0U) << right;  // acquire, acquire
  EXPECT_EQ(check_semaphore<spinning_semaphore<false>>().failure(), "not linearizable");
}

template <class Class>
[[nodiscard]] runq::linearizable_verdict check_mutex() {
  runq::linearizable<Class, runq::spec::mutex> test;
  test.operation("lock", RUNQ_CODE([](auto& m) { m.lock(); }));
  test.operation("try_lock", RUNQ_CODE([](auto& m) { return m.try_lock(); }));
  test.operation("unlock", RUNQ_CODE([](auto& m) { m.unlock(); }));
  return test.check();
}
TEST(Specification, MutexHasAWrongTwinAndOwners) {
  const runq::linearizable_verdict right = check_mutex<spin_lock<true>>();
  EXPECT_TRUE(right) << right;
  EXPECT_GT(right.programs_left_out(), 0U) << right;  // an unlock without a lock
  const runq::linearizable_verdict of_library = check_mutex<std::mutex>();
  EXPECT_TRUE(of_library) << of_library;
  const runq::linearizable_verdict wrong = check_mutex<spin_lock<false>>();
  EXPECT_EQ(wrong.failure(), "not linearizable") << wrong;
  EXPECT_EQ(wrong.calls(), 2U) << wrong;
}

}  // namespace
