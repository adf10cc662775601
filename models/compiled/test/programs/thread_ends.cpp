// SPDX-License-Identifier: MIT
// What a thread does when it ends, after its thread_local variables are destroyed. The wrong twins do it before that.
// check -DVALUE: passes
// check -DVALUE -DWRONG: FAIL
// check -DVALUE -DEXCEPTION: passes
// check -DVALUE -DTASK: passes
// check -DVALUE -DTASK -DWRONG: FAIL data race
// check -DVALUE -DABANDONED: passes
// check -DNOTIFY: passes
// check -DNOTIFY -DWRONG: FAIL data race
#include <cassert>
#include <condition_variable>
#include <exception>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

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
