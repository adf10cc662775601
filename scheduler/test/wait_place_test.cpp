// SPDX-License-Identifier: MIT
// A dump and the report of a deadlock name the file and line at which each task waits.
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "support.hpp"

namespace {

using namespace std::chrono_literals;
using runq::channel;
using runq::scheduler;
using runq::source_place;
using runq::task;
using sched_test::patience;

// ---- the place itself -----------------------------------------------------------------------------------------------

source_place called_from(source_place at = source_place::here()) { return at; }

TEST(source_place, a_default_argument_is_the_place_of_the_call) {
  const source_place at = called_from();
  EXPECT_TRUE(at);
  EXPECT_STREQ(at.file(), __FILE__);
  EXPECT_EQ(at.line(), __LINE__ - 3U);
  EXPECT_FALSE(source_place());
}

TEST(source_place, what_does_not_fit_into_a_word_is_not_known) {
  EXPECT_EQ(source_place::here("file", 65'535).line(), 65'535U);
  EXPECT_EQ(source_place::here("file", 65'536).line(), 0U);
  EXPECT_STREQ(source_place::here("file", 65'536).file(), "file");
  // As an address with a tag in its upper bits.
  const source_place far = source_place::here(reinterpret_cast<const char*>(std::uintptr_t{1} << 60), 1);
  EXPECT_FALSE(far);
}

// ---- waits that another task could end ------------------------------------------------------------------------------

// A function for each kind of wait, and the line of its co_await.

// What the tasks wait for; nothing of it ever comes.
struct nothing_comes {
  channel<int> values;
  channel<int> full;
  runq::mutex locked;
  runq::mutex unlocked;
  runq::shared_mutex written;
  runq::condition_variable never;
  runq::semaphore none{0};
  runq::wait_group group;
  runq::latch latch{1};
  runq::barrier two{2};
  runq::once slow;
  std::stop_source stop;
};

constexpr unsigned receive_line = __LINE__ + 1;
task<> receive(nothing_comes& w) { (void)co_await w.values.receive(); }
constexpr unsigned send_line = __LINE__ + 1;
task<> send(nothing_comes& w) { co_await w.full.send(1); }
constexpr unsigned select_line = __LINE__ + 3;
task<> select(nothing_comes& w) {
  std::optional<int> n;
  (void)co_await runq::select(runq::on_receive(w.values, n));
}
constexpr unsigned empty_select_line = __LINE__ + 1;
task<> empty_select(nothing_comes&) { (void)co_await runq::select(); }
constexpr unsigned lock_line = __LINE__ + 1;
task<> lock(nothing_comes& w) { co_await w.locked.lock(); }
constexpr unsigned scoped_lock_line = __LINE__ + 1;
task<> scoped_lock(nothing_comes& w) { const auto held = co_await w.locked.scoped_lock(); }
constexpr unsigned stoppable_lock_line = __LINE__ + 1;
task<> stoppable_lock(nothing_comes& w) { co_await w.locked.lock(std::stop_token()); }
constexpr unsigned write_lock_line = __LINE__ + 1;
task<> write_lock(nothing_comes& w) { co_await w.written.lock(); }
constexpr unsigned shared_lock_line = __LINE__ + 1;
task<> shared_lock(nothing_comes& w) { co_await w.written.lock_shared(); }
constexpr unsigned notification_line = __LINE__ + 3;
task<> notification(nothing_comes& w) {
  auto held = co_await w.unlocked.scoped_lock();
  co_await w.never.wait(held);
}
constexpr unsigned condition_line = __LINE__ + 3;
task<> condition(nothing_comes& w) {
  auto held = co_await w.unlocked.scoped_lock();
  co_await w.never.wait(held, [] { return false; });
}
constexpr unsigned acquire_line = __LINE__ + 1;
task<> acquire(nothing_comes& w) { co_await w.none.acquire(); }
constexpr unsigned group_line = __LINE__ + 1;
task<> group(nothing_comes& w) { co_await w.group.wait(); }
constexpr unsigned stoppable_group_line = __LINE__ + 1;
task<> stoppable_group(nothing_comes& w) { co_await w.group.wait(std::stop_token()); }
constexpr unsigned latch_line = __LINE__ + 1;
task<> latch(nothing_comes& w) { co_await w.latch.wait(); }
constexpr unsigned barrier_line = __LINE__ + 1;
task<> barrier(nothing_comes& w) { (void)co_await w.two.arrive_and_wait(); }
constexpr unsigned first_call_line = __LINE__ + 1;
task<> first_call(nothing_comes& w) { (void)co_await w.values.receive(); }
constexpr unsigned once_line = __LINE__ + 3;
task<> once(nothing_comes& w) {
  const auto call = [&w] { return first_call(w); };
  co_await w.slow.call(call);
}
constexpr unsigned spawned_line = __LINE__ + 3;
task<> spawned(nothing_comes& w) {
  auto other = runq::spawn(receive(w), "spawned by it");
  co_await other;
}
constexpr unsigned scope_line = __LINE__ + 6;
task<> scope(nothing_comes& w) {
  const auto body = [&w](runq::scope& s) -> task<> {
    s.go(receive(w), "child of the scope");
    co_return;
  };
  co_await runq::with_scope(body);
}
constexpr unsigned when_all_line = __LINE__ + 1;
task<> when_all(nothing_comes& w) { (void)co_await runq::when_all(receive(w), send(w)); }
constexpr unsigned stoppable_when_all_line = __LINE__ + 1;
task<> stoppable_when_all(nothing_comes& w) { (void)co_await runq::when_all(w.stop.get_token(), receive(w)); }
constexpr unsigned when_all_of_vector_line = __LINE__ + 4;
task<> when_all_of_vector(nothing_comes& w) {
  std::vector<task<>> work;
  work.push_back(receive(w));
  (void)co_await runq::when_all(std::move(work));
}
// The place of the call, not of the co_await.
constexpr unsigned when_all_as_task_line = __LINE__ + 2;
task<> when_all_as_task(nothing_comes& w) {
  task<std::tuple<std::monostate>> all = runq::when_all(receive(w));
  (void)co_await all;
}
constexpr unsigned when_any_line = __LINE__ + 1;
task<> when_any(nothing_comes& w) { (void)co_await runq::when_any(receive(w), send(w)); }
constexpr unsigned stoppable_when_any_line = __LINE__ + 1;
task<> stoppable_when_any(nothing_comes& w) { (void)co_await runq::when_any(w.stop.get_token(), receive(w)); }
constexpr unsigned when_any_of_vector_line = __LINE__ + 4;
task<> when_any_of_vector(nothing_comes& w) {
  std::vector<task<>> work;
  work.push_back(receive(w));
  (void)co_await runq::when_any(std::move(work));
}
constexpr unsigned join_line = __LINE__ + 3;
task<> join(nothing_comes& w) {
  co_await runq::fork(receive(w));
  co_await runq::join();
}

struct kind {
  const char* name;
  task<> (*wait)(nothing_comes&);
  const char* reason;
  unsigned line;
};

constexpr std::array kinds{
    kind{"receive", receive, "chan receive", receive_line},
    kind{"send", send, "chan send", send_line},
    kind{"select", select, "select", select_line},
    kind{"empty select", empty_select, "select (no cases)", empty_select_line},
    kind{"lock", lock, "sync.Mutex.Lock", lock_line},
    kind{"scoped lock", scoped_lock, "sync.Mutex.Lock", scoped_lock_line},
    kind{"stoppable lock", stoppable_lock, "sync.Mutex.Lock", stoppable_lock_line},
    kind{"write lock", write_lock, "sync.RWMutex.Lock", write_lock_line},
    kind{"shared lock", shared_lock, "sync.RWMutex.RLock", shared_lock_line},
    kind{"notification", notification, "sync.Cond.Wait", notification_line},
    kind{"condition", condition, "sync.Cond.Wait", condition_line},
    kind{"acquire", acquire, "semacquire", acquire_line},
    kind{"group", group, "semacquire", group_line},
    kind{"stoppable group", stoppable_group, "semacquire", stoppable_group_line},
    kind{"latch", latch, "semacquire", latch_line},
    kind{"barrier", barrier, "sync.Cond.Wait", barrier_line},
    kind{"first call", once, "chan receive", first_call_line},
    kind{"second call", once, "sync.Mutex.Lock", once_line},
    kind{"spawned", spawned, "semacquire", spawned_line},
    kind{"scope", scope, "join", scope_line},
    kind{"when_all", when_all, "join", when_all_line},
    kind{"stoppable when_all", stoppable_when_all, "join", stoppable_when_all_line},
    kind{"when_all of a vector", when_all_of_vector, "join", when_all_of_vector_line},
    kind{"when_all as a task", when_all_as_task, "join", when_all_as_task_line},
    kind{"when_any", when_any, "join", when_any_line},
    kind{"stoppable when_any", stoppable_when_any, "join", stoppable_when_any_line},
    kind{"when_any of a vector", when_any_of_vector, "join", when_any_of_vector_line},
    kind{"join", join, "join", join_line},
};

/// What a dump says of a task with this name, which may be empty, that waits here.
std::string entry(const std::string& reason, const std::string& name, unsigned line) {
  return "[" + reason + "]:\n" + name + (name.empty() ? "" : "\n") + "\t" + __FILE__ + ":" + std::to_string(line) +
         "\n";
}

task<> all_wait(nothing_comes& w) {
  co_await w.locked.lock();
  co_await w.written.lock();
  w.group.add(1);
  for (const kind& k : kinds) runq::go(k.wait(w), k.name);
  // This one in a coroutine that main calls.
  co_await receive(w);
}

TEST(wait_place, the_report_of_a_deadlock_names_the_line_of_each_wait) {
  const auto names_all = [](const std::string& report) {
    bool all = true;
    for (const kind& k : kinds) {
      if (report.find(entry(k.reason, k.name, k.line)) != std::string::npos) continue;
      std::fprintf(stderr, "not in the report: %s\n", entry(k.reason, k.name, k.line).c_str());
      all = false;
    }
    return all && report.find(entry("chan receive", "main", receive_line)) != std::string::npos;
  };
  RUNQ_EXPECT_STATUS_2(
      {
        nothing_comes w;
        scheduler s({.procs = 1, .forks = runq::fork_policy::child});
        s.run([&w] { return all_wait(w); });
      },
      testing::AllOf(testing::ContainsRegex(sched_test::deadlock_line), testing::Truly(names_all)));
}

TEST(wait_place, every_reason_has_a_name_and_no_number_beyond_them_breaks_a_dump) {
  EXPECT_STREQ(runq::to_string(runq::wait_reason::blocking_call), "blocking call");
  EXPECT_STREQ(runq::to_string(static_cast<runq::wait_reason>(200)), "?");
}

// ---- waits that a thread or the clock could end ---------------------------------------------------------------------

/// Waits until the dump has this text; false: that took longer than `patience`.
task<bool> dump_has(scheduler& s, const std::string& text) {
  const auto end = runq::clock::now() + patience;
  while (s.dump().find(text) == std::string::npos) {
    if (runq::clock::now() > end) co_return false;
    co_await runq::yield();
  }
  co_return true;
}

constexpr unsigned sleep_line = __LINE__ + 1;
task<> sleep() { co_await runq::sleep_for(24h); }
constexpr unsigned stoppable_sleep_line = __LINE__ + 1;
task<> stoppable_sleep() { co_await runq::sleep_for(24h, std::stop_token()); }
constexpr unsigned timeout_line = __LINE__ + 3;
task<> timeout() {
  const auto patient = [](std::stop_token stop) -> task<> { co_await runq::sleep_for(24h, stop); };
  co_await runq::with_timeout(24h, patient);
}

TEST(wait_place, a_dump_names_the_line_of_a_sleep) {
  scheduler s({.procs = 2});
  s.run([&s]() -> task<> {
    runq::go(sleep(), "sleeper");
    runq::go(stoppable_sleep(), "stoppable sleeper");
    runq::go(timeout(), "patient");
    for (const std::string& text :
         {entry("sleep", "sleeper", sleep_line), entry("sleep", "stoppable sleeper", stoppable_sleep_line)}) {
      const bool there = co_await dump_has(s, text);
      EXPECT_TRUE(there) << text << s.dump();
    }
    // Its body sleeps in the lambda.
    const bool there = co_await dump_has(s, entry("sleep", "patient", timeout_line - 1));
    EXPECT_TRUE(there) << s.dump();
  });
}

void called_too_early() { ADD_FAILURE(); }
constexpr unsigned later_line = __LINE__ + 1;
runq::delayed_task later(const char* name) { return runq::after_func(24h, called_too_early, name); }

TEST(wait_place, a_dump_names_the_line_of_after_func) {
  scheduler s({.procs = 2});
  s.run([&s]() -> task<> {
    const runq::delayed_task called_once = later("later");
    // The task that waits after it was stopped is another one.
    runq::delayed_task set_again = later("again");
    EXPECT_TRUE(set_again.stop());
    EXPECT_FALSE(set_again.reset(24h));
    runq::delayed_task assigned;
    assigned = later("assigned");
    EXPECT_TRUE(assigned.stop());
    EXPECT_FALSE(assigned.reset(24h));
    for (const char* name : {"later", "again", "assigned"}) {
      const std::string text = entry("chan receive", name, later_line);
      const bool there = co_await dump_has(s, text);
      EXPECT_TRUE(there) << text << s.dump();
    }
  });
}

constexpr unsigned detached_line = __LINE__ + 3;
task<> detached() {
  auto other = runq::spawn(sleep(), "spawned by it");
  other.detach();
  co_await sleep();
}

// The tasks that the library starts for them have no name.
TEST(wait_place, a_dump_names_the_line_of_the_call_for_which_the_library_waits) {
  scheduler s({.procs = 2});
  s.run([&s]() -> task<> {
    runq::go(detached());
    runq::go(timeout());
    for (const std::string& text : {entry("semacquire", "", detached_line), entry("sleep", "", timeout_line)}) {
      const bool there = co_await dump_has(s, text);
      EXPECT_TRUE(there) << text << s.dump();
    }
  });
}

constexpr unsigned read_line = __LINE__ + 3;
task<> read(runq::net::stream& from) {
  std::array<std::byte, 8> into{};
  (void)co_await from.read(into);
}
constexpr unsigned read_task_line = __LINE__ + 3;
task<> read_task(runq::net::stream& from) {
  std::array<std::byte, 8> into{};
  task<std::size_t> reading = from.read(into);
  (void)co_await reading;
}
constexpr unsigned read_error_line = __LINE__ + 4;
task<> read_error(runq::net::stream& from) {
  std::array<std::byte, 8> into{};
  std::error_code error;
  (void)co_await from.read(into, error);
}
constexpr unsigned accept_line = __LINE__ + 1;
task<> accept(runq::net::listener& at) { (void)co_await at.accept(); }

TEST(wait_place, a_dump_names_the_line_of_a_wait_for_the_network) {
  scheduler s({.procs = 2});
  // Main ends while tasks still wait for these: they outlive main, so that nothing destroys them beside such a task.
  std::optional<std::pair<runq::net::stream, runq::net::stream>> pair;
  std::optional<runq::net::listener> listens;
  s.run([&]() -> task<> {
    pair.emplace(runq::net::socket_pair());
    listens.emplace(runq::net::listen_tcp("127.0.0.1", 0));
    // One reads, the others wait for their turn.
    runq::go(read(pair->first), "reader");
    runq::go(read_task(pair->first), "reader by a task");
    runq::go(read_error(pair->first), "reader with an error");
    runq::go(accept(*listens), "accepter");
    for (const std::string& text :
         {entry("IO wait", "reader", read_line), entry("IO wait", "reader by a task", read_task_line),
          entry("IO wait", "reader with an error", read_error_line), entry("IO wait", "accepter", accept_line)}) {
      const bool there = co_await dump_has(s, text);
      EXPECT_TRUE(there) << text << s.dump();
    }
  });
}

// A call that blocks until it is released.
struct blocker {
  std::mutex mutex;
  std::condition_variable changed;
  bool open = false;  // under mutex
  void pass() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return open; });
  }
  void release() {
    const std::lock_guard lock(mutex);
    open = true;
    changed.notify_all();
  }
};

constexpr unsigned call_line = __LINE__ + 2;
task<> call(blocker& g) {
  co_await runq::blocking([&g] { g.pass(); });
}

TEST(wait_place, a_dump_names_the_line_of_a_blocking_call_that_waits_for_its_turn) {
  blocker g;
  scheduler s({.procs = 2, .max_blocking_calls = 1});
  s.run([&]() -> task<> {
    constexpr int calls = 5;  // more than may be in progress: one, and one for each processor
    runq::wait_group all;
    all.add(calls);
    for (int i = 0; i != calls; ++i) {
      const auto one = [&g, &all]() -> task<> {
        co_await call(g);
        all.done();
      };
      runq::go(one, "caller");
    }
    const bool there = co_await dump_has(s, entry("blocking call", "caller", call_line));
    EXPECT_TRUE(there) << s.dump();
    g.release();
    co_await all.wait();
  });
}

// A task that goes on shows no place of an earlier wait, nor does one whose place is not known.
TEST(wait_place, a_dump_names_as_much_of_a_place_as_is_known) {
  scheduler s({.procs = 1});
  s.run([&s]() -> task<> {
    channel<int> never;
    const auto waits = [&never](source_place at) -> task<> { co_await runq::detail::placed(never.receive(), at); };
    runq::go(waits(source_place()), "nowhere");
    runq::go(waits(source_place::here("file", 70'000)), "far down");
    const bool both = co_await dump_has(s, "[chan receive]:\nfar down\n\tfile\n") &&
                      co_await dump_has(s, "[chan receive]:\nnowhere\n");
    EXPECT_TRUE(both);
    EXPECT_EQ(s.dump().find("nowhere\n\t"), std::string::npos) << s.dump();
  });
}

TEST(wait_place, a_task_that_runs_has_no_place) {
  scheduler s({.procs = 1});
  s.run([&s]() -> task<> {
    co_await runq::sleep_for(1ns);
    EXPECT_EQ(s.dump(), "goroutine 1 [running]:\nmain\n");
    co_return;
  });
}

}  // namespace
