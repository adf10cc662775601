// SPDX-License-Identifier: MIT
// Reading and writing, streams, pipes.
#include <cerrno>
#include <memory>
#include <optional>
#include <stop_token>
#include <system_error>
#include <type_traits>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "connection.hpp"
#include "runq/net.hpp"

namespace runq::net {

write_error::write_error(std::error_code error, std::size_t written)
    : std::system_error(error, "write"), written_(written) {}

namespace detail {

bool reading::attempt(connection& c, bytes& into, progress& done) {
  if (c.reading().mark.drained()) return false;
  const auto now = c.try_read(into);
  if (now) done = *now;
  return now.has_value();
}

void reading::fail(const progress& done) {
  if (done.error == by_request) throw cancelled();
  detail::fail(done.error, "read");
}

void writing::fail(const progress& done) {
  if (done.error == by_request) throw write_cancelled(done.bytes);
  throw write_error(code_of(done.error), done.bytes);
}

bool writing::attempt(connection& c, bytes& from, progress& done) {
  while (!from.empty()) {
    const auto now = c.try_write(from);
    if (!now) return false;
    from = from.subspan(now->bytes);
    done.bytes += now->bytes;
    done.error = now->error;
    if (done.error != 0) return true;
  }
  return true;
}

template <class What>
connection::turn turn_of(std::shared_ptr<connection> c) noexcept {
  if constexpr (std::is_same_v<What, reading>) {
    return connection::reading_turn(std::move(c));
  } else {
    return connection::writing_turn(std::move(c));
  }
}

// Waits, for its turn if it has not come yet, and ends the operation, which has done `done` so far.
template <class What>
task<progress> rest_of(connection::turn mine, typename What::bytes bytes, progress done, std::stop_token stop,
                       source_place at) {
  const connection::attempt in_progress(mine.of());
  done.error = in_progress.begun() ? mine.of()->check(mine.way()) : ECANCELED;
  if (done.error != 0 || bytes.empty()) co_return done;
  connection& c = *mine.of();
  if (!mine.taken()) {
    done.error = co_await mine.take(stop, at);
    if (done.error == 0) done.error = c.check(mine.way());
    if (done.error != 0 || What::attempt(c, bytes, done)) co_return done;
  }
  do {
    done.error = co_await c.wait(mine.way(), stop, at);
  } while (done.error == 0 && !What::attempt(c, bytes, done));
  co_return done;
}

template <class What>
bool operation<What>::await_ready() {
  if (rt::this_processor() == nullptr) rt::throw_no_task();
  if (stop_.stop_requested()) {
    done_.error = by_request;
    return true;
  }
  connection::turn mine = turn_of<What>(std::move(connection_));
  // Otherwise as a separate task, which begins after the others.
  if (!rt::time_slice_over()) {
    const connection::attempt attempt(mine.of());
    done_.error = attempt.begun() ? mine.of()->check(mine.way()) : ECANCELED;
    if (done_.error != 0 || bytes_.empty()) return true;
    if (mine.try_take() && What::attempt(*mine.of(), bytes_, done_)) return true;
  }
  rest_.emplace(rest_of<What>(std::move(mine), bytes_, done_, std::move(stop_), at_));
  return false;
}

template <class What>
std::coroutine_handle<> operation<What>::await_suspend(std::coroutine_handle<> self) {
  return rest_->operator co_await().await_suspend(self);
}

template <class What>
typename What::result operation<What>::await_resume() {
  if (rest_) done_ = rest_->operator co_await().await_resume();
  if (error_ != nullptr) {
    *error_ = code_of(done_.error);
  } else if (done_.error != 0) {
    What::fail(done_);
  }
  if constexpr (!std::is_void_v<value_type>) return done_.bytes;
}

template <class What>
operation<What>::operator task<typename What::result>() && {
  return as_task(std::move(connection_), bytes_, std::move(stop_), at_, error_);
}

template <class What>
task<typename What::result> operation<What>::as_task(std::shared_ptr<connection> c, typename What::bytes bytes,
                                                     std::stop_token stop, source_place at, std::error_code* error) {
  co_return co_await operation(std::move(c), bytes, std::move(stop), at, error);
}

template class operation<reading>;
template class operation<writing>;
template class operation<counted_writing>;

}  // namespace detail

// ---- stream
// -----------------------------------------------------------------------------------------------------------

using detail::access;
using detail::code_of;
using detail::connection;
using detail::kind;

stream::stream(int fd) : connection_(detail::adopt(fd)) {}
stream::stream(std::shared_ptr<connection> connection) noexcept : connection_(std::move(connection)) {}
stream::stream(stream&&) noexcept = default;
stream& stream::operator=(stream&& other) noexcept {
  if (this != &other) close();
  connection_ = std::move(other.connection_);
  return *this;
}
stream::~stream() { connection::begin_close(std::move(connection_)); }

// These functions own the connection while they use it: a task that they wake may destroy the stream.

void stream::set_deadline(clock::time_point when) {
  const auto c = detail::not_moved_from(connection_, "set_deadline");
  c->set_deadline({&c->reading(), &c->writing()}, when);
}
void stream::set_read_deadline(clock::time_point when) {
  const auto c = detail::not_moved_from(connection_, "set_read_deadline");
  c->set_deadline({&c->reading()}, when);
}
void stream::set_write_deadline(clock::time_point when) {
  const auto c = detail::not_moved_from(connection_, "set_write_deadline");
  c->set_deadline({&c->writing()}, when);
}

void stream::shutdown_write() {
  std::error_code error;
  shutdown_write(error);
  detail::throw_if(error.value(), "shutdown");
}
void stream::shutdown_write(std::error_code& error) noexcept {
  const std::shared_ptr<connection> c = connection_;  // before the attempt, which refers to it
  const connection::attempt in_progress(c.get());
  if (!in_progress.begun()) {
    error = code_of(ECANCELED);
  } else {
    error = code_of(::shutdown(c->open_fd(), SHUT_WR) == 0 ? 0 : c->reported(errno));
  }
}
void stream::close() noexcept {
  if (const auto c = connection_) c->close();
}
int stream::fd() const noexcept { return connection_ ? connection_->fd() : -1; }

// ---- pipes
// ------------------------------------------------------------------------------------------------------------

namespace {

std::pair<stream, stream> both_ends(const int (&ends)[2], kind what) {
  detail::owned_fd second(ends[1]);
  stream first = access::make_stream(detail::take_over(ends[0], what));
  return {std::move(first), access::make_stream(detail::take_over(second.release(), what))};
}

}  // namespace

std::pair<stream, stream> pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) detail::fail(errno, "pipe");
  return both_ends(ends, kind::pipe);
}

std::pair<stream, stream> socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
    detail::fail(errno, "socketpair");
  return both_ends(ends, kind::socket);
}

}  // namespace runq::net
