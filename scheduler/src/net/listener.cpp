// SPDX-License-Identifier: MIT
#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <system_error>
#include <utility>

#include <netinet/in.h>
#include <sys/socket.h>

#include "connection.hpp"
#include "runq/net.hpp"

namespace runq::net {

using detail::connection;

listener::listener(int fd) : connection_(detail::adopt(fd)) {}
listener::listener(std::shared_ptr<connection> connection) noexcept : connection_(std::move(connection)) {}
listener::listener(listener&&) noexcept = default;
listener& listener::operator=(listener&& other) noexcept {
  if (this != &other) close();
  connection_ = std::move(other.connection_);
  return *this;
}
listener::~listener() { connection::begin_close(std::move(connection_)); }

// ---- accept
// -----------------------------------------------------------------------------------------------------------

namespace {

// The next connection, for the task whose turn it is.
task<connection::accepted> accept_next(std::shared_ptr<connection> from, std::stop_token stop, source_place at) {
  if (stop.stop_requested()) co_return connection::accepted(-1, detail::by_request, detail::kind::other);
  connection::turn mine = connection::reading_turn(std::move(from));
  const connection::attempt in_progress(mine.of());
  if (!in_progress.begun()) co_return connection::accepted(-1, ECANCELED, detail::kind::other);
  connection& c = *mine.of();
  int error = co_await mine.take(stop, at);
  if (error == 0) error = c.check(mine.way());
  while (error == 0) {
    if (auto got = c.try_accept()) co_return std::move(*got);
    error = co_await c.wait(mine.way(), stop, at);
  }
  co_return connection::accepted(-1, error, c.what());
}

stream stream_of(connection::accepted got) {
  if (got.of == detail::kind::tcp) detail::send_at_once(got.fd.get());
  return detail::access::make_stream(detail::take_over(got.fd.release(), got.of));
}

}  // namespace

stoppable_task<stream> listener::accept(std::stop_token stop, source_place at) {
  auto next = accept_next(connection_, std::move(stop), at);
  auto got = co_await next;
  detail::throw_if(got.error, "accept");
  co_return stream_of(std::move(got));
}

stoppable_task<std::optional<stream>> listener::accept(std::error_code& error, std::stop_token stop, source_place at) {
  auto next = accept_next(connection_, std::move(stop), at);
  auto got = co_await next;
  error = detail::code_of(got.error);
  if (error) co_return std::nullopt;
  try {
    co_return stream_of(std::move(got));
  } catch (const std::system_error& e) {
    error = e.code();  // the poller takes no more descriptors
  }
  co_return std::nullopt;
}

std::uint16_t listener::port() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  const connection::use use(connection_, "getsockname");
  if (getsockname(connection_->open_fd(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    connection_->fail_with(errno, "getsockname");
  if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return 0;
}
void listener::set_deadline(clock::time_point when) {
  const auto c = detail::not_moved_from(connection_, "set_deadline");
  c->set_deadline({&c->reading()}, when);
}
void listener::close() noexcept {
  if (const auto c = connection_) c->close();
}
int listener::fd() const noexcept { return connection_ ? connection_->fd() : -1; }

}  // namespace runq::net
