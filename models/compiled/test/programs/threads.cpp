// SPDX-License-Identifier: MIT
// Threads: they start others, end, and are joined or not.
// Each program has a macro, which stands first in its lines `// check`.
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <exception>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

#if defined(STARTED)

// Threads that start threads, while main() goes on; nine at once.
// check -DSTARTED: exhaustive
// check -DSTARTED -DRACE: FAIL data race
// check -DSTARTED -DNINE: exhaustive, 1 execution
// check -DSTARTED -DNOT_JOINED: FAIL crash
// check -DSTARTED -DSELF: FAIL
// check -DSTARTED -DOWN_HANDLE: exhaustive
// check -DSTARTED -DENDED: FAIL data race
// check -DSTARTED -DENDED -DTOLD: exhaustive, 1 execution, +0 blocked
// check -DSTARTED -DENDED -DDETACHED: FAIL data race
// check -DSTARTED -DENDED -DDETACHED -DTOLD: exhaustive, 1 execution, +0 blocked

int data[16];
std::atomic<int> done{0};

int main() {
#if defined(NINE)
  std::thread all[9];
  for (int i = 0; i != 9; ++i) all[i] = std::thread([i] { data[i] = i; });
  for (std::thread& t : all) t.join();
  for (int i = 0; i != 9; ++i) assert(data[i] == i);
#elif defined(NOT_JOINED)
  const std::thread forgotten([] { data[0] = 1; });
#elif defined(SELF)
  std::thread t;
  t = std::thread([&t] { t.join(); });
  t.join();
#elif defined(OWN_HANDLE)
  // The end of the constructor synchronizes with the beginning of the thread [thread.thread.constr].
  std::thread t([&t] { assert(t.get_id() == std::this_thread::get_id()); });
  t.join();
#elif defined(ENDED)
  // The other thread has ended before main() writes. Only what main() has read of it, or a join, orders the two.
#ifdef TOLD
  constexpr auto say = std::memory_order::release, hear = std::memory_order::acquire;
#else
  constexpr auto say = std::memory_order::relaxed, hear = std::memory_order::relaxed;
#endif
  std::thread t([] {
    data[0] = 1;
    done.store(1, say);
  });
#ifdef DETACHED
  t.detach();
#endif
  while (done.load(hear) == 0) continue;
  data[0] = 2;
#ifndef DETACHED
  t.join();
#endif
#else
  std::thread parent([] {
    data[0] = 1;
    std::thread child([] {
      assert(data[0] == 1);
      data[1] = 2;
      done.fetch_add(1);
    });
    done.fetch_add(1);
    child.join();
    assert(data[1] == 2);
  });
  done.fetch_add(1);
#ifdef RACE
  data[1] = 3;
#endif
  parent.join();
  assert(done.load() == 3);
#endif
}

#elif defined(AT_ITS_END)

// What a thread does when it ends, after its thread_local variables are destroyed. The wrong twins do it before that.
// check -DAT_ITS_END -DVALUE: passes
// check -DAT_ITS_END -DVALUE -DWRONG: FAIL
// check -DAT_ITS_END -DVALUE -DEXCEPTION: passes
// check -DAT_ITS_END -DVALUE -DTASK: passes
// check -DAT_ITS_END -DVALUE -DTASK -DWRONG: FAIL data race
// check -DAT_ITS_END -DVALUE -DABANDONED: passes
// check -DAT_ITS_END -DNOTIFY: passes
// check -DAT_ITS_END -DNOTIFY -DWRONG: FAIL data race

int written = 0;

struct last {
  void touch() {}
  ~last() { written = 1; }
};

// The destructor of this variable writes after the thread's function has returned.
void write_at_the_end() {
  thread_local last at_end;
  at_end.touch();
}

int main() {
#if defined(VALUE) && defined(TASK)
  std::packaged_task<int()> task([] {
    write_at_the_end();
    return 1;
  });
  std::future<int> result = task.get_future();
  std::thread t([&task] {
#ifdef WRONG
    task();
#else
    task.make_ready_at_thread_exit();
#endif
  });
  assert(result.get() == 1 && written == 1);
  t.join();
#elif defined(VALUE)
  std::promise<int> promise;
  std::future<int> result = promise.get_future();
  std::thread t([p = std::move(promise)]() mutable {
    write_at_the_end();
#if defined(WRONG)
    p.set_value(1);
#elif defined(EXCEPTION)
    p.set_exception_at_thread_exit(std::make_exception_ptr(1));
#else
    p.set_value_at_thread_exit(1);
#endif
  });
#if defined(EXCEPTION)
  try {
    result.get();
    assert(false);
  } catch (int value) {
    assert(value == 1 && written == 1);
  }
#elif defined(ABANDONED)
  // Nobody is left who wants to know.
  result = {};
#else
  assert(result.get() == 1 && written == 1);
#endif
  t.join();
#elif defined(NOTIFY)
  std::mutex m;
  std::condition_variable changed;
  bool ready = false;
  std::thread t([&] {
    write_at_the_end();
    std::unique_lock lock(m);
    ready = true;
#ifndef WRONG
    std::notify_all_at_thread_exit(changed, std::move(lock));
#else
    changed.notify_all();
#endif
  });
  {
    std::unique_lock lock(m);
    while (!ready) changed.wait(lock);
    assert(written == 1);
  }
  t.join();
#endif
}

#elif defined(NOT_JOINED_YET)

// A thread that has ended and is not joined is still beside the others. A wait undoes nothing that its thread did
// before.
// check -DNOT_JOINED_YET: passes
// check -DNOT_JOINED_YET -DRELAXED: FAIL assertion
// check -DNOT_JOINED_YET -DPOLLED: passes

#ifdef POLLED
std::mutex m;
bool ready = false;
std::atomic<bool> done{false};

int main() {
  std::thread setter([] {
    {
      const std::lock_guard lock(m);
      ready = true;
    }
    while (!done.load(std::memory_order::acquire)) {
    }
  });
  for (bool seen = false; !seen;) {
    const std::lock_guard lock(m);
    seen = ready;
  }
  done.store(true, std::memory_order::release);
  setter.join();
}
#else
#ifdef RELAXED
constexpr auto order = std::memory_order::relaxed;
#else
constexpr auto order = std::memory_order::seq_cst;
#endif
std::atomic<int> x{0};
std::atomic<int> y{0};
int seen_by_first = 0;

int main() {
  std::thread first([] {
    x.store(1, order);
    seen_by_first = y.load(order);
  });
  // The search comes to main's accesses when both threads have ended.
  std::thread second([] {});
  second.join();
  y.store(1, order);
  const int seen = x.load(order);
  first.join();
  assert(seen == 1 || seen_by_first == 1);
}
#endif

#else
#error "which program?"

#endif
