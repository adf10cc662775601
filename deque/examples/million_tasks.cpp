// SPDX-License-Identifier: MIT
// A million tasks on several threads: each thread owns a local_queue, all share one inject, and a thread without work
// takes tasks from the global queue or steals from another thread. Every task is a closure on the heap that computes a
// number and writes it. Some tasks start others: either 200, which fit the ring of 256, so idle threads have to steal;
// or 1000, so the ring overflows. At the end every result is compared with one computed without any queue.
//
//   million_tasks [THREADS [TASKS]]
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <runq/local_queue.hpp>

namespace {

class worker;

/// Something to run once. It lies on the heap. It is in at most one queue at a time, which holds a pointer to it.
struct task {
  task() = default;
  task(const task&) = delete;
  task& operator=(const task&) = delete;
  virtual ~task() = default;
  virtual void run(worker& self) = 0;

  runq::inject_link<task> link{};
};

template <class F>
struct closure final : task {
  explicit closure(F f) : function(std::move(f)) {}
  void run(worker& self) override { function(self); }

  F function;
};

template <class F>
task* make_task(F f) {
  return std::make_unique<closure<F>>(std::move(f)).release();
}

using local_queue = runq::local_queue<&task::link>;
using global_queue = local_queue::global_queue;

struct counters {
  std::size_t executed = 0;     // tasks that this thread ran
  std::size_t steals = 0;       // successful steals,
  std::size_t stolen = 0;       // and the tasks that they brought
  std::size_t lost = 0;         // steals in which another thread was quicker
  std::size_t overflowed = 0;   // tasks that a full ring sent to the global queue
  std::size_t from_global = 0;  // tasks that this thread took from there

  void add(const counters& other) {
    executed += other.executed;
    steals += other.steals;
    stolen += other.stolen;
    lost += other.lost;
    overflowed += other.overflowed;
    from_global += other.from_global;
  }
};

/// What the threads share.
struct machine {
  global_queue global{};
  std::vector<std::unique_ptr<worker>> workers{};
  std::atomic<std::size_t> left{0};  // tasks that have not been reported as run
};

/// One thread's queue, and how it finds work.
class worker {
 public:
  worker(machine& m, unsigned seed) : machine_(m), queue_(m.global), random_(seed) {}

  /// Makes a task of `f` and lets it run next on this thread, unless another thread steals it.
  template <class F>
  void spawn(F f) {
    counters_.overflowed += owner_.push_next(make_task(std::move(f)));
  }
  /// Makes a task of `f` and queues it behind all others of this thread.
  template <class F>
  void spawn_last(F f) {
    counters_.overflowed += owner_.push(make_task(std::move(f)));
  }

  /// Runs tasks until none is left anywhere.
  void work() {
    std::size_t unreported = 0;
    for (;;) {
      if (task* const t = find_task()) {
        t->run(*this);
        const std::unique_ptr<task> finished(t);
        ++counters_.executed;
        ++unreported;
        continue;
      }
      // Each thread reports its tasks in groups: the threads would contend for the counter if each task was reported.
      if (machine_.left.fetch_sub(unreported) == unreported) return;
      unreported = 0;
      if (machine_.left.load() == 0) return;
      std::this_thread::yield();
    }
  }

  [[nodiscard]] const counters& count() const { return counters_; }

 private:
  // Go's order; examples/find_task.cpp explains the steps.
  task* find_task() {
    if (++ticks_ % 61 == 0 && machine_.global.has_work_approx()) {
      if (task* const t = machine_.global.take()) {
        ++counters_.from_global;
        return t;
      }
    }
    if (const auto own = owner_.pop()) {
      if (own.from_runnext) --ticks_;
      return own.task;
    }
    if (machine_.global.has_work_approx()) {
      // The same as take_from(), but this counts the tasks. The ring is empty, so the whole batch fits.
      auto batch = machine_.global.take_batch(machine_.workers.size());
      counters_.from_global += batch.size();
      task* const first = batch.pop_front();
      owner_.push_batch(std::move(batch));
      if (first != nullptr) return first;
    }
    return steal_from_another();
  }

  task* steal_from_another() {
    for (int round = 0; round != 4; ++round) {
      const auto next_too = round == 3 ? runq::steal_runnext::yes : runq::steal_runnext::no;
      const std::size_t start = random_();
      for (std::size_t i = 0; i != machine_.workers.size(); ++i) {
        const worker& victim = *machine_.workers[(start + i) % machine_.workers.size()];
        if (&victim == this) continue;
        const auto loot = owner_.steal_from(victim.queue_.make_thief(), next_too);
        if (loot) {
          ++counters_.steals;
          counters_.stolen += loot.count;
          return loot.value;
        }
        counters_.lost += loot.status == runq::steal_status::lost ? 1U : 0U;
      }
    }
    return nullptr;
  }

  machine& machine_;
  local_queue queue_;
  local_queue::owner owner_ = queue_.make_owner();
  std::minstd_rand random_;
  unsigned ticks_ = 0;
  counters counters_{};
};

/// The work of task `i`: how many steps Collatz's sequence takes from i + 1 down to 1.
std::uint32_t steps_from(std::size_t i) {
  std::uint32_t steps = 0;
  for (std::uint64_t n = i + 1; n != 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
  return steps;
}

// Plain memory: only the queues order the accesses to it.
struct result {
  std::uint32_t steps = 0;
  std::uint32_t times_run = 0;
};

/// Task `i`: computes its number and writes it into `results`.
struct compute {
  std::vector<result>* results;
  std::size_t i;

  void operator()(worker& /*self*/) const {
    result& mine = (*results)[i];
    mine.steps = steps_from(i);
    ++mine.times_run;
  }
};

constexpr std::size_t small_burst = 200;   // fits a ring
constexpr std::size_t large_burst = 1000;  // does not

/// Task `i`: starts the tasks i + 1 … i + burst, the last of which is again a start_others; then computes its number.
struct start_others {
  std::vector<result>* results;
  std::size_t i;
  std::size_t burst;

  void operator()(worker& self) const {
    const std::size_t next = i + burst;
    for (std::size_t child = i + 1; child < std::min(next, results->size()); ++child) {
      self.spawn(compute{results, child});
    }
    if (next < results->size()) {
      self.spawn_last(start_others{results, next, burst == small_burst ? large_burst : small_burst});
    }
    compute{results, i}(self);
  }
};

void print_row(const char* name, const counters& c) {
  std::printf("%8s %10zu %10zu %10zu %12zu %12zu %13zu\n", name, c.executed, c.stolen, c.steals, c.lost, c.overflowed,
              c.from_global);
}

/// A whole number from 1 to `most`, or 0 when the text is something else.
std::size_t number(const char* text, std::size_t most) {
  char* end = nullptr;
  const unsigned long long n = std::strtoull(text, &end, 10);
  return end != text && *end == '\0' && text[0] != '-' && n <= most ? static_cast<std::size_t>(n) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t threads = argc > 1 ? number(argv[1], 1024) : std::max(4U, std::thread::hardware_concurrency());
  const std::size_t tasks = argc > 2 ? number(argv[2], 100'000'000) : 1'000'000;
  if (argc > 3 || threads == 0 || tasks == 0) {
    std::fprintf(stderr, "usage: million_tasks [THREADS (1 to 1024) [TASKS (1 to 100000000)]]\n");
    return 2;
  }

  std::vector<result> results(tasks);
  machine m;
  m.left = tasks;
  for (unsigned i = 0; i != threads; ++i) m.workers.push_back(std::make_unique<worker>(m, i + 1));
  m.global.put(make_task(start_others{&results, 0, small_burst}));

  std::printf("%zu tasks on %zu threads of a machine with %u processors\n\n", tasks, threads,
              std::thread::hardware_concurrency());
  const auto began = std::chrono::steady_clock::now();
  std::vector<std::thread> pool;
  pool.reserve(threads);
  for (const auto& w : m.workers) pool.emplace_back([&w] { w->work(); });
  for (std::thread& t : pool) t.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;

  std::printf("%8s %10s %10s %10s %12s %12s %13s\n", "thread", "executed", "stolen", "in steals", "lost races",
              "overflowed", "from global");
  counters total;
  for (std::size_t i = 0; i != threads; ++i) {
    print_row(std::to_string(i).c_str(), m.workers[i]->count());
    total.add(m.workers[i]->count());
  }
  print_row("all", total);

  std::size_t wrong = 0;
  std::size_t not_once = 0;
  for (std::size_t i = 0; i != tasks; ++i) {
    wrong += results[i].steps != steps_from(i) ? 1U : 0U;
    not_once += results[i].times_run != 1 ? 1U : 0U;
  }
  std::printf("\n%zu tasks in %.3f s: %.2f million per second\n", total.executed, took.count(),
              static_cast<double>(total.executed) / took.count() / 1e6);
  const bool right = wrong == 0 && not_once == 0 && total.executed == tasks;
  if (right) {
    std::printf("every task ran exactly once, and every result is right\n");
  } else {
    std::printf("WRONG: %zu tasks did not run exactly once, %zu results are wrong, %zu of %zu executed\n", not_once,
                wrong, total.executed, tasks);
  }
  return right ? 0 : 1;
}
