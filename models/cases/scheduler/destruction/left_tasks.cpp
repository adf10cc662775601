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

// A task is its first coroutine and the one that this has called, in which the task waits.
struct coroutine {
  cell<coroutine*> newest_below{nullptr};
  cell<coroutine*> next_below{nullptr};
  cell<coroutine*> above{nullptr};
  cell<int> variable{1};  // of the coroutine; those that it waits for may use it
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

  tree() {
    for (std::size_t i = 0; i != tasks; ++i) {
      coroutine& first = make_frame<coroutine>();
      first.task = i;
      first.first = true;
      coroutine& inner = make_frame<coroutine>();
      inner.task = i;
      inner.above.set(&first);
      first.newest_below.set(&inner);
      all[i] = {&first, &inner};
    }
  }

  // -- what ending_order asks --

  coroutine* newest_below(coroutine& c) {
    goes_on();
    return c.newest_below.get();
  }
  void pop_below(coroutine& c) { c.newest_below.set(c.newest_below.get()->next_below.get()); }
  coroutine* above(coroutine& c) {
    goes_on();
    return c.above.get();
  }
  void enters(coroutine& c) {
    if (c.first) ++of(c).entered;
  }
  void destroy(coroutine& c) {
    require(c.newest_below.get() == nullptr, "a coroutine is destroyed before what it waits for");
    // As a destructor in `c` may: of the task itself, and of the task that waits for this one.
    coroutine* const user_of = c.first ? uses_of(c) : c.above.get();
    if (user_of != nullptr) require(user_of->variable.get() == 1, "a coroutine outlives one that waits for it");
    if (c.first) {
      require(of(c).entered == 1, "a task is destroyed unannounced, or twice");
      of(c).place = ended++;
      of(c).first = nullptr;
    }
    c.variable.set(0);
    destroy_frame(c);
  }
  void destroy_top(coroutine& c) { destroy(c); }
  template <class F>
  void for_each_task(F&& f) {
    for (one& t : all) {
      if (t.first != nullptr) f(*t.first);
    }
  }
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
    c.next_below.set(above.newest_below.get());
    above.newest_below.set(&c);
  }
  void untie(coroutine& c) {
    require(of(c).awaited.kind != tie_kind::child, "a task of a scope outlives the scope");
    require(in_circle(c.task), "a task outlives one that waits for it, although there is no circle");
    require(of(c).awaited.kind == tie_kind::spawned || !spawned_in_circle(c.task),
            "of a circle, a task whose handle is awaited goes first although there is one that nobody awaits");
    coroutine& above = *c.above.get();
    if (above.newest_below.get() == &c) {
      pop_below(above);
    } else {
      coroutine* at = above.newest_below.get();
      while (at->next_below.get() != &c) at = at->next_below.get();
      at->next_below.set(c.next_below.get());
    }
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

  struct one {
    one() = default;
    one& operator=(const std::array<coroutine*, 2>& made) {
      first = made[0];
      inner = made[1];
      return *this;
    }
    coroutine* first = nullptr;  // null when the task is destroyed
    coroutine* inner = nullptr;
    waits awaited;
    atomic<int> sleeps{1};
    bool tied = false;
    bool passed = false;
    bool gave_way = false;
    int entered = 0;
    std::size_t place = nobody;  // the how-manieth to be destroyed
  };
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
  coroutine* uses_of(coroutine& c) { return of(c).gave_way ? nullptr : waits_for(c); }
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
  void finish() override {
    for (const tree::one& t : left.all) require(t.first == nullptr, "a task is left");
  }
  tree left;
  std::array<decision, tasks> chosen;
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
    add_case<sleepers_last>({
        .name = "destruction/sleepers_last",
        .property = "tasks that sleep are destroyed after those that do not, where the rule leaves a choice",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
