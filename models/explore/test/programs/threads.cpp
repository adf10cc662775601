// SPDX-License-Identifier: MIT
// What the runtime carries out itself, in one program that is right: thread_local variables, exceptions, keys, local
// static variables, std::call_once, condition variables, barriers, semaphores, readers and writers, timed waits,
// sleeping (in virtual time: the hours below take none), std::atomic::wait, detached threads, random numbers, and the
// processors on which a thread may run.
// check: passes
#include <array>
#include <atomic>
#include <barrier>
#include <cassert>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <random>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

using namespace std::chrono_literals;

std::atomic<int> destroyed{0};

struct counted {
  int value = 1;
  ~counted() { destroyed.fetch_add(1, std::memory_order::relaxed); }
};
thread_local counted mine;
thread_local std::string name = "nobody";

void thread_locals_and_exceptions() {
  std::vector<std::thread> threads;
  for (int i = 0; i != 3; ++i) {
    threads.emplace_back([i] {
      mine.value += i;
      name = "thread " + std::to_string(i);
      assert(std::isspace(name[6]) != 0);  // by the tables of its locale
      try {
        throw std::runtime_error(name);
      } catch (const std::exception& e) {
        assert(e.what() == name);
      }
      assert(mine.value == 1 + i);
    });
  }
  for (std::thread& t : threads) t.join();
  assert(destroyed.load(std::memory_order::relaxed) == 3);
}

int made = 0;
int* the_only() {
  static int* const only = new int(++made);
  return only;
}
void once() {
  static std::once_flag flag;
  static int calls = 0;
  std::array<std::thread, 3> threads;
  for (std::thread& t : threads) {
    t = std::thread([] {
      assert(*the_only() == 1);
      std::call_once(flag, [] { ++calls; });
      assert(calls == 1);
    });
  }
  for (std::thread& t : threads) t.join();
  delete the_only();
}

void waiting() {
  std::mutex m;
  std::condition_variable c;
  int turn = 0;
  std::thread other([&] {
    std::unique_lock lock(m);
    c.wait(lock, [&] { return turn == 1; });
    turn = 2;
    c.notify_all();
  });
  {
    std::unique_lock lock(m);
    turn = 1;
    c.notify_all();
    c.wait(lock, [&] { return turn == 2; });
    // Nobody wakes this one: it ends by its time.
    assert(!c.wait_for(lock, 2h, [&] { return turn == 3; }));
  }
  other.join();

  std::atomic<int> flag{0};
  std::thread waker([&] {
    std::this_thread::sleep_for(1h);
    flag.store(1, std::memory_order::release);
    flag.notify_one();
  });
  flag.wait(0, std::memory_order::acquire);
  waker.join();

  const auto before = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(3h);
  assert(std::chrono::steady_clock::now() - before >= 3h);
}

void meeting() {
  int plain[3] = {};
  std::barrier meet(3);
  pthread_barrier_t also;
  pthread_barrier_init(&also, nullptr, 3);
  std::array<std::thread, 3> threads;
  for (int i = 0; i != 3; ++i) {
    threads[static_cast<std::size_t>(i)] = std::thread([&, i] {
      plain[i] = 1;
      meet.arrive_and_wait();
      assert(plain[0] + plain[1] + plain[2] == 3);
      pthread_barrier_wait(&also);
      if (i == 0) plain[1] = 7;
      pthread_barrier_wait(&also);
      assert(plain[1] == 7);
    });
  }
  for (std::thread& t : threads) t.join();
  pthread_barrier_destroy(&also);

  sem_t items;
  sem_init(&items, 0, 0);
  int box = 0;
  std::thread producer([&] {
    box = 5;
    sem_post(&items);
  });
  sem_wait(&items);
  assert(box == 5);
  producer.join();
  sem_destroy(&items);

  std::shared_mutex lock;
  int shared = 0;
  std::thread writer([&] {
    const std::unique_lock hold(lock);
    ++shared;
  });
  std::thread reader([&] {
    const std::shared_lock hold(lock);
    assert(shared >= 0 && shared <= 2);
  });
  {
    const std::unique_lock hold(lock);
    ++shared;
  }
  writer.join();
  reader.join();
  assert(shared == 2);

  std::promise<int> promised;
  std::thread keeper([&] { promised.set_value(9); });
  assert(promised.get_future().get() == 9);
  keeper.join();

  static std::atomic<bool> done{false};
  std::thread([] { done.store(true, std::memory_order::release); }).detach();
  while (!done.load(std::memory_order::acquire)) std::this_thread::yield();
}

std::atomic<int> freed_values{0};
void keys() {
  pthread_key_t key;
  pthread_key_create(&key, [](void* p) {
    delete static_cast<int*>(p);
    freed_values.fetch_add(1, std::memory_order::relaxed);
  });
  std::thread([&] { pthread_setspecific(key, new int(3)); }).join();
  assert(pthread_getspecific(key) == nullptr && freed_values.load(std::memory_order::relaxed) == 1);
  pthread_key_delete(key);

  std::recursive_timed_mutex twice;
  const std::lock_guard first(twice);
  const std::lock_guard second(twice);
  std::thread([&] { assert(!twice.try_lock_for(1h)); }).join();
  assert(std::random_device{}() != std::random_device{}());
}

void processors() {
  std::thread([] {
    cpu_set_t third;
    CPU_ZERO(&third);
    CPU_SET(2, &third);
    assert(sched_setaffinity(0, sizeof third, &third) == 0);
    std::thread([&] {
      cpu_set_t mine;
      assert(pthread_getaffinity_np(pthread_self(), sizeof mine, &mine) == 0);
      assert(CPU_EQUAL(&mine, &third) && sched_getcpu() == 2);
    }).join();
  }).join();
  cpu_set_t all;
  assert(sched_getaffinity(0, sizeof all, &all) == 0 && CPU_COUNT(&all) == 4);
}

int main() {
  processors();
  thread_locals_and_exceptions();
  once();
  waiting();
  meeting();
  keys();
}
