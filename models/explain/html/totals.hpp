// SPDX-License-Identifier: MIT
// Counts the searches of a run by what they had to show.
#pragma once

#include "fields.hpp"

namespace runq::model::html {

/// `report` has been described (describe.hpp). Adds "totals", of the run, and "queues", the same by stem: "searches",
/// "mutants", "corpus", "bugs" and "litmus", each as [those that are as they must be, all], and the number "failed". A
/// litmus test counts once, whatever the number of engines, and only in "totals".
void add_totals(json& report);

}  // namespace runq::model::html
