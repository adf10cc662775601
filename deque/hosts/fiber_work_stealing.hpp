// SPDX-License-Identifier: MIT
// A scheduling algorithm for Boost.Fiber (1.74): each thread has a ring of fibers, from which other threads steal half.
//
//   runq_hosts::fiber_workers workers(threads);                                       // outlives the threads
//   boost::fibers::use_scheduling_algorithm<runq_hosts::fiber_work_stealing>(workers, i);  // in thread number i
//
// Fibers run in the order in which they became ready. A fiber that does not fit into the ring goes to a queue that all
// threads share. The fibers that may not leave their thread (its main fiber, and the dispatcher, which frees the stacks
// of fibers that ended) stand in a list of their own, and have their turn at least at each 16th dispatch.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <span>

#include <boost/fiber/algo/algorithm.hpp>
#include <boost/fiber/context.hpp>
#include <boost/fiber/scheduler.hpp>
#include <runq/one_object.hpp>
#include <runq/ring.hpp>
#include <runq/shared_fifo.hpp>

namespace runq_hosts {

using fiber_context = boost::fibers::context;
using fiber_ring = runq::one_object<runq::ring<fiber_context*>>;

/// What the threads share: a ring for each, and what did not fit.
struct fiber_workers {
  explicit fiber_workers(std::size_t threads) : rings(threads) {}
  std::deque<fiber_ring> rings;
  runq::shared_fifo<fiber_context*> overflow;
};

class fiber_work_stealing final : public boost::fibers::algo::algorithm {
 public:
  fiber_work_stealing(fiber_workers& workers, std::size_t self) : workers_(workers), self_(self) {}

  void awakened(fiber_context* fiber) noexcept override {
    if (fiber->is_context(boost::fibers::type::pinned_context)) {
      fiber->ready_link(pinned_);
      return;
    }
    fiber->detach();
    if (!ring().push(fiber) && !workers_.overflow.put(fiber)) std::terminate();  // no memory for a pointer
  }

  fiber_context* pick_next() noexcept override {
    const bool others_first = ++picks_ % 16 == 0;
    fiber_context* next = others_first ? next_pinned() : nullptr;
    if (next == nullptr && others_first) next = workers_.overflow.take().value_or(nullptr);
    if (next == nullptr) next = ring().pop().value_or(nullptr);
    if (next == nullptr) next = from_overflow();
    if (next == nullptr) next = next_pinned();
    if (next == nullptr) next = stolen();
    if (next != nullptr && !next->is_context(boost::fibers::type::pinned_context)) {
      fiber_context::active()->attach(next);
    }
    return next;
  }

  bool has_ready_fibers() const noexcept override {
    return !ring().empty() || !pinned_.empty() || workers_.overflow.has_work();
  }

  void suspend_until(const std::chrono::steady_clock::time_point& until) noexcept override {
    std::unique_lock lock(mutex_);
    const auto latest = std::chrono::steady_clock::now() + longest_sleep;
    awake_.wait_until(lock, until < latest ? until : latest, [this] { return notified_; });
    notified_ = false;
  }
  void notify() noexcept override {
    const std::lock_guard lock(mutex_);
    notified_ = true;
    awake_.notify_all();
  }

 private:
  // Boost.Fiber tells a thread of what happens to its own fibers, but not that there are fibers to steal: a thread
  // without work looks again after this time.
  static constexpr std::chrono::microseconds longest_sleep{100};

  [[nodiscard]] fiber_ring& ring() const noexcept { return workers_.rings[self_]; }

  [[nodiscard]] fiber_context* next_pinned() noexcept {
    if (pinned_.empty()) return nullptr;
    fiber_context* const next = &pinned_.front();
    pinned_.pop_front();
    return next;
  }
  // Takes one fiber at a time: the fibers that it starts then have room in the ring, and end before the next one
  // begins. With a batch, all leaves of a tree of fibers would start before the first one ends, and take several times
  // the memory.
  [[nodiscard]] fiber_context* from_overflow() noexcept {
    return workers_.overflow.has_work_approx() ? workers_.overflow.take().value_or(nullptr) : nullptr;
  }
  [[nodiscard]] fiber_context* stolen() noexcept {
    std::array<fiber_context*, 128> loot{};
    for (std::size_t i = 1; i != workers_.rings.size(); ++i) {
      const fiber_ring& victim = workers_.rings[(self_ + i) % workers_.rings.size()];
      if (const auto got = victim.make_thief().steal_half(loot)) {
        // The ring is empty, and has room for them.
        for (fiber_context* const other : std::span(loot).first(got.count).subspan(1)) (void)ring().push(other);
        return loot[0];
      }
    }
    return nullptr;
  }

  fiber_workers& workers_;
  const std::size_t self_;
  boost::fibers::scheduler::ready_queue_type pinned_;
  unsigned picks_ = 0;
  std::mutex mutex_;
  std::condition_variable awake_;
  bool notified_ = false;
};

}  // namespace runq_hosts
