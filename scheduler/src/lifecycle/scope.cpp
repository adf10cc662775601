// SPDX-License-Identifier: MIT
// scope: the parts that do not depend on the type of the scope's body.
#include "runq/scope.hpp"

#include <memory>

#include "runq/detail/core.hpp"
#include "runq/detail/strand_end.hpp"

namespace runq::detail {

void scope_state::destroy_rare_parts() noexcept {
  if (waiter_.waits()) core_.leave(waiter_);
  // The first one is the scope's own.
  if (auto* at = core_.failures(); at != nullptr) {
    while (at->before.get() != nullptr) delete std::exchange(at, at->before.get());
  }
  delete core_.made_stopping();
}

// A request that goes through scopes within scopes, on this thread.
struct scope_stopping::request {
  std::stop_token of;             // the one that is asked to stop now
  std::shared_ptr<inner> to_ask;  // a list of those that are to be asked next

  static constinit thread_local request* innermost;
};
constinit thread_local scope_stopping::request* scope_stopping::request::innermost = nullptr;

scope_stopping::scope_stopping(const std::stop_token& outer) {
  if (outer.stop_requested()) {
    source_.request_stop();
  } else if (outer.stop_possible()) {
    when_outer_stops_.emplace(outer, ask_to_stop{outer, std::make_shared<inner>(inner{source_, nullptr})});
  }
}

// Leaves the work to the loop that has asked `outer` to stop, if one has. A callback of the user's that asks another
// one to stop meanwhile begins a loop of its own, so that its request, too, returns when all were asked.
void scope_stopping::ask_to_stop::operator()() const noexcept {
  request*& innermost = request::innermost;
  if (innermost != nullptr && innermost->of == outer) {
    whom->next = std::exchange(innermost->to_ask, whom);
    return;
  }
  request here{std::stop_token(), whom};
  request* const around = std::exchange(innermost, &here);
  while (const std::shared_ptr<inner> next = here.to_ask) {
    here.to_ask = std::move(next->next);
    here.of = next->source.get_token();
    next->source.request_stop();
  }
  innermost = around;
}

std::stop_source& scope_state::stopping() {
  return core_.stopping([this] { return std::make_unique<scope_stopping>(outer_); }).source();
}

std::coroutine_handle<> scope_state::go_on(processor_front& p) {
  if (core_.all_ended()) return transfer(p, caller_->self());
  strand& s = fall_asleep(caller_->self(), wait_reason::join, called_at_);
  waiter_.who.set(&s);
  // After true the caller may run on another thread, and have destroyed this scope.
  if (core_.waits_for_started(waiter_)) return std::noop_coroutine();
  waiter_.who.set(nullptr);
  s.set_status(task_status::running);
  return transfer(p, caller_->self());
}

void scope_state::hand_over_failures() {
  auto* at = core_.failures();
  // The list begins with the newest.
  std::exception_ptr first;
  std::size_t n = 0;
  for (auto* f = at; f != nullptr; f = f->before.get(), ++n) first = f->what.get();
  if (wanted_failures_ != nullptr) {
    const std::size_t before = wanted_failures_->size();
    wanted_failures_->resize(before + n);
    for (; at != nullptr; at = at->before.get()) (*wanted_failures_)[before + --n] = at->what.get();
    // [scope.missing] relaxed, unmodelled: all that failed have ended, and were joined.
    if (failures_are_missing_.load(std::memory_order::relaxed)) throw std::bad_alloc();
  }
  std::rethrow_exception(first);
}

void scope_state::begins() {
  // unreached: a scope says first that it has ended, and no test starts 2^61 children.
  switch (core_.begins()) {
    case counting::done: return;
    case counting::reused: throw_ended();
    default: throw_misuse("runq: scope::go() was called too often in one scope");
  }
}

void scope_state::throw_ended() {
  throw_misuse("runq: a scope was used after its body and all of its children had ended");
}

void scope_state::throw_elsewhere() {
  throw_misuse(
      "runq: scope::go() was called by a task of another scheduler; only the body of the scope and its children may "
      "start children");
}

void scope_state::fails(std::exception_ptr what) noexcept {
  if (core_.fails(what)) {
    core_.request_stop();
  } else if (wanted_failures_ != nullptr) {
    if (auto* const kept = new (std::nothrow) core_type::failure(std::move(what))) {
      core_.keeps(*kept);
    } else {
      // [scope.misses] relaxed, unmodelled: see [scope.missing].
      failures_are_missing_.store(true, std::memory_order::relaxed);
    }
  }
}

bool scope_state::is_cut_short(const std::exception_ptr& what) noexcept {
  if (!outer_.stop_requested() || !is_cancellation(what)) return false;
  core_.is_cut_short();
  return true;
}

void scope_state::body_fails(std::exception_ptr what) noexcept {
  if (!is_cut_short(what)) fails(std::move(what));
}

bool scope_state::child_fails(std::exception_ptr what) noexcept {
  if (is_cut_short(what)) return true;
  // The scope itself has asked for it.
  if (is_cancellation(what) && core_.stop_requested()) return false;
  fails(std::move(what));
  return true;
}

// ---- the end of the body --------------------------------------------------------------------------------------------

bool tell_scope(frame& failed) noexcept {
  if (failed.how == role::scope_body) {
    failed.home->body_fails(std::current_exception());
  } else if (is_forked(failed) && failed.parent->how == role::scope_body) {
    return failed.parent->home->child_fails(std::current_exception());
  } else if (failed.how == role::child) {
    return failed.awaited().scope->child_fails(std::current_exception());
  }
  return true;
}

void end_scope_child(scope_state& home) noexcept { home.ends(); }

std::coroutine_handle<> end_scope_body(processor& p, frame& body) {
  if (!body.children.any()) return body.home->go_on(p);
  const bool is_later = begin_end_of_strand(p, body.home->called_at());
  if (!scope_state::core_type::body_ends(body.children)) {
    // A forked child that ends last goes on with the caller.
    end_strand(p, is_later);
    return std::noop_coroutine();
  }
  keep_strand(p, is_later);
  return body.home->go_on(p);
}

std::coroutine_handle<> go_on_after_join(processor& p, frame& parent) {
  if (parent.how == role::scope_body && parent.self().done()) return parent.home->go_on(p);
  return transfer(p, parent.self());
}

}  // namespace runq::detail
