// SPDX-License-Identifier: MIT
// How to run the laws and the history checker on your own queue. The queue here is an example: a small ring with one
// owner and many thieves, templated over its atomics as many are. There is a correct one and one for each of two seeded
// bugs: a single thread can see the first bug, the second takes two threads.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "chaos_atomics.hpp"
#include "fifo_laws.hpp"
#include "runner.hpp"

namespace third_party {

enum class bug : std::uint8_t { none, drops_the_last_slot, owner_does_not_compare };

template <template <class> class Atom, bug Bug>
class small_ring {
 public:
  bool try_push(std::uint32_t v) {
    const std::uint64_t t = tail_.load(std::memory_order_relaxed);
    if (t - head_.load(std::memory_order_acquire) >= (Bug == bug::drops_the_last_slot ? 7U : 8U)) {
      return Bug == bug::drops_the_last_slot && t - head_.load(std::memory_order_relaxed) == 7;
    }
    slots_[t % 8].store(v, std::memory_order_relaxed);
    tail_.store(t + 1, std::memory_order_release);
    return true;
  }
  bool try_pop(std::uint32_t& v) {
    if (Bug != bug::owner_does_not_compare) return try_steal(v) > 0;
    const std::uint64_t h = head_.load(std::memory_order_acquire);
    if (h == tail_.load(std::memory_order_relaxed)) return false;
    v = slots_[h % 8].load(std::memory_order_relaxed);
    head_.store(h + 1, std::memory_order_release);
    return true;
  }
  // 1: got one, 0: nothing there. Tries until it is one of these.
  int try_steal(std::uint32_t& v) {
    for (;;) {
      std::uint64_t h = head_.load(std::memory_order_acquire);
      if (h == tail_.load(std::memory_order_acquire)) return 0;
      v = slots_[h % 8].load(std::memory_order_relaxed);
      if (head_.compare_exchange_strong(h, h + 1, std::memory_order_release, std::memory_order_relaxed)) return 1;
    }
  }

 private:
  Atom<std::uint64_t> head_{0};
  Atom<std::uint64_t> tail_{0};
  std::array<Atom<std::uint32_t>, 8> slots_{};
};

}  // namespace third_party

namespace {

using runq::props::value;

// You only have to write this adaptor.
template <third_party::bug Bug, template <class> class Atom = std::atomic>
struct adaptor {
  static constexpr std::size_t capacity = 8;
  explicit adaptor(std::uint64_t) {}
  bool push(value v) { return queue.try_push(v); }
  std::optional<value> pop() {
    value v = 0;
    return queue.try_pop(v) ? std::optional<value>(v) : std::nullopt;
  }
  runq::steal_result<value> steal() {
    value v = 0;
    return queue.try_steal(v) > 0 ? runq::steal_result<value>{runq::steal_status::taken, v, 1}
                                  : runq::steal_result<value>{};
  }
  third_party::small_ring<Atom, Bug> queue;
};

// With a hook for the atomics, threads can be held up between any two of them. Without one, only the operating system's
// scheduler interleaves the threads, and finding a bug takes longer.
template <class T>
using slow_atomic = runq::props::chaos_atomics::atomic<T>;

template <third_party::bug Bug>
int run_laws(const char* name, std::vector<std::string> arguments) {
  using namespace runq::props;
  suite s(name);
  s.add(fifo_laws({fifo_candidate<adaptor<Bug>>("adaptor")}));
  s.add(fifo_thread_laws({fifo_candidate<adaptor<Bug, slow_atomic>>("adaptor_with_slow_atomics")}));
  arguments.insert(arguments.begin(), "bring_your_own_test");
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  return s.run(static_cast<int>(argv.size()), argv.data());
}

}  // namespace

int main() {
  using third_party::bug;
  const int right = run_laws<bug::none>("small_ring", {});
  const int alone = run_laws<bug::drops_the_last_slot>(
      "small_ring_that_drops_the_last_slot",
      {"--must-fail", "agrees_with_a_bounded_fifo", "--must-fail", "every_element_comes_out_once"});
  const int together = run_laws<bug::owner_does_not_compare>(
      "small_ring_whose_owner_does_not_compare",
      {"--must-fail", "linearizable_on_threads_that_roam", "--must-fail", "linearizable_on_threads_that_are_pinned"});
  // A search that may look at one configuration only is undecided about every history, and undecided is no pass.
  const int undecided = run_laws<bug::none>("small_ring_with_no_time_to_judge",
                                            {"--only", "linearizable_on_threads_that_roam", "--configurations", "1"});
  if (undecided == 0) std::cout << "undecided histories passed\n";
  if (right != 0) std::cout << "the right queue was called wrong\n";
  if (alone != 0 || together != 0) std::cout << "a seeded bug was not found\n";
  return right == 0 && alone == 0 && together == 0 && undecided == 1 ? 0 : 1;
}
