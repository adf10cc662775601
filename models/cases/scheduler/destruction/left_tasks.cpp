// SPDX-License-Identifier: MIT
// The end of a run destroys the tasks that are left: in every forest of three tasks, while a thread outside wakes them.
#include <array>
#include <cstddef>
#include <utility>

#include "runq/protocol/destruction.hpp"
#include "scenario.hpp"
#include "waiting.hpp"
#include "waking_policy.hpp"

namespace runq::model {
namespace {

constexpr std::size_t tasks = 3;
constexpr std::size_t nobody = tasks;

// A task is its first coroutine and the one that this has called, in which the task waits. An object elsewhere owns the
// called one.
struct coroutine {
  cell<coroutine*> newest_below{nullptr};
  cell<coroutine*> next_below{nullptr};
  cell<coroutine*> above{nullptr};
  cell<int> variable{1};  // of the coroutine; those that it waits for may use it
  runq::detail::destruction_stage stage{};
  std::size_t task = nobody;
  bool first = false;
};

// Who waits for the end of each task. A task of a scope has begun later than the one that waits for it, and a spawned
// one later than the one that spawned it; the handle of a spawned one may be awaited by any other task.
enum class tie_kind : unsigned char { none, child, awaited, spawned };
struct waits {
  std::size_t by = nobody;
  tie_kind kind = tie_kind::none;
};

class tree {
 public:
  using coroutine = model::coroutine;
  struct one;
  using task_type = one;
  using place = runq::detail::destruction_place<coroutine, task_type>;

  struct one {
    coroutine* first = nullptr;  // null when the task is destroyed
    coroutine* inner = nullptr;
    waits awaited;
    atomic<int> sleeps{1};
    bool tied = false;
    bool passed = false;
    bool gave_way = false;
    int entered = 0;
    one* before = nullptr;       // for runs_as(), when the task is destroyed
    std::size_t place = nobody;  // the how-manieth to be destroyed
    bool forked = false;         // the inner coroutine, a moment ago: it is in no list, and the first one owns it
    bool owner_gone = false;     // of the inner coroutine
    bool inner_in_destructors = false;
    bool inner_destroyed = false;
    bool inner_freed = false;
    std::array<std::size_t, 2> ends_owner{nobody, nobody};  // whose inner coroutine's owner a destructor in the inner
                                                            // or the first coroutine destroys
  };

  tree() {
    for (std::size_t i = 0; i != tasks; ++i) {
      coroutine& first = make_frame<coroutine>();
      first.task = i;
      first.first = true;
      coroutine& inner = make_frame<coroutine>();
      inner.task = i;
      inner.above.set(&first);
      first.newest_below.set(&inner);
      all[i].first = &first;
      all[i].inner = &inner;
    }
  }

  // -- what destruction_loop asks --

  coroutine* newest_below(coroutine& c) {
    goes_on();
    return c.newest_below.get();
  }
  void pop_below(coroutine& c) { c.newest_below.set(c.newest_below.get()->next_below.get()); }
  coroutine* above(coroutine& c) {
    goes_on();
    return c.above.get();
  }
  void leave(coroutine& c) {
    take_out(c);
    c.above.set(nullptr);
  }
  void move_below(coroutine& c, coroutine* above) {
    require(of(c).forked, "a coroutine that is in a list is moved");
    c.above.set(above);
    if (above != nullptr) push_below(*above, c);
  }
  runq::detail::destruction_stage& stage(coroutine& c) {
    static_cast<void>(c.variable.get());  // its memory must be there
    return c.stage;
  }
  place*& innermost() { return innermost_; }
  void enters(coroutine& c) {
    if (!c.first) return;
    ++of(c).entered;
    of(c).before = std::exchange(running_, &of(c));
  }
  bool destroy(coroutine& c) {
    run_destructors(c);
    if (!c.first) return true;
    running_ = of(c).before;
    destroy_frame(c);
    return false;
  }
  void destroy_top(coroutine& c) {
    run_destructors(c);
    if (!c.first) of(c).inner_freed = true;
    destroy_frame(c);
  }
  bool has_remains(coroutine& c) { return of(c).inner_destroyed; }
  void free_remains(coroutine& c) {
    require(of(c).owner_gone, "the memory of a coroutine is freed before its owner goes");
    require(of(c).inner_destroyed, "the memory of a coroutine is freed before it is destroyed");
    of(c).inner_freed = true;
    destroy_frame(c);
  }
  task_type* task_before(coroutine& c) { return c.first ? of(c).before : nullptr; }
  void runs_as(task_type& t) { running_ = &t; }

  // -- what ending_order asks, besides --

  template <class F>
  void for_each_task(F&& f) {
    for (one& t : all) {
      if (t.first != nullptr) f(*t.first);
    }
  }
  bool has_owner(coroutine&) { return false; }
  bool asleep(coroutine& c) {
    // No order: what wakes a task is another model's business.
    return of(c).sleeps.load(std::memory_order::relaxed) != 0;
  }
  coroutine* waits_for(coroutine& c) {
    const waits& w = of(c).awaited;
    if (w.by == nobody) return nullptr;
    return w.kind == tie_kind::spawned ? all[w.by].first : all[w.by].inner;
  }
  bool is_tied(coroutine& c) { return c.first && of(c).tied; }
  void tie(coroutine& c, coroutine& above) {
    require(!of(c).tied, "a task is put below two coroutines");
    of(c).tied = true;
    c.above.set(&above);
    push_below(above, c);
  }
  void untie(coroutine& c) {
    require(of(c).awaited.kind != tie_kind::child, "a task of a scope outlives the scope");
    require(in_circle(c.task), "a task outlives one that waits for it, although there is no circle");
    require(of(c).awaited.kind == tie_kind::spawned || !spawned_in_circle(c.task),
            "of a circle, a task whose handle is awaited goes first although there is one that nobody awaits");
    take_out(c);
    c.above.set(nullptr);
    of(c).tied = false;
    of(c).gave_way = true;
  }
  runq::detail::giving_way gives_way(coroutine& c) {
    switch (of(c).awaited.kind) {
      case tie_kind::spawned: return runq::detail::giving_way::gladly;
      case tie_kind::awaited: return runq::detail::giving_way::reluctantly;
      default: return runq::detail::giving_way::no;
    }
  }
  bool passes(coroutine& c) { return std::exchange(of(c).passed, true); }

  // -- what the cases ask --

  void fork_inner(std::size_t task) {
    all[task].forked = true;
    all[task].first->newest_below.set(nullptr);
  }
  /// The owner of the inner coroutine of the task is destroyed, unless it was before.
  void end_owner(std::size_t task) {
    one& t = all[task];
    if (std::exchange(t.owner_gone, true)) return;
    if (!t.inner_in_destructors && !t.inner_destroyed) open_circle_of(*t.inner);
    ++owners_ending_;
    one* const runs = running_;
    runq::detail::destroy_owned_coroutine(*this, *t.inner);
    running_ = runs;
    --owners_ending_;
    require(t.inner_freed || t.inner_in_destructors, "a coroutine outlives its owner");
  }
  void require_nothing_left() {
    for (std::size_t i = 0; i != tasks; ++i) {
      require(all[i].first == nullptr, "a task is left");
      end_owner(i);
      require(all[i].inner_freed, "the memory of a coroutine is left");
    }
  }
  bool in_circle(std::size_t task) const {
    std::size_t at = task;
    for (std::size_t steps = 0; steps != tasks; ++steps) {
      at = all[at].awaited.by;
      if (at == nobody) return false;
      if (at == task) return true;
    }
    return false;
  }
  bool spawned_in_circle(std::size_t task) const {
    std::size_t at = task;
    do {
      if (all[at].awaited.kind == tie_kind::spawned) return true;
      at = all[at].awaited.by;
    } while (at != task);
    return false;
  }
  /// The last of those that wait for the task, directly or not. Not in a circle.
  std::size_t top(std::size_t task) const {
    while (all[task].awaited.by != nobody) task = all[task].awaited.by;
    return task;
  }

  std::array<one, tasks> all;
  std::size_t ended = 0;

 private:
  void goes_on() { require(++steps_ < 500, "the way through the tasks has no end"); }
  one& of(const coroutine& c) { return all[c.task]; }
  static void push_below(coroutine& above, coroutine& c) {
    c.next_below.set(above.newest_below.get());
    above.newest_below.set(&c);
  }
  // Takes `c` out of the list of the coroutine above it.
  void take_out(coroutine& c) {
    coroutine& above = *c.above.get();
    if (above.newest_below.get() == &c) {
      pop_below(above);
    } else {
      coroutine* at = above.newest_below.get();
      while (at != nullptr && at->next_below.get() != &c) at = at->next_below.get();
      require(at != nullptr, "a coroutine is looked for in a list that it is not in");
      at->next_below.set(c.next_below.get());
    }
  }
  void run_destructors(coroutine& c) {
    one& t = of(c);
    require(c.newest_below.get() == nullptr, "a coroutine is destroyed before what it waits for");
    require(c.first || (!t.inner_in_destructors && !t.inner_destroyed), "a coroutine is destroyed twice");
    // As a destructor in `c` may: of the task itself, and of the task that waits for this one.
    require(users_are_there(c), "a coroutine outlives one that waits for it");
    if (owners_ending_ == 0) require(running_ == &t, "the destructors of a task run as if they were of another");
    if (c.first && t.forked) end_owner(c.task);
    if (c.first) {
      require(t.entered == 1, "a task is destroyed unannounced, or twice");
      t.place = ended++;
      t.first = nullptr;
    } else {
      t.inner_in_destructors = true;
    }
    c.variable.set(0);
    if (const std::size_t other = t.ends_owner[c.first ? 1 : 0]; other != nobody) {
      if (!all[other].forked) end_owner(other);
    }
    if (!c.first) {
      t.inner_in_destructors = false;
      t.inner_destroyed = true;
    }
  }
  bool users_are_there(coroutine& c) {
    if (c.first) return waiting_one_is_there(of(c));
    if (of(c).forked && !waiting_one_is_there(of(c))) return false;
    return c.above.get() == nullptr || c.above.get()->variable.get() == 1;
  }
  bool waiting_one_is_there(const one& t) {
    const waits& w = t.awaited;
    if (w.by == nobody || t.gave_way) return true;
    const one& by = all[w.by];
    if (w.kind == tie_kind::spawned) return by.first != nullptr && by.first->variable.get() == 1;
    return !by.inner_freed && by.inner->variable.get() == 1;
  }
  // If tasks wait for each other in a circle through `c`, which an owner destroys with all below it: of them, any may
  // be destroyed before the one that waits for it.
  void open_circle_of(coroutine& c) {
    coroutine* at = &c;
    std::array<std::size_t, 2 * tasks> met{};
    for (std::size_t& task : met) {
      task = at->task;
      at = at->above.get();
      if (at == nullptr) return;
      if (at == &c) break;
    }
    if (at != &c) return;
    for (const std::size_t task : met) all[task].gave_way = true;
  }
  place* innermost_ = nullptr;
  one* running_ = nullptr;
  int owners_ending_ = 0;
  int steps_ = 0;
};

// Who waits for task `i`, by a number: nobody; one of the tasks that have begun before, by a scope, or because it has
// spawned this one; another by a handle.
waits choice(std::size_t i, std::size_t number) {
  if (number == 0) return {};
  if (number <= i) return {number - 1, tie_kind::child};
  if (number <= 2 * i) return {number - i - 1, tie_kind::spawned};
  const std::size_t other = number - 2 * i - 1;
  return {other < i ? other : other + 1, tie_kind::awaited};
}
constexpr std::size_t choices(std::size_t i) { return 1 + 2 * i + (tasks - 1); }

struct decision {
  atomic<std::size_t> number{0};
};

// A thread ends the run ‖ another decides who waits for whom, and then wakes tasks, if `Woken`, in the middle of it.
template <bool Woken>
struct any_forest final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      for (std::size_t i = 0; i != tasks; ++i)
        left.all[i].awaited = choice(i, chosen[i].number.load(std::memory_order::relaxed));
      runq::detail::ending_order(left).destroy_tasks();
    } else {
      for (std::size_t i = 0; i != tasks; ++i) {
        for (std::size_t c = 1; c != choices(i); ++c) chosen[i].number.store(c, std::memory_order::relaxed);
      }
      if (!Woken) return;
      for (std::size_t i = 0; i != tasks; ++i) left.all[i].sleeps.store(0, std::memory_order::relaxed);
    }
  }
  void finish() override { left.require_nothing_left(); }
  tree left;
  std::array<decision, tasks> chosen;
};

// Whose owner a destructor of which coroutine destroys, by a number; nobody's, if it is 0.
constexpr std::size_t ways_to_end_an_owner = 1 + 2 * tasks * tasks;
void choose_owner(tree& left, std::size_t number) {
  if (number == 0) return;
  const std::size_t coroutine = (number - 1) / tasks;
  left.all[coroutine / 2].ends_owner[coroutine % 2] = (number - 1) % tasks;
}

// A thread ends the run; a destructor destroys the owner of a coroutine, perhaps in the destructor of another one that
// does, or, if `Forked`, while some task has just forked its inner coroutine. Another thread decides.
template <bool Forked>
struct owners_end final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      for (std::size_t i = 0; i != tasks; ++i)
        left.all[i].awaited = choice(i, chosen[i].number.load(std::memory_order::relaxed));
      choose_owner(left, owner.number.load(std::memory_order::relaxed));
      const std::size_t chosen_second = second.number.load(std::memory_order::relaxed);
      if (Forked) {
        left.fork_inner(chosen_second);
      } else {
        choose_owner(left, chosen_second);
      }
      runq::detail::ending_order(left).destroy_tasks();
      return;
    }
    constexpr std::size_t seconds = Forked ? tasks : ways_to_end_an_owner;
    for (std::size_t i = 0; i != tasks; ++i) {
      for (std::size_t c = 1; c != choices(i); ++c) chosen[i].number.store(c, std::memory_order::relaxed);
    }
    for (std::size_t c = 1; c != ways_to_end_an_owner; ++c) owner.number.store(c, std::memory_order::relaxed);
    for (std::size_t c = 1; c != seconds; ++c) second.number.store(c, std::memory_order::relaxed);
  }
  void finish() override { left.require_nothing_left(); }
  tree left;
  std::array<decision, tasks> chosen;
  decision owner;
  decision second;
};

// The same, and nobody wakes a task: some sleep from the beginning.
struct sleepers_last final : scenario {
  void thread(unsigned index) override {
    if (index == 1) {
      for (std::size_t i = 0; i != tasks; ++i) {
        for (std::size_t c = 1; c != choices(i); ++c) chosen[i].number.store(c, std::memory_order::relaxed);
        awake[i].number.store(1, std::memory_order::relaxed);
      }
      return;
    }
    for (std::size_t i = 0; i != tasks; ++i) {
      left.all[i].awaited = choice(i, chosen[i].number.load(std::memory_order::relaxed));
      sleeps[i] = awake[i].number.load(std::memory_order::relaxed) == 0;
      left.all[i].sleeps.store(sleeps[i] ? 1 : 0, std::memory_order::relaxed);
    }
    runq::detail::ending_order(left).destroy_tasks();
  }
  bool only_sleepers(std::size_t of_top) const {
    for (std::size_t i = 0; i != tasks; ++i) {
      if (left.top(i) == of_top && !sleeps[i]) return false;
    }
    return true;
  }
  void finish() override {
    left.require_nothing_left();
    for (std::size_t i = 0; i != tasks; ++i) {
      if (left.in_circle(i)) return;
    }
    for (std::size_t i = 0; i != tasks; ++i) {
      for (std::size_t j = 0; j != tasks; ++j) {
        if (sleeps[i] || !sleeps[j]) continue;
        const waits& a = left.all[i].awaited;
        const waits& b = left.all[j].awaited;
        const bool beside =
            a.by != nobody && a.by == b.by && (a.kind == tie_kind::spawned) == (b.kind == tie_kind::spawned);
        if (beside || (left.top(i) != left.top(j) && only_sleepers(left.top(j)))) {
          require(left.all[i].place < left.all[j].place, "a task that sleeps is destroyed before one that does not");
        }
      }
    }
  }
  tree left;
  std::array<decision, tasks> awake;
  std::array<decision, tasks> chosen;
  std::array<bool, tasks> sleeps{};
};

const bool added[] = {
    add_case<any_forest<false>>({
        .name = "destruction/any_forest",
        .property = "whoever waits is destroyed after what it waits for, also where tasks wait in a circle",
        .threads = 2,
        .kept_for = "the smaller program",
    }),
    add_case<any_forest<true>>({
        .name = "destruction/woken_beside",
        .property = "the same, while a thread outside wakes the tasks",
        .threads = 2,
    }),
    add_case<owners_end<false>>({
        .name = "destruction/owners_end",
        .property = "a coroutine whose owner a destructor destroys meanwhile is destroyed at once, with all that it "
                    "waits for and once, and its memory is freed when its destructors have run",
        .threads = 2,
        .kept_for = "an owner that ends in a destructor of a coroutine whose own owner ends",
    }),
    add_case<owners_end<true>>({
        .name = "destruction/just_forked",
        .property = "the same, beside a forked child that is not in the list of its parent yet",
        .threads = 2,
    }),
    add_case<sleepers_last>({
        .name = "destruction/sleepers_last",
        .property = "tasks that sleep are destroyed after those that do not, where the rule leaves a choice",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
