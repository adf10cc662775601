// SPDX-License-Identifier: MIT
// A scope ends: its body, its forked and its started children, in any order. The one that comes last goes on with the
// caller, which destroys the scope at once.
#include <array>
#include <memory>
#include <utility>

#include "runq/scope.hpp"
#include "scenario.hpp"
#include "waking_policy.hpp"

namespace runq::model {
namespace {

using error = int;  // the part that has failed, from 1
// The source of stop requests. A thread that finds it must see its construction.
struct stopping {
  void request_stop() noexcept { asked.store(1, std::memory_order::release); }
  [[nodiscard]] bool stop_requested() const noexcept { return asked.load(std::memory_order::acquire) != 0; }
  cell<int> made{1};
  atomic<int> asked{0};
};
struct frame_ends {
  void operator()(stopping* s) const { destroy_frame(*s); }
};
using core_type = runq::detail::scope_core<error, stopping, waking_policy>;

// What with_scope() keeps in the frame of the waiting caller.
struct waiting_caller final : sleeping_task {
  explicit waiting_caller(void (*then)(void*), void* whose) : then_(then), whose_(whose) {}
  // As scope_state::go_on() does.
  void go_on() {
    if (scope.all_ended()) {
      resume();
      return;
    }
    node_.who.set(this);
    if (!scope.waits_for_started(node_)) resume();
  }
  void resume() override { then_(whose_); }

  core_type scope;
  join_counter<atomics> forked;

 private:
  void (*then_)(void*);
  void* whose_;
  runq::detail::waiter<waking_policy> node_;
};

struct result {
  cell<int> value;
};

// What all models of a scope share: its body and children, and what the caller must see when it goes on.
template <unsigned Parts>
struct scope_scenario : scenario {
  void finish() override { require(resumed == 1, "the caller waits for ever"); }

  // Called by the thread that is this part of the scope.
  void works(unsigned part) { results[part].value.set(1); }
  void fails(unsigned part) {
    const error what = static_cast<int>(part) + 1;
    if (caller.scope.fails(what)) {
      require(std::exchange(first, what) == 0, "two failures count as the first");
    } else {
      caller.scope.keeps(make_frame<core_type::failure>(what));
    }
  }
  void asks_to_stop() {
    before_request.set(1);
    caller.scope.request_stop();
  }
  void sees_request() const { require(before_request.get() == 1, "what came before a request is not seen"); }
  void body_ends() {
    if (core_type::body_ends(caller.forked)) caller.go_on();
  }
  void forked_ends() {
    if (caller.forked.arrive()) caller.go_on();
  }
  stopping& gets_stopping() {
    stopping& s = caller.scope.stopping([] { return std::unique_ptr<stopping, frame_ends>(&make_frame<stopping>()); });
    require(s.made.get() == 1, "a thread sees a stop source that is not constructed");
    return s;
  }

  void goes_on() {
    require(++resumed == 1, "the caller goes on twice");
    for (result& r : results) require(r.value.get() == 1, "the caller does not see what a child did");
    unsigned failed = 0;
    error last = 0;
    auto* at = caller.scope.failures();
    while (at != nullptr) {
      auto* const before = at->before.get();
      last = at->what.get();
      failed |= 1U << last;
      if (before != nullptr) destroy_frame(*at);  // the last one is the scope's own
      at = before;
    }
    require(failed == failing, "a failure is lost");
    require(last == first, "the first failure is not the last one of the list");
    require(caller.scope.stop_requested() == asked, "a request to stop is lost");
    require(caller.scope.was_cut_short() == cut_short, "work that was not done is reported as done, or the other way");
    if (stopping* const made = caller.scope.made_stopping()) destroy_frame(*made);
    destroy_frame(caller);
  }

  waiting_caller& caller =
      make_frame<waiting_caller>([](void* self) { static_cast<scope_scenario*>(self)->goes_on(); }, this);
  std::array<result, Parts> results;
  unsigned failing = 0;  // a bit for each part
  bool asked = false;
  bool cut_short = false;
  error first = 0;
  int resumed = 0;
  cell<int> before_request{0};
};

// The body ‖ `Forked` children that it has forked ‖ `Started` children that it has started.
template <unsigned Forked, unsigned Started, bool Fail>
struct scope_ends final : scope_scenario<1 + Forked + Started> {
  scope_ends() {
    for (unsigned i = 0; i != Forked; ++i) this->caller.forked.detach();
    for (unsigned i = 0; i != Started; ++i) require(this->caller.scope.begins() == runq::detail::counting::done, "");
    if (Fail) this->failing = (1U << (2 + Forked + Started)) - 2;
  }
  void thread(unsigned index) override {
    this->works(index);
    if (Fail) this->fails(index);
    if (index == 0) {
      this->body_ends();
    } else if (index <= Forked) {
      this->forked_ends();
    } else {
      this->caller.scope.ends();
    }
  }
};

// The body ‖ a forked child, 1 ‖ a started one, 2: child `Which` is cut short.
template <unsigned Which>
struct child_is_cut_short final : scope_scenario<3> {
  child_is_cut_short() {
    caller.forked.detach();
    require(caller.scope.begins() == runq::detail::counting::done, "");
    cut_short = true;
  }
  void thread(unsigned index) override {
    works(index);
    if (index == Which) caller.scope.is_cut_short();
    if (index == 0) {
      body_ends();
    } else if (index == 1) {
      forked_ends();
    } else {
      caller.scope.ends();
    }
  }
};

// The body asks to stop ‖ a forked child and `Started` started ones ask for the token at the same time.
template <unsigned Started>
struct stopping_is_asked_for final : scope_scenario<2 + Started> {
  stopping_is_asked_for() {
    this->caller.forked.detach();
    for (unsigned i = 0; i != Started; ++i) require(this->caller.scope.begins() == runq::detail::counting::done, "");
    this->asked = true;
  }
  void thread(unsigned index) override {
    this->works(index);
    stopping& own = this->gets_stopping();
    require(&this->gets_stopping() == &own, "two calls return tokens of different stop sources");
    if (index == 0) {
      own.request_stop();
      this->body_ends();
    } else if (index == 1) {
      this->forked_ends();
    } else {
      this->caller.scope.ends();
    }
  }
};

// The body asks to stop, perhaps before there is a token ‖ a forked child asks for the token ‖ with `Asks`, a started
// one asks to stop, too; otherwise it asks for the token.
template <unsigned Started, bool Asks>
struct stop_is_requested final : scope_scenario<2 + Started> {
  stop_is_requested() {
    this->caller.forked.detach();
    for (unsigned i = 0; i != Started; ++i) require(this->caller.scope.begins() == runq::detail::counting::done, "");
    this->asked = true;
  }
  void thread(unsigned index) override {
    this->works(index);
    if (index == 0) {
      this->asks_to_stop();
      this->body_ends();
    } else if (index == 1) {
      const stopping& own = this->gets_stopping();
      if (own.stop_requested() && !Asks) this->sees_request();
      this->forked_ends();
    } else {
      if (Asks) {
        this->caller.scope.request_stop();
        require(this->caller.scope.stop_requested(), "a request is forgotten");
      } else {
        static_cast<void>(this->gets_stopping());
      }
      this->caller.scope.ends();
    }
  }
};

// The body ‖ a forked child, which starts another, and then ends ‖ that other one.
struct forked_child_starts_another final : scope_scenario<3> {
  forked_child_starts_another() { caller.forked.detach(); }
  void thread(unsigned index) override {
    if (index == 2) await([&] { return started.load(std::memory_order::acquire) != 0; });
    works(index);
    if (index == 0) {
      body_ends();
    } else if (index == 1) {
      require(caller.scope.begins() == runq::detail::counting::done,
              "the scope counts as ended although a child has not");
      started.store(1, std::memory_order::release);
      forked_ends();
    } else {
      caller.scope.ends();
    }
  }
  atomic<int> started{0};
};

// The body ‖ a started child, which starts another, and then ends ‖ that other one.
struct started_child_starts_another final : scope_scenario<3> {
  started_child_starts_another() { require(caller.scope.begins() == runq::detail::counting::done, ""); }
  void thread(unsigned index) override {
    if (index == 2) await([&] { return started.load(std::memory_order::acquire) != 0; });
    works(index);
    if (index == 0) {
      body_ends();
      return;
    }
    if (index == 1) {
      require(caller.scope.begins() == runq::detail::counting::done,
              "the scope counts as ended although a child has not");
      started.store(1, std::memory_order::release);
    }
    caller.scope.ends();
  }
  atomic<int> started{0};
};

const bool added[] = {
    add_case<scope_ends<1, 1, false>>({
        .name = "scope/forked_and_started",
        .property = "the last of body, forked and started child goes on with the caller, which sees what all did",
        .threads = 3,
        .kept_for = "body, forked and started child meet",
    }),
    add_case<scope_ends<2, 0, false>>({
        .name = "scope/two_forked",
        .property = "the last of body and two forked children goes on with the caller, which sees what all did",
        .threads = 3,
        .kept_for = "both children are forked",
    }),
    add_case<scope_ends<0, 2, false>>({
        .name = "scope/two_started",
        .property = "the last of body and two started children goes on with the caller, which sees what all did",
        .threads = 3,
        .kept_for = "both children are started",
    }),
    add_case<scope_ends<1, 1, true>>({
        .name = "scope/all_fail",
        .property = "of failures at the same time one is the first, and none is lost",
        .threads = 3,
    }),
    add_case<child_is_cut_short<1>>({
        .name = "scope/forked_is_cut_short",
        .property = "the caller learns that a forked child was cut short, whoever ends last",
        .threads = 3,
        .kept_for = "only the forked child is cut short",
    }),
    add_case<child_is_cut_short<2>>({
        .name = "scope/started_is_cut_short",
        .property = "the caller learns that a started child was cut short, whoever ends last",
        .threads = 3,
        .kept_for = "only the started child is cut short",
    }),
    add_case<stopping_is_asked_for<0>>({
        .name = "scope/two_ask_for_the_token",
        .property = "a stop request and a task that asks for the token at the same time use the same stop source",
        .threads = 2,
        .kept_for = "the smaller program",
    }),
    add_case<stopping_is_asked_for<1>>({
        .name = "scope/three_ask_for_the_token",
        .property = "a stop request, a task and a started child that ask for the token use the same stop source",
        .threads = 3,
        .kept_for = "a child asks, too",
    }),
    add_case<stop_is_requested<0, false>>({
        .name = "scope/stop_before_the_token",
        .property =
            "a task that asks for the token while another one asks to stop gets one that stops, and sees what was "
            "written before the request",
        .threads = 2,
        .kept_for = "the smaller program",
    }),
    add_case<stop_is_requested<1, false>>({
        .name = "scope/stop_before_two_tokens",
        .property = "two tasks that ask for the token while another one asks to stop get the same, and it stops",
        .threads = 3,
        .kept_for = "the object that is asked loses the race",
    }),
    add_case<stop_is_requested<1, true>>({
        .name = "scope/two_stops_before_the_token",
        .property =
            "of two tasks that ask to stop none forgets it, and a task that asks for the token gets one that stops",
        .threads = 3,
        .kept_for = "two requests meet",
    }),
    add_case<forked_child_starts_another>({
        .name = "scope/forked_child_starts_another",
        .property = "a forked child starts another child while the body ends: the caller waits for it",
        .threads = 3,
        .kept_for = "the third child comes from a forked one",
    }),
    add_case<started_child_starts_another>({
        .name = "scope/started_child_starts_another",
        .property = "a started child starts another child while the body ends: the caller waits for it",
        .threads = 3,
        .kept_for = "the second child comes from a started one",
    }),
};

}  // namespace
}  // namespace runq::model
