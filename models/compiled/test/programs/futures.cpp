// SPDX-License-Identifier: MIT
// Promises, packaged tasks and std::async; exceptions that one thread throws and another one catches.
// check -DFORM=1: passes
// check -DFORM=2: FAIL data race
// check -DFORM=3: passes
// check -DFORM=4: passes
// check -DFORM=5: FAIL data race
#include <cassert>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>

int data;

int main() {
#if FORM < 3
  std::promise<int> answer;
  std::future<int> waits = answer.get_future();
  std::thread giver([&answer] {
    if (FORM == 1) data = 3;
    answer.set_value(4);
    if (FORM == 2) data = 3;  // too late
  });
  assert(waits.get() == 4);
  assert(data == 3);
  giver.join();
#elif FORM == 3
  // The thread that gives up the last reference frees the exception object; the library's own code counts.
  std::packaged_task<int(int)> work([](int x) { return x == 0 ? throw 5 : x; });
  std::future<int> waits = work.get_future();
  std::thread worker(std::move(work), 0);
  int caught = 0;
  try {
    waits.get();
  } catch (int thrown) {
    caught = thrown;
  }
  assert(caught == 5);
  worker.join();
#elif FORM == 4
  std::future<int> waits = std::async(std::launch::async, []() -> int { throw std::runtime_error("no"); });
  std::string text;
  try {
    waits.get();
  } catch (const std::runtime_error& e) {
    text = e.what();
  }
  assert(text == "no");
#elif FORM == 5
  std::future<void> waits = std::async(std::launch::async, [] { data = 1; });
  data = 2;
  waits.get();
#endif
}
