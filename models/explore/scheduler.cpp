// SPDX-License-Identifier: MIT
#include "scheduler.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "descriptors.hpp"
#include "deviations.hpp"
#include "pairs.hpp"
#include "report.hpp"
#include "runtime.hpp"
#include "system_call.hpp"

namespace runq::model::explore {

std::uint32_t steps_until_decision = ~0U;
std::uint64_t next_point = 0;
std::uint64_t alarm_time = 0;
std::uint64_t step_to_stop_at = 0;
std::uint64_t step_of_next_seed = 0;
bool is_fair = false;
std::uint64_t silent_since = 0;

namespace {

constexpr std::uint64_t nanoseconds_per_step = 50;
constexpr unsigned most_changes = 4;                // of priorities, in a run
constexpr std::uint32_t fair_early_timeouts = 128;  // at least: the clock hardly goes on while a thread spins

std::array<thread*, max_threads> ready{};
std::uint32_t ready_count = 0;
std::array<thread*, max_threads> blocked{};
std::uint32_t blocked_count = 0;
std::uint32_t deadlines = 0;  // how many of the blocked ones have one

std::uint64_t time_added = 1000 * second;  // by waiting, to what the steps take
std::uint32_t steps_granted = 0;           // at the last decision
std::uint32_t steps_after_stop = 0;        // granted, too, behind the step to stop at
std::uint32_t steps_in_a_row = 0;          // of the running thread
std::uint64_t fair_since = 0;

// Since break_silence(): how often a wait has ended by its limit of time, and since when, by the clock.
std::uint64_t timeouts_in_silence = 0;
std::uint64_t silent_since_time = 0;

// While nothing but limits of time lets a thread go on: how often that was, since when, and which thread it was last.
std::uint64_t timeouts_alone = 0;
std::uint64_t alone_since = 0;
const thread* timed_out_alone = nullptr;

// PCT: the highest priority runs. Those of victims of change points are below all others, those of threads that
// yield below these.
constexpr std::uint64_t ordinary = std::uint64_t{1} << 62;
std::uint64_t next_victim = std::uint64_t{1} << 61;
std::uint64_t next_yielded = std::uint64_t{1} << 60;
std::array<std::uint64_t, most_changes> changes{};
unsigned changes_left = 0;
run_counts expected;

[[nodiscard]] bool by_priority() noexcept {
  return choices.how != strategy::walk && choices.how != strategy::bursts && !is_fair &&
         mode != deviation_mode::followed;
}
/// Partial order sampling (Yuan, Yang, Gu: CAV 2018): each event that a thread is about to execute has a priority of
/// its own, drawn when it is known, and again when another thread executes an event that races with it.
[[nodiscard]] bool by_partial_order() noexcept { return by_priority() && choices.how == strategy::pos; }
[[nodiscard]] std::uint64_t draw_priority() noexcept { return ordinary + (choices.schedule.next() >> 3); }
/// What the points are counted in at which priorities change.
[[nodiscard]] std::uint64_t progress() noexcept {
  return choices.how == strategy::points ? counts.changes : counts.steps;
}
/// At which the running thread's priority changes next; `points` only.
void find_next_point() noexcept {
  next_point = choices.how == strategy::points && changes_left != 0 ? changes[changes_left - 1] : 0;
}

void add(std::array<thread*, max_threads>& list, std::uint32_t& count, thread& t) noexcept {
  t.ready_index = count;
  list[count++] = &t;
}
void remove(std::array<thread*, max_threads>& list, std::uint32_t& count, const thread& t) noexcept {
  thread* const last = list[--count];
  list[t.ready_index] = last;
  last->ready_index = t.ready_index;
}

[[nodiscard]] bool race(const pending_event& a, const pending_event& b) noexcept {
  return a.object != nullptr && a.object == b.object && (a.changes || b.changes);
}
/// `first` goes on: the order of its next event and of those that race with this one is drawn anew.
void draw_again_against(const thread& first) noexcept {
  for (std::uint32_t i = 0; i != ready_count; ++i) {
    if (ready[i] != &first && race(ready[i]->next, first.next)) ready[i]->priority = draw_priority();
  }
}

[[nodiscard]] thread& choose_by_chance() noexcept {
  if (!by_priority()) return *ready[choices.schedule.below(ready_count)];
  thread& first = **std::max_element(ready.begin(), ready.begin() + ready_count,
                                     [](const thread* a, const thread* b) { return a->priority < b->priority; });
  if (by_partial_order()) draw_again_against(first);
  return first;
}

/// Where the running thread cannot go on, or lets others run, a plain run goes on with the next one in the order of
/// numbers.
[[nodiscard]] thread& next_in_turn() noexcept {
  return **std::min_element(ready.begin(), ready.begin() + ready_count, [](const thread* a, const thread* b) {
    const auto turn = [](const thread* t) { return t->number - self->number - 1; };  // unsigned: self comes last
    return turn(a) < turn(b);
  });
}

/// What `draw` chooses, or what is followed; `plain`: what a plain run goes on with.
template <class Draw>
[[nodiscard]] thread& choose_instead_of(thread& plain, Draw&& draw) {
  if (mode == deviation_mode::by_chance) return draw();
  const moment now = ask(deviation_kind::change);
  if (mode == deviation_mode::recorded) {
    thread& chosen = draw();
    if (&chosen != &plain) note_deviation(now, chosen.number);
    return chosen;
  }
  const deviation* const followed = followed_at(now);
  thread* const wanted = followed == nullptr ? nullptr : thread_at(followed->value);
  return wanted != nullptr && wanted->state == thread_state::ready ? *wanted : plain;
}

[[nodiscard]] std::uint32_t steps_by_chance() noexcept {
  if (by_partial_order()) return 1;
  if (by_priority()) {
    if (changes_left == 0 || choices.how == strategy::points) return steps_alone;
    const std::uint64_t until = changes[changes_left - 1] - std::min(changes[changes_left - 1], counts.steps);
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(until, 1, steps_alone));
  }
  return choices.how != strategy::walk || is_fair ? 1 + choices.schedule.below(choices.burst * 2) : 1;
}

/// A run that follows asks only where something is followed, or where a thread has run alone for longer than chance
/// lets it.
constexpr std::uint32_t steps_alone_followed = 3 * steps_alone;
[[nodiscard]] std::uint32_t steps_to_follow(const thread& next) noexcept {
  const std::uint64_t step = next_followed_step(next.number, next.steps);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(step - next.steps, steps_alone_followed));
}

void grant_steps(const thread& next) noexcept {
  steps_granted = mode == deviation_mode::followed ? steps_to_follow(next) : steps_by_chance();
  if (counts.steps < step_of_next_seed) {
    steps_granted =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(steps_granted, step_of_next_seed - counts.steps));
  }
  steps_after_stop = 0;
  if (counts.steps < step_to_stop_at && step_to_stop_at - counts.steps < steps_granted) {
    const auto before = static_cast<std::uint32_t>(step_to_stop_at - counts.steps);
    steps_after_stop = steps_granted - before;
    steps_granted = before;
  }
  steps_until_decision = steps_granted;
}

void go_on_with(thread& next) {
  grant_steps(next);
  if (&next == self) return;
  steps_in_a_row = 0;
  ++counts.switches;
  thread& before = *self;
  self = &next;
  switch_fiber(before.context, next.context);
}

void end_wait(thread& t) noexcept {
  remove(blocked, blocked_count, t);
  if (t.deadline != 0) --deadlines;
  t.waits = wait_kind::none;
  t.deadline = 0;
  add_ready(t);
}

void time_out(thread& t) noexcept {
  end_wait(t);
  t.timed_out = true;
  t.timed_out_at = t.steps;
  ++timeouts_in_silence;
}

/// All threads wait, and the clock goes on to a deadline.
void count_timeout_alone() {
  if (timeouts_alone++ == 0) alone_since = clock_now();
  const bool others_wait = blocked_count != deadlines;
  if (!others_wait || timeouts_alone < timeouts_in_vain || clock_now() - alone_since < seconds_in_vain * second) return;
  const runtime_scope scope;
  report_deadlock({blocked.data(), blocked_count},
                  fmt::format("for {} s only limits of time let threads go on", seconds_in_vain));
}
/// A wait that is no sleep has ended by its limit of time, when no thread could run.
void note_timeout_alone() noexcept {
  timed_out_alone = nullptr;
  if (!choices.timeouts_fail || ready_count != 1) return;
  if (ready[0]->timed_out && ready[0]->waited != wait_kind::sleep) timed_out_alone = ready[0];
}
/// The running thread wakes one that waits without a limit of time.
void judge_wake(const thread& woken) {
  timeouts_alone = 0;
  break_silence();
  if (timed_out_alone != self || woken.deadline != 0) return;
  const runtime_scope scope;
  fail(failure::deadlock,
       fmt::format("no thread could go on, until the wait of T{} ended by its limit of time: then it woke T{}",
                   self->number, woken.number),
       self->waits_at);
}

void pass_deadlines() noexcept {
  const std::uint64_t now = clock_now();
  const bool is_late = next_timer != 0 && next_timer <= now;
  const std::uint32_t waiting = blocked_count;
  if (is_late) end_timers(now);
  if (alarm_time != 0 && alarm_time <= now) {
    alarm_time = 0;
    report->has_rung = true;
    system_call(SYS_kill, getpid(), SIGALRM);
  }
  for (std::uint32_t i = 0; i < blocked_count;) {
    thread& t = *blocked[i];
    if (t.deadline != 0 && t.deadline <= now) {
      time_out(t);
    } else {
      ++i;
    }
  }
  // A run that follows has to look at the clock here, too.
  if (mode == deviation_mode::recorded && (is_late || blocked_count != waiting)) {
    note_deviation(ask(deviation_kind::tick), 1);
  }
}

[[nodiscard]] bool is_too_long(const thread& t) noexcept {
  return choices.patience != 0 && t.deadline >= clock_now() + choices.patience;
}

/// The thread whose wait ends early, or nullptr.
[[nodiscard]] thread* timed_out_by_chance() noexcept {
  if (!choices.spurious.happens(choices.early_timeouts)) return nullptr;
  std::uint32_t left = choices.spurious.below(deadlines);
  for (std::uint32_t i = 0; i != blocked_count; ++i) {
    if (blocked[i]->deadline != 0 && left-- == 0) return is_too_long(*blocked[i]) ? nullptr : blocked[i];
  }
  return nullptr;
}
[[nodiscard]] thread* timed_out_early() noexcept {
  const std::uint32_t chosen = deviate(deviation_kind::time_out, max_threads, [] {
    const thread* const t = timed_out_by_chance();
    return t == nullptr ? 0 : t->number + 1;
  });
  if (chosen == 0) return nullptr;
  thread* const t = thread_at(chosen - 1);
  if (t == nullptr || t->state != thread_state::blocked || t->deadline == 0) return nullptr;
  // Threads that can run do so before the program's own limit of time is reached.
  return alarm_time != 0 && t->deadline >= alarm_time ? nullptr : t;
}

void advance_clock_to(std::uint64_t time) noexcept {
  const std::uint64_t now = clock_now();
  if (time > now) time_added += time - now;
  pass_deadlines();
}

void let_time_out() {
  if (deadlines == 0) {
    if (next_timer != 0 || alarm_time != 0) pass_deadlines();
    return;
  }
  if (const thread* const early = timed_out_early(); early != nullptr) {
    advance_clock_to(early->deadline);
  } else {
    pass_deadlines();
  }
}

/// The next thread, when the running one cannot go on: if all wait, until the first deadline.
[[nodiscard]] thread& next_ready() {
  while (ready_count == 0) {
    std::uint64_t first = next_timer == 0 ? ~std::uint64_t{0} : next_timer;
    for (std::uint32_t i = 0; i != blocked_count; ++i) {
      if (blocked[i]->deadline != 0) first = std::min(first, blocked[i]->deadline);
    }
    if (deadlines == 0 && next_timer == 0) {
      if (descriptors_change_late()) continue;
      report_deadlock({blocked.data(), blocked_count}, "no thread can go on");
    }
    count_timeout_alone();
    advance_clock_to(first);
    note_timeout_alone();
  }
  return choose_instead_of(next_in_turn(), choose_by_chance);
}

/// Points are drawn among those that are expected to come.
void draw_points() noexcept {
  changes_left = 0;
  if (by_priority() && !by_partial_order()) {
    const std::uint64_t end = choices.how == strategy::points ? expected.changes : expected.steps;
    const std::uint64_t before = progress();
    changes_left = choices.schedule.below(most_changes + 1);
    for (unsigned i = 0; i != changes_left; ++i) {
      changes[i] = before + 1 + choices.schedule.next() % std::max<std::uint64_t>(end - std::min(end, before), 1);
    }
    std::sort(changes.begin(), changes.begin() + changes_left, std::greater<>{});
  }
  find_next_point();
}

void change_seed() noexcept {
  if (step_of_next_seed == 0 || counts.steps < step_of_next_seed) return;
  take_next_seed();
  draw_points();
  for (std::uint32_t i = 0; i != ready_count; ++i) ready[i]->priority = draw_priority();
  for (std::uint32_t i = 0; i != blocked_count; ++i) blocked[i]->priority = draw_priority();
}

void rank_below(std::uint64_t& rank) noexcept { self->priority = --rank; }

/// Threads that tick, and threads that look at what nobody changes, go on for ever.
[[nodiscard]] bool is_silent_for_long() noexcept {
  return counts.steps >= silent_since + choices.max_steps && timeouts_in_silence >= timeouts_in_vain &&
         clock_now() - silent_since_time >= seconds_in_vain * second;
}

void be_fair_after_too_many_steps() {
  if (counts.steps < choices.max_steps) return;
  if (!is_fair) {
    is_fair = true;
    fair_since = counts.steps;
    choices.weak_memory = false;
    notes_pairs = false;
    step_of_next_seed = 0;
    choices.burst = 32;
    choices.early_timeouts = std::max(choices.early_timeouts, fair_early_timeouts);
    break_silence();
    return;
  }
  report->is_long = counts.steps >= fair_since + choices.max_steps;
  if (counts.steps >= std::max(fair_since, last_change) + choices.max_steps) {
    report_no_end(fair_since, "no atomic variable has changed", last_change);
  }
  if (is_silent_for_long()) {
    const runtime_scope scope;
    report_no_end(fair_since,
                  fmt::format("for {} s only limits of time have changed anything, and no thread has seen what another "
                              "one has changed",
                              seconds_in_vain),
                  silent_since);
  }
}

}  // namespace

void begin_schedule(const run_counts& expected_counts) {
  expected = expected_counts;
  // Those before main() are none of the run's.
  steps_granted = steps_until_decision = 0;
  counts.changes = 0;
  draw_points();
  add_ready(*self);
  grant_steps(*self);
}

void decide(const pending_event& next) {
  count_steps();
  if (!exploring) {
    steps_granted = steps_until_decision = ~0U;
    return;
  }
  if (counts.steps == step_to_stop_at) stop_for_debugger();
  if (steps_after_stop != 0) {
    steps_granted = steps_until_decision = std::exchange(steps_after_stop, 0);
    return;
  }
  be_fair_after_too_many_steps();
  change_seed();
  let_time_out();
  self->next = next;
  if (by_partial_order()) {
    self->priority = draw_priority();
  } else if (by_priority()) {
    while (changes_left != 0 && changes[changes_left - 1] <= progress()) {
      --changes_left;
      rank_below(next_victim);
    }
    find_next_point();
    if (steps_in_a_row >= steps_alone && ready_count > 1) rank_below(next_yielded);
  }
  thread& plain = steps_in_a_row >= steps_alone_followed ? next_in_turn() : *self;
  go_on_with(choose_instead_of(plain, choose_by_chance));
}

void decide_at_next_step() noexcept {
  count_steps();
  steps_granted = steps_until_decision = 1;
  steps_after_stop = 0;
}

/// What was granted and not used is no step.
void count_steps() {
  const std::uint32_t made = steps_granted - steps_until_decision;
  counts.steps += made;
  self->steps += made;
  steps_in_a_row += made;
  steps_granted = steps_until_decision;
}

bool ticks() noexcept { return self->timed_out_at != 0 && own_steps() - self->timed_out_at <= steps_alone; }

void break_silence() noexcept {
  if (!is_fair) return;
  silent_since = step_now();
  silent_since_time = clock_now();
  timeouts_in_silence = 0;
}

std::uint64_t step_now() noexcept { return counts.steps + (steps_granted - steps_until_decision); }

std::uint64_t own_steps() noexcept { return self->steps + (steps_granted - steps_until_decision); }

/// Whom a thread lets run that yields.
[[nodiscard]] static thread& choose_another() noexcept {
  if (!is_fair && steps_in_a_row < steps_alone && choices.schedule.happens(choices.ignored_yields)) return *self;
  if (by_priority()) rank_below(next_yielded);
  if (ready_count == 1 || by_priority()) {
    thread& first = choose_by_chance();
    if (by_partial_order()) self->priority = draw_priority();
    return first;
  }
  const std::uint32_t other = choices.schedule.below(ready_count - 1);
  return *ready[other < self->ready_index ? other : other + 1];
}

void yield() {
  count_steps();
  ++counts.steps;
  ++self->steps;
  be_fair_after_too_many_steps();
  change_seed();
  let_time_out();
  self->next = {};
  go_on_with(choose_instead_of(next_in_turn(), choose_another));
}

bool block(wait_kind kind, const void* object, const void* code, std::uint64_t deadline) {
  count_steps();
  if (!exploring) refuse("a wait that nobody can end before main()");
  be_fair_after_too_many_steps();  // of a thread that sleeps again and again, decide() may hear nothing
  thread& me = *self;
  remove(ready, ready_count, me);
  me.state = thread_state::blocked;
  me.waits = me.waited = kind;
  me.waits_for = object;
  me.waits_at = code;
  me.deadline = deadline;
  me.timed_out = false;
  me.next = {object, true};
  if (timed_out_alone == &me) timed_out_alone = nullptr;
  if (deadline != 0) ++deadlines;
  add(blocked, blocked_count, me);
  go_on_with(next_ready());
  return !me.timed_out;
}

void wake(thread& t) {
  judge_wake(t);
  end_wait(t);
}

void wake_all(wait_kind kind, const void* object) {
  for (std::uint32_t i = 0; i < blocked_count;) {
    thread& t = *blocked[i];
    if (t.waits == kind && t.waits_for == object) {
      wake(t);
    } else {
      ++i;
    }
  }
}

bool wake_if(wait_kind kind, bool (*is_ready)(const thread&) noexcept) {
  bool found = false;
  for (std::uint32_t i = 0; i < blocked_count;) {
    thread& t = *blocked[i];
    if (t.waits == kind && is_ready(t)) {
      wake(t);
      found = true;
    } else {
      ++i;
    }
  }
  return found;
}

void teach_waiting(wait_kind kind, const void* object) {
  for (std::uint32_t i = 0; i != blocked_count; ++i) {
    thread& t = *blocked[i];
    if (t.waits == kind && t.waits_for == object) t.now.join(self->now);
  }
}

unsigned count_waiting(wait_kind kind, const void* object) noexcept {
  return static_cast<unsigned>(std::count_if(blocked.begin(), blocked.begin() + blocked_count, [&](const thread* t) {
    return t->waits == kind && t->waits_for == object;
  }));
}

bool wake_one(wait_kind kind, const void* object) {
  const unsigned waiting = count_waiting(kind, object);
  if (waiting == 0) return false;
  std::uint32_t left =
      deviate(deviation_kind::woken, waiting - 1, [waiting] { return choices.schedule.below(waiting); });
  for (std::uint32_t i = 0;; ++i) {
    thread& t = *blocked[i];
    if (t.waits != kind || t.waits_for != object || left-- != 0) continue;
    wake(t);
    return true;
  }
}

void add_ready(thread& t) {
  t.state = thread_state::ready;
  if (t.priority == 0 || by_partial_order()) t.priority = draw_priority();
  add(ready, ready_count, t);
  // It may come first.
  if (steps_until_decision > 1 && by_priority()) decide_at_next_step();
}

void leave() {
  count_steps();
  last_change = counts.steps;
  break_silence();
  remove(ready, ready_count, *self);
  self->state = self->detached ? thread_state::gone : thread_state::ended;
  go_on_with(next_ready());
  __builtin_unreachable();
}

void pass_time(std::uint64_t nanoseconds) noexcept { time_added += nanoseconds; }

std::uint64_t clock_now() noexcept { return time_added + step_now() * nanoseconds_per_step; }

}  // namespace runq::model::explore
