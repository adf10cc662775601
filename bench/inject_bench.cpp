// SPDX-License-Identifier: MIT
// What the global queue costs for single elements and for batches of 128, beside the floor (its list without the lock)
// and what one would write without it: a std::list or a std::deque under a std::mutex.
//
// What this does not show: many threads at once, where the lock is the wall whatever the list; nor a scheduler, where
// the elements come from other processors' caches.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <runq/inject.hpp>

#include "support.hpp"

namespace {

using runq_bench::pinned;

struct task {
  std::uint64_t id = 0;
  runq::inject_link<task> link{};
};
using inject = runq::inject<&task::link>;

constexpr std::size_t elements = 128;

// ---- the candidates, with one face: put and take one; put and take 128, handing each taken one to `visit` -----------

struct inject_candidate {
  void put(task* t) noexcept { queue.put(t); }
  [[nodiscard]] task* take() noexcept { return queue.take(); }
  void put_batch(std::vector<task>& tasks) noexcept {
    inject::chain batch;
    for (task& t : tasks) batch.push_back(&t);
    queue.splice(std::move(batch));
  }
  template <class Visit>
  void take_batch(Visit visit) noexcept {
    inject::chain batch = queue.take_batch(1);
    while (task* const t = batch.pop_front()) visit(t);
  }

  inject queue;
};

struct floor_candidate {
  ~floor_candidate() {
    while (list.pop_front() != nullptr) {
    }
  }
  void put(task* t) noexcept {
    list.push_back(t);
    benchmark::ClobberMemory();
  }
  [[nodiscard]] task* take() noexcept {
    task* const t = list.pop_front();
    benchmark::ClobberMemory();
    return t;
  }
  void put_batch(std::vector<task>& tasks) noexcept {
    inject::chain batch;
    for (task& t : tasks) batch.push_back(&t);
    list.splice(std::move(batch));
    benchmark::ClobberMemory();
  }
  template <class Visit>
  void take_batch(Visit visit) noexcept {
    inject::chain batch = list.cut_front(elements);
    benchmark::ClobberMemory();
    while (task* const t = batch.pop_front()) visit(t);
  }

  inject::chain list{};
};

struct mutex_list_candidate {
  void put(task* t) {
    std::list<task*> one{t};
    const std::lock_guard lock(mutex);
    list.splice(list.end(), one);
  }
  [[nodiscard]] task* take() {
    std::list<task*> one;
    const std::lock_guard lock(mutex);
    if (list.empty()) return nullptr;
    one.splice(one.end(), list, list.begin());
    return one.front();
  }
  void put_batch(std::vector<task>& tasks) {
    std::list<task*> batch;
    for (task& t : tasks) batch.push_back(&t);
    const std::lock_guard lock(mutex);
    list.splice(list.end(), batch);
  }
  template <class Visit>
  void take_batch(Visit visit) {
    std::list<task*> batch;
    {
      const std::lock_guard lock(mutex);
      const std::size_t n = std::min(list.size(), elements);
      batch.splice(batch.end(), list, list.begin(), std::next(list.begin(), static_cast<std::ptrdiff_t>(n)));
    }
    for (task* const t : batch) visit(t);
  }

  std::mutex mutex;
  std::list<task*> list{};
};

struct mutex_deque_candidate {
  void put(task* t) {
    const std::lock_guard lock(mutex);
    list.push_back(t);
  }
  [[nodiscard]] task* take() {
    const std::lock_guard lock(mutex);
    if (list.empty()) return nullptr;
    task* const t = list.front();
    list.pop_front();
    return t;
  }
  void put_batch(std::vector<task>& tasks) {
    const std::lock_guard lock(mutex);
    for (task& t : tasks) list.push_back(&t);
  }
  template <class Visit>
  void take_batch(Visit visit) {
    std::array<task*, elements> batch{};
    std::size_t n = 0;
    {
      const std::lock_guard lock(mutex);
      n = std::min(list.size(), elements);
      const auto end = list.begin() + static_cast<std::ptrdiff_t>(n);
      std::copy(list.begin(), end, batch.begin());
      list.erase(list.begin(), end);
    }
    std::for_each(batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(n), visit);
  }

  std::mutex mutex;
  std::deque<task*> list{};
};

// ---- one thread -----------------------------------------------------------------------------------------------------

std::vector<task> numbered_tasks() {
  std::vector<task> tasks(elements);
  for (std::size_t i = 0; i != elements; ++i) tasks[i].id = i;
  return tasks;
}

template <class Queue>
void single(benchmark::State& state) {
  const pinned here(0);
  std::vector<task> tasks = numbered_tasks();
  const auto queue = std::make_unique<Queue>();
  std::uint64_t mistakes = 0;
  for ([[maybe_unused]] auto step : state) {
    for (task& t : tasks) queue->put(&t);
    for (std::uint64_t expected = 0; expected != elements; ++expected) {
      const task* const t = queue->take();
      mistakes |= t == nullptr ? 1 : t->id ^ expected;
    }
  }
  runq_bench::check(state, mistakes == 0 && queue->take() == nullptr);
  runq_bench::label(state, here.done());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(elements));
}
void BM_floor_put_take(benchmark::State& state) { single<floor_candidate>(state); }
void BM_inject_put_take(benchmark::State& state) { single<inject_candidate>(state); }
void BM_mutex_list_put_take(benchmark::State& state) { single<mutex_list_candidate>(state); }
void BM_mutex_deque_put_take(benchmark::State& state) { single<mutex_deque_candidate>(state); }
BENCHMARK(BM_floor_put_take);
BENCHMARK(BM_inject_put_take);
BENCHMARK(BM_mutex_list_put_take);
BENCHMARK(BM_mutex_deque_put_take);

// Time includes building the batch and walking over what came back.
template <class Queue>
void batches(benchmark::State& state) {
  const pinned here(0);
  std::vector<task> tasks = numbered_tasks();
  const auto queue = std::make_unique<Queue>();
  std::uint64_t mistakes = 0;
  for ([[maybe_unused]] auto step : state) {
    queue->put_batch(tasks);
    std::uint64_t expected = 0;
    queue->take_batch([&](const task* t) { mistakes |= t->id ^ expected++; });
    mistakes |= expected ^ elements;
  }
  runq_bench::check(state, mistakes == 0 && queue->take() == nullptr);
  runq_bench::label(state, here.done());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(elements));
}
void BM_floor_batch_128(benchmark::State& state) { batches<floor_candidate>(state); }
void BM_inject_batch_128(benchmark::State& state) { batches<inject_candidate>(state); }
void BM_mutex_list_batch_128(benchmark::State& state) { batches<mutex_list_candidate>(state); }
void BM_mutex_deque_batch_128(benchmark::State& state) { batches<mutex_deque_candidate>(state); }
BENCHMARK(BM_floor_batch_128);
BENCHMARK(BM_inject_batch_128);
BENCHMARK(BM_mutex_list_batch_128);
BENCHMARK(BM_mutex_deque_batch_128);

// The question that is asked before every search for work.
void BM_inject_has_work(benchmark::State& state) {
  const pinned here(0);
  const auto queue = std::make_unique<inject>();
  bool seen = false;
  for ([[maybe_unused]] auto step : state) {
    seen |= queue->has_work();
    benchmark::ClobberMemory();
  }
  runq_bench::check(state, !seen);
  runq_bench::label(state, here.done());
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_inject_has_work);

// ---- two threads ----------------------------------------------------------------------------------------------------

// Each thread puts the task it holds and takes the oldest. As many tasks as threads, so nobody ever finds nothing; at
// the end every task must be in exactly one hand.
template <class Queue>
void contended(benchmark::State& state) {
  static std::unique_ptr<Queue> queue;
  static std::array<task, 2> tasks;
  static std::atomic<unsigned> hands;
  static std::atomic<int> finished;
  const pinned here(state.thread_index());
  if (state.thread_index() == 0) {
    queue = std::make_unique<Queue>();
    tasks[1].id = 1;
    hands = 0;
    finished = 0;
  }
  task* hand = &tasks[static_cast<std::size_t>(state.thread_index())];
  bool found = true;
  for ([[maybe_unused]] auto step : state) {
    queue->put(hand);
    task* const taken = queue->take();
    found &= taken != nullptr;
    if (taken == nullptr) break;
    hand = taken;
  }
  hands += 1U << (8 * hand->id);
  // The last one judges for all.
  if (++finished == state.threads()) found &= hands == 0x0101;
  runq_bench::check(state, found);
  runq_bench::label(state, here.done());
  state.SetItemsProcessed(state.iterations());
}
void BM_inject_put_take_contended(benchmark::State& state) { contended<inject_candidate>(state); }
void BM_mutex_list_put_take_contended(benchmark::State& state) { contended<mutex_list_candidate>(state); }
void BM_mutex_deque_put_take_contended(benchmark::State& state) { contended<mutex_deque_candidate>(state); }
BENCHMARK(BM_inject_put_take_contended)->Threads(2)->UseRealTime();
BENCHMARK(BM_mutex_list_put_take_contended)->Threads(2)->UseRealTime();
BENCHMARK(BM_mutex_deque_put_take_contended)->Threads(2)->UseRealTime();

}  // namespace

int main(int argc, char** argv) { return runq_bench::run(argc, argv); }
