// SPDX-License-Identifier: MIT
// Temporaries in an expression with co_await must be destroyed once, in every form in which the library's functions can
// be called with them. g++ up to 12 destroys some of them twice. must_not_compile/ has the forms that the library
// refuses there; co_await_twice/forms.cpp has all forms, and tools/co_await_twice.query finds those that the library
// cannot detect.
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "support.hpp"

namespace {

using runq::task;

/// The addresses of all objects that are alive. It counts a mistake when an object is used or destroyed that no
/// constructor has made.
class registry {
 public:
  void born(const void* where) {
    ++made_;
    if (!alive_.insert(where).second) ++mistakes_;
  }
  void used(const void* where) {
    if (!alive_.contains(where)) ++mistakes_;
  }
  void died(const void* where) {
    if (alive_.erase(where) == 0) ++mistakes_;
  }
  [[nodiscard]] int made() const { return made_; }
  [[nodiscard]] int mistakes() const { return mistakes_ + static_cast<int>(alive_.size()); }
  void clear() { *this = registry(); }

 private:
  std::set<const void*> alive_;
  int made_ = 0;
  int mistakes_ = 0;
};
registry all;  // not thread-safe: only one task uses it at a time

struct tracked {
  tracked(int n = 0) : value(n) { all.born(this); }  // NOLINT(google-explicit-constructor): as std::string
  tracked(const tracked& other) : value(other.value) {
    all.used(&other);
    all.born(this);
  }
  tracked(tracked&& other) noexcept : value(other.value) {
    all.used(&other);
    all.born(this);
  }
  tracked& operator=(const tracked&) = default;
  ~tracked() { all.died(this); }
  int value;
};

struct aggregate {
  tracked first;
  int second = 0;
};
struct only_movable {
  std::unique_ptr<int> first;
  tracked second;
};
struct with_constructor {
  with_constructor(tracked a, int b) : first(std::move(a)), second(b) {}
  tracked first;
  int second;
};

/// Runs the body, and checks that it has made tracked objects and that each was destroyed once.
template <class Body>
void expect_once(Body body) {
  all.clear();
  runq::run(std::move(body), {.procs = 1});
  EXPECT_GT(all.made(), 0);
  EXPECT_EQ(all.mistakes(), 0);
}

template <class T>
task<> receive_and_look(runq::channel<T>& from, std::optional<int>& first) {
  const auto got = co_await from.receive();
  first = got->first.value;
}

TEST(temporaries, an_aggregate_that_is_sent_in_braces_is_destroyed_once) {
  expect_once([]() -> task<> {
    for (const std::size_t capacity : {0U, 1U}) {
      runq::channel<aggregate> c(capacity);
      std::optional<int> first;
      // Either of the two tasks may be preempted in between, when its time slice is over.
      const auto seen = [&] { return first.has_value(); };
      runq::go(receive_and_look(c, first));
      const tracked five(5);
      co_await c.send({five, 1});
      co_await sched_test::yield_until(seen);
      EXPECT_EQ(first, 5);
      first.reset();
      runq::go(receive_and_look(c, first));
      co_await c.send({7, 1});
      co_await sched_test::yield_until(seen);
      EXPECT_EQ(first, 7);
      first.reset();
      runq::go(receive_and_look(c, first));
      co_await c.send({});
      co_await sched_test::yield_until(seen);
      EXPECT_EQ(first, 0);
    }
  });
}

TEST(temporaries, an_aggregate_with_a_name_is_sent_by_copy_and_by_move) {
  expect_once([]() -> task<> {
    runq::channel<aggregate> c(1);
    aggregate message{tracked(5), 1};
    co_await c.send(message);
    EXPECT_EQ((co_await c.receive())->first.value, 5);
    co_await c.send({std::move(message)});
    EXPECT_EQ((co_await c.receive())->first.value, 5);
  });
}

TEST(temporaries, an_aggregate_that_can_only_be_moved_is_sent_in_braces) {
  expect_once([]() -> task<> {
    runq::channel<only_movable> c(1);
    co_await c.send({std::make_unique<int>(3), 4});
    EXPECT_EQ(*(co_await c.receive())->first, 3);
    only_movable message{std::make_unique<int>(5), tracked(6)};
    co_await c.send({std::move(message)});
    const auto got = co_await c.receive();
    EXPECT_EQ(*got->first, 5);
    EXPECT_EQ(got->second.value, 6);
    EXPECT_EQ(message.first, nullptr);
  });
}

TEST(temporaries, values_that_are_no_aggregates_are_sent_in_any_form) {
  expect_once([]() -> task<> {
    runq::channel<with_constructor> c(1);
    co_await c.send({tracked(1), 1});
    EXPECT_EQ((co_await c.receive())->first.value, 1);
    co_await c.send(with_constructor(tracked(2), 1));
    EXPECT_EQ((co_await c.receive())->first.value, 2);
    runq::channel<std::pair<tracked, tracked>> pairs(1);
    co_await pairs.send({tracked(3), tracked(4)});
    EXPECT_EQ((co_await pairs.receive())->second.value, 4);
    runq::channel<tracked> values(1);
    co_await values.send(5);
    EXPECT_EQ((co_await values.receive())->value, 5);
    co_await values.send(tracked(6));
    EXPECT_EQ((co_await values.receive())->value, 6);
    tracked named(7);
    co_await values.send(std::move(named));
    EXPECT_EQ((co_await values.receive())->value, 7);
  });
}

TEST(temporaries, what_an_aggregate_without_destructors_is_sent_as_does_not_matter) {
  struct point {
    int x;
    int y;
  };
  runq::run([]() -> task<> {
    runq::channel<point> c(1);
    co_await c.send({1, 2});
    EXPECT_EQ((co_await c.receive())->y, 2);
    co_await c.send(point{3, 4});
    EXPECT_EQ((co_await c.receive())->y, 4);
  });
}

TEST(temporaries, arms_of_a_select_take_an_aggregate_in_braces) {
  expect_once([]() -> task<> {
    runq::channel<aggregate> c(1);
    std::optional<int> none;
    runq::channel<int> never;
    (void)co_await runq::select(runq::on_receive(never, none), runq::on_send(c, {tracked(5), 1}));
    EXPECT_EQ((co_await c.receive())->first.value, 5);
    aggregate message{tracked(6), 1};
    (void)co_await runq::select(runq::on_send(&c, {std::move(message)}), runq::otherwise());
    EXPECT_EQ((co_await c.receive())->first.value, 6);
    (void)co_await runq::select(runq::on_send(c, message));
    EXPECT_EQ((co_await c.receive())->first.value, 6);
  });
}

TEST(temporaries, a_blocking_call_takes_a_lambda_that_refers_to_its_surroundings_or_has_a_name) {
  expect_once([]() -> task<> {
    const tracked five(5);
    EXPECT_EQ(co_await runq::blocking([&] { return five.value; }), 5);
    const auto named = [five] { return five.value + 1; };
    EXPECT_EQ(co_await runq::blocking(named), 6);
    const auto only_movable = [five, p = std::make_unique<int>(2)] { return five.value + *p; };
    EXPECT_EQ(co_await runq::blocking(std::ref(only_movable)), 7);
    const std::function<int()> function = [five] { return five.value + 3; };
    EXPECT_EQ(co_await runq::blocking(function), 8);
    // The result is an aggregate whose members have destructors.
    const aggregate result = co_await runq::blocking([&] { return aggregate{five, 9}; });
    EXPECT_EQ(result.second, 9);
  });
}

TEST(temporaries, a_coroutine_lambda_with_a_name_may_be_called_and_started) {
  expect_once([]() -> task<> {
    const tracked five(5);
    const auto add = [five](tracked n) -> task<int> {
      co_await runq::yield();
      co_return five.value + n.value;
    };
    EXPECT_EQ(co_await add(tracked(1)), 6);
    auto forked = co_await runq::fork(add(2));
    co_await runq::join();
    EXPECT_EQ(forked.get(), 7);
    // Without a co_await in the expression the compiler is right, so go() may get a temporary lambda.
    int of_coroutine = 0;
    int of_function = 0;
    runq::go([five, &of_coroutine]() -> task<> {
      co_await runq::yield();
      of_coroutine = five.value;
    });
    runq::go([five, &of_function] { of_function = five.value; });
    co_await sched_test::yield_until([&] { return of_coroutine != 0 && of_function != 0; });
    EXPECT_EQ(of_coroutine, 5);
    EXPECT_EQ(of_function, 5);
  });
}

TEST(temporaries, one_of_two_awaits_is_chosen_by_an_if) {
  expect_once([]() -> task<> {
    const auto make = [](int n) -> task<tracked> { co_return tracked(n); };
    for (const bool first : {true, false}) {
      tracked chosen;
      if (first) {
        chosen = co_await make(1);
      } else {
        chosen = co_await make(2);
      }
      EXPECT_EQ(chosen.value, first ? 1 : 2);
    }
  });
}

TEST(temporaries, results_are_destroyed_once_in_conditions_of_loops_and_branches) {
  expect_once([]() -> task<> {
    runq::channel<tracked> c(4);
    for (int i = 0; i != 4; ++i) co_await c.send(i);
    c.close();
    int n = 0;
    while (const auto got = co_await c.receive()) n += got->value;
    EXPECT_EQ(n, 0 + 1 + 2 + 3);
    if (co_await c.receive()) ADD_FAILURE() << "the channel is closed";
  });
}

TEST(temporaries, a_discarded_result_in_the_condition_of_a_loop_is_destroyed_once) {
  expect_once([]() -> task<> {
    runq::channel<tracked> c(4);
    for (int i = 0; i != 4; ++i) co_await c.send(i);
    c.close();
    int n = 0;
    const auto count = [&n] { ++n; };
    while (co_await c.receive()) count();
    EXPECT_EQ(n, 4);
  });
}

/// Whether this compiler destroys a temporary aggregate in an expression with co_await twice. Here that does no harm,
/// because the aggregate holds no memory.
bool this_compiler_destroys_twice() {
  all.clear();
  runq::run(
      []() -> task<> {
        const auto call = [](const aggregate&) -> task<> { co_return; };
        co_await call(aggregate{tracked(1), 1});
      },
      {.procs = 1});
  return all.mistakes() != 0;
}

TEST(temporaries, forms_are_refused_by_those_compilers_only_that_get_them_wrong) {
  EXPECT_EQ(this_compiler_destroys_twice(), RUNQ_DESTROYS_TEMPORARIES_TWICE != 0);
}

#if RUNQ_DESTROYS_TEMPORARIES_TWICE
template <class F>
constexpr bool refused(F&&) {
  return runq::detail::destroyed_twice<F>;
}

TEST(temporaries, lambdas_are_known_from_other_types) {
  const tracked t;
  const auto named = [t] {};
  struct function_object {
    explicit function_object(tracked a) : captured(std::move(a)) {}
    void operator()() const {}
    tracked captured;
  };
  EXPECT_TRUE(refused([t] {}));
  EXPECT_TRUE(refused([t](int (*)(char)) mutable noexcept { return 1; }));
  EXPECT_TRUE(refused([t](auto...) -> std::function<void()> { return {}; }));
  EXPECT_TRUE(refused([named](std::function<void(int)>) {}));
  EXPECT_FALSE(refused(named));
  EXPECT_FALSE(refused([&t] { (void)t; }));
  EXPECT_FALSE(refused([] {}));
  EXPECT_FALSE(refused(std::function<void()>(named)));
  EXPECT_FALSE(refused(std::function<void(std::function<void()>)>()));
  EXPECT_FALSE(refused(std::bind_front(named)));
  EXPECT_FALSE(refused(function_object(t)));
  EXPECT_TRUE(refused(aggregate{t, 1}));
  EXPECT_TRUE(refused(std::array<tracked, 2>()));
  EXPECT_FALSE(refused(t));
  EXPECT_FALSE(refused(std::make_pair(t, t)));
  EXPECT_FALSE(refused(std::string()));
}
#endif

}  // namespace
