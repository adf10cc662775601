// SPDX-License-Identifier: MIT
// A thread pool with futures in a hundred lines: every worker has a chase_lev deque and steals from the others; tasks
// from outside come through an inject queue, and workers without work sleep in an eventcount. Below the pool: checks,
// as a test would make them.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <future>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <runq/chase_lev.hpp>
#include <runq/eventcount.hpp>
#include <runq/inject.hpp>

// ---- the pool, in 100 lines of code

class thread_pool {
 public:
  explicit thread_pool(unsigned threads = std::max(2U, std::thread::hardware_concurrency())) {
    for (unsigned i = 0; i != threads; ++i) workers_.push_back(std::make_unique<worker>(this, i + 1));
    for (const auto& w : workers_) {
      w->thread = std::thread([this, &w = *w] {
        self_ = &w;
        while (run_one(w) || sleep()) continue;
      });
    }
  }
  /// Runs everything that was submitted, also by tasks that run meanwhile.
  ~thread_pool() {
    stopping_.store(true, std::memory_order::relaxed);
    idle_.notify_all();
    for (const auto& w : workers_) w->thread.join();
  }

  /// Runs f() on a worker; the future gets its result or its exception. Any thread, also a task of this pool.
  template <class F>
  [[nodiscard]] auto submit(F f) {
    auto job = std::make_unique<job_of<std::invoke_result_t<F&>>>(std::move(f));
    auto future = job->function.get_future();
    put(job.release());
    return future;
  }

  /// Returns the future's result. A worker runs other tasks until the result is there, so tasks may wait for their
  /// tasks.
  template <class T>
  T get(std::future<T> future) {
    while (is_worker() && future.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      if (!run_one(*self_)) std::this_thread::yield();
    }
    return future.get();
  }

  [[nodiscard]] std::size_t stolen() const { return stolen_; }

 private:
  struct task {
    virtual ~task() = default;
    virtual void run() = 0;
    runq::inject_link<task> link{};
  };
  template <class T>
  struct job_of final : task {
    explicit job_of(auto f) : function(std::move(f)) {}
    void run() override { function(); }
    std::packaged_task<T()> function;
  };
  struct worker {
    worker(const thread_pool* p, unsigned seed) : pool(p), random(seed) {}
    const thread_pool* const pool;
    runq::chase_lev<task*> deque{};
    runq::chase_lev<task*>::owner owner = deque.make_owner();  // binds to the worker's thread by its first use
    std::minstd_rand random;
    std::thread thread{};
  };
  [[nodiscard]] bool is_worker() const { return self_ != nullptr && self_->pool == this; }

  void put(task* t) {
    // A worker pushes into its own deque. If that is full and there is no memory for more, the task goes to global_.
    if (!is_worker() || !self_->owner.push(t)) global_.put(t);
    idle_.notify_one();  // after the push; costs a fence while all workers are busy
  }

  task* find(worker& me) {
    if (const auto newest = me.owner.pop()) return *newest;
    if (task* const oldest = global_.has_work_approx() ? global_.take() : nullptr) return oldest;
    const std::size_t start = me.random();
    for (std::size_t i = 0; i != workers_.size(); ++i) {
      const worker& victim = *workers_[(start + i) % workers_.size()];
      if (&victim == &me) continue;
      if (const auto loot = victim.deque.make_thief().steal()) {
        ++stolen_;
        return loot.value;
      }
    }
    return nullptr;
  }

  bool run_one(worker& me) {
    const std::unique_ptr<task> found(find(me));
    if (found) found->run();
    return found != nullptr;
  }

  // Sleeps until there may be work. Returns false when no task is left and the pool is being destroyed.
  bool sleep() {
    const auto has_work = [this] {
      const auto any = [](const auto& w) { return w->deque.make_thief().has_work(); };
      return global_.has_work() || std::any_of(workers_.begin(), workers_.end(), any);
    };
    const auto stopping = [this] { return stopping_.load(std::memory_order::relaxed); };
    idle_.await([&] { return has_work() || stopping(); });
    return has_work() || !stopping();
  }

  static inline thread_local worker* self_ = nullptr;  // this thread's worker, in any pool; or null
  runq::inject<&task::link> global_{};
  std::vector<std::unique_ptr<worker>> workers_{};
  runq::eventcount idle_{};
  std::atomic<std::size_t> stolen_{0};
  std::atomic<bool> stopping_{false};
};

// ---- the checks

namespace {

int failures = 0;
void expect(bool so, const char* what) {
  std::printf("%s: %s\n", so ? "right" : "WRONG", what);
  failures += so ? 0 : 1;
}

long fibonacci(thread_pool& pool, int n) {
  if (n < 2) return n;
  auto smaller = pool.submit([&pool, n] { return fibonacci(pool, n - 2); });
  const long larger = fibonacci(pool, n - 1);
  return larger + pool.get(std::move(smaller));
}

// Two threads that are no workers, ten thousand futures.
bool from_outside(thread_pool& pool) {
  std::atomic<long long> sum{0};
  const auto client = [&pool, &sum] {
    std::vector<std::future<long long>> squares;
    for (long long i = 0; i != 5000; ++i) squares.push_back(pool.submit([i] { return i * i; }));
    for (auto& square : squares) sum += square.get();
  };
  std::thread other(client);
  client();
  other.join();
  return sum == 2 * (4999LL * 5000 * 9999 / 6);
}

// All workers may be asleep when one of these tasks comes. A lost wake-up would hang the test until its time limit.
bool one_at_a_time(thread_pool& pool) {
  int right = 0;
  for (int i = 0; i != 2000; ++i) right += pool.submit([i] { return i; }).get() == i ? 1 : 0;
  return right == 2000;
}

// The task occupies its worker until its child has run, and the child is in that worker's deque: another worker must
// steal it.
bool only_a_thief_can(thread_pool& pool) {
  const std::size_t before = pool.stolen();
  pool.submit([&pool] {
        const auto child = pool.submit([] {});
        child.wait();
      })
      .get();
  return pool.stolen() > before;
}

bool destructor_runs_the_rest() {
  std::atomic<int> runs{0};
  {
    thread_pool pool(3);
    for (int i = 0; i != 100; ++i) {
      static_cast<void>(pool.submit([&pool, &runs] {
        static_cast<void>(pool.submit([&runs] { ++runs; }));
        ++runs;
      }));
    }
  }
  return runs == 200;
}

#ifdef __cpp_exceptions
bool exception_arrives(thread_pool& pool) {
  auto result = pool.submit([]() -> int { throw std::runtime_error("no result"); });
  try {
    static_cast<void>(result.get());
  } catch (const std::runtime_error&) {
    return true;
  }
  return false;
}
#endif

}  // namespace

int main() {
  thread_pool pool(4);
  expect(from_outside(pool), "10000 squares, submitted by two other threads");
  expect(pool.submit([&pool] { return fibonacci(pool, 20); }).get() == 6765,
         "fibonacci(20) by tasks that wait for tasks");
  expect(one_at_a_time(pool), "2000 tasks, one after the other, for workers that fall asleep between them");
  expect(only_a_thief_can(pool), "a task that its own worker cannot run is stolen");
  expect(destructor_runs_the_rest(), "the destructor waits for 200 tasks, half of them submitted by tasks");
#ifdef __cpp_exceptions
  expect(exception_arrives(pool), "an exception arrives with the future");
#endif
  std::printf("%zu tasks were stolen\n", pool.stolen());
  return failures;
}
