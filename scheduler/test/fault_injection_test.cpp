// SPDX-License-Identifier: MIT
// Faults in small programs that use every kind of await, and in asio_go(), forks and dumps. The faults, one per child
// process: the run ends at the k-th await; the scheduler is destroyed at the k-th await; the k-th await throws; the
// k-th allocation fails. After each of them every object must have been destroyed once, and nothing may hang or crash.
// This program replaces operator new.
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#if __has_include(<asio/bind_cancellation_slot.hpp>)
#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/io_context.hpp>

#include "runq/asio.hpp"
#endif

#include "support.hpp"

namespace {

std::atomic<long> until_failure{-1};  // how many allocations succeed before one fails; negative: none fails
std::atomic<bool> has_failed{false};

void* allocate_or_fail(std::size_t bytes, std::size_t alignment) noexcept {
  if (until_failure.load(std::memory_order::relaxed) >= 0 && until_failure.fetch_sub(1) == 0) {
    has_failed = true;
    return nullptr;
  }
  if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes == 0 ? 1 : bytes);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
void* or_throw(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t n) { return or_throw(allocate_or_fail(n, 1)); }
[[gnu::noinline]] void* operator new(std::size_t n, std::align_val_t a) {
  return or_throw(allocate_or_fail(n, static_cast<std::size_t>(a)));
}
[[gnu::noinline]] void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return allocate_or_fail(n, 1); }
[[gnu::noinline]] void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate_or_fail(n, static_cast<std::size_t>(a));
}
[[gnu::noinline]] void* operator new[](std::size_t n) { return or_throw(allocate_or_fail(n, 1)); }
[[gnu::noinline]] void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return allocate_or_fail(n, 1); }
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p, std::size_t) noexcept { std::free(p); }

namespace {

using runq::channel;
using runq::task;
using namespace std::chrono_literals;

struct injected {};

/// The state of one program under test: how many awaits it has reached, at which of them the fault comes, how many of
/// its objects are alive, and how it has ended.
struct world {
  std::atomic<int> awaits{0};
  int throws_at = -1;
  int ends_at = -1;
  std::atomic<bool> end_now{false};  // asks main, or the test, to end the run
  std::atomic<bool> broken{false};   // the injected fault has ended a task
  std::atomic<bool> done{false};
  std::atomic<int> alive{0};

  /// Programs call it before every await. It injects the fault if this is the await for it.
  void comes_to_await() {
    const int n = awaits++;
    if (n == ends_at) end_now = true;
    if (n == throws_at) throw injected();
  }
};

struct local {
  explicit local(world& in) : w(in) { ++w.alive; }
  local(const local&) = delete;
  local& operator=(const local&) = delete;
  ~local() { --w.alive; }
  world& w;
};

// The comma stands inside the operand of co_await, because g++ 12 evaluates `(f(), co_await g())` in the wrong order.
#define AWAIT(...) co_await (w.comes_to_await(), __VA_ARGS__)

/// Starts a task that sets `broken` when the injected fault ends it.
template <class Body>
void start(world& w, Body body) {
  runq::go([&w, body]() -> task<> {
    try {
      co_await body();
    } catch (const injected&) {
      w.broken = true;
    } catch (const std::bad_alloc&) {
      w.broken = true;
    } catch (const std::system_error&) {
      w.broken = true;  // the fault has ended the task at the other end of the stream
    } catch (const runq::misuse&) {
      w.broken = true;  // the fault has ended another task, which closed the channel
    }
  });
}

task<> sends_and_receives(world& w) {
  const local here(w);
  struct parts {
    channel<std::string> there;
    channel<std::string> back{1};
  };
  const auto shared = std::make_shared<parts>();
  start(w, [&w, shared]() -> task<> {
    const local inner(w);
    for (int i = 0; i != 3; ++i) {
      const auto got = AWAIT(shared->there.receive());
      if (!got) co_return;
      AWAIT(shared->back.send(*got));
    }
    shared->back.close();
  });
  const std::string text(100, 'x');
  for (int i = 0; i != 3; ++i) {
    AWAIT(shared->there.send(text));
    (void)AWAIT(shared->back.receive());
  }
  while (const auto rest = AWAIT(shared->back.receive())) (void)rest;
}

task<> selects(world& w) {
  const local here(w);
  struct parts {
    channel<std::string> a;
    channel<std::string> b;
    std::stop_source stop;
  };
  const auto shared = std::make_shared<parts>();
  start(w, [&w, shared]() -> task<> {
    const local inner(w);
    AWAIT(shared->a.send(std::string(100, 'a')));
    (void)AWAIT(shared->b.receive());
  });
  std::optional<std::string> got;
  std::optional<runq::clock::time_point> late;
  const std::string text(100, 'b');
  for (int i = 0; i != 2; ++i)
    (void)AWAIT(runq::select(runq::on_receive(shared->a, got), runq::on_send(shared->b, text)));
  runq::timer soon(1ms);
  (void)AWAIT(runq::select(runq::on_receive(shared->a, got), runq::on_receive(soon.channel(), late)));
  (void)AWAIT(runq::select(runq::on_receive(shared->a, got), runq::otherwise()));
  start(w, [&w, shared]() -> task<> {
    AWAIT(runq::yield());
    shared->stop.request_stop();
  });
  (void)AWAIT(runq::select(shared->stop.get_token(), runq::on_receive(shared->a, got)));
}

task<> locks(world& w) {
  const local here(w);
  struct parts {
    runq::mutex m;
    runq::wait_group done;
  };
  const auto shared = std::make_shared<parts>();
  shared->done.add(2);
  for (int i = 0; i != 2; ++i) {
    start(w, [&w, shared]() -> task<> {
      auto& [m, done] = *shared;
      const local inner(w);
      {
        const auto guard = AWAIT(m.scoped_lock());
        AWAIT(runq::yield());
        AWAIT(runq::yield());
      }
      AWAIT(m.lock());
      m.unlock();
      done.done();
    });
  }
  AWAIT(shared->done.wait());
}

task<std::string> child_with_result(world& w, channel<int>& gate) {
  const local here(w);
  (void)AWAIT(gate.receive());
  co_return std::string(100, 'r');
}
task<> child(world& w, channel<int>& gate) {
  const local here(w);
  AWAIT(runq::yield());
  (void)AWAIT(gate.receive());
}

// A task must join its children even if an exception is thrown after a fork.
task<> forks(world& w) {
  const local here(w);
  channel<int> gate(8);
  std::exception_ptr error;
  std::optional<runq::forked<std::string>> first;
  try {
    first = AWAIT(runq::fork(child_with_result(w, gate)));
    AWAIT(runq::fork(child(w, gate)));
    AWAIT(runq::yield());
    AWAIT(runq::fork(child(w, gate)));
  } catch (...) {
    error = std::current_exception();
  }
  for (int i = 0; i != 8; ++i) (void)gate.try_send(i);
  try {
    co_await runq::join();
  } catch (...) {
    if (!error) error = std::current_exception();
  }
  if (error) std::rethrow_exception(error);
  (void)first->get();
}

task<> sleeps(world& w) {
  const local here(w);
  AWAIT(runq::sleep_for(1ms));
  runq::ticker tick(1ms);
  (void)AWAIT(tick.channel().receive());
  runq::timer t(1ms);
  (void)AWAIT(t.channel().receive());
  AWAIT(runq::sleep_for(0ms));
}

task<> blocks(world& w) {
  const local here(w);
  const std::string text(100, 'x');
  const auto size = AWAIT(runq::blocking([&] {
    ::usleep(1000);
    return std::string(text).size();
  }));
  AWAIT(runq::yield());
  {
    const runq::blocking_section section;
    ::usleep(1000);
  }
  AWAIT(runq::yield());
  if (size != 100) std::abort();
}

task<> echoes(world& w, runq::net::stream& s) {
  const local here(w);
  std::array<std::byte, 16> bytes{};
  const std::size_t n = AWAIT(s.read(bytes));
  AWAIT(s.write(std::span(bytes).first(n)));
}

task<> talks(world& w) {
  const local here(w);
  const auto l = std::make_shared<runq::net::listener>(runq::net::listen_tcp("127.0.0.1", 0));
  start(w, [&w, l]() -> task<> {
    auto s = AWAIT(l->accept());
    AWAIT(echoes(w, s));
  });
  auto s = AWAIT(runq::net::connect_tcp("127.0.0.1", l->port()));
  const std::array<std::byte, 4> hello{};
  AWAIT(s.write(hello));
  std::array<std::byte, 4> answer{};
  (void)AWAIT(s.read(answer));
  const auto ends = std::make_shared<std::pair<runq::net::stream, runq::net::stream>>(runq::net::pipe());
  start(w, [&w, ends]() -> task<> {
    std::array<std::byte, 4> bytes{};
    (void)AWAIT(ends->first.read(bytes));
  });
  AWAIT(runq::yield());
  AWAIT(ends->second.write(hello));
  AWAIT(runq::yield());
}

task<int> calls_deeper(world& w, int depth) {
  const local here(w);
  if (depth == 0) {
    AWAIT(runq::yield());
    co_return 0;
  }
  auto named = calls_deeper(w, depth - 1);
  const int n = AWAIT(named);
  AWAIT(runq::yield());
  co_return n + 1;
}
task<> calls(world& w) {
  const local here(w);
  if (AWAIT(calls_deeper(w, 5)) != 5) std::abort();
}

// The time limit ends one of two waits.
task<> times_out(world& w) {
  const local here(w);
  channel<int> nobody_sends;
  runq::wait_group nobody_is_done;
  nobody_is_done.add(1);
  AWAIT(runq::with_timeout(1h, runq::sleep_for(1ms)));
  for (int i = 0; i != 2; ++i) {
    try {
      if (i == 0) (void)AWAIT(runq::with_timeout(1ms, nobody_sends.receive()));
      if (i == 1) AWAIT(runq::with_timeout(1ms, nobody_is_done.wait()));
      std::abort();
    } catch (const runq::timed_out&) {
      continue;
    }
  }
}

// Five children of a scope fail; with and without a list of their failures.
task<> five_fail(world& w) {
  const local here(w);
  for (const bool listed : {false, true}) {
    std::vector<std::exception_ptr> failures;
    const auto body = [&](runq::scope& s) -> task<> {
      const local inner(w);
      for (int i = 0; i != 5; ++i) {
        s.go([&w]() -> task<> {
          const local child_of_scope(w);
          AWAIT(runq::yield());
          throw std::logic_error("a child");
        });
      }
      AWAIT(runq::yield());
    };
    bool failed = false;
    try {
      AWAIT(runq::with_scope(body, {}, listed ? &failures : nullptr));
    } catch (const std::logic_error&) {
      failed = true;
    }
    if (!failed || failures.size() != (listed ? 5 : 0)) std::abort();
  }
}

struct program {
  const char* name;
  task<> (*body)(world&);
};
constexpr program programs[] = {{"sends_and_receives", sends_and_receives},
                                {"selects", selects},
                                {"locks", locks},
                                {"forks", forks},
                                {"sleeps", sleeps},
                                {"blocks", blocks},
                                {"talks", talks},
                                {"calls", calls},
                                {"times_out", times_out},
                                {"five_fail", five_fail}};

/// Runs one program, and notes whether a fault has ended it.
task<> runs(world& w, task<> (*body)(world&)) {
  try {
    co_await body(w);
  } catch (const injected&) {
    w.broken = true;
  } catch (const std::bad_alloc&) {
    w.broken = true;
  } catch (const std::system_error&) {
    w.broken = true;
  } catch (const runq::misuse&) {
    w.broken = true;
  }
  w.done = true;
}

/// Starts the program as a task beside main. Main ends the run as soon as the program asks for it or has ended.
void run_beside(world& w, const program& p, runq::scheduler& s) {
  s.run([&]() -> task<> {
    try {
      runq::go(runs(w, p.body));
    } catch (const std::bad_alloc&) {
      co_return;
    }
    while (!w.end_now && !w.broken && !w.done) co_await runq::yield();
  });
}

constexpr int wrong = 3;
constexpr int was_last = 4;   // the program has no await, or allocation, with this number
constexpr int no_memory = 5;  // there was no memory for a thread or a strand: the only permitted reason to die

/// Runs `f` in a child process. Returns the child's status, and in `said` what the child has written on stderr.
template <class F>
[[nodiscard]] int status_of(F f, std::string& said) {
  std::FILE* const errors = std::tmpfile();
  if (errors == nullptr) return -1;
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(60);
    ::dup2(::fileno(errors), STDERR_FILENO);
    std::exit(f());
  }
  int status = 0;
  if (pid < 0 || ::waitpid(pid, &status, 0) != pid) status = -1;
  std::array<char, 4096> text{};
  std::rewind(errors);
  said.assign(text.data(), std::fread(text.data(), 1, text.size(), errors));
  (void)std::fclose(errors);
  if (!WIFEXITED(status)) return status;
  if (WEXITSTATUS(status) == 2 && said == "fatal error: runq: out of memory for a thread or a strand of a task\n") {
    return no_memory;
  }
  return WEXITSTATUS(status);
}

class fault_injection : public testing::TestWithParam<program> {};
INSTANTIATE_TEST_SUITE_P(programs, fault_injection, testing::ValuesIn(programs),
                         [](const auto& p) -> std::string { return p.param.name; });

/// Calls once(0), once(1), … in child processes until one returns `was_last`, and fails at a status that is neither 0
/// nor `also_right`. Returns how many ended with status 0.
template <class Once>
[[nodiscard]] int each(Once once, int also_right = 0) {
  int ended = 0;
  for (int k = 0; k != 2000; ++k) {
    std::string said;
    const int status = status_of([&] { return once(k); }, said);
    if (status == was_last) return ended;
    if (status == 0) ++ended;
    if (status != 0 && status != also_right) {
      ADD_FAILURE() << "at number " << k << ": status " << status << "\n" << said;
      return ended;
    }
  }
  ADD_FAILURE() << "no end";
  return ended;
}

TEST_P(fault_injection, a_run_ends_at_every_await) {
  for (const unsigned procs : {1U, 2U}) {
    const int ended = each([&](int k) {
      world w;
      w.ends_at = k;
      runq::scheduler s({.procs = procs});
      run_beside(w, GetParam(), s);
      if (w.alive != 0) return wrong;
      // The scheduler can be used again.
      if (s.run([]() -> task<int> { co_return 7; }) != 7) return wrong;
      return w.awaits <= k ? was_last : 0;
    });
    EXPECT_GT(ended, 2);
  }
}

TEST_P(fault_injection, a_scheduler_is_destroyed_at_every_await) {
  const int ended = each([&](int k) {
    world w;
    w.ends_at = k;
    {
      runq::scheduler s({.procs = 1});
      const auto outside = s.attach();
      outside.go(runs(w, GetParam().body));
      if (!sched_test::wait_until([&] { return w.end_now || w.done; })) return wrong;
    }
    if (w.alive != 0) return wrong;
    return w.awaits <= k ? was_last : 0;
  });
  EXPECT_GT(ended, 2);
}

TEST_P(fault_injection, an_exception_is_thrown_at_every_await) {
  const int ended = each([&](int k) {
    world w;
    w.throws_at = k;
    runq::scheduler s({.procs = 1});
    run_beside(w, GetParam(), s);
    if (w.alive != 0) return wrong;
    if (w.awaits <= k) return was_last;
    return w.broken ? 0 : wrong;
  });
  EXPECT_GT(ended, 2);
}

TEST_P(fault_injection, every_allocation_fails_once) {
  if (!sched_test::own_operator_new) {
    GTEST_SKIP() << "clang++'s ThreadSanitizer keeps its operator new: no allocation would fail";
  }
  const int ended = each(
      [&](int k) {
        world w;
        runq::scheduler s({.procs = 1});
        until_failure = k;
        try {
          run_beside(w, GetParam(), s);
        } catch (const std::bad_alloc&) {
          w.broken = true;
        }
        until_failure = -1;
        if (w.alive != 0) return wrong;
        if (s.run([]() -> task<int> { co_return 7; }) != 7) return wrong;
        return has_failed ? 0 : was_last;
      },
      no_memory);
  EXPECT_GT(ended, 1);
}

// ---- signals --------------------------------------------------------------------------------------------------------

[[nodiscard]] std::ptrdiff_t open_descriptors() {
  const std::filesystem::directory_iterator open("/proc/self/fd");
  return std::distance(begin(open), end(open));
}

/// Makes a runq::signals, in which the k-th allocation fails. The first object of a process makes a pipe that stays.
[[nodiscard]] int hears_signals(int k) {
  const auto hear = [] {
    try {
      const runq::signals user({SIGUSR1});
    } catch (const std::bad_alloc&) {
    }
  };
  runq::run(hear);
  const std::ptrdiff_t before = open_descriptors();
  runq::run([&] {
    until_failure = k;
    hear();
    until_failure = -1;
  });
  if (open_descriptors() != before) return wrong;
  runq::run(hear);
  return has_failed ? 0 : was_last;
}

TEST(fault_injection_of_signals, every_allocation_fails_once_and_no_descriptor_stays_open) {
  if (!sched_test::own_operator_new) {
    GTEST_SKIP() << "clang++'s ThreadSanitizer keeps its operator new: no allocation would fail";
  }
  EXPECT_GT(each(hears_signals, no_memory), 2);
}

// ---- forks ----------------------------------------------------------------------------------------------------------

/// Forks so many children that the deque has to grow, and fails the k-th allocation from there on.
[[nodiscard]] int forks_many(runq::fork_policy policy, int k) {
  constexpr int many = 2000;
  int ran = 0;
  int started = 0;
  runq::run(
      [&]() -> task<> {
        const auto child_of_many = [](int& counted) -> task<> {
          ++counted;
          co_return;
        };
        until_failure = k;
        try {
          for (; started != many; ++started) co_await runq::fork(child_of_many(ran));
        } catch (const std::bad_alloc&) {
        }
        until_failure = -1;
        co_await runq::join();
      },
      {.procs = 1, .forks = policy});
  if (ran != started) return wrong;
  return has_failed ? 0 : was_last;
}

TEST(fault_injection_of_forks, every_allocation_fails_once_and_every_child_that_was_forked_runs) {
  if (!sched_test::own_operator_new) {
    GTEST_SKIP() << "clang++'s ThreadSanitizer keeps its operator new: no allocation would fail";
  }
  for (const auto policy : {runq::fork_policy::continuation, runq::fork_policy::child, runq::fork_policy::task}) {
    const int ended = each([policy](int k) { return forks_many(policy, k); }, no_memory);
    if (policy == runq::fork_policy::child) {
      EXPECT_GT(ended, 0) << "the deque has to grow";
    }
  }
}

// ---- dump_on --------------------------------------------------------------------------------------------------------

/// Makes a scheduler with `dump_on`, in which the k-th allocation fails.
[[nodiscard]] int wants_dumps(int k) {
  struct sigaction before {};
  sigaction(SIGUSR1, nullptr, &before);
  const auto make = [] { const runq::scheduler s({.procs = 1, .dump_on = SIGUSR1}); };
  until_failure = k;
  try {
    make();
  } catch (const std::bad_alloc&) {
  }
  until_failure = -1;
  struct sigaction after {};
  sigaction(SIGUSR1, nullptr, &after);
  if (after.sa_handler != before.sa_handler) return wrong;
  make();
  return has_failed ? 0 : was_last;
}

TEST(fault_injection_of_dumps, every_allocation_fails_once_and_the_signal_does_then_what_it_did_before) {
  if (!sched_test::own_operator_new) {
    GTEST_SKIP() << "clang++'s ThreadSanitizer keeps its operator new: no allocation would fail";
  }
  EXPECT_GT(each(wants_dumps, no_memory), 2);
}

/// No other thread allocates while main waits for what the thread that prints dumps says.
[[nodiscard]] int has_no_memory_for_a_dump() {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0 || ::dup2(ends[1], STDERR_FILENO) < 0) return wrong;
  std::array<char, 200> said{};
  const auto first_line = [&] {
    for (std::size_t n = 0; n != said.size() && ::read(ends[0], &said[n], 1) == 1 && said[n] != '\n';) ++n;
    return std::string_view(said.data(), std::string_view(said.data(), said.size()).find('\n'));
  };
  bool right = false;
  runq::run(
      [&] {
        until_failure = 0;
        std::raise(SIGUSR1);
        right = first_line() == "runq: there is no memory for a dump";
        std::raise(SIGUSR1);
        const std::string heading = "runq: what the tasks do, asked for by signal " + std::to_string(SIGUSR1) + ":";
        right = right && first_line() == heading;
      },
      {.procs = 1, .dump_on = SIGUSR1});
  return right ? 0 : wrong;
}

TEST(fault_injection_of_dumps, a_dump_for_which_there_is_no_memory_says_so_and_the_next_one_is_printed) {
  if (!sched_test::own_operator_new) {
    GTEST_SKIP() << "clang++'s ThreadSanitizer keeps its operator new: no allocation would fail";
  }
  std::string said;
  EXPECT_EQ(status_of(has_no_memory_for_a_dump, said), 0) << said;
}

#if __has_include(<asio/bind_cancellation_slot.hpp>)

// ---- asio_go --------------------------------------------------------------------------------------------------------

/// Asio's own memory, which does not come from operator new, may run out, too.
template <class T>
struct memory_that_fails {
  using value_type = T;
  memory_that_fails() = default;
  template <class U>
  explicit memory_that_fails(const memory_that_fails<U>& /*other*/) noexcept {}
  [[nodiscard]] T* allocate(std::size_t n) {
    return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{alignof(T)}));
  }
  void deallocate(T* p, std::size_t n) noexcept { ::operator delete (p, n * sizeof(T), std::align_val_t{alignof(T)}); }
  template <class U>
  [[nodiscard]] bool operator==(const memory_that_fails<U>& /*other*/) const noexcept {
    return true;
  }
};

/// What has become of a call of asio_go().
struct told {
  int times = 0;
  int result = 0;
  bool no_memory = false;
};

struct is_told {
  using executor_type = asio::io_context::executor_type;
  using allocator_type = memory_that_fails<void>;
  using cancellation_slot_type = asio::cancellation_slot;
  [[nodiscard]] executor_type get_executor() const noexcept { return where; }
  [[nodiscard]] allocator_type get_allocator() const noexcept { return {}; }
  [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept { return slot; }
  void operator()(const std::exception_ptr& error, int n) {
    ++what->times;
    what->result = n;
    try {
      if (error) std::rethrow_exception(error);
    } catch (const std::bad_alloc&) {
      what->no_memory = true;
    }
  }
  executor_type where;
  cancellation_slot_type slot;
  told* what;
  std::shared_ptr<local> here;
};

/// Calls asio_go(), in which the k-th allocation fails, and waits for its handler. One thread is Asio's and a task's.
[[nodiscard]] int tells_asio(int k) {
  world w;
  told what;
  {
    asio::cancellation_signal signal;
    asio::io_context io{1};
    runq::scheduler s({.procs = 1});
    s.run([&]() -> task<> {
      const auto work = [&w, here = std::make_shared<local>(w)]() -> task<int> {
        const local inner(w);
        co_await runq::yield();
        co_return 7;
      };
      is_told handler{io.get_executor(), signal.slot(), &what, std::make_shared<local>(w)};
      const auto home = runq::this_task::handle();
      until_failure = k;
      runq::asio_go(home, work, std::move(handler));
      while (!io.stopped()) {
        io.poll();
        co_await runq::yield();
      }
      until_failure = -1;
    });
  }
  if (w.alive != 0 || what.times != 1) return wrong;
  if (what.no_memory ? !has_failed || what.result != 0 : what.result != 7) return wrong;
  return has_failed ? 0 : was_last;
}

TEST(asio_go_faults, every_allocation_fails_once_and_the_handler_is_called_once) {
  if (!sched_test::own_operator_new) {
    GTEST_SKIP() << "clang++'s ThreadSanitizer keeps its operator new: no allocation would fail";
  }
  EXPECT_GT(each(tells_asio, no_memory), 5);
}

#else

TEST(asio_go_faults, every_allocation_fails_once_and_the_handler_is_called_once) {
  GTEST_SKIP() << "Asio 1.22 is not installed (libasio-dev)";
}

#endif

}  // namespace
