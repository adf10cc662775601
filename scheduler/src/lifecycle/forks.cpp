// SPDX-License-Identifier: MIT
// Strands begin at forks and end at joins: what of that is too rare to be compiled into the callers.
#include <coroutine>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "runq/detail/core.hpp"
#include "runq/detail/process_locks.hpp"
#include "runq/detail/strand_end.hpp"
#include "runq/fork.hpp"

namespace runq::detail {

bool begin_end_of_strand(processor& p, source_place at) noexcept {
  if (p.current->root == nullptr) return true;
  p.current->waits(wait_reason::join, at);
  return false;
}

void end_strand(processor& p, bool is_later) noexcept {
  strand* const ended = std::exchange(p.current, nullptr);
  if (is_later) p.home.free_strand(p, *ended);
}

void keep_strand(processor& p, bool is_later) noexcept {
  if (!is_later) p.current->set_status(task_status::running);
}

void fork_apart(processor& p, frame& parent, frame& child) {
  child.how = role::forked_apart;
  if (p.home.chosen.forks == fork_policy::child && p.own_forks.push(&child)) {
    parent.children.detach();
    p.home.parking.submitted();
  } else {
    strand& s = p.home.take_strand(p);
    s.resume = child.self();
    s.set_status(task_status::runnable);
    parent.children.detach();
    p.overflowed += p.home.looping.make_next(p, &s);
  }
}

std::exception_ptr frame::take_error() noexcept {
  std::exception_ptr taken = std::move(error());
  std::destroy_at(&error());
  error_kept = kept_error::none;
  return taken;
}

void throw_error(frame& failed) { std::rethrow_exception(failed.take_error()); }

void keep_child_error(frame& failed) noexcept {
  frame& parent = *failed.parent;
  // Children end at the same time on several threads; exceptions are rare enough for one lock.
  const std::lock_guard lock(locks_of_process.child_errors);
  if (parent.error_kept != kept_error::none) return;
  parent.error_kept = kept_error::below;
  failed.keep_error(kept_error::own_for_join);
  if (failed.how == role::forked_inline) failed.how = role::forked_failed;
}

void throw_child_error(frame& parent) {
  parent.error_kept = kept_error::none;
  frame* failed = parent.newest_below;
  while (failed->error_kept != kept_error::own_for_join) failed = failed->next_below;
  const std::exception_ptr error = failed->take_error();
  parent.leave_joined();
  std::rethrow_exception(error);
}

std::coroutine_handle<> end_fork_apart(processor& p, frame& parent) noexcept {
  const bool is_later = begin_end_of_strand(p);
  if (parent.children.arrive()) {
    keep_strand(p, is_later);
    return go_on_after_join(p, parent);
  }
  end_strand(p, is_later);
  return std::noop_coroutine();
}

bool waits_for_children(processor_front& front, frame& parent, source_place at) noexcept {
  processor& p = static_cast<processor&>(front);
  const bool is_later = begin_end_of_strand(p, at);
  if (!parent.children.wait()) {
    end_strand(p, is_later);
    return true;
  }
  keep_strand(p, is_later);
  return preempt_if_slice_is_over(p, parent.self());
}

}  // namespace runq::detail
