// SPDX-License-Identifier: MIT
// Where the explorer's memory lies: at fixed addresses, far from those that the system gives to the program. So the
// addresses of what the program maps do not depend on what the explorer has mapped before.
#pragma once

#include <cstdint>

namespace runq::model::explore {

inline constexpr std::uintptr_t heap_area = 0x1000'0000'0000;
inline constexpr std::uintptr_t runtime_heap_area = 0x1800'0000'0000;
inline constexpr std::uintptr_t places_area = 0x2000'0000'0000;  ///< stacks and thread-local storage
inline constexpr std::uintptr_t arena_area = 0x2800'0000'0000;
inline constexpr std::uintptr_t calls_area = 0x3000'0000'0000;
inline constexpr std::uintptr_t crash_stack_area = 0x3100'0000'0000;
inline constexpr std::uintptr_t shared_area = 0x3200'0000'0000;
inline constexpr std::uintptr_t shadow_table_area = 0x3300'0000'0000;
inline constexpr std::uintptr_t shadow_area = 0x3800'0000'0000;

}  // namespace runq::model::explore
