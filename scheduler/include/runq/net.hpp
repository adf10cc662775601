// SPDX-License-Identifier: MIT
// net: streams over which tasks read and write without blocking a thread: TCP over IPv4 and IPv6, Unix sockets, pipes.
//
// Source: Go's net and internal/poll packages: try first, wait for the poller only when the kernel says "not now".
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "runq/task.hpp"
#include "runq/timer.hpp"

namespace runq::net {

namespace detail {
class connection;
struct access;
}  // namespace detail

/// One end of a connection or a pipe. Movable while no operation is in progress; destroying it closes it.
///
/// At most one task reads and one writes at a time; any task may close. All errors are std::system_error with the
/// kernel's number; among them are: ECANCELED, the stream was closed or a stop was requested; ETIMEDOUT, the deadline
/// has passed. Writing to a peer that is gone is EPIPE, never a signal on sockets; a pipe's SIGPIPE is the program's to
/// ignore. Made and used by tasks of one scheduler.
///
///     auto [in, out] = runq::net::pipe();
///     co_await out.write(std::as_bytes(std::span("hello")));
///     std::byte bytes[6];
///     const std::size_t n = co_await in.read(bytes);
class stream {
 public:
  /// Takes over an open descriptor and makes it non-blocking. Throws std::system_error: a regular file (EPERM) cannot
  /// be polled; read those through runq::blocking().
  explicit stream(int fd);
  stream(stream&&) noexcept;
  stream& operator=(stream&&) noexcept;
  ~stream();

  /// Reads at least one byte, at most into.size(); 0 only at the end of the stream, or if `into` is empty.
  [[nodiscard]] task<std::size_t> read(std::span<std::byte> into, std::stop_token stop = {});
  /// Writes all of `from`.
  [[nodiscard]] task<> write(std::span<const std::byte> from, std::stop_token stop = {});

  /// Operations that are not done at this time fail with ETIMEDOUT, those in progress too; time_point::max(): never.
  void set_deadline(clock::time_point when);
  void set_read_deadline(clock::time_point when);
  void set_write_deadline(clock::time_point when);

  /// No more writes: the peer reads the end of the stream.
  void shutdown_write();
  /// Closes the descriptor. Operations in progress fail with ECANCELED. Again: nothing.
  void close() noexcept;
  /// The descriptor, or -1 after close().
  [[nodiscard]] int fd() const noexcept;

 private:
  friend detail::access;
  explicit stream(std::shared_ptr<detail::connection> connection) noexcept;
  std::shared_ptr<detail::connection> connection_;  // operations in progress own it, too
};

/// A socket that waits for connections. As stream.
class listener {
 public:
  explicit listener(int fd);
  listener(listener&&) noexcept;
  listener& operator=(listener&&) noexcept;
  ~listener();

  /// The next connection. Throws std::system_error; after EMFILE or ENFILE (too many open files) it can be tried again.
  [[nodiscard]] task<stream> accept(std::stop_token stop = {});
  /// The TCP port it listens at; 0 for a Unix socket.
  [[nodiscard]] std::uint16_t port() const;
  void set_deadline(clock::time_point when);
  void close() noexcept;
  [[nodiscard]] int fd() const noexcept;

 private:
  std::shared_ptr<detail::connection> connection_;  // operations in progress own it, too
};

/// Listens at an address ("127.0.0.1", "::1", "" for all) and port (0: the kernel chooses). Throws std::system_error.
[[nodiscard]] listener listen_tcp(const std::string& address, std::uint16_t port);
/// Connects to a host, by name or number. Names are looked up by a blocking call. Throws std::system_error, or
/// std::runtime_error when the name is unknown.
[[nodiscard]] task<stream> connect_tcp(std::string host, std::uint16_t port, std::stop_token stop = {});
[[nodiscard]] listener listen_unix(const std::string& path);
[[nodiscard]] task<stream> connect_unix(std::string path, std::stop_token stop = {});
/// The reading and the writing end of a new pipe.
[[nodiscard]] std::pair<stream, stream> pipe();
/// Two connected Unix sockets.
[[nodiscard]] std::pair<stream, stream> socket_pair();

}  // namespace runq::net
