// SPDX-License-Identifier: MIT
// How long a search takes, estimated from what is pinned of it: long searches are started first.
#pragma once

#include <vector>

#include "jobs.hpp"
#include "pinned.hpp"

namespace runq::model {

/// Sets the effort of each job: of a search from its pinned executions, of a ledger from the executions of its stem's
/// cases and the number of its rows, of other jobs from their limits. It only decides in which order jobs start.
void estimate(std::vector<job>& jobs, const pinned_facts& pinned, const pinned_ledger& ledger);

}  // namespace runq::model
