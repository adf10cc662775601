// SPDX-License-Identifier: MIT
// execution: schedule() in the manner of P2300: a receiver is completed exactly once, by set_value in a task or by
// set_stopped. And tasks that wait for senders: what each kind of completion is for the task, from each kind of thread.
#include "runq/execution.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
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

// ---- a task that waits for a sender ---------------------------------------------------------------------------------

using namespace std::chrono_literals;
using ex::as_awaitable;

/// A sender whose start() calls how(receiver).
template <class Signatures, class How>
class made_sender {
 public:
  using sender_concept = ex::sender_tag;
  using completion_signatures = Signatures;

  explicit made_sender(How how) : how_(std::move(how)) {}

  template <class Receiver>
  class operation {
   public:
    using operation_state_concept = ex::operation_state_tag;
    operation(How how, Receiver r) : how_(std::move(how)), receiver_(std::move(r)) {}
    operation(const operation&) = delete;
    operation& operator=(const operation&) = delete;
    void start() noexcept { how_(receiver_); }

   private:
    How how_;
    Receiver receiver_;
  };
  template <class Receiver>
  [[nodiscard]] operation<Receiver> connect(Receiver r) && {
    return {std::move(how_), std::move(r)};
  }

 private:
  How how_;
};

template <class... Signatures, class How>
[[nodiscard]] auto sender(How how) {
  return made_sender<ex::completion_signatures<Signatures...>, How>(std::move(how));
}

/// Calls f when it is destroyed.
template <class F>
class at_exit {
 public:
  explicit at_exit(F f) : f_(std::move(f)) {}
  at_exit(const at_exit&) = delete;
  at_exit& operator=(const at_exit&) = delete;
  ~at_exit() { f_(); }

 private:
  F f_;
};

/// Plain threads that make calls, in some order.
class plain_threads {
 public:
  explicit plain_threads(unsigned n) {
    for (unsigned i = 0; i != n; ++i) threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
  plain_threads(const plain_threads&) = delete;
  plain_threads& operator=(const plain_threads&) = delete;
  ~plain_threads() = default;
  void call(std::function<void()> f) {
    {
      const std::lock_guard lock(mutex_);
      calls_.push_back(std::move(f));
    }
    more_.notify_one();
  }

 private:
  void work(const std::stop_token& stop) {
    for (;;) {
      std::function<void()> f;
      {
        std::unique_lock lock(mutex_);
        if (!more_.wait(lock, stop, [this] { return !calls_.empty(); })) return;
        f = std::move(calls_.front());
        calls_.pop_front();
      }
      f();
    }
  }
  std::mutex mutex_;
  std::condition_variable_any more_;
  std::deque<std::function<void()>> calls_;
  std::vector<std::jthread> threads_;  // destroyed first: asked to stop, and joined
};

/// What `co_await as_awaitable(s)` throws, as text.
template <class Sender>
task<std::string> thrown_by(Sender s) {
  try {
    co_await as_awaitable(std::move(s));
  } catch (const runq::cancelled&) {
    co_return "cancelled";
  } catch (const std::system_error& e) {
    co_return "system_error " + std::to_string(e.code().value());
  } catch (const std::exception& e) {
    co_return e.what();
  } catch (int number) {
    co_return "int " + std::to_string(number);
  }
  co_return "nothing";
}

template <class... S>
using returned = typename decltype(as_awaitable(sender<S...>([](auto&) {})))::value_type;
static_assert(std::is_same_v<returned<ex::set_value_t()>, void>);
static_assert(std::is_same_v<returned<ex::set_stopped_t()>, void>);
static_assert(std::is_same_v<returned<ex::set_stopped_t(), ex::set_value_t(const int&)>, int>);
static_assert(std::is_same_v<returned<ex::set_value_t(int, std::string&&)>, std::tuple<int, std::string>>);

TEST(as_awaitable, returns_what_was_sent_in_start) {
  runq::run([]() -> task<> {
    co_await as_awaitable(sender<ex::set_value_t()>([](auto& r) { std::move(r).set_value(); }));
    const auto one = sender<ex::set_value_t(std::unique_ptr<int>)>(
        [](auto& r) { std::move(r).set_value(std::make_unique<int>(42)); });
    EXPECT_EQ(*co_await as_awaitable(one), 42);
    const auto two =
        sender<ex::set_value_t(int, std::string)>([](auto& r) { std::move(r).set_value(7, std::string("seven")); });
    EXPECT_EQ(co_await as_awaitable(two), std::make_tuple(7, std::string("seven")));
  });
}

TEST(as_awaitable, throws_what_was_sent_as_an_error) {
  runq::run([]() -> task<> {
    const auto by_pointer = sender<ex::set_value_t(int), ex::set_error_t(std::exception_ptr)>(
        [](auto& r) { std::move(r).set_error(std::make_exception_ptr(std::runtime_error("broken"))); });
    EXPECT_EQ(co_await thrown_by(by_pointer), "broken");
    const auto by_code = sender<ex::set_value_t(), ex::set_error_t(std::error_code)>(
        [](auto& r) { std::move(r).set_error(std::make_error_code(std::errc::timed_out)); });
    EXPECT_EQ(co_await thrown_by(by_code), "system_error " + std::to_string(ETIMEDOUT));
    const auto by_itself = sender<ex::set_error_t(int)>([](auto& r) { std::move(r).set_error(5); });
    EXPECT_EQ(co_await thrown_by(by_itself), "int 5");
  });
}

struct throws_when_copied {
  throws_when_copied() = default;
  throws_when_copied(const throws_when_copied&) { throw std::runtime_error("copied"); }
  throws_when_copied& operator=(const throws_when_copied&) = default;
  ~throws_when_copied() = default;
};

TEST(as_awaitable, throws_what_a_value_throws_when_it_is_kept) {
  runq::run([]() -> task<> {
    const auto s = sender<ex::set_value_t(throws_when_copied)>([](auto& r) {
      const throws_when_copied value;
      std::move(r).set_value(value);
    });
    EXPECT_EQ(co_await thrown_by(s), "copied");
  });
}

TEST(as_awaitable, a_sender_that_was_stopped_cancels_the_task) {
  runq::run([]() -> task<> {
    const auto s = sender<ex::set_stopped_t()>([](auto& r) { std::move(r).set_stopped(); });
    EXPECT_EQ(co_await thrown_by(s), "cancelled");
    // A started task that it ends is no panic.
    runq::wait_group ended;
    ended.add(1);
    runq::go([&]() -> task<> {
      const at_exit tell([&] { ended.done(); });
      co_await as_awaitable(s);
    });
    co_await ended.wait();
  });
}

TEST(as_awaitable, plain_threads_complete_many_at_once) {
  for (const unsigned procs : {1U, 2U, 4U}) {
    plain_threads threads(3);
    const int many = static_cast<int>(sched_test::rounds(20'000));
    std::atomic<int> values{0};
    std::atomic<int> errors{0};
    std::atomic<int> stopped{0};
    const auto one = [&](int i) -> task<> {
      // What the sender refers to lies in the task.
      int sent = i;
      const auto s =
          sender<ex::set_value_t(int), ex::set_error_t(std::exception_ptr), ex::set_stopped_t()>([&](auto& r) {
            threads.call([&] {
              if (sent % 3 == 0) {
                std::move(r).set_value(sent);
              } else if (sent % 3 == 1) {
                std::move(r).set_error(std::make_exception_ptr(std::runtime_error("odd")));
              } else {
                std::move(r).set_stopped();
              }
            });
          });
      try {
        EXPECT_EQ(co_await as_awaitable(s), i);
        ++values;
      } catch (const std::runtime_error&) {
        ++errors;
      } catch (const runq::cancelled&) {
        ++stopped;
      }
      sent = -1;
    };
    runq::run(
        [&]() -> task<> {
          runq::wait_group all;
          all.add(many);
          for (int i = 0; i != many; ++i) {
            runq::go([&one, &all, i]() -> task<> {
              co_await one(i);
              all.done();
            });
          }
          co_await all.wait();
        },
        {.procs = procs});
    EXPECT_EQ(values, (many + 2) / 3);
    EXPECT_EQ(errors, (many + 1) / 3);
    EXPECT_EQ(stopped, many / 3);
  }
}

TEST(as_awaitable, the_operation_is_destroyed_before_the_task_goes_on) {
  plain_threads threads(1);
  runq::run([&]() -> task<> {
    const auto captured = std::make_shared<int>(1);
    const auto s =
        sender<ex::set_value_t()>([captured, &threads](auto& r) { threads.call([&] { std::move(r).set_value(); }); });
    for (int i = 0; i != 100; ++i) {
      co_await as_awaitable(s);
      EXPECT_EQ(captured.use_count(), 2);
    }
  });
}

TEST(as_awaitable, work_of_schedule_runs_as_a_task_here_and_in_another_scheduler) {
  runq::scheduler other({.procs = 1});
  runq::run(
      [&]() -> task<> {
        for (int i = 0; i != 100; ++i) {
          co_await as_awaitable(task_scheduler(runq::this_task::handle()).schedule());
          co_await as_awaitable(task_scheduler(other.attach()).schedule());
        }
      },
      {.procs = 2});
}

/// Completes with set_stopped() when its receiver is asked to stop, on the thread that asks, and not before.
struct waits_for_stop {
  using sender_concept = ex::sender_tag;
  using completion_signatures = ex::completion_signatures<ex::set_value_t(), ex::set_stopped_t()>;

  template <class Receiver>
  class operation {
   public:
    using operation_state_concept = ex::operation_state_tag;
    explicit operation(Receiver r) : receiver_(std::move(r)) {}
    operation(const operation&) = delete;
    operation& operator=(const operation&) = delete;
    void start() noexcept { on_stop_.emplace(receiver_.stop_token(), told{receiver_}); }

   private:
    struct told {
      Receiver& receiver;
      void operator()() const noexcept { std::move(receiver).set_stopped(); }
    };
    Receiver receiver_;
    std::optional<std::stop_callback<told>> on_stop_;
  };
  template <class Receiver>
  [[nodiscard]] operation<Receiver> connect(Receiver r) const {
    return operation<Receiver>(std::move(r));
  }
};

TEST(as_awaitable, a_stop_request_reaches_the_sender) {
  for (const unsigned procs : {1U, 2U}) {
    runq::run(
        []() -> task<> {
          // From a timer's task; from a plain thread; from the task's own start().
          const auto patient = [](std::stop_token stop) -> task<> {
            co_await as_awaitable(waits_for_stop(), std::move(stop));
          };
          int timed_out = 0;
          try {
            co_await runq::with_timeout(1ms, patient);
          } catch (const runq::timed_out&) {
            ++timed_out;
          }
          try {
            co_await runq::with_timeout(1ms, as_awaitable(waits_for_stop()));
          } catch (const runq::timed_out&) {
            ++timed_out;
          }
          EXPECT_EQ(timed_out, 2);

          for (int i = 0; i != 20; ++i) {
            std::stop_source stop;
            std::thread outside([&] { stop.request_stop(); });
            bool cancelled = false;
            try {
              co_await as_awaitable(waits_for_stop(), stop.get_token());
            } catch (const runq::cancelled&) {
              cancelled = true;
            }
            EXPECT_TRUE(cancelled);
            outside.join();
          }
        },
        {.procs = procs});
  }
}

TEST(as_awaitable, a_sender_that_does_not_ask_is_not_stopped) {
  runq::run([]() -> task<> {
    std::stop_source stop;
    const auto s = sender<ex::set_value_t(int)>([&](auto& r) {
      stop.request_stop();
      std::move(r).set_value(1);
    });
    EXPECT_EQ(co_await as_awaitable(s, stop.get_token()), 1);
  });
}

TEST(as_awaitable, after_a_stop_request_nothing_is_started) {
  runq::run([]() -> task<> {
    std::stop_source stop;
    stop.request_stop();
    bool started = false;
    const auto s = sender<ex::set_value_t()>([&](auto& r) {
      started = true;
      std::move(r).set_value();
    });
    bool cancelled = false;
    try {
      co_await as_awaitable(s, stop.get_token());
    } catch (const runq::cancelled&) {
      cancelled = true;
    }
    EXPECT_TRUE(cancelled);
    EXPECT_FALSE(started);
  });
}

// The sender uses a variable of the task until it completes, and it completes because it is asked to stop.
TEST(as_awaitable, the_end_of_the_run_asks_to_stop_and_waits) {
  plain_threads threads(1);
  std::atomic<bool> destroyed{false};
  bool used = false;
  runq::run([&]() -> task<> {
    runq::wait_group started;
    started.add(1);
    runq::go([&]() -> task<> {
      const at_exit tell([&] { destroyed = true; });
      int variable = 0;
      const auto s = sender<ex::set_value_t(), ex::set_stopped_t()>([&](auto& r) {
        threads.call([&] {
          started.done();
          while (!r.stop_token().stop_requested()) std::this_thread::yield();
          ++variable;
          used = !destroyed;
          std::move(r).set_stopped();
        });
      });
      co_await as_awaitable(s);
    });
    co_await started.wait();
  });
  EXPECT_TRUE(used);
  EXPECT_TRUE(destroyed);
}

/// schedule(), whose start() tells a wait group afterwards.
struct schedules_and_tells {
  using sender_concept = ex::sender_tag;
  using completion_signatures = task_scheduler::sender::completion_signatures;
  task_scheduler::sender inner;
  runq::wait_group* told;

  template <class Receiver>
  struct operation {
    using operation_state_concept = ex::operation_state_tag;
    decltype(std::declval<task_scheduler::sender>().connect(std::declval<Receiver>())) of_inner;
    runq::wait_group* told;
    void start() noexcept {
      of_inner.start();
      told->done();
    }
  };
  template <class Receiver>
  [[nodiscard]] operation<Receiver> connect(Receiver r) const {
    return {inner.connect(std::move(r)), told};
  }
};

// With one processor main goes on, and ends, before the work of schedule() begins: waking it puts it first.
TEST(as_awaitable, the_end_of_the_run_completes_work_of_schedule_that_has_not_begun) {
  bool went_on = false;
  runq::run(
      [&]() -> task<> {
        runq::wait_group started;
        started.add(1);
        runq::go([&]() -> task<> {
          const schedules_and_tells s{task_scheduler(runq::this_task::handle()).schedule(), &started};
          co_await as_awaitable(s);
          went_on = true;
        });
        co_await started.wait();
      },
      {.procs = 1});
  EXPECT_FALSE(went_on);
}

}  // namespace
