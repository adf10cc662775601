// SPDX-License-Identifier: MIT
// Two threads put tasks into the queue that all share, one of them a chain; a third takes: what one thread put comes
// out in its order, and nothing is lost.
//
// check: exhaustive
// check MUTANT=inject/take_without_lock: FAIL data race
#include <array>
#include <thread>
#include <utility>

#include <runq/inject.hpp>

#undef NDEBUG
#include <cassert>

struct task {
  int id = 0;
  runq::inject_link<task> link{};
};
using queue_of_tasks = runq::inject<&task::link>;

int main() {
  std::array<task, 3> tasks{{{0}, {1}, {2}}};
  queue_of_tasks queue;
  std::array<int, 3> taken{-1, -1, -1};
  std::size_t number = 0;
  const auto take = [&] {
    if (const task* const t = queue.take()) taken.at(number++) = t->id;
  };
  std::thread one([&] { queue.put(&tasks[2]); });
  std::thread other([&] {
    queue_of_tasks::chain both;
    both.push_back(&tasks[0]);
    both.push_back(&tasks[1]);
    queue.splice(std::move(both));
  });
  take();
  one.join();
  other.join();
  while (number != 3) {
    const std::size_t before = number;
    take();
    assert(number != before);
  }
  int last = -1;
  for (const int id : taken) {
    if (id == 2) continue;
    assert(id == last + 1);
    last = id;
  }
}
