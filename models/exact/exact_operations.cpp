// SPDX-License-Identifier: MIT
#include "exact_operations.hpp"

#include <string>

#include "exact_record.hpp"

namespace runq::model::exact {

bool scenario_operations::happened_before(moment end, moment begin) const noexcept {
  if (end.thread == begin.thread) return end.steps <= begin.steps;
  // A thread that has made no event yet has nothing that a clock could cover: its first event stands for that time.
  const event_id last{static_cast<std::uint16_t>(end.thread),
                      static_cast<std::uint16_t>(end.steps == 0 ? 0 : end.steps - 1)};
  // Before its first event, a thread knows what it began with: in a scenario the construction, in a program what came
  // before the start of the thread. finish() knows everything.
  if (begin.steps == 0) {
    return end.thread == static_cast<int>(constructing) || begin.thread == static_cast<int>(finishing) ||
           run_.g->beginning_of(static_cast<unsigned>(begin.thread)).covers(last);
  }
  return run_.g->at(static_cast<unsigned>(begin.thread), begin.steps - 1).hb.covers(last);
}

event_id scenario_operations::variable_of(const location& at, site where) {
  if (at.record == nullptr) judge_.report_here(failure::misuse, "a variable is used before it is constructed", where);
  return from_record(at.record);
}

void scenario_operations::find_memory_of(const location& at, event_id variable) {
  if (const heap::block* const block = run_.heap.find(&at)) run_.g->at(variable).memory = block->allocation;
}

// --- atomics -----------------------------------------------------------------------------------------------------

void scenario_operations::atomic_init(location& at, bool initialised, std::uint64_t value, site where) {
  const event_id e = executor_.perform(step::construct_atomic{run_.next_event(), initialised, value, at.mask}, where);
  at.record = to_record(e, initialised);
  find_memory_of(at, e);
}

std::uint64_t scenario_operations::load(location& at, std::memory_order order, site where) {
  return run_.g->at(executor_.perform(step::load{variable_of(at, where), order}, where)).value;
}

void scenario_operations::store(location& at, std::uint64_t value, std::memory_order order, site where) {
  executor_.perform(step::store{variable_of(at, where), value, order}, where);
}

std::uint64_t scenario_operations::rmw(location& at, rmw_op op, std::uint64_t operand, std::memory_order order,
                                       site where) {
  const operation wanted = step::modify{variable_of(at, where), op, operand, order, at.accessed};
  return at.accessed.get(run_.g->at(executor_.perform(wanted, where)).value);
}

bool scenario_operations::exchange(std::uint64_t& expected, const operation& wanted, site where) {
  const node& n = run_.g->at(executor_.perform(wanted, where));
  expected = n.accessed.get(n.value);
  return n.exclusive;
}

bool scenario_operations::compare_exchange(location& at, std::uint64_t& expected, std::uint64_t desired, bool weak,
                                           std::memory_order success, std::memory_order failure, site where) {
  return exchange(expected, step::exchange{variable_of(at, where), expected, desired, success, failure, weak}, where);
}

void scenario_operations::fence(std::memory_order order, site where) { executor_.perform(step::fence{order}, where); }

// --- mutexes: an atomic that holds the number of its holder, 0 when unlocked ---------------------------------------

void scenario_operations::mutex_init(location& at, site where) { atomic_init(at, true, 0, where); }

bool scenario_operations::mutex_try_lock(location& at, site where) {
  std::uint64_t holder = 0;
  return exchange(holder, step::lock{variable_of(at, where), run_.current + 1, false}, where);
}

void scenario_operations::mutex_lock(location& at, site where) {
  for (;;) {
    await_begin();
    std::uint64_t holder = 0;
    if (exchange(holder, step::lock{variable_of(at, where), run_.current + 1, true}, where)) return;
    await_failed(where);
  }
}

void scenario_operations::mutex_unlock(location& at, site where) {
  const event_id variable = variable_of(at, where);
  clock own;
  own[run_.current] = static_cast<std::uint16_t>(run_.running().position);
  const event_id last = last_access(*run_.g, run_.current, own, variable);
  if (last == nobody || !run_.g->at(last).exclusive) {
    judge_.report_here(failure::misuse, "a mutex is unlocked by a thread that does not hold it", where);
  }
  executor_.perform(step::unlock{variable}, where);
}

// --- plain memory ------------------------------------------------------------------------------------------------

void scenario_operations::cell_init(location& at, bool initialised, site where) {
  const event_id e = executor_.perform(step::construct_cell{run_.next_event(), initialised}, where);
  at.record = to_record(e, initialised);
  find_memory_of(at, e);
}

void scenario_operations::cell_read(location& at, std::uint64_t value, site where) {
  executor_.perform(step::read_cell{variable_of(at, where), value}, where);
  // Without a race, every write that was executed before happens-before this read.
  if (!is_written(at.record)) {
    judge_.report_here(failure::uninitialised_read, "plain memory is read before it is written", where);
  }
}

void scenario_operations::cell_write(location& at, std::uint64_t value, site where) {
  const event_id variable = variable_of(at, where);
  executor_.perform(step::write_cell{variable, value}, where);
  at.record = to_record(variable, true);
}

// --- heap --------------------------------------------------------------------------------------------------------

void* scenario_operations::allocate(std::size_t size, site where) {
  void* const p = run_.heap.allocate(run_.current, size, executor_.perform(step::allocate{size}, where));
  if (p != nullptr) return p;
  found_.cut_short("limit reached: arena_bytes = " + std::to_string(arena_bytes) +
                   " of heap memory per thread; make the scenario smaller");
  run_.abandon();
}

void scenario_operations::deallocate(void* p, site where) {
  if (p == nullptr) return;
  heap::block* const block = run_.heap.find(p);
  if (block == nullptr || block->begin != p) {
    judge_.report_here(failure::misuse, "what is freed was not allocated", where);
  }
  const event_id allocation = block->allocation;
  const event_id e = executor_.perform(step::deallocate{allocation}, where);
  // Found again: other threads may have allocated while this one waited for its turn.
  run_.heap.find(allocation)->release = e;
}

// --- the rest ----------------------------------------------------------------------------------------------------

void scenario_operations::fail(failure what, const char* text, site where) { judge_.report_here(what, text, where); }

void scenario_operations::await_begin() { run_.running().await_begin = run_.running().position; }

void scenario_operations::await_failed(site where) {
  run_.running().where = where;
  if (thread_index() < 0) judge_.report_stuck_alone(where);
  if (!executor_.wait_in_place()) run_.stop_running_thread(status::waiting);
}

void scenario_operations::discard(site where) {
  run_.running().where = where;
  if (thread_index() < 0) judge_.report_here(failure::misuse, "assume() is for threads only", where);
  await_begin();
  run_.stop_running_thread(status::discarded);
}

}  // namespace runq::model::exact
