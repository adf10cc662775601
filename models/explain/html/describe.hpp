// SPDX-License-Identifier: MIT
// What a report says of its searches, in the words that the pages use.
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

}  // namespace runq::model::html
