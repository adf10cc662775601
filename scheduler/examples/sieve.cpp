// SPDX-License-Identifier: MIT
// Finds prime numbers with a chain of tasks. Each task has a prime, and passes on the numbers that its prime does not
// divide. From C. A. R. Hoare, "Communicating Sequential Processes" (1978), which credits M. D. McIlroy with it.
#include <cstdio>
#include <memory>

#include <runq/runq.hpp>

using numbers = std::shared_ptr<runq::channel<int>>;

runq::task<> generate(numbers out) {
  for (int n = 2;; ++n) co_await out->send(n);
}

runq::task<> filter(numbers in, numbers out, int prime) {
  while (const auto n = co_await in->receive()) {
    if (*n % prime != 0) co_await out->send(*n);
  }
}

runq::task<> sieve() {
  auto from = std::make_shared<runq::channel<int>>();
  runq::go(generate(from), "generate");
  for (int i = 0; i != 20; ++i) {
    const int prime = *co_await from->receive();
    std::printf("%d%c", prime, i == 19 ? '\n' : ' ');
    auto filtered = std::make_shared<runq::channel<int>>();
    runq::go(filter(from, filtered, prime), "filter");
    from = filtered;
  }
}

int main() { runq::run(sieve()); }
