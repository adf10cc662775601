// SPDX-License-Identifier: MIT
// Entry points by which a loop may wait: they keep what their caller's state consists of, before they go on in C++.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "abi.hpp"

namespace runq::model::compiled {

/// What a function has to leave as it was, at the moment of a call; stack points to where the call returns to.
struct caller_state {
  std::array<std::uint64_t, kept_registers> registers{};
  const std::byte* stack = nullptr;
};

}  // namespace runq::model::compiled

// Of the last call of such an entry point. The registers that the calling function expects to find unchanged, and its
// stack, determine what the thread does next. It is only read in a check: outside there may be real threads.
extern "C" __attribute__((visibility("hidden"))) runq::model::compiled::caller_state runq_caller;
