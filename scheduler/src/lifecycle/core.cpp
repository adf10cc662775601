// SPDX-License-Identifier: MIT
// How the inside of a scheduler is made, grows and ends.
#include "runq/detail/core.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include <unistd.h>

#include "runq/detail/call_limit.hpp"
#include "runq/detail/fatal.hpp"
#include "runq/options.hpp"

namespace runq::detail {
namespace {

options with_defaults(options wanted) {
  if (wanted.procs == 0) wanted.procs = default_procs();
  if (wanted.procs > options::max_procs) throw_misuse("runq: options::procs must be at most options::max_procs, 1024");
  if (wanted.latency_period > options::max_latency_period) {
    throw_misuse("runq: options::latency_period must be at most options::max_latency_period, 256");
  }
  if (wanted.max_blocking_calls == 0) throw_misuse("runq: options::max_blocking_calls must be at least 1");
  if (wanted.idle_thread_life.count() <= 0) throw_misuse("runq: options::idle_thread_life must be more than 0");
  // So that no instant is later than time goes.
  wanted.idle_thread_life =
      std::min<std::chrono::nanoseconds>(wanted.idle_thread_life, std::chrono::hours(24 * 36'500));
  if (wanted.dump_on != 0 && !dump_on_signal::possible(wanted.dump_on)) {
    throw_misuse("runq: options::dump_on must be 0 or a signal that can be caught");
  }
  if (wanted.max_threads == 0) throw_misuse("runq: options::max_threads must be at least 1");
  return wanted;
}

}  // namespace

processor::processor(core& scheduler, std::uint32_t i)
    : processor_front(scheduler, scheduler.chosen.forks == fork_policy::continuation),
      index(i),
      shard(i / core::processors_per_shard),
      random(i + 1),
      queue(scheduler.global.near(shard)),
      own_queue(queue.make_owner()),
      queue_thief(queue.make_thief()),
      own_forks(forks.make_owner()),
      forks_thief(forks.make_thief()),
      own_yielded(yielded.make_owner()),
      yielded_thief(yielded.make_thief()) {}

namespace {
void delete_processor(processor& p) { delete &p; }
}  // namespace

core::core(const options& wanted, scheduler& of)
    : chosen(with_defaults(wanted)),
      owner(of),
      global((chosen.procs - 1) / processors_per_shard + 1),
      parking(*this),
      limit_(std::make_unique<call_limit>(chosen.max_blocking_calls)),
      process_(getpid()) {
  read_environment();
  make_processors(chosen.procs);
  // Makes one spare processor now, for destroy_tasks(), so that the end of a run needs no memory.
  (void)spare_processor();
  spares_.reuse();
  may_start_ = true;
  try {
    parking.resize(chosen.procs);
    if (chosen.dump_on != 0) dumps_.emplace(*this, chosen.dump_on);
    if (chosen.threads_at_once) parking.start_all();
  } catch (...) {
    spares_.clear(delete_processor);  // the destructor does not run
    throw;
  }
}

void core::finish() {
  if (machine* const m = this_machine(); m != nullptr && &m->home == this) fatal_destroyed_by_task();
  dumps_.reset();
  stop();
  {
    const std::lock_guard lock(outside_mutex_);
    finished_ = true;
  }
  await_visitors();
  // Tasks that threads outside have started since the last run.
  while (global.has_work()) destroy_tasks();
  if (tracer_ != nullptr) tracer_->write();
  tracer_.reset();
  // Timers that still exist must not use these heaps any more.
  for_each_processor([](processor& p) { p.timers.clear(); });
}

core::~core() {
  for_each_processor([](processor& p) { forget(p.strands.free); });
  spares_.clear(delete_processor);
}

bool core::of_another_process() const noexcept { return getpid() != process_; }

void core::leave_behind(std::shared_ptr<core> left) noexcept {
  // Keeps the core reachable, so that a leak checker does not report it: its frames belong to the parent process.
  static std::atomic<core*> last_left{nullptr};
  core& at = *left;
  at.left_ = std::move(left);
  // [core.left_behind] relaxed, unmodelled: no thread reads through the pointer.
  at.left_before_ = last_left.exchange(&at, std::memory_order::relaxed);
}

void core::make_processors(unsigned n) {
  processors_.grow(n, [this](unsigned i) { return made_.emplace_back(std::make_unique<processor>(*this, i)).get(); });
}

unsigned core::resize(unsigned n) {
  if (n == 0 || n > options::max_procs) throw_misuse("runq: set_procs() takes 1 … options::max_procs, 1024");
  // resize() may take a processor, to start a machine with it.
  const visit here(*this);
  {
    const std::lock_guard lock(machines_mutex_);
    make_processors(n);
  }
  return parking.resize(n);
}

}  // namespace runq::detail
