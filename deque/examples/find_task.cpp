// SPDX-License-Identifier: MIT
// How a runtime uses the queues: where a processor looks for its next task, in Go's order.
#include <atomic>
#include <cstdio>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <runq/local_queue.hpp>

struct task {
  int times_run = 0;
  runq::inject_link<task> link{};
};
using local = runq::local_queue<&task::link>;

struct processor {
  local queue;
  local::owner owner = queue.make_owner();
  unsigned ticks = 0;
  std::minstd_rand random;
  processor(local::global_queue& global, unsigned seed) : queue(global), random(seed) {}
};

struct machine {
  local::global_queue global;
  std::vector<std::unique_ptr<processor>> processors;
};

task* find_task(machine& m, processor& p) {
  // 1. Every 61st time the global queue comes first. Otherwise two tasks that keep making each other runnable would
  // starve it.
  if (++p.ticks % 61 == 0 && m.global.has_work_approx()) {
    if (task* t = m.global.take()) return t;
  }
  // 2. The processor's own queue.
  if (const auto own = p.owner.pop()) {
    if (own.from_runnext) --p.ticks;  // it shares the time slice of the task that readied it
    return own.task;
  }
  // 3. A fair share of the global queue.
  if (m.global.has_work_approx()) {
    if (task* t = p.owner.take_from(m.global, m.processors.size())) return t;
  }
  // 4. Half of another worker's tasks: four rounds from a random start, runnext only in the last.
  for (int round = 0; round != 4; ++round) {
    const auto next = round == 3 ? runq::steal_runnext::yes : runq::steal_runnext::no;
    const std::size_t start = p.random();
    for (std::size_t i = 0; i != m.processors.size(); ++i) {
      const processor& victim = *m.processors[(start + i) % m.processors.size()];
      if (&victim == &p) continue;
      if (const auto loot = p.owner.steal_from(victim.queue.make_thief(), next)) return loot.value;
    }
  }
  return nullptr;  // 5. Now a runtime would look at all has_work() once more, and go to sleep.
}

int main() {
  std::vector<task> tasks(100'000);
  std::atomic<std::size_t> left = tasks.size();
  machine m;
  for (unsigned i = 0; i != 4; ++i) m.processors.push_back(std::make_unique<processor>(m.global, i + 1));
  for (task& t : tasks) m.processors[0]->owner.push_next(&t);  // all on one processor
  m.processors[0]->owner.rebind();
  std::vector<std::thread> threads;
  for (const auto& p : m.processors) {
    threads.emplace_back([&m, &left, &p = *p] {
      for (; left != 0; std::this_thread::yield()) {
        while (task* const t = find_task(m, p)) ++t->times_run, --left;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const task& t : tasks) {
    if (t.times_run != 1) return 1;
  }
  std::printf("%zu tasks, each run once\n", tasks.size());
}
