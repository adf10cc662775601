// SPDX-License-Identifier: MIT
// The program's descriptors. The kernel has them, and carries out what it can carry out at once; who would have to wait
// for one waits in the scheduler, and is woken by what another thread does with a descriptor, or by the virtual clock.
#pragma once

#include <cstdint>

#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

namespace runq::model::explore {

/// What is done by way of a pipe, a connection, a pair of sockets, an event's counter or an epoll instance: its address
/// stands for what its writers hand on to its readers (locks.hpp).
struct channel {
  std::uint64_t unused;
};

/// A new descriptor has a channel of its own, or that of another descriptor.
void give_channel(int fd);
void share_channel(int fd, int other);
/// Its number may be used again.
void forget_descriptor(int fd);

/// The number has lost its file: what the running thread has done before, those know that call with the number later.
void take_file_from(int fd);
/// The running thread calls with the number, and knows what was done before it lost its file.
void learn_who_took_file(int fd);

/// What others have written there before, the running thread knows now.
void read_from(int fd);
/// What it has done, those know that read from there later.
void write_to(int fd);
/// There was no room for a while: readers have made it.
void learn_from_readers(int fd);

/// A client's connection, and the one that accept() returns for it.
void remember_client(int fd);
void join_client(int accepted);
void announce_listener();

/// The kernel's own poll(), for so long; -1 milliseconds: without a limit.
long poll_kernel(pollfd* polled, nfds_t count, int milliseconds) noexcept;

/// What the running thread waits for; false: it is not so before the deadline.
bool wait_for_descriptors(pollfd* polled, nfds_t count, const void* code, std::uint64_t deadline);
/// Somebody has done something with a descriptor: those who wait look again.
void descriptors_have_changed();
/// Nobody can go on. The system gets a moment of real time for what it has not delivered yet; whether somebody can.
bool descriptors_change_late();

// --- epoll -----------------------------------------------------------------------------------------------------------

void note_epoll_control(int epoll, int operation, int fd, const epoll_event* event);
/// epoll_pwait2(), without a mask of signals.
int wait_for_events(int epoll, epoll_event* events, int most, const timespec* limit, const void* code);
/// The events have been returned: what led to them is known now.
void learn_from_events(int epoll, const epoll_event* events, int count);

// --- timers of the virtual clock -------------------------------------------------------------------------------------

/// The descriptor of a counter counts the ends of a timer from now on.
void make_timer(int fd, int clock);
[[nodiscard]] bool is_timer(int fd) noexcept;
void set_timer(int fd, bool is_absolute, const itimerspec& to, itimerspec* before);
void get_timer(int fd, itimerspec& to);
/// When the next one ends; 0: none does.
extern std::uint64_t next_timer;
void end_timers(std::uint64_t now);

}  // namespace runq::model::explore
