// SPDX-License-Identifier: MIT
// Memory of the runtime's own, apart from the program's heap: taken from the system once, lost with the process.
#pragma once

#include <cstddef>
#include <cstdint>

namespace runq::model::explore {

/// `bytes` of zeros at `address`. Ends the process if there are none.
void* map_memory(std::uintptr_t address, std::size_t bytes);

/// The memory from an address on, mapped as it is used, in steps of 1 GiB: an emulator has a table of all that is
/// mapped.
class growing_area {
 public:
  constexpr explicit growing_area(std::uintptr_t begin) noexcept : mapped_(begin) {}
  /// From now on all of it below `end` can be used.
  void reach(std::uintptr_t end) {
    if (end > mapped_) grow(end);
  }

 private:
  void grow(std::uintptr_t end);

  std::uintptr_t mapped_;
};

/// Memory that is never given back, zeroed.
[[nodiscard]] void* arena_allocate(std::size_t bytes);

/// Objects of one type that are used again.
template <class T>
class pool {
 public:
  /// The object has the state in which it was given back; at first, zeros.
  [[nodiscard]] T* take() {
    if (free_ == nullptr) return static_cast<T*>(arena_allocate(sizeof(T)));
    T* const taken = free_;
    free_ = taken->next;
    taken->next = nullptr;
    return taken;
  }
  void give_back(T* object) noexcept {
    object->next = free_;
    free_ = object;
  }

 private:
  T* free_ = nullptr;
};

}  // namespace runq::model::explore
