// SPDX-License-Identifier: MIT
// The pool of frames: blocks are cut from slabs, and slabs of which no block is in use go back to the system. Each test
// says what time it is.
#include <atomic>
#include <coroutine>
#include <cstdint>
#include <fstream>
#include <limits>
#include <new>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <runq/detail/frames.hpp>
#include <runq/runq.hpp>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "interposed.hpp"
#include "support.hpp"

namespace {

/// Where the next region that the pool maps is to begin, in bytes behind a multiple of the slabs' size; -1: anywhere.
std::atomic<long> next_region_at{-1};
std::atomic<char*> region{nullptr};  // of that mapping
std::atomic<std::size_t> region_bytes{0};
std::atomic<std::size_t> region_unmapped{0};

/// What the next munmap() calls before it does anything, once.
std::atomic<void (*)()> in_next_unmapping{nullptr};

}  // namespace

#if RUNQ_TEST_MAY_INTERPOSE

extern "C" {

void* mmap(void* at, std::size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  static auto* const real = sched_test::next_one<void*(void*, std::size_t, int, int, int, off_t)>("mmap");
  const long wanted = at == nullptr ? next_region_at.exchange(-1) : -1;
  if (wanted < 0) return real(at, bytes, protection, flags, fd, offset);
  constexpr std::size_t slab = std::size_t{64} * 1024;
  void* const more = real(nullptr, bytes + 2 * slab, protection, flags, fd, offset);
  const auto aligned = (reinterpret_cast<std::uintptr_t>(more) + slab - 1) / slab * slab;
  region = reinterpret_cast<char*>(aligned) + wanted;
  region_bytes = bytes;
  region_unmapped = 0;
  return region;
}

int munmap(void* at, std::size_t bytes) noexcept {
  static auto* const real = sched_test::next_one<int(void*, std::size_t)>("munmap");
  if (auto* const does = in_next_unmapping.exchange(nullptr)) does();
  char* const begin = region;
  const auto* const from = static_cast<const char*>(at);
  if (begin != nullptr && from >= begin && from + bytes <= begin + region_bytes) region_unmapped += bytes;
  return real(at, bytes);
}

}  // extern "C"

#endif

namespace {

using runq::detail::frame_bytes_given_back;
using runq::detail::frame_cache;
using runq::detail::frame_pool_bytes;
using runq::detail::frames_may_be_given_back;

constexpr std::size_t slab_bytes = std::size_t{64} * 1024;
constexpr std::size_t mebibyte = std::size_t{1} << 20;  // what the pool keeps
constexpr std::size_t large = frame_cache::largest;

std::int64_t time_of_pool = 0;
constexpr std::int64_t second = 1'000'000'000;

/// Some time later the monitor calls. Returns how much this has given back.
std::size_t give_back_after(std::int64_t ns) {
  const std::size_t before = frame_bytes_given_back();
  time_of_pool += ns;
  runq::detail::give_back_frames(time_of_pool);
  return frame_bytes_given_back() - before;
}

/// Returns how much goes back in the seconds that follow, until nothing more does.
std::size_t give_back_all() {
  (void)give_back_after(second);
  const std::size_t before = frame_bytes_given_back();
  while (give_back_after(second) != 0) continue;
  return frame_bytes_given_back() - before;
}

std::size_t held_by_pool() { return frame_pool_bytes() - frame_bytes_given_back(); }

class frame_pool : public testing::Test {
 protected:
  // An earlier test of this program may have left free blocks.
  void SetUp() override {
    if (time_of_pool == 0) time_of_pool = 1'000 * second;
    while (frames_may_be_given_back()) (void)give_back_after(second);
  }
};

/// Blocks of one size from a cache, each filled with its number.
class blocks {
 public:
  explicit blocks(std::size_t size) : size_(size) {}
  blocks(const blocks&) = delete;
  blocks& operator=(const blocks&) = delete;
  ~blocks() { drop_all(); }

  void take(std::size_t bytes) {
    for (std::size_t n = bytes / size_; n != 0; --n) {
      auto* const fresh = static_cast<std::uint64_t*>(cache_->allocate(size_));
      fresh[0] = fresh[size_ / 8 - 1] = all_.size();
      all_.push_back(fresh);
    }
  }
  /// Frees those whose number does not satisfy `stays`.
  template <class F>
  void drop_unless(F&& stays) {
    for (std::size_t i = 0; i != all_.size(); ++i) {
      if (all_[i] == nullptr || stays(i)) continue;
      EXPECT_EQ(all_[i][0], i) << "another block has this memory, too";
      EXPECT_EQ(all_[i][size_ / 8 - 1], i) << "another block has this memory, too";
      cache_->deallocate(std::exchange(all_[i], nullptr), size_);
    }
  }
  void drop_all() {
    drop_unless([](std::size_t) { return false; });
    all_.clear();
  }
  /// Drops all, and what the cache keeps as well.
  void end() {
    drop_all();
    cache_.emplace();
  }
  [[nodiscard]] const std::vector<std::uint64_t*>& all() const { return all_; }

 private:
  const std::size_t size_;
  std::optional<frame_cache> cache_{std::in_place};
  std::vector<std::uint64_t*> all_;
};

std::uintptr_t slab_of(const void* block) { return reinterpret_cast<std::uintptr_t>(block) / slab_bytes; }

TEST(frames_here, are_the_processors_and_of_no_cache_without_one) {
  frame_cache* const none = &runq::detail::this_frame_cache();
  frame_cache* elsewhere = nullptr;
  std::thread([&] { elsewhere = &runq::detail::this_frame_cache(); }).join();
  EXPECT_EQ(elsewhere, none);
  runq::run([&]() -> runq::task<> {
    EXPECT_EQ(&runq::detail::this_frame_cache(), &runq::detail::this_front()->frames);
    {
      const runq::blocking_section outside;
      EXPECT_EQ(&runq::detail::this_frame_cache(), none);
    }
    EXPECT_EQ(&runq::detail::this_frame_cache(), &runq::detail::this_front()->frames);
    co_return;
  });
  EXPECT_EQ(&runq::detail::this_frame_cache(), none);
}

TEST(frames_here, threads_without_a_processor_share_memory_and_not_blocks) {
  const auto take_and_give = [] {
    constexpr std::size_t bytes = 96;
    for (int round = 0; round != 100; ++round) {
      std::vector<std::uint64_t*> all(3 * frame_cache::high);
      for (std::size_t i = 0; i != all.size(); ++i) {
        all[i] = static_cast<std::uint64_t*>(runq::detail::allocate_frame(bytes));
        *all[i] = reinterpret_cast<std::uintptr_t>(&all) + i;
      }
      for (std::size_t i = 0; i != all.size(); ++i) {
        EXPECT_EQ(*all[i], reinterpret_cast<std::uintptr_t>(&all) + i);
        runq::detail::deallocate_frame(all[i], bytes);
      }
    }
  };
  std::thread other(take_and_give);
  take_and_give();
  other.join();
}

struct large_frame {
  std::byte bytes[2 * large];
};
template <class Variable>
runq::task<> has(Variable variable, runq::task<> below) {
  co_await std::move(below);
  static_cast<void>(variable);
}
runq::task<> nothing() { co_return; }

// A coroutine that is destroyed before its owner leaves its memory to it; the frames that go with it do not.
template <class Variable>
void leaves_remains() {
  runq::task<> owned = has(Variable{}, nothing());
  const auto handle = runq::detail::access::release(owned);
  runq::detail::destroy_and_leave_remains(handle);
  EXPECT_TRUE(runq::detail::is_remains(handle.address()));
  for (int i = 0; i != 3; ++i) {
    const runq::task<> next = has(Variable{}, nothing());
    EXPECT_NE(runq::detail::access::handle(next).address(), handle.address()) << "its memory is somebody else's";
  }
  runq::detail::free_remains(handle.address());
}

// A variable whose destructor destroys another coroutine in the same way.
struct destroys {
  explicit destroys(void* address) noexcept : of(address) {}
  destroys(destroys&& other) noexcept : of(std::exchange(other.of, nullptr)) {}
  destroys& operator=(destroys&&) = delete;
  ~destroys() {
    if (of != nullptr) runq::detail::destroy_and_leave_remains(std::coroutine_handle<>::from_address(of));
  }
  void* of;
};

TEST(frames_here, what_leaves_remains_in_a_destructor_of_what_leaves_remains_leaves_its_own) {
  runq::run([]() -> runq::task<> {
    runq::task<> inner = nothing();
    void* const inner_at = runq::detail::access::release(inner).address();
    runq::task<> outer = has(destroys(inner_at), nothing());
    void* const outer_at = runq::detail::access::release(outer).address();
    runq::detail::destroy_and_leave_remains(std::coroutine_handle<>::from_address(outer_at));
    for (void* const at : {inner_at, outer_at}) {
      EXPECT_TRUE(runq::detail::is_remains(at));
      runq::detail::free_remains(at);
    }
    co_return;
  });
}

TEST(frames_here, what_leaves_remains_keeps_its_memory_until_they_are_freed) {
  leaves_remains<int>();
  leaves_remains<large_frame>();
  runq::run([]() -> runq::task<> {
    leaves_remains<int>();
    leaves_remains<large_frame>();
    EXPECT_EQ(&runq::detail::this_frame_cache(), &runq::detail::this_front()->frames);
    co_return;
  });
}

TEST_F(frame_pool, blocks_lie_in_one_slab_each_behind_its_beginning_and_apart_from_each_other) {
  for (std::size_t size = frame_cache::size_of_class(frame_cache::class_of(1)); size <= large;
       size += frame_cache::granule) {
    blocks of(size);
    of.take(3 * slab_bytes);
    std::set<std::uintptr_t> begins;
    for (const void* const block : of.all()) {
      const auto at = reinterpret_cast<std::uintptr_t>(block);
      ASSERT_GE(at % slab_bytes, 64U) << size;
      ASSERT_LE(at % slab_bytes + size, slab_bytes) << size;
      const auto next = begins.lower_bound(at);
      ASSERT_TRUE(next == begins.end() || at + size <= *next) << size;
      ASSERT_TRUE(next == begins.begin() || *std::prev(next) + size <= at) << size;
      begins.insert(next, at);
    }
  }
}

TEST_F(frame_pool, slabs_lie_in_whichever_part_of_a_region_is_aligned_and_the_rest_is_unmapped) {
  if (!sched_test::interposed) GTEST_SKIP() << "the sanitizer replaces mmap() itself";
  const long page = sysconf(_SC_PAGESIZE);
  for (const long at : {0L, page, static_cast<long>(slab_bytes) - page}) {
    blocks of(large);
    next_region_at = at;
    while (next_region_at >= 0) of.take(large);
    EXPECT_EQ(region_unmapped, slab_bytes) << "one slab was mapped only so that the others can be aligned";
    // From the last block on, all of the region.
    const std::size_t first = of.all().size() - 1;
    const std::size_t slabs = region_bytes / slab_bytes - 1;
    const std::size_t taken = frame_pool_bytes();
    while (frame_pool_bytes() < taken + (slabs - 1) * slab_bytes) of.take(large);
    const std::uintptr_t begin =
        reinterpret_cast<std::uintptr_t>(region.load()) + static_cast<std::uintptr_t>(slab_bytes - 1);
    std::set<std::uintptr_t> seen;
    for (std::size_t i = first; i != of.all().size(); ++i) seen.insert(slab_of(of.all()[i]));
    EXPECT_EQ(seen.size(), slabs) << at;
    EXPECT_EQ(*seen.begin(), begin / slab_bytes) << at;
    EXPECT_EQ(*seen.rbegin(), begin / slab_bytes + slabs - 1) << at;
    of.drop_all();
    region = nullptr;
  }
}

TEST_F(frame_pool, what_nobody_has_needed_for_a_second_goes_back_but_for_a_mebibyte) {
  blocks burst(large);
  burst.take(8 * mebibyte);
  burst.drop_all();
  EXPECT_TRUE(frames_may_be_given_back());
  EXPECT_EQ(give_back_after(second), 0U) << "all of it was needed in that second";
  EXPECT_EQ(give_back_after(second - 1), 0U) << "the second is not over";
  EXPECT_GE(give_back_after(1), 5 * mebibyte);
  (void)give_back_all();
  EXPECT_GE(held_by_pool(), mebibyte);
  EXPECT_LE(held_by_pool(), mebibyte + 8 * slab_bytes) << "with what the tests before have left";
  EXPECT_FALSE(frames_may_be_given_back());
  // The blocks that were kept, and new ones.
  burst.take(2 * mebibyte);
}

TEST_F(frame_pool, a_cache_keeps_fewer_than_64_free_blocks_and_the_pool_has_the_others) {
  blocks burst(large);
  burst.take(8 * mebibyte);
  const std::size_t held = held_by_pool();
  burst.drop_all();  // the cache lives on
  EXPECT_GE(give_back_all(), 6 * mebibyte);
  EXPECT_LE(held_by_pool(), held - 6 * mebibyte);
}

TEST_F(frame_pool, what_was_needed_within_the_second_stays) {
  blocks burst(large);
  burst.take(8 * mebibyte);
  burst.drop_all();
  (void)give_back_after(second);
  burst.take(5 * mebibyte);
  burst.drop_all();
  const std::size_t went = give_back_after(second);
  EXPECT_GE(went, mebibyte) << "3 MiB were not needed, and 1 MiB is kept";
  EXPECT_LE(went, 2 * mebibyte + 3 * slab_bytes);
}

/// What another thread frees while this one gives slabs back.
blocks* freed_meanwhile = nullptr;
std::size_t given_back_meanwhile = 0;

// Each scheduler has a monitor that does.
TEST_F(frame_pool, while_one_thread_gives_frames_back_another_one_that_comes_gives_back_nothing) {
  if (!sched_test::interposed) GTEST_SKIP() << "the sanitizer replaces munmap() itself";
  blocks first(large);
  blocks second_burst(large);
  first.take(8 * mebibyte);
  second_burst.take(8 * mebibyte);
  freed_meanwhile = &second_burst;
  first.end();
  (void)give_back_after(second);
  in_next_unmapping = [] {
    std::thread([] {
      const std::size_t before = frame_bytes_given_back();
      freed_meanwhile->end();
      for (int i = 1; i != 5; ++i) runq::detail::give_back_frames(time_of_pool + i * second);
      given_back_meanwhile = frame_bytes_given_back() - before;
    }).join();
  };
  EXPECT_GE(give_back_after(second), 6 * mebibyte);
  EXPECT_EQ(in_next_unmapping.load(), nullptr) << "nothing was unmapped";
  EXPECT_EQ(given_back_meanwhile, 0U);
  time_of_pool += 5 * second;
  EXPECT_TRUE(frames_may_be_given_back());
  const std::size_t held = held_by_pool();
  (void)give_back_all();
  EXPECT_LE(held_by_pool(), held - 6 * mebibyte) << "they go later";
}

// The blocks of the first half of the burst cannot go, so there is nothing more to be done but for those freed
// meanwhile.
TEST_F(frame_pool, what_another_thread_frees_while_this_one_gives_back_all_that_can_go_is_looked_through_later) {
  if (!sched_test::interposed) GTEST_SKIP() << "the sanitizer replaces munmap() itself";
  blocks first(large);
  blocks second_burst(large);
  first.take(8 * mebibyte);
  second_burst.take(8 * mebibyte);
  freed_meanwhile = &second_burst;
  std::set<std::uintptr_t> seen;
  const std::size_t half = first.all().size() / 2;
  first.drop_unless([&](std::size_t i) { return i < half && seen.insert(slab_of(first.all()[i])).second; });
  (void)give_back_after(second);
  in_next_unmapping = [] { freed_meanwhile->end(); };
  EXPECT_GE(give_back_after(second), 2 * mebibyte);
  EXPECT_EQ(in_next_unmapping.load(), nullptr) << "nothing was unmapped";
  EXPECT_TRUE(frames_may_be_given_back());
  const std::size_t held = held_by_pool();
  (void)give_back_all();
  EXPECT_LE(held_by_pool(), held - 6 * mebibyte);
}

// Without that, the next block would be cut from memory that the process does not have any more.
TEST_F(frame_pool, the_slab_that_blocks_are_cut_from_stays_although_none_of_them_is_in_use) {
  blocks burst(large);
  burst.take(8 * mebibyte);
  // A new slab, with few blocks, which are freed last, and so are the first that the pool looks at.
  blocks newest(large);
  const std::size_t taken = frame_pool_bytes();
  while (frame_pool_bytes() == taken) newest.take(large);
  burst.end();
  newest.end();
  EXPECT_GE(give_back_all(), 6 * mebibyte);
  const std::size_t left = frame_pool_bytes();
  while (frame_pool_bytes() == left) burst.take(16 * large);
  burst.take(slab_bytes);
}

TEST_F(frame_pool, a_slab_goes_when_its_last_block_is_free_and_not_before) {
  blocks burst(large);
  burst.take(8 * mebibyte);
  std::set<std::uintptr_t> seen;
  const auto first_of_its_slab = [&](std::size_t i) { return seen.insert(slab_of(burst.all()[i])).second; };
  burst.drop_unless(first_of_its_slab);
  (void)give_back_after(second);
  EXPECT_LE(give_back_after(second), 2 * slab_bytes) << "with what the tests before have left";
  EXPECT_FALSE(frames_may_be_given_back()) << "it was looked through already";
  EXPECT_EQ(give_back_after(second), 0U);
  burst.end();
  EXPECT_TRUE(frames_may_be_given_back());
  const std::size_t before = held_by_pool();
  (void)give_back_all();
  EXPECT_LE(held_by_pool(), before - 6 * mebibyte);
}

TEST_F(frame_pool, nothing_is_looked_through_twice_when_what_is_left_cannot_go) {
  blocks burst(large);
  burst.take(8 * mebibyte);
  std::set<std::uintptr_t> seen;
  // One block of each slab in the first half.
  burst.drop_unless(
      [&](std::size_t i) { return i < burst.all().size() / 2 && seen.insert(slab_of(burst.all()[i])).second; });
  (void)give_back_after(second);
  EXPECT_GE(give_back_after(second), 3 * mebibyte);
  EXPECT_FALSE(frames_may_be_given_back());
}

TEST_F(frame_pool, a_slab_with_blocks_of_several_sizes_goes_as_a_whole) {
  blocks small(64);
  blocks burst(large);
  for (int i = 0; i != 64; ++i) {
    burst.take(slab_bytes);
    small.take(slab_bytes);
  }
  small.end();
  (void)give_back_all();
  burst.end();
  (void)give_back_all();
  EXPECT_LE(held_by_pool(), mebibyte + 8 * slab_bytes);
}

TEST_F(frame_pool, what_stays_is_for_all_caches) {
  {
    blocks burst(large);
    burst.take(8 * mebibyte);
  }
  (void)give_back_all();
  const std::size_t taken = frame_pool_bytes();
  blocks one(large);
  one.take(large);
  blocks many(large);
  many.take(mebibyte / 2);
  EXPECT_EQ(frame_pool_bytes(), taken);
}

// Each scheduler has a monitor that calls this. Two that counted in the same slab would find it free too early.
TEST_F(frame_pool, one_thread_at_a_time_looks_through_the_slabs) {
  blocks pinned(large);
  pinned.take(8 * mebibyte);
  std::set<std::uintptr_t> seen;
  pinned.drop_unless([&](std::size_t i) { return seen.insert(slab_of(pinned.all()[i])).second; });
  std::atomic<std::int64_t> time{time_of_pool + second};
  const auto monitor = [&] {
    blocks some(large);
    for (std::size_t i = 0; i != sched_test::rounds(2'000); ++i) {
      some.take(8 * large);
      some.drop_all();
      runq::detail::give_back_frames(time.fetch_add(second));
    }
  };
  std::thread another(monitor);
  monitor();
  another.join();
  time_of_pool = time.load();
  pinned.end();  // which looks at each of its blocks
}

#if RUNQ_TEST_ASAN == 0 && RUNQ_TEST_TSAN == 0
std::size_t address_space() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

TEST_F(frame_pool, regions_cost_no_more_of_the_address_space_than_their_slabs_and_give_it_back) {
  blocks burst(large);
  const std::size_t before = address_space();
  const std::size_t held = held_by_pool();
  constexpr std::size_t between = slab_bytes - 4096;
  for (int i = 0; i != 64; ++i) {
    burst.take(mebibyte);
    // So that the next region does not begin where the last one ended.
    ASSERT_NE(::mmap(nullptr, between, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), MAP_FAILED);
  }
  EXPECT_LE(address_space() - before, 64 * between + held_by_pool() - held + 2 * mebibyte);
  burst.end();
  (void)give_back_all();
  EXPECT_LE(address_space() - before, 64 * between + 4 * mebibyte);
}

[[noreturn]] void run_out_of_address_space() {
  blocks burst(large);
  burst.take(mebibyte);
  rlimit few{};
  few.rlim_cur = address_space() + 4 * mebibyte;
  few.rlim_max = RLIM_INFINITY;
  if (setrlimit(RLIMIT_AS, &few) != 0) std::_Exit(3);
  bool refused = false;
  try {
    burst.take(64 * mebibyte);
  } catch (const std::bad_alloc&) {
    refused = true;
  }
  burst.drop_all();
  burst.take(mebibyte);
  std::_Exit(refused ? 0 : 1);
}

TEST_F(frame_pool, without_memory_for_a_region_there_is_bad_alloc_and_what_there_was_can_be_used) {
  GTEST_FLAG_SET(death_test_style, sched_test::death_test_style);
  EXPECT_EXIT(run_out_of_address_space(), testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
