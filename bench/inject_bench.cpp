// SPDX-License-Identifier: MIT
// What the global queue costs for single elements and for batches of 128, compared with code that one would write
// without it: a mutex around a plain intrusive list, and around a std::deque. The rows are those of queue_rows.hpp.
#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include <benchmark/benchmark.h>
#include <runq/inject.hpp>

#include "queue_rows.hpp"
#include "support.hpp"

namespace {

using runq_bench::item;
using runq_bench::tally;

struct inject_candidate {
  struct node {
    item id = 0;
    runq::inject_link<node> link{};
  };
  using inject = runq::inject<&node::link>;

  void put(node* first, std::size_t count, std::size_t batch) noexcept {
    for (std::size_t i = 0; i != count; i += batch) {
      if (batch == 1) {
        queue.put(first + i);
        continue;
      }
      inject::chain some;
      for (std::size_t k = 0; k != batch; ++k) some.push_back(first + i + k);
      queue.splice(std::move(some));
    }
  }
  [[nodiscard]] tally take(std::size_t batch) noexcept {
    tally got;
    if (batch == 1) {
      if (const node* const n = queue.take()) got.add(n->id);
      return got;
    }
    inject::chain some = queue.take_batch(1, batch);
    while (const node* const n = some.pop_front()) got.add(n->id);
    return got;
  }

  inject queue;
};

/// The code that one would write by hand: a plain list, without a size, under a mutex.
struct mutex_list_candidate {
  struct node {
    item id = 0;
    node* next = nullptr;
  };

  void put(node* first, std::size_t count, std::size_t batch) {
    for (std::size_t i = 0; i != count; i += batch) {
      node* begin = nullptr;
      node* end = nullptr;
      for (std::size_t k = 0; k != batch; ++k) {
        node* const n = first + i + k;
        n->next = nullptr;
        (end == nullptr ? begin : end->next) = n;
        end = n;
      }
      const std::lock_guard lock(mutex);
      (tail == nullptr ? head : tail->next) = begin;
      tail = end;
    }
  }
  [[nodiscard]] tally take(std::size_t batch) {
    tally got;
    node* some = nullptr;
    {
      const std::lock_guard lock(mutex);
      if (head == nullptr) return got;
      some = head;
      node* last = head;
      for (std::size_t k = 1; k != batch && last->next != nullptr; ++k) last = last->next;
      head = std::exchange(last->next, nullptr);
      if (head == nullptr) tail = nullptr;
    }
    for (; some != nullptr; some = some->next) got.add(some->id);
    return got;
  }

  std::mutex mutex;
  node* head = nullptr;
  node* tail = nullptr;
};

struct mutex_deque_candidate {
  struct node {
    item id = 0;
  };

  void put(node* first, std::size_t count, std::size_t batch) {
    for (std::size_t i = 0; i != count; i += batch) {
      const std::lock_guard lock(mutex);
      for (std::size_t k = 0; k != batch; ++k) items.push_back(first + i + k);
    }
  }
  [[nodiscard]] tally take(std::size_t batch) {
    tally got;
    const std::lock_guard lock(mutex);
    for (std::size_t n = std::min(batch, items.size()); n != 0; --n) {
      got.add(items.front()->id);
      items.pop_front();
    }
    return got;
  }

  std::mutex mutex;
  std::deque<node*> items;
};

// A scheduler calls has_work_approx() before every search for work.
void has_work_approx(benchmark::State& state) {
  const runq_bench::pinned here(0);
  const auto queue = std::make_unique<inject_candidate::inject>();
  bool seen = false;
  for ([[maybe_unused]] auto step : state) {
    seen |= queue->has_work_approx();
    benchmark::ClobberMemory();
  }
  runq_bench::check(state, !seen);
  runq_bench::label(state, here.done());
  state.SetItemsProcessed(state.iterations());
}

}  // namespace

int main(int argc, char** argv) {
  runq_bench::add_global_rows<inject_candidate>("inject");
  runq_bench::add_global_rows<mutex_list_candidate>("mutex_list");
  runq_bench::add_global_rows<mutex_deque_candidate>("mutex_deque");
  runq_bench::add_row("has_work_approx/inject", has_work_approx);
  return runq_bench::run(argc, argv);
}
