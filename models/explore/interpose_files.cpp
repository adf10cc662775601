// SPDX-License-Identifier: MIT
// Calls about descriptors. Each is carried out by the kernel at once, or not at all: who would wait in the kernel waits
// in the scheduler, in virtual time.
#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdint>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../compiled/hook.hpp"
#include "descriptors.hpp"
#include "runtime.hpp"
#include "scheduler.hpp"
#include "shadow.hpp"
#include "system_call.hpp"
#include "threads.hpp"
#include "time.hpp"

using namespace runq::model::explore;  // NOLINT(google-build-using-namespace): the functions below have C's names

namespace {

/// Whether the program calls, and not the runtime, or what runs before main().
[[nodiscard]] bool is_explored() noexcept { return exploring && !in_runtime; }

void touch(const volatile void* at, std::size_t size, std::uint8_t flags, const void* code) {
  access(reinterpret_cast<std::uintptr_t>(at), size, flags, code);
}
/// The first `bytes` of what the vectors describe.
void touch(const iovec* vectors, std::size_t count, std::size_t bytes, std::uint8_t flags, const void* code) {
  for (std::size_t i = 0; i != count && bytes != 0; ++i) {
    const std::size_t part = std::min(bytes, vectors[i].iov_len);
    touch(vectors[i].iov_base, part, flags, code);
    bytes -= part;
  }
}

void begin_call() {
  step();
  begin_event();
}
/// A call with a descriptor, which is carried out at once.
void begin_call(int fd) {
  begin_call();
  learn_who_took_file(fd);
}

/// How a call waits that the kernel would let wait.
struct waiting {
  int fd;
  short events;
  const void* code;
  bool never = false;  ///< by a flag of the call
};

/// While it lives, the kernel lets no call wait for the descriptor.
class without_waiting {
 public:
  explicit without_waiting(int fd) noexcept : fd_(fd), flags_(system_call(SYS_fcntl, fd, F_GETFL)) {
    if (would_wait()) system_call(SYS_fcntl, fd_, F_SETFL, flags_ | O_NONBLOCK);
  }
  without_waiting(const without_waiting&) = delete;
  without_waiting& operator=(const without_waiting&) = delete;
  ~without_waiting() {
    const int error = errno;
    if (would_wait()) system_call(SYS_fcntl, fd_, F_SETFL, flags_);
    errno = error;
  }
  [[nodiscard]] bool would_wait() const noexcept { return flags_ >= 0 && (flags_ & O_NONBLOCK) == 0; }

 private:
  int fd_;
  long flags_;
};

/// How long the socket's options let a call wait; 0: without end, or it is no socket.
[[nodiscard]] std::uint64_t limit_of(const waiting& w) noexcept {
  timeval limit{};
  socklen_t size = sizeof limit;
  const int option = w.events == POLLIN ? SO_RCVTIMEO : SO_SNDTIMEO;
  if (system_call(SYS_getsockopt, w.fd, SOL_SOCKET, option, &limit, &size) != 0) return 0;
  const std::uint64_t nanoseconds = to_nanoseconds({limit.tv_sec, limit.tv_usec * 1000});
  return nanoseconds == 0 ? 0 : clock_now() + nanoseconds;
}

/// Tries until the kernel does it, or refuses for another reason than that it would have to wait. Returns its answer.
template <class Attempt>
[[nodiscard]] long carry_out(const waiting& w, bool& has_waited, Attempt&& attempt) {
  std::uint64_t deadline = 0;
  for (;;) {
    bool waits = false;
    long result = 0;
    learn_who_took_file(w.fd);
    {
      const without_waiting now(w.fd);
      result = attempt();
      waits = now.would_wait() && !w.never && result < 0 && errno == EAGAIN;
    }
    if (!waits) return result;
    if (!has_waited) deadline = limit_of(w);
    has_waited = true;
    pollfd polled{w.fd, w.events, 0};
    if (!wait_for_descriptors(&polled, 1, w.code, deadline)) {
      errno = EAGAIN;
      return -1;
    }
  }
}

template <class Attempt>
[[nodiscard]] long take(const waiting& w, Attempt&& attempt) {
  begin_call();
  bool has_waited = false;
  const long result = carry_out(w, has_waited, attempt);
  const int error = errno;
  if (result >= 0) read_from(w.fd);
  descriptors_have_changed();  // there is room again
  errno = error;
  return result;
}

/// `attempt` is told how many bytes are done. As in the kernel, a call that waits goes on until all of `bytes` are.
template <class Attempt>
[[nodiscard]] long give(const waiting& w, std::size_t bytes, Attempt&& attempt) {
  begin_call();
  write_to(w.fd);
  bool has_waited = false;
  std::size_t done = 0;
  long result = 0;
  do {
    result = carry_out(w, has_waited, [&] { return attempt(done); });
    const int error = errno;
    if (result > 0) done += static_cast<std::size_t>(result);
    if (has_waited) learn_from_readers(w.fd);
    descriptors_have_changed();
    errno = error;
  } while (result > 0 && done < bytes && !w.never && (system_call(SYS_fcntl, w.fd, F_GETFL) & O_NONBLOCK) == 0);
  return done != 0 ? static_cast<long>(done) : result;
}

/// What is left of the vectors behind the first `done` bytes.
[[nodiscard]] std::vector<iovec> rest_of(const iovec* vectors, std::size_t count, std::size_t done) {
  const runtime_scope scope;
  std::vector<iovec> rest(vectors, vectors + count);
  for (iovec& v : rest) {
    const std::size_t part = std::min(done, v.iov_len);
    v.iov_base = static_cast<char*>(v.iov_base) + part;
    v.iov_len -= part;
    done -= part;
  }
  return rest;
}
[[nodiscard]] std::size_t bytes_of(const iovec* vectors, std::size_t count) noexcept {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i != count; ++i) bytes += vectors[i].iov_len;
  return bytes;
}

}  // namespace

// --- reading and writing ---------------------------------------------------------------------------------------------

RUNQ_HOOK ssize_t read(int fd, void* to, std::size_t size) {
  if (!is_explored()) return system_call(SYS_read, fd, to, size);
  const long result = take({fd, POLLIN, RUNQ_CALLER}, [&] { return system_call(SYS_read, fd, to, size); });
  if (result > 0) touch(to, static_cast<std::size_t>(result), is_a_write, RUNQ_CALLER);
  return result;
}
RUNQ_HOOK ssize_t readv(int fd, const iovec* vectors, int count) {
  if (!is_explored()) return system_call(SYS_readv, fd, vectors, count);
  const long result = take({fd, POLLIN, RUNQ_CALLER}, [&] { return system_call(SYS_readv, fd, vectors, count); });
  if (result > 0) {
    touch(vectors, static_cast<std::size_t>(count), static_cast<std::size_t>(result), is_a_write, RUNQ_CALLER);
  }
  return result;
}
RUNQ_HOOK ssize_t write(int fd, const void* from, std::size_t size) {
  if (!is_explored()) return system_call(SYS_write, fd, from, size);
  touch(from, size, 0, RUNQ_CALLER);
  return give({fd, POLLOUT, RUNQ_CALLER}, size, [&](std::size_t done) {
    return system_call(SYS_write, fd, static_cast<const char*>(from) + done, size - done);
  });
}
RUNQ_HOOK ssize_t writev(int fd, const iovec* vectors, int count) {
  if (!is_explored()) return system_call(SYS_writev, fd, vectors, count);
  const auto n = static_cast<std::size_t>(std::max(count, 0));
  const std::size_t bytes = bytes_of(vectors, n);
  touch(vectors, n, bytes, 0, RUNQ_CALLER);
  return give({fd, POLLOUT, RUNQ_CALLER}, bytes, [&](std::size_t done) {
    const std::vector<iovec> rest = rest_of(vectors, n, done);
    return system_call(SYS_writev, fd, rest.data(), count);
  });
}

RUNQ_HOOK ssize_t recvfrom(int fd, void* to, std::size_t size, int flags, sockaddr* from, socklen_t* from_size) {
  const auto attempt = [&] { return system_call(SYS_recvfrom, fd, to, size, flags, from, from_size); };
  if (!is_explored()) return attempt();
  const long result = take({fd, POLLIN, RUNQ_CALLER, (flags & MSG_DONTWAIT) != 0}, attempt);
  if (result > 0) touch(to, std::min(static_cast<std::size_t>(result), size), is_a_write, RUNQ_CALLER);
  return result;
}
RUNQ_HOOK ssize_t recv(int fd, void* to, std::size_t size, int flags) {
  return recvfrom(fd, to, size, flags, nullptr, nullptr);
}
RUNQ_HOOK ssize_t recvmsg(int fd, msghdr* message, int flags) {
  const auto attempt = [&] { return system_call(SYS_recvmsg, fd, message, flags); };
  if (!is_explored()) return attempt();
  const long result = take({fd, POLLIN, RUNQ_CALLER, (flags & MSG_DONTWAIT) != 0}, attempt);
  if (result > 0) {
    touch(message->msg_iov, message->msg_iovlen, static_cast<std::size_t>(result), is_a_write, RUNQ_CALLER);
  }
  return result;
}
RUNQ_HOOK ssize_t sendto(int fd, const void* from, std::size_t size, int flags, const sockaddr* to, socklen_t to_size) {
  if (!is_explored()) return system_call(SYS_sendto, fd, from, size, flags, to, to_size);
  touch(from, size, 0, RUNQ_CALLER);
  return give({fd, POLLOUT, RUNQ_CALLER, (flags & MSG_DONTWAIT) != 0}, size, [&](std::size_t done) {
    return system_call(SYS_sendto, fd, static_cast<const char*>(from) + done, size - done, flags, to, to_size);
  });
}
RUNQ_HOOK ssize_t send(int fd, const void* from, std::size_t size, int flags) {
  return sendto(fd, from, size, flags, nullptr, 0);
}
RUNQ_HOOK ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  if (!is_explored()) return system_call(SYS_sendmsg, fd, message, flags);
  const std::size_t bytes = bytes_of(message->msg_iov, message->msg_iovlen);
  touch(message->msg_iov, message->msg_iovlen, bytes, 0, RUNQ_CALLER);
  return give({fd, POLLOUT, RUNQ_CALLER, (flags & MSG_DONTWAIT) != 0}, bytes, [&](std::size_t done) {
    std::vector<iovec> rest = rest_of(message->msg_iov, message->msg_iovlen, done);
    msghdr left = *message;
    left.msg_iov = rest.data();
    if (done != 0) left.msg_controllen = 0;
    return system_call(SYS_sendmsg, fd, &left, flags);
  });
}

// --- descriptors -----------------------------------------------------------------------------------------------------

namespace {

[[nodiscard]] long make(long fd) {
  if (is_explored()) give_channel(static_cast<int>(fd));
  return fd;
}
/// Both ends hand on what is written at either.
[[nodiscard]] long make_pair(long result, const int* ends, const void* code) {
  if (!is_explored() || result != 0) return result;
  touch(ends, 2 * sizeof *ends, is_a_write, code);
  give_channel(ends[0]);
  share_channel(ends[1], ends[0]);
  return result;
}
[[nodiscard]] long copy(long fd, int of) {
  if (is_explored()) share_channel(static_cast<int>(fd), of);
  return fd;
}
/// It takes the place of `fd`, which is closed.
[[nodiscard]] int copy_to(long result, int of, int fd) {
  if (!is_explored() || result < 0 || of == fd) return static_cast<int>(result);
  forget_descriptor(fd);
  share_channel(fd, of);
  take_file_from(fd);
  descriptors_have_changed();
  return static_cast<int>(result);
}

}  // namespace

RUNQ_HOOK int pipe2(int* ends, int flags) noexcept {
  return static_cast<int>(make_pair(system_call(SYS_pipe2, ends, flags), ends, RUNQ_CALLER));
}
RUNQ_HOOK int pipe(int* ends) noexcept {
  return static_cast<int>(make_pair(system_call(SYS_pipe2, ends, 0), ends, RUNQ_CALLER));
}
RUNQ_HOOK int socketpair(int domain, int type, int protocol, int* ends) noexcept {
  return static_cast<int>(make_pair(system_call(SYS_socketpair, domain, type, protocol, ends), ends, RUNQ_CALLER));
}
RUNQ_HOOK int eventfd(unsigned value, int flags) noexcept {
  return static_cast<int>(make(system_call(SYS_eventfd2, value, flags)));
}
RUNQ_HOOK int eventfd_read(int fd, eventfd_t* value) { return read(fd, value, sizeof *value) < 0 ? -1 : 0; }
RUNQ_HOOK int eventfd_write(int fd, eventfd_t value) { return write(fd, &value, sizeof value) < 0 ? -1 : 0; }
RUNQ_HOOK int dup(int fd) noexcept { return static_cast<int>(copy(system_call(SYS_dup, fd), fd)); }
RUNQ_HOOK int dup2(int of, int fd) noexcept {
  if (is_explored()) begin_call(of);
  if (of != fd) return copy_to(system_call(SYS_dup3, of, fd, 0), of, fd);
  return system_call(SYS_fcntl, fd, F_GETFD) < 0 ? -1 : fd;
}
RUNQ_HOOK int dup3(int of, int fd, int flags) noexcept {
  if (is_explored()) begin_call(of);
  return copy_to(system_call(SYS_dup3, of, fd, flags), of, fd);
}
RUNQ_HOOK int close(int fd) {
  if (!is_explored()) return static_cast<int>(system_call(SYS_close, fd));
  begin_call(fd);
  write_to(fd);
  const long result = system_call(SYS_close, fd);
  forget_descriptor(fd);
  take_file_from(fd);
  const int error = errno;
  descriptors_have_changed();
  errno = error;
  return static_cast<int>(result);
}
RUNQ_HOOK int shutdown(int fd, int how) noexcept {
  if (!is_explored()) return static_cast<int>(system_call(SYS_shutdown, fd, how));
  begin_call(fd);
  write_to(fd);
  const long result = system_call(SYS_shutdown, fd, how);
  const int error = errno;
  descriptors_have_changed();
  errno = error;
  return static_cast<int>(result);
}

namespace {

[[nodiscard]] int control(int fd, int command, long argument) {
  const long result = system_call(SYS_fcntl, fd, command, argument);
  if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) return static_cast<int>(copy(result, fd));
  return static_cast<int>(result);
}

}  // namespace

RUNQ_HOOK int fcntl(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  const long argument = va_arg(list, long);
  va_end(list);
  return control(fd, command, argument);
}
RUNQ_HOOK int fcntl64(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  const long argument = va_arg(list, long);
  va_end(list);
  return control(fd, command, argument);
}

// --- sockets ---------------------------------------------------------------------------------------------------------

RUNQ_HOOK int listen(int fd, int backlog) noexcept {
  if (is_explored()) {
    begin_call();
    announce_listener();
  }
  return static_cast<int>(system_call(SYS_listen, fd, backlog));
}
RUNQ_HOOK int accept4(int fd, sockaddr* address, socklen_t* size, int flags) {
  const auto attempt = [&] { return system_call(SYS_accept4, fd, address, size, flags); };
  if (!is_explored()) return static_cast<int>(attempt());
  const long accepted = take({fd, POLLIN, RUNQ_CALLER}, attempt);
  const int error = errno;
  if (accepted >= 0) join_client(static_cast<int>(accepted));
  errno = error;
  return static_cast<int>(accepted);
}
RUNQ_HOOK int accept(int fd, sockaddr* address, socklen_t* size) { return accept4(fd, address, size, 0); }
RUNQ_HOOK int connect(int fd, const sockaddr* address, socklen_t size) {
  const auto attempt = [&] { return system_call(SYS_connect, fd, address, size); };
  if (!is_explored()) return static_cast<int>(attempt());
  begin_call();
  write_to(fd);
  bool has_waited = false;
  long result = carry_out({fd, POLLOUT, RUNQ_CALLER}, has_waited, attempt);
  int error = errno;
  if (result < 0 && error == EINPROGRESS && (system_call(SYS_fcntl, fd, F_GETFL) & O_NONBLOCK) == 0) {
    pollfd polled{fd, POLLOUT, 0};
    while (poll_kernel(&polled, 1, 0) == 0) wait_for_descriptors(&polled, 1, RUNQ_CALLER, 0);
    socklen_t error_size = sizeof error;
    system_call(SYS_getsockopt, fd, SOL_SOCKET, SO_ERROR, &error, &error_size);
    result = error == 0 ? 0 : -1;
  }
  remember_client(fd);
  write_to(fd);
  descriptors_have_changed();
  errno = error;
  return static_cast<int>(result);
}

// --- waiting for several ---------------------------------------------------------------------------------------------

namespace {

constexpr std::uint64_t no_limit = ~std::uint64_t{0};

/// Returns poll()'s answer. `limit`: how long, in nanoseconds.
[[nodiscard]] int poll_for(pollfd* polled, nfds_t count, std::uint64_t limit, const void* code) {
  begin_call();
  const std::uint64_t deadline = limit == no_limit ? 0 : std::max<std::uint64_t>(clock_now() + limit, 1);
  long ready = poll_kernel(polled, count, 0);
  while (ready == 0 && limit != 0) {
    const bool is_woken = wait_for_descriptors(polled, count, code, deadline);
    ready = poll_kernel(polled, count, 0);
    if (!is_woken) break;
  }
  if (ready == 0 && limit == 0) yield();
  touch(polled, count * sizeof *polled, is_a_write, code);
  for (nfds_t i = 0; i != count && ready > 0; ++i) {
    learn_who_took_file(polled[i].fd);
    if ((polled[i].revents & ~POLLOUT) != 0) read_from(polled[i].fd);
    if ((polled[i].revents & POLLOUT) != 0) learn_from_readers(polled[i].fd);
  }
  return static_cast<int>(ready);
}

[[nodiscard]] std::uint64_t limit_of(int milliseconds) noexcept {
  return milliseconds < 0 ? no_limit : static_cast<std::uint64_t>(milliseconds) * 1'000'000;
}
[[nodiscard]] std::uint64_t limit_of(const timespec* t) noexcept {
  return t == nullptr ? no_limit : to_nanoseconds(*t);
}

}  // namespace

RUNQ_HOOK int poll(pollfd* polled, nfds_t count, int milliseconds) {
  if (!is_explored()) return static_cast<int>(poll_kernel(polled, count, milliseconds));
  return poll_for(polled, count, limit_of(milliseconds), RUNQ_CALLER);
}
RUNQ_HOOK int ppoll(pollfd* polled, nfds_t count, const timespec* limit, const sigset_t*) {
  if (!is_explored()) return static_cast<int>(system_call(SYS_ppoll, polled, count, limit, nullptr, 0));
  return poll_for(polled, count, limit_of(limit), RUNQ_CALLER);
}

namespace {

struct selected_set {
  fd_set* set;
  short asked;
  short answered;  ///< as the kernel's own select() takes poll's answers
};

[[nodiscard]] int select_for(int end, const selected_set (&sets)[3], std::uint64_t limit, const void* code) {
  std::vector<pollfd> polled;
  {
    const runtime_scope scope;
    polled.reserve(static_cast<std::size_t>(std::max(end, 0)));
    for (int fd = 0; fd < end; ++fd) {
      short asked = 0;
      for (const selected_set& s : sets) {
        if (s.set != nullptr && FD_ISSET(fd, s.set)) asked = static_cast<short>(asked | s.asked);
      }
      if (asked != 0) polled.push_back({fd, asked, 0});
    }
  }
  static_cast<void>(poll_for(polled.data(), polled.size(), limit, code));
  int ready = 0;
  bool is_wrong = false;
  for (const selected_set& s : sets) {
    if (s.set != nullptr) FD_ZERO(s.set);
  }
  for (const pollfd& p : polled) {
    is_wrong |= (p.revents & POLLNVAL) != 0;
    for (const selected_set& s : sets) {
      if (s.set == nullptr || (p.events & s.asked) == 0 || (p.revents & s.answered) == 0) continue;
      FD_SET(p.fd, s.set);
      ++ready;
    }
  }
  {
    const runtime_scope scope;
    polled = {};
  }
  if (!is_wrong) return ready;
  errno = EBADF;
  return -1;
}
[[nodiscard]] int select_from(int end, fd_set* to_read, fd_set* to_write, fd_set* exceptions, std::uint64_t limit,
                              const void* code) {
  return select_for(end,
                    {{to_read, POLLIN, POLLIN | POLLHUP | POLLERR},
                     {to_write, POLLOUT, POLLOUT | POLLERR},
                     {exceptions, POLLPRI, POLLPRI}},
                    limit, code);
}

}  // namespace

RUNQ_HOOK int select(int end, fd_set* to_read, fd_set* to_write, fd_set* exceptions, timeval* t) {
  if (!is_explored()) {
    timespec left = t == nullptr ? timespec{} : timespec{t->tv_sec, t->tv_usec * 1000};
    const long ready =
        system_call(SYS_pselect6, end, to_read, to_write, exceptions, t == nullptr ? nullptr : &left, nullptr);
    if (t != nullptr) *t = {left.tv_sec, left.tv_nsec / 1000};
    return static_cast<int>(ready);
  }
  const std::uint64_t limit = t == nullptr ? no_limit : to_nanoseconds({t->tv_sec, t->tv_usec * 1000});
  return select_from(end, to_read, to_write, exceptions, limit, RUNQ_CALLER);
}
RUNQ_HOOK int pselect(int end, fd_set* to_read, fd_set* to_write, fd_set* exceptions, const timespec* t,
                      const sigset_t*) {
  if (!is_explored())
    return static_cast<int>(system_call(SYS_pselect6, end, to_read, to_write, exceptions, t, nullptr));
  return select_from(end, to_read, to_write, exceptions, limit_of(t), RUNQ_CALLER);
}

// --- epoll -----------------------------------------------------------------------------------------------------------

namespace runq::model::explore {

int wait_for_events(int epoll, epoll_event* events, int most, const timespec* t, const void* code) {
  const std::uint64_t limit = limit_of(t);
  begin_call();
  const std::uint64_t deadline = limit == no_limit ? 0 : std::max<std::uint64_t>(clock_now() + limit, 1);
  long ready = system_call(SYS_epoll_pwait, epoll, events, most, 0, nullptr, 0);
  while (ready == 0 && limit != 0) {
    pollfd polled{epoll, POLLIN, 0};
    const bool is_woken = wait_for_descriptors(&polled, 1, code, deadline);
    ready = system_call(SYS_epoll_pwait, epoll, events, most, 0, nullptr, 0);
    if (!is_woken) break;
  }
  if (ready > 0) touch(events, static_cast<std::size_t>(ready) * sizeof *events, is_a_write, code);
  learn_from_events(epoll, events, static_cast<int>(ready));
  return static_cast<int>(ready);
}
}  // namespace runq::model::explore

RUNQ_HOOK int epoll_create1(int flags) noexcept {
  return static_cast<int>(make(system_call(SYS_epoll_create1, flags)));
}
RUNQ_HOOK int epoll_create(int) noexcept { return epoll_create1(0); }
RUNQ_HOOK int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
  if (!is_explored()) return static_cast<int>(system_call(SYS_epoll_ctl, epoll, operation, fd, event));
  begin_call(fd);
  const long result = system_call(SYS_epoll_ctl, epoll, operation, fd, event);
  const int error = errno;
  if (result == 0) note_epoll_control(epoll, operation, fd, event);
  descriptors_have_changed();
  errno = error;
  return static_cast<int>(result);
}
RUNQ_HOOK int epoll_wait(int epoll, epoll_event* events, int most, int milliseconds) {
  if (!is_explored())
    return static_cast<int>(system_call(SYS_epoll_pwait, epoll, events, most, milliseconds, nullptr, 0));
  const timespec limit = to_timespec(milliseconds < 0 ? 0 : limit_of(milliseconds));
  return wait_for_events(epoll, events, most, milliseconds < 0 ? nullptr : &limit, RUNQ_CALLER);
}
RUNQ_HOOK int epoll_pwait(int epoll, epoll_event* events, int most, int milliseconds, const sigset_t*) {
  return epoll_wait(epoll, events, most, milliseconds);
}
RUNQ_HOOK int epoll_pwait2(int epoll, epoll_event* events, int most, const timespec* t, const sigset_t*) {
  if (!is_explored()) return static_cast<int>(system_call(SYS_epoll_pwait2, epoll, events, most, t, nullptr, 0));
  return wait_for_events(epoll, events, most, t, RUNQ_CALLER);
}

// --- timers, which the virtual clock ends ----------------------------------------------------------------------------

RUNQ_HOOK int timerfd_create(int clock, int flags) noexcept {
  if (!is_explored()) return static_cast<int>(system_call(SYS_timerfd_create, clock, flags));
  static_assert(int{TFD_NONBLOCK} == int{EFD_NONBLOCK} && int{TFD_CLOEXEC} == int{EFD_CLOEXEC});
  const int fd = eventfd(0, flags);
  if (fd >= 0) make_timer(fd, clock);
  return fd;
}
RUNQ_HOOK int timerfd_settime(int fd, int flags, const itimerspec* to, itimerspec* before) noexcept {
  if (!is_explored()) return static_cast<int>(system_call(SYS_timerfd_settime, fd, flags, to, before));
  begin_call();
  if (!is_timer(fd)) {
    errno = EINVAL;
    return -1;
  }
  write_to(fd);
  set_timer(fd, (flags & TFD_TIMER_ABSTIME) != 0, *to, before);
  return 0;
}
RUNQ_HOOK int timerfd_gettime(int fd, itimerspec* to) noexcept {
  if (!is_explored()) return static_cast<int>(system_call(SYS_timerfd_gettime, fd, to));
  if (!is_timer(fd)) {
    errno = EINVAL;
    return -1;
  }
  get_timer(fd, *to);
  return 0;
}
