// SPDX-License-Identifier: MIT
// inject: the queue that all threads share. Tasks carry their own link, so nothing is allocated.
#include <array>
#include <cstdio>
#include <utility>

#include <runq/inject.hpp>

struct task {
  int id = 0;
  runq::inject_link<task> link{};
};

int main() {
  std::array<task, 10> tasks;
  for (int i = 0; i != 10; ++i) tasks[static_cast<std::size_t>(i)].id = i;

  runq::inject<&task::link> queue;
  queue.put(&tasks[0]);
  runq::inject<&task::link>::chain batch;
  for (std::size_t i = 1; i != tasks.size(); ++i) batch.push_back(&tasks[i]);
  queue.splice(std::move(batch));  // nine at once, at the price of one

  auto share = queue.take_batch(4);  // what one of four processors may take: 10 / 4 + 1
  if (share.size() != 3) return 1;
  int next = 0;
  while (const task* t = share.pop_front()) {
    if (t->id != next++) return 1;
  }
  while (const task* t = queue.take()) {
    if (t->id != next++) return 1;
  }
  std::printf("%d tasks, first in, first out\n", next);
  return next == 10 && !queue.has_work() ? 0 : 1;
}
