// SPDX-License-Identifier: MIT
// Lower bounds, and code that one would write without a library: a plain ring and a plain stack for one thread, and a
// std::deque under a std::mutex; the instructions and the cache-line transfers that make up queue operations; and the
// coroutine call and the symmetric transfer that make up a scheduler of coroutines.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <runq/membarrier.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include "coroutine_call.hpp"
#include "queue_rows.hpp"
#include "support.hpp"

namespace {

using runq_bench::item;
using runq_bench::pinned;
using runq_bench::tally;

// ---- queues ---------------------------------------------------------------------------------------------------------

/// A ring for one thread, with head and tail in memory, as in every queue that other threads can see.
class plain_ring {
 public:
  [[nodiscard]] bool push(item value) noexcept {
    const bool fits = tail_ - head_ != slots_.size();
    if (fits) {
      slots_[tail_ % slots_.size()] = value;
      ++tail_;
    }
    benchmark::ClobberMemory();  // or the compiler would keep all of it in registers
    return fits;
  }
  [[nodiscard]] std::optional<item> pop() noexcept {
    std::optional<item> value;
    if (head_ != tail_) {
      value = slots_[head_ % slots_.size()];
      ++head_;
    }
    benchmark::ClobberMemory();
    return value;
  }

  /// Not for two threads at once: in the row `drain` the whole queue is handed from one thread to the other.
  class thief {
   public:
    explicit thief(plain_ring& victim) : victim_(victim) {}
    std::size_t steal(tally& loot) noexcept {
      const std::optional<item> value = victim_.pop();
      if (value) loot.add(*value);
      return value ? 1 : 0;
    }

   private:
    plain_ring& victim_;
  };

 private:
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
  std::array<item, 256> slots_{};
};

class plain_stack {
 public:
  [[nodiscard]] bool push(item value) noexcept {
    slots_[top_ % slots_.size()] = value;
    ++top_;
    benchmark::ClobberMemory();
    return true;
  }
  [[nodiscard]] std::optional<item> pop() noexcept {
    std::optional<item> value;
    if (top_ != 0) value = slots_[--top_ % slots_.size()];
    benchmark::ClobberMemory();
    return value;
  }

 private:
  std::size_t top_ = 0;
  std::array<item, 256> slots_{};
};

class mutex_deque {
 public:
  [[nodiscard]] bool push(item value) {
    const std::lock_guard lock(mutex_);
    if (items_.size() == 256) return false;
    items_.push_back(value);
    return true;
  }
  [[nodiscard]] std::optional<item> pop() {
    const std::lock_guard lock(mutex_);
    if (items_.empty()) return std::nullopt;
    const item value = items_.front();
    items_.pop_front();
    return value;
  }

  /// Takes half.
  class thief {
   public:
    explicit thief(mutex_deque& victim) : victim_(victim) {}
    std::size_t steal(tally& loot) {
      std::size_t n = 0;
      {
        const std::lock_guard lock(victim_.mutex_);
        n = victim_.items_.size() - victim_.items_.size() / 2;
        const auto end = victim_.items_.begin() + static_cast<std::ptrdiff_t>(n);
        std::copy(victim_.items_.begin(), end, own_.begin());
        victim_.items_.erase(victim_.items_.begin(), end);
      }
      for (std::size_t i = 0; i != n; ++i) loot.add(own_[i]);
      return n;
    }

   private:
    mutex_deque& victim_;
    std::array<item, 128> own_{};
  };

 private:
  std::mutex mutex_;
  std::deque<item> items_;
};

// ---- instructions ---------------------------------------------------------------------------------------------------

// Each operation waits for the one before, because it loads what that one wrote, as in a queue's pop.
void compare_exchange(benchmark::State& state) {
  const pinned here(0);
  std::atomic<std::uint64_t> head{0};
  for ([[maybe_unused]] auto step : state) {
    std::uint64_t h = head.load(std::memory_order::relaxed);
    head.compare_exchange_strong(h, h + 1, std::memory_order::acq_rel, std::memory_order::relaxed);
  }
  runq_bench::check(state, head == static_cast<std::uint64_t>(state.iterations()));
  runq_bench::label(state, here.done());
  state.SetItemsProcessed(state.iterations());
}

void fence(benchmark::State& state) {
  const pinned here(0);
  std::atomic<std::uint64_t> word{0};
  for ([[maybe_unused]] auto step : state) {
    word.store(1, std::memory_order::relaxed);
    std::atomic_thread_fence(std::memory_order::seq_cst);
  }
  runq_bench::label(state, here.done());
  state.SetItemsProcessed(state.iterations());
}

void one_heavy_fence() { runq::membarrier_atomics::heavy_fence(std::memory_order::seq_cst); }

/// A thread of this process that does something again and again on the other processor, until destroyed.
class neighbour {
 public:
  template <class F>
  explicit neighbour(F does)
      : thread_([this, does] {
          const pinned there(1);
          pinned_.store(there.done());
          while (!stop_.load(std::memory_order::relaxed)) {
            does();
            if (!there.done()) std::this_thread::yield();
          }
        }) {}
  neighbour(const neighbour&) = delete;
  neighbour& operator=(const neighbour&) = delete;
  ~neighbour() {
    stop_.store(true);
    thread_.join();
  }
  [[nodiscard]] bool has_been_pinned() const { return pinned_.load(); }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<bool> pinned_{false};
  std::thread thread_;
};

// A heavy fence of membarrier_atomics while no other thread of the process runs.
void heavy_fence_alone(benchmark::State& state) {
  const pinned here(0);
  for ([[maybe_unused]] auto step : state) one_heavy_fence();
  runq_bench::label(state, here.done());
  state.SetItemsProcessed(state.iterations());
}

// The same while another thread of the process is at work on the other processor, which the kernel interrupts.
void heavy_fence(benchmark::State& state) {
  const neighbour works([] {});
  const pinned here(0);
  for ([[maybe_unused]] auto step : state) one_heavy_fence();
  runq_bench::label(state, here.done() && works.has_been_pinned());
  state.SetItemsProcessed(state.iterations());
}

double seconds_of(std::int64_t steps) {
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t number = 1;
  for (std::int64_t i = 0; i != steps; ++i) benchmark::DoNotOptimize(number = number * 3 + 1);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// What such a fence costs a thread that it interrupts: the time by which the same work, of some ms, takes longer beside
// a thread that makes a heavy fence every 50 µs, over the number of its fences. Two thirds of the time is without them.
void interrupted_by_heavy_fence(benchmark::State& state) {
  constexpr std::int64_t steps = 2'000'000;
  std::atomic<bool> on{false};
  std::atomic<std::int64_t> fences{0};
  const neighbour fencing([&] {
    if (!on.load(std::memory_order::relaxed)) return;
    one_heavy_fence();
    fences.fetch_add(1, std::memory_order::relaxed);
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < std::chrono::microseconds(50)) continue;
  });
  const pinned here(0);
  for ([[maybe_unused]] auto step : state) {
    const double before = seconds_of(steps);
    on.store(true);
    const double beside = seconds_of(steps);
    on.store(false);
    const double after = seconds_of(steps);
    state.SetIterationTime(std::max(0.0, beside - (before + after) / 2));
  }
  runq_bench::label(state, here.done() && fencing.has_been_pinned());
  state.SetItemsProcessed(std::max<std::int64_t>(1, fences.load()));
}

/// TCP connections of this process with itself: descriptors of a client and a server.
class tcp_pairs {
 public:
  explicit tcp_pairs(std::size_t n) {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const address = reinterpret_cast<sockaddr*>(&at);
    socklen_t size = sizeof at;
    connected_ = bind(listener, address, size) == 0 && listen(listener, static_cast<int>(n)) == 0 &&
                 getsockname(listener, address, &size) == 0;
    for (std::size_t i = 0; connected_ && i != n; ++i) {
      const int client = socket(AF_INET, SOCK_STREAM, 0);
      connected_ = connect(client, address, size) == 0;
      const int server = connected_ ? accept(listener, nullptr, nullptr) : -1;
      const int yes = 1;
      for (const int fd : {client, server}) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      pairs_.emplace_back(client, server);
    }
    close(listener);
  }
  tcp_pairs(const tcp_pairs&) = delete;
  tcp_pairs& operator=(const tcp_pairs&) = delete;
  ~tcp_pairs() {
    for (const auto& [client, server] : pairs_) {
      close(client);
      close(server);
    }
  }
  [[nodiscard]] bool connected() const noexcept { return connected_; }
  [[nodiscard]] std::int64_t size() const noexcept { return static_cast<std::int64_t>(pairs_.size()); }
  [[nodiscard]] auto begin() const noexcept { return pairs_.begin(); }
  [[nodiscard]] auto end() const noexcept { return pairs_.end(); }

 private:
  std::vector<std::pair<int, int>> pairs_;
  bool connected_ = false;
};

// The system calls of the row `echo`, without a scheduler, coroutines or a poller: all clients write, all servers read
// and write back, all clients read; nothing has to wait.
void echo_system_calls(benchmark::State& state) {
  const pinned here(0);
  tcp_pairs pairs(64);
  std::array<std::byte, 1024> room{};
  const std::span<std::byte> message = std::span(room).first(16);
  bool good = pairs.connected();
  for ([[maybe_unused]] auto step : state) {
    for (const auto& [client, server] : pairs) good = good && write(client, message.data(), message.size()) == 16;
    for (const auto& [client, server] : pairs) {
      good = good && read(server, room.data(), room.size()) == 16;
      good = good && write(server, message.data(), message.size()) == 16;
    }
    for (const auto& [client, server] : pairs) good = good && read(client, room.data(), room.size()) == 16;
  }
  runq_bench::check(state, good);
  runq_bench::label(state, here.done());
  state.SetItemsProcessed(state.iterations() * pairs.size());
}

// Two processors increase a number in turn: two transfers of a line per round; the time is that of one transfer.
void line_transfer(benchmark::State& state) {
  alignas(128) std::atomic<std::int64_t> ball{0};
  bool other_pinned = false;
  std::thread other([&] {
    const pinned there(1);
    other_pinned = there.done();
    for (std::int64_t n = 1;; n += 2) {
      std::int64_t seen = 0;
      runq_bench::await([&] { return (seen = ball.load(std::memory_order::acquire)) == n || seen < 0; });
      if (seen < 0) return;
      ball.store(n + 1, std::memory_order::release);
    }
  });
  const pinned here(0);
  std::int64_t n = 0;
  for ([[maybe_unused]] auto step : state) {
    ball.store(n + 1, std::memory_order::release);
    n += 2;
    runq_bench::await([&] { return ball.load(std::memory_order::acquire) == n; });
  }
  ball.store(-1, std::memory_order::release);
  other.join();
  runq_bench::label(state, here.done() && other_pinned);
  state.SetItemsProcessed(2 * state.iterations());
}

// ---- coroutines -----------------------------------------------------------------------------------------------------

// This fib(20) makes two calls where the schedulers' fib makes a fork and a call. Frames come from a stack, the
// cheapest allocation there is.
void two_coroutine_calls(benchmark::State& state) { runq_bench::coroutine_calls<runq_bench::frame_stack>(state); }

struct player {
  struct promise_type {
    player get_return_object() noexcept { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
    [[nodiscard]] std::suspend_always final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };
  std::coroutine_handle<promise_type> self;
};

struct pass_to {
  std::coroutine_handle<>& other;
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<> /*self*/) const noexcept { return other; }
  void await_resume() const noexcept {}
};

player play(benchmark::State& state, std::coroutine_handle<>& other) {
  for ([[maybe_unused]] auto step : state) co_await pass_to{other};
}
player play_along(std::coroutine_handle<>& other) {
  for (;;) co_await pass_to{other};
}

// Two coroutines that hand over to each other. One iteration is there and back, as a round of ping-pong.
[[maybe_unused]] void symmetric_transfer(benchmark::State& state) {
  const pinned here(0);
  std::coroutine_handle<> first;
  std::coroutine_handle<> second;
  const player one = play(state, second);
  const player two = play_along(first);
  first = one.self;
  second = two.self;
  first.resume();
  runq_bench::check(state, first.done());
  one.self.destroy();
  two.self.destroy();
  runq_bench::label(state, here.done());
  state.SetItemsProcessed(state.iterations());
}

}  // namespace

int main(int argc, char** argv) {
  runq_bench::add_pairs<plain_ring>("plain_ring");
  runq_bench::add_pairs<plain_stack>("plain_stack");
  runq_bench::add_owner_rows<mutex_deque>("mutex_deque");
  runq_bench::add_row("drain/plain_ring", runq_bench::drain<plain_ring>)->UseManualTime();
  runq_bench::add_row("floor/compare_exchange", compare_exchange);
  runq_bench::add_row("floor/echo_system_calls", echo_system_calls);
  runq_bench::add_row("floor/fence", fence);
  runq_bench::add_row("floor/heavy_fence", heavy_fence)->UseRealTime();
  runq_bench::add_row("floor/heavy_fence_alone", heavy_fence_alone)->UseRealTime();
  runq_bench::add_row("floor/interrupted_by_heavy_fence", interrupted_by_heavy_fence)->UseManualTime()->Iterations(100);
  runq_bench::add_row("floor/line_transfer", line_transfer)->UseRealTime();
  runq_bench::add_row("floor/two_coroutine_calls", two_coroutine_calls);
#if defined(__OPTIMIZE__)
  // Without optimisation g++ does not turn a transfer into a tail call, so each transfer would make the stack grow.
  runq_bench::add_row("floor/symmetric_transfer", symmetric_transfer);
#endif
  return runq_bench::run(argc, argv);
}
