// SPDX-License-Identifier: MIT
// The histories of a compiled program (<runq/history.hpp>): the calls of the running execution.
#pragma once

namespace runq::model::compiled {

/// To judge a history, code of the program runs: a specification, or the class itself, one call after the other. It is
/// no part of the execution, but if it crashes or loops for ever, that is a failure of the program.
extern bool judging;

}  // namespace runq::model::compiled
