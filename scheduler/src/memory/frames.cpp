// SPDX-License-Identifier: MIT
#include "runq/detail/frames.hpp"

#include <algorithm>
#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>

#include <sys/mman.h>

#include "runq/detail/process_locks.hpp"
#include "runq/detail/processor.hpp"

// LeakSanitizer's, where there is one: it looks for pointers in frames, too.
extern "C" {
[[gnu::weak]] void __lsan_register_root_region(const void* begin, std::size_t bytes);    // NOLINT
[[gnu::weak]] void __lsan_unregister_root_region(const void* begin, std::size_t bytes);  // NOLINT
}

namespace runq::detail {
namespace {

using block = frame_cache::block;
constexpr std::size_t classes = frame_cache::largest / frame_cache::granule;

constexpr std::size_t slab_bytes = std::size_t{64} * 1024;

// The beginning of a slab, whose address is a multiple of its size.
struct alignas(cache_line) slab {
  std::size_t cut = 0;      // bytes of the blocks that were cut from it
  std::size_t free = 0;     // bytes of those that give_back() has found in the pool
  slab* next = nullptr;     // in a list of give_back()
  bool listed = false;      // it is in one of them
  bool given_back = false;  // it is in the list of those that go
};

slab& slab_of(block* b) noexcept {
  return *reinterpret_cast<slab*>(reinterpret_cast<std::uintptr_t>(b) & ~(slab_bytes - 1));
}

// Slabs from the system and back to it. malloc would keep what is freed in the middle of its heap.
class slabs {
 public:
  [[nodiscard]] slab* take() {
    if (at_ == end_) map_region();
    slab* const taken = ::new (std::exchange(at_, at_ + slab_bytes)) slab;
    // unreached: only with LeakSanitizer.
    if (__lsan_register_root_region != nullptr) __lsan_register_root_region(taken, slab_bytes);
    return taken;
  }
  static void give_back(slab* s) noexcept {
    // unreached: only with LeakSanitizer.
    if (__lsan_unregister_root_region != nullptr) __lsan_unregister_root_region(s, slab_bytes);
#if defined(RUNQ_ASAN)
    ASAN_UNPOISON_MEMORY_REGION(s, slab_bytes);
#endif
    (void)munmap(s, slab_bytes);
  }

 private:
  static constexpr std::size_t region_bytes = 16 * slab_bytes;
  void map_region() {
    void* const got =
        mmap(nullptr, region_bytes + slab_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got == MAP_FAILED) throw std::bad_alloc();
    auto* const begin = static_cast<char*>(got);
    const std::size_t before = -reinterpret_cast<std::uintptr_t>(begin) & (slab_bytes - 1);
    if (before != 0) (void)munmap(begin, before);
    at_ = begin + before;
    end_ = at_ + region_bytes;
    (void)munmap(end_, slab_bytes - before);
  }
  char* at_ = nullptr;
  char* end_ = nullptr;
};

// Batches of blocks for all processors of all schedulers, and slabs to cut new ones from. A slab is no scheduler's: a
// task may outlive the scheduler that it was made in.
class pool {
 public:
  block* take_batch(std::size_t c) {
    if (block* const batch = pop_batch(c)) return batch;
    const std::lock_guard lock(locks_of_process.cutting);
    return cut(c);
  }
  void put_batch(block* batch, std::uint32_t size, std::size_t c) noexcept {
    batch->size = size;
    const std::lock_guard lock(locks_of_process.batches);
    put(batch, batch, bytes_of(*batch, c), c);
  }
  std::size_t bytes_taken() noexcept {
    const std::lock_guard lock(locks_of_process.cutting);
    return taken_;
  }
  std::size_t bytes_given_back() noexcept {
    const std::lock_guard lock(locks_of_process.batches);
    return given_back_;
  }
  bool has_surplus() noexcept {
    const std::lock_guard lock(locks_of_process.batches);
    return free_ > kept && free_ != looked_through_;
  }
  void give_back(instant now) noexcept;

 private:
  static constexpr std::size_t kept = std::size_t{1} << 20;  // bytes of free blocks
  static constexpr instant period = 1'000'000'000;           // ns

  [[nodiscard]] static std::size_t bytes_of(const block& batch, std::size_t c) noexcept {
    return batch.size * frame_cache::size_of_class(c);
  }
  block* pop_batch(std::size_t c) noexcept {
    const std::lock_guard lock(locks_of_process.batches);
    block* const batch = batches_[c];
    if (batch == nullptr) return nullptr;
    batches_[c] = batch->next_batch;
    free_ -= bytes_of(*batch, c);
    least_free_ = std::min(least_free_, free_);
    return batch;
  }
  // Puts a list of batches, of so many bytes, before the others. The caller holds the lock of batches.
  void put(block* first, block* last, std::size_t bytes, std::size_t c) noexcept {
    last->next_batch = std::exchange(batches_[c], first);
    free_ += bytes;
  }

  // Calls f(block, its class) for each block of these batches; f may use the block's memory.
  template <class F>
  static void for_each_block(const std::array<block*, classes>& batches, F f) {
    for (std::size_t c = 0; c != classes; ++c) {
      for (block* batch = batches[c]; batch != nullptr;) {
        block* const next_batch = batch->next_batch;
        for (block* b = batch; b != nullptr;) f(std::exchange(b, b->next), c);
        batch = next_batch;
      }
    }
  }
  // Adds a block to the first of these batches, or as the first of another one if that has `low` blocks.
  static void add_to_batches(block*& first, block* b) noexcept {
    if (first != nullptr && first->size != frame_cache::low) {
      b->next = std::exchange(first->next, b);
      ++first->size;
    } else {
      *b = {nullptr, first, 1};
      first = b;
    }
  }

  block* cut(std::size_t c) {
    const std::size_t size = frame_cache::size_of_class(c);
    block* first = nullptr;
    for (std::uint32_t i = 0; i != frame_cache::low; ++i) {
      void* const memory = take(size, first == nullptr);
      if (memory == nullptr) break;
      block* const b = ::new (memory) block{first, nullptr, i + 1};
      frame_cache::hide(b, c);
      first = b;
    }
    return first;
  }
  // Nullptr when the slab is used up, unless `must`.
  void* take(std::size_t size, bool must) {
    const auto alignment = static_cast<std::size_t>(frame_cache::alignment_for(size));
    void* memory = at_;
    if (std::align(alignment, size, memory, left_) == nullptr) {
      if (!must) return nullptr;
      new_slab();
      memory = at_;
      (void)std::align(alignment, size, memory, left_);
    }
    at_ = static_cast<char*>(memory) + size;
    left_ -= size;
    newest_->cut += size;
    return memory;
  }
  void new_slab() {
    newest_ = slabs_.take();
    at_ = reinterpret_cast<char*>(newest_ + 1);
    left_ = slab_bytes - sizeof(slab);
    taken_ += slab_bytes;
  }

  // Under the lock `cutting`:
  slabs slabs_;
  slab* newest_ = nullptr;  // from which blocks are cut
  char* at_ = nullptr;
  std::size_t left_ = 0;
  std::size_t taken_ = 0;

  // Under the lock `batches`:
  std::array<block*, classes> batches_{};
  std::size_t given_back_ = 0;
  std::size_t free_ = 0;            // bytes of the blocks in batches_
  std::size_t least_free_ = 0;      // the least of them since looked_at_
  std::size_t looked_through_ = 0;  // what was left of free_ when give_back() had given back all that it could, or 0
  instant looked_at_ = 0;
};

// Takes all batches out, so that others need not wait for the lock meanwhile, and puts back those blocks whose slab
// stays. One thread at a time: each scheduler's monitor calls this, and two that count in one slab would take it for
// free although one of them has blocks of it.
void pool::give_back(instant now) noexcept {
  const std::unique_lock alone(locks_of_process.giving_back, std::try_to_lock);
  if (!alone.owns_lock()) return;
  std::array<block*, classes> all{};
  std::size_t excess = 0;
  const slab* newest = nullptr;
  {
    const std::lock_guard nobody_cuts(locks_of_process.cutting);
    const std::lock_guard lock(locks_of_process.batches);
    if (now - looked_at_ < period) return;
    looked_at_ = now;
    const std::size_t unused = std::exchange(least_free_, free_);
    if (unused <= kept || free_ == looked_through_) return;
    excess = unused - kept;
    newest = newest_;
    all = std::exchange(batches_, {});
    free_ = least_free_ = 0;
  }
  std::array<block*, classes> staying_blocks{};
  slab* going = nullptr;
  slab* staying = nullptr;
  for_each_block(all, [](block* b, std::size_t c) { slab_of(b).free += frame_cache::size_of_class(c); });
  for_each_block(all, [&](block* b, std::size_t c) {
    slab& s = slab_of(b);
    if (!std::exchange(s.listed, true)) {
      s.given_back = &s != newest && s.free == s.cut && excess >= slab_bytes;
      if (s.given_back) excess -= slab_bytes;
      slab*& list = s.given_back ? going : staying;
      s.next = std::exchange(list, &s);
    }
    if (!s.given_back) add_to_batches(staying_blocks[c], b);
  });
  for (; staying != nullptr; staying = staying->next) {
    staying->free = 0;
    staying->listed = false;
  }
  std::size_t given_back = 0;
  for (; going != nullptr; given_back += slab_bytes) slabs::give_back(std::exchange(going, going->next));

  std::array<block*, classes> last{};
  std::array<std::size_t, classes> bytes{};
  std::size_t stays = 0;
  for (std::size_t c = 0; c != classes; ++c) {
    for (block* batch = staying_blocks[c]; batch != nullptr; batch = batch->next_batch) {
      last[c] = batch;
      bytes[c] += bytes_of(*batch, c);
    }
    stays += bytes[c];
  }

  const std::lock_guard lock(locks_of_process.batches);
  for (std::size_t c = 0; c != classes; ++c) {
    if (last[c] != nullptr) put(staying_blocks[c], last[c], bytes[c], c);
  }
  least_free_ = free_;
  // What others have freed meanwhile was not looked through.
  looked_through_ = excess >= slab_bytes || given_back == 0 ? stays : 0;
  given_back_ += given_back;
}

// Never destroyed: frames may be freed by destructors of static objects.
static_assert(std::is_trivially_destructible_v<pool>);
constinit pool shared_pool;

// The cache for threads without a processor, under the lock `outside_frames`.
frame_cache& outside_cache() {
  static frame_cache& cache = *::new frame_cache;
  return cache;
}

// What stands at the beginning of a frame's memory when the frame was destroyed before its owner.
struct remains {
  const void* mark;
  void* memory;
  std::size_t bytes;
};

// The address of the coroutine that this thread destroys by destroy_and_leave_remains(), until its memory is freed.
constinit thread_local void* leaves_remains = nullptr;

// The memory of a frame may begin before the address of its coroutine.
bool is_in(const void* address, const void* memory, std::size_t bytes) noexcept {
  return std::less_equal<>()(memory, address) && std::less<>()(address, static_cast<const char*>(memory) + bytes);
}

}  // namespace

frame_cache::~frame_cache() {
  for (std::size_t c = 0; c != classes; ++c) {
    if (lists_[c].first != nullptr) shared_pool.put_batch(lists_[c].first, lists_[c].size, c);
  }
}

namespace {

// Never destroyed, as the pool.
union never_destroyed {
  frame_cache cache;
  constexpr never_destroyed() noexcept : cache(frame_cache::none()) {}
  never_destroyed(const never_destroyed&) = delete;
  ~never_destroyed() {}
};
constinit never_destroyed no_cache;

}  // namespace

constinit thread_local frame_cache* frames_here = &no_cache.cache;
[[gnu::noinline]] frame_cache& frames_here_by_call() noexcept { return *frames_here; }

void choose_frames_here() noexcept {
  processor_front* const p = leaves_remains == nullptr ? this_front() : nullptr;
  frames_here = p != nullptr ? &p->frames : &no_cache.cache;
}

// Without inlining: these two are rare, and their callers are compiled into each coroutine.
[[gnu::noinline]] void* frame_cache::allocate_apart(std::size_t c) {
  if (this != &no_cache.cache) {
    refill(c);
    return allocate(size_of_class(c));
  }
  processor_front* const p = this_front();
  return p != nullptr ? p->frames.allocate(size_of_class(c)) : allocate_frame_outside(size_of_class(c));
}

[[gnu::noinline]] void frame_cache::deallocate_apart(void* memory, std::size_t bytes) noexcept {
  const std::size_t c = class_of(bytes);
  if (this != &no_cache.cache) {
    ++lists_[c].size;
    put(lists_[c], memory, c);
    trim(c);
  } else if (leave_remains(memory, bytes)) {
    // Its owner frees it.
  } else if (processor_front* const p = this_front()) {
    p->frames.deallocate(memory, bytes);
  } else {
    deallocate_frame_outside(memory, bytes);
  }
}

[[gnu::noinline]] void frame_cache::refill(std::size_t c) {
  lists_[c].first = shared_pool.take_batch(c);
  lists_[c].size = lists_[c].first->size;
}

[[gnu::noinline]] void frame_cache::trim(std::size_t c) noexcept {
  list& free = lists_[c];
  block* const batch = free.first;
  block* last = batch;
  for (std::uint32_t i = 1; i != high - low; ++i) last = last->next;
  free.first = std::exchange(last->next, nullptr);
  free.size = low;
  shared_pool.put_batch(batch, high - low, c);
}

void* allocate_frame_outside(std::size_t bytes) {
  const std::lock_guard lock(locks_of_process.outside_frames);
  return outside_cache().allocate(bytes);
}

bool leave_remains(void* memory, std::size_t bytes) noexcept {
  if (leaves_remains == nullptr || !is_in(leaves_remains, memory, bytes)) return false;
  const remains r{&remains_mark, memory, bytes};
  std::memcpy(std::exchange(leaves_remains, nullptr), &r, sizeof(r));
  choose_frames_here();
  return true;
}

void destroy_and_leave_remains(std::coroutine_handle<> h) noexcept {
  void* const outer = std::exchange(leaves_remains, h.address());  // in whose destructors this one is destroyed
  choose_frames_here();
  h.destroy();
  leaves_remains = outer;
  choose_frames_here();
}

void free_remains(void* address) noexcept {
  remains r{};
  std::memcpy(&r, address, sizeof(r));
  deallocate_frame(r.memory, r.bytes);
}

void deallocate_frame_outside(void* memory, std::size_t bytes) noexcept {
  const std::lock_guard lock(locks_of_process.outside_frames);
  outside_cache().deallocate(memory, bytes);
}

std::size_t frame_pool_bytes() noexcept { return shared_pool.bytes_taken(); }
std::size_t frame_bytes_given_back() noexcept { return shared_pool.bytes_given_back(); }
bool frames_may_be_given_back() noexcept { return shared_pool.has_surplus(); }
void give_back_frames(std::int64_t now) noexcept { shared_pool.give_back(now); }

}  // namespace runq::detail
