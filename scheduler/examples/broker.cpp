// SPDX-License-Identifier: MIT
// A broker and its subscribers: a subscription ends in its destructor, also before a message that waits for it.
#include "broker.hpp"

#include <cstdio>
#include <optional>
#include <string>

namespace {

runq::task<> print_two(broker::subscription mine) {
  for (int i = 0; i != 2; ++i) std::printf("reader: %s\n", (co_await mine.messages.receive())->c_str());
}

runq::task<> run_main() {
  std::optional<broker::subscription> outlives;
  {
    broker news;
    outlives.emplace(news.subscribe(10));
    std::optional<broker::subscription> reads_nothing = news.subscribe(1);
    auto reader = runq::spawn(print_two(news.subscribe(0)));
    auto writer = runq::spawn([&]() -> runq::task<> {
      co_await news.publish("one");
      co_await news.publish("two");
    });
    while (reads_nothing->messages.size() == 0) co_await runq::yield();
    reads_nothing.reset();  // "two" may wait for it
    co_await writer;
    co_await reader;
    std::printf("%zu subscriber is left\n", news.size());
  }
  std::printf("after the broker's end: %s\n", (co_await outlives->messages.receive())->c_str());
}

}  // namespace

int main() { runq::run(run_main()); }
