// SPDX-License-Identifier: MIT
#include "runq/net.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <string>
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
#include "runq/mutex.hpp"
#include "runq/protocol/fd_uses.hpp"
#include "runq/spawn.hpp"

namespace runq::net {
namespace {

[[noreturn]] void fail(int error, const char* what) { throw std::system_error(error, std::generic_category(), what); }

runq::detail::core& own_scheduler() { return runq::detail::own_processor().home; }

// Stands for an error's number where none of the kernel's fits: a stop request has ended the operation.
constexpr int by_request = -1;

void throw_if(int error, const char* what) {
  if (error == by_request) throw cancelled();
  if (error != 0) fail(error, what);
}

std::error_code code_of(int error) noexcept {
  if (error == 0) return {};
  return {error == by_request ? ECANCELED : error, std::generic_category()};
}

class lookup_category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "runq::net::lookup"; }
  [[nodiscard]] std::string message(int error) const override { return gai_strerror(error); }
};

// Makes a descriptor of somebody else's non-blocking: until it is kept, only while this object exists.
class non_blocking {
 public:
  explicit non_blocking(int fd) : fd_(fd), before_(fcntl(fd, F_GETFL)) {
    if (before_ < 0) fail(errno, "runq: fcntl");
    changed_ = (before_ & O_NONBLOCK) == 0;
    // unreached: no kind of descriptor refuses it.
    if (changed_ && fcntl(fd_, F_SETFL, before_ | O_NONBLOCK) != 0) fail(errno, "runq: fcntl");
  }
  non_blocking(const non_blocking&) = delete;
  non_blocking& operator=(const non_blocking&) = delete;
  ~non_blocking() {
    if (changed_) (void)fcntl(fd_, F_SETFL, before_);
  }
  void keep() noexcept { changed_ = false; }

 private:
  const int fd_;
  const int before_;  // its flags
  bool changed_ = false;
};

// unreached: on Linux both are the same number.
bool would_block(int error) noexcept { return error == EAGAIN || error == EWOULDBLOCK; }

// Closes its descriptor unless it is released.
class owned_fd {
 public:
  explicit owned_fd(int fd) noexcept : fd_(fd) {}
  owned_fd(owned_fd&& other) noexcept : fd_(other.release()) {}
  owned_fd& operator=(owned_fd&&) = delete;
  ~owned_fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

}  // namespace

const std::error_category& lookup_errors() noexcept {
  static const lookup_category category;
  return category;
}

write_error::write_error(std::error_code error, std::size_t written)
    : std::system_error(error, "write"), written_(written) {}

namespace detail {

namespace rt = runq::detail;
using ready_word = readiness<rt::goroutine>;

/// What is known of the kind of a descriptor.
enum class kind : std::uint8_t {
  other,
  socket,
  tcp,   // a socket, and a stream of bytes
  pipe,  // a stream of bytes
};

/// The file of a listening Unix socket. It is removed with this object, if it still is the file that was made for the
/// socket.
class socket_file {
 public:
  /// The file that bind() has just made. Throws std::bad_alloc, std::filesystem::filesystem_error.
  explicit socket_file(const std::string& path) : path_(std::filesystem::absolute(path)), known_(look(made_)) {}
  socket_file(const socket_file&) = delete;
  socket_file& operator=(const socket_file&) = delete;
  /// Destroyed while the socket is open: until the socket is closed, no other file has this file's inode number.
  ~socket_file() {
    struct stat now {};
    // unreached: the tests' files stay on one device, and can be looked at.
    if (known_ && look(now) && now.st_dev == made_.st_dev && now.st_ino == made_.st_ino) (void)::unlink(path_.c_str());
  }

 private:
  [[nodiscard]] bool look(struct stat& into) const noexcept { return ::lstat(path_.c_str(), &into) == 0; }
  const std::filesystem::path path_;
  struct stat made_ {};
  const bool known_;
};

/// An open descriptor with its operations in progress: the last of them frees its number, so that no operation uses the
/// number when it belongs to another file.
class connection : rt::after_stretch {
 public:
  /// `fd` is non-blocking, and still belongs to the caller if this throws.
  connection(int fd, kind what) : home_(own_scheduler()), what_(what), fd_(fd), polled_(home_.events.open(fd)) {
    read_.side = &polled_.readable;
    write_.side = &polled_.writable;
  }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection() { close(); }

  /// One direction: its deadline, the task that has its turn, and what that task has learned.
  struct direction : rt::timer_node {
    ready_word* side = nullptr;
    noticed_fact<> expired;  // its deadline has passed
    rt::mutex_core<> line;   // one task at a time uses it
    drained_mark<> mark;     // used by reads only
  };

  [[nodiscard]] direction& reading() noexcept { return read_; }
  [[nodiscard]] direction& writing() noexcept { return write_; }
  [[nodiscard]] kind what() const noexcept { return what_; }
  [[nodiscard]] int fd() const noexcept { return closed() ? -1 : fd_; }
  /// Open as long as there is a `use`.
  [[nodiscard]] int open_fd() const noexcept { return fd_; }
  [[nodiscard]] bool closed() const noexcept { return uses_.closed(); }
  /// Whether operations are told of the close: after close() at once, after begin_close() a little later.
  [[nodiscard]] bool canceled() const noexcept { return uses_.canceled(); }

  /// Called by the task that owns the connection: a task that is woken may give up the stream.
  void set_deadline(std::initializer_list<direction*> of, clock::time_point when) {
    const std::lock_guard lock(mutex_);
    // After close() no later call would remove the deadline.
    if (closed()) fail(ECANCELED, "set_deadline");
    for (direction* const d : of) set_deadline(*d, when);
  }

  /// The caller owns the connection: a task that is woken may give up the stream.
  void close() noexcept {
    if (!uses_.close()) return;
    // Operations in progress keep the number for a while, but not the port or the peer. No other operation begins any
    // more.
    take_away(uses_.used_by_others());
    home_.events.wake(polled_);
    leave();
  }
  /// What the destructor of a stream does: like close(), but operations of other tasks in progress are told only when
  /// the calling task next waits or blocks, or has ended. So when a main task's variables are destroyed before it has
  /// ended, no other task fails because of that.
  static void begin_close(std::shared_ptr<connection> c) noexcept {
    if (!c || c->closed()) return;
    // Each operation owns the connection, too.
    if (c.use_count() == 1) return c->close();
    connection& here = *c;
    // by chance: another task closes at this moment.
    if (!here.uses_.begin_close()) return;
    here.take_away(true);
    here.run = [](after_stretch& put_off) noexcept { static_cast<connection&>(put_off).finish_close(); };
    here.closing_ = std::move(c);
    if (!here.home_.do_after_stretch(here)) here.finish_close();
  }

  /// The file is removed with the listener.
  void keep(std::unique_ptr<socket_file> file) noexcept { file_ = std::move(file); }

  /// Holds the descriptor open during an operation that does not wait. If begun() is false, the operation fails with
  /// ECANCELED.
  class attempt {
   public:
    explicit attempt(connection* c) noexcept : c_(c != nullptr && c->uses_.begin() ? c : nullptr) {}
    attempt(const attempt&) = delete;
    attempt& operator=(const attempt&) = delete;
    ~attempt() {
      if (c_ != nullptr) c_->leave();
    }
    [[nodiscard]] bool begun() const noexcept { return c_ != nullptr; }

   private:
    connection* const c_;
  };
  /// Holds the descriptor open during an operation that may wait: its task, and before it the stream, may be destroyed
  /// meanwhile. Throws if the operation may not begin.
  class use {
   public:
    use(std::shared_ptr<connection> c, const char* what) : c_(std::move(c)), attempt_(c_.get()) {
      if (!attempt_.begun()) fail(ECANCELED, what);
    }

   private:
    const std::shared_ptr<connection> c_;
    const attempt attempt_;
  };

  /// A task's turn in one direction; other tasks wait for theirs, first come, first served. The turn ends when this
  /// object is destroyed, which owns the connection.
  class turn {
   public:
    turn(std::shared_ptr<connection> c, direction connection::*way) noexcept : c_(std::move(c)), way_(way) {}
    turn(turn&& other) noexcept
        : c_(std::move(other.c_)), way_(other.way_), taken_(std::exchange(other.taken_, false)) {}
    turn& operator=(turn&&) = delete;
    ~turn() { end(); }

    /// The connection; null for a stream that was moved from.
    [[nodiscard]] connection* of() const noexcept { return c_.get(); }
    [[nodiscard]] direction& way() const noexcept { return (*c_).*way_; }
    [[nodiscard]] bool taken() const noexcept { return taken_; }
    [[nodiscard]] bool try_take() {
      taken_ = way().line.try_lock();
      return taken_;
    }
    void end() {
      if (std::exchange(taken_, false)) (void)way().line.unlock();
    }

    class taking;
    /// `co_await take(stop, at)` returns 0 when it is the task's turn, or an error.
    [[nodiscard]] taking take(const std::stop_token& stop, source_place at) noexcept;

   private:
    std::shared_ptr<connection> c_;
    direction connection::*way_;
    bool taken_ = false;
  };
  [[nodiscard]] static turn reading_turn(std::shared_ptr<connection> c) noexcept {
    return {std::move(c), &connection::read_};
  }
  [[nodiscard]] static turn writing_turn(std::shared_ptr<connection> c) noexcept {
    return {std::move(c), &connection::write_};
  }

  /// Reads once; returns nothing if the kernel says "not now". `into` is not empty. During an attempt.
  [[nodiscard]] std::optional<progress> try_read(std::span<std::byte> into) {
    read_.mark.attempts();
    for (;;) {
      const ssize_t n = ::read(fd_, into.data(), into.size());
      if (n >= 0) {
        const auto got = static_cast<std::size_t>(n);
        if (got != 0 && got < into.size() && less_means_drained()) read_.mark.stopped_short(polled_.unusual);
        return progress{.bytes = got};
      }
      const int error = errno;
      if (!fails(error)) return std::nullopt;
      if (error != EINTR) return progress{.error = reported(error)};
    }
  }
  /// Writes once; returns nothing if the kernel says "not now". During an attempt.
  [[nodiscard]] std::optional<progress> try_write(std::span<const std::byte> from) {
    for (;;) {
      // send(), because a write() to a socket whose peer is gone raises SIGPIPE.
      const ssize_t n = what_ == kind::tcp || what_ == kind::socket
                            ? ::send(fd_, from.data(), from.size(), MSG_NOSIGNAL)
                            : ::write(fd_, from.data(), from.size());
      if (n >= 0) return progress{.bytes = static_cast<std::size_t>(n)};
      const int error = errno;
      if (!fails(error)) return std::nullopt;
      if (error != EINTR) return progress{.error = reported(error)};
    }
  }
  /// A new connection, or an error.
  struct accepted {
    accepted(int new_fd, int number, kind what) noexcept : fd(new_fd), error(number), of(what) {}
    owned_fd fd;
    int error;
    kind of;
  };
  /// Accepts once; returns nothing if the kernel says "not now". During an attempt.
  [[nodiscard]] std::optional<accepted> try_accept() {
    for (;;) {
      // A socket that a system call uses while it is closed would stay open until that call returns.
      std::unique_lock lock(mutex_);
      const int fd = ::accept4(fd_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      const int error = errno;
      lock.unlock();
      if (fd >= 0) return accepted(fd, 0, what_);
      if (!fails(error)) return std::nullopt;
      // A connection that was gone before it was accepted is no error of the listener.
      if (error != EINTR && error != ECONNABORTED) return accepted(-1, reported(error), what_);
    }
  }
  /// `error`, or ECANCELED after a close, which takes the descriptor away from operations in progress.
  [[nodiscard]] int reported(int error) const noexcept { return closed() ? ECANCELED : error; }
  [[noreturn]] void fail_with(int error, const char* what) const { fail(reported(error), what); }

  /// `co_await wait(d, stop, at)` returns 0 when `d` may be ready, or an error.
  class waiting {
   public:
    waiting(connection& c, direction& d, const std::stop_token& stop, source_place at) noexcept
        : c_(c), d_(d), stop_(stop), at_(at) {}
    waiting(const waiting&) = delete;
    waiting& operator=(const waiting&) = delete;
    ~waiting() {
      if (who_ == nullptr) return;
      // Waits for a stop request that is about to wake the task.
      on_stop_.reset();
      d_.side->leave<rt::task_waiting>(*who_);
      rt::this_processor()->waits_for_kernel.end();
    }

    [[nodiscard]] bool await_ready() const noexcept { return given_up() != 0; }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<> self) {
      rt::goroutine& g = rt::fall_asleep(self, wait_reason::io_wait, at_);
      who_ = &g;
      rt::this_processor()->waits_for_kernel.start();
      if (stop_.stop_possible()) on_stop_.emplace(stop_, notice{d_.side});
      d_.mark.waits();
      if (d_.side->wait(g)) return true;
      return rt::preempt_or_go_on(g);
    }
    [[nodiscard]] int await_resume() noexcept {
      if (std::exchange(who_, nullptr) != nullptr) rt::this_processor()->waits_for_kernel.end();
      on_stop_.reset();
      return given_up();
    }

   private:
    // A notice that comes before the task waits is kept, and ends the wait at once.
    struct notice {
      ready_word* side;
      void operator()() const {
        if (rt::goroutine* const g = side->notify()) rt::ready(*g);
      }
    };
    [[nodiscard]] int given_up() const noexcept { return stop_.stop_requested() ? by_request : c_.check(d_); }

    connection& c_;
    direction& d_;
    const std::stop_token& stop_;
    const source_place at_;
    rt::goroutine* who_ = nullptr;  // the waiting task, until it goes on
    std::optional<std::stop_callback<notice>> on_stop_;
  };
  [[nodiscard]] waiting wait(direction& d, const std::stop_token& stop, source_place at) noexcept {
    return {*this, d, stop, at};
  }
  /// Asked before an operation, which must fail after a close, and after its deadline even if it could be carried out:
  /// 0, or the error.
  [[nodiscard]] int check(const direction& d) const noexcept {
    if (canceled()) return ECANCELED;
    return d.expired.known() ? ETIMEDOUT : 0;
  }

 private:
  // See drained_mark. A Unix socket is not empty if a read stops at passed descriptors.
  [[nodiscard]] bool less_means_drained() const noexcept { return what_ == kind::tcp || what_ == kind::pipe; }

  // Whether an attempt has failed. Between begin_close() and cancel() it has not: the task waits for the notice of
  // cancel().
  [[nodiscard]] bool fails(int error) const noexcept {
    return !would_block(error) && (error == EINTR || !closed() || canceled());
  }

  // Removes the descriptor from the port, the peer and the clock; `in_use`: operations in progress keep the number.
  void take_away(bool in_use) noexcept {
    const std::lock_guard lock(mutex_);
    for (direction* const d : {&read_, &write_}) (void)rt::timer_heap::withdraw(*d);
    file_.reset();
    home_.events.mute(polled_);
    if (in_use) home_.events.hollow_out(polled_);
  }
  // The second part of begin_close().
  void finish_close() noexcept {
    const std::shared_ptr<connection> here = std::move(closing_);
    uses_.cancel();
    home_.events.wake(polled_);
    leave();
  }

  // The caller holds mutex_.
  void set_deadline(direction& d, clock::time_point when) {
    (void)rt::timer_heap::withdraw(d);
    d.expired.forget();  // an operation that runs meanwhile may still fail
    if (when == clock::time_point::max()) return;
    d.when = rt::instant_of(when);
    if (d.when <= rt::now()) {
      // Told now, and not when the timer fires: so the next operation fails.
      expire(d);
      return;
    }
    d.fire = [](rt::timer_node& node, rt::instant) {
      expire(static_cast<direction&>(node));
      return rt::never;
    };
    rt::own_processor().timers.add(d);
    home_.timer_added(d.when);
  }

  static void expire(direction& d) {
    d.expired.happens();
    if (rt::goroutine* const g = d.side->notify()) rt::ready(*g);
  }
  void leave() noexcept {
    if (!uses_.end()) return;
    home_.events.close(polled_);
    ::close(fd_);
  }

  rt::core& home_;
  const kind what_;
  const int fd_;
  rt::descriptor& polled_;
  direction read_;
  direction write_;
  std::mutex mutex_;  // any task may close while another one sets a deadline or accepts
  std::unique_ptr<const socket_file> file_;
  fd_uses<> uses_;
  std::shared_ptr<connection> closing_;  // itself, until begin_close() is over
};

/// Awaits the turn of one task.
class connection::turn::taking {
 public:
  taking(turn& mine, const std::stop_token& stop, source_place at) noexcept : mine_(mine), stop_(stop), at_(at) {}
  taking(const taking&) = delete;
  taking& operator=(const taking&) = delete;
  ~taking() {
    if (place_.who.get() == nullptr) return;
    // Waits for a stop request that is about to wake the task.
    on_stop_.reset();
    line().leave(place_);
  }

  [[nodiscard]] bool await_ready() { return mine_.try_take(); }
  [[nodiscard]] bool await_suspend(std::coroutine_handle<> self) {
    rt::goroutine& g = rt::fall_asleep(self, wait_reason::io_wait, at_);
    place_.who.set(&g);
    if (stop_.stop_possible()) on_stop_.emplace(stop_, withdrawal{line(), place_});
    // by chance: the turn comes, and the time slice ends, between two questions.
    return !line().lock_or_wait(place_) || rt::preempt_or_go_on(g);
  }
  [[nodiscard]] int await_resume() {
    if (mine_.taken()) return 0;
    on_stop_.reset();
    place_.who.set(nullptr);
    if (!place_.ok.get()) return by_request;
    line().arrived();
    mine_.taken_ = true;
    return 0;
  }
  using withdrawal = rt::withdraw_and_wake<rt::mutex_core<>, rt::revocable_waiter<rt::task_waiting>>;

 private:
  [[nodiscard]] rt::mutex_core<>& line() const noexcept { return mine_.way().line; }

  turn& mine_;
  const std::stop_token& stop_;
  const source_place at_;
  rt::revocable_waiter<rt::task_waiting> place_;
  std::optional<std::stop_callback<withdrawal>> on_stop_;
};

inline connection::turn::taking connection::turn::take(const std::stop_token& stop, source_place at) noexcept {
  return {*this, stop, at};
}

/// The connection of a stream or a listener; fails if the stream or listener was moved from.
[[nodiscard]] std::shared_ptr<connection> not_moved_from(const std::shared_ptr<connection>& of, const char* what) {
  if (!of) fail(ECANCELED, what);
  return of;
}

struct access {
  [[nodiscard]] static stream make_stream(std::shared_ptr<connection> c) noexcept { return stream(std::move(c)); }
  [[nodiscard]] static listener make_listener(std::shared_ptr<connection> c) noexcept { return listener(std::move(c)); }
};

}  // namespace detail

using detail::access;
using detail::connection;
using detail::kind;

namespace {

// Takes over `fd`, which is non-blocking, and this library's.
std::shared_ptr<connection> take_over(int fd, kind what) {
  owned_fd owner(fd);
  auto c = std::make_shared<connection>(fd, what);
  (void)owner.release();
  return c;
}

// Takes over a descriptor of the caller's, who keeps it as it was if this throws. It is not known whether it is a
// stream of bytes: there are pipes of packets.
std::shared_ptr<connection> adopt(int fd) {
  non_blocking taken(fd);
  struct stat status {};
  // unreached: fcntl() has refused a number that is no descriptor.
  if (fstat(fd, &status) != 0) fail(errno, "runq: fstat");
  auto c = std::make_shared<connection>(fd, S_ISSOCK(status.st_mode) ? kind::socket : kind::other);
  taken.keep();
  return c;
}

// Sends small messages at once, as in Go.
void send_at_once(int fd) {
  const int on = 1;
  (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

// ---- reading and writing --------------------------------------------------------------------------------------------

namespace detail {

bool reading::attempt(connection& c, bytes& into, progress& done) {
  if (c.reading().mark.drained()) return false;
  const auto now = c.try_read(into);
  if (now) done = *now;
  return now.has_value();
}

void reading::fail(const progress& done) {
  if (done.error == by_request) throw cancelled();
  net::fail(done.error, "read");
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

// ---- stream ---------------------------------------------------------------------------------------------------------

stream::stream(int fd) : connection_(adopt(fd)) {}
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
  throw_if(error.value(), "shutdown");
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

// ---- listener -------------------------------------------------------------------------------------------------------

listener::listener(int fd) : connection_(adopt(fd)) {}
listener::listener(std::shared_ptr<connection> connection) noexcept : connection_(std::move(connection)) {}
listener::listener(listener&&) noexcept = default;
listener& listener::operator=(listener&& other) noexcept {
  if (this != &other) close();
  connection_ = std::move(other.connection_);
  return *this;
}
listener::~listener() { connection::begin_close(std::move(connection_)); }

namespace {

// The next connection, for the task whose turn it is.
task<connection::accepted> accept_next(std::shared_ptr<connection> from, std::stop_token stop, source_place at) {
  if (stop.stop_requested()) co_return connection::accepted(-1, by_request, kind::other);
  connection::turn mine = connection::reading_turn(std::move(from));
  const connection::attempt in_progress(mine.of());
  if (!in_progress.begun()) co_return connection::accepted(-1, ECANCELED, kind::other);
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
  if (got.of == kind::tcp) send_at_once(got.fd.get());
  return access::make_stream(take_over(got.fd.release(), got.of));
}

}  // namespace

stoppable_task<stream> listener::accept(std::stop_token stop, source_place at) {
  auto next = accept_next(connection_, std::move(stop), at);
  auto got = co_await next;
  throw_if(got.error, "accept");
  co_return stream_of(std::move(got));
}

stoppable_task<std::optional<stream>> listener::accept(std::error_code& error, std::stop_token stop, source_place at) {
  auto next = accept_next(connection_, std::move(stop), at);
  auto got = co_await next;
  error = code_of(got.error);
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

// ---- addresses ------------------------------------------------------------------------------------------------------

namespace {

struct free_addresses {
  void operator()(addrinfo* a) const noexcept { freeaddrinfo(a); }
};
using addresses = std::unique_ptr<addrinfo, free_addresses>;

// "localhost" and names that end in ".localhost" mean this machine, whatever a file or a server may say: RFC 6761, 6.3.
// Case does not matter, and the name may end with the root's dot.
bool means_loopback(std::string_view host) {
  constexpr std::string_view local = "localhost";
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host.size() < local.size()) return false;
  const std::string_view end = host.substr(host.size() - local.size());
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
  return std::equal(end.begin(), end.end(), local.begin(), same) &&
         (host.size() == local.size() || host[host.size() - local.size() - 1] == '.');
}

// The addresses of `host`; for "", those of this machine's loopback.
addresses look_up(const std::string& host, std::uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.empty() ? nullptr : host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error == EAI_SYSTEM) fail(errno, "getaddrinfo");
  if (error != 0) throw std::system_error(error, lookup_errors(), "runq: " + host);
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
  // The kernel would take an empty path for a name that all processes of the machine share.
  if (path.empty()) fail(ENOENT, "runq: path of a Unix socket");
  if (path.size() >= sizeof address.sun_path) fail(ENAMETOOLONG, "runq: path of a Unix socket");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

// Binds the new socket `fd` to `address`, and listens at it.
listener listen_by(owned_fd fd, const sockaddr* address, socklen_t size) {
  const bool unix_socket = address->sa_family == AF_UNIX;
  const int on = 1;
  if (!unix_socket) (void)setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd.get(), address, size) != 0) fail(errno, "bind");
  std::unique_ptr<detail::socket_file> file;
  if (unix_socket) {
    file = std::make_unique<detail::socket_file>(reinterpret_cast<const sockaddr_un*>(address)->sun_path);
  }
  // unreached: a stream socket that is bound can listen.
  if (::listen(fd.get(), SOMAXCONN) != 0) fail(errno, "listen");
  const auto c = take_over(fd.release(), unix_socket ? kind::socket : kind::tcp);
  c->keep(std::move(file));
  return access::make_listener(c);
}

bool has_no_ipv6(int error) noexcept {
  return error == EAFNOSUPPORT || error == EPROTONOSUPPORT || error == EADDRNOTAVAIL || error == ENOPROTOOPT;
}

// Listens at all addresses of both families.
listener listen_everywhere(std::uint16_t port) {
  sockaddr_in6 all{};
  all.sin6_family = AF_INET6;
  all.sin6_port = htons(port);
  owned_fd fd(new_socket(AF_INET6));
  const int off = 0;
  // unreached: a socket of IPv6 takes this option.
  if (setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) != 0) fail(errno, "setsockopt");
  return listen_by(std::move(fd), reinterpret_cast<const sockaddr*>(&all), sizeof all);
}

listener listen_everywhere_by_ipv4(std::uint16_t port) {
  sockaddr_in all{};
  all.sin_family = AF_INET;
  all.sin_port = htons(port);
  return listen_by(owned_fd(new_socket(AF_INET)), reinterpret_cast<const sockaddr*>(&all), sizeof all);
}

// Connects the new socket of `c`; returns 0 or an error.
task<int> connect_socket(connection& c, const sockaddr* address, socklen_t size, std::stop_token stop,
                         source_place at) {
  const connection::attempt in_progress(&c);
  const int fd = c.open_fd();
  if (::connect(fd, address, size) == 0) co_return 0;
  int error = errno;
  if (error != EINPROGRESS) co_return error;
  for (;;) {
    error = co_await c.wait(c.writing(), stop, at);
    if (error != 0) co_return error;
    socklen_t length = sizeof error;
    // unreached: every socket answers.
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) co_return errno;
    if (error != 0) co_return error;
    sockaddr_storage peer{};
    socklen_t peer_size = sizeof peer;
    if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_size) == 0) co_return 0;
  }
}

// A connection, or an error.
struct dialed {
  std::shared_ptr<connection> to;
  int error = 0;
};

task<dialed> dial(const sockaddr* address, socklen_t size, std::stop_token stop, source_place at) {
  const int family = address->sa_family;
  dialed result;
  if (stop.stop_requested()) {
    result.error = by_request;
    co_return result;
  }
  try {
    result.to = take_over(new_socket(family), family == AF_UNIX ? kind::socket : kind::tcp);
  } catch (const std::system_error& e) {
    result.error = e.code().value();
    co_return result;
  }
  if (family != AF_UNIX) send_at_once(result.to->open_fd());
  result.error = co_await connect_socket(*result.to, address, size, std::move(stop), at);
  if (result.error != 0) result.to.reset();
  co_return result;
}

// Tries the addresses in their order.
task<dialed> dial_first_of(const addrinfo* found, std::stop_token stop, source_place at) {
  dialed result;
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
    result = co_await dial(a->ai_addr, a->ai_addrlen, stop, at);
    if (result.error == 0 || result.error == by_request) break;
  }
  co_return result;
}

task<dialed> dial_unix(const std::string& path, std::stop_token stop, source_place at) {
  const sockaddr_un address = unix_address(path);
  co_return co_await dial(reinterpret_cast<const sockaddr*>(&address), sizeof address, std::move(stop), at);
}

task<addresses> look_up_in_call(std::string host, std::uint16_t port, source_place at) {
  co_return co_await runq::detail::placed(
      blocking([&host, port] { return look_up(means_loopback(host) ? "" : host, port, 0); }), at);
}

// A look-up cannot be ended. So where somebody may ask for that, it is a task of its own, which is then left behind.
task<addresses> look_up_peer(std::string host, std::uint16_t port, std::stop_token stop, source_place at) {
  if (stop.stop_requested()) throw cancelled();
  task<addresses> call = look_up_in_call(std::move(host), port, at);
  if (!stop.stop_possible()) co_return co_await call;
  spawned<addresses> alone = spawn(std::move(call));
  co_return co_await runq::detail::placed(alone.wait(std::move(stop)), at);
}

stream stream_to(dialed result) {
  throw_if(result.error, "connect");
  return access::make_stream(std::move(result.to));
}

std::optional<stream> stream_or_error(dialed result, std::error_code& error) {
  error = code_of(result.error);
  if (error) return std::nullopt;
  return access::make_stream(std::move(result.to));
}

template <class Listen>
std::optional<listener> listener_or_error(Listen listen, std::error_code& error) {
  error.clear();
  try {
    return listen();
  } catch (const std::system_error& e) {
    error = e.code();
    return std::nullopt;
  }
}

}  // namespace

listener listen_tcp(const std::string& address, std::uint16_t port) {
  if (!address.empty()) {
    // A name means one address, as in Go: the IPv4 one, which every machine has.
    const addresses found = look_up(means_loopback(address) ? "127.0.0.1" : address, port, AI_PASSIVE | AI_NUMERICHOST);
    return listen_by(owned_fd(new_socket(found->ai_family)), found->ai_addr, found->ai_addrlen);
  }
  try {
    return listen_everywhere(port);
  } catch (const std::system_error& e) {
    if (!has_no_ipv6(e.code().value())) throw;
  }
  return listen_everywhere_by_ipv4(port);
}

std::optional<listener> listen_tcp(const std::string& address, std::uint16_t port, std::error_code& error) {
  return listener_or_error([&] { return listen_tcp(address, port); }, error);
}

stoppable_task<stream> connect_tcp(std::string host, std::uint16_t port, std::stop_token stop, source_place at) {
  task<addresses> looks_up = look_up_peer(std::move(host), port, stop, at);
  const addresses found = co_await looks_up;
  dialed result = co_await dial_first_of(found.get(), std::move(stop), at);
  co_return stream_to(std::move(result));
}

stoppable_task<std::optional<stream>> connect_tcp(std::string host, std::uint16_t port, std::error_code& error,
                                                  std::stop_token stop, source_place at) {
  addresses found;
  error.clear();
  try {
    task<addresses> looks_up = look_up_peer(std::move(host), port, stop, at);
    found = co_await looks_up;
  } catch (const cancelled&) {
    error = code_of(by_request);
  } catch (const std::system_error& e) {
    error = e.code();
  }
  if (error) co_return std::nullopt;
  dialed result = co_await dial_first_of(found.get(), std::move(stop), at);
  co_return stream_or_error(std::move(result), error);
}

listener listen_unix(const std::string& path) {
  const sockaddr_un address = unix_address(path);
  return listen_by(owned_fd(new_socket(AF_UNIX)), reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

std::optional<listener> listen_unix(const std::string& path, std::error_code& error) {
  return listener_or_error([&] { return listen_unix(path); }, error);
}

stoppable_task<stream> connect_unix(std::string path, std::stop_token stop, source_place at) {
  dialed result = co_await dial_unix(path, std::move(stop), at);
  co_return stream_to(std::move(result));
}

stoppable_task<std::optional<stream>> connect_unix(std::string path, std::error_code& error, std::stop_token stop,
                                                   source_place at) {
  dialed result;
  try {
    result = co_await dial_unix(path, std::move(stop), at);
  } catch (const std::system_error& e) {
    result.error = e.code().value();  // the path is too long
  }
  co_return stream_or_error(std::move(result), error);
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
