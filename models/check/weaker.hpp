// SPDX-License-Identifier: MIT
// Which memory orders are weaker than others.
#pragma once

#include <atomic>
#include <vector>

#include "engine.hpp"

namespace runq::model {

/// The orders one step weaker than `from` for this kind of operation; a relaxed fence is none.
[[nodiscard]] inline std::vector<std::memory_order> weaker(order_of kind, std::memory_order from) {
  using order = std::memory_order;
  switch (from) {
    case order::seq_cst:
      if (kind == order_of::store) return {order::release};
      if (kind == order_of::load || kind == order_of::cas_failure) return {order::acquire};
      return {order::acq_rel};
    case order::acq_rel: return {order::acquire, order::release};
    case order::acquire:
    case order::consume:
    case order::release: return {order::relaxed};
    default: return {};
  }
}

/// Whether `to` is one step or more weaker than `from`.
[[nodiscard]] inline bool is_weaker(order_of kind, std::memory_order to, std::memory_order from) {
  for (const std::memory_order next : weaker(kind, from)) {
    if (next == to || is_weaker(kind, to, next)) return true;
  }
  return false;
}

}  // namespace runq::model
