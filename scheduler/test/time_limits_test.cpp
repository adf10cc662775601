// SPDX-License-Identifier: MIT
// with_timeout(d, wait) for every wait of the library, the network included: one table, and a test that no function of
// the public headers is missing in it. Rows SC5, SC15.
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net_support.hpp"
#include "resolver_of_test.hpp"

namespace {

using namespace std::chrono_literals;
using runq::task;
using runq::with_timeout;
using runq::detail::has_stoppable_form;
using runq::net::stream;
using sched_test::bytes_of;
using sched_test::look_ups_last;
using sched_test::more_than_buffers;
using sched_test::net_fixture;
using sched_test::read_text;
using sched_test::write_text;
using sched_test::yield_until;
using testing::IsEmpty;

class time_limits : public net_fixture {
 protected:
  void SetUp() override {
    net_fixture::SetUp();
    look_ups_last = true;
  }
  /// Look-ups that were left behind may end.
  static void let_look_ups_end() {
    look_ups_last = false;
    look_ups_last.notify_all();
  }
  void TearDown() override {
    let_look_ups_end();
    net_fixture::TearDown();
  }
};

enum class end { in_time, timed_out, cancelled };
task<end> end_of(auto limited) {
  auto how = end::in_time;
  try {
    (void)co_await limited;
  } catch (const runq::timed_out&) {
    how = end::timed_out;
  } catch (const runq::cancelled&) {
    how = end::cancelled;
  }
  co_return how;
}

/// A port of this machine where nobody answers: its queue of connections is full.
class full_port {
 public:
  full_port() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fds_[0] = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(bind(fds_[0], reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(fds_[0], 0), 0);
    socklen_t size = sizeof address;
    EXPECT_EQ(getsockname(fds_[0], reinterpret_cast<sockaddr*>(&address), &size), 0);
    number_ = ntohs(address.sin_port);
    for (std::size_t i = 1; i != fds_.size(); ++i) {
      fds_[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
      (void)connect(fds_[i], reinterpret_cast<const sockaddr*>(&address), sizeof address);
    }
  }
  full_port(const full_port&) = delete;
  full_port& operator=(const full_port&) = delete;
  ~full_port() {
    for (const int fd : fds_) close(fd);
  }
  [[nodiscard]] std::uint16_t number() const { return number_; }

 private:
  std::array<int, 8> fds_{};
  std::uint16_t number_ = 0;
};

/// A task of a user's that may be limited.
runq::stoppable_task<int> own_wait(runq::channel<int>& from, std::stop_token stop = {}) {
  std::optional<int> n;
  if (co_await runq::select(stop, runq::on_receive(from, n)) == runq::stopped) throw runq::cancelled();
  co_return n.value_or(0);
}

task<int> own_wait_with(std::stop_token stop) {
  co_await runq::sleep_for(1h, std::move(stop));
  co_return 1;
}

/// Something of each kind that a task can wait for. Nothing comes.
struct nothing_comes {
  runq::channel<int> empty;
  runq::channel<int> full{1};
  runq::shared_channel<int> ends = runq::make_channel<int>();
  runq::mutex locked;
  runq::shared_mutex shared;
  runq::semaphore units{0};
  runq::wait_group group;
  runq::latch shut{1};
  runq::barrier nobody{2};
  runq::mutex under;
  runq::condition_variable same;
  std::pair<stream, stream> ours = runq::net::socket_pair();
  runq::net::listener alone = runq::net::listen_tcp("127.0.0.1", 0);
  full_port port;
  std::vector<std::byte> much = std::vector<std::byte>(more_than_buffers);
  std::byte byte{};
  std::optional<int> number;

  nothing_comes() {
    EXPECT_EQ(full.try_send(1), runq::channel_result::done);
    EXPECT_TRUE(locked.try_lock());
    EXPECT_TRUE(shared.try_lock());
    group.add(1);
  }

  /// Calls `f(name, make)` for each wait: `make(d, token)` limits it.
  task<> for_each_wait(auto f) {
    using d = std::chrono::nanoseconds;
    using t = std::stop_token;
    co_await f("receive", [&](d l, t s) { return with_timeout(l, empty.receive(), s); });
    co_await f("send", [&](d l, t s) { return with_timeout(l, full.send(2), s); });
    co_await f("receive of ends", [&](d l, t s) { return with_timeout(l, ends.receive(), s); });
    co_await f("send of ends", [&](d l, t s) { return with_timeout(l, ends.send(2), s); });
    co_await f("select", [&](d l, t s) { return with_timeout(l, runq::select(runq::on_receive(empty, number)), s); });
    co_await f("select of none", [&](d l, t s) { return with_timeout(l, runq::select(), s); });
    std::vector<runq::receive_arm<int>> arms;
    arms.push_back(runq::on_receive(empty, number));
    co_await f("select of a range", [&](d l, t s) { return with_timeout(l, runq::select(arms), s); });
    co_await f("lock", [&](d l, t s) { return with_timeout(l, locked.lock(), s); });
    co_await f("scoped_lock", [&](d l, t s) { return with_timeout(l, locked.scoped_lock(), s); });
    co_await f("lock of a shared_mutex", [&](d l, t s) { return with_timeout(l, shared.lock(), s); });
    co_await f("scoped_lock of a shared_mutex", [&](d l, t s) { return with_timeout(l, shared.scoped_lock(), s); });
    co_await f("lock_shared", [&](d l, t s) { return with_timeout(l, shared.lock_shared(), s); });
    co_await f("scoped_lock_shared", [&](d l, t s) { return with_timeout(l, shared.scoped_lock_shared(), s); });
    co_await f("acquire", [&](d l, t s) { return with_timeout(l, units.acquire(), s); });
    co_await f("scoped_acquire", [&](d l, t s) { return with_timeout(l, units.scoped_acquire(2), s); });
    co_await f("wait", [&](d l, t s) { return with_timeout(l, group.wait(), s); });
    co_await f("wait of a latch", [&](d l, t s) { return with_timeout(l, shut.wait(), s); });
    co_await f("arrive_and_wait", [&](d l, t s) { return with_timeout(l, nobody.arrive_and_wait(), s); });
    auto held = co_await under.scoped_lock();
    co_await f("wait for a notification", [&](d l, t s) { return with_timeout(l, same.wait(held), s); });
    const auto never = [] { return false; };
    co_await f("wait for a condition", [&](d l, t s) { return with_timeout(l, same.wait(held, never), s); });
    co_await f("sleep_for", [](d l, t s) { return with_timeout(l, runq::sleep_for(1h), s); });
    const auto late = runq::clock::now() + 1h;
    co_await f("sleep_until", [late](d l, t s) { return with_timeout(l, runq::sleep_until(late), s); });
    auto other = runq::spawn(own_wait_with);
    co_await f("spawned", [&](d l, t s) { return with_timeout(l, other, s); });
    const auto body = [](runq::scope& s) -> task<> { co_await runq::sleep_for(1h, s.stop_token()); };
    co_await f("with_scope", [&](d l, t s) { return with_timeout(l, runq::with_scope(body), s); });
    co_await f("when_all", [](d l, t s) { return with_timeout(l, runq::when_all(own_wait_with, own_wait_with), s); });
    co_await f("when_any", [](d l, t s) { return with_timeout(l, runq::when_any(own_wait_with, own_wait_with), s); });
    using pieces = std::vector<task<int> (*)(std::stop_token)>;
    co_await f("when_all of a vector", [](d l, t s) {
      return with_timeout(l, runq::when_all(pieces{&own_wait_with, &own_wait_with}), s);
    });
    co_await f("when_any of a vector", [](d l, t s) {
      return with_timeout(l, runq::when_any(pieces{&own_wait_with, &own_wait_with}), s);
    });
    co_await f("with_timeout", [&](d l, t s) { return with_timeout(l, with_timeout(1h, empty.receive()), s); });
    co_await f("with_timeout of a function", [](d l, t s) { return with_timeout(l, own_wait_with, s); });
    co_await f("stoppable_task", [&](d l, t s) { return with_timeout(l, own_wait(empty), s); });
    co_await f("read", [&](d l, t s) { return with_timeout(l, ours.first.read(std::span(&byte, 1)), s); });
    co_await f("write", [&](d l, t s) { return with_timeout(l, ours.first.write(much), s); });
    co_await f("accept", [&](d l, t s) { return with_timeout(l, alone.accept(), s); });
    co_await f("connect_tcp",
               [&](d l, t s) { return with_timeout(l, runq::net::connect_tcp("127.0.0.1", port.number()), s); });
    co_await f("connect_tcp by name",
               [](d l, t s) { return with_timeout(l, runq::net::connect_tcp("name.invalid", 1), s); });
  }
};
constexpr int number_of_waits = 36;

TEST_F(time_limits, SC15_every_wait_that_lasts_too_long_is_timed_out) {
  for (const unsigned procs : {1U, 2U}) {
    runq::run(
        []() -> task<> {
          nothing_comes here;
          int waits = 0;
          co_await here.for_each_wait([&](const char* name, const auto& make) -> task<> {
            EXPECT_EQ(co_await end_of(make(1ms, {})), end::timed_out) << name;
            ++waits;
          });
          EXPECT_EQ(waits, number_of_waits);
          let_look_ups_end();
        },
        {.procs = procs});
    look_ups_last = true;
  }
}

TEST_F(time_limits, SC15_an_outer_request_ends_every_limited_wait) {
  for (const bool early : {true, false}) {
    runq::run([early]() -> task<> {
      nothing_comes here;
      co_await here.for_each_wait([&](const char* name, const auto& make) -> task<> {
        std::stop_source outer;
        if (early) {
          outer.request_stop();
        } else {
          runq::go([outer]() mutable -> task<> {
            for (int i = 0; i != 10; ++i) co_await runq::yield();
            outer.request_stop();
          });
        }
        EXPECT_EQ(co_await end_of(make(1h, outer.get_token())), end::cancelled) << name;
      });
      let_look_ups_end();
    });
    look_ups_last = true;
  }
}

TEST_F(time_limits, SC5_a_wait_of_the_network_that_ends_in_time_gives_what_it_gives_without_a_limit) {
  for (const unsigned procs : {1U, 2U}) {
    runq::run(
        []() -> task<> {
          runq::net::listener l = runq::net::listen_tcp("127.0.0.1", 0);
          stream client = co_await with_timeout(1h, runq::net::connect_tcp("localhost", l.port()));
          stream server = co_await with_timeout(1h, l.accept());
          co_await with_timeout(1h, client.write(bytes_of("hello")));
          std::array<std::byte, 8> into{};
          const std::size_t n = co_await with_timeout(1h, server.read(into));
          EXPECT_EQ(n, 5U);
          client.close();
          const std::size_t nothing = co_await with_timeout(1h, server.read(into));
          EXPECT_EQ(nothing, 0U);
          // An error is an error.
          EXPECT_EQ(co_await sched_test::error_of(with_timeout(1h, client.read(into))), ECANCELED);

          const sched_test::folder in;
          runq::net::listener u = runq::net::listen_unix(in.file("socket"));
          stream one = co_await with_timeout(1h, runq::net::connect_unix(in.file("socket")));
          stream other = co_await with_timeout(1h, u.accept());
          co_await write_text(one, "x");
          EXPECT_EQ(co_await read_text(other, 1), "x");
        },
        {.procs = procs});
  }
}

TEST_F(time_limits, SC15_a_read_that_is_timed_out_has_taken_nothing) {
  runq::run([]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    std::array<std::byte, 4> into{};
    EXPECT_EQ(co_await end_of(with_timeout(1ms, a.read(into))), end::timed_out);
    co_await write_text(b, "text");
    EXPECT_EQ(co_await read_text(a, 4), "text");
    // Nor does a read after a request, although there is something to read.
    co_await write_text(b, "more");
    std::stop_source asked;
    asked.request_stop();
    EXPECT_EQ(co_await sched_test::error_of_read(a, asked.get_token()), sched_test::was_cancelled);
    EXPECT_EQ(co_await read_text(a, 4), "more");
  });
}

TEST_F(time_limits, SC15_an_accept_that_is_timed_out_loses_no_connection) {
  runq::run([]() -> task<> {
    runq::net::listener l = runq::net::listen_tcp("127.0.0.1", 0);
    EXPECT_EQ(co_await end_of(with_timeout(1ms, l.accept())), end::timed_out);
    stream client = co_await runq::net::connect_tcp("127.0.0.1", l.port());
    std::stop_source asked;
    asked.request_stop();
    EXPECT_EQ(co_await sched_test::error_of(l.accept(asked.get_token())), sched_test::was_cancelled);
    stream server = co_await l.accept();
    co_await write_text(client, "x");
    EXPECT_EQ(co_await read_text(server, 1), "x");
  });
}

TEST_F(time_limits, SC15_the_forms_with_an_error_code_say_that_they_were_ended) {
  runq::run([]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    std::array<std::byte, 4> into{};
    std::error_code error;
    const std::size_t read = co_await with_timeout(1ms, a.read(into, error));
    EXPECT_EQ(read, 0U);
    EXPECT_EQ(error, std::errc::operation_canceled);
    const std::vector<std::byte> much(more_than_buffers);
    error.clear();
    const std::size_t written = co_await with_timeout(1ms, a.write(much, error));
    EXPECT_EQ(error, std::errc::operation_canceled);
    EXPECT_GT(written, 0U);
    EXPECT_LT(written, much.size());
    runq::net::listener l = runq::net::listen_tcp("127.0.0.1", 0);
    error.clear();
    const auto accepted = co_await with_timeout(1ms, l.accept(error));
    EXPECT_FALSE(accepted.has_value());
    EXPECT_EQ(error, std::errc::operation_canceled);
    const full_port full;
    error.clear();
    const auto connected = co_await with_timeout(1ms, runq::net::connect_tcp("127.0.0.1", full.number(), error));
    EXPECT_FALSE(connected.has_value());
    EXPECT_EQ(error, std::errc::operation_canceled);
    error.clear();
    const auto looked_up = co_await with_timeout(1ms, runq::net::connect_tcp("name.invalid", 1, error));
    EXPECT_FALSE(looked_up.has_value());
    EXPECT_EQ(error, std::errc::operation_canceled);
    let_look_ups_end();
  });
}

TEST_F(time_limits, SC5_a_deadline_of_the_stream_is_an_error_of_its_own) {
  runq::run([]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    std::array<std::byte, 4> into{};
    a.set_read_deadline(runq::clock::now() + 1ms);
    EXPECT_EQ(co_await sched_test::error_of(with_timeout(1h, a.read(into))), ETIMEDOUT);
    a.set_read_deadline(runq::clock::now() + 1h);
    EXPECT_EQ(co_await end_of(with_timeout(1ms, a.read(into))), end::timed_out);
  });
}

TEST_F(time_limits, SC5_a_look_up_that_is_left_behind_ends_alone) {
  runq::run([]() -> task<> {
    EXPECT_EQ(co_await end_of(with_timeout(1ms, runq::net::connect_tcp("name.invalid", 1))), end::timed_out);
    let_look_ups_end();
    // The same without a limit: the name is not known.
    EXPECT_EQ(co_await sched_test::error_of(runq::net::connect_tcp("name.invalid", 1)), EAI_NONAME);
  });
}

TEST_F(time_limits, SC5_a_spawned_task_goes_on_when_the_wait_for_it_is_timed_out) {
  runq::run([]() -> task<> {
    runq::channel<int> numbers;
    auto other = runq::spawn([&]() -> task<int> { co_return *co_await numbers.receive(); });
    EXPECT_EQ(co_await end_of(with_timeout(1ms, other)), end::timed_out);
    co_await numbers.send(7);
    EXPECT_EQ(co_await with_timeout(1h, other), 7);
  });
}

TEST_F(time_limits, SC5_a_select_in_time_carries_out_its_arm) {
  runq::run([]() -> task<> {
    runq::channel<int> numbers(1);
    runq::channel<int> never;
    std::optional<int> n;
    const std::size_t sent =
        co_await with_timeout(1h, runq::select(runq::on_receive(never, n), runq::on_send(numbers, 3)));
    EXPECT_EQ(sent, 1U);
    std::vector<runq::receive_arm<int>> arms;
    arms.push_back(runq::on_receive(numbers, n));
    EXPECT_EQ(co_await with_timeout(1h, runq::select(arms)), 0U);
    EXPECT_EQ(n, 3);
    // Timed out, it has carried out none, and the arms may be used again.
    EXPECT_EQ(co_await end_of(with_timeout(1ms, runq::select(arms))), end::timed_out);
    EXPECT_EQ(numbers.try_send(4), runq::channel_result::done);
    EXPECT_EQ(co_await runq::select(arms), 0U);
    EXPECT_EQ(n, 4);
  });
}

TEST_F(time_limits, SC5_a_wait_that_has_a_token_is_misuse) {
  runq::run([]() -> task<> {
    const std::stop_source own;
    const std::stop_token t = own.get_token();
    auto [a, b] = runq::net::socket_pair();
    std::byte byte{};
    runq::net::listener l = runq::net::listen_tcp("127.0.0.1", 0);
    runq::channel<int> numbers;
    const auto body = [](runq::scope&) -> task<> { co_return; };
    EXPECT_THROW((void)with_timeout(1h, a.read(std::span(&byte, 1), t)), runq::misuse);
    EXPECT_THROW((void)with_timeout(1h, l.accept(t)), runq::misuse);
    EXPECT_THROW((void)with_timeout(1h, runq::net::connect_tcp("127.0.0.1", 1, t)), runq::misuse);
    EXPECT_THROW((void)with_timeout(1h, own_wait(numbers, t)), runq::misuse);
    EXPECT_THROW((void)with_timeout(1h, runq::when_all(t, own_wait_with)), runq::misuse);
    EXPECT_THROW((void)with_timeout(1h, runq::with_scope(body, t)), runq::misuse);
    EXPECT_THROW((void)with_timeout(1h, with_timeout(1h, numbers.receive(), t)), runq::misuse);
    co_return;
  });
}

TEST_F(time_limits, SC5_a_task_that_was_moved_from_or_awaited_is_misuse) {
  runq::run([]() -> task<> {
    runq::channel<int> numbers(1);
    auto wait = own_wait(numbers);
    EXPECT_EQ(numbers.try_send(1), runq::channel_result::done);
    EXPECT_EQ(co_await wait, 1);
    auto again = with_timeout(1h, std::move(wait));
    const auto await_again = [&]() -> task<> { (void)co_await again; };
    EXPECT_EQ(co_await sched_test::misuse_in_task_void(await_again), "runq: a task was awaited twice");
    auto gone = with_timeout(1h, std::move(wait));  // NOLINT(bugprone-use-after-move): that is what is tested
    const auto await_gone = [&]() -> task<> { (void)co_await gone; };
    EXPECT_EQ(co_await sched_test::misuse_in_task_void(await_gone), "runq: awaited a task that was moved from");
  });
}

runq::stoppable_task<int> late(int n, std::stop_token stop = {}) {
  co_await runq::sleep_for(1ms, std::move(stop));
  co_return n;
}
runq::stoppable_task<> late_nothing(std::stop_token stop = {}) { co_await runq::sleep_for(1ms, std::move(stop)); }

runq::stoppable_task<bool> waits_for_the_first(std::stop_token first, std::stop_token second) {
  try {
    co_await runq::sleep_for(1h, first);
  } catch (const runq::cancelled&) {
  }
  co_return first.stop_requested() && !second.stop_possible();
}

TEST_F(time_limits, the_first_of_two_tokens_is_that_of_the_limit) {
  runq::run([]() -> task<> {
    const bool first = co_await with_timeout(1ms, waits_for_the_first({}, {}));
    EXPECT_TRUE(first);
  });
}

TEST_F(time_limits, a_stoppable_task_goes_wherever_a_task_goes) {
  EXPECT_EQ(runq::run(late(1)), 1);
  EXPECT_EQ(runq::run([] { return late(2); }), 2);
  EXPECT_EQ(runq::run(runq::when_all(late(3))), std::tuple(3));
  runq::run(late_nothing());
  runq::run([]() -> task<> {
    runq::go(late_nothing());
    auto forked = co_await runq::fork(late(4));
    co_await runq::fork(late_nothing());
    co_await runq::join();
    EXPECT_EQ(forked.get(), 4);
    auto spawned = runq::spawn(late(5));
    EXPECT_EQ(co_await spawned, 5);
    const auto body = [](runq::scope& s) -> task<> {
      s.go(late_nothing());
      auto child = co_await s.fork(late(6));
      co_await runq::join();
      EXPECT_EQ(child.get(), 6);
    };
    co_await runq::with_scope(body);
    EXPECT_EQ(co_await runq::when_all(late(7), late(8)), std::tuple(7, 8));
    task<int> plain = late(9);
    EXPECT_EQ(co_await plain, 9);
    runq::once once;
    co_await once.call([] { return late_nothing(); });
    EXPECT_TRUE(once.done());
    const auto both = [](std::stop_token stop) { return runq::when_all(late(10, stop), late(11, stop)); };
    EXPECT_EQ(co_await with_timeout(1h, both), std::tuple(10, 11));
    std::thread outside([home = runq::this_task::handle()] { EXPECT_EQ(home.block_on(late(12)), 12); });
    co_await runq::blocking([&] { outside.join(); });
  });
}

// ---- no wait is forgotten -------------------------------------------------------------------------------------------

// What with_timeout() refuses, because nothing can end it.
template <class Wait>
constexpr bool refused = !has_stoppable_form<Wait> && !runq::detail::can_be_limited<std::remove_reference_t<Wait>>;
struct no_body {
  void operator()() const {}
};
static_assert(refused<decltype(runq::yield())>);
static_assert(refused<decltype(runq::join())>);
static_assert(refused<decltype(runq::fork(std::declval<task<int>>()))>);
static_assert(refused<decltype(std::declval<runq::scope&>().fork(std::declval<task<int>>()))>);
static_assert(refused<decltype(runq::blocking(no_body()))>);
static_assert(refused<decltype(runq::blocking(no_body(), std::stop_token()))>);
static_assert(refused<decltype(std::declval<runq::once&>().call(no_body()))>);
static_assert(refused<decltype(std::declval<runq::barrier&>().arrive_and_drop())>);
// It waits until the scope stops.
static_assert(refused<decltype(std::declval<runq::scope&>().go_within(std::declval<runq::semaphore&>(), no_body()))>);
static_assert(refused<decltype(runq::select(runq::otherwise()))>);
static_assert(refused<task<int>>);
// A wait with a name may be awaited again.
static_assert(refused<decltype(std::declval<runq::channel<int>&>().receive())&>);
static_assert(refused<decltype(runq::net::connect_tcp("", 1))&>);

/// What users may call in this header: without comments, directives, namespace detail, and private members.
std::string public_part_of(const std::filesystem::path& header) {
  std::string text;
  std::string until;  // the line that ends what is left out
  std::ifstream from(header);
  for (std::string line; std::getline(from, line);) {
    if (!until.empty()) {
      if (line == until || (until == "};" && line == " public:")) until.clear();
      continue;
    }
    if (line == "namespace detail {") until = "}  // namespace detail";
    if (line == " private:" || line == " protected:") until = "};";
    if (!until.empty() || line.starts_with('#')) continue;
    line.erase(std::min(line.find("//"), line.size()));
    line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
    text += line + ' ';
  }
  return text;
}

/// The functions and classes of the public headers whose results are awaited, or might be, because they return auto.
std::set<std::string> what_may_wait() {
  static const std::regex declared(
      R"(\[\[nodiscard\]\] (?:(?:static|inline|constexpr) )*)"
      R"((?:auto|(?:\w+::)*\w*(?:task|awaiter|operation|select|wait|fork|call)(?:<[^;(){}]*>)?) (?:\w+::)*(\w+)\()"
      R"(|class \[\[nodiscard\]\] (\w+) : public \w*task<)");
  std::set<std::string> names;
  const auto headers = std::filesystem::path(__FILE__).parent_path() / "../include/runq";
  for (const auto& entry : std::filesystem::directory_iterator(headers)) {
    if (entry.path().extension() != ".hpp") continue;
    const std::string text = public_part_of(entry.path());
    for (std::sregex_iterator at(text.begin(), text.end(), declared), none; at != none; ++at) {
      names.insert((*at)[1].matched ? (*at)[1] : (*at)[2]);
    }
  }
  return names;
}

TEST(time_limits_of_the_headers, SC15_no_function_that_waits_is_forgotten) {
  const std::set<std::string> limited = {
      // In the table above.
      "receive", "send", "select", "lock", "scoped_lock", "lock_shared", "scoped_lock_shared", "acquire",
      "scoped_acquire", "wait", "arrive_and_wait", "sleep_for", "sleep_until", "with_scope", "when_all", "when_any",
      "with_timeout", "stoppable_task", "read", "write", "accept", "connect_tcp",
      // In other tests: connect() of a Unix socket does not wait, and the others have test programs of their own.
      "connect_unix", "as_awaitable", "initiate",
      // In buffered_reader_test.
      "read_exactly", "read_line", "read_until"};
  // Refused above, or in must_not_compile; on_asio() calls what cannot be ended.
  const std::set<std::string> refused = {"yield",           "join",      "fork",   "blocking", "call",
                                         "arrive_and_drop", "go_within", "on_asio"};
  // Not awaited.
  const std::set<std::string> others = {"spawn", "stoppable", "otherwise", "connect", "on_send"};
  std::set<std::string> unknown = what_may_wait();
  for (const auto& known : {limited, refused, others}) {
    for (const std::string& name : known) EXPECT_EQ(unknown.erase(name), 1U) << name << " was not found in the headers";
  }
  EXPECT_THAT(unknown, IsEmpty()) << "add each to the table of waits, to what is refused, or to what is not awaited";
}

}  // namespace
