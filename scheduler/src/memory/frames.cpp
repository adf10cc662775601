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

// A number below 8 beside the address of a block, or beside null, in one word.
constexpr std::uintptr_t beside_address = frame_cache::granule - 1;
static_assert(beside_address == 7);
block* address_in(block* word) noexcept {
  return reinterpret_cast<block*>(reinterpret_cast<std::uintptr_t>(word) & ~beside_address);
}
std::uint32_t number_in(block* word) noexcept {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(word) & beside_address);
}
block* with_number(block* address, std::uint32_t n) noexcept {
  return reinterpret_cast<block*>(reinterpret_cast<std::uintptr_t>(address) | n);
}

// Blocks that change hands together: a list of 1 … 64. The smallest blocks have room for two addresses only. So while
// it is in the pool, the size of a batch, less one, lies beside the two of its first block.
struct batch {
  block* first;
  std::uint32_t size;

  static_assert(frame_cache::high <= (beside_address + 1) * (beside_address + 1));
  // Makes its first block stand for it.
  [[nodiscard]] block* seal() const noexcept {
    first->next = with_number(first->next, (size - 1) % 8);
    first->next_batch = with_number(nullptr, (size - 1) / 8);
    return first;
  }
  [[nodiscard]] static batch open(block* sealed) noexcept {
    const std::uint32_t n = size_of(sealed);
    sealed->next = address_in(sealed->next);
    return {sealed, n};
  }
  // The following are about one that is sealed.
  [[nodiscard]] static std::uint32_t size_of(const block* sealed) noexcept {
    return number_in(sealed->next) + 8 * number_in(sealed->next_batch) + 1;
  }
  [[nodiscard]] static block* next_of(const block* sealed) noexcept { return address_in(sealed->next_batch); }
  static void put_before(block* sealed, block* next) noexcept {
    sealed->next_batch = with_number(next, number_in(sealed->next_batch));
  }
};

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
  batch take_batch(std::size_t c) {
    if (block* const sealed = pop_batch(c)) return batch::open(sealed);
    const std::lock_guard lock(locks_of_process.cutting);
    return cut(c);
  }
  void put_batch(batch of, std::size_t c) noexcept {
    block* const sealed = of.seal();
    const std::lock_guard lock(locks_of_process.batches);
    put(sealed, sealed, bytes_of(sealed, c), c);
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

  [[nodiscard]] static std::size_t bytes_of(const block* sealed, std::size_t c) noexcept {
    return batch::size_of(sealed) * frame_cache::size_of_class(c);
  }
  block* pop_batch(std::size_t c) noexcept {
    const std::lock_guard lock(locks_of_process.batches);
    block* const sealed = batches_[c];
    if (sealed == nullptr) return nullptr;
    batches_[c] = batch::next_of(sealed);
    free_ -= bytes_of(sealed, c);
    least_free_ = std::min(least_free_, free_);
    return sealed;
  }
  // Puts a list of batches, of so many bytes, before the others. The caller holds the lock of batches.
  void put(block* first, block* last, std::size_t bytes, std::size_t c) noexcept {
    batch::put_before(last, std::exchange(batches_[c], first));
    free_ += bytes;
  }

  // Calls f(block, its class) for each block of these batches; f may use the block's memory.
  template <class F>
  static void for_each_block(const std::array<block*, classes>& batches, F f) {
    for (std::size_t c = 0; c != classes; ++c) {
      for (block* sealed = batches[c]; sealed != nullptr;) {
        block* const next_batch = batch::next_of(sealed);
        for (block* b = sealed; b != nullptr;) {
          block* const next = address_in(b->next);
          f(b, c);
          b = next;
        }
        sealed = next_batch;
      }
    }
  }
  // Adds a block to the first of these batches, or as the first of another one if that has `low` blocks.
  static void add_to_batches(block*& first, block* b) noexcept {
    block* before = first;
    batch grown{b, 1};
    b->next = nullptr;
    if (first != nullptr && batch::size_of(first) != frame_cache::low) {
      before = batch::next_of(first);
      grown = batch::open(first);
      b->next = std::exchange(first->next, b);
      ++grown.size;
    }
    first = grown.seal();
    batch::put_before(first, before);
  }

  batch cut(std::size_t c) {
    const std::size_t size = frame_cache::size_of_class(c);
    batch made{nullptr, 0};
    while (made.size != frame_cache::low) {
      void* const memory = take(size, made.first == nullptr);
      if (memory == nullptr) break;
      block* const b = ::new (memory) block{made.first, nullptr};
      frame_cache::hide(b, c);
      made = {b, made.size + 1};
    }
    return made;
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
    for (block* sealed = staying_blocks[c]; sealed != nullptr; sealed = batch::next_of(sealed)) {
      last[c] = sealed;
      bytes[c] += bytes_of(sealed, c);
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
    if (lists_[c].first != nullptr) shared_pool.put_batch({lists_[c].first, lists_[c].size}, c);
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
  const batch taken = shared_pool.take_batch(c);
  lists_[c].first = taken.first;
  lists_[c].size = taken.size;
}

[[gnu::noinline]] void frame_cache::trim(std::size_t c) noexcept {
  list& free = lists_[c];
  const batch surplus{free.first, high - low};
  block* last = surplus.first;
  for (std::uint32_t i = 1; i != surplus.size; ++i) last = last->next;
  free.first = std::exchange(last->next, nullptr);
  free.size = low;
  shared_pool.put_batch(surplus, c);
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
