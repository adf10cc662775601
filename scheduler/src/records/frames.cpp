// SPDX-License-Identifier: MIT
#include "runq/detail/frames.hpp"

#include <coroutine>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "runq/detail/processor.hpp"

namespace runq::detail {
namespace {

using block = frame_cache::block;
constexpr std::size_t classes = frame_cache::largest / frame_cache::granule;

// Batches of `low` blocks for all processors of all schedulers, and slabs to cut new ones from. Slabs are kept until
// the process ends: a task may outlive the scheduler that it was made in.
class pool {
 public:
  block* take_batch(std::size_t c) {
    const std::lock_guard lock(mutex_);
    if (block* const batch = batches_[c]) {
      batches_[c] = batch->next_batch;
      return batch;
    }
    return cut(c);
  }
  void put_batch(block* batch, std::uint32_t size, std::size_t c) noexcept {
    batch->size = size;
    const std::lock_guard lock(mutex_);
    batch->next_batch = batches_[c];
    batches_[c] = batch;
  }
  std::size_t bytes() noexcept {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  static constexpr std::size_t slab_bytes = std::size_t{64} * 1024;
  struct alignas(cache_line) slab {
    slab* older;
  };

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
    return memory;
  }
  void new_slab() {
    void* const memory = ::operator new (slab_bytes, std::align_val_t{alignof(slab)});
    newest_ = ::new (memory) slab{newest_};
    at_ = static_cast<char*>(memory) + sizeof(slab);
    left_ = slab_bytes - sizeof(slab);
    bytes_ += slab_bytes;
  }

  std::mutex mutex_;
  block* batches_[classes] = {};
  slab* newest_ = nullptr;
  char* at_ = nullptr;
  std::size_t left_ = 0;
  std::size_t bytes_ = 0;
};

// Never destroyed: frames may be freed by destructors of static objects.
pool& shared_pool() {
  static pool& p = *::new pool;
  return p;
}

// The cache for threads without a processor.
frame_cache& outside_cache() {
  static frame_cache& cache = *::new frame_cache;
  return cache;
}
std::mutex outside_mutex;

// What stands at the beginning of a frame's memory when the frame was destroyed before its owner.
struct remains {
  const void* mark;
  void* memory;
  std::size_t bytes;
};

// The memory of a frame may begin before the address of its coroutine.
bool is_in(const void* address, const void* memory, std::size_t bytes) noexcept {
  return std::less_equal<>()(memory, address) && std::less<>()(address, static_cast<const char*>(memory) + bytes);
}

}  // namespace

frame_cache::~frame_cache() {
  for (std::size_t c = 0; c != classes; ++c) {
    if (lists_[c].first != nullptr) shared_pool().put_batch(lists_[c].first, lists_[c].size, c);
  }
}

[[gnu::noinline]] void frame_cache::refill(std::size_t c) {
  lists_[c].first = shared_pool().take_batch(c);
  lists_[c].size = lists_[c].first->size;
}

[[gnu::noinline]] void frame_cache::trim(std::size_t c) noexcept {
  list& free = lists_[c];
  block* const batch = free.first;
  block* last = batch;
  for (std::uint32_t i = 1; i != high - low; ++i) last = last->next;
  free.first = std::exchange(last->next, nullptr);
  free.size = low;
  shared_pool().put_batch(batch, high - low, c);
}

void* allocate_frame_outside(std::size_t bytes) {
  const std::lock_guard lock(outside_mutex);
  return outside_cache().allocate(bytes);
}

#if defined(__clang__) && __clang_major__ < 17
namespace {
thread_local void* leaves_remains = nullptr;
}  // namespace
[[gnu::noinline]] bool somebody_leaves_remains() noexcept { return leaves_remains != nullptr; }
#else
constinit thread_local void* leaves_remains = nullptr;
#endif

bool leave_remains(void* memory, std::size_t bytes) noexcept {
  if (!is_in(leaves_remains, memory, bytes)) return false;
  const remains r{&remains_mark, memory, bytes};
  std::memcpy(std::exchange(leaves_remains, nullptr), &r, sizeof(r));
  return true;
}

void destroy_and_leave_remains(std::coroutine_handle<> h) noexcept {
  void* const outer = std::exchange(leaves_remains, h.address());  // in whose destructors this one is destroyed
  h.destroy();
  leaves_remains = outer;
}

void free_remains(void* address) noexcept {
  remains r{};
  std::memcpy(&r, address, sizeof(r));
  deallocate_frame(r.memory, r.bytes);
}

void deallocate_frame_outside(void* memory, std::size_t bytes) noexcept {
  const std::lock_guard lock(outside_mutex);
  outside_cache().deallocate(memory, bytes);
}

std::size_t frame_pool_bytes() noexcept { return shared_pool().bytes(); }

}  // namespace runq::detail
