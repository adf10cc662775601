// SPDX-License-Identifier: MIT
// strand_end: what happens to the strand of a coroutine that forks, joins or ends. The rest of it is in task.hpp and
// fork.hpp, which are compiled into users' programs.
#pragma once

#include <coroutine>

#include "runq/detail/processor.hpp"
#include "runq/fork.hpp"
#include "runq/source_place.hpp"
#include "runq/task.hpp"

namespace runq::detail {

/// To be called before a step after which the strand that runs on `p` may have ended. With that step other threads may
/// end the task, and with it the task's first strand, which another task uses then; so that strand is made ready
/// before. Returns whether the strand is a later one. After the step call end_strand() if the strand has ended, or
/// keep_strand() if it goes on, and pass what this returned.
[[nodiscard]] bool begin_end_of_strand(processor& p, source_place at = {}) noexcept;
void end_strand(processor& p, bool is_later) noexcept;
void keep_strand(processor& p, bool is_later) noexcept;
/// Lets `child` run by itself: thieves can take it from the deque; or it becomes a task of its own, which it also does
/// when the deque is full. Throws std::bad_alloc.
void fork_apart(processor& p, frame& parent, frame& child);
/// To be called when a child of `parent` has ended that ran by itself. Returns what end_frame() returns.
[[nodiscard]] std::coroutine_handle<> end_fork_apart(processor& p, frame& parent) noexcept;
[[nodiscard]] std::coroutine_handle<> end_root(processor& p, frame& root) noexcept;
/// To be called when a started child of `home` has ended and been destroyed: nothing of the scope is touched any more.
void end_scope_child(scope_state& home) noexcept;
/// To be called when the body of a scope has ended; its children may still run.
[[nodiscard]] std::coroutine_handle<> end_scope_body(processor& p, frame& body);
/// To be called when all forked children of `parent` have ended and it waits for them: in join(), or, if it is the body
/// of a scope, at its end.
[[nodiscard]] std::coroutine_handle<> go_on_after_join(processor& p, frame& parent);

}  // namespace runq::detail
