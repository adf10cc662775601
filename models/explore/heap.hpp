// SPDX-License-Identifier: MIT
// The program's heap: at addresses that depend on nothing but what the program asks for, and the run's seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace runq::model::explore {

[[nodiscard]] bool is_in_heap(const void* p) noexcept;
/// nullptr: there is no room.
[[nodiscard]] void* heap_allocate(std::size_t bytes, std::size_t alignment, const void* code);
void heap_free(void* p, const void* code);
/// From the first block to the last one.
[[nodiscard]] std::span<const std::byte> used_heap() noexcept;
/// Of a block of either heap.
[[nodiscard]] std::size_t heap_size_of(const void* p) noexcept;

// What the runtime itself uses, whose blocks the program does not see.
[[nodiscard]] bool is_of_runtime(const void* p) noexcept;
[[nodiscard]] void* runtime_allocate(std::size_t bytes, std::size_t alignment);
void runtime_free(void* p) noexcept;

}  // namespace runq::model::explore
