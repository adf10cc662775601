// SPDX-License-Identifier: MIT
// What the global queue of values costs for single values and for batches of 128. Compare with inject_bench, whose
// elements carry a link, and whose rows are the same.
#include <array>
#include <cstddef>
#include <span>

#include <benchmark/benchmark.h>
#include <runq/shared_fifo.hpp>

#include "queue_rows.hpp"
#include "support.hpp"

namespace {

using runq_bench::item;
using runq_bench::tally;

struct shared_fifo_candidate {
  struct node {
    item id = 0;
  };
  using fifo = runq::shared_fifo<node*>;

  void put(node* first, std::size_t count, std::size_t batch) noexcept {
    std::array<node*, fifo::max_batch> some{};
    for (std::size_t i = 0; i != count; i += batch) {
      for (std::size_t k = 0; k != batch; ++k) some[k] = first + i + k;
      const bool done = batch == 1 ? queue.put(some[0]) : queue.put_batch(std::span(some).first(batch));
      if (!done) return;  // no memory: the row's check of all values fails
    }
  }
  [[nodiscard]] tally take(std::size_t batch) noexcept {
    std::array<node*, fifo::max_batch> some{};
    tally got;
    const std::size_t n = queue.take_batch(1, std::span(some).first(batch));
    for (const node* const one : std::span(some).first(n)) got.add(one->id);
    return got;
  }

  fifo queue;
};

}  // namespace

int main(int argc, char** argv) {
  runq_bench::add_global_rows<shared_fifo_candidate>("shared_fifo");
  return runq_bench::run(argc, argv);
}
