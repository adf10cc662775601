// SPDX-License-Identifier: MIT
// What the cases of the corpus share. Each part of a file re-creates one bug that a released queue or scheduler had,
// small enough to be searched to the end, and next to it the same program with the historical fix. The bug must be
// caught and the fixed twin must pass: so what is caught is the bug itself, and no mistake of the re-creation.
#pragma once

#include <atomic>

#include "oracle.hpp"
#include "scenario.hpp"

namespace runq::model::corpus {

/// Which of the two programs a template makes. They differ only where this is tested.
enum class bug : unsigned char { fixed, seeded };

inline constexpr std::memory_order relaxed = std::memory_order::relaxed;
inline constexpr std::memory_order acquire = std::memory_order::acquire;
inline constexpr std::memory_order release = std::memory_order::release;
inline constexpr std::memory_order acq_rel = std::memory_order::acq_rel;
inline constexpr std::memory_order seq_cst = std::memory_order::seq_cst;

}  // namespace runq::model::corpus
