// SPDX-License-Identifier: MIT
// Whether a program may look at what a function has returned to it.
#pragma once

namespace runq::model::compiled {

/// `code` is where the function returns to. False: whatever the program does from there on, it overwrites the register
/// with the result before it reads it. Only a few instructions are known: of the others it may be true.
[[nodiscard]] bool may_look_at_result(const void* code) noexcept;

}  // namespace runq::model::compiled
