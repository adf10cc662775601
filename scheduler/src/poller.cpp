// SPDX-License-Identifier: MIT
#include "runq/detail/poller.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "runq/detail/core.hpp"

namespace runq::detail {
namespace {

constexpr std::size_t most_events = 128;       // of one poll, as in Go
constexpr instant longest_ms = 1'000'000'000;  // of one poll, as in Go: about 11 days

// epoll counts in ms. Rounded up, so that nobody wakes before a timer is due and sleeps again.
int milliseconds(instant timeout) {
  if (timeout == never) return -1;
  if (timeout <= 0) return 0;
  return static_cast<int>(std::min(longest_ms, (timeout + 999'999) / 1'000'000));
}

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

// The kernel hands these 64 bits back with every event: the descriptor's address, which has 48 bits, and 16 of its
// generation.
std::uint64_t tag(const descriptor& d) {
  return reinterpret_cast<std::uintptr_t>(&d) |
         (std::uint64_t{d.generation.load(std::memory_order::relaxed) & 0xFFFFU} << 48);
}

}  // namespace

poller::~poller() {
  if (epoll_ >= 0) ::close(epoll_);
  if (event_ >= 0) ::close(event_);
}

void poller::create() {
  if (created_.load(std::memory_order::acquire)) return;
  const std::lock_guard lock(mutex_);
  if (created_.load(std::memory_order::relaxed)) return;
  if (epoll_ < 0) epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) fail("runq: epoll_create1");
  if (event_ < 0) event_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (event_ < 0) fail("runq: eventfd");
  epoll_event wake{};
  wake.events = EPOLLIN;
  wake.data.u64 = 0;
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, event_, &wake) != 0) fail("runq: epoll_ctl");
  created_.store(true, std::memory_order::release);
}

descriptor& poller::open(int fd) {
  create();
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
  epoll_event wanted{};
  wanted.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  wanted.data.u64 = tag(*d);
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

void poller::close(descriptor& d) {
  (void)epoll_ctl(epoll_, EPOLL_CTL_DEL, d.fd, nullptr);
  d.generation.fetch_add(1, std::memory_order::relaxed);
  open_.fetch_sub(1, std::memory_order::relaxed);
  const std::lock_guard lock(mutex_);
  d.next_free = free_;
  free_ = &d;
}

std::size_t poller::poll(instant timeout) {
  std::array<epoll_event, most_events> events;
  const int n = epoll_wait(epoll_, events.data(), most_events, milliseconds(timeout));
  last_poll.store(now(), std::memory_order::relaxed);
  std::size_t woken = 0;
  for (int i = 0; i < n; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.u64 == 0) {
      std::uint64_t count = 0;
      // A poll that does not wait leaves the interruption to the one that does.
      if (timeout != 0) {
        (void)!read(event_, &count, sizeof count);
        // A read-modify-write: whoever found the flag set and did not write has set his machine's token before, and the
        // token is looked at after this.
        interrupted_.exchange(false, std::memory_order::acq_rel);
      }
      continue;
    }
    descriptor& d = *reinterpret_cast<descriptor*>(event.data.u64 & ((std::uint64_t{1} << 48) - 1));
    if (tag(d) != event.data.u64) continue;  // of an earlier use
    if ((event.events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
      if (goroutine* const g = d.readable.notify()) {
        ready(*g);
        ++woken;
      }
    }
    if ((event.events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0) {
      if (goroutine* const g = d.writable.notify()) {
        ready(*g);
        ++woken;
      }
    }
  }
  return woken;
}

void poller::interrupt() noexcept {
  if (!created_.load(std::memory_order::acquire)) return;
  if (interrupted_.exchange(true, std::memory_order::acq_rel)) return;
  const std::uint64_t one = 1;
  (void)!write(event_, &one, sizeof one);
}

}  // namespace runq::detail
