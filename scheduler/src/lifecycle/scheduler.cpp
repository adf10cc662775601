// SPDX-License-Identifier: MIT
#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <sched.h>

#include "runq/detail/container.hpp"
#include "runq/detail/core.hpp"
#include "runq/runq.hpp"

namespace runq {
namespace {

using detail::own_processor;

// The kernel refuses a set that is smaller than its own (EINVAL), and a cpu_set_t has only 1,024 CPUs. At least 1, at
// most options::max_procs.
unsigned cpus_of_this_thread() {
  constexpr std::size_t most_words = 1024;  // 65,536 CPUs
  for (std::vector<unsigned long> words(16); words.size() <= most_words; words.resize(words.size() * 2)) {
    const std::size_t bytes = words.size() * sizeof words[0];
    if (sched_getaffinity(0, bytes, reinterpret_cast<cpu_set_t*>(words.data())) == 0) {
      std::size_t cpus = 0;
      for (const unsigned long word : words) cpus += static_cast<std::size_t>(std::popcount(word));
      return static_cast<unsigned>(std::clamp<std::size_t>(cpus, 1, options::max_procs));
    }
    // unreached: the kernel knows no other error for the calling thread.
    if (errno != EINVAL) return 1;
  }
  return 1;
}

}  // namespace

unsigned default_procs() {
  const char* const wanted = std::getenv("RUNQ_PROCS");
  if (wanted == nullptr) return detail::cpus_to_use(cpus_of_this_thread(), detail::cpus_of_quota());
  const std::string text = wanted;
  unsigned n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n == 0 || n > options::max_procs) {
    throw misuse("runq: the environment variable RUNQ_PROCS must be a number from 1 to 1024, but is \"" + text + "\"");
  }
  return n;
}

scheduler::scheduler(const options& wanted) : core_(std::make_shared<detail::core>(wanted, *this)) {}
scheduler::~scheduler() {
  // In a process that fork() made, the scheduler's threads do not exist, and what they were doing at the fork is never
  // finished.
  if (core_->of_another_process()) {
    detail::core::leave_behind(std::move(core_));
  } else {
    core_->finish();
  }
}

detail::core& scheduler::own_core() {
  if (core_->of_another_process()) {
    detail::throw_misuse("runq: a process that fork() made cannot use its parent's scheduler; make a new one");
  }
  return *core_;
}

void scheduler::run_main(detail::new_task main) {
  if (detail::this_processor() != nullptr) {
    detail::throw_misuse("runq: run() inside run(): a task cannot wait like that; use go() or co_await");
  }
  own_core().run_main(std::move(main));
}

void scheduler::wait() {
  if (detail::this_processor() != nullptr) detail::throw_misuse("runq: scheduler::wait() is not for tasks");
  own_core().wait_for_all();
}

scheduler::handle scheduler::attach() { return handle(core_); }
unsigned scheduler::set_procs(unsigned n) { return core_->resize(n); }
unsigned scheduler::procs() const noexcept { return core_->size(); }
statistics scheduler::stats() const { return core_->count(); }
std::string scheduler::trace(bool detail) const { return core_->trace_line(detail::now(), detail); }
std::string scheduler::dump() const { return core_->dump(); }

scheduler::handle::handle(std::shared_ptr<detail::core> core) noexcept : core_(std::move(core)) { core_->attach(); }
scheduler::handle::handle(const handle& other) : core_(other.core_) { core_->attach(); }
scheduler::handle::~handle() { core_->detach(); }

namespace detail {

void yield_awaiter::await_suspend(std::coroutine_handle<> self) const {
  processor& p = own_processor();
  strand& s = *p.current;
  ++p.yields;
  s.resume = self;
  // After this another machine may run the task, and destroy this awaiter.
  let_others_run(p, s);
}

void must_be_outside(const char* otherwise) {
  if (this_processor() != nullptr) throw_misuse(otherwise);
}

void throw_no_task() { throw_misuse("runq: only a task can wait; this thread runs none, or is in a blocking_section"); }

std::uint32_t random_below(std::uint32_t n) { return own_processor().random() % n; }

void throw_wait_group_misuse(counting what) {
  if (what == counting::negative) throw_misuse("sync: negative WaitGroup counter");
  if (what == counting::too_many) throw_misuse("runq: a wait_group counts to 2⁶¹ - 1 at most");
  throw_misuse(
      "sync: WaitGroup is reused before previous Wait has returned; call add() again after every wait() has returned, "
      "or "
      "use a group for each set of tasks");
}

}  // namespace detail

namespace this_task {

bool running() noexcept { return detail::this_processor() != nullptr; }
std::uint64_t id() {
  // [this_task.id] relaxed, unmodelled: written before the task began.
  return own_processor().current->id.load(std::memory_order::relaxed);
}
const char* name() {
  // [this_task.name] relaxed, unmodelled: written before the task began.
  const char* const name = own_processor().current->name.load(std::memory_order::relaxed);
  return name == nullptr ? "" : name;
}
unsigned processor() { return own_processor().index; }
scheduler::handle handle() { return this_scheduler().attach(); }

}  // namespace this_task

scheduler& this_scheduler() { return own_processor().home.owner; }

unsigned set_procs(unsigned n) { return own_processor().home.resize(n); }
unsigned procs() { return own_processor().home.size(); }

}  // namespace runq
