// SPDX-License-Identifier: MIT
// Eight tasks that wait for input, each from a pipe of its own, move between two processors. A task continues on the
// processor that learns of its input first, or on the one that steals the task from there.
#include <atomic>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include <runq/runq.hpp>

namespace {

constexpr int tasks = 8;

struct life {
  std::string trail;              // the processors it ran on
  std::atomic<unsigned> seen{0};  // one bit for each processor
  void note() {
    if (trail.size() < 60) trail += " P" + std::to_string(runq::this_task::processor());
    seen |= 1U << runq::this_task::processor();
  }
};

runq::task<> reader(runq::net::stream in, life& mine, runq::wait_group& all) {
  std::byte input[1];
  while (const std::size_t n = co_await in.read(input)) mine.note();
  all.done();
}

runq::task<int> moved(std::vector<life>& lives) {
  std::vector<runq::net::stream> pipes;
  runq::wait_group all;
  all.add(tasks);
  for (life& mine : lives) {
    auto [in, out] = runq::net::pipe();
    pipes.push_back(std::move(out));
    runq::go(reader(std::move(in), mine, all), "reader");
  }
  int both = 0;
  for (int round = 0; round != 50'000 && (round < 20 || both != tasks); ++round) {
    for (auto& out : pipes) co_await out.write(std::as_bytes(std::span("x", 1)));
    co_await runq::sleep_for(std::chrono::microseconds(100));
    both = 0;
    for (const life& mine : lives) both += mine.seen == 3 ? 1 : 0;
  }
  pipes.clear();  // closes the pipes, so each task reads the end of its input
  co_await all.wait();
  co_return both;
}

}  // namespace

int main() {
  std::vector<life> lives(tasks);
  const int both = runq::run(moved(lives), {.procs = 2});
  for (int i = 0; i != tasks; ++i) std::printf("task %d:%s\n", i, lives[static_cast<std::size_t>(i)].trail.c_str());
  std::printf("%d of %d tasks have run on both processors\n", both, tasks);
}
