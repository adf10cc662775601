// SPDX-License-Identifier: MIT
// Eigen's thread pool with our queue as its RunQueue: every task runs exactly once, in trees, under a full queue, with
// tasks from outside, and while the pool is destroyed or cancelled.
// clang-format off
#include "eigen_run_queue.hpp"  // before Eigen
#include <unsupported/Eigen/CXX11/ThreadPool>
// clang-format on

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace {

/// Counts how often each of n tasks ran.
class census {
 public:
  explicit census(std::size_t n) : runs_(n) {}
  void ran(std::size_t task) { runs_[task].fetch_add(1, std::memory_order::relaxed); }
  void expect_each_once() const {
    for (std::size_t i = 0; i != runs_.size(); ++i) ASSERT_EQ(runs_[i].load(), 1) << "times that task " << i << " ran";
  }

 private:
  std::vector<std::atomic<int>> runs_;
};

struct move_only_work {
  std::unique_ptr<int> f;
};
using queue = Eigen::RunQueue<move_only_work, 4>;
move_only_work work(int id) { return {std::make_unique<int>(id)}; }
int id_of(const move_only_work& w) { return w.f == nullptr ? 0 : *w.f; }

TEST(eigen_run_queue, the_owner_takes_its_newest_task_and_a_thief_the_oldest) {
  queue q;
  EXPECT_TRUE(q.Empty());
  for (int id = 1; id <= 3; ++id) EXPECT_EQ(id_of(q.PushFront(work(id))), 0);
  EXPECT_EQ(q.Size(), 3U);
  EXPECT_EQ(id_of(q.PopFront()), 3);
  EXPECT_EQ(id_of(q.PopBack()), 1);
  EXPECT_EQ(id_of(q.PopFront()), 2);
  EXPECT_EQ(id_of(q.PopFront()), 0);
  EXPECT_EQ(id_of(q.PopBack()), 0);
}

TEST(eigen_run_queue, a_full_queue_gives_the_task_back_to_its_owner) {
  queue q;
  for (int id = 1; id <= 4; ++id) EXPECT_EQ(id_of(q.PushFront(work(id))), 0);
  EXPECT_EQ(id_of(q.PushFront(work(5))), 5);
  q.Flush();
  EXPECT_TRUE(q.Empty());
}

TEST(eigen_run_queue, tasks_from_outside_are_found_by_owner_and_thief) {
  queue q;
  for (int id = 1; id <= 4; ++id) EXPECT_EQ(id_of(q.PushBack(work(id))), 0);
  EXPECT_EQ(id_of(q.PushBack(work(5))), 5) << "a full queue gives the task back";
  EXPECT_FALSE(q.Empty());
  EXPECT_EQ(q.Size(), 4U);
  std::set<int> found;
  for (int i = 0; i != 2; ++i) {
    found.insert(id_of(q.PopFront()));
    found.insert(id_of(q.PopBack()));
  }
  EXPECT_EQ(found, (std::set<int>{1, 2, 3, 4}));
  EXPECT_TRUE(q.Empty());
}

TEST(eigen_pool, runs_each_task_from_outside_once) {
  census tasks(20'000);
  {
    Eigen::ThreadPool pool(4);
    for (std::size_t i = 0; i != 20'000; ++i) pool.Schedule([&tasks, i] { tasks.ran(i); });
  }  // the destructor waits for all tasks
  tasks.expect_each_once();
}

TEST(eigen_pool, runs_each_task_of_a_tree_once_and_does_not_miss_the_last) {
  constexpr std::size_t nodes = 1U << 15U;
  for (const bool spinning : {true, false}) {
    census tasks(nodes);
    Eigen::ThreadPool pool(4, spinning);
    Eigen::Barrier done(nodes - 1);
    std::function<void(std::size_t)> run = [&](std::size_t node) {
      tasks.ran(node);
      for (const std::size_t child : {2 * node, 2 * node + 1}) {
        if (child < nodes) pool.Schedule([&run, child] { run(child); });
      }
      done.Notify();
    };
    tasks.ran(0);
    pool.Schedule([&run] { run(1); });
    done.Wait();
    tasks.expect_each_once();
  }
}

TEST(eigen_pool, a_worker_that_fills_its_queue_runs_the_rest_itself) {
  constexpr std::size_t many = 5000;  // Eigen's queues have room for 1024
  census tasks(many);
  {
    Eigen::ThreadPool pool(2);
    pool.Schedule([&] {
      for (std::size_t i = 0; i != many; ++i) pool.Schedule([&tasks, i] { tasks.ran(i); });
    });
  }
  tasks.expect_each_once();
}

TEST(eigen_pool, several_threads_outside_schedule_while_workers_steal) {
  constexpr std::size_t each = 5000;
  census tasks(3 * each);
  {
    Eigen::ThreadPool pool(3);
    std::vector<std::jthread> outside;
    for (std::size_t t = 0; t != 3; ++t) {
      outside.emplace_back([&, t] {
        for (std::size_t i = 0; i != each; ++i) pool.Schedule([&tasks, id = t * each + i] { tasks.ran(id); });
      });
    }
    outside.clear();
  }
  tasks.expect_each_once();
}

/// An environment for ThreadPoolTempl. Cancel() of Eigen 3.4 can miss a worker that is about to sleep, with Eigen's own
/// queue, too: then the pool's destructor waits for ever (checked/eigen_cancel.cpp). So this one cancels again until
/// the worker has ended.
struct cancelling_environment : Eigen::StlThreadEnvironment {
  class EnvThread {
   public:
    EnvThread(const std::function<void()>& body, const std::function<void()>& cancel)
        : cancel_(cancel), thread_([this, body] {
            body();
            ended_ = true;
          }) {}
    ~EnvThread() {
      for (; !ended_; std::this_thread::yield()) cancel_();
      thread_.join();
    }

   private:
    const std::function<void()>& cancel_;
    std::atomic<bool> ended_{false};
    std::thread thread_;
  };
  explicit cancelling_environment(const std::function<void()>& how) : cancel(how) {}
  EnvThread* CreateThread(const std::function<void()>& body) const { return new EnvThread(body, cancel); }
  const std::function<void()>& cancel;
};

// What a cancelled pool has not run is destroyed with it, once (the sanitizers see a task that is lost or freed twice).
TEST(eigen_pool, a_cancelled_pool_runs_no_task_twice_and_destroys_the_rest) {
  for (int round = 0; round != 20; ++round) {
    const auto alive = std::make_shared<int>(0);
    std::vector<std::atomic<int>> runs(2000);
    {
      std::function<void()> cancel;
      Eigen::ThreadPoolTempl<cancelling_environment> pool(3, cancelling_environment(cancel));
      cancel = [&pool] { pool.Cancel(); };
      for (std::size_t i = 0; i != runs.size(); ++i) pool.Schedule([&runs, i, alive] { runs[i].fetch_add(1); });
      pool.Cancel();
    }
    EXPECT_EQ(alive.use_count(), 1) << "a task was neither run nor destroyed";
    for (const std::atomic<int>& times : runs) EXPECT_LE(times.load(), 1);
  }
}

}  // namespace
