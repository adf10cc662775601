// SPDX-License-Identifier: MIT
#include "descriptors.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "arena.hpp"
#include "locks.hpp"
#include "runtime.hpp"
#include "scheduler.hpp"
#include "system_call.hpp"
#include "threads.hpp"
#include "time.hpp"

namespace runq::model::explore {

std::uint64_t next_timer = 0;

namespace {

struct watched_descriptor {
  int fd;
  std::uint64_t tag;
};

struct timer {
  int clock = CLOCK_MONOTONIC;
  std::uint64_t ends = 0;  ///< 0: it is not set
  std::uint64_t again_after = 0;
};

/// All that is known of them. It is made when it is first needed, and lives on: destructors of the program come here,
/// too.
struct descriptor_table {
  std::map<int, channel*> channels;
  std::map<int, channel*> takers;  // of those whose file was taken, until the number is given out again
  std::map<int, std::vector<watched_descriptor>> watched;  // by epoll instance
  std::map<int, timer> timers;
  std::map<std::uint16_t, channel*> clients;  // by the port of their end
  /// Those that got no channel of their own: files, and sockets without a connection.
  channel* others = new_channel();

  [[nodiscard]] static channel* new_channel() { return new (arena_allocate(sizeof(channel))) channel{}; }
  [[nodiscard]] channel* of(int fd) const {
    const auto found = channels.find(fd);
    return found == channels.end() ? others : found->second;
  }
};

descriptor_table& table() {
  const runtime_scope scope;
  static auto& all = *new descriptor_table;
  return all;
}

void find_next_timer() noexcept {
  next_timer = 0;
  for (const auto& [fd, t] : table().timers) {
    if (t.ends != 0 && (next_timer == 0 || t.ends < next_timer)) next_timer = t.ends;
  }
}

/// The number of a socket's port, here or at its other end; 0: it is none of the Internet's.
[[nodiscard]] std::uint16_t port_of(int fd, long which) noexcept {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (system_call(which, fd, &address, &size) != 0) return 0;
  if (address.ss_family == AF_INET) return reinterpret_cast<const sockaddr_in&>(address).sin_port;
  if (address.ss_family == AF_INET6) return reinterpret_cast<const sockaddr_in6&>(address).sin6_port;
  return 0;
}

}  // namespace

void give_channel(int fd) {
  if (fd < 0) return;
  const runtime_scope scope;
  table().takers.erase(fd);
  table().channels[fd] = descriptor_table::new_channel();
}

void share_channel(int fd, int other) {
  if (fd < 0) return;
  const runtime_scope scope;
  table().takers.erase(fd);
  const auto found = table().channels.find(other);
  if (found == table().channels.end()) {
    table().channels.erase(fd);
  } else {
    table().channels[fd] = found->second;
  }
}

void forget_descriptor(int fd) {
  const runtime_scope scope;
  descriptor_table& all = table();
  all.channels.erase(fd);
  if (all.timers.erase(fd) != 0) find_next_timer();
  all.watched.erase(fd);
  for (auto& [epoll, watched] : all.watched) {
    std::erase_if(watched, [fd](const watched_descriptor& w) { return w.fd == fd; });
  }
}

void take_file_from(int fd) {
  const runtime_scope scope;
  channel*& taker = table().takers[fd];
  if (taker == nullptr) taker = descriptor_table::new_channel();
  add_to(taker);
}

void learn_who_took_file(int fd) {
  const runtime_scope scope;
  const auto found = table().takers.find(fd);
  if (found != table().takers.end()) acquire(found->second);
}

void read_from(int fd) {
  const runtime_scope scope;
  acquire(table().of(fd));
  hand_on_as_reader(table().of(fd));
}

void write_to(int fd) {
  const runtime_scope scope;
  add_to(table().of(fd));
}

void learn_from_readers(int fd) {
  const runtime_scope scope;
  acquire_as_writer(table().of(fd));
}

void announce_listener() {
  const runtime_scope scope;
  add_to(table().others);
}

void remember_client(int fd) {
  const std::uint16_t port = port_of(fd, SYS_getsockname);
  if (port == 0) return;
  give_channel(fd);
  const runtime_scope scope;
  acquire(table().others);
  table().clients[port] = table().of(fd);
}

void join_client(int accepted) {
  const std::uint16_t port = port_of(accepted, SYS_getpeername);
  const runtime_scope scope;
  descriptor_table& all = table();
  all.takers.erase(accepted);
  all.channels.erase(accepted);
  if (const auto client = all.clients.find(port); port != 0 && client != all.clients.end()) {
    all.channels[accepted] = client->second;
  }
  acquire(all.of(accepted));
}

// --- waiting ---------------------------------------------------------------------------------------------------------

long poll_kernel(pollfd* polled, nfds_t count, int milliseconds) noexcept {
  timespec limit{milliseconds / 1000, milliseconds % 1000 * 1'000'000L};
  return system_call(SYS_ppoll, polled, count, milliseconds < 0 ? nullptr : &limit, nullptr, 0);
}

namespace {

[[nodiscard]] bool is_ready(const thread& t) noexcept { return poll_kernel(t.polled, t.polled_count, 0) != 0; }

}  // namespace

bool wait_for_descriptors(pollfd* polled, nfds_t count, const void* code, std::uint64_t deadline) {
  self->polled = polled;
  self->polled_count = count;
  return block(wait_kind::descriptor, nullptr, code, deadline);
}

void descriptors_have_changed() { wake_if(wait_kind::descriptor, is_ready); }

bool descriptors_change_late() {
  // What goes over the loopback interface is mostly there when send() returns; not always on a busy machine.
  constexpr int moments = 50;
  constexpr int milliseconds = 2;
  for (int i = 0; i != moments; ++i) {
    if (wake_if(wait_kind::descriptor, is_ready)) return true;
    poll_kernel(nullptr, 0, milliseconds);
  }
  return false;
}

// --- epoll -----------------------------------------------------------------------------------------------------------

void note_epoll_control(int epoll, int operation, int fd, const epoll_event* event) {
  const runtime_scope scope;
  std::vector<watched_descriptor>& watched = table().watched[epoll];
  if (operation != EPOLL_CTL_ADD) {
    std::erase_if(watched, [fd](const watched_descriptor& w) { return w.fd == fd; });
  }
  if (operation != EPOLL_CTL_DEL) watched.push_back({fd, event->data.u64});
  add_to(table().of(epoll));
}

void learn_from_events(int epoll, const epoll_event* events, int count) {
  if (count <= 0) return;
  const runtime_scope scope;
  acquire(table().of(epoll));
  const std::vector<watched_descriptor>& watched = table().watched[epoll];
  for (int i = 0; i != count; ++i) {
    for (const watched_descriptor& w : watched) {
      if (w.tag != events[i].data.u64) continue;
      acquire(table().of(w.fd));
      if ((events[i].events & EPOLLOUT) != 0) acquire_as_writer(table().of(w.fd));
    }
  }
}

// --- timers of the virtual clock -------------------------------------------------------------------------------------

void make_timer(int fd, int clock) {
  const runtime_scope scope;
  table().timers[fd].clock = clock;
}

bool is_timer(int fd) noexcept { return table().timers.contains(fd); }

void get_timer(int fd, itimerspec& to) {
  const timer& t = table().timers[fd];
  const std::uint64_t left = t.ends == 0 ? 0 : t.ends - std::min(t.ends, clock_now());
  to = {to_timespec(t.again_after), to_timespec(left)};
}

void set_timer(int fd, bool is_absolute, const itimerspec& to, itimerspec* before) {
  const runtime_scope scope;
  if (before != nullptr) get_timer(fd, *before);
  std::uint64_t counted = 0;
  pollfd polled{fd, POLLIN, 0};
  if (poll_kernel(&polled, 1, 0) == 1) system_call(SYS_read, fd, &counted, sizeof counted);
  timer& t = table().timers[fd];
  t.again_after = to_nanoseconds(to.it_interval);
  const bool is_set = to.it_value.tv_sec != 0 || to.it_value.tv_nsec != 0;
  t.ends = !is_set ? 0 : is_absolute ? deadline_of(t.clock, to.it_value) : deadline_after(to.it_value);
  find_next_timer();
}

void end_timers(std::uint64_t now) {
  bool has_ended = false;
  for (auto& [fd, t] : table().timers) {
    if (t.ends == 0 || t.ends > now) continue;
    const std::uint64_t times = t.again_after == 0 ? 1 : 1 + (now - t.ends) / t.again_after;
    t.ends = t.again_after == 0 ? 0 : t.ends + times * t.again_after;
    system_call(SYS_write, fd, &times, sizeof times);
    has_ended = true;
  }
  find_next_timer();
  if (has_ended) descriptors_have_changed();
}

}  // namespace runq::model::explore
