// SPDX-License-Identifier: MIT
// The histories of a compiled program (<runq/history.hpp>): the calls of the running execution.
#pragma once

namespace runq::model::compiled {

/// The program's code runs to judge a history: a specification, or the class itself, one call after the other. It is no
/// part of the execution, but a crash of it, or a loop without end, is the program's.
extern bool judging;

}  // namespace runq::model::compiled
