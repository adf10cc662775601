// SPDX-License-Identifier: MIT
// strand_pool: the strands of a scheduler, and those of them that no task uses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "runq/detail/policy.hpp"
#include "runq/detail/strand.hpp"

namespace runq::detail {

/// The strands of one scheduler. They live as long as this object. Processors take and give free strands
/// in batches, under a lock that is held for a few instructions: strands are made without it. Any thread may call
/// anything.
class strand_pool {
 public:
  static constexpr std::size_t batch = 32;  // strands

  /// `latency_period`: see options::latency_period.
  strand_pool(core& home, unsigned latency_period) noexcept : home_(home), latency_period_(latency_period) {}
  strand_pool(const strand_pool&) = delete;
  strand_pool& operator=(const strand_pool&) = delete;
  ~strand_pool();

  /// Returns 1 … `batch` free strands. Throws std::bad_alloc.
  [[nodiscard]] strand_list take_batch();
  /// Returns one. Throws std::bad_alloc.
  [[nodiscard]] strand& take();
  /// Gives `batch` strands back. They are dead.
  void put_batch(strand_list&& freed) noexcept;
  /// Gives any number of them back.
  void put(strand_list&& freed) noexcept;

  /// Calls `f` with every strand there is, free ones included, but for those that are made meanwhile.
  template <class F>
  void for_each(F&& f) const {
    std::size_t n = 0;
    while (strand* const strands = slab(n)) {
      for (std::size_t i = 0; i != slab_size(n); ++i) f(strands[i]);
      ++n;
    }
  }

 private:
  // How many strands are allocated at a time: each time twice as many, up to 64 KiB. malloc() pays for each piece.
  [[nodiscard]] static constexpr std::size_t slab_size(std::size_t n) noexcept {
    return 2 * batch << std::min<std::size_t>(n, 4);
  }
  [[nodiscard]] strand* slab(std::size_t n) const;
  [[nodiscard]] strand_list make_slab();
  [[nodiscard]] strand_list pop_batch() noexcept;

  core& home_;
  const unsigned latency_period_;

  mutable std::mutex slabs_mutex_;                // locked before free_mutex_
  std::vector<std::unique_ptr<strand[]>> slabs_;  // under slabs_mutex_
  std::size_t made_ = 0;                          // strands; under slabs_mutex_

  short_lock free_mutex_;
  std::vector<strand_list> batches_;  // of `batch` strands each, with room for all strands; under free_mutex_
  strand_list loose_;                 // other free strands; under free_mutex_
};

}  // namespace runq::detail
