// SPDX-License-Identifier: MIT
// The scheduler benchmark: Boost.Fiber with its work-stealing scheduler and unbuffered channels. A fiber has a stack of
// 128 KiB, so run.py asks for fewer of them; the figures are per operation.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <boost/fiber/algo/work_stealing.hpp>
#include <boost/fiber/all.hpp>

#include "rows.hpp"

namespace {

namespace fibers = boost::fibers;

/// Makes the calling thread one of `workers` that steal from each other. A single one would look for a victim for ever.
void join_workers(unsigned workers) {
  if (workers > 1) fibers::use_scheduling_algorithm<fibers::algo::work_stealing>(workers, true);
}

/// Threads that run fibers, the calling one among them, until destroyed.
class pool {
 public:
  explicit pool(unsigned workers) {
    for (unsigned i = 1; i < workers; ++i) {
      others_.emplace_back([this, workers] {
        join_workers(workers);
        std::unique_lock lock(mutex_);
        over_.wait(lock, [this] { return ended_; });
      });
    }
    join_workers(workers);
  }
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;
  ~pool() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    over_.notify_all();
    for (std::thread& t : others_) t.join();
  }

 private:
  fibers::mutex mutex_;
  fibers::condition_variable over_;
  bool ended_ = false;
  std::vector<std::thread> others_;
};

/// Counts down; the last fiber wakes the waiting one.
class latch {
 public:
  explicit latch(long count) : left_(count) {}
  void done() {
    if (left_.fetch_sub(1, std::memory_order::acq_rel) != 1) return;
    const std::lock_guard lock(mutex_);
    zero_ = true;
    over_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    over_.wait(lock, [this] { return zero_; });
  }

 private:
  std::atomic<long> left_;
  fibers::mutex mutex_;
  fibers::condition_variable over_;
  bool zero_ = false;
};

template <class F>
void start(F&& f) {
  fibers::fiber(fibers::launch::post, std::forward<F>(f)).detach();
}

// Boost's work stealing counts the threads that ever joined it in a process, so one pool serves all measurements.
std::optional<pool> here;

template <class F>
double timed_in(unsigned workers, F&& f) {
  if (!here) here.emplace(workers);
  return bench::timed(f);
}

long fib(long n) {
  if (n < 2) return n;
  long a = 0;
  fibers::fiber child(fibers::launch::post, [&a, n] { a = fib(n - 1); });
  const long b = fib(n - 2);
  child.join();
  return a + b;
}

double fib_row(unsigned workers, long n) {
  return timed_in(workers, [n] { bench::require(fib(n) == bench::fib_value(n), "fib"); }) / bench::fib_forks(n);
}

long skynet(long first, long leaves) {
  if (leaves == 1) return first;
  long sums[10];
  std::vector<fibers::fiber> children;
  for (int i = 0; i != 10; ++i) {
    children.emplace_back(fibers::launch::post,
                          [=, &sums] { sums[i] = skynet(first + i * (leaves / 10), leaves / 10); });
  }
  long total = 0;
  for (int i = 0; i != 10; ++i) {
    children[static_cast<std::size_t>(i)].join();
    total += sums[i];
  }
  return total;
}

double skynet_row(unsigned workers, long leaves) {
  const auto body = [leaves] { bench::require(skynet(0, leaves) == bench::skynet_value(leaves), "skynet"); };
  return timed_in(workers, body) / static_cast<double>(leaves);
}

double spawn_row(unsigned workers, long n) {
  const auto body = [n] {
    latch all(n);
    for (long i = 0; i != n; ++i) start([&all] { all.done(); });
    all.wait();
  };
  return timed_in(workers, body) / static_cast<double>(n);
}

double pingpong_row(unsigned workers, long rounds) {
  const auto body = [rounds] {
    fibers::unbuffered_channel<long> there;
    fibers::unbuffered_channel<long> back;
    fibers::fiber other(fibers::launch::post, [&] {
      long n = 0;
      while (there.pop(n) == fibers::channel_op_status::success) back.push(n + 1);
    });
    for (long i = 0; i != rounds; ++i) {
      there.push(i);
      long n = 0;
      back.pop(n);
      bench::require(n == i + 1, "pingpong");
    }
    there.close();
    other.join();
  };
  return timed_in(workers, body) / static_cast<double>(rounds);
}

double yield_row(unsigned workers, long each) {
  const auto body = [each] {
    latch all(bench::yield_tasks);
    for (long i = 0; i != bench::yield_tasks; ++i) {
      start([&all, each] {
        for (long k = 0; k != each; ++k) boost::this_fiber::yield();
        all.done();
      });
    }
    all.wait();
  };
  return timed_in(workers, body) / static_cast<double>(bench::yield_tasks * each);
}

double grain_row(unsigned workers, long ns) {
  bench::grain size(ns);
  const long fewer = std::min(size.tasks, 20'000L);
  size.serial_ns *= static_cast<double>(fewer) / static_cast<double>(size.tasks);
  size.tasks = fewer;
  const double wall = timed_in(workers, [&] {
    latch all(size.tasks);
    for (long i = 0; i != size.tasks; ++i) {
      start([&] {
        if (bench::work(size.steps) != 0) all.done();
      });
    }
    all.wait();
  });
  return size.percent(wall, workers);
}

double memory_row(unsigned workers, long n) {
  double bytes = 0;
  static_cast<void>(timed_in(workers, [&] {
    fibers::unbuffered_channel<int> never;
    const double before = bench::resident_bytes();
    latch begun(n);
    latch ended(n);
    for (long i = 0; i != n; ++i) {
      start([&] {
        begun.done();
        int value = 0;
        static_cast<void>(never.pop(value));
        ended.done();
      });
    }
    begun.wait();
    bytes = (bench::resident_bytes() - before) / static_cast<double>(n);
    never.close();
    ended.wait();
  }));
  return bytes;
}

double idle_row(unsigned workers, long ms) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i != workers; ++i) {
    threads.emplace_back([=] {
      join_workers(workers);
      boost::this_fiber::sleep_for(std::chrono::milliseconds(2 * ms + 400));
    });
  }
  const double result = bench::idle_cpu(ms);
  for (std::thread& t : threads) t.join();
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const int status = bench::run(argc, argv,
                                {{"fib", fib_row},
                                 {"skynet", skynet_row},
                                 {"spawn", spawn_row},
                                 {"pingpong", pingpong_row},
                                 {"yield", yield_row},
                                 {"grain", grain_row},
                                 {"memory", memory_row},
                                 {"idle", idle_row}});
  here.reset();
  return status;
}
