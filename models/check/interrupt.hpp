// SPDX-License-Identifier: MIT
// A second model of an asymmetric pair of fences: the light fence is nothing at all, and the heavy one interrupts.
//
// Thread 0 makes light fences, the others heavy ones. A heavy fence asks thread 0 for an interrupt and waits until it
// has taken place, or thread 0 has ended. Before each of its accesses thread 0 may or may not be interrupted; the
// handler is a seq_cst fence and an acknowledgement. A scenario may have more threads like thread 0: the first ones.
// This is what the Linux manual says of membarrier(2), private and expedited: when the call returns, all threads of the
// process that are running have passed a point at which all their accesses before are ordered before all those behind
// it, in the order of the program; and nothing more: two light fences order nothing among themselves, which two fences
// of the language would. What the compiler does is not modelled: std::atomic_signal_fence forbids it to move accesses
// across a light fence.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "atomics.hpp"
#include "scenario.hpp"
#include "waiting.hpp"

namespace runq::model {

/// The interrupts of one execution. A scenario derives from it, before the members that make fences.
class interrupts {
 public:
  /// `threads` of the scenario; the first `light` of them are interrupted.
  explicit interrupts(std::size_t threads, std::size_t light = 1) : threads_(threads), light_(light) {
    current_ = this;
    for (std::size_t by = 0; by != light; ++by) ended_[by].store(0, std::memory_order::relaxed);
    for (std::size_t who = 0; who != threads; ++who) {
      wanted_[who].store(0, std::memory_order::relaxed);
      for (std::size_t by = 0; by != light; ++by) passed_[by][who].store(0, std::memory_order::relaxed);
    }
  }
  interrupts(const interrupts&) = delete;
  interrupts& operator=(const interrupts&) = delete;

  /// Before an access: if thread 0 makes it, it may be interrupted here by those who have asked.
  static void point() {
    const int index = current_engine().thread_index();
    if (index < 0 || static_cast<std::size_t>(index) >= current_->light_) return;
    const auto me = static_cast<std::size_t>(index);
    for (std::size_t who = current_->light_; who != current_->threads_; ++who) current_->handle(me, who);
  }
  /// Thread `index` has ended: a processor that leaves a thread passes a barrier.
  void end(std::size_t index) {
    if (index >= light_) return;
    atomics::fence(std::memory_order::seq_cst);
    ended_[index].store(1, std::memory_order::release);
  }
  /// The heavy fence of the running thread.
  static void heavy() {
    if (current_engine().thread_index() < 0) return;  // outside of thread() no other thread runs
    const auto me = static_cast<std::size_t>(current_engine().thread_index());
    interrupts& all = *current_;
    const std::uint32_t mine = ++all.asked_[me];
    atomics::fence(std::memory_order::seq_cst);
    all.wanted_[me].store(mine, std::memory_order::release);
    for (std::size_t by = 0; by != all.light_; ++by) {
      await([&] {
        return all.passed_[by][me].load(std::memory_order::acquire) == mine ||
               all.ended_[by].load(std::memory_order::acquire) != 0;
      });
    }
    atomics::fence(std::memory_order::seq_cst);
  }

 private:
  void handle(std::size_t me, std::size_t who) {
    const std::uint32_t wanted = wanted_[who].load(std::memory_order::acquire);
    if (wanted == handled_[me][who]) return;
    handled_[me][who] = wanted;
    atomics::fence(std::memory_order::seq_cst);
    passed_[me][who].store(wanted, std::memory_order::release);
  }

  static inline interrupts* current_ = nullptr;
  template <class T>
  using per_thread = std::array<T, max_threads>;
  per_thread<std::uint32_t> asked_{};                // written by the thread itself
  per_thread<per_thread<std::uint32_t>> handled_{};  // by who is interrupted, and by whom; written by the former
  per_thread<atomic<std::uint32_t>> wanted_;
  per_thread<per_thread<atomic<std::uint32_t>>> passed_;  // likewise
  const std::size_t threads_;
  const std::size_t light_;
  per_thread<atomic<std::uint32_t>> ended_;
};

/// A model's atomic in front of whose accesses thread 0 may be interrupted.
template <class T>
class interrupted_atomic {
  using order = std::memory_order;

 public:
  interrupted_atomic() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): as std::atomic's
  interrupted_atomic(T value, const char* file = __builtin_FILE(), int line = __builtin_LINE())
      : at_(value, file, line) {}

  T load(order o, const char* file = __builtin_FILE(), int line = __builtin_LINE()) const {
    interrupts::point();
    return at_.load(o, file, line);
  }
  void store(T value, order o, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    interrupts::point();
    at_.store(value, o, file, line);
  }
  T exchange(T value, order o, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    interrupts::point();
    return at_.exchange(value, o, file, line);
  }
  T fetch_add(T by, order o, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    interrupts::point();
    return at_.fetch_add(by, o, file, line);
  }
  T fetch_sub(T by, order o, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    interrupts::point();
    return at_.fetch_sub(by, o, file, line);
  }
  bool compare_exchange_strong(T& expected, T desired, order success, order failure,
                               const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    interrupts::point();
    return at_.compare_exchange_strong(expected, desired, success, failure, file, line);
  }

 private:
  atomic<T> at_;
};

/// The policy of the models with this pair of fences: only thread 0 makes light ones that matter.
struct interrupt_atomics : atomics {
  template <class T>
  using atomic = interrupted_atomic<T>;
  static void light_fence(std::memory_order) {}
  static void heavy_fence(std::memory_order) { interrupts::heavy(); }
};

/// A scenario with these fences. `Model` has `Threads` threads, of which the first `Light` are interrupted, and its
/// structures have the policy interrupt_atomics.
template <class Model, std::size_t Threads, std::size_t Light = 1>
class interrupted final : private interrupts, public Model {
 public:
  static constexpr const char* axiom = "membarrier(2)";

  interrupted() : interrupts(Threads, Light) {}
  void thread(unsigned index) override {
    Model::thread(index);
    interrupts::end(index);
  }
};

}  // namespace runq::model
