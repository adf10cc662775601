// SPDX-License-Identifier: MIT
// The scheduler benchmark: taskflow's executor, from a checkout. It has no channels, no yield and no task that waits.
#include <taskflow/taskflow.hpp>

#include "../task_groups.hpp"

namespace {

class pool {
 public:
  class group {
   public:
    explicit group(pool& in) : tasks_(in.executor_.task_group()) {}
    template <class F>
    void run(F&& f) {
      tasks_.silent_async(std::forward<F>(f));
    }
    void wait() { tasks_.corun(); }

   private:
    tf::TaskGroup tasks_;
  };

  explicit pool(unsigned workers) : executor_(workers) {}
  template <class F>
  void run(F&& f) {
    executor_.async(f).get();
  }

 private:
  tf::Executor executor_;
};

double idle_row(unsigned workers, long ms) {
  tf::Executor executor(workers);
  for (unsigned i = 0; i != workers; ++i) executor.silent_async([] {});
  return bench::idle_cpu(ms);
}

}  // namespace

int main(int argc, char** argv) { return bench::task_groups<pool>::run(argc, argv, idle_row); }
