// SPDX-License-Identifier: MIT
// record_pool: the records of a scheduler's tasks, and those of them that no task uses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "runq/detail/goroutine.hpp"
#include "runq/detail/policy.hpp"

namespace runq::detail {

/// The records of the tasks of one scheduler. They live as long as this object. Processors take and give free records
/// in batches, under a lock that is held for a few instructions: records are made without it. Any thread may call
/// anything.
class record_pool {
 public:
  static constexpr std::size_t batch = 32;  // records

  /// `latency_period`: see options::latency_period.
  record_pool(core& home, unsigned latency_period) noexcept : home_(home), latency_period_(latency_period) {}
  record_pool(const record_pool&) = delete;
  record_pool& operator=(const record_pool&) = delete;
  ~record_pool();

  /// Returns 1 … `batch` free records. Throws std::bad_alloc.
  [[nodiscard]] goroutine_list take_batch();
  /// Returns one. Throws std::bad_alloc.
  [[nodiscard]] goroutine& take();
  /// Gives `batch` records back. They are dead.
  void put_batch(goroutine_list&& freed) noexcept;
  /// Gives any number of them back.
  void put(goroutine_list&& freed) noexcept;

  /// Calls `f` with every record there is, free ones included, but for those that are made meanwhile.
  template <class F>
  void for_each(F&& f) const {
    std::size_t n = 0;
    while (goroutine* const records = slab(n)) {
      for (std::size_t i = 0; i != slab_size(n); ++i) f(records[i]);
      ++n;
    }
  }

 private:
  // How many records are allocated at a time: each time twice as many, up to 64 KiB. malloc() pays for each piece.
  [[nodiscard]] static constexpr std::size_t slab_size(std::size_t n) noexcept {
    return 2 * batch << std::min<std::size_t>(n, 4);
  }
  [[nodiscard]] goroutine* slab(std::size_t n) const;
  [[nodiscard]] goroutine_list make_slab();
  [[nodiscard]] goroutine_list pop_batch() noexcept;

  core& home_;
  const unsigned latency_period_;

  mutable std::mutex slabs_mutex_;                   // locked before free_mutex_
  std::vector<std::unique_ptr<goroutine[]>> slabs_;  // under slabs_mutex_
  std::size_t made_ = 0;                             // records; under slabs_mutex_

  short_lock free_mutex_;
  std::vector<goroutine_list> batches_;  // of `batch` records each, with room for all records; under free_mutex_
  goroutine_list loose_;                 // other free records; under free_mutex_
};

}  // namespace runq::detail
