// SPDX-License-Identifier: MIT
// Long chains of tasks in which each waits for the next, destroyed because main has ended. The innermost frame must be
// destroyed first and each frame once. The stack must not grow with the length of the chain.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <sys/resource.h>

#include "fork_policies.hpp"
#include "repeats.hpp"
#include "support.hpp"

namespace {

using runq::fork_policy;
using runq::task;

// A million frames are so many that a stack of 8 MiB, the usual limit, overflows if it grows with their number; where a
// sanitizer makes the stack's frames larger, 100,000 are. An emulator has no time for more. Nor has a loop of edges.py;
// so the stack may be as much smaller there as the chain is shorter.
constexpr int deepest = sched_test::slow_build ? 100'000 : 1'000'000;
const int deep = sched_test::repeated_as_a_whole() ? 25'000 : deepest;
constexpr rlim_t stack_in_a_loop = 200 * 1024;

/// While it exists, the main thread's stack does not grow beyond `stack_in_a_loop`, if edges.py repeats the test.
class stack_limit {
 public:
  stack_limit() {
    EXPECT_EQ(getrlimit(RLIMIT_STACK, &before_), 0);
    rlimit now = before_;
    if (sched_test::repeated_as_a_whole()) now.rlim_cur = std::min(now.rlim_cur, stack_in_a_loop);
    EXPECT_EQ(setrlimit(RLIMIT_STACK, &now), 0);
  }
  stack_limit(const stack_limit&) = delete;
  stack_limit& operator=(const stack_limit&) = delete;
  ~stack_limit() { EXPECT_EQ(setrlimit(RLIMIT_STACK, &before_), 0); }

 private:
  rlimit before_{};
};

/// What the frames of a chain report: how many are alive, and in which order they are destroyed.
struct observer {
  runq::channel<int> never;
  int alive = 0;
  int last_ended = -1;  // the depth of the frame that was destroyed last; the innermost has depth 0
  int out_of_order = 0;
  bool innermost_waits = false;
};

struct local {
  local(observer& by, int depth) : o(by), at(depth) { ++o.alive; }
  local(const local&) = delete;
  local& operator=(const local&) = delete;
  ~local() {
    --o.alive;
    if (at != o.last_ended + 1) ++o.out_of_order;
    o.last_ended = at;
  }
  observer& o;
  int at;
};

task<int> innermost(observer& o) {
  const local here(o, 0);
  o.innermost_waits = true;
  co_return *co_await o.never.receive();
}

task<int> calls(observer& o, int depth) {
  if (depth == 0) co_return co_await innermost(o);
  const local here(o, depth);
  co_return co_await calls(o, depth - 1);
}

task<int> calls_by_name(observer& o, int depth) {
  if (depth == 0) co_return co_await innermost(o);
  const local here(o, depth);
  auto callee = calls_by_name(o, depth - 1);
  co_return co_await callee;
}

task<int> forks(observer& o, int depth) {
  if (depth == 0) co_return co_await innermost(o);
  const local here(o, depth);
  auto child = co_await runq::fork(forks(o, depth - 1));
  co_await runq::join();
  co_return child.get();
}

task<> forks_without_result(observer& o, int depth) {
  if (depth == 0) {
    (void)co_await innermost(o);
    co_return;
  }
  const local here(o, depth);
  co_await runq::fork(forks_without_result(o, depth - 1));
  co_await runq::join();
}

task<int> calls_and_forks(observer& o, int depth) {
  if (depth == 0) co_return co_await innermost(o);
  const local here(o, depth);
  if (depth % 2 == 0) co_return co_await calls_and_forks(o, depth - 1);
  auto child = co_await runq::fork(calls_and_forks(o, depth - 1));
  co_await runq::join();
  co_return child.get();
}

// Each of these is a task of its own for each depth, and takes about five frames. The memory of a million of them would
// be more than a gigabyte.
const int deep_tasks = deep / 5;

task<int> scopes(observer& o, int depth) {
  if (depth == 0) co_return co_await innermost(o);
  const local here(o, depth);
  const auto inner = [&]() -> task<> { (void)co_await scopes(o, depth - 1); };
  const auto body = [&](runq::scope& s) -> task<> {
    s.go(inner);
    co_return;
  };
  co_await runq::with_scope(body);
  co_return 0;
}

task<int> spawns(observer& o, int depth) {
  if (depth == 0) co_return co_await innermost(o);
  const local here(o, depth);
  auto handle = runq::spawn(spawns(o, depth - 1));
  co_return co_await handle;
}

task<int> alls(observer& o, int depth) {
  if (depth == 0) co_return co_await innermost(o);
  const local here(o, depth);
  auto both = runq::when_all(alls(o, depth - 1));
  co_return std::get<0>(co_await both);
}

class chains : public sched_test::with_fork_policy {};
INSTANTIATE_TEST_SUITE_P(policies, chains, sched_test::every_fork_policy, sched_test::name_of_fork_policy);

/// Ends a run while a chain of this depth waits, and checks how it was destroyed.
template <class Chain>
void expect_destroyed_from_the_innermost_on(Chain chain, int depth, fork_policy policy) {
  observer o;
  const stack_limit small_stack;
  runq::run(
      [&]() -> task<> {
        runq::go([&]() -> task<> { (void)co_await chain(o, depth); });
        co_await sched_test::yield_until([&] { return o.innermost_waits && o.alive == depth + 1; });
        // After these yields every runnable task has run, so every parent waits at its join.
        co_await runq::yield();
        co_await runq::yield();
      },
      {.procs = 1, .forks = policy});
  EXPECT_EQ(o.alive, 0);
  EXPECT_EQ(o.last_ended, depth);
  EXPECT_EQ(o.out_of_order, 0);
  EXPECT_EQ(o.never.try_send(1), runq::channel_result::waits) << "a task that has ended has received";
}

TEST_P(chains, of_calls_are_destroyed_from_the_innermost_on_at_any_depth) {
  for (const int depth : {0, 1, 2, 10, deep}) expect_destroyed_from_the_innermost_on(calls, depth, GetParam());
}
TEST_P(chains, of_calls_of_tasks_with_names_are_destroyed_from_the_innermost_on) {
  for (const int depth : {1, 2, 10, deep}) expect_destroyed_from_the_innermost_on(calls_by_name, depth, GetParam());
}
TEST_P(chains, of_forked_children_with_results_are_destroyed_from_the_innermost_on) {
  for (const int depth : {1, 2, 10, deep}) expect_destroyed_from_the_innermost_on(forks, depth, GetParam());
}
TEST_P(chains, of_forked_children_without_results_are_destroyed_from_the_innermost_on) {
  for (const int depth : {1, 2, 10, deep}) {
    expect_destroyed_from_the_innermost_on(
        [](observer& o, int n) -> task<int> {
          co_await runq::fork(forks_without_result(o, n));
          co_await runq::join();
          co_return 0;
        },
        depth, GetParam());
  }
}
TEST_P(chains, of_calls_and_forks_by_turns_are_destroyed_from_the_innermost_on) {
  for (const int depth : {1, 2, 10, deep}) expect_destroyed_from_the_innermost_on(calls_and_forks, depth, GetParam());
}

TEST_P(chains, of_children_of_scopes_are_destroyed_from_the_innermost_on) {
  for (const int depth : {1, 2, 10, deep_tasks}) expect_destroyed_from_the_innermost_on(scopes, depth, GetParam());
}
TEST_P(chains, of_spawned_tasks_that_are_awaited_are_destroyed_from_the_innermost_on) {
  for (const int depth : {1, 2, 10, deep_tasks}) expect_destroyed_from_the_innermost_on(spawns, depth, GetParam());
}
TEST_P(chains, of_pieces_of_work_are_destroyed_from_the_innermost_on) {
  for (const int depth : {1, 2, 10, deep_tasks}) expect_destroyed_from_the_innermost_on(alls, depth, GetParam());
}

TEST(chains, a_task_that_outlives_the_run_in_which_it_waited_is_gone_with_the_run) {
  observer o;
  auto outer = calls(o, 10);
  runq::run(
      [&]() -> task<> {
        runq::go([&]() -> task<> { (void)co_await outer; });
        co_await sched_test::yield_until([&] { return o.innermost_waits; });
      },
      {.procs = 1});
  EXPECT_EQ(o.alive, 0);
  EXPECT_EQ(o.out_of_order, 0);
  auto moved = std::move(outer);
}

// A coroutine type of the user's own, which stands between two tasks of a chain. The task that it awaits must be
// destroyed with it.
struct lazily {
  struct promise_type {
    std::coroutine_handle<> caller;
    lazily get_return_object() noexcept { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct back {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) noexcept {
          return h.promise().caller;
        }
        void await_resume() noexcept {}
      };
      return back();
    }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
  lazily(std::coroutine_handle<promise_type> h) noexcept : handle(h) {}  // NOLINT(google-explicit-constructor)
  lazily(lazily&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  lazily& operator=(lazily&&) = delete;
  ~lazily() {
    if (handle) handle.destroy();
  }
  bool await_ready() noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
    handle.promise().caller = caller;
    return handle;
  }
  void await_resume() noexcept {}
  std::coroutine_handle<promise_type> handle;
};

lazily between(observer& o, int depth, runq::channel<int>& c, int& got) {
  const local here(o, depth + 1);
  got = co_await [](runq::channel<int>& from) -> task<int> { co_return *co_await from.receive(); }(c);
  (void)co_await calls(o, depth);
}

TEST(chains, with_a_coroutine_of_another_kind_between_return_to_it_and_are_destroyed_with_it) {
  observer o;
  int got = 0;
  runq::run(
      [&]() -> task<> {
        runq::channel<int> c;
        runq::go([&]() -> task<> { co_await between(o, 5, c, got); });
        co_await c.send(7);
        co_await sched_test::yield_until([&] { return o.innermost_waits; });
      },
      {.procs = 1});
  EXPECT_EQ(got, 7);
  EXPECT_EQ(o.alive, 0);
  EXPECT_EQ(o.out_of_order, 0);
}

// The task of a scope is below a coroutine of another kind, whose frame belongs to the program.
TEST(chains, with_a_scope_below_a_coroutine_of_another_kind_are_destroyed_from_the_innermost_on) {
  observer o;
  runq::run(
      [&]() -> task<> {
        const auto between_them = [&]() -> lazily {
          const local here(o, 4);
          (void)co_await scopes(o, 3);
        };
        runq::go([&]() -> task<> {
          const local here(o, 5);
          co_await between_them();
        });
        co_await sched_test::yield_until([&] { return o.innermost_waits; });
      },
      {.procs = 1});
  EXPECT_EQ(o.alive, 0);
  EXPECT_EQ(o.last_ended, 5);
  EXPECT_EQ(o.out_of_order, 0);
}

// The task of the scope is runnable, so it is destroyed before the sleeping task whose frames are above the coroutine
// of another kind.
TEST(chains, with_a_runnable_task_below_a_coroutine_of_another_kind_leave_that_coroutine_to_its_owner) {
  observer o;
  bool over = false;
  bool runs = false;
  const auto in_scope = [&]() -> task<> {
    const local here(o, 0);
    runs = true;
    while (!over) co_await runq::yield();
  };
  const auto waits_for_it = [&]() -> task<> {
    const local here(o, 1);
    const auto body = [&](runq::scope& s) -> task<> {
      s.go(in_scope);
      co_return;
    };
    co_await runq::with_scope(body);
  };
  const auto between_them = [&]() -> lazily {
    const local here(o, 2);
    co_await waits_for_it();
  };
  runq::run(
      [&]() -> task<> {
        runq::go([&]() -> task<> {
          const local here(o, 3);
          co_await between_them();
        });
        co_await sched_test::yield_until([&] { return runs; });
      },
      {.procs = 1});
  EXPECT_EQ(o.alive, 0);
  EXPECT_EQ(o.last_ended, 3);
  EXPECT_EQ(o.out_of_order, 0);
}

// While a chain is destroyed, a destructor in it destroys tasks that never began. The two destructions must not mix up
// each other's frames.
TEST(chains, a_destructor_may_destroy_a_task_that_has_not_begun) {
  observer o;
  runq::run(
      [&]() -> task<> {
        runq::go([&]() -> task<> {
          std::vector<task<int>> fresh;
          for (int i = 0; i != 10; ++i) fresh.push_back(calls(o, i));
          (void)co_await calls(o, 10);
        });
        co_await sched_test::yield_until([&] { return o.innermost_waits; });
      },
      {.procs = 1});
  EXPECT_EQ(o.alive, 0);
  EXPECT_EQ(o.out_of_order, 0);
}

// A child that has ended stays in its parent's list of children until the join. Its result may be dropped before that.
TEST_P(chains, the_result_of_a_child_that_has_ended_may_be_dropped_before_the_join) {
  for (int round = 0; round != 20; ++round) {
    runq::run(
        []() -> task<> {
          runq::channel<int> gate;
          runq::channel<int> other_gate;
          bool first_has_ended = false;
          const auto receive = [&]() -> task<int> {
            const int got = *co_await gate.receive();
            first_has_ended = true;
            co_return got;
          };
          const auto receive_other = [&]() -> task<int> { co_return *co_await other_gate.receive(); };
          std::optional<runq::forked<int>> first = co_await runq::fork(receive());
          auto second = co_await runq::fork(receive_other());
          co_await gate.send(1);
          co_await sched_test::yield_until([&] { return first_has_ended; });
          first.reset();
          co_await other_gate.send(2);
          co_await runq::join();
          EXPECT_EQ(second.get(), 2);
        },
        {.procs = 1, .forks = GetParam()});
  }
}

}  // namespace
