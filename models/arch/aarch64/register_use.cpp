// SPDX-License-Identifier: MIT
// Follows the code from a call on to the first instruction that reads or overwrites the register with the result.
#include "register_use.hpp"

#include <cstdint>

#include "instruction.hpp"

namespace runq::model::compiled {

namespace {

/// `budget`: so many instructions are followed, on all ways together.
[[nodiscard]] bool may_read(const std::uint8_t* at, unsigned& budget) noexcept {
  while (budget-- != 0) {
    const instruction i(at);
    if (i.does() != effect::none) return i.does() == effect::may_read;
    if (i.target() == nullptr) {
      at = i.next();
      continue;
    }
    if (i.falls_through() && may_read(i.next(), budget)) return true;
    at = i.target();
  }
  budget = 0;
  return true;
}

}  // namespace

bool may_look_at_result(const void* code) noexcept {
  if (code == nullptr) return true;
  constexpr unsigned most = 64;
  unsigned budget = most;
  return may_read(static_cast<const std::uint8_t*>(code), budget);
}

// What is done with other registers is not followed here: all of them count as used, so that rounds which differ in one
// are explored.
void forget_unused(caller_state&, const void*) {}

}  // namespace runq::model::compiled
