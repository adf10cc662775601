// SPDX-License-Identifier: MIT
// What task.hpp and fork.hpp need at every fork: short functions, which call what is rare. And the end of the
// coroutines that no coroutine of the library has called.
#include "runq/detail/core.hpp"
#include "runq/detail/strand_end.hpp"

namespace runq::detail {

// Defined here, where its address costs no instruction.
constinit thread_local processor_front* held_here = nullptr;
[[gnu::noinline]] processor_front* this_front_by_call() noexcept { return held_here; }

// What is rare at a fork, and at its end, is called last, so that neither needs a frame on the stack. Where a function
// goes on after a call, it asks for the processor again, because a value that is kept during the call costs
// instructions.

namespace {

[[gnu::noinline]] std::coroutine_handle<> start_fork_apart(processor& p, frame& child) {
  frame& parent = *child.parent;
  fork_apart(p, parent, child);
  parent.owes_join = true;
  return transfer(p, parent.self());
}

// A fork for which the deque may have to grow.
[[gnu::noinline]] std::coroutine_handle<> grow_and_start_fork(processor& p, frame& child) {
  frame& parent = *child.parent;
  if (!p.own_forks.push(&parent)) {
    parent.owes_join = parent.children.any();  // not for this child
    return start_fork_apart(p, child);
  }
  p.home.parking.forked(p.own_forks);
  return transfer(p, child.self());
}

// A fork, which is in the deque, and which a machine is to be woken for.
[[gnu::noinline]] std::coroutine_handle<> wake_and_start_fork(processor& p, frame& child) {
  p.home.parking.wake_for_fork();
  return transfer(p, child.self());
}

}  // namespace

std::coroutine_handle<> start_fork(processor_front& front, frame& child) {
  processor& p = static_cast<processor&>(front);
  if (!p.continues_forks) return start_fork_apart(p, child);
  frame& parent = *child.parent;
  child.how = role::forked_inline;
  parent.owes_join = true;
  if (!p.own_forks.push_without_growing(&parent)) return grow_and_start_fork(p, child);
  if (p.home.parking.fork_wakes(p.own_forks)) return wake_and_start_fork(p, child);
  return transfer(p, child.self());
}

namespace {

// The end of a child whose parent runs elsewhere, or waits for another child. `newest` was popped instead of the
// parent, or is null.
[[gnu::noinline]] std::coroutine_handle<> end_fork_elsewhere(processor& on, frame& parent, frame* newest) noexcept {
  if (newest != nullptr) on.home.parking.put_back(on.own_forks, newest);
  return end_fork_apart(*this_processor(), parent);
}

// The end of a child that is the first in its parent's list of those below.
[[gnu::noinline]] std::coroutine_handle<> end_listed_fork(frame& parent, frame& child) noexcept {
  child.leave_parent();
  // by chance: the child has moved to the processor where its parent then forked another one, waited there longer than
  // all other tasks, and so comes before the newest fork.
  if (child.owned_by_handle) {
    child.listed = false;
  } else {
    child.self().destroy();
  }
  return transfer(*this_processor(), parent.self());
}

// As the usual end in end_frame(), but the child stays in its parent's list.
std::coroutine_handle<> end_failed_fork(processor& p, frame& failed) noexcept {
  frame& parent = *failed.parent;
  failed.finished.set();
  frame* const newest = p.own_forks.pop_or_null();
  return newest == &parent ? transfer(p, parent.self()) : end_fork_elsewhere(p, parent, newest);
}

// Every other end.
[[gnu::noinline]] std::coroutine_handle<> end_other(processor& p, frame& ended) noexcept {
  if (ended.how == role::forked_failed) return end_failed_fork(p, ended);
  // Also if all children have ended: whether they have may be luck.
  if (ended.owes_join && ended.how != role::scope_body) fork_not_joined();
  if (is_forked(ended)) {
    frame& parent = *ended.parent;
    ended.finished.set();
    return end_fork_apart(p, parent);
  }
  if (ended.is_root()) return end_root(p, ended);
  if (ended.how == role::called_apart) return transfer(p, std::coroutine_handle<>::from_address(ended.caller));
  if (ended.how == role::scope_body) return end_scope_body(p, ended);
  // main_body. Not by transfer(): the run has ended, and a task that yields now never runs again.
  return std::coroutine_handle<>::from_address(ended.caller);
}

}  // namespace

// Most often it is the end of a child that its fork ran at once. The parent goes on here, unless another thread runs it
// or it waits for another child.
std::coroutine_handle<> end_frame(processor_front& front, frame& ended) noexcept {
  processor& p = static_cast<processor&>(front);
  if (ended.how != role::forked_inline || ended.owes_join) return end_other(p, ended);
  frame& parent = *ended.parent;
  ended.finished.set();
  // Most often the parent is the newest in the deque, where this child's fork put it. If it is, the count of detached
  // children stays the same, no matter for which child it was put there: one child that had been detached has ended,
  // and one that was not detached is so from now on.
  frame* const newest = p.own_forks.pop_or_null();
  if (newest != &parent) return end_fork_elsewhere(p, parent, newest);
  if (parent.newest_below == &ended) return end_listed_fork(parent, ended);
  return transfer(p, parent.self());
}

}  // namespace runq::detail
