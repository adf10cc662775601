// SPDX-License-Identifier: MIT
// Loops that make no step and never end. Memory and registers are compared with what they were some accesses ago: where
// all of it is the same again, and nothing else can run in between, the thread goes round for ever.
#pragma once

#include <cstddef>
#include <cstdint>

namespace runq::model::explore {

/// Plain accesses until look_at_loop().
extern std::uint32_t accesses_until_look;
/// The running thread is about to access this, and has made many plain accesses. Ends the run if it does so for ever.
void look_at_loop(std::uintptr_t address, std::size_t size, std::uint8_t flags, const void* code);

}  // namespace runq::model::explore
