// SPDX-License-Identifier: MIT
// The beginning of an instrumented program: what happens between the loader and main().
#pragma once

#include "session.hpp"

namespace runq::model::compiled {

/// In a program that has checks of its own: the keys that were created before main() are the C library's again.
void give_keys_back();
/// What the calling thread has under those keys is what the first thread of a check begins with.
void take_keys();
/// Whether the code belongs to the C library or the loader.
[[nodiscard]] bool is_system_code(const void* code) noexcept;
/// Whether the memory comes from the program's own heap.
[[nodiscard]] bool owned_by_program(const void* p) noexcept;

}  // namespace runq::model::compiled
