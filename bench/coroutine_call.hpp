// SPDX-License-Identifier: MIT
// The smallest coroutine that calls others and gets a value from them, to compare where its frames may come from.
#pragma once

#include <array>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <utility>

#include <benchmark/benchmark.h>

#include "support.hpp"

namespace runq_bench {

/// Takes frames from a stack in memory, the cheapest allocation there is. One thread.
class frame_stack {
 public:
  static void* take(std::size_t bytes) noexcept {
    void* const frame = memory.data() + used;
    used += (bytes + 15) / 16 * 16;
    return frame;
  }
  static void give_back(void* /*frame*/, std::size_t bytes) noexcept { used -= (bytes + 15) / 16 * 16; }

 private:
  alignas(64) static inline std::array<std::byte, 1 << 16> memory{};
  static inline std::size_t used = 0;
};

/// Frames: take(bytes) and give_back(frame, bytes).
template <class Frames>
class call {
 public:
  struct promise_type {
    // NOLINTNEXTLINE(misc-new-delete-overloads): the sized delete below is its match
    static void* operator new(std::size_t bytes) { return Frames::take(bytes); }
    static void operator delete(void* frame, std::size_t bytes) noexcept { Frames::give_back(frame, bytes); }
    call get_return_object() noexcept { return call(std::coroutine_handle<promise_type>::from_promise(*this)); }
    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
    struct back {
      [[nodiscard]] bool await_ready() const noexcept { return false; }
      [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) const noexcept {
        return self.promise().caller;
      }
      void await_resume() const noexcept {}
    };
    [[nodiscard]] back final_suspend() const noexcept { return {}; }
    void return_value(long n) noexcept { value = n; }
    void unhandled_exception() noexcept { std::terminate(); }

    long value = 0;
    std::coroutine_handle<> caller = std::noop_coroutine();
  };

  call(call&& other) noexcept : self_(std::exchange(other.self_, nullptr)) {}
  call& operator=(call&&) = delete;
  ~call() {
    if (self_) self_.destroy();
  }

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) const noexcept {
    self_.promise().caller = caller;
    return self_;
  }
  [[nodiscard]] long await_resume() const noexcept { return self_.promise().value; }
  [[nodiscard]] long run() const {
    self_.resume();
    return self_.promise().value;
  }

 private:
  explicit call(std::coroutine_handle<promise_type> self) noexcept : self_(self) {}
  std::coroutine_handle<promise_type> self_;
};

template <class Frames>
call<Frames> fib(int n) {
  if (n < 2) co_return n;
  const long a = co_await fib<Frames>(n - 1);
  const long b = co_await fib<Frames>(n - 2);
  co_return a + b;
}

/// A row: fib(20), and the time of two of its calls.
template <class Frames>
void coroutine_calls(benchmark::State& state) {
  const pinned here(0);
  bool right = true;
  for ([[maybe_unused]] auto step : state) right &= fib<Frames>(20).run() == 6765;
  check(state, right);
  label(state, here.done());
  state.SetItemsProcessed(state.iterations() * 10945);
}

}  // namespace runq_bench
