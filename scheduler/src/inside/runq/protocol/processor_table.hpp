// SPDX-License-Identifier: MIT
// processor_table: the processors of a scheduler. They are made when needed and are never destroyed while other threads
// may look at them. Models: models/cases/scheduler/processor_table/.
#pragma once

#include <array>
#include <atomic>

#include "runq/atomics.hpp"

namespace runq {

/// A table of at most `Most` processors.
template <class Processor, unsigned Most, class Atomics = std_atomics>
class processor_table {
 public:
  processor_table() noexcept : made_(0U) {}
  processor_table(const processor_table&) = delete;
  processor_table& operator=(const processor_table&) = delete;

  /// Makes processors until there are `n`: `make(i)` returns a pointer to the i-th. If `make` throws, this throws the
  /// same, and keeps those made before. One thread at a time.
  template <class Make>
  void grow(unsigned n, Make&& make) {
    // [processor_table.before] relaxed: only one thread at a time makes processors, and is ordered with the last one.
    for (unsigned i = made_.load(std::memory_order::relaxed); i < n; ++i) {
      all_[i].set(make(i));
      // [processor_table.publish] release: pairs with [processor_table.size]; weaker: another thread gets a
      // processor that is not constructed.
      made_.store(i + 1, std::memory_order::release);
    }
  }

  /// How many processors there are: the caller may use those with a smaller index. Any thread.
  [[nodiscard]] unsigned size() const noexcept {
    // [processor_table.size] acquire: pairs with [processor_table.publish]; weaker: the reader gets a processor that is
    // not constructed.
    return made_.load(std::memory_order::acquire);
  }
  /// `i` is less than size(), or less than a number that was published after that many processors were made.
  [[nodiscard]] Processor& operator[](unsigned i) const noexcept { return *all_[i].get(); }

  /// Calls `f` with each. Any thread.
  template <class F>
  void for_each(F&& f) const {
    for (unsigned i = 0; i != size(); ++i) f((*this)[i]);
  }

 private:
  std::array<typename Atomics::template cell<Processor*>, Most> all_;
  typename Atomics::template atomic<unsigned> made_;
};

}  // namespace runq
