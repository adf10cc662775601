// SPDX-License-Identifier: MIT
// A peer in the queue benchmark: crossbeam-deque, as rayon uses it. The loops are Rust's (crossbeam/src/lib.rs),
// because calls between the languages are not inlined.
#include <cstddef>

#include "../queue_rows.hpp"
#include "../support.hpp"

namespace {

using runq_bench::item;
using runq_bench::tally;

struct rust_worker;
struct rust_thief;
struct rust_injector;
extern "C" {
rust_worker* runq_crossbeam_new(bool lifo);
void runq_crossbeam_delete(rust_worker* w);
void runq_crossbeam_turn(rust_worker* w, item pushes, item pops, tally* in, tally* out);
rust_thief* runq_crossbeam_thief_new(const rust_worker* victim);
void runq_crossbeam_thief_delete(rust_thief* t);
std::size_t runq_crossbeam_steal(rust_thief* t, tally* loot);
std::size_t runq_crossbeam_steal_batch(rust_thief* t, tally* loot);
rust_injector* runq_crossbeam_injector_new();
void runq_crossbeam_injector_delete(rust_injector* q);
void runq_crossbeam_injector_put(rust_injector* q, const item* first, std::size_t count);
void runq_crossbeam_injector_take(rust_injector* q, std::size_t batch, tally* got);
}

template <bool Lifo, bool Batch>
struct deque {
  deque() = default;
  deque(const deque&) = delete;
  deque& operator=(const deque&) = delete;
  ~deque() { runq_crossbeam_delete(worker); }

  void turn(item pushes, item pops, tally& in, tally& out) { runq_crossbeam_turn(worker, pushes, pops, &in, &out); }

  class thief {
   public:
    explicit thief(const deque& victim) : self_(runq_crossbeam_thief_new(victim.worker)) {}
    thief(const thief&) = delete;
    thief& operator=(const thief&) = delete;
    ~thief() { runq_crossbeam_thief_delete(self_); }
    std::size_t steal(tally& loot) {
      return Batch ? runq_crossbeam_steal_batch(self_, &loot) : runq_crossbeam_steal(self_, &loot);
    }

   private:
    rust_thief* self_;
  };

  rust_worker* worker = runq_crossbeam_new(Lifo);
};

struct injector {
  struct node {
    item id = 0;
  };
  injector() = default;
  injector(const injector&) = delete;
  injector& operator=(const injector&) = delete;
  ~injector() { runq_crossbeam_injector_delete(queue); }

  void put(const node* first, std::size_t count, std::size_t /*batch*/) {
    runq_crossbeam_injector_put(queue, &first->id, count);
  }
  [[nodiscard]] tally take(std::size_t batch) {
    tally got;
    runq_crossbeam_injector_take(queue, batch, &got);
    return got;
  }

  rust_injector* queue = runq_crossbeam_injector_new();
};

}  // namespace

int main(int argc, char** argv) {
  runq_bench::add_owner_rows<deque<true, false>>("crossbeam_lifo");
  runq_bench::add_owner_rows<deque<false, false>>("crossbeam_fifo");
  runq_bench::add_owner_rows<deque<false, true>>("crossbeam_fifo_batch");
  runq_bench::add_global_rows<injector>("crossbeam_injector");
  return runq_bench::run(argc, argv);
}
