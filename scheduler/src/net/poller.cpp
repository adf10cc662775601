// SPDX-License-Identifier: MIT
#include "runq/detail/poller.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runq/detail/core.hpp"
#include "runq/detail/fatal.hpp"

namespace runq::detail {
namespace {

constexpr std::size_t most_events = 128;       // of one poll, as in Go
constexpr instant longest_ms = 1'000'000'000;  // of one poll, as in Go: about 11 days

// epoll_wait(2) counts in ms. Rounded up, so that no machine wakes before a timer is due and sleeps again.
int milliseconds(instant timeout) {
  if (timeout == never) return -1;
  if (timeout <= 0) return 0;
  return static_cast<int>(std::min(longest_ms, timeout / 1'000'000 + (timeout % 1'000'000 != 0 ? 1 : 0)));
}

// Waits up to `timeout` ns. epoll_pwait2(2), of Linux 5.11, counts in ns; where it is not known, or not allowed, ms do.
int wait_for_events(int epoll, std::array<epoll_event, most_events>& events, instant timeout) {
#if defined(SYS_epoll_pwait2)
  static std::atomic<bool> counts_ns{true};
  // [poller.counts_ns] relaxed, unmodelled: learned late, it costs one more failing system call.
  if (timeout > 0 && timeout != never && counts_ns.load(std::memory_order::relaxed)) {
    const struct {
      std::int64_t s;
      std::int64_t ns;
    } t{timeout / 1'000'000'000, timeout % 1'000'000'000};
    const long n = syscall(SYS_epoll_pwait2, epoll, events.data(), most_events, &t, nullptr, std::size_t{0});
    if (n >= 0 || errno == EINTR) return static_cast<int>(n);
    // [poller.counts_ms] relaxed, unmodelled: as [poller.counts_ns].
    counts_ns.store(false, std::memory_order::relaxed);
  }
#endif
  return epoll_wait(epoll, events.data(), most_events, milliseconds(timeout));
}

constexpr std::uint32_t ends = EPOLLHUP | EPOLLERR;  // both directions learn of these

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

int checked(int fd, const char* what) {
  // by chance: whether a test finds no descriptor at this call.
  if (fd < 0) fail(what);
  return fd;
}

}  // namespace

/// The events of one poll.
class poller::events {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(n_); }
  [[nodiscard]] polled_event event(std::size_t i) const noexcept {
    const std::uint32_t what = list_[i].events;
    return {.tag = list_[i].data.u64,
            .readable = (what & (EPOLLIN | EPOLLPRI | EPOLLRDHUP | ends)) != 0,
            .writable = (what & (EPOLLOUT | ends)) != 0,
            .unusual = (what & (EPOLLPRI | EPOLLRDHUP | ends)) != 0};
  }

 private:
  friend poller;
  std::array<epoll_event, most_events> list_;
  int n_ = 0;
};

void sleep_precisely() noexcept { (void)prctl(PR_SET_TIMERSLACK, 1UL); }

poller::poller()
    : epoll_(checked(epoll_create1(EPOLL_CLOEXEC), "runq: epoll_create1")),
      event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  epoll_event wake{};
  wake.events = EPOLLIN;
  // unreached: descriptors would have to end between two calls.
  if (event_ >= 0 && epoll_ctl(epoll_, EPOLL_CTL_ADD, event_, &wake) == 0) return;
  // unreached from here on: as above.
  const int error = errno;
  close_both();
  errno = error;
  fail("runq: eventfd");
}

poller::~poller() {
  if (known_.in_use()) fatal("panic: runq: a stream or a listener that is still open outlives its scheduler\n");
  close_both();
}

void poller::close_both() noexcept {
  ::close(epoll_);
  // unreached: as in the constructor.
  if (event_ >= 0) ::close(event_);
}

descriptor& poller::open(int fd) {
  int error = 0;
  if (descriptor* const d = known_.open(fd, error)) return *d;
  errno = error;
  fail("runq: epoll_ctl");
}

void poller::mute(const descriptor& d) noexcept { (void)epoll_ctl(epoll_, EPOLL_CTL_DEL, d.fd.get(), nullptr); }

// Replaces the file by one that can neither be read nor written, and is no socket.
void poller::hollow_out(const descriptor& d) noexcept { (void)dup3(epoll_, d.fd.get(), O_CLOEXEC); }

poller::polled poller::poll(instant timeout) { return known_.poll(timeout); }

void poller::ring() noexcept {
  const std::uint64_t one = 1;
  (void)!write(event_, &one, sizeof one);
}

// ---- what `descriptors` asks of its host ----------------------------------------------------------------------------

descriptor& poller::new_record() { return *records_.emplace_back(std::make_unique<descriptor>()); }

int poller::watch(int fd, std::uint64_t tag) const noexcept {
  epoll_event wanted{};
  wanted.events = EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDHUP | EPOLLET;
  wanted.data.u64 = tag;
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &wanted) == 0 ? 0 : errno;
}

void poller::wait(events& into, instant timeout) const {
  into.n_ = std::max(0, wait_for_events(epoll_, into.list_, timeout));
}

void poller::hear_ring() const noexcept {
  std::uint64_t count = 0;
  (void)!read(event_, &count, sizeof count);
}

void poller::wake(strand& s) { ready(s); }

}  // namespace runq::detail
