// SPDX-License-Identifier: MIT
// How a task begins, becomes runnable and ends, and which strands it runs as.
#include <algorithm>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

#include "runq/detail/core.hpp"
#include "runq/detail/strand_end.hpp"
#include "runq/fork.hpp"
#include "runq/scope.hpp"

namespace runq::detail {
namespace {

// Strands in a processor's free list before a batch of them goes to the pool; as in Go, half of them stay.
constexpr std::size_t most_free = 2 * strand_pool::batch;
constexpr std::uint64_t id_batch = 16;  // ids that a processor takes at once, as in Go

}  // namespace

strand& core::take_strand(processor& p) {
  strand_cache& cache = p.strands;
  if (cache.free.empty()) cache.free = strands_.take_batch();
  if (cache.next_id == cache.last_id) {
    // [core.ids] relaxed, unmodelled: each caller gets other numbers, and they order nothing.
    cache.next_id = next_id_.fetch_add(id_batch, std::memory_order::relaxed);
    cache.last_id = cache.next_id + id_batch;
  }
  strand& s = *cache.free.pop_front();
  // [core.take.id] relaxed, unmodelled: for dumps; the queue hands it on with the task.
  s.id.store(cache.next_id++, std::memory_order::relaxed);
  return s;
}

void core::free_strand(processor& p, strand& s) noexcept {
  s.set_status(task_status::dead);
  // [core.free_strand.name] relaxed, unmodelled: for dumps.
  s.name.store(nullptr, std::memory_order::relaxed);
  s.root = nullptr;
  strand_list& free = p.strands.free;
  free.push_back(&s);
  if (free.size() < most_free) return;
  strands_.put_batch(free.cut_front(strand_pool::batch));
}

namespace {

// The clock in units of 64 ns, modulo 275 s; never 0.
std::uint32_t coarse_now() noexcept { return std::max(static_cast<std::uint32_t>(now() / 64), std::uint32_t{1}); }

}  // namespace

void strand::begin_to_measure() noexcept {
  const unsigned period = home->chosen.latency_period;
  until_measured = static_cast<std::uint8_t>(period - 1);
  if (period != 0) runnable_since = coarse_now();
}

std::chrono::nanoseconds strand::end_of_measurement() noexcept {
  const std::uint32_t passed = coarse_now() - std::exchange(runnable_since, 0);
  return std::chrono::nanoseconds((std::int64_t{passed} + 1) * 64);
}

void preempt(processor_front& front, std::coroutine_handle<> self) {
  processor& p = static_cast<processor&>(front);
  p.slice.begin();
  ++p.preempted;
  strand& s = *p.current;
  s.resume = self;
  // To the queue of all processors, so that each task that computes for long gets the same share of the time.
  let_all_run(p, s);
}

std::coroutine_handle<> transfer_by_loop(processor_front& p, std::coroutine_handle<> h) noexcept {
  if (!preempt_if_slice_is_over(p, h)) static_cast<processor&>(p).next = h;
  return std::noop_coroutine();
}

void new_task::destroy() noexcept {
  root_->self().destroy();
  closure_.destroy();
}

strand& core::enlist(strand& s, new_task& made, const char* name, source_place at) noexcept {
  frame& root = *std::exchange(made.root_, nullptr);
  s.resume = root.self();
  // [core.enlist.name] relaxed, unmodelled: for dumps; the queue hands it on with the task.
  s.name.store(name, std::memory_order::relaxed);
  s.state.starts(at);
  s.root = &root;
  root.task_closure = made.closure_;
  s.set_status(task_status::runnable);
  if (root.how == role::fresh) root.how = role::root;
  root.first_strand = &s;
  return s;
}

void core::spawn(processor& p, new_task&& made, const char* name, source_place at) {
  // The caller is on a spare processor, so its run has ended: the new task is destroyed without having begun, like all
  // tasks that are started after the end.
  if (p.index == max_processors) return;
  strand& s = enlist(take_strand(p), made, name, at);
  p.tasks.start();
  p.overflowed += looping.make_next(p, &s);
}

void core::spawn_outside(new_task made, const char* name, source_place at) {
  // [core.outside.id] relaxed, unmodelled: each caller gets another number, and the numbers order nothing.
  const std::uint64_t id = next_id_.fetch_add(1, std::memory_order::relaxed);
  spawn_outside(id, std::move(made), name, at);
}

void core::spawn_outside(std::uint64_t id, new_task made, const char* name, source_place at) {
  const visit here(*this);
  strand& s = strands_.take();
  {
    const std::lock_guard lock(outside_mutex_);
    if (finished_) {
      strand_list unused;
      unused.push_back(&s);
      strands_.put(std::move(unused));
      return;  // destroys the task
    }
    // [core.outside.set_id] relaxed, unmodelled: under the mutex that [core.destroy.id] holds, too.
    s.id.store(id, std::memory_order::relaxed);
    enlist(s, made, name, at);
    tasks_.start_outside();
  }
  global.put(&s);
  parking.submitted_in_order();
}

void spawn(processor_front& front, new_task made, const char* name, source_place at) {
  processor& p = static_cast<processor&>(front);
  p.home.spawn(p, std::move(made), name, at);
}

void spawn_outside(core& home, new_task made, const char* name, source_place at) {
  home.spawn_outside(std::move(made), name, at);
}

void ready(strand& s) {
  s.wakes();
  core& home = *s.home;
  processor* const p = this_processor();
  if (p != nullptr && &p->home == &home) {
    if (const std::size_t overflowed = home.looping.make_next(*p, &s)) p->overflowed += overflowed;
    return;
  }
  const core::visit here(home);
  home.global.put(&s);
  home.parking.submitted_in_order();
}

void core::end_task(processor& p, frame& root) noexcept {
  strand& s = *root.first_strand;
  const role how = root.how;
  const owned_closure c = root.task_closure;
  scope_state* const scope = how == role::child ? root.awaited().scope : nullptr;
  root.self().destroy();
  c.destroy();
  if (scope != nullptr) end_scope_child(*scope);
  strand* const last = std::exchange(p.current, nullptr);
  if (last != &s) free_strand(p, *last);
  free_strand(p, s);
  p.tasks.end();
  if (how == role::main) main_has_ended();
}

std::coroutine_handle<> end_root(processor& p, frame& root) noexcept {
  p.home.end_task(p, root);
  return std::noop_coroutine();
}

}  // namespace runq::detail
