// SPDX-License-Identifier: MIT
// execution: schedule() in the manner of P2300: a receiver is completed exactly once, by set_value in a task or by
// set_stopped.
#include "runq/execution.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "support.hpp"

namespace {

namespace ex = runq::execution;
using ex::task_scheduler;
using runq::task;

static_assert(ex::scheduler<task_scheduler>);

/// How receivers were completed, and on which kind of thread.
struct told {
  std::atomic<int> values{0};
  std::atomic<int> stopped{0};
  std::atomic<int> outside_a_task{0};
  runq::wait_group all;
};

class counting_receiver {
 public:
  using receiver_concept = ex::receiver_tag;
  explicit counting_receiver(told& to, std::stop_token stop = {}) noexcept : to_(&to), stop_(std::move(stop)) {}
  void set_value() && noexcept { tell(to_->values); }
  void set_stopped() && noexcept { tell(to_->stopped); }
  [[nodiscard]] std::stop_token stop_token() const noexcept { return stop_; }

 private:
  void tell(std::atomic<int>& what) noexcept {
    ++what;
    if (!runq::this_task::running()) ++to_->outside_a_task;
    to_->all.done();
  }
  told* to_;
  std::stop_token stop_;
};

static_assert(ex::receiver<counting_receiver>);
static_assert(ex::sender_to<task_scheduler::sender, counting_receiver>);

using operation = decltype(std::declval<task_scheduler>().schedule().connect(std::declval<counting_receiver>()));

TEST(execution, a_started_operation_tells_its_receiver_in_a_task) {
  for (const unsigned procs : sched_test::proc_counts) {
    runq::run(
        []() -> task<> {
          told what;
          const task_scheduler here(runq::this_task::handle(), "scheduled");
          constexpr int many = 100;
          what.all.add(many);
          std::vector<std::unique_ptr<operation>> operations;
          for (int i = 0; i != many; ++i) {
            operations.emplace_back(new operation(here.schedule().connect(counting_receiver(what))));
            operations.back()->start();
          }
          co_await what.all.wait();
          EXPECT_EQ(what.values, many);
          EXPECT_EQ(what.outside_a_task, 0);
        },
        {.procs = procs});
  }
}

TEST(execution, threads_outside_may_start_operations) {
  runq::run(
      []() -> task<> {
        told what;
        constexpr int many = 50;
        what.all.add(2 * many);
        std::array<std::vector<std::unique_ptr<operation>>, 2> operations;
        std::vector<std::thread> threads;
        for (auto& own : operations) {
          threads.emplace_back([&own, &what, here = task_scheduler(runq::this_task::handle())] {
            for (int i = 0; i != many; ++i) {
              own.emplace_back(new operation(here.schedule().connect(counting_receiver(what))));
              own.back()->start();
            }
          });
        }
        co_await what.all.wait();
        for (std::thread& t : threads) t.join();
        EXPECT_EQ(what.values, 2 * many);
        EXPECT_EQ(what.outside_a_task, 0);
      },
      {.procs = 2});
}

TEST(execution, a_stop_before_the_task_begins_is_told) {
  runq::run(
      []() -> task<> {
        told what;
        what.all.add(1);
        std::stop_source stop;
        operation o =
            task_scheduler(runq::this_task::handle()).schedule().connect(counting_receiver(what, stop.get_token()));
        o.start();
        stop.request_stop();
        co_await what.all.wait();
        EXPECT_EQ(what.stopped, 1);
        EXPECT_EQ(what.values, 0);
      },
      {.procs = 1});
}

// With one processor the task cannot begin before main ends.
TEST(execution, the_end_of_the_run_is_a_stop) {
  told what;
  what.all.add(1);
  std::optional<task_scheduler> kept;
  std::unique_ptr<operation> o;
  runq::run(
      [&] {
        kept.emplace(runq::this_task::handle());
        o.reset(new operation(kept->schedule().connect(counting_receiver(what))));
        o->start();
      },
      {.procs = 1});
  EXPECT_EQ(what.stopped, 1);
  EXPECT_EQ(what.values, 0);
}

TEST(execution, after_the_end_of_the_scheduler_all_are_stopped) {
  told what;
  what.all.add(1);
  std::optional<task_scheduler> kept;
  runq::run([&] { kept.emplace(runq::this_task::handle()); });
  operation o = kept->schedule().connect(counting_receiver(what));
  o.start();
  EXPECT_EQ(what.stopped, 1);
}

TEST(execution, an_operation_that_is_not_started_does_nothing) {
  told what;
  runq::run([&] {
    [[maybe_unused]] const operation o =
        task_scheduler(runq::this_task::handle()).schedule().connect(counting_receiver(what));
  });
  EXPECT_EQ(what.values + what.stopped, 0);
}

// A receiver that owns its operation, and destroys it when it is completed.
struct self_destroying {
  using receiver_concept = ex::receiver_tag;
  std::shared_ptr<std::shared_ptr<void>> owned;
  runq::wait_group* over;
  void set_value() && noexcept { end(); }
  void set_stopped() && noexcept { end(); }
  void end() noexcept {
    runq::wait_group* const told = over;
    const std::shared_ptr<std::shared_ptr<void>> mine = owned;
    mine->reset();
    told->done();
  }
};

TEST(execution, a_receiver_may_destroy_its_operation) {
  using own_operation = decltype(std::declval<task_scheduler>().schedule().connect(std::declval<self_destroying>()));
  runq::run(
      []() -> task<> {
        runq::wait_group over;
        for (int i = 0; i != 20; ++i) {
          over.add(1);
          const auto cell = std::make_shared<std::shared_ptr<void>>();
          const std::shared_ptr<own_operation> o(new own_operation(
              task_scheduler(runq::this_task::handle()).schedule().connect(self_destroying{cell, &over})));
          *cell = o;
          o->start();
        }
        co_await over.wait();
      },
      {.procs = 2});
}

TEST(execution, schedulers_are_equal_when_their_tasks_run_in_the_same_one) {
  runq::scheduler a({.procs = 1});
  runq::scheduler b({.procs = 1});
  EXPECT_EQ(task_scheduler(a.attach()), task_scheduler(a.attach(), "other name"));
  EXPECT_FALSE(task_scheduler(a.attach()) == task_scheduler(b.attach()));
}

}  // namespace
