// SPDX-License-Identifier: MIT
#include "runq/detail/strand_pool.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace runq::detail {

strand_pool::~strand_pool() {
  for (strand_list& b : batches_) forget(b);
  forget(loose_);
}

strand_list strand_pool::take_batch() {
  if (strand_list some = pop_batch(); !some.empty()) return some;
  return make_slab();
}

strand& strand_pool::take() {
  {
    const std::lock_guard lock(free_mutex_);
    if (strand* const s = loose_.pop_front()) return *s;
  }
  strand_list some = take_batch();
  strand& s = *some.pop_front();
  const std::lock_guard lock(free_mutex_);
  loose_.splice(std::move(some));
  return s;
}

void strand_pool::put_batch(strand_list&& freed) noexcept {
  const std::lock_guard lock(free_mutex_);
  batches_.push_back(std::move(freed));
}

void strand_pool::put(strand_list&& freed) noexcept {
  while (freed.size() >= batch) put_batch(freed.cut_front(batch));
  const std::lock_guard lock(free_mutex_);
  loose_.splice(std::move(freed));
}

strand_list strand_pool::pop_batch() noexcept {
  const std::lock_guard lock(free_mutex_);
  if (batches_.empty()) return loose_.cut_front(batch);
  strand_list last = std::move(batches_.back());
  batches_.pop_back();
  return last;
}

// Makes strands and returns a batch of them.
strand_list strand_pool::make_slab() {
  const std::lock_guard lock(slabs_mutex_);
  // Another thread may have made some meanwhile.
  if (strand_list some = pop_batch(); !some.empty()) return some;
  const std::size_t n = slab_size(slabs_.size());
  {
    const std::size_t all = (made_ + n) / batch;
    const std::lock_guard free_lock(free_mutex_);
    if (batches_.capacity() < all) batches_.reserve(2 * all);
  }
  strand* const strands = slabs_.emplace_back(std::make_unique<strand[]>(n)).get();
  made_ += n;
  // The batch that comes first in memory is taken first, because processors fetch memory ahead.
  for (std::size_t end = n;; end -= batch) {
    strand_list some;
    for (std::size_t i = end - batch; i != end; ++i) {
      strands[i].home = &home_;
      // Different beginnings, so that also of the first tasks one in `latency_period` is measured, the very first one
      // among them.
      strands[i].until_measured = static_cast<std::uint8_t>(i % std::max(latency_period_, 1U));
      some.push_back(&strands[i]);
    }
    if (end == batch) return some;
    put_batch(std::move(some));
  }
}

strand* strand_pool::slab(std::size_t n) const {
  const std::lock_guard lock(slabs_mutex_);
  return n < slabs_.size() ? slabs_[n].get() : nullptr;
}

}  // namespace runq::detail
