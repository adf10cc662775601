// SPDX-License-Identifier: MIT
// Files that an execution leaves open are closed before the next one: each execution opens files with the same numbers,
// and there are as many as ever.
// check: exhaustive, 90 executions
#include <atomic>
#include <cassert>
#include <cstdio>
#include <thread>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

std::atomic<int> steps{0};

void step() {
  ++steps;
  ++steps;
}

int main() {
  constexpr rlim_t most_files = 24;
  rlimit few{};
  getrlimit(RLIMIT_NOFILE, &few);
  few.rlim_cur = most_files;
  setrlimit(RLIMIT_NOFILE, &few);
  const int event = eventfd(0, EFD_NONBLOCK);
  assert(event >= 0);
  eventfd_t count = 0;
  assert(eventfd_read(event, &count) != 0);  // it is a new one
  assert(eventfd_write(event, 1) == 0);
  assert(open("/dev/null", O_RDONLY) == event + 1);
  std::FILE* const file = std::fopen("/dev/null", "r");
  assert(file != nullptr && fileno(file) == event + 2);
  assert(dup(event) == event + 3);
  std::thread a(step);
  std::thread b(step);
  std::thread c(step);
  a.join();
  b.join();
  c.join();
  assert(steps == 6);
  std::fclose(file);
}
