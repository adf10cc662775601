// SPDX-License-Identifier: MIT
// What the tests of this folder share. Each test program is one source file, so this header may hold definitions, also
// those that replace operator new.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <runq/atomics.hpp>
#include <runq/common.hpp>

#if defined(__linux__)
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#if defined(__has_feature)
#define RUNQ_TEST_HAS_FEATURE(x) __has_feature(x)
#else
#define RUNQ_TEST_HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_THREAD__) || RUNQ_TEST_HAS_FEATURE(thread_sanitizer)
#define RUNQ_TEST_TSAN 1
#else
#define RUNQ_TEST_TSAN 0
#endif
#if RUNQ_TEST_TSAN || defined(__SANITIZE_ADDRESS__) || RUNQ_TEST_HAS_FEATURE(address_sanitizer)
#define RUNQ_TEST_SANITIZED 1
#else
#define RUNQ_TEST_SANITIZED 0
#endif

// How a test that ends its process is made; under an emulator a program cannot start itself again.
#ifndef RUNQ_DEATH_TEST_STYLE
#define RUNQ_DEATH_TEST_STYLE "threadsafe"
#endif

// Contracts are checked in debug builds only.
#ifdef NDEBUG
#define RUNQ_EXPECT_CONTRACT_VIOLATION(statement, message) GTEST_SKIP() << "contracts are not checked with NDEBUG"
#else
#define RUNQ_EXPECT_CONTRACT_VIOLATION(statement, message)   \
  do {                                                       \
    GTEST_FLAG_SET(death_test_style, RUNQ_DEATH_TEST_STYLE); \
    EXPECT_DEATH(statement, message);                        \
  } while (false)
#endif

namespace runq_test {

/// As narrow as an index or an element of a queue may be: some compilers for RISC-V have no lock-free atomic of 8 bits.
using narrow = std::conditional_t<std::atomic<std::uint8_t>::is_always_lock_free, std::uint8_t, std::uint32_t>;

/// A memory source that counts, and refuses what goes beyond `left` allocations.
struct counting_source {
  int left = -1;  // -1: any number
  int held = 0;
  std::size_t bytes_held = 0;
  void* allocate(std::size_t bytes, std::size_t alignment) {
    if (left == 0) throw_bad_alloc();
    if (left > 0) --left;
    ++held;
    bytes_held += bytes;
    return ::operator new(bytes, std::align_val_t(alignment));
  }
  void deallocate(void* memory, std::size_t bytes, std::size_t alignment) noexcept {
    --held;
    bytes_held -= bytes;
    ::operator delete(memory, std::align_val_t(alignment));
  }

 private:
  static void throw_bad_alloc() {
#ifdef __cpp_exceptions
    throw std::bad_alloc();
#else
    std::abort();
#endif
  }
};

// ---- allocations ----------------------------------------------------------------------------------------------------

inline std::atomic<std::size_t> allocations{0};

/// How often all threads called operator new while `work` ran. Always 0 under ThreadSanitizer.
template <class Work>
std::size_t allocations_during(Work&& work) {
  const std::size_t before = allocations.load();
  work();
  return allocations.load() - before;
}

inline void* allocate(std::size_t size, std::size_t alignment) noexcept {
  allocations.fetch_add(1, std::memory_order::relaxed);
  const std::size_t rounded = (std::max<std::size_t>(size, 1) + alignment - 1) / alignment * alignment;
#if defined(_WIN32)
  void* const memory = _aligned_malloc(rounded, alignment);
#else
  void* const memory = std::aligned_alloc(alignment, rounded);
#endif
  if (memory == nullptr) std::abort();
  return memory;
}
inline void deallocate(void* memory) noexcept {
#if defined(_WIN32)
  _aligned_free(memory);
#else
  std::free(memory);
#endif
}

// ---- system calls ---------------------------------------------------------------------------------------------------

/// To be called in a death test: runs `work` and exits with 0, or is killed at the first system call that `work` makes.
template <class Work>
[[noreturn]] void exit_0_unless_it_enters_the_kernel([[maybe_unused]] Work&& work) {
#if defined(__linux__)
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0) {
    work();
    syscall(SYS_exit, 0);
  }
#endif
  std::_Exit(0);  // this system has no strict seccomp: the test shows nothing
}

// ---- interleavings staged on one thread -----------------------------------------------------------------------------

enum class op : unsigned char { load, store, rmw, cell, pause, lock };

/// Counts the operations of `probe_atomics`, and lets a test act between them. For tests with one thread.
class probe {
 public:
  /// Calls `action` once, before the `nth` operation of this kind from now on (1 is the next). The action stands for
  /// another thread. Its own operations are neither counted nor interrupted.
  static void before(op kind, std::size_t nth, std::function<void()> action) {
    kind_ = kind;
    countdown_ = nth;
    action_ = std::move(action);
  }
  /// Whether the action was called.
  [[nodiscard]] static bool happened() { return countdown_ == 0; }

  static void reset() {
    counts_.fill(0);
    countdown_ = 0;
  }
  [[nodiscard]] static std::size_t count(op kind) { return counts_[static_cast<std::size_t>(kind)]; }
  /// The number of loads, stores and read-modify-writes.
  [[nodiscard]] static std::size_t atomics() { return count(op::load) + count(op::store) + count(op::rmw); }

  static void step(op kind) {
    if (acting_) return;
    ++counts_[static_cast<std::size_t>(kind)];
    if (countdown_ == 0 || kind != kind_ || --countdown_ != 0) return;
    acting_ = true;
    action_();
    acting_ = false;
  }

 private:
  static inline std::array<std::size_t, 6> counts_{};
  static inline op kind_{};
  static inline std::size_t countdown_ = 0;
  static inline std::function<void()> action_{};
  static inline bool acting_ = false;
};

/// The policy that ships, with every operation reported to `probe` before it takes place.
struct probe_atomics : runq::std_atomics {
  template <class T>
  class atomic : private std::atomic<T> {
    using base = std::atomic<T>;

   public:
    using base::base;

    [[nodiscard]] T load(std::memory_order order) const noexcept {
      probe::step(op::load);
      return base::load(order);
    }
    void store(T value, std::memory_order order) noexcept {
      probe::step(op::store);
      base::store(value, order);
    }
    [[nodiscard]] T exchange(T value, std::memory_order order) noexcept {
      probe::step(op::rmw);
      return base::exchange(value, order);
    }
    [[nodiscard]] bool compare_exchange_weak(T& expected, T value, std::memory_order success,
                                             std::memory_order failure) noexcept {
      probe::step(op::rmw);
      // Counts are exact: here none fails for no reason, as it may on other hardware and in an exploration.
      return base::compare_exchange_strong(expected, value, success, failure);
    }
    [[nodiscard]] bool compare_exchange_strong(T& expected, T value, std::memory_order success,
                                               std::memory_order failure) noexcept {
      probe::step(op::rmw);
      return base::compare_exchange_strong(expected, value, success, failure);
    }
  };

  template <class T>
  class cell : private runq::std_atomics::cell<T> {
    using base = runq::std_atomics::cell<T>;

   public:
    using base::base;

    [[nodiscard]] T get() const noexcept {
      probe::step(op::cell);
      return base::get();
    }
    void set(T value) noexcept {
      probe::step(op::cell);
      base::set(value);
    }
  };

  class mutex {
   public:
    void lock() {
      probe::step(op::lock);
      mutex_.lock();
    }
    void unlock() { mutex_.unlock(); }

   private:
    std::mutex mutex_;
  };

  static void pause() noexcept { probe::step(op::pause); }
};

// ---- many threads ---------------------------------------------------------------------------------------------------

/// `usual` multiplied by the environment variable RUNQ_STRESS (1 when it is not set); a tenth of that under
/// ThreadSanitizer.
inline std::size_t stress_size(std::size_t usual) {
  const char* const text = std::getenv("RUNQ_STRESS");
  const double wish = text == nullptr ? 1.0 : std::strtod(text, nullptr);
  const double factor = (wish > 0 ? wish : 1.0) * (RUNQ_TEST_TSAN ? 0.1 : 1.0);
  return std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(usual) * factor));
}

/// Runs `work(0)` … `work(n - 1)` in as many threads, which start together, and waits for them.
template <class Work>
void in_threads(std::size_t n, Work work) {
  std::atomic<std::size_t> ready{0};
  std::vector<std::thread> threads;
  threads.reserve(n);
  for (std::size_t i = 0; i != n; ++i) {
    threads.emplace_back([&ready, &work, n, i] {
      ready.fetch_add(1);
      while (ready.load() != n) std::this_thread::yield();
      work(i);
    });
  }
  for (std::thread& t : threads) t.join();
}

/// Pseudo-random numbers that are the same on every platform.
class dice {
 public:
  explicit dice(std::uint64_t seed) noexcept : state_(seed * 0x9E3779B97F4A7C15ULL + 1) {}
  /// A number below `sides`.
  [[nodiscard]] std::size_t roll(std::size_t sides) noexcept {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::size_t>(state_ >> 33U) % sides;
  }

 private:
  std::uint64_t state_;
};

/// The element to which a stressed queue holds a pointer. Its members are not atomic: the queue must order the
/// accesses, and ThreadSanitizer reports it if the queue does not.
struct parcel {
  std::uint32_t id = 0;
  std::uint64_t contents = 0;
  std::uint32_t opened = 0;

  void pack(std::uint32_t number) {
    id = number;
    contents = expected(number);
  }
  /// Whether this is the first call and the contents have arrived.
  [[nodiscard]] bool open() { return contents == expected(id) && ++opened == 1; }

 private:
  static std::uint64_t expected(std::uint32_t number) { return number * 0x9E3779B97F4A7C15ULL + 7; }
};

/// Notes which thread took which element, in one log per thread, and checks the logs when all threads have ended. It
/// compares ids and not sums, so that two errors cannot cancel each other.
class takers {
 public:
  explicit takers(std::size_t threads) : logs_(threads) {}

  /// The thread `self` calls it with each element that it took.
  void open(std::size_t self, parcel* p) {
    log& mine = logs_[self];
    mine.ids.push_back(p->id);
    if (!p->open()) ++mine.damaged;
  }

  void expect_each_once(std::size_t elements) const {
    std::vector<unsigned> times(elements, 0);
    for (const log& one : logs_) {
      EXPECT_EQ(one.damaged, 0U) << "elements whose contents had not arrived, or that were taken before";
      for (const std::uint32_t id : one.ids) {
        ASSERT_LT(id, elements) << "an element that was never queued";
        ++times[id];
      }
    }
    for (std::size_t id = 0; id != elements; ++id) ASSERT_EQ(times[id], 1U) << "times that element " << id << " came";
  }
  void expect_each_log_in_order() const {
    for (std::size_t i = 0; i != logs_.size(); ++i) {
      const std::vector<std::uint32_t>& ids = logs_[i].ids;
      EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end())) << "thread " << i << " took newer before older";
    }
  }

 private:
  struct alignas(64) log {
    std::vector<std::uint32_t> ids;
    std::size_t damaged = 0;
  };
  std::vector<log> logs_;
};

/// For loops that end when all elements have been taken. If an element is lost, the loop must fail and not hang.
class patience {
 public:
  /// A loop calls it each time it found nothing to do. Lets other threads run. True after 20 s without success().
  [[nodiscard]] bool spent() {
    // Yields only every 16th time: on a loaded machine each yield can cost a time slice, and these tests would take
    // minutes.
    if (++fruitless_ % 16 == 0) std::this_thread::yield();
    if (fruitless_ % 4096 != 0) return false;
    const auto now = std::chrono::steady_clock::now();
    if (fruitless_ == 4096) began_ = now;
    return now - began_ > std::chrono::seconds(20);
  }
  void success() noexcept { fruitless_ = 0; }

 private:
  std::size_t fruitless_ = 0;
  std::chrono::steady_clock::time_point began_{};
};

// ---- elements that are numbers --------------------------------------------------------------------------------------

using numbers = std::vector<int>;

inline numbers from_to(int first, int last) {
  numbers out;
  for (int id = first; id <= last; ++id) out.push_back(id);
  return out;
}

template <class Owner>
void push_all(Owner& owner, const numbers& values) {
  for (const int value : values) ASSERT_TRUE(owner.push(value));
}

template <class Owner>
numbers pop_all(Owner& owner) {
  numbers out;
  while (const std::optional<int> value = owner.pop()) out.push_back(*value);
  return out;
}

/// A batch is added in order, as far as it fits; room() says how far. `Ring` has eight slots.
template <class Ring>
void expect_batches_as_far_as_they_fit(typename Ring::index_type first_index) {
  for (int before = 0; before <= 8; ++before) {
    for (int size = 0; size <= 10; ++size) {
      Ring ring(first_index);
      auto owner = ring.make_owner();
      push_all(owner, from_to(1, before));
      ASSERT_EQ(owner.room(), static_cast<std::size_t>(8 - before));
      const numbers batch = from_to(before + 1, before + size);
      const std::size_t added = owner.push_batch(batch);
      ASSERT_EQ(added, static_cast<std::size_t>(std::min(size, 8 - before)));
      ASSERT_EQ(pop_all(owner), from_to(1, before + static_cast<int>(added)));
    }
  }
}

/// Thieves see nothing of a batch before they see all of it. `Ring` has probe_atomics.
template <class Ring>
void expect_a_batch_to_be_published_at_once() {
  Ring ring;
  auto owner = ring.make_owner();
  probe::reset();
  probe::before(op::store, 6, [&] { EXPECT_EQ(ring.make_thief().steal().status, runq::steal_status::empty); });
  EXPECT_EQ(owner.push_batch(from_to(1, 5)), 5U);
  EXPECT_TRUE(probe::happened());
  EXPECT_EQ(probe::count(op::store), 6U);  // five slots and one tail
  EXPECT_EQ(ring.make_thief().size_approx(), 5U);
}

}  // namespace runq_test

// Under ThreadSanitizer of clang 19 a program cannot replace operator new. So nothing is counted there.
#if !RUNQ_TEST_TSAN
// NOLINTBEGIN(misc-definitions-in-headers,misc-new-delete-overloads,cppcoreguidelines-no-malloc)
[[gnu::noinline]] void* operator new(std::size_t size) {
  return runq_test::allocate(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
// AddressSanitizer has one of its own, which does not call the first.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return runq_test::allocate(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  return runq_test::allocate(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { runq_test::deallocate(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept { runq_test::deallocate(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { runq_test::deallocate(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { runq_test::deallocate(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  runq_test::deallocate(memory);
}
// NOLINTEND(misc-definitions-in-headers,misc-new-delete-overloads,cppcoreguidelines-no-malloc)
#endif
