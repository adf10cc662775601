// SPDX-License-Identifier: MIT
// The scheduler benchmark: oneTBB's task_group. It has no channels, no yield and no task that waits.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include "task_groups.hpp"

namespace {

class pool {
 public:
  class group : public oneapi::tbb::task_group {
   public:
    explicit group(pool&) {}
  };

  explicit pool(unsigned workers)
      : limit_(oneapi::tbb::global_control::max_allowed_parallelism, workers), arena_(static_cast<int>(workers)) {}
  template <class F>
  void run(F&& f) {
    arena_.execute(f);
  }

 private:
  const oneapi::tbb::global_control limit_;
  oneapi::tbb::task_arena arena_;
};

double idle_row(unsigned workers, long ms) {
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, workers);
  oneapi::tbb::task_arena arena(static_cast<int>(workers), 0);
  for (unsigned i = 0; i != workers; ++i) arena.enqueue([] {});
  return bench::idle_cpu(ms);
}

}  // namespace

int main(int argc, char** argv) { return bench::task_groups<pool>::run(argc, argv, idle_row); }
