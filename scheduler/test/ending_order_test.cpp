// SPDX-License-Identifier: MIT
// In which order the end of a run destroys tasks: every way in which one task may wait for another × every way in which
// that one waits × every way in which the run ends. The child's last act uses a variable of the coroutine that waits
// for the child, and AddressSanitizer sees it if that variable is gone.
#include <array>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <runq/net.hpp>
#include <sys/socket.h>

#include "support.hpp"

namespace {

using namespace std::chrono_literals;
using runq::task;
using sched_test::hold_until;

/// What a program of this test uses besides its tasks. It outlives them.
struct world {
  world() {
    (void)locked.try_lock();
    (void)locked_shared.try_lock();
    counts_one.add(1);
  }

  // All waits of the children, for what never comes.
  runq::channel<int> empty;
  runq::channel<int> never_received;
  runq::mutex locked;
  runq::shared_mutex locked_shared;
  runq::semaphore no_units{0};
  runq::wait_group counts_one;
  runq::latch closed{1};
  std::atomic<bool> over{false};  // main is at its end
  std::stop_source let_go;        // for a run that lasts until all tasks have ended
  bool with_token = false;
  bool early = false;  // the run ends although some tasks have not begun

  std::atomic<int> begun{0};      // children that have begun
  std::atomic<int> alive{0};      // objects of children and parents
  std::atomic<int> unawaited{0};  // handles that a parent is about to await
  std::atomic<int> disorder{0};

  [[nodiscard]] std::stop_token token() const { return with_token ? let_go.get_token() : std::stop_token(); }
};

/// A variable of the parent.
class variable {
 public:
  explicit variable(world& w) : w_(w) { ++w_.alive; }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;
  ~variable() {
    if (users_ != 0) ++w_.disorder;
    --w_.alive;
  }
  void use(int change) { users_ += change; }

 private:
  world& w_;
  std::atomic<int> users_{0};
  // So that a use of memory that is free does not look right by chance.
  std::unique_ptr<std::string> text_ = std::make_unique<std::string>("longer than a small string of the library");
};

/// A child's variable, which uses a variable of the parent to the end.
class user_of {
 public:
  explicit user_of(world& w, variable& of) : w_(w), of_(of) {
    of_.use(1);
    ++w_.alive;
  }
  user_of(const user_of&) = delete;
  user_of& operator=(const user_of&) = delete;
  ~user_of() {
    of_.use(-1);
    --w_.alive;
  }

 private:
  world& w_;
  variable& of_;
};

// ---- how a child waits ----------------------------------------------------------------------------------------------

using way_to_wait = task<> (*)(world&);

task<> sleeps(world& w) { co_await runq::sleep_for(1h, w.token()); }
task<> receives(world& w) {
  std::optional<int> value;
  (void)co_await runq::select(w.token(), runq::on_receive(w.empty, value));
}
task<> sends(world& w) {
  if (w.with_token) {
    co_await sleeps(w);
  } else {
    co_await w.never_received.send(1);
  }
}
task<> locks(world& w) { (void)co_await w.locked.scoped_lock(w.token()); }
task<> reads_shared(world& w) { (void)co_await w.locked_shared.scoped_lock_shared(w.token()); }
task<> acquires(world& w) { co_await w.no_units.acquire(w.token()); }
task<> waits_for_group(world& w) { co_await w.counts_one.wait(w.token()); }
task<> waits_for_latch(world& w) { co_await w.closed.wait(w.token()); }
task<> yields(world& w) {
  while (!w.over) co_await runq::yield();
}
task<> blocks(world& w) {
  const auto call = [&w] {
    while (!w.over) std::this_thread::yield();
  };
  co_await runq::blocking(call);
}
task<> reads_from_peer(world& w) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) throw std::runtime_error("socketpair");
  runq::net::stream here(ends[0]);
  runq::net::stream there(ends[1]);
  std::array<std::byte, 1> room{};
  if (w.with_token) {
    try {
      (void)co_await here.read(room, w.token());
    } catch (const std::exception&) {
    }
  } else {
    (void)co_await here.read(room);
  }
}
task<> joins(world& w) {
  co_await runq::fork(sleeps(w));
  co_await runq::join();
}
task<> waits_in_scope(world& w) {
  const auto body = [&w](runq::scope& s) -> task<> {
    s.go([&w] { return sleeps(w); });
    co_return;
  };
  co_await runq::with_scope(body);
}
task<> awaits_handle(world& w) {
  auto handle = runq::spawn([&w] { return sleeps(w); });
  co_await handle;
}

struct named_wait {
  const char* name;
  way_to_wait way;
};
constexpr named_wait ways_to_wait[] = {
    {"sleeps", sleeps},
    {"receives", receives},
    {"sends", sends},
    {"locks", locks},
    {"reads_shared", reads_shared},
    {"acquires", acquires},
    {"waits_for_group", waits_for_group},
    {"waits_for_latch", waits_for_latch},
    {"yields", yields},
    {"blocks", blocks},
    {"reads_from_peer", reads_from_peer},
    {"joins", joins},
    {"waits_in_scope", waits_in_scope},
    {"awaits_handle", awaits_handle},
};

// ---- how a parent waits for the child -------------------------------------------------------------------------------

struct combination {
  world& w;
  way_to_wait waits;
};

task<> child(combination c, variable& of) {
  const user_of mine(c.w, of);
  ++c.w.begun;
  co_await c.waits(c.w);
}
task<int> child_with_result(combination c, variable& of) {
  co_await child(c, of);
  co_return 1;
}

using way_to_own = task<> (*)(combination);

task<> calls(combination c) {
  variable mine(c.w);
  co_await child(c, mine);
}
task<> starts_in_scope(combination c) {
  variable mine(c.w);
  const auto body = [&](runq::scope& s) -> task<> {
    s.go([&] { return child(c, mine); });
    s.go(child(c, mine));
    co_return;
  };
  co_await runq::with_scope(body);
}
// The body waits, too, and the child uses a variable of the body.
task<> starts_in_waiting_body(combination c) {
  const auto body = [&](runq::scope& s) -> task<> {
    variable of_body(c.w);
    runq::wait_group ended;
    ended.add(1);
    const auto work = [&]() -> task<> {
      try {
        co_await child(c, of_body);
      } catch (const runq::cancelled&) {
      }
      ended.done();
    };
    s.go(work);
    co_await ended.wait();
  };
  co_await runq::with_scope(body);
}
// The body awaits the handle of one child; the handle of the other is dropped.
task<> spawns_in_scope(combination c) {
  variable mine(c.w);
  const auto body = [&](runq::scope& s) -> task<> {
    static_cast<void>(s.spawn(child(c, mine)));
    auto handle = s.spawn(child_with_result(c, mine));
    (void)co_await handle;
  };
  co_await runq::with_scope(body);
}
task<> forks_in_scope(combination c) {
  variable mine(c.w);
  const auto body = [&](runq::scope& s) -> task<> { co_await s.fork(child(c, mine)); };
  co_await runq::with_scope(body);
}
task<> is_body_of_scope(combination c) {
  variable mine(c.w);
  const auto body = [&](runq::scope&) { return child(c, mine); };
  co_await runq::with_scope(body);
}
task<> child_starts_another(combination c) {
  variable mine(c.w);
  const auto body = [&](runq::scope& s) -> task<> {
    const auto starts = [&]() -> task<> {
      s.go(child(c, mine));
      co_await c.waits(c.w);
    };
    s.go(starts);
    co_return;
  };
  co_await runq::with_scope(body);
}
task<> scopes_within_scopes(combination c) {
  variable mine(c.w);
  const auto inner = [&](runq::scope& s) -> task<> {
    s.go(child(c, mine));
    co_return;
  };
  const auto middle = [&](runq::scope& s) -> task<> {
    const auto work = [&]() -> task<> {
      const user_of one(c.w, mine);
      co_await runq::with_scope(inner);
    };
    s.go(work);
    co_await runq::with_scope(inner);
  };
  co_await runq::with_scope(middle);
}
task<> all_of_tasks(combination c) {
  variable mine(c.w);
  (void)co_await runq::when_all(child(c, mine), child_with_result(c, mine));
}
task<> all_of_functions(combination c) {
  const auto one = [c, own = std::make_shared<variable>(c.w)](std::stop_token) -> task<> { co_await child(c, *own); };
  const auto two = [c, own = std::make_shared<variable>(c.w)](std::stop_token) -> task<> { co_await child(c, *own); };
  (void)co_await runq::when_all(one, two);
}
task<> all_of_vector(combination c) {
  variable mine(c.w);
  std::vector<task<int>> pieces;
  for (int i = 0; i != 3; ++i) pieces.push_back(child_with_result(c, mine));
  (void)co_await runq::when_all(std::move(pieces));
}
task<> all_of_all(combination c) {
  variable mine(c.w);
  (void)co_await runq::when_all(runq::when_all(child(c, mine), child(c, mine)), child(c, mine));
}
task<> all_of_scopes(combination c) { (void)co_await runq::when_all(starts_in_scope(c), forks_in_scope(c)); }
task<> any_of_tasks(combination c) {
  variable mine(c.w);
  (void)co_await runq::when_any(child(c, mine), child_with_result(c, mine));
}
task<> any_of_functions(combination c) {
  const auto one = [c, own = std::make_shared<variable>(c.w)](std::stop_token) -> task<> { co_await child(c, *own); };
  const auto two = [c, own = std::make_shared<variable>(c.w)](std::stop_token) -> task<> { co_await child(c, *own); };
  (void)co_await runq::when_any(one, two);
}
task<> any_of_vector(combination c) {
  variable mine(c.w);
  std::vector<task<>> pieces;
  for (int i = 0; i != 3; ++i) pieces.push_back(child(c, mine));
  (void)co_await runq::when_any(std::move(pieces));
}
task<> forks(combination c) {
  variable mine(c.w);
  co_await runq::fork(child(c, mine));
  co_await runq::join();
}
task<> forks_for_result(combination c) {
  variable mine(c.w);
  auto one = co_await runq::fork(child_with_result(c, mine));
  auto two = co_await runq::fork(child_with_result(c, mine));
  co_await runq::join();
  (void)(one.get() + two.get());
}
task<> awaits_spawned(combination c) {
  variable mine(c.w);
  auto handle = runq::spawn(child(c, mine));
  co_await handle;
}
// The task waits for something else before it awaits the handle.
task<> awaits_spawned_later(combination c) {
  variable mine(c.w);
  auto handle = runq::spawn(child(c, mine));
  try {
    co_await c.waits(c.w);
  } catch (const runq::cancelled&) {
  }
  co_await handle;
}
task<> awaits_spawned_with_token(combination c) {
  variable mine(c.w);
  auto handle = runq::spawn([&] { return child_with_result(c, mine); });
  (void)co_await handle.wait(std::stop_token());
}
task<> awaits_spawned_of_spawned(combination c) {
  variable mine(c.w);
  auto handle = runq::spawn([&]() -> task<> {
    variable inner(c.w);
    const user_of outer(c.w, mine);
    auto second = runq::spawn(child(c, inner));
    co_await second;
  });
  co_await handle;
}
// As `co_await handle`, but counts the handle as awaited when the end of a run knows that it is.
class noted_wait {
 public:
  noted_wait(world& w, runq::spawned<>& handle) : w_(w), wait_(handle.operator co_await()) {}
  bool await_ready() {
    const bool ready = wait_.await_ready();
    if (ready) --w_.unawaited;
    return ready;
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    world& w = w_;  // the task may go on, and destroy this, before the wait returns
    const bool waits = wait_.await_suspend(self);
    --w.unawaited;
    return waits;
  }
  void await_resume() { wait_.await_resume(); }

 private:
  world& w_;
  decltype(std::declval<runq::spawned<>&>().operator co_await()) wait_;
};

// The child is started by one task, and awaited by another, whose variable it uses.
task<> awaits_handle_of_another(combination c) {
  if (c.w.early) co_return;  // until the handle is awaited, nothing tells that this task will wait for the child
  variable mine(c.w);
  ++c.w.unawaited;
  runq::channel<runq::spawned<>> handles(1);
  runq::go([&] {
    auto handle = runq::spawn(child(c, mine));
    (void)handles.try_send(std::move(handle));
  });
  auto handle = co_await handles.receive();
  co_await noted_wait(c.w, *handle);
}
task<> within_time_limit(combination c) {
  variable mine(c.w);
  const auto work = [&](const std::stop_token&) -> task<> { co_await child(c, mine); };
  co_await runq::with_timeout(1h, work);
}
task<> scope_within_time_limit(combination c) {
  variable mine(c.w);
  const auto body = [&](runq::scope& s) -> task<> {
    s.go(child(c, mine));
    co_return;
  };
  const auto work = [&](std::stop_token stop) -> task<> { co_await runq::with_scope(body, stop); };
  co_await runq::with_timeout(1h, work);
}
// The task is another one's than that which awaits it.
task<> owns_what_another_awaits(combination c) {
  variable mine(c.w);
  runq::wait_group ended;
  auto owned = child(c, mine);
  ended.add(1);
  runq::go([&]() -> task<> {
    try {
      co_await owned;
    } catch (const runq::cancelled&) {
    }
    ended.done();
  });
  co_await ended.wait();
}

struct named_owner {
  const char* name;
  way_to_own way;
  friend void PrintTo(const named_owner& o, std::ostream* out) { *out << o.name; }
};
constexpr named_owner ways_to_own[] = {
    {"calls", calls},
    {"starts_in_scope", starts_in_scope},
    {"starts_in_waiting_body", starts_in_waiting_body},
    {"spawns_in_scope", spawns_in_scope},
    {"forks_in_scope", forks_in_scope},
    {"is_body_of_scope", is_body_of_scope},
    {"child_starts_another", child_starts_another},
    {"scopes_within_scopes", scopes_within_scopes},
    {"all_of_tasks", all_of_tasks},
    {"all_of_functions", all_of_functions},
    {"all_of_vector", all_of_vector},
    {"all_of_all", all_of_all},
    {"all_of_scopes", all_of_scopes},
    {"any_of_tasks", any_of_tasks},
    {"any_of_functions", any_of_functions},
    {"any_of_vector", any_of_vector},
    {"forks", forks},
    {"forks_for_result", forks_for_result},
    {"awaits_spawned", awaits_spawned},
    {"awaits_spawned_later", awaits_spawned_later},
    {"awaits_spawned_with_token", awaits_spawned_with_token},
    {"awaits_spawned_of_spawned", awaits_spawned_of_spawned},
    {"awaits_handle_of_another", awaits_handle_of_another},
    {"within_time_limit", within_time_limit},
    {"scope_within_time_limit", scope_within_time_limit},
    {"owns_what_another_awaits", owns_what_another_awaits},
};

// ---- how the run ends -----------------------------------------------------------------------------------------------

struct named_end {
  const char* name;
  void (*run)(combination, way_to_own, runq::options);
};

constexpr int parents = 2;

task<> start_parents(combination c, way_to_own way) {
  for (int i = 0; i != parents; ++i) runq::go(way(c));
  // Each parent has at least one child.
  while (c.w.begun < parents || c.w.unawaited != 0) co_await runq::yield();
  co_await runq::yield();
}

void main_returns(combination c, way_to_own way, runq::options how) {
  const auto main = [&]() -> task<> {
    co_await start_parents(c, way);
    c.w.over = true;
  };
  runq::run(main, how);
}

void main_throws(combination c, way_to_own way, runq::options how) {
  const auto main = [&]() -> task<> {
    co_await start_parents(c, way);
    c.w.over = true;
    throw std::runtime_error("main");
  };
  EXPECT_THROW(runq::run(main, how), std::runtime_error);
}

// Some parents and children have not begun, or are on their way.
void main_returns_early(combination c, way_to_own way, runq::options how) {
  for (int turns = 0; turns != 4; ++turns) {
    const auto main = [&]() -> task<> {
      for (int i = 0; i != parents; ++i) runq::go(way(c));
      for (int i = 0; i != turns; ++i) co_await runq::yield();
      c.w.over = true;
    };
    c.w.over = false;
    c.w.early = true;
    runq::run(main, how);
  }
}

void all_have_ended(combination c, way_to_own way, runq::options how) {
  c.w.with_token = true;
  const auto main = [&]() -> task<> {
    co_await start_parents(c, way);
    c.w.over = true;
    c.w.let_go.request_stop();
  };
  how.until = runq::run_until::all_have_ended;
  runq::run(main, how);
}

void scheduler_is_destroyed(combination c, way_to_own way, runq::options how) {
  runq::scheduler s(how);
  const auto here = s.attach();
  for (int i = 0; i != parents; ++i) here.go(way(c));
  ASSERT_TRUE(sched_test::wait_until([&] { return c.w.begun >= parents && c.w.unawaited == 0; }));
  c.w.over = true;
}

void another_run_follows(combination c, way_to_own way, runq::options how) {
  runq::scheduler s(how);
  for (int i = 0; i != 2; ++i) {
    c.w.begun = 0;
    c.w.over = false;
    s.run([&]() -> task<> {
      co_await start_parents(c, way);
      c.w.over = true;
    });
    EXPECT_EQ(c.w.alive, 0);
  }
}

constexpr named_end ends[] = {
    {"main_returns", main_returns},
    {"main_throws", main_throws},
    {"main_returns_early", main_returns_early},
    {"all_have_ended", all_have_ended},
    {"scheduler_is_destroyed", scheduler_is_destroyed},
    {"another_run_follows", another_run_follows},
};

class owners : public testing::TestWithParam<named_owner> {
 protected:
  static void SetUpTestSuite() { GTEST_FLAG_SET(death_test_style, sched_test::death_test_style); }
};

TEST_P(owners, children_are_destroyed_before_those_that_wait_for_them) {
  const runq::options all_options[] = {{.procs = 1}, {.procs = 2}, {.procs = 2, .forks = runq::fork_policy::child}};
  for (const runq::options& how : all_options) {
    for (const named_wait& wait : ways_to_wait) {
      for (const named_end& end : ends) {
        SCOPED_TRACE(std::string(wait.name) + ", " + end.name + ", procs = " + std::to_string(how.procs) +
                     (how.forks == runq::fork_policy::child ? ", child" : ""));
        world w;
        end.run({w, wait.way}, GetParam().way, how);
        EXPECT_EQ(w.alive, 0) << "variables of tasks were not destroyed";
        EXPECT_EQ(w.disorder, 0) << "a variable was destroyed before a child that uses it";
      }
    }
  }
}

TEST_P(owners, a_panic_destroys_nothing) {
  const auto panics = [] {
    world w;
    const auto main = [&]() -> task<> {
      co_await start_parents({w, sleeps}, GetParam().way);
      runq::go([]() -> task<> {
        co_await runq::yield();
        throw std::runtime_error("away");
      });
      co_await runq::sleep_for(1h);
    };
    runq::run(main, {.procs = 2});
  };
  EXPECT_EXIT(panics(), testing::ExitedWithCode(2), "panic: away");
}

// ---- destructors that destroy the owner of another coroutine --------------------------------------------------------

using way_to_wait_for_next = task<> (*)(task<>&);

task<> calls_next(task<>& next) { co_await next; }
task<> starts_next_in_scope(task<>& next) {
  const auto body = [&](runq::scope& s) -> task<> {
    s.go([&]() -> task<> { co_await next; });
    s.go([]() -> task<> { co_await runq::sleep_for(1h); });
    co_return;
  };
  co_await runq::with_scope(body);
}
// The body has called a coroutine before the task of the scope is put below it.
task<> calls_next_beside_a_child(task<>& next) {
  const auto body = [&](runq::scope& s) -> task<> {
    s.go([]() -> task<> { co_await runq::sleep_for(1h); });
    co_await next;
  };
  co_await runq::with_scope(body);
}
task<> spawns_next_in_scope(task<>& next) {
  const auto body = [&](runq::scope& s) -> task<> {
    auto handle = s.spawn([&]() -> task<> { co_await next; });
    co_await handle;
  };
  co_await runq::with_scope(body);
}
task<> sleeps_long() { co_await runq::sleep_for(1h); }
task<int> next_with_result(task<>& next) {
  co_await next;
  co_return 1;
}
task<> is_next_or_sleeps(task<>& next) { (void)co_await runq::when_all(next_with_result(next), sleeps_long()); }
task<> is_any_of_next_and_sleep(task<>& next) { (void)co_await runq::when_any(next_with_result(next), sleeps_long()); }
task<> forks_next(task<>& next) {
  co_await runq::fork(calls_next(next));
  co_await runq::join();
}
task<> forks_next_for_result(task<>& next) {
  auto first = co_await runq::fork(next_with_result(next));
  co_await runq::join();
  (void)first.get();
}
task<> awaits_spawned_next(task<>& next) {
  auto handle = runq::spawn([&]() -> task<> { co_await next; });
  co_await handle;
}
// Only the task is known that has spawned the next one, and not which of its coroutines: so an owner who destroys that
// coroutine destroys it before the next one.
task<> spawns_next(task<>& next) {
  auto handle = runq::spawn([&]() -> task<> { co_await next; });
  co_await runq::sleep_for(1h);
}
task<> limits_time_of_next(task<>& next) {
  const auto work = [&](const std::stop_token&) -> task<> { co_await next; };
  co_await runq::with_timeout(1h, work);
}

struct named_way {
  const char* name;
  way_to_wait_for_next way;
  friend void PrintTo(const named_way& w, std::ostream* out) { *out << w.name; }
};
constexpr named_way ways_to_wait_for_next[] = {
    {"calls", calls_next},
    {"starts_in_scope", starts_next_in_scope},
    {"calls_beside_a_child", calls_next_beside_a_child},
    {"spawns_in_scope", spawns_next_in_scope},
    {"when_all", is_next_or_sleeps},
    {"when_any", is_any_of_next_and_sleep},
    {"forks", forks_next},
    {"forks_for_result", forks_next_for_result},
    {"awaits_spawned", awaits_spawned_next},
    {"spawns", spawns_next},
    {"limits_time", limits_time_of_next},
};

constexpr int levels = 3;

/// Coroutines that wait for each other, the first one for the second. Each is owned by an object that lies elsewhere,
/// beside a text that the coroutine refers to.
struct chain {
  struct owner {
    std::string text = "longer than a small string of the library";
    std::optional<task<>> coroutine;
  };
  world& w;
  way_to_wait_for_next way;
  std::array<int, levels> destroys{};  // whose owner a destructor of each coroutine destroys, or -1
  std::array<std::unique_ptr<owner>, levels> owners{};
  std::array<int, levels> destroyed{};
};

class last_act {
 public:
  last_act(chain& of, int level) : of_(of), level_(static_cast<std::size_t>(level)), text_(of.owners[level_]->text) {}
  last_act(const last_act&) = delete;
  last_act& operator=(const last_act&) = delete;
  ~last_act() {
    if (text_.size() < 20) ++of_.w.disorder;
    ++of_.destroyed[level_];
    if (const int other = of_.destroys[level_]; other >= 0) of_.owners[static_cast<std::size_t>(other)].reset();
  }

 private:
  chain& of_;
  const std::size_t level_;
  const std::string& text_;
};

task<> runs_level(chain& c, int level, variable* of_previous) {
  variable mine(c.w);
  const last_act last(c, level);
  std::optional<user_of> uses;
  if (of_previous != nullptr) uses.emplace(c.w, *of_previous);
  ++c.w.begun;
  if (level + 1 == levels) {
    co_await runq::sleep_for(1h);
  } else {
    auto& next = c.owners[static_cast<std::size_t>(level) + 1];
    next = std::make_unique<chain::owner>();
    co_await c.way(next->coroutine.emplace(runs_level(c, level + 1, c.way == spawns_next ? nullptr : &mine)));
  }
}

class destroyed_owners : public testing::TestWithParam<named_way> {};

TEST_P(destroyed_owners, a_destructor_destroys_any_coroutine_at_once_and_each_is_destroyed_once) {
  constexpr int choices = levels + 1;
  for (int n = 0; n != choices * choices * choices; ++n) {
    for (const unsigned procs : {1U, 2U}) {
      world w;
      chain c{w, GetParam().way, {n % choices - 1, n / choices % choices - 1, n / (choices * choices) - 1}};
      SCOPED_TRACE("procs = " + std::to_string(procs) + ", destroys " + testing::PrintToString(c.destroys));
      c.owners[0] = std::make_unique<chain::owner>();
      runq::run(
          [&]() -> task<> {
            runq::go([&]() -> task<> { co_await c.owners[0]->coroutine.emplace(runs_level(c, 0, nullptr)); });
            while (w.begun < levels) co_await runq::yield();
            co_await runq::yield();
          },
          {.procs = procs});
      c.owners = {};
      EXPECT_EQ(w.alive, 0);
      EXPECT_EQ(w.disorder, 0);
      EXPECT_THAT(c.destroyed, testing::Each(1));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(all, destroyed_owners, testing::ValuesIn(ways_to_wait_for_next),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

// ---- what the combinations do not have ------------------------------------------------------------------------------

TEST(ending_order, tasks_that_wait_for_each_other_in_a_circle_are_destroyed_once_each) {
  for (const unsigned procs : {1U, 2U}) {
    world w;
    runq::run(
        [&]() -> task<> {
          runq::spawned<> first;
          runq::spawned<> second;
          std::atomic<bool> both{false};
          std::atomic<int> waits{0};
          first = runq::spawn([&]() -> task<> {
            const variable mine(w);
            co_await sched_test::yield_until([&] { return both.load(); });
            auto other = std::move(second);
            ++waits;
            co_await other;
          });
          second = runq::spawn([&]() -> task<> {
            const variable mine(w);
            co_await sched_test::yield_until([&] { return waits != 0; });
            auto other = std::move(first);
            ++waits;
            co_await other;
          });
          both = true;
          co_await sched_test::yield_until([&] { return waits == 2; });
          co_await runq::yield();
        },
        {.procs = procs});
    EXPECT_EQ(w.alive, 0);
  }
}

// A task awaits the handle of the one that waits for it by a scope: the one with the handle goes first.
TEST(ending_order, a_circle_through_a_scope_is_opened_at_the_handle) {
  world w;
  runq::run(
      [&]() -> task<> {
        runq::spawned<> handle;
        std::atomic<bool> waits{false};
        handle = runq::spawn([&]() -> task<> {
          variable mine(w);
          const auto in_scope = [&]() -> task<> {
            const user_of here(w, mine);
            co_await sched_test::yield_until([&] { return handle.valid(); });
            auto other = std::move(handle);
            waits = true;
            co_await other;
          };
          const auto body = [&](runq::scope& s) -> task<> {
            s.go(in_scope);
            co_return;
          };
          co_await runq::with_scope(body);
        });
        co_await sched_test::yield_until([&] { return waits.load(); });
        co_await runq::yield();
      },
      {.procs = 1});
  EXPECT_EQ(w.alive, 0);
  EXPECT_EQ(w.disorder, 0);
}

/// Says so when it is destroyed.
struct says {
  std::string& to;
  const char* what;
  ~says() { to += what; }
};

// A task that nobody awaits goes first, before the one whose handle is awaited; another one is below their waiter, too.
TEST(ending_order, a_circle_is_opened_at_a_task_that_nobody_awaits) {
  world w;
  std::string order;
  runq::run(
      [&]() -> task<> {
        runq::spawned<> spawner;
        std::atomic<int> waits{0};
        spawner = runq::spawn([&]() -> task<> {
          const says last{order, "spawner "};
          auto in_circle = runq::spawn([&]() -> task<> {
            const says first{order, "unawaited "};
            co_await sched_test::yield_until([&] { return spawner.valid(); });
            auto other = std::move(spawner);
            ++waits;
            co_await other;
          });
          auto beside = runq::spawn([&]() -> task<> {
            const says any{order, "beside "};
            ++waits;
            co_await sleeps(w);
          });
          co_await sleeps(w);
        });
        co_await sched_test::yield_until([&] { return waits == 2; });
        for (int i = 0; i != 3; ++i) co_await runq::yield();
      },
      {.procs = 1});
  EXPECT_EQ(order, "beside spawner unawaited ");
}

// The first task has called `inner`, which awaits the second one, which awaits the first one. A task beside them owns
// `inner`.
TEST(ending_order, a_circle_is_opened_at_a_coroutine_whose_owner_is_destroyed) {
  std::string order;
  std::optional<task<>> inner;
  struct owner {
    std::optional<task<>>& owned;
    ~owner() { owned.reset(); }
  };
  runq::spawned<> first;
  runq::spawned<> second;
  std::atomic<int> waits{0};
  const auto awaits_second = [&]() -> task<> {
    const says last{order, "inner "};
    co_await sched_test::yield_until([&] { return second.valid(); });
    auto other = std::move(second);
    ++waits;
    co_await other;
  };
  runq::run(
      [&]() -> task<> {
        first = runq::spawn([&]() -> task<> {
          const says its_end{order, "first "};
          co_await inner.emplace(awaits_second());
        });
        second = runq::spawn([&]() -> task<> {
          const says its_end{order, "second "};
          co_await sched_test::yield_until([&] { return first.valid() && waits != 0; });
          auto other = std::move(first);
          ++waits;
          co_await other;
        });
        runq::go([&]() -> task<> {
          const owner is_runnable_at_the_end{inner};
          for (;;) co_await runq::yield();
        });
        co_await sched_test::yield_until([&] { return waits == 2; });
        for (int i = 0; i != 3; ++i) co_await runq::yield();
      },
      {.procs = 1});
  EXPECT_EQ(order, "first second inner ");
}

TEST(ending_order, a_spawned_task_may_outlive_the_task_that_spawned_it) {
  world w;
  runq::run(
      [&]() -> task<> {
        runq::spawned<> handle;
        runq::go([&] {
          handle = runq::spawn([&]() -> task<> {
            const variable mine(w);
            co_await sleeps(w);
          });
        });
        co_await sched_test::yield_until([&] { return w.alive == 1; });
        // These take the strands of tasks that have ended.
        for (int i = 0; i != 100; ++i) runq::go(sleeps(w));
        co_await runq::yield();
      },
      {.procs = 1});
  EXPECT_EQ(w.alive, 0);
}

TEST(ending_order, the_end_of_a_spawned_task_that_was_destroyed_is_known_in_the_next_run) {
  runq::scheduler s({.procs = 1});
  runq::spawned<int> waits;
  runq::spawned<> never_began;
  s.run([&]() -> task<> {
    waits = runq::spawn([]() -> task<int> {
      co_await runq::sleep_for(1h);
      co_return 1;
    });
    co_await runq::yield();
    never_began = runq::spawn([] {});
  });
  int ended = 0;
  s.run([&]() -> task<> {
    try {
      (void)co_await waits;
    } catch (const runq::run_ended&) {
      ++ended;
    }
    try {
      co_await never_began.wait(std::stop_token());
    } catch (const runq::run_ended&) {
      ++ended;
    }
  });
  EXPECT_EQ(ended, 2);
}

TEST(ending_order, a_task_of_another_scheduler_learns_that_the_spawned_task_was_destroyed) {
  runq::scheduler first({.procs = 1});
  runq::scheduler second({.procs = 1});
  runq::channel<runq::spawned<>> handles(1);
  std::atomic<bool> waits{false};
  std::atomic<bool> told{false};
  std::thread other([&] {
    second.run([&]() -> task<> {
      auto handle = std::move(*co_await handles.receive());
      waits = true;
      try {
        co_await handle;
      } catch (const runq::run_ended&) {
        told = true;
      }
    });
  });
  const auto keeps_second_going = second.attach();
  first.run([&]() -> task<> {
    const auto here = runq::this_task::handle();
    auto handle = runq::spawn([]() -> task<> { co_await runq::sleep_for(1h); });
    (void)handles.try_send(std::move(handle));
    co_await sched_test::yield_until([&] { return waits.load(); });
  });
  other.join();
  EXPECT_TRUE(told);
}

TEST(ending_order, a_wait_of_another_scheduler_is_called_off_while_the_run_of_the_spawned_task_ends) {
  runq::scheduler second({.procs = 1});
  const auto there = second.attach();
  for (std::size_t i = 0; i != sched_test::rounds(2'000); ++i) {
    std::stop_source calls_off;
    std::atomic<bool> waits{false};
    std::atomic<int> ended{0};
    runq::spawned<> handle;
    runq::run(
        [&]() -> task<> {
          handle = runq::spawn([]() -> task<> { co_await runq::sleep_for(1h); });
          co_await runq::yield();
          there.go([&]() -> task<> {
            waits = true;
            try {
              co_await handle.wait(calls_off.get_token());
            } catch (const std::exception&) {  // runq::cancelled or runq::run_ended
            }
            ended = 1;
          });
          hold_until([&] { return waits.load(); }, "the other task waits");
          // The task has a source of its own: the wait may end, and `calls_off` with it, before request_stop()
          // has returned.
          there.go([own = calls_off]() mutable { own.request_stop(); });
        },
        {.procs = 1});
    hold_until([&] { return ended == 1; }, "the wait has ended");
  }
  second.wait();
}

TEST(ending_order, a_spawned_task_that_ends_when_its_run_has_ended_has_its_result) {
  runq::scheduler s({.procs = 2});
  runq::spawned<int> handle;
  std::atomic<bool> main_has_ended{false};
  s.run([&]() -> task<> {
    std::atomic<bool> runs{false};
    handle = runq::spawn([&] {
      runs = true;
      hold_until([&] { return main_has_ended.load(); }, "main has ended");
      return 7;
    });
    hold_until([&] { return runs.load(); }, "the spawned task runs");
    const struct at_end {
      std::atomic<bool>& flag;
      ~at_end() { flag = true; }
    } last{main_has_ended};
    co_return;
  });
  int result = 0;
  s.run([&]() -> task<> { result = co_await handle; });
  EXPECT_EQ(result, 7);
}

TEST(ending_order, a_destructor_sees_the_number_of_its_own_task) {
  struct says_number {
    std::uint64_t& number;
    ~says_number() { number = runq::this_task::id(); }
  };
  std::array<std::uint64_t, 3> alive{};
  std::array<std::uint64_t, 3> destroyed{};
  runq::run(
      [&]() -> task<> {
        runq::go([&]() -> task<> {
          const says_number outer{destroyed[0]};
          alive[0] = runq::this_task::id();
          const auto body = [&](runq::scope& s) -> task<> {
            s.go([&]() -> task<> {
              const says_number inner{destroyed[1]};
              alive[1] = runq::this_task::id();
              auto handle = runq::spawn([&]() -> task<> {
                const says_number innermost{destroyed[2]};
                alive[2] = runq::this_task::id();
                co_await runq::sleep_for(1h);
              });
              co_await handle;
            });
            co_return;
          };
          co_await runq::with_scope(body);
        });
        co_await sched_test::yield_until([&] { return alive[2] != 0; });
      },
      {.procs = 1});
  EXPECT_EQ(destroyed, alive);
}

TEST(ending_order, only_a_task_of_the_same_scheduler_starts_children_of_a_scope) {
  runq::scheduler other({.procs = 1});
  const auto there = other.attach();
  runq::run([&]() -> task<> {
    const auto body = [&](runq::scope& s) -> task<> {
      const auto refused = [&] { return sched_test::misuse_of([&] { s.go([] {}); }); };
      std::string text;
      std::thread outside([&] { text = there.block_on(refused); });
      const auto join = [&] { outside.join(); };
      co_await runq::blocking(join);
      EXPECT_EQ(text,
                "runq: scope::go() was called by a task of another scheduler; only the body of the scope and its "
                "children may start children");
      co_return;
    };
    co_await runq::with_scope(body);
  });
}

// The task has forked the child, and has not gone on since: only the awaiter of the fork, a part of the task's own
// coroutine, knows the child.
TEST(ending_order, the_first_coroutine_of_a_task_is_destroyed_while_it_forks) {
  for (const unsigned procs : {1U, 2U}) {
    for (std::size_t i = 0; i != sched_test::rounds(200); ++i) {
      world w;
      runq::run(
          [&]() -> task<> {
            runq::go([&]() -> task<> {
              variable mine(w);
              auto first = co_await runq::fork(child_with_result({w, sleeps}, mine));
              co_await runq::join();
              (void)first.get();
            });
            while (w.begun == 0) co_await runq::yield();
          },
          {.procs = procs});
      EXPECT_EQ(w.alive, 0);
      EXPECT_EQ(w.disorder, 0);
    }
  }
}

// The handle of a forked child lies elsewhere, and a destructor in the child destroys it.
TEST(ending_order, a_forked_child_destroys_its_own_handle) {
  for (const unsigned procs : {1U, 2U}) {
    world w;
    std::optional<runq::forked<int>> handle;
    const auto child_of = [&](bool waits) -> task<int> {
      const variable mine(w);
      struct ends_handle {
        std::optional<runq::forked<int>>& of;
        ~ends_handle() { of.reset(); }
      };
      const ends_handle last{handle};
      ++w.begun;
      if (waits) co_await runq::sleep_for(1h);
      co_return 1;
    };
    runq::run(
        [&]() -> task<> {
          runq::go([&]() -> task<> {
            handle = co_await runq::fork(child_of(true));
            ++w.begun;
            co_await runq::join();
          });
          while (w.begun < 2) co_await runq::yield();
          co_await runq::yield();
        },
        {.procs = procs});
    EXPECT_FALSE(handle);
    EXPECT_EQ(w.alive, 0);
  }
}

// The parameters of a coroutine are destroyed after its variables.
TEST(ending_order, a_parameter_of_a_coroutine_destroys_its_owner) {
  world w;
  struct parameter {
    std::unique_ptr<task<>>* owner;
    explicit parameter(std::unique_ptr<task<>>& of) : owner(&of) {}
    parameter(parameter&& other) noexcept : owner(std::exchange(other.owner, nullptr)) {}
    parameter& operator=(parameter&&) = delete;
    ~parameter() {
      if (owner != nullptr) owner->reset();
    }
  };
  std::unique_ptr<task<>> owner;
  const auto with_parameter = [&](parameter) -> task<> {
    const variable mine(w);
    co_await runq::sleep_for(1h);
  };
  runq::run(
      [&]() -> task<> {
        owner = std::make_unique<task<>>(with_parameter(parameter(owner)));
        runq::go([&]() -> task<> { co_await *owner; });
        while (w.alive == 0) co_await runq::yield();
      },
      {.procs = 1});
  EXPECT_EQ(owner, nullptr);
  EXPECT_EQ(w.alive, 0);
}

/// A coroutine that is not the library's.
struct foreign {
  struct promise_type {
    foreign get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

// The task is called by such a coroutine. So it is below none, its owner is left to destroy it, and a task of its scope
// does.
TEST(ending_order, a_destructor_destroys_a_coroutine_that_another_library_has_called) {
  world w;
  std::unique_ptr<task<>> owner;
  foreign caller{};
  const auto ends_owner_at_its_end = [&](variable& of) -> task<> {
    const struct ends_owner {
      std::unique_ptr<task<>>& of;
      ~ends_owner() { of.reset(); }
    } last{owner};
    const user_of uses(w, of);
    ++w.begun;
    co_await runq::sleep_for(1h);
  };
  const auto has_scope = [&]() -> task<> {
    variable mine(w);
    const auto body = [&](runq::scope& s) -> task<> {
      s.go(ends_owner_at_its_end(mine));
      co_return;
    };
    co_await runq::with_scope(body);
  };
  const auto calls = [](task<>& called) -> foreign { co_await called; };
  runq::run(
      [&]() -> task<> {
        owner = std::make_unique<task<>>(has_scope());
        caller = calls(*owner);
        while (w.begun == 0) co_await runq::yield();
      },
      {.procs = 1});
  caller.handle.destroy();
  EXPECT_EQ(owner, nullptr);
  EXPECT_EQ(w.alive, 0);
  EXPECT_EQ(w.disorder, 0);
}

// Each coroutine but the last calls the next one, which an object elsewhere owns.
class long_chain {
 public:
  static constexpr std::size_t length = 1'000'000;

  // Coroutine i destroys, in a destructor, the owner of coroutine destroys(i).
  template <class F>
  explicit long_chain(F destroys) {
    owners_.resize(length);
    const auto main = [&]() -> task<> {
      runq::go([&]() -> task<> { co_await owners_[0].emplace(link(0, destroys)); });
      while (begun_ != length) co_await runq::yield();
    };
    runq::run(main, {.procs = 1});
  }
  [[nodiscard]] std::size_t destroyed() const noexcept { return destroyed_; }

 private:
  struct last_act {
    long_chain& of;
    std::size_t other;
    ~last_act() {
      ++of.destroyed_;
      if (other < length) of.owners_[other].reset();
    }
  };
  template <class F>
  task<> link(std::size_t i, F& destroys) {
    const last_act last{*this, destroys(i)};
    ++begun_;
    if (i + 1 == length) {
      co_await runq::sleep_for(1h);
    } else {
      co_await owners_[i + 1].emplace(link(i + 1, destroys));
    }
  }
  std::vector<std::optional<task<>>> owners_;
  std::size_t begun_ = 0;
  std::size_t destroyed_ = 0;
};

TEST(ending_order, the_last_of_a_million_coroutines_destroys_the_first) {
  const long_chain all([](std::size_t i) { return i + 1 == long_chain::length ? 0 : long_chain::length; });
  EXPECT_EQ(all.destroyed(), long_chain::length);
}

TEST(ending_order, every_second_of_a_million_coroutines_destroys_the_one_above_it) {
  const long_chain all([](std::size_t i) { return i % 2 == 1 ? i - 1 : long_chain::length; });
  EXPECT_EQ(all.destroyed(), long_chain::length);
}

TEST(ending_order, a_coroutine_that_awaited_a_handle_was_destroyed_before_the_run_ends) {
  world w;
  runq::spawned<> handle;
  std::unique_ptr<task<>> owner;
  const auto awaits = [&]() -> task<> { co_await handle; };
  runq::run(
      [&]() -> task<> {
        handle = runq::spawn([&]() -> task<> {
          const variable mine(w);
          co_await sleeps(w);
        });
        owner = std::make_unique<task<>>(awaits());
        runq::go([&]() -> task<> { co_await *owner; });
        co_await sched_test::yield_until([&] { return w.alive == 1; });
        co_await runq::yield();
        owner.reset();
      },
      {.procs = 1});
  EXPECT_EQ(w.alive, 0);
}

TEST(ending_order, a_destructor_destroys_another_scheduler_with_its_tasks) {
  world w;
  std::optional<runq::scheduler> other(std::in_place, runq::options{.procs = 1});
  other->attach().go([&]() -> task<> {
    const variable mine(w);
    ++w.begun;
    co_await sleeps(w);
  });
  ASSERT_TRUE(sched_test::wait_until([&] { return w.begun == 1; }));
  struct ends_other {
    std::optional<runq::scheduler>& of;
    ~ends_other() { of.reset(); }
  };
  std::optional<runq::forked<int>> handle;
  runq::run(
      [&]() -> task<> {
        runq::go([&]() -> task<> {
          // This is destroyed later, with a child that was not joined, which is no error at the end of a run.
          variable mine(w);
          struct ends_handle {
            std::optional<runq::forked<int>>& of;
            ~ends_handle() { of.reset(); }
          };
          const auto forks = [&]() -> task<> {
            handle = co_await runq::fork(child_with_result({w, sleeps}, mine));
            co_await runq::join();
          };
          const auto body = [&](runq::scope& s) -> task<> {
            s.go([&]() -> task<> { co_await forks(); });
            s.go([&]() -> task<> {
              const ends_handle last{handle};
              const ends_other first{other};
              ++w.begun;
              co_await runq::sleep_for(1h);
            });
            co_return;
          };
          co_await runq::with_scope(body);
        });
        while (w.begun < 3 || !handle) co_await runq::yield();
      },
      {.procs = 1});
  EXPECT_EQ(w.alive, 0);
  EXPECT_EQ(w.disorder, 0);
}

INSTANTIATE_TEST_SUITE_P(all, owners, testing::ValuesIn(ways_to_own),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

}  // namespace
