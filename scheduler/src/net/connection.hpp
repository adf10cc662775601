// SPDX-License-Identifier: MIT
// connection: an open descriptor with its operations in progress, which streams and listeners share.
#pragma once

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runq/detail/core.hpp"
#include "runq/mutex.hpp"
#include "runq/net.hpp"
#include "runq/protocol/fd_uses.hpp"

namespace runq::net::detail {

namespace rt = runq::detail;
using ready_word = readiness<rt::strand>;

[[noreturn]] inline void fail(int error, const char* what) {
  throw std::system_error(error, std::generic_category(), what);
}

/// Stands for an error's number where none of the kernel's fits: a stop request has ended the operation.
inline constexpr int by_request = -1;

inline void throw_if(int error, const char* what) {
  if (error == by_request) throw cancelled();
  if (error != 0) fail(error, what);
}

[[nodiscard]] inline std::error_code code_of(int error) noexcept {
  if (error == 0) return {};
  return {error == by_request ? ECANCELED : error, std::generic_category()};
}

// unreached: on Linux both are the same number.
[[nodiscard]] inline bool would_block(int error) noexcept { return error == EAGAIN || error == EWOULDBLOCK; }

/// Closes its descriptor unless it is released.
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
  connection(int fd, kind what)
      : home_(rt::own_processor().home), what_(what), fd_(fd), polled_(home_.events.open(fd)) {
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
      rt::strand& s = rt::fall_asleep(self, wait_reason::io_wait, at_);
      who_ = &s;
      rt::this_processor()->waits_for_kernel.start();
      if (stop_.stop_possible()) on_stop_.emplace(stop_, notice{d_.side});
      d_.mark.waits();
      if (d_.side->wait(s)) return true;
      return rt::preempt_or_go_on(s);
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
        if (rt::strand* const s = side->notify()) rt::ready(*s);
      }
    };
    [[nodiscard]] int given_up() const noexcept { return stop_.stop_requested() ? by_request : c_.check(d_); }

    connection& c_;
    direction& d_;
    const std::stop_token& stop_;
    const source_place at_;
    rt::strand* who_ = nullptr;  // the waiting task, until it goes on
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
    if (rt::strand* const s = d.side->notify()) rt::ready(*s);
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
    rt::strand& s = rt::fall_asleep(self, wait_reason::io_wait, at_);
    place_.who.set(&s);
    if (stop_.stop_possible()) on_stop_.emplace(stop_, withdrawal{line(), place_});
    // by chance: the turn comes, and the time slice ends, between two questions.
    return !line().lock_or_wait(place_) || rt::preempt_or_go_on(s);
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
[[nodiscard]] inline std::shared_ptr<connection> not_moved_from(const std::shared_ptr<connection>& of,
                                                                const char* what) {
  if (!of) fail(ECANCELED, what);
  return of;
}

struct access {
  [[nodiscard]] static stream make_stream(std::shared_ptr<connection> c) noexcept { return stream(std::move(c)); }
  [[nodiscard]] static listener make_listener(std::shared_ptr<connection> c) noexcept { return listener(std::move(c)); }
};

/// Takes over `fd`, which is non-blocking, and this library's.
[[nodiscard]] std::shared_ptr<connection> take_over(int fd, kind what);

/// Takes over a descriptor of the caller's, who keeps it as it was if this throws. It is not known whether it is a
/// stream of bytes: there are pipes of packets.
[[nodiscard]] std::shared_ptr<connection> adopt(int fd);

/// Sends small messages at once, as in Go.
void send_at_once(int fd);

}  // namespace runq::net::detail
