// SPDX-License-Identifier: MIT
#include "runq/net.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "runq/blocking.hpp"
#include "runq/detail/core.hpp"

namespace runq::net {
namespace {

[[noreturn]] void fail(int error, const char* what) { throw std::system_error(error, std::generic_category(), what); }

runq::detail::core& own_scheduler() {
  runq::detail::processor* const p = runq::detail::this_processor();
  if (p == nullptr) runq::detail::throw_no_task();
  return p->home;
}

void make_non_blocking(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) fail(errno, "runq: fcntl");
}

bool would_block(int error) noexcept { return error == EAGAIN || error == EWOULDBLOCK; }

// Closes its descriptor unless it is released.
class owned_fd {
 public:
  explicit owned_fd(int fd) noexcept : fd_(fd) {}
  owned_fd(const owned_fd&) = delete;
  owned_fd& operator=(const owned_fd&) = delete;
  ~owned_fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

}  // namespace

namespace detail {

namespace rt = runq::detail;
using ready_word = readiness<rt::goroutine, rt::policy>;

/// An open descriptor with its operations in progress: the last of them closes it, so that nobody uses the number of a
/// descriptor that is somebody else's by then.
class connection {
 public:
  explicit connection(int fd) : home_(own_scheduler()), fd_(fd), polled_(home_.events.open(fd)) {
    read_.side = &polled_.readable;
    write_.side = &polled_.writable;
  }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection() { close(); }

  /// One direction: its deadline.
  struct direction : rt::timer_node {
    ready_word* side = nullptr;
    std::atomic<bool> expired{false};
  };

  [[nodiscard]] direction& reading() noexcept { return read_; }
  [[nodiscard]] direction& writing() noexcept { return write_; }
  [[nodiscard]] int fd() const noexcept { return closed() ? -1 : fd_; }
  /// Open as long as there is a `use`.
  [[nodiscard]] int open_fd() const noexcept { return fd_; }
  [[nodiscard]] bool closed() const noexcept { return (users_.load(std::memory_order::acquire) & closing) != 0; }

  void set_deadline(direction& d, clock::time_point when) {
    const std::lock_guard lock(deadlines_);
    // Nobody would take it back: close() has been here.
    if (closed()) fail(ECANCELED, "set_deadline");
    if (d.heap != nullptr) (void)d.heap->remove(d);
    d.expired.store(false, std::memory_order::relaxed);
    if (when == clock::time_point::max()) return;
    d.when = rt::instant_of(when);
    if (d.when <= rt::now()) {
      // Now rather than when the timer gets its turn: the next operation fails.
      expire(d);
      return;
    }
    d.fire = [](rt::timer_node& node, rt::instant) {
      expire(static_cast<direction&>(node));
      return rt::never;
    };
    rt::processor* const p = rt::this_processor();
    if (p == nullptr) rt::throw_no_task();
    p->timers.add(d);
    home_.timer_added(d.when);
  }

  void close() noexcept {
    if ((users_.fetch_or(closing, std::memory_order::acq_rel) & closing) != 0) return;
    {
      const std::lock_guard lock(deadlines_);
      for (direction* const d : {&read_, &write_}) {
        if (d->heap != nullptr) (void)d->heap->remove(*d);
      }
    }
    enter_unchecked();
    home_.events.wake(polled_);
    leave();
  }

  /// Holds the descriptor open during one operation.
  class use {
   public:
    use(std::shared_ptr<connection> c, const char* what) : c_(std::move(c)) {
      if (c_ == nullptr) fail(ECANCELED, what);
      c_->enter_unchecked();
      if (!c_->closed()) return;
      c_->leave();
      fail(ECANCELED, what);
    }
    use(const use&) = delete;
    use& operator=(const use&) = delete;
    ~use() { c_->leave(); }

   private:
    // Shared, because a task may be destroyed in the middle of the operation, and the stream before it.
    const std::shared_ptr<connection> c_;
  };

  /// `co_await wait(d, stop, what)` returns when `d` may be ready. Throws as stream says.
  class waiting {
   public:
    waiting(connection& c, direction& d, const std::stop_token& stop, const char* what) noexcept
        : c_(c), d_(d), stop_(stop), what_(what) {}
    waiting(const waiting&) = delete;
    waiting& operator=(const waiting&) = delete;

    [[nodiscard]] bool await_ready() const noexcept { return given_up() != 0; }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<> self) {
      rt::goroutine& g = rt::fall_asleep(self, wait_reason::io_wait);
      if (stop_.stop_possible()) on_stop_.emplace(stop_, notice{d_.side});
      if (d_.side->wait(g)) return true;
      g.set_status(task_status::running);
      return false;
    }
    void await_resume() {
      on_stop_.reset();
      if (const int error = given_up(); error != 0) fail(error, what_);
    }

   private:
    // A notice that comes before the task waits is kept, and ends the wait at once.
    struct notice {
      ready_word* side;
      void operator()() const {
        if (rt::goroutine* const g = side->notify()) rt::ready(*g);
      }
    };
    [[nodiscard]] int given_up() const noexcept {
      if (c_.closed() || stop_.stop_requested()) return ECANCELED;
      return d_.expired.load(std::memory_order::relaxed) ? ETIMEDOUT : 0;
    }

    connection& c_;
    direction& d_;
    const std::stop_token& stop_;
    const char* what_;
    std::optional<std::stop_callback<notice>> on_stop_;
  };
  [[nodiscard]] waiting wait(direction& d, const std::stop_token& stop, const char* what) noexcept {
    return waiting(*this, d, stop, what);
  }
  /// Whether the deadline has passed: asked before an operation, which must fail even if it could be carried out.
  void check(const direction& d, const char* what) const {
    if (d.expired.load(std::memory_order::relaxed)) fail(ETIMEDOUT, what);
  }

 private:
  static constexpr std::uint32_t closing = std::uint32_t{1} << 31;

  static void expire(direction& d) {
    d.expired.store(true, std::memory_order::relaxed);
    if (rt::goroutine* const g = d.side->notify()) rt::ready(*g);
  }
  void enter_unchecked() noexcept { users_.fetch_add(1, std::memory_order::acq_rel); }
  void leave() noexcept {
    if (users_.fetch_sub(1, std::memory_order::acq_rel) != (closing | 1)) return;
    if (released_.exchange(true, std::memory_order::acq_rel)) return;
    home_.events.close(polled_);
    ::close(fd_);
  }

  rt::core& home_;
  const int fd_;
  rt::descriptor& polled_;
  direction read_;
  direction write_;
  std::mutex deadlines_;  // any task may close while another sets a deadline
  std::atomic<std::uint32_t> users_{0};
  std::atomic<bool> released_{false};
};

struct access {
  [[nodiscard]] static stream make(std::shared_ptr<connection> c) noexcept { return stream(std::move(c)); }
};

}  // namespace detail

using detail::connection;

// ---- stream ---------------------------------------------------------------------------------------------------------

stream::stream(int fd) {
  owned_fd owner(fd);
  make_non_blocking(fd);
  connection_ = std::make_shared<connection>(fd);
  (void)owner.release();
}
stream::stream(std::shared_ptr<connection> connection) noexcept : connection_(std::move(connection)) {}
stream::stream(stream&&) noexcept = default;
stream& stream::operator=(stream&& other) noexcept {
  if (this != &other) close();
  connection_ = std::move(other.connection_);
  return *this;
}
stream::~stream() { close(); }

task<std::size_t> stream::read(std::span<std::byte> into, std::stop_token stop) {
  const connection::use use(connection_, "read");
  connection& c = *connection_;
  c.check(c.reading(), "read");
  if (into.empty()) co_return 0;
  for (;;) {
    const ssize_t n = ::read(c.open_fd(), into.data(), into.size());
    if (n >= 0) co_return static_cast<std::size_t>(n);
    if (errno == EINTR) continue;
    if (!would_block(errno)) fail(errno, "read");
    co_await c.wait(c.reading(), stop, "read");
  }
}

task<> stream::write(std::span<const std::byte> from, std::stop_token stop) {
  const connection::use use(connection_, "write");
  connection& c = *connection_;
  c.check(c.writing(), "write");
  bool socket = true;
  while (!from.empty()) {
    // send(), because a write() to a socket whose peer is gone raises SIGPIPE.
    const ssize_t n = socket ? ::send(c.open_fd(), from.data(), from.size(), MSG_NOSIGNAL)
                             : ::write(c.open_fd(), from.data(), from.size());
    if (n >= 0) {
      from = from.subspan(static_cast<std::size_t>(n));
    } else if (errno == ENOTSOCK && socket) {
      socket = false;
    } else if (would_block(errno)) {
      co_await c.wait(c.writing(), stop, "write");
    } else if (errno != EINTR) {
      fail(errno, "write");
    }
  }
}

void stream::set_deadline(clock::time_point when) {
  set_read_deadline(when);
  set_write_deadline(when);
}
void stream::set_read_deadline(clock::time_point when) { connection_->set_deadline(connection_->reading(), when); }
void stream::set_write_deadline(clock::time_point when) { connection_->set_deadline(connection_->writing(), when); }

void stream::shutdown_write() {
  const connection::use use(connection_, "shutdown");
  if (::shutdown(connection_->open_fd(), SHUT_WR) != 0) fail(errno, "shutdown");
}
void stream::close() noexcept {
  if (connection_) connection_->close();
}
int stream::fd() const noexcept { return connection_ ? connection_->fd() : -1; }

// ---- listener -------------------------------------------------------------------------------------------------------

listener::listener(int fd) {
  owned_fd owner(fd);
  make_non_blocking(fd);
  connection_ = std::make_shared<connection>(fd);
  (void)owner.release();
}
listener::listener(listener&&) noexcept = default;
listener& listener::operator=(listener&& other) noexcept {
  if (this != &other) close();
  connection_ = std::move(other.connection_);
  return *this;
}
listener::~listener() { close(); }

task<stream> listener::accept(std::stop_token stop) {
  const connection::use use(connection_, "accept");
  connection& c = *connection_;
  c.check(c.reading(), "accept");
  for (;;) {
    const int fd = ::accept4(c.open_fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      const int on = 1;
      (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      co_return stream(fd);
    }
    // A connection that was gone before it was accepted is nobody's error.
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (!would_block(errno)) fail(errno, "accept");
    co_await c.wait(c.reading(), stop, "accept");
  }
}

std::uint16_t listener::port() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  const connection::use use(connection_, "getsockname");
  if (getsockname(connection_->open_fd(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    fail(errno, "getsockname");
  if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return 0;
}
void listener::set_deadline(clock::time_point when) { connection_->set_deadline(connection_->reading(), when); }
void listener::close() noexcept {
  if (connection_) connection_->close();
}
int listener::fd() const noexcept { return connection_ ? connection_->fd() : -1; }

// ---- addresses ------------------------------------------------------------------------------------------------------

namespace {

struct free_addresses {
  void operator()(addrinfo* a) const noexcept { freeaddrinfo(a); }
};
using addresses = std::unique_ptr<addrinfo, free_addresses>;

addresses look_up(const std::string& host, std::uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.empty() ? nullptr : host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error == EAI_SYSTEM) fail(errno, "getaddrinfo");
  if (error != 0) throw std::runtime_error("runq: " + host + ": " + gai_strerror(error));
  return addresses(found);
}

int new_socket(int family) {
  const int fd = ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) fail(errno, "socket");
  return fd;
}

sockaddr_un unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) fail(ENAMETOOLONG, "runq: path of a Unix socket");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

listener listen_at(int family, const sockaddr* address, socklen_t size) {
  owned_fd fd(new_socket(family));
  const int on = 1;
  if (family != AF_UNIX) (void)setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd.get(), address, size) != 0) fail(errno, "bind");
  if (::listen(fd.get(), SOMAXCONN) != 0) fail(errno, "listen");
  return listener(fd.release());
}

task<stream> connect_to(int fd, const sockaddr* address, socklen_t size, std::stop_token stop) {
  owned_fd owner(fd);
  auto c = std::make_shared<connection>(fd);
  (void)owner.release();
  {
    const connection::use use(c, "connect");
    if (::connect(fd, address, size) != 0) {
      if (errno != EINPROGRESS) fail(errno, "connect");
      for (;;) {
        co_await c->wait(c->writing(), stop, "connect");
        int error = 0;
        socklen_t length = sizeof error;
        if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) fail(errno, "connect");
        if (error != 0) fail(error, "connect");
        sockaddr_storage peer{};
        socklen_t peer_size = sizeof peer;
        if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_size) == 0) break;
      }
    }
  }
  co_return detail::access::make(std::move(c));
}

}  // namespace

listener listen_tcp(const std::string& address, std::uint16_t port) {
  const addresses found = look_up(address, port, AI_PASSIVE | AI_NUMERICHOST);
  return listen_at(found->ai_family, found->ai_addr, found->ai_addrlen);
}

task<stream> connect_tcp(std::string host, std::uint16_t port, std::stop_token stop) {
  const addresses found = co_await blocking([&] { return look_up(host, port, 0); });
  std::exception_ptr last;
  for (const addrinfo* a = found.get(); a != nullptr; a = a->ai_next) {
    try {
      stream connected = co_await connect_to(new_socket(a->ai_family), a->ai_addr, a->ai_addrlen, stop);
      // Small messages at once, as in Go.
      const int on = 1;
      (void)setsockopt(connected.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      co_return connected;
    } catch (const std::system_error&) {
      last = std::current_exception();
    }
    if (stop.stop_requested()) break;
  }
  std::rethrow_exception(last);
}

listener listen_unix(const std::string& path) {
  const sockaddr_un address = unix_address(path);
  return listen_at(AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

task<stream> connect_unix(std::string path, std::stop_token stop) {
  const sockaddr_un address = unix_address(path);
  co_return co_await connect_to(new_socket(AF_UNIX), reinterpret_cast<const sockaddr*>(&address), sizeof address, stop);
}

std::pair<stream, stream> pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) fail(errno, "pipe");
  owned_fd second(ends[1]);
  stream in(ends[0]);
  return {std::move(in), stream(second.release())};
}

std::pair<stream, stream> socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) fail(errno, "socketpair");
  owned_fd second(ends[1]);
  stream first(ends[0]);
  return {std::move(first), stream(second.release())};
}

}  // namespace runq::net
