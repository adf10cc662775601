// SPDX-License-Identifier: MIT
// A thread is told to stop and to wake: it sees that it has to stop.
#include <atomic>
#include <thread>

#include <boost/log/detail/event.hpp>

int main() {
  boost::log::aux::event event;
  std::atomic<bool> stop{false};
  std::thread waiter([&] {
    while (!stop.load(std::memory_order_relaxed)) event.wait();
  });
  std::thread other([&] { event.set_signalled(); });
  stop.store(true, std::memory_order_relaxed);
  event.set_signalled();
  waiter.join();
  other.join();
}
