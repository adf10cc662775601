// SPDX-License-Identifier: MIT
// How a task begins, becomes runnable and ends, and the records of tasks.
#include <algorithm>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

#include "runq/detail/core.hpp"
#include "runq/detail/strands.hpp"
#include "runq/fork.hpp"
#include "runq/scope.hpp"

namespace runq::detail {
namespace {

// Records in a processor's free list before a batch of them goes to the pool; as in Go, half of them stay.
constexpr std::size_t most_free = 2 * record_pool::batch;
constexpr std::uint64_t id_batch = 16;  // ids that a processor takes at once, as in Go

}  // namespace

goroutine& core::take_goroutine(processor& p) {
  goroutine_cache& cache = p.goroutines;
  if (cache.free.empty()) cache.free = records_.take_batch();
  if (cache.next_id == cache.last_id) {
    // [core.ids] relaxed, unmodelled: each caller gets other numbers, and they order nothing.
    cache.next_id = next_id_.fetch_add(id_batch, std::memory_order::relaxed);
    cache.last_id = cache.next_id + id_batch;
  }
  goroutine& g = *cache.free.pop_front();
  // [core.take.id] relaxed, unmodelled: for dumps; the queue hands it on with the task.
  g.id.store(cache.next_id++, std::memory_order::relaxed);
  return g;
}

void core::free_record(processor& p, goroutine& g) noexcept {
  g.set_status(task_status::dead);
  // [core.free_record.name] relaxed, unmodelled: for dumps.
  g.name.store(nullptr, std::memory_order::relaxed);
  g.root = nullptr;
  goroutine_list& free = p.goroutines.free;
  free.push_back(&g);
  if (free.size() < most_free) return;
  records_.put_batch(free.cut_front(record_pool::batch));
}

namespace {

// The clock in units of 64 ns, modulo 275 s; never 0.
std::uint32_t coarse_now() noexcept { return std::max(static_cast<std::uint32_t>(now() / 64), std::uint32_t{1}); }

}  // namespace

void goroutine::begin_to_measure() noexcept {
  const unsigned period = home->chosen.latency_period;
  until_measured = static_cast<std::uint8_t>(period - 1);
  if (period != 0) runnable_since = coarse_now();
}

std::chrono::nanoseconds goroutine::end_of_measurement() noexcept {
  const std::uint32_t passed = coarse_now() - std::exchange(runnable_since, 0);
  return std::chrono::nanoseconds((std::int64_t{passed} + 1) * 64);
}

void preempt(processor_front& front, std::coroutine_handle<> self) {
  processor& p = static_cast<processor&>(front);
  p.slice.begin();
  ++p.preempted;
  goroutine& g = *p.current;
  g.resume = self;
  let_others_run(p, g);
}

std::coroutine_handle<> transfer_by_loop(processor_front& p, std::coroutine_handle<> h) {
  if (!preempt_if_slice_is_over(p, h)) static_cast<processor&>(p).next = h;
  return std::noop_coroutine();
}

void new_task::destroy() noexcept {
  root_->self().destroy();
  if (callable_ != nullptr) callable_->destroy(callable_);
}

goroutine& core::enlist(goroutine& g, new_task& made, const char* name) noexcept {
  frame& root = *std::exchange(made.root_, nullptr);
  g.resume = root.self();
  // [core.enlist.name] relaxed, unmodelled: for dumps; the queue hands it on with the task.
  g.name.store(name, std::memory_order::relaxed);
  g.root = &root;
  root.callable = made.callable_;
  g.set_status(task_status::runnable);
  if (root.how == role::fresh) root.how = role::root;
  root.record = &g;
  return g;
}

void core::spawn(processor& p, new_task&& made, const char* name) {
  // The caller is on a spare processor, so its run has ended: the new task is destroyed without having begun, like all
  // tasks that are started after the end.
  if (p.index == max_processors) return;
  goroutine& g = enlist(take_goroutine(p), made, name);
  p.tasks.start();
  p.overflowed += parking.submit_next(p.own_queue, &g);
}

void core::spawn_outside(new_task made, const char* name) {
  // [core.outside.id] relaxed, unmodelled: each caller gets another number, and the numbers order nothing.
  const std::uint64_t id = next_id_.fetch_add(1, std::memory_order::relaxed);
  spawn_outside(id, std::move(made), name);
}

void core::spawn_outside(std::uint64_t id, new_task made, const char* name) {
  const visit here(*this);
  goroutine& g = records_.take();
  {
    const std::lock_guard lock(outside_mutex_);
    if (finished_) {
      goroutine_list unused;
      unused.push_back(&g);
      records_.put(std::move(unused));
      return;  // destroys the task
    }
    // [core.outside.set_id] relaxed, unmodelled: under the mutex that [core.destroy.id] holds, too.
    g.id.store(id, std::memory_order::relaxed);
    enlist(g, made, name);
    tasks_.start_outside();
  }
  global.put(&g);
  parking.submitted_in_order();
}

void spawn(processor_front& front, new_task made, const char* name) {
  processor& p = static_cast<processor&>(front);
  p.home.spawn(p, std::move(made), name);
}

void spawn_outside(core& home, new_task made, const char* name) { home.spawn_outside(std::move(made), name); }

void ready(goroutine& g) {
  g.wakes();
  core& home = *g.home;
  processor* const p = this_processor();
  if (p != nullptr && &p->home == &home) {
    if (const std::size_t overflowed = home.parking.submit_next(p->own_queue, &g)) p->overflowed += overflowed;
    return;
  }
  const core::visit here(home);
  home.global.put(&g);
  home.parking.submitted_in_order();
}

void core::end_task(processor& p, frame& root) noexcept {
  goroutine& g = *root.record;
  const role how = root.how;
  closure* const callable = root.callable;
  root.self().destroy();
  if (callable != nullptr) {
    scope_state* const scope = how == role::child ? static_cast<awaited_closure*>(callable)->scope : nullptr;
    callable->destroy(callable);
    if (scope != nullptr) end_scope_child(*scope);
  }
  goroutine* const strand = std::exchange(p.current, nullptr);
  if (strand != &g) free_record(p, *strand);
  free_record(p, g);
  p.tasks.end();
  if (how == role::main) main_has_ended();
}

std::coroutine_handle<> end_root(processor& p, frame& root) noexcept {
  p.home.end_task(p, root);
  return std::noop_coroutine();
}

}  // namespace runq::detail
