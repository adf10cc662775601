// SPDX-License-Identifier: MIT
// The beginning and the end of a run, and how a thread waits for the end.
#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "runq/detail/core.hpp"
#include "runq/task.hpp"

namespace runq::detail {

// Calls attach(), and detach() at its end.
class core::attached {
 public:
  explicit attached(core& at) noexcept : at_(&at) { at.attach(); }
  attached(const attached&) = delete;
  attached& operator=(const attached&) = delete;
  ~attached() { let_go(); }
  void let_go() {
    if (at_ != nullptr) std::exchange(at_, nullptr)->detach();
  }

 private:
  core* at_;
};

// Calls begin_to_wait(), and end_to_wait() at its end.
class core::waiting_turn {
 public:
  waiting_turn(core& at, awaited what) : at_(at) { at_.begin_to_wait(what); }
  waiting_turn(const waiting_turn&) = delete;
  waiting_turn& operator=(const waiting_turn&) = delete;
  ~waiting_turn() { at_.end_to_wait(); }

 private:
  core& at_;
};

void core::run_main(new_task main) {
  // Prevents the report of a deadlock, as a handle does, while the main task is awaited or counted, but not yet in a
  // queue.
  attached handle(*this);
  const waiting_turn turn(*this, awaited::main);
  main.root_->how = role::main;
  spawn_outside(1, std::move(main), "main", {});
  handle.let_go();
  await();
  stop();
  // Ready for the next run.
  looping.end_is_over();
  for_each_processor([](processor& p) { p.slice.restart(); });
  {
    const std::lock_guard lock(machines_mutex_);
    may_start_ = true;
  }
  parking.restart(processors_.size());
  if (chosen.threads_at_once) parking.start_all();
  // Tasks that threads outside started while no machine ran.
  if (global.has_work()) parking.submitted();
}

void core::main_has_ended() noexcept {
  if (chosen.until == run_until::all_have_ended) {
    // From now on the last machine that finds nothing to do tells run(). It comes later: this one has a processor.
    await_all_instead();
    return;
  }
  looping.end();
  // This comes before main's variables are destroyed: so a task that sees them destroyed runs no further than to its
  // next co_await.
  end_slices();
  arrived(awaited::main);
}

void end_run() noexcept { this_machine()->home.main_has_ended(); }

void core::wait_for_all() {
  const waiting_turn turn(*this, awaited::all);
  ask_if_idle();
  await();
}

void core::begin_to_wait(awaited what) {
  const std::lock_guard lock(waiting_mutex_);
  if (awaited_ != awaited::nothing) throw_misuse("runq: run() or wait() was called while another is in progress");
  awaited_ = what;
  has_come_ = false;
  suspected_ = 0;
}

// Returns when arrived() was called. No other thread may begin to wait before end_to_wait(). The caller has nothing
// else to do, so it also finds out whether a suspicion of a deadlock was right. While that is in doubt it asks again
// and again, because nothing tells it that a thread of the program has ended.
void core::await() {
  constexpr auto soon = std::chrono::milliseconds(1);  // a thread that ends is counted for some time
  constexpr auto late = soon * 1024;                   // after as much time as this in all
  std::unique_lock lock(waiting_mutex_);
  std::uint64_t number = 0;
  auto pause = soon;
  bool doubtful = false;
  bool said = false;
  const auto news = [&] { return has_come_ || suspected_ != number; };
  for (;;) {
    if (!doubtful) {
      waiting_.wait(lock, news);
    } else if (!waiting_.wait_for(lock, pause, news)) {
      pause = std::min<std::chrono::milliseconds>(pause * 2, late);
    }
    if (has_come_) return;
    if (number != suspected_) pause = soon;
    number = suspected_;
    lock.unlock();
    const suspicion found = deadlocks.confirm(number);
    doubtful = found == suspicion::doubtful;
    // by chance: a second suspicion after some s.
    if (doubtful && pause == late && !std::exchange(said, true)) may_be_deadlock();
    lock.lock();
    // When a run ends, the machines give their processors up and ask nothing.
    if (found == suspicion::deadlock && !has_come_) deadlock();
  }
}

void core::end_to_wait() {
  const std::lock_guard lock(waiting_mutex_);
  awaited_ = awaited::nothing;
}

void core::await_all_instead() noexcept {
  const std::lock_guard lock(waiting_mutex_);
  awaited_ = awaited::all;
}

void core::arrived(awaited what) noexcept {
  const std::lock_guard lock(waiting_mutex_);
  // by chance: another task ends just before main begins.
  if (awaited_ != what) return;
  has_come_ = true;
  waiting_.notify_all();
}

void core::stop() {
  looping.end();
  parking.stop();
  std::vector<std::unique_ptr<machine>> leaving;
  std::thread left;
  {
    const std::lock_guard lock(machines_mutex_);
    may_start_ = false;
    leaving.swap(machines_);
    without_thread_.clear();
    left.swap(last_ended_);
  }
  if (left.joinable()) left.join();  // which has joined the one before it, and so on
  stop_monitor();
  end_slices();
  for (const auto& m : leaving) {
    if (m->thread.joinable()) m->thread.join();
    const std::lock_guard lock(machines_mutex_);
    parks_ += m->parker.parks.get();
    useless_wakes_ += m->useless_wakes.get();
  }
  await_visitors();
  destroy_tasks();
}

void core::await_visitors() {
  visitors_.await([](auto&& gone) {
    while (!gone()) std::this_thread::yield();
  });
}

// Ends every time slice for good: so tasks that never have to wait leave their machines at their next co_await, too.
void core::end_slices() noexcept {
  for_each_processor([](processor& p) { p.slice.end_all(); });
}

}  // namespace runq::detail
