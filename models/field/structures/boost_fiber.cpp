// SPDX-License-Identifier: MIT
// Structures of Boost.Fiber: one of them is compiled, which the macro FIELD_<name> chooses.

#ifdef FIELD_fiber_spmc_queue
// boost::fibers::detail::context_spmc_queue: a work-stealing deque with the orders of Lê and others. BEGINS_EMPTY: the
// first pop may come before the first push.
#include <optional>

#include <boost/fiber/detail/context_spmc_queue.hpp>

#include "../field.hpp"

/// A queue keeps pointers to contexts, of which it looks at the kind only.
class contexts {
 public:
  boost::fibers::context* operator[](int number) {
    return reinterpret_cast<boost::fibers::context*>(&all_.at(static_cast<std::size_t>(number)));
  }
  std::optional<int> number(boost::fibers::context* c) const {
    if (c == nullptr) return {};
    return static_cast<int>(reinterpret_cast<const one*>(c) - all_.data());
  }

 private:
  struct alignas(boost::fibers::context) one {
    std::array<char, sizeof(boost::fibers::context)> bytes{};
  };
  std::array<one, 8> all_{};
};
class queue {
 public:
  bool push(int value) {
    queue_.push(all_[value]);
    return true;
  }
  std::optional<int> pop() { return all_.number(queue_.pop()); }
  std::optional<int> steal() { return all_.number(queue_.steal()); }

 private:
  contexts all_;
  boost::fibers::detail::context_spmc_queue queue_{2};
};
/// A pop or a steal may give up when another thread takes the element.
class specification {
 public:
  bool push(int value) { return inside_.push_back(value); }
  std::optional<int> pop() { return runq::any_of(2) == 1 ? std::nullopt : inside_.pop_back(); }
  std::optional<int> steal() { return runq::any_of(2) == 1 ? std::nullopt : inside_.pop_front(); }

 private:
  runq::spec::deque<int> inside_;
};

static auto make_test() {
  runq::linearizable<queue, specification> test;
  test.operation("push", RUNQ_CODE([](auto& q, int value) { return q.push(value); }), runq::fresh).by("owner");
  test.operation("pop", RUNQ_CODE([](auto& q) { return q.pop(); })).by("owner");
  test.operation("steal", RUNQ_CODE([](auto& q) { return q.steal(); })).beside("owner");
#ifndef BEGINS_EMPTY
  test.initially("push", RUNQ_CODE([](auto& q, int value) { return q.push(value); }), 7);
#endif
  return test;
}

RUNQ_FIELD(make_test)
#endif

#ifdef FIELD_fiber_spinlock_ttas
// boost::fibers::detail::spinlock_ttas: test, then test-and-set.
#include <algorithm>
#include <atomic>
#include <chrono>

#include <boost/fiber/detail/config.hpp>
#include <boost/fiber/detail/spinlock_ttas.hpp>

#include "../field.hpp"

using lock = runq::field::guarded<boost::fibers::detail::spinlock_ttas>;

RUNQ_FIELD(runq::field::add_and_try_add<lock>)
#endif

#ifdef FIELD_fiber_spinlock_ttas_adaptive
// boost::fibers::detail::spinlock_ttas_adaptive: test, then test-and-set, with a back-off that learns.
#include <algorithm>
#include <atomic>
#include <chrono>

#include <boost/fiber/detail/config.hpp>
#include <boost/fiber/detail/spinlock_ttas_adaptive.hpp>

#include "../field.hpp"

using lock = runq::field::guarded<boost::fibers::detail::spinlock_ttas_adaptive>;

RUNQ_FIELD(runq::field::add_and_try_add<lock>)
#endif

#ifdef FIELD_fiber_spinlock_ttas_futex
// boost::fibers::detail::spinlock_ttas_futex: test, then test-and-set, and a futex.
#include <algorithm>
#include <atomic>
#include <chrono>

#include <boost/fiber/detail/config.hpp>
#include <boost/fiber/detail/spinlock_ttas_futex.hpp>

#include "../field.hpp"

using lock = runq::field::guarded<boost::fibers::detail::spinlock_ttas_futex>;

static auto make_test() {
  auto test = runq::field::add_and_try_add<lock>();
  test.options.calls = 1;
  return test;
}

RUNQ_FIELD(make_test)
#endif

#ifdef FIELD_fiber_spinlock_ttas_adaptive_futex
// boost::fibers::detail::spinlock_ttas_adaptive_futex: test, then test-and-set, with a back-off that learns, and a
// futex.
#include <algorithm>
#include <atomic>
#include <chrono>

#include <boost/fiber/detail/config.hpp>
#include <boost/fiber/detail/spinlock_ttas_adaptive_futex.hpp>

#include "../field.hpp"

using lock = runq::field::guarded<boost::fibers::detail::spinlock_ttas_adaptive_futex>;

static auto make_test() {
  auto test = runq::field::add_and_try_add<lock>();
  test.options.calls = 1;
  return test;
}

RUNQ_FIELD(make_test)
#endif
