// SPDX-License-Identifier: MIT
#include "threads.hpp"

#include <algorithm>
#include <cerrno>

#include "areas.hpp"
#include "arena.hpp"
#include "keys.hpp"
#include "limits.hpp"
#include "report.hpp"
#include "runtime.hpp"
#include "scheduler.hpp"

namespace runq::model::explore {

namespace {

thread main_thread;
thread* threads[max_threads]{&main_thread};

/// Of each thread, the calls that it is in.
[[nodiscard]] const void** all_calls() {
  static auto* const all =
      static_cast<const void**>(map_memory(calls_area, max_threads * calls_kept * sizeof(const void*)));
  return all;
}

[[nodiscard]] thread& make_thread(std::uint32_t number) {
  if (threads[number] == nullptr) threads[number] = new (arena_allocate(sizeof(thread))) thread;
  thread& t = *threads[number];
  if (t.calls_begin == nullptr) {
    t.number = number;
    t.calls_begin = all_calls() + number * calls_kept;
    for (thread_clock* const clock : {&t.now, &t.released, &t.pending}) clock->make_room(0);
  }
  t.calls = t.calls_begin;
  return t;
}

/// Before a thread gets the number: all clocks can know it.
void widen_clocks(std::uint32_t number) {
  if (number < clock_width) return;
  const std::uint32_t known = clock_width, room = clock_room();
  clock_width = number + 1;
  if (clock_room() == room) return;
  for (std::uint32_t i = 0; i != known; ++i) {
    for (thread_clock* const clock : {&threads[i]->now, &threads[i]->released, &threads[i]->pending}) {
      clock->make_room(known);
    }
  }
}

/// A place for a new thread: one that never had a thread, or whose last thread's whole life the running one knows.
[[nodiscard]] std::uint32_t free_number() noexcept {
  for (std::uint32_t i = 1; i != max_threads; ++i) {
    if (threads[i] == nullptr) return i;
    if (threads[i]->state == thread_state::gone && self->now.happened[i] >= threads[i]->epoch()) return i;
  }
  return max_threads;
}

void run_thread() noexcept {
  begin_thread_locals();
  if (self->c_routine != nullptr) {
    self->result = reinterpret_cast<void*>(std::intptr_t{self->c_routine(self->argument)});
  } else {
    self->result = self->routine(self->argument);
  }
  destroy_thread_locals();
  destroy_specific();
  wake_all(wait_kind::join, self);
  leave();
}

}  // namespace

thread* self = &main_thread;

thread* thread_at(std::uint32_t number) noexcept { return number < max_threads ? threads[number] : nullptr; }
thread* thread_of(pthread_t handle) noexcept { return thread_at(place_of(handle)); }
pthread_t handle_of(const thread& t) noexcept {
  return t.number == 0 ? main_thread_pointer() : t.context.thread_pointer;
}

void make_main_thread() {
  static_cast<void>(make_thread(0));
  self->state = thread_state::ready;
  begin_event();
}

thread& create_thread(bool detached, void* (*routine)(void*), int (*c_routine)(void*), void* argument,
                      const void* code) {
  const std::uint32_t number = free_number();
  if (number == max_threads) refuse("more than 1,024 threads at a time");
  widen_clocks(number);
  thread& t = make_thread(number);
  const std::uint32_t epoch = t.now.happened[number];
  make_fiber(t.context, number, run_thread);
  t.detached = detached;
  t.timed_out = false;
  t.timed_out_at = 0;
  t.has_released = t.has_pending = false;
  t.released.clear();
  t.pending.clear();
  t.priority = 0;
  t.next = {};
  t.processors = self->processors;
  t.routine = routine;
  t.c_routine = c_routine;
  t.argument = argument;
  t.result = nullptr;
  t.now.copy(self->now);
  t.now.happened[number] = t.now.ordered[number] = epoch + 1;
  note_call(event_kind::spawn, nullptr, number, code);
  begin_event();
  ++counts.threads;
  last_change = counts.steps;
  break_silence();
  add_ready(t);
  return t;
}

void* take_result(thread& t) {
  self->now.join(t.now);
  void* const result = t.result;
  forget(t);
  return result;
}

void forget(thread& t) noexcept {
  end_fiber(t.number);
  t.state = thread_state::gone;
}

}  // namespace runq::model::explore
