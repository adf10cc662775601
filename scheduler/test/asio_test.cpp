// SPDX-License-Identifier: MIT
// asio: tasks and an io_context wait for each other: results, exceptions, cancellation and the end of a run on each
// side.
#include "runq/asio.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <asio/awaitable.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/buffer.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/execution/blocking.hpp>
#include <asio/execution/context.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/local/connect_pair.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/read.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

#include "support.hpp"

namespace {

using namespace std::chrono_literals;
using runq::asio_go;
using runq::asio_token;
using runq::on_asio;
using runq::scheduler;
using runq::task;
using socket_type = asio::local::stream_protocol::socket;

/// Waits until the dump shows `n` tasks that wait in this file. False: that took longer than `patience`.
task<bool> tasks_wait(scheduler& s, std::size_t n) {
  const auto end = runq::clock::now() + sched_test::patience;
  const auto waiting = [&] {
    const std::string all = s.dump();
    std::size_t found = 0;
    for (std::size_t at = 0; (at = all.find("asio_test.cpp:", at)) != std::string::npos; ++at) ++found;
    return found;
  };
  while (waiting() < n) {
    if (runq::clock::now() > end) co_return false;
    co_await runq::yield();
  }
  co_return true;
}
task<bool> somebody_waits(scheduler& s) { return tasks_wait(s, 1); }

/// An io_context, and a thread that runs it until the end.
class with_io_thread : public sched_test::alarmed {
 protected:
  with_io_thread() : thread_([this] { io.run(); }) {}
  ~with_io_thread() override {
    work_.reset();
    thread_.join();
  }
  [[nodiscard]] std::thread::id io_thread() const { return thread_.get_id(); }
  [[nodiscard]] std::pair<socket_type, socket_type> sockets() {
    std::pair<socket_type, socket_type> both{io, io};
    asio::local::connect_pair(both.first, both.second);
    return both;
  }

  asio::io_context io{1};

 private:
  asio::executor_work_guard<asio::io_context::executor_type> work_{io.get_executor()};
  std::thread thread_;
};

/// For tests in which one task destroys an object with which another task waits. A dump that shows the other task
/// waiting does not synchronize two threads, so these tests use one.
const runq::options one_processor{.procs = 1};

/// Keeps a thread until it is opened.
class gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    reached_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void wait_until_reached() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return reached_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool reached_ = false;  // under mutex_
  bool open_ = false;     // under mutex_
};

std::string text_of(const std::exception_ptr& error) {
  if (!error) return "";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  }
}

/// What `work` throws.
template <class T>
task<std::exception_ptr> error_of(task<T> work) {
  try {
    static_cast<void>(co_await work);
  } catch (...) {
    co_return std::current_exception();
  }
  co_return nullptr;
}

bool is_aborted(const std::exception_ptr& error) {
  try {
    if (error) std::rethrow_exception(error);
  } catch (const asio::system_error& e) {
    return e.code() == asio::error::operation_aborted;
  } catch (...) {
  }
  return false;
}
bool is_cancelled(const std::exception_ptr& error) { return error && runq::detail::is_cancellation(error); }

/// A task awaits `ask(context)`. No thread runs the context, which ends meanwhile: then the task is told.
template <class Ask>
void is_aborted_by_the_end_of_the_context(Ask ask) {
  runq::run(
      [&]() -> task<> {
        std::optional<asio::io_context> not_run(std::in_place);
        auto asking = runq::spawn([&]() -> task<bool> {
          auto asked = ask(*not_run);
          const std::exception_ptr error = co_await error_of(std::move(asked));
          co_return is_aborted(error);
        });
        const bool waits = co_await somebody_waits(runq::this_scheduler());
        EXPECT_TRUE(waits);
        not_run.reset();
        const bool aborted = co_await asking;
        EXPECT_TRUE(aborted);
      },
      one_processor);
}

// ---- on_asio --------------------------------------------------------------------------------------------------------

using on_asio_test = with_io_thread;

TEST_F(on_asio_test, a_function_runs_on_the_io_thread_and_the_task_goes_on_in_its_scheduler) {
  runq::run([&]() -> task<> {
    const std::thread::id there = co_await on_asio(io, [] { return std::this_thread::get_id(); });
    EXPECT_EQ(there, io_thread());
    EXPECT_TRUE(runq::this_task::running());
    bool in_a_task = true;
    co_await on_asio(io.get_executor(), [&] { in_a_task = runq::this_task::running(); });
    EXPECT_FALSE(in_a_task);
  });
}

TEST_F(on_asio_test, many_tasks_hop_at_the_same_time) {
  constexpr int rounds = 40;
  int sum = 0;  // only the io thread uses it
  runq::run(
      [&]() -> task<> {
        co_await runq::with_scope([&](runq::scope& s) -> task<> {
          for (int i = 0; i != 50; ++i) {
            const auto hops = [&]() -> task<> {
              for (int n = 0; n != rounds; ++n) co_await on_asio(io, [&sum] { ++sum; });
            };
            s.go(hops);
          }
          co_return;
        });
      },
      {.procs = 4});
  EXPECT_EQ(sum, 50 * rounds);
}

TEST_F(on_asio_test, what_the_function_owns_ends_on_the_io_thread) {
  struct function {
    int operator()() const { return *owned; }
    std::shared_ptr<const int> owned;
  };
  runq::run([&]() -> task<> {
    std::thread::id ended_on;
    const auto notes = [&](const int* n) {
      ended_on = std::this_thread::get_id();
      delete n;
    };
    function f{std::shared_ptr<const int>(new int(7), notes)};
    auto call = on_asio(io, f);
    f.owned = nullptr;
    const int n = co_await call;
    EXPECT_EQ(n, 7);
    EXPECT_EQ(ended_on, io_thread());
  });
}

TEST_F(on_asio_test, an_exception_comes_back) {
  runq::run([&]() -> task<> {
    const std::exception_ptr error =
        co_await error_of(on_asio(io, [] { throw std::runtime_error("of the function"); }));
    EXPECT_EQ(text_of(error), "of the function");
  });
}

TEST_F(on_asio_test, a_stop_before_the_call_prevents_it) {
  scheduler s({.procs = 2});
  gate busy;
  asio::post(io, [&] { busy.pass(); });
  s.run([&]() -> task<> {
    std::stop_source stop;
    bool called = false;
    auto call = runq::spawn([&]() -> task<bool> {
      const std::exception_ptr error = co_await error_of(on_asio(
          io, [&] { called = true; }, stop.get_token()));
      co_return is_cancelled(error);
    });
    const bool waits = co_await somebody_waits(s);
    EXPECT_TRUE(waits) << s.dump();
    stop.request_stop();
    busy.open();
    const bool was_cancelled = co_await call;
    EXPECT_TRUE(was_cancelled);
    EXPECT_FALSE(called);
  });
}

TEST_F(on_asio_test, a_call_that_is_dropped_is_aborted) {
  is_aborted_by_the_end_of_the_context([](asio::io_context& ends) { return on_asio(ends, [] { ADD_FAILURE(); }); });
}

// The executor of a strand uses the context when it is destroyed.
TEST_F(on_asio_test, a_task_that_waits_keeps_no_executor_of_a_context_that_ends) {
  is_aborted_by_the_end_of_the_context(
      [](asio::io_context& ends) { return on_asio(asio::make_strand(ends), [] { ADD_FAILURE(); }); });
}

TEST_F(on_asio_test, a_call_that_waits_when_the_run_ends_is_not_made) {
  gate busy;
  asio::post(io, [&] { busy.pass(); });
  bool called = false;
  const auto captured = std::make_shared<int>(0);
  scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    runq::go([&]() -> task<> {
      const auto calls = [&called, captured] { called = true; };
      co_await on_asio(io, calls);
    });
    const bool waits = co_await somebody_waits(s);
    EXPECT_TRUE(waits);
  });
  EXPECT_EQ(captured.use_count(), 1) << "what the function has captured is destroyed with the task";
  busy.open();
  s.run([&]() -> task<> { co_await on_asio(io, [] {}); });
  EXPECT_FALSE(called);
}

/// What `ask(context)` waits for has not begun when the run ends; then the context, which no thread runs, ends, too.
template <class Ask>
void is_dropped_after_its_run(Ask ask) {
  std::optional<asio::io_context> not_run(std::in_place);
  runq::run(
      [&]() -> task<> {
        runq::go([&]() -> task<> {
          auto asked = ask(*not_run);
          co_await asked;
          ADD_FAILURE();
        });
        const bool waits = co_await somebody_waits(runq::this_scheduler());
        EXPECT_TRUE(waits);
      },
      one_processor);
  not_run.reset();
}

TEST_F(on_asio_test, a_call_that_is_dropped_when_its_run_has_ended_is_nobodys) {
  const auto captured = std::make_shared<int>(0);
  is_dropped_after_its_run([&](asio::io_context& ends) {
    const auto never = [captured] { ADD_FAILURE(); };
    return on_asio(ends, never);
  });
  EXPECT_EQ(captured.use_count(), 1);
}

// The context is never run: as long as it exists, it has the calls of the run before.
TEST_F(on_asio_test, a_call_that_is_not_made_any_more_keeps_no_deadlock_from_being_seen) {
  GTEST_FLAG_SET(death_test_style, sched_test::death_test_style);
  const auto deadlock_after_a_call = [] {
    asio::io_context not_run;
    // The fixture's thread wakes no task.
    scheduler s({.procs = 2, .threads_without_handle = runq::plain_threads::wake_no_task});
    s.run([&]() -> task<> {
      runq::go([&]() -> task<> { co_await on_asio(not_run, [] {}); });
      const bool waits = co_await somebody_waits(s);
      EXPECT_TRUE(waits);
    });
    s.run([]() -> task<> { (void)co_await runq::select(); });
  };
  EXPECT_DEATH(deadlock_after_a_call(), "all goroutines are asleep - deadlock!");
}

TEST_F(on_asio_test, the_end_of_a_run_waits_for_a_call_in_progress) {
  gate busy;
  std::atomic<bool> over{false};
  std::thread opener;
  runq::run(
      [&]() -> task<> {
        runq::go([&]() -> task<> {
          const std::string local = "of the task";
          co_await on_asio(io, [&] {
            busy.pass();
            over = local == "of the task";
          });
        });
        co_await runq::blocking([&] { busy.wait_until_reached(); });
        opener = std::thread([&] { busy.open(); });
      },
      {.procs = 2});
  EXPECT_TRUE(over);
  opener.join();
}

// ---- asio_token -----------------------------------------------------------------------------------------------------

using asio_token_test = with_io_thread;

TEST_F(asio_token_test, a_task_waits_for_a_timer) {
  runq::run([&]() -> task<> {
    asio::steady_timer timer(io, 1ms);
    co_await timer.async_wait(asio_token());
    EXPECT_LE(timer.expiry(), std::chrono::steady_clock::now());
  });
}

task<> echo(socket_type& s, std::size_t bytes) {
  std::array<char, 64> into{};
  while (bytes != 0) {
    const std::size_t n = co_await s.async_read_some(asio::buffer(into), asio_token());
    co_await asio::async_write(s, asio::buffer(into, n), asio_token());
    bytes -= n;
  }
}

TEST_F(asio_token_test, many_tasks_read_and_write_at_the_same_time) {
  constexpr int rounds = 20;
  runq::run(
      [&]() -> task<> {
        co_await runq::with_scope([&](runq::scope& s) -> task<> {
          for (int i = 0; i != 20; ++i) {
            const auto pair = [this]() -> task<> {
              auto [a, b] = sockets();
              socket_type& ours = a;
              auto other = runq::spawn(echo(b, 5 * static_cast<std::size_t>(rounds)));
              for (int n = 0; n != rounds; ++n) {
                const std::string sent = "hello";
                std::string received(5, '\0');
                co_await asio::async_write(ours, asio::buffer(sent), asio_token());
                const std::size_t got = co_await asio::async_read(ours, asio::buffer(received), asio_token());
                EXPECT_EQ(got, 5U);
                EXPECT_EQ(received, sent);
              }
              co_await other;
            };
            s.go(pair);
          }
          co_return;
        });
      },
      {.procs = 4});
}

TEST_F(asio_token_test, an_error_is_thrown) {
  runq::run([&]() -> task<> {
    auto [a, b] = sockets();
    b.close();
    char byte = 0;
    bool ended = false;
    try {
      (void)co_await asio::async_read(a, asio::buffer(&byte, 1), asio_token());
    } catch (const asio::system_error& e) {
      ended = e.code() == asio::error::eof;
    }
    EXPECT_TRUE(ended);
  });
}

TEST_F(asio_token_test, results_are_nothing_a_value_or_a_tuple) {
  runq::run([&]() -> task<> {
    auto token = asio_token();
    const auto two = [](auto handler) { std::move(handler)(1, std::string("two")); };
    std::tuple<int, std::string> both =
        co_await asio::async_initiate<runq::detail::asio_token_type, void(int, std::string)>(two, token);
    EXPECT_EQ(both, std::tuple(1, std::string("two")));
    const auto throws = [](auto handler) {
      std::move(handler)(std::make_exception_ptr(std::runtime_error("of the operation")), 0);
    };
    auto failing = asio::async_initiate<runq::detail::asio_token_type, void(std::exception_ptr, int)>(throws, token);
    const std::exception_ptr error = co_await error_of(std::move(failing));
    EXPECT_EQ(text_of(error), "of the operation");
  });
}

TEST_F(asio_token_test, a_stop_ends_the_operation) {
  scheduler s({.procs = 2});
  for (int i = 0; i != 10; ++i) {
    s.run([&]() -> task<> {
      auto [a, b] = sockets();
      socket_type& reads = a;
      std::stop_source stop;
      auto reading = runq::spawn([&]() -> task<bool> {
        std::array<char, 8> into{};
        task<std::size_t> read = asio::async_read(reads, asio::buffer(into), asio_token(stop.get_token()));
        const std::exception_ptr error = co_await error_of(std::move(read));
        co_return is_cancelled(error);
      });
      const bool waits = co_await somebody_waits(s);
      EXPECT_TRUE(waits);
      stop.request_stop();
      const bool was_cancelled = co_await reading;
      EXPECT_TRUE(was_cancelled);
    });
  }
}

TEST_F(asio_token_test, a_time_limit_ends_the_operation) {
  runq::run([&]() -> task<> {
    asio::steady_timer timer(io, 24h);
    bool timed_out = false;
    try {
      co_await runq::with_timeout(1ms, timer.async_wait(asio_token()));
    } catch (const runq::timed_out&) {
      timed_out = true;
    }
    EXPECT_TRUE(timed_out);
    timer.expires_after(1ms);
    co_await runq::with_timeout(24h, timer.async_wait(asio_token()));
    EXPECT_THROW((void)runq::with_timeout(1ms, timer.async_wait(asio_token(std::stop_source().get_token()))),
                 runq::misuse);
  });
}

TEST_F(asio_token_test, an_operation_does_not_begin_after_a_stop) {
  runq::run([&]() -> task<> {
    std::stop_source stop;
    stop.request_stop();
    asio::io_context not_run;
    asio::steady_timer timer(not_run, 24h);
    const std::exception_ptr error = co_await error_of(timer.async_wait(asio_token(stop.get_token())));
    EXPECT_TRUE(is_cancelled(error));
  });
}

TEST_F(asio_token_test, the_end_of_a_run_ends_its_operations) {
  scheduler s({.procs = 2});
  for (int i = 0; i != 10; ++i) {
    auto [a, b] = sockets();
    socket_type& reads = a;
    s.run([&]() -> task<> {
      runq::go([&]() -> task<> {
        std::array<char, 8> into{};
        (void)co_await asio::async_read(reads, asio::buffer(into), asio_token());
        ADD_FAILURE() << "nothing was sent";
      });
      const bool waits = co_await somebody_waits(s);
      EXPECT_TRUE(waits);
    });
    // Nobody reads any more.
    asio::write(b, asio::buffer("12345678", 8));
    std::array<char, 8> into{};
    EXPECT_EQ(asio::read(a, asio::buffer(into)), 8U);
  }
}

TEST_F(asio_token_test, the_end_of_the_io_context_ends_its_operations) {
  runq::run(
      [&]() -> task<> {
        std::optional<asio::io_context> not_run(std::in_place);
        auto timer = std::make_unique<asio::steady_timer>(*not_run, 24h);
        auto waiting = runq::spawn([&]() -> task<bool> {
          const std::exception_ptr error = co_await error_of(timer->async_wait(asio_token()));
          co_return is_aborted(error);
        });
        const bool waits = co_await somebody_waits(runq::this_scheduler());
        EXPECT_TRUE(waits);
        timer.reset();
        not_run.reset();
        const bool aborted = co_await waiting;
        EXPECT_TRUE(aborted);
      },
      one_processor);
}

TEST_F(asio_token_test, the_operation_of_a_task_that_waits_keeps_no_executor_of_a_context_that_ends) {
  is_aborted_by_the_end_of_the_context(
      [](asio::io_context& ends) { return asio::post(asio::make_strand(ends), asio_token()); });
}

/// An operation whose initiation is `begins`, on an executor.
template <class Executor, class F>
struct begins_on {
  using executor_type = Executor;
  [[nodiscard]] executor_type get_executor() const noexcept { return where; }
  template <class Handler>
  void operator()(Handler handler) {
    begins(std::move(handler));
  }
  Executor where;
  F begins;
};
template <class Signature = void(), class Executor, class F>
auto operation_on(Executor where, F begins, std::stop_token stop = {}) {
  auto token = asio_token(std::move(stop));
  return asio::async_initiate<decltype(token), Signature>(begins_on<Executor, F>{std::move(where), std::move(begins)},
                                                          token);
}
template <class Signature = void(), class F>
auto operation_on(asio::io_context& io, F begins, std::stop_token stop = {}) {
  return operation_on<Signature>(io.get_executor(), std::move(begins), std::move(stop));
}

TEST_F(asio_token_test, an_operation_begins_on_its_executor) {
  runq::run([&]() -> task<> {
    std::thread::id there;
    const auto begins = [&](auto handler) {
      there = std::this_thread::get_id();
      std::move(handler)();
    };
    co_await operation_on(io, begins);
    EXPECT_EQ(there, io_thread());
  });
}

TEST_F(asio_token_test, what_the_initiation_throws_comes_to_the_task) {
  runq::run([&]() -> task<> {
    const auto throws = [](auto) { throw std::runtime_error("of the initiation"); };
    const std::exception_ptr error = co_await error_of(operation_on(io, throws));
    EXPECT_EQ(text_of(error), "of the initiation");
  });
}

TEST_F(asio_token_test, a_handler_that_is_destroyed_by_the_initiation_is_an_abortion) {
  runq::run([&]() -> task<> {
    const auto drops = [](auto) {};
    const std::exception_ptr error = co_await error_of(operation_on(io, drops));
    EXPECT_TRUE(is_aborted(error));
  });
}

TEST_F(asio_token_test, a_stop_before_the_operation_begins_prevents_it) {
  scheduler s({.procs = 2});
  gate busy;
  asio::post(io, [&] { busy.pass(); });
  s.run([&]() -> task<> {
    std::stop_source stop;
    auto waiting = runq::spawn([&]() -> task<bool> {
      const auto never = [](auto) { ADD_FAILURE(); };
      const std::exception_ptr error = co_await error_of(operation_on(io, never, stop.get_token()));
      co_return is_cancelled(error);
    });
    const bool waits = co_await somebody_waits(s);
    EXPECT_TRUE(waits);
    stop.request_stop();
    busy.open();
    const bool was_cancelled = co_await waiting;
    EXPECT_TRUE(was_cancelled);
  });
}

// The run ends although the io thread does nothing meanwhile.
TEST_F(asio_token_test, an_operation_that_has_not_begun_when_the_run_ends_never_begins) {
  gate busy;
  asio::post(io, [&] { busy.pass(); });
  scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    runq::go([&]() -> task<> {
      const auto never = [](auto) { ADD_FAILURE(); };
      co_await operation_on(io, never);
    });
    const bool waits = co_await somebody_waits(s);
    EXPECT_TRUE(waits);
  });
  busy.open();
  s.run([&]() -> task<> { co_await on_asio(io, [] {}); });
}

TEST_F(asio_token_test, an_operation_that_is_dropped_when_its_run_has_ended_never_begins) {
  is_dropped_after_its_run([](asio::io_context& ends) { return operation_on(ends, [](auto) { ADD_FAILURE(); }); });
}

TEST_F(asio_token_test, an_exception_pointer_is_thrown_unless_it_is_null) {
  runq::run([&]() -> task<> {
    const auto succeeds = [](auto handler) { std::move(handler)(nullptr, 7); };
    const int n = co_await operation_on<void(std::exception_ptr, int)>(io, succeeds);
    EXPECT_EQ(n, 7);
    const auto fails = [](auto handler) {
      // Moved, because ThreadSanitizer does not see how threads count the owners of an exception.
      auto error = std::make_exception_ptr(std::runtime_error("of the operation"));
      std::move(handler)(std::move(error), 7);
    };
    const std::exception_ptr error = co_await error_of(operation_on<void(std::exception_ptr, int)>(io, fails));
    EXPECT_EQ(text_of(error), "of the operation");
  });
}

/// Refuses to be moved once it has been moved into the argument of a handler.
struct moves_badly {
  explicit moves_badly(bool throws) : throws_(throws) {}
  moves_badly(moves_badly&& other) noexcept(false) : throws_(other.throws_) {
    if (throws_) throw std::runtime_error("of the move");
  }
  moves_badly& operator=(moves_badly&&) = delete;
  ~moves_badly() = default;

 private:
  bool throws_;
};

TEST_F(asio_token_test, a_result_that_cannot_be_moved_is_an_error_of_the_operation) {
  runq::run([&]() -> task<> {
    for (const bool throws : {false, true}) {
      const auto gives = [throws](auto handler) { std::move(handler)(moves_badly(throws)); };
      const std::exception_ptr error = co_await error_of(operation_on<void(moves_badly)>(io, gives));
      if (throws) {
        EXPECT_EQ(text_of(error), "of the move");
      } else {
        EXPECT_FALSE(error);
      }
    }
  });
}

TEST_F(asio_token_test, an_error_is_thrown_also_if_the_value_beside_it_cannot_be_moved) {
  runq::run([&]() -> task<> {
    const auto fails = [](auto handler) {
      auto error = std::make_exception_ptr(std::runtime_error("of the operation"));
      std::move(handler)(std::move(error), moves_badly(true));
    };
    const std::exception_ptr thrown = co_await error_of(operation_on<void(std::exception_ptr, moves_badly)>(io, fails));
    EXPECT_EQ(text_of(thrown), "of the operation");
    const auto ends = [](auto handler) { std::move(handler)(asio::error_code(asio::error::eof), moves_badly(true)); };
    const std::exception_ptr end = co_await error_of(operation_on<void(asio::error_code, moves_badly)>(io, ends));
    EXPECT_EQ(text_of(end), text_of(std::make_exception_ptr(asio::system_error(asio::error::eof))));
  });
}

/// Its operation is not asked to end.
TEST_F(asio_token_test, an_operation_without_an_executor_goes_on_to_its_end_after_a_stop) {
  runq::run(
      [&]() -> task<> {
        std::stop_source stop;
        std::function<void()> complete;
        auto waiting = runq::spawn([&]() -> task<int> {
          const auto keeps = [&complete](auto handler) {
            complete = [h = std::make_shared<decltype(handler)>(std::move(handler))] { std::move (*h)(42); };
          };
          auto token = asio_token(stop.get_token());
          co_return co_await asio::async_initiate<decltype(token), void(int)>(keeps, token);
        });
        const bool waits = co_await somebody_waits(runq::this_scheduler());
        EXPECT_TRUE(waits);
        stop.request_stop();
        complete();
        complete = nullptr;
        const int n = co_await waiting;
        EXPECT_EQ(n, 42);
      },
      one_processor);
}

TEST_F(asio_token_test, what_ends_an_operation_after_a_stop_is_its_own_error_unless_it_was_aborted) {
  const auto end_of_file = std::make_exception_ptr(asio::system_error(asio::error::eof));
  const auto of_the_operation = std::make_exception_ptr(std::runtime_error("of the operation"));
  const auto aborted = std::make_exception_ptr(asio::system_error(asio::error::operation_aborted));
  runq::run(
      [&]() -> task<> {
        for (const std::exception_ptr& ends_with : {end_of_file, of_the_operation, aborted}) {
          std::stop_source stop;
          const auto fails = [&](auto handler) {
            stop.request_stop();
            std::move(handler)(ends_with);
          };
          const std::exception_ptr error =
              co_await error_of(operation_on<void(std::exception_ptr)>(io, fails, stop.get_token()));
          if (ends_with == aborted) {
            EXPECT_TRUE(is_cancelled(error));
          } else {
            EXPECT_EQ(error, ends_with);
          }
        }
      },
      one_processor);
}

// The request is on its way to the io thread when the operation ends there.
TEST_F(asio_token_test, an_operation_that_has_ended_is_not_asked_to_end) {
  scheduler s({.procs = 2});
  gate waits;
  s.run([&]() -> task<> {
    std::stop_source stop;
    int asked = 0;
    auto waiting = runq::spawn([&]() -> task<> {
      const auto ends = [&](auto handler) {
        handler.get_cancellation_slot().assign([&asked](asio::cancellation_type) { ++asked; });
        waits.pass();
        stop.request_stop();
        std::move(handler)();
      };
      co_await operation_on(io, ends, stop.get_token());
    });
    const bool somebody = co_await somebody_waits(s);
    EXPECT_TRUE(somebody);
    waits.open();
    co_await waiting;
    co_await on_asio(io, [] {});
    EXPECT_EQ(asked, 0);
  });
}

/// An executor that keeps what it is to call, and shares `copies` with its copies.
struct keeps_all {
  template <class F>
  void execute(F f) const {
    kept->push_back([f = std::make_shared<F>(std::move(f))] { std::move (*f)(); });
  }
  [[nodiscard]] const keeps_all& require(asio::execution::blocking_t::never_t /*which*/) const noexcept {
    return *this;
  }
  [[nodiscard]] asio::execution_context& query(asio::execution::context_t /*which*/) const noexcept { return *io; }
  [[nodiscard]] bool operator==(const keeps_all&) const noexcept = default;
  asio::io_context* io;
  std::vector<std::function<void()>>* kept;
  std::shared_ptr<int> copies;
};

// The queue of the executor still has the operation.
TEST_F(asio_token_test, an_operation_that_never_begins_keeps_no_executor_when_its_run_has_ended) {
  std::vector<std::function<void()>> kept;
  const keeps_all executor{&io, &kept, std::make_shared<int>(0)};
  runq::run(
      [&]() -> task<> {
        runq::go([&]() -> task<> {
          const auto never = [](auto) { ADD_FAILURE(); };
          auto token = asio_token();
          auto operation = asio::async_initiate<decltype(token), void()>(asio::bind_executor(executor, never), token);
          co_await operation;
        });
        const bool waits = co_await somebody_waits(runq::this_scheduler());
        EXPECT_TRUE(waits);
      },
      one_processor);
  EXPECT_FALSE(kept.empty());
  EXPECT_EQ(executor.copies.use_count(), 2) << "one is in the initiation, which lies in the queue";
}

// Its context may end before the task goes on.
TEST_F(asio_token_test, an_operation_that_has_ended_keeps_no_executor) {
  std::vector<std::function<void()>> kept;
  const keeps_all executor{&io, &kept, std::make_shared<int>(0)};
  runq::run(
      [&]() -> task<> {
        std::function<void()> complete;
        auto waiting = runq::spawn([&]() -> task<> {
          const auto keeps = [&complete](auto handler) {
            complete = [h = std::make_shared<decltype(handler)>(std::move(handler))] { std::move (*h)(); };
          };
          auto operation = operation_on(executor, keeps);
          co_await operation;
        });
        const bool waits = co_await somebody_waits(runq::this_scheduler());
        EXPECT_TRUE(waits);
        kept.front()();
        kept.clear();
        EXPECT_EQ(executor.copies.use_count(), 2) << "a stop request needs one while the operation goes on";
        complete();
        EXPECT_EQ(executor.copies.use_count(), 1) << "and the task has not gone on yet";
        co_await waiting;
      },
      one_processor);
}

/// An executor that calls at once, until it has no memory.
struct calls_at_once {
  template <class F>
  void execute(F f) const {
    if (*no_memory) throw std::bad_alloc();
    std::move(f)();
  }
  [[nodiscard]] const calls_at_once& require(asio::execution::blocking_t::never_t /*which*/) const noexcept {
    return *this;
  }
  [[nodiscard]] asio::execution_context& query(asio::execution::context_t /*which*/) const noexcept { return *io; }
  [[nodiscard]] bool operator==(const calls_at_once&) const noexcept = default;
  asio::io_context* io;
  bool* no_memory;
};

TEST_F(asio_token_test, without_memory_for_the_request_to_end_an_operation_goes_on_to_its_end) {
  runq::run(
      [&]() -> task<> {
        std::stop_source stop;
        bool no_memory = false;
        std::function<void()> complete;
        auto waiting = runq::spawn([&]() -> task<int> {
          const auto keeps = [&complete](auto handler) {
            handler.get_cancellation_slot().assign(
                [](asio::cancellation_type) { ADD_FAILURE() << "was asked to end"; });
            complete = [h = std::make_shared<decltype(handler)>(std::move(handler))] { std::move (*h)(42); };
          };
          auto token = asio_token(stop.get_token());
          co_return co_await asio::async_initiate<decltype(token), void(int)>(
              asio::bind_executor(calls_at_once{&io, &no_memory}, keeps), token);
        });
        const bool waits = co_await somebody_waits(runq::this_scheduler());
        EXPECT_TRUE(waits);
        no_memory = true;
        stop.request_stop();
        complete();
        complete = nullptr;
        const int n = co_await waiting;
        EXPECT_EQ(n, 42);
      },
      one_processor);
}

// Each end of the pair is used by two tasks.
TEST_F(asio_token_test, tasks_on_all_processors_use_one_object) {
  constexpr std::size_t size = 2'000;
  runq::run(
      [&]() -> task<> {
        auto [a, b] = sockets();
        std::array<socket_type*, 2> ends{&a, &b};
        co_await runq::with_scope([&](runq::scope& s) -> task<> {
          for (socket_type* const end : ends) {
            const auto writes = [end]() -> task<> {
              for (std::size_t i = 0; i != size; i += 100) {
                const std::string part(100, 'x');
                co_await asio::async_write(*end, asio::buffer(part), asio_token());
              }
            };
            const auto reads = [end]() -> task<> {
              std::string all(size, '\0');
              const std::size_t n = co_await asio::async_read(*end, asio::buffer(all), asio_token());
              EXPECT_EQ(n, all.size());
            };
            s.go(writes);
            s.go(reads);
          }
          co_return;
        });
      },
      {.procs = 4});
}

TEST_F(asio_token_test, a_stop_ends_many_operations_on_one_object) {
  scheduler s({.procs = 4});
  s.run([&]() -> task<> {
    asio::steady_timer timer(io, 24h);
    std::atomic<int> cancelled{0};
    co_await runq::with_scope([&](runq::scope& scope) -> task<> {
      const std::stop_token stop = scope.stop_token();
      const auto waits = [&, stop]() -> task<> {
        const std::exception_ptr error = co_await error_of(timer.async_wait(asio_token(stop)));
        if (is_cancelled(error)) ++cancelled;
      };
      for (int i = 0; i != 20; ++i) scope.go(waits);
      const bool all_wait = co_await tasks_wait(s, 20);
      EXPECT_TRUE(all_wait);
      scope.request_stop();
    });
    EXPECT_EQ(cancelled, 20);
  });
}

// ---- asio_go --------------------------------------------------------------------------------------------------------

using asio_go_test = with_io_thread;

// clang++ 14 has no coroutines of Asio.
#if defined(ASIO_HAS_CO_AWAIT)

asio::awaitable<int> ask(const scheduler::handle& home, std::thread::id& continued_on) {
  const auto answer = []() -> task<int> {
    co_await runq::yield();
    co_return runq::this_task::running() ? 42 : 0;
  };
  const int n = co_await asio_go(home, answer, asio::use_awaitable);
  continued_on = std::this_thread::get_id();
  co_return n;
}

TEST_F(asio_go_test, a_coroutine_of_asio_waits_for_a_task_and_goes_on_on_its_thread) {
  runq::run([&]() -> task<> {
    const auto home = runq::this_task::handle();
    std::thread::id continued_on;
    // Into Asio by a token of ours, and from there back.
    const int n = co_await asio::co_spawn(io, ask(home, continued_on), asio_token());
    EXPECT_EQ(n, 42);
    EXPECT_EQ(continued_on, io_thread());
  });
}

asio::awaitable<std::string> ask_one_that_throws(const scheduler::handle& home) {
  const auto fails = []() -> task<> {
    co_await runq::yield();
    throw std::runtime_error("of the task");
  };
  std::string what;
  try {
    co_await asio_go(home, fails, asio::use_awaitable);
  } catch (const std::runtime_error& e) {
    what = e.what();
  }
  co_return what;
}

TEST_F(asio_go_test, an_exception_of_the_task_comes_to_asio) {
  runq::run([&]() -> task<> {
    const auto home = runq::this_task::handle();
    const std::string what = co_await asio::co_spawn(io, ask_one_that_throws(home), asio_token());
    EXPECT_EQ(what, "of the task");
  });
}

#endif

TEST_F(asio_go_test, a_cancellation_of_asio_stops_the_task) {
  scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    asio::cancellation_signal signal;
    runq::channel<bool> ended(1);
    const auto sleeps = [](std::stop_token stop) -> task<> { co_await runq::sleep_for(24h, stop); };
    const auto keeps = [&](const std::exception_ptr& error) {
      EXPECT_FALSE(signal.slot().has_handler()) << "the task has ended";
      const bool was_cancelled = is_cancelled(error);
      (void)ended.try_send(bool{was_cancelled});
    };
    const auto home = runq::this_task::handle();
    co_await on_asio(io, [&] { asio_go(home, sleeps, asio::bind_cancellation_slot(signal.slot(), keeps)); });
    const bool waits = co_await somebody_waits(s);
    EXPECT_TRUE(waits);
    co_await on_asio(io, [&] { signal.emit(asio::cancellation_type::terminal); });
    const auto was_cancelled = co_await ended.receive();
    EXPECT_TRUE(*was_cancelled);
  });
}

TEST_F(asio_go_test, the_end_of_the_run_is_told) {
  gate over;
  std::exception_ptr error;
  runq::run([&]() -> task<> {
    const auto never = []() -> task<int> {
      (void)co_await runq::select();
      co_return 1;
    };
    asio_go(runq::this_task::handle(), never,
            asio::bind_executor(io.get_executor(), [&](const std::exception_ptr& e, int) {
              error = e;
              over.open();
              over.pass();
            }));
    co_return;
  });
  over.wait_until_reached();
  EXPECT_EQ(text_of(error), runq::run_ended().what());
}

TEST_F(asio_go_test, the_end_of_the_scheduler_is_told) {
  std::optional<scheduler::handle> home;
  runq::run([&] { home.emplace(runq::this_task::handle()); });
  gate over;
  std::exception_ptr error;
  const auto one = []() -> task<int> { co_return 1; };
  asio_go(*home, one, asio::bind_executor(io.get_executor(), [&](const std::exception_ptr& e, int) {
    error = e;
    over.open();
    over.pass();
  }));
  over.wait_until_reached();
  EXPECT_EQ(text_of(error), runq::run_ended().what());
}

TEST_F(asio_go_test, a_function_that_throws_before_it_returns_a_task_is_told) {
  runq::run([&]() -> task<> {
    runq::channel<std::string> told(1);
    const auto home = runq::this_task::handle();  // for the io thread, which will wake this task
    const auto throws = []() -> task<> { throw std::runtime_error("of the function"); };
    const auto keeps = [&](const std::exception_ptr& error) { (void)told.try_send(text_of(error)); };
    asio_go(home, throws, asio::bind_executor(io.get_executor(), keeps));
    const auto what = co_await told.receive();
    EXPECT_EQ(*what, "of the function");
    co_await on_asio(io, [] {});
  });
}

/// The memory of a handler for which there is none.
template <class T>
struct no_memory_for {
  using value_type = T;
  no_memory_for() = default;
  template <class U>
  explicit no_memory_for(const no_memory_for<U>& /*other*/) noexcept {}
  [[nodiscard]] T* allocate(std::size_t /*n*/) { throw std::bad_alloc(); }
  void deallocate(T* /*p*/, std::size_t /*n*/) noexcept {}
  [[nodiscard]] bool operator==(const no_memory_for&) const noexcept = default;
};
struct handler_without_memory {
  using executor_type = asio::io_context::executor_type;
  using allocator_type = no_memory_for<void>;
  [[nodiscard]] executor_type get_executor() const noexcept { return where; }
  [[nodiscard]] allocator_type get_allocator() const noexcept { return {}; }
  void operator()(const std::exception_ptr& /*error*/, int /*n*/) const {}
  executor_type where;
};

TEST_F(asio_go_test, without_memory_for_the_handler_the_process_ends) {
  RUNQ_EXPECT_STATUS_2(runq::run([]() -> task<> {
                         asio::io_context not_run;
                         const auto one = []() -> task<int> { co_return 1; };
                         asio_go(runq::this_task::handle(), one, handler_without_memory{not_run.get_executor()});
                         (void)co_await runq::select();
                       }),
                       "^fatal error: runq: out of memory for the handler of asio_go\n");
}

TEST_F(asio_go_test, many_threads_ask_at_the_same_time) {
  constexpr int many = 100;
  std::atomic<int> sum{0};
  runq::run(
      [&]() -> task<> {
        runq::wait_group all;
        all.add(2 * many);
        const auto home = runq::this_task::handle();
        const auto one = []() -> task<int> { co_return 1; };
        const auto adds = [&](const std::exception_ptr&, int n) {
          sum += n;
          all.done();
        };
        std::array<std::thread, 2> threads;
        for (std::thread& t : threads) {
          t = std::thread([&] {
            for (int i = 0; i != many; ++i) asio_go(home, one, asio::bind_executor(io.get_executor(), adds));
          });
        }
        co_await all.wait();
        for (std::thread& t : threads) t.join();
        // The io thread is through with the last answer, which uses variables of this task.
        co_await on_asio(io, [] {});
      },
      {.procs = 2});
  EXPECT_EQ(sum, 2 * many);
}

}  // namespace
