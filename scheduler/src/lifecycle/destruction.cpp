// SPDX-License-Identifier: MIT
// The end of tasks that never come to their end themselves: those that are left when a run ends, and coroutines whose
// owner is destroyed. The order is that of runq/protocol/destruction.hpp.
#include "runq/protocol/destruction.hpp"

#include <mutex>
#include <utility>

#include "runq/detail/core.hpp"
#include "runq/detail/fatal.hpp"
#include "runq/fork.hpp"
#include "runq/scheduler.hpp"
#include "runq/scope.hpp"

namespace runq::detail {

void frame::leave_joined() noexcept {
  while (newest_below != nullptr) {
    frame& child = pop_below();
    child.listed = false;
    if (!child.owned_by_handle) child.self().destroy();
  }
}

namespace {

bool is_called(const frame& f) noexcept { return f.how == role::called || f.how == role::scope_body; }
bool has_owner(const frame& f) noexcept { return is_called(f) || f.owned_by_handle; }
// The frame that `f` is below.
frame& above(const frame& f) noexcept { return f.how == role::scope_body ? f.home->caller() : *f.parent; }

}  // namespace

// What the rule of ending_order asks of coroutines; and, for the thread that ends a run, of tasks.
class core::frame_tree {
 public:
  using coroutine = frame;
  using task_type = strand;
  using place = destruction_place<frame, strand>;

  [[nodiscard]] static frame* newest_below(const frame& f) noexcept { return f.newest_below; }
  static void pop_below(frame& f) noexcept { f.pop_below(); }
  [[nodiscard]] static frame* above(const frame& f) noexcept {
    if (f.how == role::tied) return f.tie->above;
    return is_called(f) || is_forked(f) ? &detail::above(f) : nullptr;
  }
  static void leave(frame& f) noexcept {
    take_out(detail::above(f), f);
    move_below(f, nullptr);
  }
  static void move_below(frame& f, frame* above) noexcept {
    if (above != nullptr) {
      f.parent = above;
      above->push_below(f);
    } else {
      f.how = role::called_apart;
      f.caller = nullptr;
    }
  }
  // Remains lie at the beginning of the frame, and leave this byte as it is.
  [[nodiscard]] static destruction_stage& stage(frame& f) noexcept { return f.stage; }
  [[nodiscard]] static place*& innermost() noexcept { return innermost_; }
  static void enters(frame& f) noexcept {
    if (f.how != role::tied) return;
    strand& first = *f.tie->first_strand;
    first.home->has_destroyed(first);
    std::swap(f.tie->first_strand, this_processor()->current);  // until destroy()
  }
  static bool destroy(frame& f) noexcept {
    if (f.how == role::tied) {
      awaited_closure& closure = *f.tie;
      f.self().destroy();
      this_processor()->current = closure.first_strand;
      closure.destroy(&closure);
    } else if (has_owner(f)) {
      f.listed = false;  // so that its owner looks for remains
      // One that has ended has no variables, and its owner destroys it.
      if (f.self().done()) return false;
      destroy_and_leave_remains(f.self());
      return true;
    } else {
      f.self().destroy();
    }
    return false;
  }
  static void destroy_top(frame& f) noexcept { f.self().destroy(); }
  [[nodiscard]] static bool has_remains(frame& f) noexcept { return is_remains(f.self().address()); }
  static void free_remains(frame& f) noexcept { detail::free_remains(f.self().address()); }
  [[nodiscard]] static strand* task_before(const frame& f) noexcept {
    return f.how == role::tied ? f.tie->first_strand : nullptr;
  }
  static void runs_as(strand& task) noexcept { this_processor()->current = &task; }

 protected:
  // Takes `f` out of the list of `above`.
  static void take_out(frame& above, const frame& f) noexcept {
    frame** at = &above.newest_below;
    while (*at != &f) at = &(*at)->next_below;
    *at = f.next_below;
  }

 private:
  static constinit thread_local place* innermost_;
};
constinit thread_local core::frame_tree::place* core::frame_tree::innermost_ = nullptr;

void destroy_unfinished(frame& f) noexcept {
  // The destructors belong to the task that destroys the owner, if to any.
  processor* const p = this_processor();
  strand* const task = p != nullptr ? p->current : nullptr;
  core::frame_tree tree;
  destroy_owned_coroutine(tree, f);
  if (p != nullptr) p->current = task;
}

void destroy_unjoined(frame& f) noexcept {
  // One that is not listed and has not come to its end was destroyed at the end of the run, or is about to be.
  if (!f.listed) return destroy_unfinished(f);
  // A scope joins the children of its body when that has ended.
  if (!f.finished.is_set() && f.parent->how != role::scope_body) fork_not_joined();
  f.owned_by_handle = false;  // it is destroyed at the join
}

namespace {
thread_local bool destroys_tasks = false;
}  // namespace

void fork_not_joined() noexcept {
  if (!destroys_tasks) fatal_not_joined(nullptr);
}

void fork_not_joined_after_exception() noexcept { fatal_not_joined(std::current_exception()); }

void guard_outlived_mutex() noexcept {
  if (destroys_tasks) return;
  // A task that still runs although main has ended goes on to its next co_await only.
  if (const machine* const m = this_machine(); m != nullptr && m->home.ends()) return;
  fatal_guard_outlived_mutex();
}

// Makes the calling thread, which ends a run, a machine with a spare processor: destructors of frames may do what the
// plain code of a task may do. There is one at a time.
class core::stand_in {
 public:
  explicit stand_in(core& home)
      : stands_in_(home), machine_before_(this_machine()), processor_before_(this_processor()) {
    home.looping.hold(stands_in_, home.spare_processor());
  }
  stand_in(const stand_in&) = delete;
  stand_in& operator=(const stand_in&) = delete;
  ~stand_in() {
    destroys_tasks = destroyed_before_;
    leave_processor();
    become(machine_before_, processor_before_);
  }
  [[nodiscard]] processor& held() const noexcept { return *stands_in_.held; }

 private:
  machine stands_in_;
  // Of another scheduler, one of whose tasks may destroy this one's:
  machine* const machine_before_;
  processor* const processor_before_;
  const bool destroyed_before_ = std::exchange(destroys_tasks, true);
};

// The tasks that are left when a run ends; none that is started from then on.
class core::left_tasks : public core::frame_tree {
 public:
  left_tasks(core& home, std::uint64_t later) noexcept : home_(home), later_(later) {}

  template <class F>
  void for_each_task(F&& f) const {
    home_.strands_.for_each([&](const strand& s) {
      if (frame* const root = home_.root_of(s, later_)) f(*root);
    });
  }
  [[nodiscard]] static bool asleep(const frame& task) noexcept {
    return (is_tied(task) ? task.tie->first_strand : task.first_strand)->asleep();
  }
  [[nodiscard]] frame* waits_for(const frame& task) const noexcept {
    if (task.how == role::child) return &task.awaited().scope->body();
    if (task.how != role::spawned) return nullptr;
    const spawned_closure& c = of_spawned(task);
    return c.awaited_by != nullptr ? c.awaited_by : spawner(c);
  }
  [[nodiscard]] static bool is_tied(const frame& task) noexcept { return task.how == role::tied; }
  static void tie(frame& task, frame& above) noexcept {
    awaited_closure& closure = task.awaited();
    task.owned_by_handle = task.how == role::spawned;
    if (task.owned_by_handle) of_spawned(task).awaited_at_end = closure.awaited_by != nullptr;
    task.how = role::tied;
    closure.above = &above;
    closure.first_strand = task.first_strand;
    task.tie = &closure;
    above.push_below(task);
  }
  // For a task that gives way.
  static void untie(frame& task) noexcept {
    take_out(*task.tie->above, task);
    awaited_closure& closure = *task.tie;
    task.how = role::spawned;
    task.first_strand = closure.first_strand;
    task.task_closure = owned_closure::of(closure);
  }
  [[nodiscard]] static giving_way gives_way(const frame& task) noexcept {
    if (!task.owned_by_handle) return giving_way::no;
    return static_cast<spawned_closure*>(task.tie)->awaited_at_end ? giving_way::reluctantly : giving_way::gladly;
  }
  [[nodiscard]] static bool passes(frame& task) noexcept {
    const bool passed = task.listed;
    task.listed = true;
    return passed;
  }

  using frame_tree::enters;
  void enters(frame& f) const noexcept {
    if (f.is_root() && !is_tied(f)) {
      home_.has_destroyed(*f.first_strand);
      this_processor()->current = f.first_strand;
    } else {
      frame_tree::enters(f);
    }
  }
  [[nodiscard]] static bool has_owner(const frame& f) noexcept { return !f.is_root(); }
  static void destroy_top(frame& f) noexcept {
    const owned_closure c = f.task_closure;
    f.self().destroy();
    c.destroy();
  }

 private:
  [[nodiscard]] static spawned_closure& of_spawned(const frame& task) noexcept {
    return static_cast<spawned_closure&>(task.awaited());
  }
  [[nodiscard]] frame* spawner(const spawned_closure& c) const noexcept {
    // [spawned.spawner.now] relaxed, unmodelled: only a thread outside may write it, for a task that is later.
    const bool still_there = c.spawner->id.load(std::memory_order::relaxed) == c.spawner_id;
    return still_there ? home_.root_of(*c.spawner, later_) : nullptr;
  }

  core& home_;
  const std::uint64_t later_;
};

// No machine runs any more. But threads outside may still start and wake tasks, and so may destructors in the frames:
// tasks that threads outside start from now on are kept, runnable; tasks that destructors start are destroyed at once.
void core::destroy_tasks() {
  empty_processors();
  // [core.destroy.later] relaxed, unmodelled: a task that is started at this moment may count either way.
  const std::uint64_t later = next_id_.load(std::memory_order::relaxed);
  {
    const stand_in here(*this);
    left_tasks left(*this, later);
    ending_order(left).destroy_tasks();
    here.held().current = nullptr;
    // Tasks that the destructors have woken.
    global.splice_front(here.held().own_queue.drain());
  }
  // Now no task waits in any list.
  strand_list kept = forget_woken();
  forget_strands();
  global.splice_front(std::move(kept));
}

namespace {

// `suspended` is a frame from a deque. If it, or a coroutine that awaits it, is a forked child with a result, that
// child may be in no list: its parent, which is in a deque as well, has not gone on since the fork.
void enlist_fork_of(frame& suspended) noexcept {
  frame* f = &suspended;
  while (is_called(*f)) f = &above(*f);
  if (f->how == role::forked_inline && f->owned_by_handle && !f->listed) f->enlist();
}

}  // namespace

// Empties the queues and deques of all processors.
void core::empty_processors() {
  for_each_processor([](processor& p) {
    // This thread holds all processors now; see machine_loop::hold().
    p.own_queue.rebind();
    p.own_forks.rebind();
    p.own_yielded.rebind();
    strand_list queued = p.own_queue.drain();
    p.own_yielded.drain([&queued](strand* s) { queued.push_back(s); });
    while (strand* const s = queued.pop_front()) s->set_status(task_status::idle);
    while (const auto suspended = p.own_forks.pop()) {
      enlist_fork_of(**suspended);
    }
    p.current = nullptr;
  });
  spares_.reuse();
}

// The task of `s` is about to be destroyed.
void core::has_destroyed(strand& s) noexcept {
  {
    const std::lock_guard lock(outside_mutex_);
    s.root = nullptr;
  }
  tasks_.destroy(1);
}

// The first coroutine of the task of `s`, or null if there is none, or if its number is `later` or larger.
frame* core::root_of(const strand& s, std::uint64_t later) const noexcept {
  // A task that is being started at this moment counts as started later.
  if (s.is(task_status::dead)) return nullptr;
  const std::lock_guard lock(outside_mutex_);
  // [core.destroy.id] relaxed, unmodelled: under the mutex that [core.outside.set_id] holds, too.
  return s.id.load(std::memory_order::relaxed) < later ? s.root : nullptr;
}

// Takes the tasks that have been destroyed out of the global queue, and returns the others.
strand_list core::forget_woken() {
  strand_list kept;
  do {
    while (strand* const s = global.take()) {
      if (s->root != nullptr) {
        kept.push_back(s);
      } else {
        s->set_status(task_status::idle);
      }
    }
    // A thread that has woken a task may not have queued it yet.
    // by chance: it has just done so.
  } while (somebody_queues());
  return kept;
}

bool core::somebody_queues() const {
  const std::lock_guard lock(outside_mutex_);
  bool found = false;
  // by chance: as in forget_woken().
  strands_.for_each([&found](const strand& s) { found = found || (s.is(task_status::runnable) && s.root == nullptr); });
  return found;
}

// Makes the strands of all tasks available again, except those of tasks that have just been started.
void core::forget_strands() {
  const std::lock_guard lock(outside_mutex_);
  strand_list forgotten;
  strands_.for_each([&forgotten](strand& s) {
    if (s.is(task_status::dead) || s.root != nullptr) return;
    s.set_status(task_status::dead);
    // [core.forget.name] relaxed, unmodelled: for dumps.
    s.name.store(nullptr, std::memory_order::relaxed);
    s.runnable_since = 0;
    forgotten.push_back(&s);
  });
  strands_.put(std::move(forgotten));
}

}  // namespace runq::detail
