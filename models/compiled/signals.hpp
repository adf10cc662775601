// SPDX-License-Identifier: MIT
// Signals in a check: a crash of the program is a verdict, the first write to a page of its memory is noted.
#pragma once

namespace runq::model::compiled {

/// Takes the signals of crashes, for the calling thread and for processes that begin as copies of this one. False when
/// there is no memory.
[[nodiscard]] bool take_signals();

/// Called before a check in the process and on the thread that makes it: from now on a timer checks that the program
/// goes on. A copy of the process has no timer. False if the system gives none.
[[nodiscard]] bool start_ticks();

}  // namespace runq::model::compiled
