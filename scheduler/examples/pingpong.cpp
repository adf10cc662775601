// SPDX-License-Identifier: MIT
// Two tasks hand a number back and forth over two channels, and each adds one.
#include <chrono>
#include <cstdio>

#include <runq/runq.hpp>

constexpr int rounds = 100'000;

runq::task<> pong(runq::channel<int>& in, runq::channel<int>& out) {
  while (const auto n = co_await in.receive()) co_await out.send(*n + 1);
  out.close();
}

runq::task<int> ping() {
  runq::channel<int> there;
  runq::channel<int> back;
  runq::go(pong(there, back), "pong");
  int n = 0;
  for (int i = 0; i != rounds; ++i) {
    co_await there.send(n + 1);
    n = *co_await back.receive();
  }
  there.close();
  while (co_await back.receive()) {
  }
  co_return n;
}

int main() {
  const auto begin = std::chrono::steady_clock::now();
  const int n = runq::run(ping());
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  std::printf("%d after %d rounds, %.0f ns each\n", n, rounds, took.count() / rounds);
  return n == 2 * rounds ? 0 : 1;
}
