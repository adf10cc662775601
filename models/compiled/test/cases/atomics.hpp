// SPDX-License-Identifier: MIT
// The policy that ships.
#pragma once

#include "engine.hpp"
#include "narrow.hpp"
#include "runq/atomics.hpp"

namespace runq::model {

using atomics = std_atomics;
template <class T>
using atomic = atomics::atomic<T>;
template <class T>
using cell = atomics::cell<T>;
using mutex = atomics::mutex;

/// A check of the scenario itself; NDEBUG does not remove it.
inline void require(bool ok, const char* what) {
  if (!ok) runq::detail::contract_violated(what);
}
inline void require(bool ok, failure, const char* what) { require(ok, what); }

}  // namespace runq::model
