// SPDX-License-Identifier: MIT
// Threads that wait for descriptors: in virtual time, and never in the kernel. What a thread has done before it writes,
// those know that read it; two that write know nothing of each other. Who calls with a number that has lost its file
// knows what was done before; who calls with a number that was given out again does not.
// check -DWAY=0: passes
// check -DWAY=1: FAIL deadlock
// check -DWAY=2: FAIL data race
// check -DWAY=3: FAIL deadlock
// check -DWAY=4: FAIL data race
// check -DWAY=5: FAIL data race
// check -DWAY=6: FAIL data race
#include <array>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

struct ends {
  int read = -1;
  int write = -1;
  ends() {
    int fds[2];
    assert(pipe2(fds, O_CLOEXEC) == 0);
    read = fds[0];
    write = fds[1];
  }
  ~ends() {
    close(read);
    close(write);
  }
};

void a_pipe_hands_on() {
  ends p;
  int plain = 0;
  std::thread writer([&] {
    plain = 1;
    assert(write(p.write, "x", 1) == 1);
  });
  char c = 0;
  assert(read(p.read, &c, 1) == 1 && c == 'x' && plain == 1);
  writer.join();
}

/// More than a pipe holds: the writer waits for the reader.
void a_full_pipe() {
  ends p;
  assert(fcntl(p.write, F_SETPIPE_SZ, 4096) == 4096);
  const std::string sent(20'000, 'y');
  std::thread writer([&] {
    const iovec parts[2] = {{const_cast<char*>(sent.data()), 7}, {const_cast<char*>(sent.data()) + 7, sent.size() - 7}};
    assert(writev(p.write, parts, 2) == static_cast<ssize_t>(sent.size()));
    close(p.write);
    p.write = -1;
  });
  std::string received;
  std::array<char, 5000> part;
  for (ssize_t n = 0; (n = read(p.read, part.data(), part.size())) > 0;) {
    received.append(part.data(), static_cast<std::size_t>(n));
  }
  assert(received == sent);
  writer.join();
}

void connections() {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  assert(bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0 && listen(listener, 4) == 0);
  assert(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  int plain = 0;
  std::thread client([&] {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    plain = 5;
    assert(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    char answer = 0;
    assert(recv(fd, &answer, 1, 0) == 1 && answer == 'a' && plain == 6);
    shutdown(fd, SHUT_WR);
    close(fd);
  });
  const int fd = accept(listener, nullptr, nullptr);
  assert(fd >= 0 && plain == 5);
  plain = 6;
  assert(send(fd, "a", 1, MSG_NOSIGNAL) == 1);
  char nothing = 0;
  assert(recv(fd, &nothing, 1, 0) == 0);
  client.join();
  close(fd);
  close(listener);
}

void many_at_a_time() {
  ends first;
  ends second;
  int plain[2] = {};
  std::thread a([&] {
    plain[0] = 1;
    assert(write(first.write, "1", 1) == 1);
  });
  std::thread b([&] {
    plain[1] = 1;
    assert(write(second.write, "2", 1) == 1);
  });
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  for (const int fd : {first.read, second.read}) {
    epoll_event wanted{};
    wanted.events = EPOLLIN | EPOLLET;
    wanted.data.fd = fd;
    assert(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &wanted) == 0);
  }
  for (int seen = 0; seen != 2;) {
    epoll_event found[2];
    const int n = epoll_wait(epoll, found, 2, -1);
    assert(n >= 1);
    for (int i = 0; i != n; ++i) assert(plain[found[i].data.fd == first.read ? 0 : 1] == 1);
    seen += n;
  }
  pollfd both[2] = {{first.read, POLLIN, 0}, {second.read, POLLIN, 0}};
  assert(poll(both, 2, -1) == 2);
  fd_set set;
  FD_ZERO(&set);
  FD_SET(first.read, &set);
  timeval limit{3600, 0};
  assert(select(first.read + 1, &set, nullptr, nullptr, &limit) == 1 && FD_ISSET(first.read, &set));
  a.join();
  b.join();
  close(epoll);
}

void counters_and_timers() {
  const int event = eventfd(0, EFD_CLOEXEC);
  int plain = 0;
  std::thread waker([&] {
    plain = 3;
    eventfd_write(event, 2);
  });
  eventfd_t count = 0;
  assert(eventfd_read(event, &count) == 0 && count == 2 && plain == 3);
  waker.join();
  assert(fcntl(event, F_SETFL, O_NONBLOCK) == 0);
  assert(read(event, &count, sizeof count) == -1 && errno == EAGAIN);

  // Hours, which take no time.
  const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  const itimerspec in_hours{{3600, 0}, {7200, 0}};
  assert(timerfd_settime(timer, 0, &in_hours, nullptr) == 0);
  const auto before = clock_type::now();
  std::uint64_t ended = 0;
  assert(read(timer, &ended, sizeof ended) == sizeof ended && ended >= 1);
  assert(clock_type::now() - before >= 2h);
  pollfd nothing{event, POLLIN, 0};
  assert(poll(&nothing, 1, 3'600'000) == 0);
  assert(clock_type::now() - before >= 3h);
  close(timer);
  close(event);
}

/// Reads, again and again, until there is another error than that nothing was written.
int error_of_read(int fd) {
  char c = 0;
  while (read(fd, &c, 1) == -1 && errno == EAGAIN) std::this_thread::yield();
  return errno;
}

void a_number_loses_its_file() {
  ends p;
  const int unreadable = epoll_create1(EPOLL_CLOEXEC);
  assert(fcntl(p.read, F_SETFL, O_NONBLOCK) == 0);
  int replaced = 0;
  int closed = 0;
  std::thread other([&] {
    replaced = 1;
    assert(dup3(unreadable, p.read, O_CLOEXEC) == p.read);
  });
  assert(error_of_read(p.read) == EINVAL && replaced == 1);
  other.join();
  std::thread another([&] {
    closed = 1;
    close(unreadable);
  });
  pollfd polled{unreadable, POLLIN, 0};
  while (poll(&polled, 1, 0) == 0) std::this_thread::yield();
  assert((polled.revents & POLLNVAL) != 0 && closed == 1);
  another.join();
}

volatile std::sig_atomic_t rung = 0;
void an_alarm() {
  std::signal(SIGALRM, [](int) { rung = 1; });
  assert(alarm(7200) == 0);
  std::this_thread::sleep_for(1h);
  assert(rung == 0);
  std::this_thread::sleep_for(2h);
  assert(rung == 1);
  assert(alarm(3600) == 0 && alarm(0) > 0);
}

int main() {
  if (WAY == 0) {
    a_pipe_hands_on();
    a_full_pipe();
    connections();
    many_at_a_time();
    counters_and_timers();
    a_number_loses_its_file();
    an_alarm();
    return 0;
  }
  ends p;
  char c = 0;
  int plain = 0;
  if (WAY == 1) return static_cast<int>(read(p.read, &c, 1));  // nobody writes
  if (WAY == 2) {
    // It is written behind the message.
    std::thread writer([&] {
      assert(write(p.write, "x", 1) == 1);
      plain = 1;
    });
    assert(read(p.read, &c, 1) == 1);
    plain = 2;
    writer.join();
  }
  if (WAY == 3) {
    // The other one waits for what comes only behind its own message.
    ends back;
    std::thread other([&] {
      char d = 0;
      assert(read(p.read, &d, 1) == 1 && write(back.write, "y", 1) == 1);
    });
    assert(read(back.read, &c, 1) == 1);
    other.join();
  }
  if (WAY == 4) {
    // Writers of one pipe learn nothing of each other.
    const auto write_both = [&] {
      ++plain;
      assert(write(p.write, "x", 1) == 1);
    };
    std::thread a(write_both);
    std::thread b(write_both);
    a.join();
    b.join();
  }
  if (WAY == 5) {
    // It is written when the number has lost its file.
    assert(fcntl(p.read, F_SETFL, O_NONBLOCK) == 0);
    const int unreadable = epoll_create1(EPOLL_CLOEXEC);
    std::thread other([&] {
      assert(dup3(unreadable, p.read, O_CLOEXEC) == p.read);
      plain = 1;
    });
    assert(error_of_read(p.read) == EINVAL);
    plain = 2;
    other.join();
  }
  if (WAY == 6) {
    // The numbers are those of another pipe.
    std::atomic<bool> are_closed{false};
    std::thread other([&] {
      plain = 1;
      close(p.read);
      close(p.write);
      are_closed.store(true, std::memory_order::relaxed);
    });
    while (!are_closed.load(std::memory_order::relaxed)) std::this_thread::yield();
    const ends again;
    assert(again.read == p.read && again.write == p.write);
    assert(write(again.write, "x", 1) == 1 && read(again.read, &c, 1) == 1);
    plain = 2;
    other.join();
  }
}
