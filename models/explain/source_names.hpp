// SPDX-License-Identifier: MIT
// What a line of source calls the variable of an operation in it: "r.tail_.load(" names tail_, and so do "++r.tail_",
// "atomic_load(&r->tail_)" and "lock_guard hold(r.tail_)".
#pragma once

#include <string>
#include <string_view>

#include "steps.hpp"

namespace runq::model {

/// Empty if the line names none, or could name several: a line with two loads names neither of them. `wakes`: the
/// variable counts the waiters of what the line names.
[[nodiscard]] std::string name_in_source(event_kind kind, bool wakes, const std::string& line);

/// Ends the name of a variable of which only the first bytes are meant: the first member of a struct, say.
inline constexpr std::string_view start_of_larger = "+0";

/// What a step calls its variable: one that allocates or frees memory means all of it, not the member that lies at its
/// start.
[[nodiscard]] std::string name_in_step(event_kind kind, const std::string& name);

/// The name of what lies in memory that people know by `memory`, and that the source calls `member`: "new@7+8" and
/// "next" are "new@7.next", "queue+0" and "head" are "queue.head", "local of T0" and "tail" are "tail".
[[nodiscard]] std::string name_of_member(const std::string& memory, const std::string& member);

}  // namespace runq::model
