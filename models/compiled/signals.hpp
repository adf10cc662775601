// SPDX-License-Identifier: MIT
// Signals in a check: a crash of the program is a verdict, the first write to a page of its memory is noted.
#pragma once

namespace runq::model::compiled {

/// Takes the signals of crashes, for the calling thread. False when there is no memory.
[[nodiscard]] bool take_signals();

}  // namespace runq::model::compiled
