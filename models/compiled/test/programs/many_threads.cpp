// SPDX-License-Identifier: MIT
// More threads than the library for few has: 20 with main()'s own, each with a variable of its own.
// check alone --threads 20: exhaustive, 1 execution
// check alone --threads 30 -DRACE: FAIL data race
// check alone: limit reached: 14 threads, the one of main() included; runq-check --threads 30 allows more
// check alone --threads 30 -DMORE: limit reached: 30 threads, the one of main() included; make the program smaller
#include <array>
#include <thread>

#ifdef MORE
constexpr int others = 30;
#else
constexpr int others = 19;
#endif
#ifdef RACE
constexpr int values = others - 1;
#else
constexpr int values = others;
#endif

std::array<int, values> value{};

int main() {
  std::array<std::thread, others> threads;
  for (int i = 0; i != others; ++i) {
    threads[i] = std::thread([i] { value[i % values] = i; });
  }
  for (std::thread& t : threads) t.join();
}
