// SPDX-License-Identifier: MIT
// A thread spins until it is done, beside one that ticks: it sleeps, counts its ticks, and sleeps again. Nobody ends
// the spinning (WAY 1), so the program does not end, although a variable changes for ever. In the right twins somebody
// does: the ticker itself (2); the spinner, which reads how often it has ticked (3); a worker that does not sleep (4);
// a thread that the ticker notifies (5); the ticker, after many ticks that are short (6). For power_test.py, which
// makes few runs of few steps.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <sched.h>

constexpr unsigned few = 8'000;       // ticks
constexpr unsigned many = 30'000;     // ticks
constexpr unsigned work = 5'000'000;  // steps
constexpr unsigned calls = 100;       // one in `few / 10` ticks
constexpr unsigned short_ticks = 20'000;

std::atomic<bool> is_done{false};
std::atomic<bool> stops{false};
std::atomic<unsigned> ticks{0};
std::mutex lock;
std::condition_variable called;
unsigned times_called = 0;

void tick() {
  for (unsigned i = 1; !stops.load(std::memory_order_relaxed); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(WAY == 6 ? 1 : 20));
    ticks.store(i, std::memory_order_relaxed);
    if ((WAY == 2 && i == few) || (WAY == 6 && i == short_ticks)) is_done.store(true, std::memory_order_relaxed);
    if (WAY != 5 || i % (few / 10) != 0) continue;
    std::lock_guard held(lock);
    ++times_called;
    called.notify_one();
  }
}

void help() {
  if (WAY == 4) {
    static std::atomic<unsigned> steps{0};
    while (steps.fetch_add(1, std::memory_order_relaxed) != work) continue;
  }
  if (WAY == 5) {
    std::unique_lock held(lock);
    while (times_called < calls) called.wait(held);
  }
  if (WAY == 4 || WAY == 5) is_done.store(true, std::memory_order_relaxed);
}

int main() {
  std::thread ticker(tick);
  std::thread helper(help);
  while (!is_done.load(std::memory_order_relaxed)) {
    if (WAY == 3 && ticks.load(std::memory_order_relaxed) >= many) break;
    sched_yield();
  }
  stops.store(true, std::memory_order_relaxed);
  ticker.join();
  helper.join();
}
