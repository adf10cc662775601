// SPDX-License-Identifier: MIT
// global_shards: the global queue of a scheduler, in shards with a lock each, so that groups of processors do not wait
// for each other. In words: docs/scheduler.md. Models: models/cases/scheduler/machine_loop/shards.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "runq/atomics.hpp"
#include "runq/common.hpp"
#include "runq/inject.hpp"

namespace runq {

/// A queue for any number of threads, in shards: each is an inject, and so first in, first out. Of two elements in
/// different shards either may be taken first. `which` chooses the shard that is asked first, modulo the number of
/// shards; then all others are asked in turn, but those are left out whose lock another thread holds: there a thread
/// would wait behind many others for what these are about to take. So a thread that takes finds nothing only if each
/// shard was empty, or in use, at some moment of the call, and the first was empty. Any thread.
///
/// Link  as of inject
/// Most  the most shards there can be
template <auto Link, unsigned Most>
class global_shards {
 public:
  using shard = inject<Link>;
  using element = typename shard::element;
  using atomics = typename shard::atomics;
  using chain = typename shard::chain;

  /// A queue of that many shards, but at least one and at most `Most`.
  explicit global_shards(unsigned shards = 1) noexcept : shards_(std::clamp(shards, 1U, Most)) {}
  global_shards(const global_shards&) = delete;
  global_shards& operator=(const global_shards&) = delete;

  [[nodiscard]] unsigned shards() const noexcept { return shards_; }
  [[nodiscard]] shard& near(unsigned which) noexcept { return all_[which % shards_].queue; }

  /// Appends one element to a shard.
  void put(element* e, unsigned which) noexcept { near(which).put(e); }
  /// Likewise, for a thread without a processor. All that it puts goes to one shard, and so stays in order.
  void put(element* e) noexcept { put(e, of_this_thread()); }
  /// Appends a batch to a shard, in order, and leaves it empty.
  void splice(chain&& batch, unsigned which) noexcept { near(which).splice(std::move(batch)); }
  /// Puts a batch, in order, before all other elements of a shard, and leaves it empty.
  void splice_front(chain&& batch, unsigned which = 0) noexcept { near(which).splice_front(std::move(batch)); }

  /// Removes the oldest element of the first shard that has one, or returns nullptr.
  [[nodiscard]] element* take(unsigned which = 0) noexcept {
    return from_first(which, [](shard& s) { return s.take(); });
  }
  /// Takes a fair share of the first shard that has elements into the local_queue of `owner`, whose take_from() says
  /// how much that is, and returns what that returns. `procs` processors share all shards. Called by the queue's owner.
  template <class Owner>
  [[nodiscard]] element* take_share(Owner& owner, unsigned procs, unsigned which) noexcept {
    const unsigned share_one = (procs + shards_ - 1) / shards_;
    return from_first(which, [&](shard& s) { return owner.take_from(s, share_one); });
  }

  /// Whether there is something to take: the question to ask before going to sleep. Of each shard it is ordered with
  /// put() as inject::has_work() is. Locks.
  [[nodiscard]] bool has_work() const noexcept {
    return any([](const shard& s) { return s.has_work(); });
  }
  /// A guess at that, which saves the locks.
  [[nodiscard]] bool has_work_approx() const noexcept {
    return any([](const shard& s) { return s.has_work_approx(); });
  }
  /// The number of elements a moment ago, for statistics.
  [[nodiscard]] std::size_t size_approx() const noexcept {
    std::size_t sum = 0;
    for (unsigned i = 0; i != shards_; ++i) sum += all_[i].queue.size_approx();
    return sum;
  }

 private:
  template <class Ask>
  [[nodiscard]] bool any(Ask&& ask) const noexcept {
    for (unsigned i = 0; i != shards_; ++i) {
      if (ask(all_[i].queue)) return true;
    }
    return false;
  }

  template <class Take>
  [[nodiscard]] element* from_first(unsigned which, Take&& take) noexcept {
    for (unsigned i = 0; i != shards_; ++i) {
      shard& s = near(which + i);
      // Another thread may have taken it.
      if (s.has_work_approx() && (i == 0 || !s.looks_busy())) {
        if (element* const e = take(s)) return e;
      }
    }
    return nullptr;
  }

  // The same for all calls of a thread. Tokens are often multiples of a large power of two.
  [[nodiscard]] static unsigned of_this_thread() noexcept {
    constexpr std::uint64_t golden_ratio = 0x9E37'79B9'7F4A'7C15;
    constexpr int half = 32;
    return static_cast<unsigned>(std::uint64_t{atomics::thread_token()} * golden_ratio >> half);
  }

  // A cache line for each, or more.
  struct alignas(cache_line) apart {
    shard queue;
  };
  const unsigned shards_;
  std::array<apart, Most> all_;
};

}  // namespace runq
