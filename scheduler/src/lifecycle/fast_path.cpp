// SPDX-License-Identifier: MIT
// What task.hpp and fork.hpp need at every fork: short functions, which call what is rare. And the end of the
// coroutines that no coroutine of the library has called.
#include "runq/detail/core.hpp"
#include "runq/detail/strand_end.hpp"

namespace runq::detail {

// Defined here, where its address costs no instruction.
constinit thread_local processor_front* held_here = nullptr;
[[gnu::noinline]] processor_front* this_front_by_call() noexcept { return held_here; }

bool push_fork(frame& parent) noexcept {
  if (!this_processor()->own_forks.push(&parent)) return false;
  // Asked for again, because a value that is kept for so long costs every fork some instructions.
  this_processor()->home.parking.submitted();
  return true;
}

bool take_fork(frame& parent) noexcept {
  processor& p = *this_processor();
  return p.home.parking.take_newest(p.own_forks, &parent);
}

std::coroutine_handle<> end_frame(processor_front& front, frame& ended) noexcept {
  processor& p = static_cast<processor&>(front);
  if (ended.is_root()) return end_root(p, ended);
  if (ended.how == role::called_apart) return transfer(p, std::coroutine_handle<>::from_address(ended.caller));
  if (ended.how == role::scope_body) return end_scope_body(p, ended);
  // main_body. Not by transfer(): the run has ended, and a task that yields now never runs again.
  return std::coroutine_handle<>::from_address(ended.caller);
}

}  // namespace runq::detail
