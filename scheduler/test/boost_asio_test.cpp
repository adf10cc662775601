// SPDX-License-Identifier: MIT
// asio with RUNQ_BOOST_ASIO: each bridge of runq/asio.hpp, with Boost.Asio. What the bridges do in every case is tested
// by asio_test, because they are the same templates.
#define RUNQ_BOOST_ASIO 1
#include <array>
#include <chrono>
#include <exception>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include "runq/asio.hpp"
#include "support.hpp"

namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using runq::asio_go;
using runq::asio_token;
using runq::on_asio;
using runq::task;

class boost_asio : public sched_test::alarmed {
 protected:
  boost_asio() : thread_([this] { io.run(); }) {}
  ~boost_asio() override {
    work_.reset();
    thread_.join();
  }
  [[nodiscard]] std::thread::id io_thread() const { return thread_.get_id(); }

  asio::io_context io{1};

 private:
  asio::executor_work_guard<asio::io_context::executor_type> work_{io.get_executor()};
  std::thread thread_;
};

TEST_F(boost_asio, calls_a_function_on_its_thread) {
  runq::run([&]() -> task<> {
    EXPECT_EQ(co_await on_asio(io, [] { return std::this_thread::get_id(); }), io_thread());
    EXPECT_EQ(*co_await on_asio(io.get_executor(), [] { return std::make_unique<int>(42); }), 42);
    bool thrown = false;
    try {
      co_await on_asio(io, [] { throw std::runtime_error("broken"); });
    } catch (const std::runtime_error&) {
      thrown = true;
    }
    EXPECT_TRUE(thrown);
  });
}

TEST_F(boost_asio, tasks_wait_for_operations) {
  runq::run(
      [&]() -> task<> {
        asio::local::stream_protocol::socket a(io);
        asio::local::stream_protocol::socket b(io);
        asio::local::connect_pair(a, b);
        runq::wait_group written;
        written.add(1);
        runq::go([&]() -> task<> {
          for (int i = 0; i != 100; ++i) co_await a.async_write_some(asio::buffer("x", 1), asio_token());
          written.done();
        });
        std::array<char, 16> bytes{};
        std::size_t n = 0;
        while (n != 100) n += co_await b.async_read_some(asio::buffer(bytes), asio_token());
        co_await written.wait();

        co_await on_asio(io, [&] { a.close(); });
        boost::system::error_code code;
        try {
          co_await b.async_read_some(asio::buffer(bytes), asio_token());
        } catch (const boost::system::system_error& e) {
          code = e.code();
        }
        EXPECT_EQ(code, asio::error::eof);
      },
      {.procs = 2});
}

TEST_F(boost_asio, a_stop_request_cancels_where_boost_can) {
  // Without cancellation the operation goes on to its end.
  asio::steady_timer timer(io, RUNQ_ASIO_CANCELS ? 24h : std::chrono::steady_clock::duration(5ms));
  std::stop_source stop;
  bool was_cancelled = false;
  runq::run(
      [&]() -> task<> {
        runq::wait_group begun;
        runq::wait_group over;
        begun.add(1);
        over.add(1);
        runq::go([&]() -> task<> {
          begun.done();
          try {
            co_await timer.async_wait(asio_token(stop.get_token()));
          } catch (const runq::cancelled&) {
            was_cancelled = true;
          }
          over.done();
        });
        co_await begun.wait();
        co_await on_asio(io, [] {});  // after it the operation has begun, which a stop request before would forbid
        stop.request_stop();
        co_await over.wait();
      },
      {.procs = 1});
  EXPECT_EQ(was_cancelled, RUNQ_ASIO_CANCELS != 0);
}

// With one processor the task has asked for its operation before main goes on.
TEST_F(boost_asio, the_end_of_the_run_waits_for_an_operation_that_cannot_be_cancelled) {
  asio::steady_timer timer(io, RUNQ_ASIO_CANCELS ? 24h : std::chrono::steady_clock::duration(20ms));
  runq::run(
      [&]() -> task<> {
        runq::wait_group waits;
        waits.add(1);
        runq::go([&]() -> task<> {
          waits.done();
          co_await timer.async_wait(asio_token());
        });
        co_await waits.wait();
        co_await on_asio(io, [] {});  // after it the operation has begun
      },
      {.procs = 1});
  EXPECT_TRUE(RUNQ_ASIO_CANCELS || std::chrono::steady_clock::now() >= timer.expiry());
}

TEST_F(boost_asio, runs_tasks) {
  runq::scheduler s({.procs = 1});
  const auto home = s.attach();
  const auto answer = []() -> task<int> {
    co_await runq::yield();
    co_return 42;
  };
  EXPECT_EQ(asio_go(home, answer, asio::use_future).get(), 42);
  const auto broken = []() -> task<> {
    co_await runq::yield();
    throw std::runtime_error("broken");
  };
  EXPECT_THROW(asio_go(home, broken, asio::use_future).get(), std::runtime_error);
}

#ifdef BOOST_ASIO_HAS_CO_AWAIT
TEST_F(boost_asio, its_coroutines_wait_for_tasks_and_the_other_way_round) {
  runq::run([&]() -> task<> {
    const auto ask = [](runq::scheduler::handle home) -> asio::awaitable<int> {
      const auto answer = []() -> task<int> {
        co_await runq::yield();
        co_return 42;
      };
      co_return co_await asio_go(home, answer, asio::use_awaitable);
    };
    EXPECT_EQ(co_await asio::co_spawn(io, ask(runq::this_task::handle()), asio_token()), 42);
  });
}
#endif

}  // namespace
