// SPDX-License-Identifier: MIT
// What one operation costs: cost.py compiles this natively, with ThreadSanitizer and for the explorer. The arguments
// are the operation and how many times.
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

namespace {

std::atomic<long> shared{0};
volatile long plain[8];
std::mutex lock;

template <class Operation>
int by_two(long times, Operation operation) {
  const auto work = [=] {
    for (long i = 0; i != times; ++i) operation();
  };
  std::thread other(work);
  work();
  other.join();
  return 0;
}

}  // namespace

int main(int, char** arguments) {
  const std::string operation = arguments[1];
  const long times = std::atol(arguments[2]);
  if (operation == "load") return by_two(times, [] { static_cast<void>(shared.load(std::memory_order::acquire)); });
  if (operation == "add") return by_two(times, [] { shared.fetch_add(1, std::memory_order::acq_rel); });
  if (operation == "lock") return by_two(times, [] { const std::lock_guard hold(lock); });
  for (long i = 0; i != times; ++i) {
    if (operation[0] == 'w') plain[i % 8] = i;
    if (operation[0] == 't') std::thread([] {}).join();
    if (operation[0] == 'f') delete new long(i);
  }
}
