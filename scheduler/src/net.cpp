// SPDX-License-Identifier: MIT
#include "runq/net.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
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
  if (flags < 0) fail(errno, "runq: fcntl");
  if ((flags & O_NONBLOCK) == 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) fail(errno, "runq: fcntl");
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

/// What is known of a descriptor.
enum class kind : std::uint8_t {
  other,
  socket,
  tcp,   // a socket, and a stream of bytes
  pipe,  // a stream of bytes
};

/// An open descriptor with its operations in progress: the last of them closes it, so that nobody uses the number of a
/// descriptor that is somebody else's by then.
class connection {
 public:
  /// `fd` is non-blocking, and stays the caller's if this throws.
  connection(int fd, kind what) : home_(own_scheduler()), what_(what), fd_(fd), polled_(home_.events.open(fd)) {
    read_.side = &polled_.readable;
    write_.side = &polled_.writable;
  }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection() { close(); }

  /// One direction: its deadline, and what the one task that uses it has learned.
  struct direction : rt::timer_node {
    ready_word* side = nullptr;
    std::atomic<bool> expired{false};
    bool drained = false;    // reading: another attempt would get nothing
    bool was_woken = false;  // by a notice that came while the task waited; what was written before it is visible
  };

  [[nodiscard]] direction& reading() noexcept { return read_; }
  [[nodiscard]] direction& writing() noexcept { return write_; }
  [[nodiscard]] kind what() const noexcept { return what_; }
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

  /// Holds the descriptor open during an operation that does not wait.
  class attempt {
   public:
    attempt(connection* c, const char* what) : c_(c) {
      if (c_ == nullptr) fail(ECANCELED, what);
      c_->enter_unchecked();
      if (!c_->closed()) return;
      c_->leave();
      fail(ECANCELED, what);
    }
    attempt(const attempt&) = delete;
    attempt& operator=(const attempt&) = delete;
    ~attempt() { c_->leave(); }

   private:
    connection* const c_;
  };
  /// Likewise, for one that may wait: its task may be destroyed meanwhile, and the stream before it.
  class use {
   public:
    use(std::shared_ptr<connection> c, const char* what) : c_(std::move(c)), attempt_(c_.get(), what) {}

   private:
    const std::shared_ptr<connection> c_;
    const attempt attempt_;
  };

  /// Reads once; nothing: not now. `into` is not empty. Throws as stream::read(). During an attempt.
  [[nodiscard]] std::optional<std::size_t> try_read(std::span<std::byte> into) {
    read_.drained = false;
    for (;;) {
      const ssize_t n = ::read(fd_, into.data(), into.size());
      if (n >= 0) {
        const auto got = static_cast<std::size_t>(n);
        read_.drained = got != 0 && got < into.size() && less_means_drained();
        return got;
      }
      if (would_block(errno)) return std::nullopt;
      if (errno != EINTR) fail(errno, "read");
    }
  }
  /// Writes once; nothing: not now. Throws as stream::write(). During an attempt.
  [[nodiscard]] std::optional<std::size_t> try_write(std::span<const std::byte> from) {
    for (;;) {
      // send(), because a write() to a socket whose peer is gone raises SIGPIPE.
      const ssize_t n = what_ == kind::tcp || what_ == kind::socket
                            ? ::send(fd_, from.data(), from.size(), MSG_NOSIGNAL)
                            : ::write(fd_, from.data(), from.size());
      if (n >= 0) return static_cast<std::size_t>(n);
      if (would_block(errno)) return std::nullopt;
      if (errno != EINTR) fail(errno, "write");
    }
  }

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
      d_.drained = false;
      d_.was_woken = true;
      if (d_.side->wait(g)) return true;
      d_.was_woken = false;
      return rt::give_way_or_go_on(g);
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

  // A stream whose buffer held less than was asked for is empty, and the next edge tells when it is not: epoll(7).
  // Unless there is no next edge, because the end, an error or urgent data, where a read stops short, has been
  // announced already: then `unusual` is set. A notice that woke the task makes that visible; one that was kept for it
  // need not, and then the next read finds out by itself. Nor is a Unix socket empty where a read stops at passed
  // descriptors.
  [[nodiscard]] bool less_means_drained() const noexcept {
    return (what_ == kind::tcp || what_ == kind::pipe) && read_.was_woken &&
           !polled_.unusual.load(std::memory_order::relaxed);
  }

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
  const kind what_;
  const int fd_;
  rt::descriptor& polled_;
  direction read_;
  direction write_;
  std::mutex deadlines_;  // any task may close while another sets a deadline
  std::atomic<std::uint32_t> users_{0};
  std::atomic<bool> released_{false};
};

struct access {
  [[nodiscard]] static stream make_stream(std::shared_ptr<connection> c) noexcept { return stream(std::move(c)); }
  [[nodiscard]] static listener make_listener(std::shared_ptr<connection> c) noexcept { return listener(std::move(c)); }
};

}  // namespace detail

using detail::access;
using detail::connection;
using detail::kind;

namespace {

// Takes over `fd`, which is non-blocking.
std::shared_ptr<connection> take_over(int fd, kind what) {
  owned_fd owner(fd);
  auto c = std::make_shared<connection>(fd, what);
  (void)owner.release();
  return c;
}

// The same for the caller's. Whether it is a stream of bytes is not known: there are pipes of packets.
std::shared_ptr<connection> adopt(int fd) {
  owned_fd owner(fd);
  make_non_blocking(fd);
  struct stat status {};
  if (fstat(fd, &status) != 0) fail(errno, "runq: fstat");
  return take_over(owner.release(), S_ISSOCK(status.st_mode) ? kind::socket : kind::other);
}

// Small messages at once, as in Go.
void send_at_once(int fd) {
  const int on = 1;
  (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

// ---- reading and writing --------------------------------------------------------------------------------------------

namespace detail {

bool reading::attempt(connection& c, bytes& into, std::size_t& done) {
  if (into.empty()) return true;
  if (c.reading().drained) return false;
  const auto n = c.try_read(into);
  done = n.value_or(0);
  return n.has_value();
}

task<std::size_t> reading::rest(std::shared_ptr<connection> c, bytes into, std::stop_token stop) {
  const connection::attempt in_progress(c.get(), name);  // as long as `c`, which the frame owns
  for (;;) {
    co_await c->wait(c->reading(), stop, name);
    if (const auto n = c->try_read(into)) co_return *n;
  }
}

bool writing::attempt(connection& c, bytes& from, std::size_t& done) {
  while (!from.empty()) {
    const auto n = c.try_write(from);
    if (!n) return false;
    from = from.subspan(*n);
    done += *n;
  }
  return true;
}

task<> writing::rest(std::shared_ptr<connection> c, bytes from, std::stop_token stop) {
  const connection::attempt in_progress(c.get(), name);  // as long as `c`, which the frame owns
  for (std::size_t done = 0;;) {
    co_await c->wait(c->writing(), stop, name);
    if (attempt(*c, from, done)) co_return;
  }
}

template <class What>
bool operation<What>::await_ready() {
  if (rt::this_processor() == nullptr) rt::throw_no_task();
  if (rt::time_slice_over()) {
    // As a task of its own, which begins after the others.
    rest_.emplace(as_task(std::move(connection_), bytes_, std::move(stop_)));
    return false;
  }
  const connection::attempt attempt(connection_.get(), What::name);
  connection_->check(std::is_same_v<What, reading> ? connection_->reading() : connection_->writing(), What::name);
  if (What::attempt(*connection_, bytes_, done_)) return true;
  rest_.emplace(What::rest(std::move(connection_), bytes_, std::move(stop_)));
  return false;
}

template <class What>
std::coroutine_handle<> operation<What>::await_suspend(std::coroutine_handle<> self) {
  return rest_->operator co_await().await_suspend(self);
}

template <class What>
typename What::result operation<What>::await_resume() {
  if (rest_) return rest_->operator co_await().await_resume();
  if constexpr (!std::is_void_v<value_type>) return done_;
}

template <class What>
operation<What>::operator task<typename What::result>() && {
  return as_task(std::move(connection_), bytes_, std::move(stop_));
}

template <class What>
task<typename What::result> operation<What>::as_task(std::shared_ptr<connection> c, typename What::bytes bytes,
                                                     std::stop_token stop) {
  co_return co_await operation(std::move(c), bytes, std::move(stop));
}

template class operation<reading>;
template class operation<writing>;

}  // namespace detail

// ---- stream ---------------------------------------------------------------------------------------------------------

stream::stream(int fd) : connection_(adopt(fd)) {}
stream::stream(std::shared_ptr<connection> connection) noexcept : connection_(std::move(connection)) {}
stream::stream(stream&&) noexcept = default;
stream& stream::operator=(stream&& other) noexcept {
  if (this != &other) close();
  connection_ = std::move(other.connection_);
  return *this;
}
stream::~stream() { close(); }

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

listener::listener(int fd) : connection_(adopt(fd)) {}
listener::listener(std::shared_ptr<connection> connection) noexcept : connection_(std::move(connection)) {}
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
      if (c.what() == kind::tcp) send_at_once(fd);
      co_return access::make_stream(take_over(fd, c.what()));
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

// "localhost" and the names below it mean this machine, whatever a file or a server may say: RFC 6761, 6.3. In any
// case of letters, and with the dot of the root behind it.
bool means_loopback(std::string_view host) {
  constexpr std::string_view local = "localhost";
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host.size() < local.size()) return false;
  const std::string_view end = host.substr(host.size() - local.size());
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
  return std::equal(end.begin(), end.end(), local.begin(), same) &&
         (host.size() == local.size() || host[host.size() - local.size() - 1] == '.');
}

// The addresses of `host`; "": every address of this machine with AI_PASSIVE, its loopback without.
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
  return access::make_listener(take_over(fd.release(), family == AF_UNIX ? kind::socket : kind::tcp));
}

task<stream> connect_to(int fd, const sockaddr* address, socklen_t size, std::stop_token stop) {
  const bool unix_socket = address->sa_family == AF_UNIX;
  auto c = take_over(fd, unix_socket ? kind::socket : kind::tcp);
  if (!unix_socket) send_at_once(fd);
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
  co_return access::make_stream(std::move(c));
}

}  // namespace

listener listen_tcp(const std::string& address, std::uint16_t port) {
  // By name one address is meant, as in Go: that of IPv4, which every machine has.
  const addresses found = look_up(means_loopback(address) ? "127.0.0.1" : address, port, AI_PASSIVE | AI_NUMERICHOST);
  return listen_at(found->ai_family, found->ai_addr, found->ai_addrlen);
}

task<stream> connect_tcp(std::string host, std::uint16_t port, std::stop_token stop) {
  const addresses found = co_await blocking([&] { return look_up(means_loopback(host) ? "" : host, port, 0); });
  std::exception_ptr last;
  for (const addrinfo* a = found.get(); a != nullptr; a = a->ai_next) {
    try {
      co_return co_await connect_to(new_socket(a->ai_family), a->ai_addr, a->ai_addrlen, stop);
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

namespace {

std::pair<stream, stream> both_ends(const int (&ends)[2], kind what) {
  owned_fd second(ends[1]);
  stream first = access::make_stream(take_over(ends[0], what));
  return {std::move(first), access::make_stream(take_over(second.release(), what))};
}

}  // namespace

std::pair<stream, stream> pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) fail(errno, "pipe");
  return both_ends(ends, kind::pipe);
}

std::pair<stream, stream> socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) fail(errno, "socketpair");
  return both_ends(ends, kind::socket);
}

}  // namespace runq::net
