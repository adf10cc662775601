// SPDX-License-Identifier: MIT
// What a report says of its searches, in the words that the pages use, and how many of them show what they must.
#pragma once

#include "fields.hpp"

namespace runq::model::html {

/// A copy of what `--json` writes, with every field of a search that the pages need. A litmus test that was put to
/// several engines becomes a search per engine. "kind" is "search", "litmus", or what must fail: "mutant", "corpus" (a
/// bug from history), "bug" (another program that is wrong on purpose). "outcome" is "failed" unless the runner said
/// another one of its words. "litmus" also says whether the outcome was "shown", and whether that is "as_pinned".
[[nodiscard]] json described(const json& report);

/// The command that shows this search again.
[[nodiscard]] std::string replay_of(const json& search);

/// `report` has been described. Adds "totals", of the run, and "queues", the same by stem: "searches",
/// "mutants", "corpus", "bugs" and "litmus", each as [those that are as they must be, all], and the number "failed". A
/// litmus test counts once, whatever the number of engines, and only in "totals".
void add_totals(json& report);

}  // namespace runq::model::html
