// SPDX-License-Identifier: MIT
// Whether a program may still use what is in a register when a function returns to it.
#pragma once

#include "caller.hpp"

namespace runq::model::compiled {

/// `code` is where the function returns to. False: whatever the program does from there on, it overwrites the register
/// with the result before it reads it. Only a few instructions are known: of the others it may be true.
[[nodiscard]] bool may_look_at_result(const void* code) noexcept;

/// The same for the registers that a function has to leave as they are: those of `caller` that are not used any more
/// become 0. Of each place in the code the answer is kept.
void forget_unused(caller_state& caller, const void* code);

}  // namespace runq::model::compiled
