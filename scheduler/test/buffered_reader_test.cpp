// SPDX-License-Identifier: MIT
// buffered_reader: pieces of a stream, wherever it is cut, and what is kept when a piece does not come. Row SC17.
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/socket.h>

#include "net_support.hpp"

namespace {

using namespace std::chrono_literals;
using runq::task;
using runq::net::buffered_reader;
using runq::net::stream;
using sched_test::bytes_of;
using sched_test::stream_pair;

using pieces = sched_test::net_fixture;

/// Two ends of a socket of which each read returns what one write has written.
stream_pair message_pair() {
  int fds[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
  return {stream(fds[0]), stream(fds[1])};
}

/// What an operation has returned, as a string that is no view.
std::string text_of(const std::optional<std::string_view>& piece) { return std::string(piece.value_or("(nothing)")); }
std::string text_of(const std::optional<std::span<const std::byte>>& piece) {
  if (!piece) return "(nothing)";
  return {reinterpret_cast<const char*>(piece->data()), piece->size()};
}

task<std::string> line_of(buffered_reader& from) { co_return text_of(co_await from.read_line()); }

constexpr int by_request = -1;
/// How an operation has ended: the number of its error, by_request, or 0.
template <class Make>
task<int> error_of_piece(Make& make) {
  int error = 0;
  try {
    static_cast<void>(co_await make());
  } catch (const std::system_error& e) {
    error = e.code().value();
  } catch (const runq::cancelled&) {
    error = by_request;
  }
  co_return error;
}

// ---- wherever the stream is cut -------------------------------------------------------------------------------------

// In front of "\r\n" and "--" there is a beginning of one that is none, and only a line ends before a "\r".
constexpr std::string_view example = "\ra\r\n-c\r--xyz\nq";

task<> expect_the_pieces_of_the_example(buffered_reader& from) {
  EXPECT_EQ(text_of(co_await from.read_line()), "\ra");
  EXPECT_EQ(text_of(co_await from.read_until("--")), "-c\r");
  EXPECT_EQ(text_of(co_await from.read_exactly(3)), "xyz");
  EXPECT_EQ(text_of(co_await from.read_line()), "");
  EXPECT_EQ(text_of(co_await from.read_line()), "(nothing)");
  EXPECT_EQ(text_of(co_await from.read_exactly(2)), "(nothing)");
  EXPECT_EQ(text_of(co_await from.read_until("qq")), "(nothing)");
  EXPECT_EQ(from.buffered(), "q");
}

TEST_F(pieces, SC17_are_the_same_at_whatever_bytes_the_stream_is_cut) {
  constexpr unsigned inner = example.size() - 1;
  runq::run([]() -> task<> {
    // Bit i of `cuts`: there is a cut behind byte i.
    for (unsigned cuts = 0; cuts != 1U << inner && !testing::Test::HasFailure(); ++cuts) {
      if (sched_test::slow_build && std::popcount(cuts) > 3) continue;
      auto [from, to] = message_pair();
      std::string part;
      for (unsigned i = 0; i != example.size(); ++i) {
        part += example[i];
        if (i != inner && (cuts >> i & 1U) == 0) continue;
        co_await to.write(bytes_of(part));
        part.clear();
      }
      to.close();
      buffered_reader reader(from);
      co_await expect_the_pieces_of_the_example(reader);
      EXPECT_FALSE(testing::Test::HasFailure()) << "cuts: " << cuts;
    }
  });
}

TEST_F(pieces, SC17_are_the_same_in_a_buffer_of_any_size_that_holds_one) {
  runq::run([]() -> task<> {
    for (std::size_t max_piece = 5; max_piece != example.size() + 2; ++max_piece) {
      auto [from, to] = runq::net::pipe();
      co_await to.write(bytes_of(example));
      to.close();
      buffered_reader reader(from, max_piece);
      co_await expect_the_pieces_of_the_example(reader);
    }
  });
}

/// Writes the example in two parts. The second part comes when the reader waits for it.
task<> in_two_parts(runq::scheduler& s, stream_pair ends, std::size_t first) {
  auto& [from, to] = ends;
  buffered_reader reader(from);
  co_await to.write(bytes_of(example.substr(0, first)));
  auto reads = runq::spawn(expect_the_pieces_of_the_example(reader));
  EXPECT_TRUE(co_await sched_test::somebody_waits(s));
  co_await to.write(bytes_of(example.substr(first)));
  to.close();
  co_await reads;
}

TEST_F(pieces, SC17_of_pipes_and_connections_are_waited_for_at_every_byte) {
  for (const unsigned procs : {1U, 2U}) {
    runq::scheduler s({.procs = procs});
    s.run([&]() -> task<> {
      for (std::size_t first = 0; first != example.size(); ++first) {
        co_await in_two_parts(s, runq::net::pipe(), first);
        co_await in_two_parts(s, runq::net::socket_pair(), first);
        co_await in_two_parts(s, co_await sched_test::tcp_pair(), first);
      }
    });
  }
}

TEST_F(pieces, SC17_of_any_size_fit_into_a_buffer_that_grows) {
  runq::run([]() -> task<> {
    auto [from, to] = runq::net::socket_pair();
    std::string sent;
    for (std::size_t i = 0; sent.size() < 300'000; ++i) sent += std::to_string(i) + ' ';
    auto writes = runq::spawn([&, &to = to]() -> task<> {
      const std::string twice = sent + '\n' + sent + '\n';
      co_await to.write(bytes_of(twice));
      to.close();
    });
    buffered_reader reader(from, 1'000'000);
    EXPECT_TRUE(text_of(co_await reader.read_line()) == sent);
    EXPECT_TRUE(text_of(co_await reader.read_exactly(sent.size())) == sent);
    EXPECT_EQ(co_await line_of(reader), "");
    EXPECT_EQ(co_await line_of(reader), "(nothing)");
    co_await writes;
  });
}

// ---- read() ---------------------------------------------------------------------------------------------------------

TEST_F(pieces, SC17_read_takes_what_is_in_the_buffer_first_and_then_what_the_stream_has) {
  runq::run([]() -> task<> {
    auto [from, to] = runq::net::pipe();
    buffered_reader reader(from);
    co_await to.write(bytes_of("head\nbody"));
    EXPECT_EQ(co_await line_of(reader), "head");
    std::array<char, 3> few;
    const auto into = std::as_writable_bytes(std::span(few));
    EXPECT_EQ(co_await reader.read(into), 3U);
    EXPECT_EQ(std::string_view(few.data(), 3), "bod");
    EXPECT_EQ(co_await reader.read({}), 0U);
    EXPECT_EQ(reader.buffered(), "y");
    EXPECT_EQ(co_await reader.read(into), 1U);
    EXPECT_EQ(few[0], 'y');
    co_await to.write(bytes_of("more"));
    EXPECT_EQ(co_await reader.read(into), 3U);
    EXPECT_EQ(std::string_view(few.data(), 3), "mor");
    EXPECT_EQ(reader.buffered(), "") << "it went past the buffer";
    to.close();
    EXPECT_EQ(co_await line_of(reader), "(nothing)");
    EXPECT_EQ(reader.buffered(), "e");
    EXPECT_EQ(co_await reader.read(into), 1U);
    EXPECT_EQ(co_await reader.read(into), 0U);
    EXPECT_EQ(co_await line_of(reader), "(nothing)");
    EXPECT_EQ(text_of(co_await reader.read_exactly(0)), "");
  });
}

// ---- too long -------------------------------------------------------------------------------------------------------

TEST_F(pieces, SC17_a_piece_that_is_longer_than_allowed_is_an_error_and_is_kept) {
  runq::run([]() -> task<> {
    auto [from, to] = runq::net::pipe();
    buffered_reader reader(from, 8);
    EXPECT_EQ(reader.max_piece(), 8U);
    co_await to.write(bytes_of("7 bytes\n8 bytes.\r\n12345678"));
    EXPECT_EQ(co_await line_of(reader), "7 bytes");
    std::string what;
    try {
      (void)co_await reader.read_line();
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), std::errc::message_size);
      what = error.what();
    }
    EXPECT_THAT(what, testing::StartsWith("runq: a line or another piece of a stream has more than 8 bytes, the "
                                          "buffered_reader's max_piece"));
    EXPECT_EQ(reader.buffered(), "8 bytes.");
    const auto again = [&] { return reader.read_until("."); };
    EXPECT_EQ(co_await error_of_piece(again), 0) << "with the delimiter it has 8 bytes";
    EXPECT_EQ(co_await line_of(reader), "");
    const auto nine = [&] { return reader.read_exactly(9); };
    EXPECT_EQ(co_await error_of_piece(nine), EMSGSIZE);
    EXPECT_EQ(text_of(co_await reader.read_exactly(8)), "12345678");
    const auto long_delimiter = [&] { return reader.read_until("123456789"); };
    EXPECT_EQ(co_await error_of_piece(long_delimiter), EMSGSIZE);
  });
}

// ---- waits that end before the piece has come -----------------------------------------------------------------------

/// Lets a read of "hello\nworld\n" fail by `fail(reader)` when k bytes have come, for every k. No byte may be lost.
void expect_that_nothing_is_lost(const std::function<task<>(stream&, buffered_reader&)>& fail) {
  constexpr std::string_view text = "hello\nworld\n";
  runq::run([&]() -> task<> {
    for (std::size_t k = 0; k != text.size(); ++k) {
      auto [from, to] = co_await sched_test::tcp_pair();
      buffered_reader reader(from);
      co_await to.write(bytes_of(text.substr(0, k)));
      std::vector<std::string> lines;
      if (k > 5) lines.push_back(co_await line_of(reader));
      co_await fail(from, reader);
      co_await fail(from, reader);
      co_await to.write(bytes_of(text.substr(k)));
      while (lines.size() != 2) lines.push_back(co_await line_of(reader));
      EXPECT_THAT(lines, testing::ElementsAre("hello", "world")) << k;
    }
  });
}

TEST_F(pieces, SC17_a_deadline_loses_nothing) {
  expect_that_nothing_is_lost([](stream& from, buffered_reader& reader) -> task<> {
    from.set_read_deadline(runq::clock::now() + 1ms);
    const auto line = [&] { return reader.read_line(); };
    EXPECT_EQ(co_await error_of_piece(line), ETIMEDOUT);
    from.set_read_deadline(runq::clock::time_point::max());
  });
}

TEST_F(pieces, SC17_a_stop_request_loses_nothing) {
  expect_that_nothing_is_lost([](stream&, buffered_reader& reader) -> task<> {
    std::stop_source stopping;
    runq::go([stopping]() mutable -> task<> {
      for (int i = 0; i != 5; ++i) co_await runq::yield();
      stopping.request_stop();
    });
    const auto rest = [&] { return reader.read_until("never", stopping.get_token()); };
    EXPECT_EQ(co_await error_of_piece(rest), by_request);
    const auto many = [&] { return reader.read_exactly(13, stopping.get_token()); };
    EXPECT_EQ(co_await error_of_piece(many), by_request);
  });
}

TEST_F(pieces, SC17_a_request_ends_a_plain_read_that_would_have_to_wait) {
  runq::run([]() -> task<> {
    auto [from, to] = runq::net::pipe();
    buffered_reader reader(from);
    co_await to.write(bytes_of("one"));
    std::stop_source stopping;
    stopping.request_stop();
    std::array<std::byte, 3> into{};
    bool cancelled = false;
    try {
      (void)co_await reader.read(into, stopping.get_token());
    } catch (const runq::cancelled&) {
      cancelled = true;
    }
    EXPECT_TRUE(cancelled);
    if (HasFailure()) co_return;  // there is nothing to read any more
    EXPECT_EQ(co_await reader.read(into), 3U);
  });
}

TEST_F(pieces, SC17_a_time_limit_loses_nothing_and_is_timed_out) {
  expect_that_nothing_is_lost([](stream&, buffered_reader& reader) -> task<> {
    int timed_out = 0;
    try {
      (void)co_await runq::with_timeout(1ms, reader.read_line());
    } catch (const runq::timed_out&) {
      ++timed_out;
    }
    try {
      (void)co_await runq::with_timeout(1ms, reader.read_exactly(13));
    } catch (const runq::timed_out&) {
      ++timed_out;
    }
    EXPECT_EQ(timed_out, 2);
  });
}

TEST_F(pieces, SC17_come_within_a_time_limit_as_without) {
  runq::run([]() -> task<> {
    auto [from, to] = runq::net::pipe();
    buffered_reader reader(from);
    co_await to.write(bytes_of("one\ntwo"));
    EXPECT_EQ(text_of(co_await runq::with_timeout(1h, reader.read_line())), "one");
    to.close();
    EXPECT_EQ(text_of(co_await runq::with_timeout(1h, reader.read_line())), "(nothing)");
    EXPECT_EQ(text_of(co_await runq::with_timeout(1h, reader.read_exactly(3))), "two");
    std::stop_source own;
    EXPECT_THROW((void)runq::with_timeout(1h, reader.read_line(own.get_token())), runq::misuse);
  });
}

TEST_F(pieces, SC17_an_outer_request_ends_a_time_limit_as_cancelled) {
  runq::run([]() -> task<> {
    auto [from, to] = runq::net::pipe();
    buffered_reader reader(from);
    std::stop_source outer;
    runq::go([outer]() mutable { outer.request_stop(); });
    bool cancelled = false;
    try {
      (void)co_await runq::with_timeout(1h, reader.read_line(), outer.get_token());
    } catch (const runq::cancelled&) {
      cancelled = true;
    }
    EXPECT_TRUE(cancelled);
  });
}

TEST_F(pieces, L2_of_a_stream_that_outlives_the_run_are_kept_for_the_next) {
  runq::scheduler s({.procs = 2});
  std::optional<stream_pair> ends;
  std::optional<buffered_reader> reader;
  s.run([&]() -> task<> {
    ends = runq::net::pipe();
    reader.emplace(ends->first);
    co_await ends->second.write(bytes_of("hel"));
    runq::go([&]() -> task<> { (void)co_await reader->read_line(); });
    EXPECT_TRUE(co_await sched_test::somebody_waits(s));
  });
  s.run([&]() -> task<> {
    co_await ends->second.write(bytes_of("lo\n"));
    EXPECT_EQ(co_await line_of(*reader), "hello");
    reader.reset();
    ends.reset();
  });
}

// ---- errors, moves, misuse ------------------------------------------------------------------------------------------

TEST_F(pieces, SC17_an_error_of_the_stream_comes_after_the_pieces_before_it) {
  runq::run([]() -> task<> {
    auto [from, to] = co_await sched_test::tcp_pair();
    buffered_reader reader(from);
    co_await to.write(bytes_of("one\ntwo\nthr"));
    EXPECT_EQ(co_await line_of(reader), "one");
    while (reader.buffered().size() < 7) {
      try {
        (void)co_await runq::with_timeout(1ms, reader.read_exactly(8));
      } catch (const runq::timed_out&) {
        continue;
      }
    }
    from.close();
    EXPECT_EQ(co_await line_of(reader), "two");
    const auto line = [&] { return reader.read_line(); };
    EXPECT_EQ(co_await error_of_piece(line), ECANCELED);
    EXPECT_EQ(reader.buffered(), "thr");
  });
}

TEST_F(pieces, SC17_move_with_their_reader) {
  runq::run([]() -> task<> {
    auto [from, to] = runq::net::pipe();
    buffered_reader first(from, 100);
    co_await to.write(bytes_of("one\ntwo\nthree\n"));
    EXPECT_EQ(co_await line_of(first), "one");
    buffered_reader second(std::move(first));
    EXPECT_EQ(co_await line_of(second), "two");
    const auto moved_from = [&] { return first.read_line(); };  // NOLINT(bugprone-use-after-move)
    const auto misuse = "runq: a buffered_reader was used after it was moved from; assign another one to it";
    EXPECT_EQ(co_await sched_test::misuse_in_task(moved_from), misuse);
    const auto read_from_it = [&] { return first.read({}); };
    EXPECT_EQ(co_await sched_test::misuse_in_task(read_from_it), misuse);
    EXPECT_EQ(first.buffered(), "");
    first = std::move(second);
    EXPECT_EQ(first.max_piece(), 100U);
    EXPECT_EQ(co_await line_of(first), "three");
  });
}

TEST_F(pieces, misuse_says_what_to_do) {
  runq::run([]() -> task<> {
    auto ends = runq::net::pipe();
    EXPECT_EQ(sched_test::misuse_of([&] { buffered_reader reader(ends.first, 0); }),
              "runq: the max_piece of a buffered_reader is 1 byte or more");
    buffered_reader reader(ends.first);
    EXPECT_EQ(sched_test::misuse_of([&] { (void)reader.read_until(""); }),
              "runq: the delimiter of read_until() has 1 byte or more");
    co_return;
  });
}

TEST_F(pieces, a_dump_shows_where_a_task_waits_for_one) {
  runq::run([]() -> task<> {
    auto [from, to] = runq::net::pipe();
    buffered_reader reader(from);
    const unsigned line = __LINE__ + 1;
    auto waits = runq::spawn([&]() -> task<> { (void)co_await reader.read_line(); });
    const auto place = "buffered_reader_test.cpp:" + std::to_string(line);
    co_await sched_test::yield_until([&] { return runq::this_scheduler().dump().find(place) != std::string::npos; });
    to.close();
    co_await waits;
  });
}

}  // namespace
