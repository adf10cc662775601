// SPDX-License-Identifier: MIT
// A queue that is not ours, checked with our scenario. It must let us choose its atomics, and it needs an adaptor.
//
// The queue is an example: a deque of fixed size, as many runtimes have one; correct, and with one order too weak.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "owner_and_thief.hpp"
#include "runq/chase_lev.hpp"
#include "runq/ring.hpp"

namespace third_party {

template <class T, template <class> class Atom, std::memory_order Reserve>
class small_deque {
 public:
  bool push_bottom(T value) {
    const std::int64_t b = bottom_.load(std::memory_order::relaxed);
    if (b - top_.load(std::memory_order::acquire) == 4) return false;
    slots_[static_cast<std::size_t>(b) % 4].store(value, std::memory_order::relaxed);
    bottom_.store(b + 1, std::memory_order::release);
    return true;
  }
  bool pop_bottom(T& value) {
    const std::int64_t b = bottom_.load(std::memory_order::relaxed) - 1;
    bottom_.store(b, Reserve);  // seq_cst: otherwise a thief may not see it in time
    std::int64_t t = top_.load(std::memory_order::seq_cst);
    if (t > b) {
      bottom_.store(b + 1, std::memory_order::release);
      return false;
    }
    value = slots_[static_cast<std::size_t>(b) % 4].load(std::memory_order::relaxed);
    if (t < b) return true;
    const bool got = top_.compare_exchange_strong(t, t + 1, std::memory_order::seq_cst, std::memory_order::relaxed);
    bottom_.store(b + 1, std::memory_order::release);
    return got;
  }
  bool steal_top(T& value) {
    std::int64_t t = top_.load(std::memory_order::seq_cst);
    if (t >= bottom_.load(std::memory_order::seq_cst)) return false;
    value = slots_[static_cast<std::size_t>(t) % 4].load(std::memory_order::relaxed);
    return top_.compare_exchange_strong(t, t + 1, std::memory_order::seq_cst, std::memory_order::relaxed);
  }

 private:
  Atom<std::int64_t> top_{0};
  Atom<std::int64_t> bottom_{0};
  std::array<Atom<T>, 4> slots_;
};

}  // namespace third_party

namespace runq::model {
namespace {

// The adaptor is all that has to be written.
template <std::memory_order Reserve>
struct adaptor {
  bool push(task* t) { return queue.push_bottom(t); }
  task* pop() {
    task* t = nullptr;
    return queue.pop_bottom(t) ? t : nullptr;
  }
  task* steal() {
    task* t = nullptr;
    return queue.steal_top(t) ? t : nullptr;
  }
  third_party::small_deque<task*, atomic, Reserve> queue;
};

// The same scenario on two queues of ours.
struct ring_adaptor {
  bool push(task* t) { return owner.push(t); }
  task* pop() { return owner.pop().value_or(nullptr); }
  task* steal() { return queue.make_thief().steal().value; }
  basic_ring<task*, 2, std::uint64_t, atomics> queue;
  basic_ring<task*, 2, std::uint64_t, atomics>::owner owner = queue.make_owner();
};
struct chase_lev_adaptor {
  bool push(task* t) { return owner.push(t); }
  task* pop() { return owner.pop().value_or(nullptr); }
  task* steal() { return queue.make_thief().steal().value; }
  basic_chase_lev<task*, atomics> queue{2};
  basic_chase_lev<task*, atomics>::owner owner = queue.make_owner();
};

constexpr const char* property = "owner and thief together run every task exactly once, its contents visible";

const bool added[] = {
    add_case<owner_and_thief<ring_adaptor>>({.name = "third_party/ring", .property = property, .threads = 2}),
    add_case<owner_and_thief<chase_lev_adaptor>>({.name = "third_party/chase_lev", .property = property, .threads = 2}),
    add_case<owner_and_thief<adaptor<std::memory_order::seq_cst>>>(
        {.name = "third_party/small_deque", .property = property, .threads = 2}),
    add_case<owner_and_thief<adaptor<std::memory_order::release>>>({
        .name = "third_party/small_deque_reserves_too_weakly",
        .property = "with a release store in pop, owner and thief both take the last task",
        .threads = 2,
        .seeded_bug = true,
    }),
};

}  // namespace
}  // namespace runq::model
