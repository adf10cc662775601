// SPDX-License-Identifier: MIT
// net: streams over which tasks read and write without blocking a thread: TCP over IPv4 and IPv6, Unix sockets, pipes.
//
// Source: Go's net and internal/poll packages: try first, wait for the poller only when the kernel says "not now".
#pragma once

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "runq/source_place.hpp"
#include "runq/task.hpp"
#include "runq/timer.hpp"

namespace runq::net {

class stream;

namespace detail {

class connection;
struct access;

/// What an operation has done so far.
struct progress {
  std::size_t bytes = 0;  // read or written
  int error = 0;          // the kernel's number; 0: none
};

/// The operations of a stream: the argument of `operation`.
struct reading {
  using bytes = std::span<std::byte>;
  using result = std::size_t;
  // Makes one attempt, for which it takes the task's turn. Returns whether the operation is over: complete, or failed.
  [[nodiscard]] static bool attempt(connection& c, bytes& into, progress& done);
  [[noreturn]] static void fail(const progress& done);
};
struct writing {
  using bytes = std::span<const std::byte>;
  using result = void;
  [[nodiscard]] static bool attempt(connection& c, bytes& from, progress& done);
  [[noreturn]] static void fail(const progress& done);
};
/// Says how much it has written.
struct counted_writing : writing {
  using result = std::size_t;
};

/// What stream::read() and write() return; it is awaited once. It makes an attempt at once. Only if the kernel says
/// "not now", or another task has its turn, does it start a coroutine, which waits. Converts to a task, for fork() and
/// go().
template <class What>
class [[nodiscard]] operation {
 public:
  using value_type = typename What::result;

  operation(const operation&) = delete;
  operation& operator=(const operation&) = delete;

  [[nodiscard]] bool await_ready();
  [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<> self);
  value_type await_resume();
  operator task<value_type>() &&;  // NOLINT(google-explicit-constructor): an operation is used as a task
  /// For with_timeout(): makes the same operation with a token. Throws runq::misuse if it has one.
  [[nodiscard]] auto stoppable() && {
    runq::detail::must_have_no_token(stop_);
    return [c = std::move(connection_), bytes = bytes_, at = at_, error = error_](std::stop_token stop) mutable {
      return as_task(std::move(c), bytes, std::move(stop), at, error);
    };
  }

 private:
  friend stream;
  operation(std::shared_ptr<connection> c, typename What::bytes bytes, std::stop_token stop, source_place at,
            std::error_code* error = nullptr) noexcept
      : connection_(std::move(c)), bytes_(bytes), stop_(std::move(stop)), at_(at), error_(error) {}
  [[nodiscard]] static task<value_type> as_task(std::shared_ptr<connection> c, typename What::bytes bytes,
                                                std::stop_token stop, source_place at, std::error_code* error);

  std::shared_ptr<connection> connection_;  // the stream may be destroyed meanwhile
  typename What::bytes bytes_;
  std::stop_token stop_;
  source_place at_;
  std::error_code* error_;  // null: an error is thrown
  progress done_;
  std::optional<task<progress>> rest_;  // the coroutine that waits, if the attempt did not end the operation
};
extern template class operation<reading>;
extern template class operation<writing>;
extern template class operation<counted_writing>;

}  // namespace detail

using read_operation = detail::operation<detail::reading>;
using write_operation = detail::operation<detail::writing>;
using counted_write_operation = detail::operation<detail::counted_writing>;

/// What stream::write() throws after an error: it says how much was written before. Bytes that were written are the
/// kernel's; whether the peer gets them is not known.
class write_error : public std::system_error {
 public:
  write_error(std::error_code error, std::size_t written);
  /// In bytes, fewer than write() was called with.
  [[nodiscard]] std::size_t written() const noexcept { return written_; }

 private:
  std::size_t written_;
};

/// What stream::write() throws when a stop request has ended it: likewise.
class write_cancelled : public cancelled {
 public:
  explicit write_cancelled(std::size_t written) noexcept : written_(written) {}
  /// In bytes, fewer than write() was called with.
  [[nodiscard]] std::size_t written() const noexcept { return written_; }

 private:
  std::size_t written_;
};

/// The category of the errors of name lookups: the EAI_ numbers of <netdb.h>.
[[nodiscard]] const std::error_category& lookup_errors() noexcept;

/// One end of a connection or a pipe. Movable while no operation is in progress; destroying it closes it. Operations of
/// other tasks that are in progress then fail as after close(), but they are told only when the task that destroys it
/// next waits or blocks, or has ended. If that is the main task, the run ends first, and they are not told.
///
/// Any number of tasks may read, write and close it. One reads at a time, and one writes; the others wait for their
/// turn, first come, first served, so that what two tasks write is not mixed.
///
/// All errors are std::system_error with the kernel's number, in std::generic_category(). Among them are: ECANCELED,
/// the stream was closed or moved from; ETIMEDOUT, the deadline that set_deadline() has set has passed. Writing to a
/// closed peer fails with EPIPE; on a socket it never raises a signal, on a pipe it also raises SIGPIPE, which the
/// program should ignore. A stop request is no error: as everywhere, runq::cancelled is thrown if a stop was requested
/// before or while the operation waits; so with_timeout(d, s.read(bytes)) throws runq::timed_out. The stream stays as
/// it was: a read that was ended has taken nothing out of it.
///
/// Overloads that take a std::error_code& set it instead, to no error after success, also when a stop was requested:
/// then to operation_canceled. They throw only std::bad_alloc and runq::misuse; the error_code must exist until the
/// operation has ended, and no other operation may set it meanwhile.
///
/// Tasks of one scheduler make and use it. If it is still open when that scheduler is destroyed, the process ends. It
/// may outlive the run: tasks that wait for it, or for their turn, are then destroyed, and the next run may use it.
///
///     auto [in, out] = runq::net::pipe();
///     co_await out.write(std::as_bytes(std::span("hello")));
///     std::byte bytes[6];
///     const std::size_t n = co_await in.read(bytes);
class stream {
 public:
  /// Takes over an open descriptor: makes it non-blocking, and closes it at the end. If this throws, it has not taken
  /// the descriptor over, which is open with the flags that it had, and the caller closes it. Throws std::system_error:
  /// a regular file (EPERM) cannot be polled; read those through runq::blocking(); EEXIST: another stream or listener
  /// of the scheduler has this number. Throws runq::misuse outside a scheduler, and std::bad_alloc.
  explicit stream(int fd);
  stream(stream&&) noexcept;
  stream& operator=(stream&&) noexcept;
  ~stream();

  /// Reads at least one byte, at most into.size(). Returns 0 only at the end of the stream, or if `into` is empty.
  [[nodiscard]] read_operation read(std::span<std::byte> into, std::stop_token stop = {},
                                    source_place at = source_place::here()) noexcept {
    return {connection_, into, std::move(stop), at};
  }
  /// Returns 0 if it sets `error`, and then has read nothing.
  [[nodiscard]] read_operation read(std::span<std::byte> into, std::error_code& error, std::stop_token stop = {},
                                    source_place at = source_place::here()) noexcept {
    return {connection_, into, std::move(stop), at, &error};
  }
  /// Writes all of `from`. Throws write_error or write_cancelled, which say how much was written before. What has no
  /// place for that number, runq::timed_out of with_timeout(), does not say it: where it matters, set a deadline, or
  /// take the overload with an error_code, which returns it.
  [[nodiscard]] write_operation write(std::span<const std::byte> from, std::stop_token stop = {},
                                      source_place at = source_place::here()) noexcept {
    return {connection_, from, std::move(stop), at};
  }
  /// Returns how many bytes it has written: from.size(), or fewer if it sets `error`; see write_error.
  ///
  ///     auto [from, to] = runq::net::pipe();
  ///     std::error_code error;
  ///     const std::size_t n = co_await to.write(std::as_bytes(std::span("hello")), error);
  ///     if (error) std::printf("%zu bytes, then: %s\n", n, error.message().c_str());
  [[nodiscard]] counted_write_operation write(std::span<const std::byte> from, std::error_code& error,
                                              std::stop_token stop = {},
                                              source_place at = source_place::here()) noexcept {
    return {connection_, from, std::move(stop), at, &error};
  }

  /// Operations that have not ended at this time fail with ETIMEDOUT, also those in progress; time_point::max() means
  /// never. A deadline holds for all operations until it is set anew; with_timeout() limits a single one.
  void set_deadline(clock::time_point when);
  void set_read_deadline(clock::time_point when);
  void set_write_deadline(clock::time_point when);

  /// Ends writing: the peer reads the end of the stream. ENOTCONN: the connection was reset, and there is no peer any
  /// more.
  void shutdown_write();
  void shutdown_write(std::error_code& error) noexcept;
  /// Closes the descriptor: when this returns, the peer sees the end, unless there are copies of the descriptor.
  /// Operations in progress fail with ECANCELED; a task that learns so may destroy the stream. A second call does
  /// nothing.
  void close() noexcept;
  /// The descriptor, or -1 after close().
  [[nodiscard]] int fd() const noexcept;

 private:
  friend detail::access;
  explicit stream(std::shared_ptr<detail::connection> connection) noexcept;
  std::shared_ptr<detail::connection> connection_;  // operations in progress own it, too
};

/// A socket that waits for connections. What stream says of closing, errors and lifetime holds for it. Any number of
/// tasks may accept: they get connections first come, first served.
class listener {
 public:
  /// Takes over an open descriptor, as stream's constructor does, and throws as that does. The accepted streams may be
  /// of any kind of socket.
  explicit listener(int fd);
  listener(listener&&) noexcept;
  listener& operator=(listener&&) noexcept;
  ~listener();

  /// Accepts the next connection. Throws std::system_error; runq::cancelled after a stop request, and then no
  /// connection is lost. After EMFILE or ENFILE (too many open files) try again later.
  [[nodiscard]] stoppable_task<stream> accept(std::stop_token stop = {}, source_place at = source_place::here());
  /// Returns nothing if it sets `error`; see stream.
  [[nodiscard]] stoppable_task<std::optional<stream>> accept(std::error_code& error, std::stop_token stop = {},
                                                             source_place at = source_place::here());
  /// The TCP port it listens at; 0 for a Unix socket.
  [[nodiscard]] std::uint16_t port() const;
  void set_deadline(clock::time_point when);
  /// Closes it, as stream::close() does: when this returns, the port is free, unless there are copies of the
  /// descriptor.
  void close() noexcept;
  [[nodiscard]] int fd() const noexcept;

 private:
  friend detail::access;
  explicit listener(std::shared_ptr<detail::connection> connection) noexcept;
  std::shared_ptr<detail::connection> connection_;  // operations in progress own it, too
};

/// Listens at an address and port (0: the kernel chooses): "127.0.0.1", "::1", "localhost", which is 127.0.0.1, or ""
/// for all addresses of IPv4 and IPv6 (of IPv4 alone where the kernel has no IPv6). Throws std::system_error.
[[nodiscard]] listener listen_tcp(const std::string& address, std::uint16_t port);
/// Returns nothing if it sets `error`.
[[nodiscard]] std::optional<listener> listen_tcp(const std::string& address, std::uint16_t port,
                                                 std::error_code& error);
/// Connects to a host, by name or number. Names are looked up by a blocking call, but "localhost" and names that end in
/// ".localhost" are not looked up at all: they are this machine's loopback, ::1 and 127.0.0.1 (RFC 6761). Throws
/// std::system_error, in the category lookup_errors() when the name is unknown; runq::cancelled if a stop was requested
/// before or while it waits. A look-up that has begun then goes on alone; only the end of the run waits for it.
///
///     runq::net::stream s = co_await runq::with_timeout(5s, runq::net::connect_tcp("localhost", 8080));
[[nodiscard]] stoppable_task<stream> connect_tcp(std::string host, std::uint16_t port, std::stop_token stop = {},
                                                 source_place at = source_place::here());
/// Returns nothing if it sets `error`; see stream.
[[nodiscard]] stoppable_task<std::optional<stream>> connect_tcp(std::string host, std::uint16_t port,
                                                                std::error_code& error, std::stop_token stop = {},
                                                                source_place at = source_place::here());
/// Makes a Unix socket at `path`, which close() removes, unless it is another file by then. Throws std::system_error.
[[nodiscard]] listener listen_unix(const std::string& path);
/// Returns nothing if it sets `error`.
[[nodiscard]] std::optional<listener> listen_unix(const std::string& path, std::error_code& error);
/// Connects to such a socket. Throws std::system_error; runq::cancelled as connect_tcp() does.
[[nodiscard]] stoppable_task<stream> connect_unix(std::string path, std::stop_token stop = {},
                                                  source_place at = source_place::here());
/// Returns nothing if it sets `error`; see stream.
[[nodiscard]] stoppable_task<std::optional<stream>> connect_unix(std::string path, std::error_code& error,
                                                                 std::stop_token stop = {},
                                                                 source_place at = source_place::here());
/// The reading and the writing end of a new pipe.
[[nodiscard]] std::pair<stream, stream> pipe();
/// Two connected Unix sockets.
[[nodiscard]] std::pair<stream, stream> socket_pair();

}  // namespace runq::net
