// SPDX-License-Identifier: MIT
#include "runq/detail/frames.hpp"

#include <mutex>
#include <new>

#include "runq/detail/processor.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define RUNQ_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RUNQ_ASAN 1
#endif
#endif
#if defined(RUNQ_ASAN)
#include <sanitizer/asan_interface.h>
#endif

namespace runq::detail {
namespace {

using block = frame_cache::block;
constexpr std::size_t classes = frame_cache::largest / frame_cache::granule;

constexpr std::size_t class_of(std::size_t bytes) { return (bytes - 1) / frame_cache::granule; }
constexpr std::size_t size_of_class(std::size_t c) { return (c + 1) * frame_cache::granule; }

// A free block may not be touched, but for its links: AddressSanitizer is told so.
void hide([[maybe_unused]] block* b, [[maybe_unused]] std::size_t c) noexcept {
#if defined(RUNQ_ASAN)
  ASAN_POISON_MEMORY_REGION(b + 1, size_of_class(c) - sizeof(block));
#endif
}
void show([[maybe_unused]] block* b, [[maybe_unused]] std::size_t c) noexcept {
#if defined(RUNQ_ASAN)
  ASAN_UNPOISON_MEMORY_REGION(b, size_of_class(c));
#endif
}

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
  struct alignas(frame_cache::granule) slab {
    slab* older;
  };

  block* cut(std::size_t c) {
    const std::size_t size = size_of_class(c);
    block* first = nullptr;
    for (std::uint32_t i = 0; i != frame_cache::low; ++i) {
      if (left_ < size) new_slab();
      block* const b = ::new (static_cast<void*>(at_)) block{first, nullptr, i + 1};
      at_ += size;
      left_ -= size;
      hide(b, c);
      first = b;
    }
    return first;
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

// For threads without a processor.
frame_cache& outside_cache() {
  static frame_cache& cache = *::new frame_cache;
  return cache;
}
std::mutex outside_mutex;

}  // namespace

frame_cache::~frame_cache() {
  for (std::size_t c = 0; c != classes; ++c) {
    if (lists_[c].first != nullptr) shared_pool().put_batch(lists_[c].first, lists_[c].size, c);
  }
}

void* frame_cache::allocate(std::size_t bytes) {
  if (bytes > largest) return ::operator new(bytes);
  const std::size_t c = class_of(bytes);
  list& free = lists_[c];
  if (free.first == nullptr) {
    free.first = shared_pool().take_batch(c);
    free.size = free.first->size;
  }
  block* const b = free.first;
  free.first = b->next;
  --free.size;
  show(b, c);
  return b;
}

void frame_cache::deallocate(void* memory, std::size_t bytes) noexcept {
  if (bytes > largest) {
    ::operator delete(memory);
    return;
  }
  const std::size_t c = class_of(bytes);
  list& free = lists_[c];
  block* const b = ::new (memory) block{free.first, nullptr, 0};
  hide(b, c);
  free.first = b;
  if (++free.size < high) return;
  block* last = free.first;
  for (std::uint32_t i = 1; i != high - low; ++i) last = last->next;
  block* const batch = free.first;
  free.first = last->next;
  free.size = low;
  last->next = nullptr;
  shared_pool().put_batch(batch, high - low, c);
}

[[gnu::noinline]] void* allocate_frame(std::size_t bytes) {
  if (processor* const p = this_processor()) return p->frames.allocate(bytes);
  const std::lock_guard lock(outside_mutex);
  return outside_cache().allocate(bytes);
}

[[gnu::noinline]] void deallocate_frame(void* memory, std::size_t bytes) noexcept {
  if (processor* const p = this_processor()) {
    p->frames.deallocate(memory, bytes);
    return;
  }
  const std::lock_guard lock(outside_mutex);
  outside_cache().deallocate(memory, bytes);
}

std::size_t frame_pool_bytes() noexcept { return shared_pool().bytes(); }

}  // namespace runq::detail
