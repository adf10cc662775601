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

// epoll_wait(2) counts in ms. Rounded up, so that nobody wakes before a timer is due and sleeps again.
int milliseconds(instant timeout) {
  if (timeout == never) return -1;
  if (timeout <= 0) return 0;
  return static_cast<int>(std::min(longest_ms, timeout / 1'000'000 + (timeout % 1'000'000 != 0 ? 1 : 0)));
}

// Waits up to `timeout` ns. epoll_pwait2(2), of Linux 5.11, counts in ns; where it is not known, or not allowed, ms do.
int wait(int epoll, std::array<epoll_event, most_events>& events, instant timeout) {
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
  if (fd < 0) fail(what);
  return fd;
}

// The kernel hands these 64 bits back with every event: the descriptor's address, which has 48 bits, and 16 of its
// generation.
std::uint64_t tag(const descriptor& d) {
  // [poller.tag] relaxed, unmodelled: an old one tells an event of an earlier use, at worst late: a notice too many.
  return reinterpret_cast<std::uintptr_t>(&d) |
         (std::uint64_t{d.generation.load(std::memory_order::relaxed) & 0xFFFFU} << 48);
}

}  // namespace

void sleep_precisely() noexcept { (void)prctl(PR_SET_TIMERSLACK, 1UL); }

poller::poller()
    : epoll_(checked(epoll_create1(EPOLL_CLOEXEC), "runq: epoll_create1")),
      event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  epoll_event wake{};
  wake.events = EPOLLIN;
  if (event_ >= 0 && epoll_ctl(epoll_, EPOLL_CTL_ADD, event_, &wake) == 0) return;
  const int error = errno;
  close_both();
  errno = error;
  fail("runq: eventfd");
}

poller::~poller() {
  // [poller.ends] relaxed, unmodelled: nobody else is there any more.
  if (open_.load(std::memory_order::relaxed) != 0) {
    fatal("panic: runq: a stream or a listener that is still open outlives its scheduler\n");
  }
  close_both();
}

void poller::close_both() noexcept {
  ::close(epoll_);
  if (event_ >= 0) ::close(event_);
}

descriptor& poller::open(int fd) {
  descriptor* d = nullptr;
  {
    const std::lock_guard lock(mutex_);
    d = free_;
    if (d != nullptr) {
      free_ = d->next_free;
    } else {
      d = all_.emplace_back(std::make_unique<descriptor>()).get();
    }
  }
  d->fd = fd;
  d->readable.reset();
  d->writable.reset();
  // [poller.usual] relaxed, unmodelled: published by [poller.open].
  d->unusual.store(false, std::memory_order::relaxed);
  epoll_event wanted{};
  wanted.events = EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDHUP | EPOLLET;
  wanted.data.u64 = tag(*d);
  // [poller.open] release, unmodelled: pairs with [poller.polled] and [poller.in_use]; weaker: an event finds a record
  // that is not yet written.
  open_.fetch_add(1, std::memory_order::release);
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &wanted) != 0) {
    const int error = errno;
    close(*d);
    errno = error;
    fail("runq: epoll_ctl");
  }
  return *d;
}

void poller::wake(descriptor& d) {
  if (goroutine* const g = d.readable.notify()) ready(*g);
  if (goroutine* const g = d.writable.notify()) ready(*g);
}

void poller::mute(const descriptor& d) noexcept { (void)epoll_ctl(epoll_, EPOLL_CTL_DEL, d.fd, nullptr); }

// By something that can neither be read nor written, and is no socket.
void poller::hollow_out(const descriptor& d) noexcept { (void)dup3(epoll_, d.fd, O_CLOEXEC); }

void poller::close(descriptor& d) {
  // [poller.close.generation] relaxed, unmodelled: an event that comes with the old one is a notice too many.
  d.generation.fetch_add(1, std::memory_order::relaxed);
  // [poller.close] relaxed, unmodelled: seen late, it costs a poll.
  open_.fetch_sub(1, std::memory_order::relaxed);
  const std::lock_guard lock(mutex_);
  d.next_free = free_;
  free_ = &d;
}

poller::polled poller::poll(instant timeout) {
  std::array<epoll_event, most_events> events;
  const int n = wait(epoll_, events, timeout);
  // [poller.polled] acquire, unmodelled: pairs with [poller.open]: the kernel hands out records that were made
  // meanwhile.
  (void)open_.load(std::memory_order::acquire);
  // [poller.last_poll] relaxed, unmodelled: for the monitor, which may poll once too often.
  last_poll.store(now(), std::memory_order::relaxed);
  polled result;
  for (int i = 0; i < n; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.u64 == 0) {
      // A poll that does not wait leaves the ring to the one that does.
      if (timeout == 0) continue;
      std::uint64_t count = 0;
      (void)!read(event_, &count, sizeof count);
      result.rung = true;
      continue;
    }
    descriptor& d = *reinterpret_cast<descriptor*>(event.data.u64 & ((std::uint64_t{1} << 48) - 1));
    if (tag(d) != event.data.u64) continue;  // of an earlier use
    // [poller.unusual] relaxed, unmodelled: the notice that follows publishes it; see [net.unusual].
    if ((event.events & (EPOLLPRI | EPOLLRDHUP | ends)) != 0) d.unusual.store(true, std::memory_order::relaxed);
    if ((event.events & (EPOLLIN | EPOLLPRI | EPOLLRDHUP | ends)) != 0) {
      if (goroutine* const g = d.readable.notify()) {
        ready(*g);
        ++result.woken;
      }
    }
    if ((event.events & (EPOLLOUT | ends)) != 0) {
      if (goroutine* const g = d.writable.notify()) {
        ready(*g);
        ++result.woken;
      }
    }
  }
  return result;
}

void poller::ring() noexcept {
  const std::uint64_t one = 1;
  (void)!write(event_, &one, sizeof one);
}

}  // namespace runq::detail
