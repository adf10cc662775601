// SPDX-License-Identifier: MIT
// A failing execution as its page needs it: what read what, which steps matter, what the variables are called.
#pragma once

#include <nlohmann/json.hpp>

namespace runq::model::html {

/// `search` is an entry of a report's "searches" that has a trace. The result has "steps", one per step of the trace,
/// and "threads", which take part after the construction; main is -1. A step names others by their indices:
/// "reads_from" the write that it reads ("inferred": the last write of that value; the engine has not said which),
/// "ignored" the newer write that a stale read ignored, "conflict" the last access of another thread that the failing
/// step is not ordered with. A "minor" step seems to take no part in the failure.
[[nodiscard]] nlohmann::json execution_json(const nlohmann::json& search);

}  // namespace runq::model::html
