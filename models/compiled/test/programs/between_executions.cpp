// SPDX-License-Identifier: MIT
// What an execution leaves behind, the next one does not find.
// Each program has a macro, which stands first in its lines `// check`. The last program has none.
#include <atomic>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(USUAL_CODE)

// Usual code in many executions, one after the other: each must begin like the first.
// check -DUSUAL_CODE: passes

struct base {
  virtual ~base() = default;
  virtual int value() const { return 1; }
};
struct derived final : base {
  int value() const override { return 2; }
};

std::vector<int> global_vector{1, 2, 3};
std::map<std::string, int> global_map{{"one", 1}};
std::atomic<int> shared{0};
std::atomic<int> destroyed{0};

struct counted {
  counted() { live = 1; }
  ~counted() { destroyed.fetch_add(1, std::memory_order::relaxed); }
  int live = 0;
};
thread_local counted of_thread;
thread_local int plain_of_thread = 5;

const std::string& once() {
  static const std::string text(40, 'x');
  return text;
}

int main() {
  assert(global_vector.size() == 3);
  global_vector.push_back(4);
  assert(global_map.size() == 1);
  global_map["two"] = 2;
  assert(++plain_of_thread == 6);
  const std::shared_ptr<base> object = std::make_shared<derived>();
  const auto work = [object](int i) {
    assert(++plain_of_thread == 6);
    assert(of_thread.live == 1);
    assert(object->value() == 2);
    assert(once().size() == 40);
    try {
      if (shared.fetch_add(1) >= 0) throw std::runtime_error(std::to_string(i));
    } catch (const std::exception& e) {
      assert(e.what() == std::to_string(i));
    }
  };
  std::thread a(work, 1);
  std::thread b(work, 2);
  a.join();
  b.join();
  assert(destroyed.load() == 2);
  std::printf("%d\n", shared.load());
  std::cout << "a text " << 1.5 << std::endl;
}

#elif defined(MAPPED)

// Memory that the program maps itself is zero, lies at the same address in each execution, and is judged as other
// memory is.
// check -DMAPPED: exhaustive, 2 executions
// check -DMAPPED -DRACE: FAIL in execution 1: data race
// check -DMAPPED -DGONE: FAIL in execution 1: use after free

constexpr std::size_t bytes = 8192;

struct shared {
  std::atomic<int> count{0};
  int plain;
};

int main() {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert(memory != MAP_FAILED);
  auto* const at = ::new (memory) shared;
  assert(static_cast<int*>(memory)[2] == 0);
  munmap(static_cast<std::byte*>(memory) + bytes / 2, bytes / 2);  // a part
  const auto add = [at] {
    ++at->count;
#ifdef RACE
    ++at->plain;
#endif
  };
  std::thread other(add);
  add();
#ifdef GONE
  munmap(memory, bytes);
#endif
  other.join();
#ifndef GONE
  assert(at->count == 2);
  munmap(memory, bytes);
#endif
}

#elif defined(FILES)

// Files that an execution leaves open are closed before the next one: each execution opens files with the same numbers,
// and there are as many as ever.
// check -DFILES: exhaustive, 90 executions

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

#else

// What an execution leaves behind, the next one does not find: memory, keys, the time that has passed, exit
// handlers, and threads that nobody has joined.
// check -DMEMORY: exhaustive, 2 executions
// check -DKEYS: exhaustive
// check -DKEYS -DWRONG: FAIL misuse: a key is deleted after
// check -DTIME --timeouts 0: passes
// check -DTIME -DWRONG --timeouts 0: FAIL check failed
// check -DHANDLERS: exhaustive
// check -DHANDLERS --waits-in-place off: exhaustive
// check -DHANDLERS -DWRONG: FAIL check failed
// check -DUNJOINED --waits-in-place off: exhaustive, 1 execution, +1 blocked
// check -DUNJOINED -DWRONG: bounded; memory that is allocated again
// check -DJOINED: exhaustive, 1 execution

std::atomic<int> flag{0};

#if defined(MEMORY)
int count = 0;
int main() {
  assert(++count == 1);
  std::thread other([] { flag.store(1); });
  flag.load();
  other.join();
}
#elif defined(KEYS)
// A key that was there before main() is deleted in each execution.
pthread_key_t created() {
  pthread_key_t key = 0;
  pthread_key_create(&key, nullptr);
  return key;
}
const pthread_key_t key = created();
int main() {
  std::thread other([] { flag.store(1); });
  flag.load();
#ifdef WRONG
  pthread_key_delete(key);
#endif
  pthread_key_delete(key);
  other.join();
}
#elif defined(TIME)
// A thread sleeps in some executions only.
int main() {
  const auto begin = std::chrono::steady_clock::now();
  bool has_slept = false;
  std::thread other([&] {
    if (flag.load() == 0) return;
    std::this_thread::sleep_for(std::chrono::hours(1));
    has_slept = true;
  });
  flag.store(1);
  other.join();
  const auto passed = std::chrono::steady_clock::now() - begin;
#ifdef WRONG
  has_slept = true;
#endif
  assert((passed >= std::chrono::hours(1)) == has_slept);
}
#elif defined(HANDLERS)
// Executions that wait for another thread do not come to their handlers.
int ended = 0;
int main() {
  std::atexit([] { assert(++ended == 1); });
#ifdef WRONG
  std::atexit([] { assert(++ended == 1); });
#endif
  std::thread other([] { flag.store(1); });
  while (flag.load() == 0) {
  }
  other.join();
}
#elif defined(UNJOINED)
// Before the first thread starts, memory that is allocated again is no choice: nobody can tell.
int main() {
  delete new int;
  delete new int;
  std::thread other([] { flag.store(1); });
#ifdef WRONG
  delete new int;
  delete new int;
#endif
  while (flag.load() == 0) {
  }
  other.join();
}
#else
// Nor is it when all threads have been joined.
int main() {
  std::thread other([] {});
  other.join();
  delete new int;
  delete new int;
}
#endif

#endif
