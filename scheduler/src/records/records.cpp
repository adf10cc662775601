// SPDX-License-Identifier: MIT
#include "runq/detail/records.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace runq::detail {

record_pool::~record_pool() {
  for (goroutine_list& b : batches_) forget(b);
  forget(loose_);
}

goroutine_list record_pool::take_batch() {
  if (goroutine_list some = pop_batch(); !some.empty()) return some;
  return make_slab();
}

goroutine& record_pool::take() {
  {
    const std::lock_guard lock(free_mutex_);
    if (goroutine* const g = loose_.pop_front()) return *g;
  }
  goroutine_list some = take_batch();
  goroutine& g = *some.pop_front();
  const std::lock_guard lock(free_mutex_);
  loose_.splice(std::move(some));
  return g;
}

void record_pool::put_batch(goroutine_list&& freed) noexcept {
  const std::lock_guard lock(free_mutex_);
  batches_.push_back(std::move(freed));
}

void record_pool::put(goroutine_list&& freed) noexcept {
  while (freed.size() >= batch) put_batch(freed.cut_front(batch));
  const std::lock_guard lock(free_mutex_);
  loose_.splice(std::move(freed));
}

goroutine_list record_pool::pop_batch() noexcept {
  const std::lock_guard lock(free_mutex_);
  if (batches_.empty()) return loose_.cut_front(batch);
  goroutine_list last = std::move(batches_.back());
  batches_.pop_back();
  return last;
}

// Makes records and returns a batch of them.
goroutine_list record_pool::make_slab() {
  const std::lock_guard lock(slabs_mutex_);
  // Another thread may have made some meanwhile.
  if (goroutine_list some = pop_batch(); !some.empty()) return some;
  const std::size_t n = slab_size(slabs_.size());
  {
    const std::size_t all = (made_ + n) / batch;
    const std::lock_guard free_lock(free_mutex_);
    if (batches_.capacity() < all) batches_.reserve(2 * all);
  }
  goroutine* const records = slabs_.emplace_back(std::make_unique<goroutine[]>(n)).get();
  made_ += n;
  // The batch that comes first in memory is taken first, because processors fetch memory ahead.
  for (std::size_t end = n;; end -= batch) {
    goroutine_list some;
    for (std::size_t i = end - batch; i != end; ++i) {
      records[i].home = &home_;
      // Different beginnings, so that also of the first tasks one in `latency_period` is measured, the very first one
      // among them.
      records[i].until_measured = static_cast<std::uint8_t>(i % std::max(latency_period_, 1U));
      some.push_back(&records[i]);
    }
    if (end == batch) return some;
    put_batch(std::move(some));
  }
}

goroutine* record_pool::slab(std::size_t n) const {
  const std::lock_guard lock(slabs_mutex_);
  return n < slabs_.size() ? slabs_[n].get() : nullptr;
}

}  // namespace runq::detail
