// SPDX-License-Identifier: MIT
// What a processor's queue costs its owner.
//
// It shows neither thieves (ring_bench has them) nor a scheduler, which also reads and runs the tasks.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <runq/local_queue.hpp>
#include <runq/one_object.hpp>

#include "support.hpp"

namespace {

using runq_bench::item;
using runq_bench::pinned;

struct task {
  item id = 0;
  runq::inject_link<task> link{};
};
using local_queue = runq::local_queue<&task::link>;

/// A processor's queue, the global one behind it, and tasks with the ids 0 … 511.
struct processor {
  processor() : tasks(512) {
    for (std::size_t i = 0; i != tasks.size(); ++i) tasks[i].id = i;
  }
  processor(const processor&) = delete;
  processor& operator=(const processor&) = delete;
  ~processor() {
    while (global.take() != nullptr) {
    }
  }

  std::vector<task> tasks;
  local_queue::global_queue global;
  local_queue queue{global};
  local_queue::owner owner = queue.make_owner();
};

/// A processor whose queue has no handles.
struct one_object_processor : processor {
  runq::one_object<local_queue> owner{global};
};

// Pushes the tasks 0 … batch - 1 and pops them: in order by push(), the newest first by push_next().
enum class way : bool { push, push_next };

template <way Way, class Processor = processor>
void tasks_push_pop(benchmark::State& state) {
  const pinned here(0);
  const auto p = std::make_unique<Processor>();
  const auto batch = static_cast<std::size_t>(state.range(0));
  item mistakes = 0;
  for ([[maybe_unused]] auto step : state) {
    for (std::size_t i = 0; i != batch; ++i) {
      mistakes |= Way == way::push ? p->owner.push(&p->tasks[i]) : p->owner.push_next(&p->tasks[i]);
    }
    if (Way == way::push_next) mistakes |= item{p->owner.pop().task != &p->tasks[batch - 1]};
    const std::size_t from_ring = Way == way::push ? batch : batch - 1;
    for (std::size_t i = 0; i != from_ring; ++i) mistakes |= item{p->owner.pop().task != &p->tasks[i]};
  }
  runq_bench::check(state, mistakes == 0 && !p->owner.pop());
  runq_bench::label(state, here.done());
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

// The ring is half full, and 129 more tasks are pushed. The last one overflows, so 129 tasks move to the global queue,
// and are taken from there in batches. The time is that of 129 tasks, each of which goes through all of this once.
void overflow(benchmark::State& state) {
  const pinned here(0);
  const auto p = std::make_unique<processor>();
  item in = 0;
  item out = 0;
  item mistakes = 0;
  const std::size_t all = p->tasks.size();
  // What overflows in one round is the 128 that the ring held and the newest; the order within a batch is checked by
  // the sum of its numbers, the number of tasks by the count.
  for (; in != 128; ++in) mistakes |= p->owner.push(&p->tasks[in % all]);
  item held = 128 * 127 / 2;
  for ([[maybe_unused]] auto step : state) {
    item pushed = 0;
    for (int i = 0; i != 128; ++i, ++in) {
      mistakes |= p->owner.push(&p->tasks[in % all]);
      pushed += in % all;
    }
    mistakes |= p->owner.push(&p->tasks[in % all]) ^ 129;
    item moved = 0;
    while (p->global.has_work_approx()) {
      auto batch = p->global.take_batch(1);
      while (const task* const t = batch.pop_front()) {
        moved += t->id;
        ++out;
      }
    }
    mistakes |= moved ^ (held + in % all);
    held = pushed;
    ++in;
  }
  mistakes |= out ^ static_cast<item>(129 * state.iterations());
  item left = 0;
  while (p->owner.pop()) ++left;
  runq_bench::check(state, mistakes == 0 && left == 128);
  runq_bench::label(state, here.done());
  state.SetItemsProcessed(state.iterations() * 129);
}

// Half of the ring moves to another processor's queue and back, in the same thread.
void steal_from(benchmark::State& state) {
  const pinned here(0);
  const auto victim = std::make_unique<processor>();
  local_queue own(victim->global);
  auto mine = own.make_owner();
  const auto thief = victim->queue.make_thief();
  const auto batch = static_cast<std::size_t>(state.range(0));
  item mistakes = 0;
  for ([[maybe_unused]] auto step : state) {
    for (std::size_t i = 0; i != batch; ++i) mistakes |= victim->owner.push(&victim->tasks[i]);
    std::size_t taken = 0;
    while (const auto loot = mine.steal_from(thief)) {
      taken += loot.count;
      for (std::size_t i = 1; i < loot.count; ++i) mistakes |= item{!mine.pop()};
    }
    mistakes |= taken ^ batch;
  }
  runq_bench::check(state, mistakes == 0 && !victim->owner.pop() && !mine.pop());
  runq_bench::label(state, here.done());
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
}  // namespace

int main(int argc, char** argv) {
  runq_bench::add_row("pairs/local_queue", tasks_push_pop<way::push>)->Arg(1)->Arg(64)->Arg(200);
  runq_bench::add_row("pairs/local_queue_object", tasks_push_pop<way::push, one_object_processor>)
      ->Arg(1)
      ->Arg(64)
      ->Arg(200);
  runq_bench::add_row("pairs/local_queue_next", tasks_push_pop<way::push_next>)->Arg(1)->Arg(64)->Arg(200);
  runq_bench::add_row("overflow/local_queue", overflow);
  runq_bench::add_row("steal_from/local_queue", steal_from)->Arg(64)->Arg(200);
  return runq_bench::run(argc, argv);
}
