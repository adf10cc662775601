// SPDX-License-Identifier: MIT
// destruction: in which order the end of a run destroys the tasks that are left.
//
// The rule: whoever waits is destroyed after what it waits for. A caller is destroyed after the coroutine that it has
// called, a parent after the children that it has forked, the body and the caller of a scope after the scope's tasks,
// and a task that awaits the handle of a spawned task after that task. So a coroutine may refer to the variables of all
// that wait for it. A spawned task that nobody awaits yet is destroyed before the task that has spawned it, which may
// be about to. Models: models/cases/scheduler/destruction/.
//
// While tasks run, a coroutine knows only those below it that belong to the same task: what it has called and forked.
// So the end of a run first puts each task below the coroutine that waits for it. Then the coroutines are trees, and
// each tree is destroyed from its leaves to its root, by a loop, because trees may be a million deep.
#pragma once

#include <utility>

namespace runq::detail {

// A destructor may destroy the owner of any coroutine, also of one that the loop has gone past on its way down. That
// coroutine goes at once, with all below it, because its owner may lie beside what it refers to. So loops run within
// destructors of other loops, and each knows the place where it goes on; see destruction_place.

// What a `Tree` has to offer; `coroutine` and `task_type` are types of it. A task is known by its first coroutine.
//
//   newest_below(c)        the coroutine that was last put below `c`, or null
//   pop_below(c)           takes that one out of the list
//   above(c)               the coroutine that `c` is below, or null
//   leave(c)               takes `c`, which is no task, out of the list of the one above; then it is below none
//   move_below(c, above)   `c`, which is in no list, is below `above` from now on; below none if that is null
//   stage(c)               a variable of `c`, which stays as long as the memory of `c` does
//   innermost()            a variable of the calling thread: the place of its innermost loop, or null
//   enters(c)              `c` and all below it are about to be destroyed
//   destroy(c)             destroys `c`, which has been taken out of the list of the one above. Returns whether it has
//                          left the memory to the owner
//   destroy_top(c)         destroys `c`, which is below none, and frees its memory
//   has_remains(c)         whether `c` was destroyed, and its memory left to its owner
//   free_remains(c)        frees that memory
//   task_before(c)         for a task that was entered: the one whose destructors run when it is destroyed; else null
//   runs_as(t)             the destructors that run next belong to the task `t`
//
// For ending_order, besides:
//
//   for_each_task(f)       calls f(c) for each task that is left
//   has_owner(c)           whether `c`, which is below none, is no task, and so an object of the program owns it
//   asleep(c)              whether the task waits, and was not woken since; another thread may wake it at any moment
//   waits_for(c)           the coroutine that waits for the end of the task, or may be about to; or null
//   is_tied(c)             whether `c` is a task that tie() has put below another coroutine
//   tie(c, above), untie(c)
//   gives_way(c)           where tasks wait for each other in a circle: whether this one is destroyed before the
//                          coroutine that it is tied to. In every circle there is one that does, because the body of a
//                          scope has begun before the tasks of the scope
//   passes(c)              returns whether it was called for this task before

enum class giving_way : unsigned char {
  no,           // a task of a scope
  reluctantly,  // a task whose handle is awaited
  gladly,       // a spawned task that nobody awaits yet
};

/// How far the destruction of a coroutine has come.
enum class destruction_stage : unsigned char {
  untouched,
  entered,         // a loop has come to it
  entered_again,   // and so has a loop in a destructor of that loop
  in_destructors,  // its destructors run
  abandoned,       // likewise, and one of them has destroyed its owner
};

[[nodiscard]] constexpr bool destructors_run(destruction_stage s) noexcept {
  return s >= destruction_stage::in_destructors;
}

/// Where a loop goes on. While a destructor runs, loops within it may destroy that coroutine: before they do, the place
/// moves up.
template <class Coroutine, class Task>
struct destruction_place {
  Coroutine* at;  // null when `top` was destroyed
  Coroutine* const top;
  destruction_place* const outer;  // of the loop in one of whose destructors this one runs
  Task* task = nullptr;            // what runs_as() is to be told, if the place has moved to another task
};

/// Destroys all coroutines below a coroutine, `top`, each after all that are below it.
template <class Tree>
class destruction_loop {
  using coroutine = typename Tree::coroutine;
  using place = destruction_place<coroutine, typename Tree::task_type>;

 public:
  destruction_loop(Tree& tree, coroutine& top) noexcept : tree_(tree), here_{&top, &top, tree.innermost()} {
    tree_.innermost() = &here_;
    static_cast<void>(comes_first(top));
  }
  destruction_loop(const destruction_loop&) = delete;
  destruction_loop& operator=(const destruction_loop&) = delete;
  ~destruction_loop() { tree_.innermost() = here_.outer; }

  /// Returns whether `top` is left: a destructor may destroy a coroutine above it.
  [[nodiscard]] bool destroy_below() {
    for (;;) {
      go_down();
      if (here_.at == here_.top) return true;
      coroutine& ended = *here_.at;
      here_.at = tree_.above(ended);
      tree_.pop_below(*here_.at);
      destroy(ended);
      if (here_.at == nullptr) return false;
    }
  }

  /// To be called before `c` is destroyed: outer loops that were to go on there will go on above it.
  void leaves(coroutine& c) {
    if (tree_.stage(c) != destruction_stage::entered_again) return;
    for (place* p = here_.outer; p != nullptr; p = p->outer) {
      if (p->top == &c) {
        p->at = nullptr;
      } else if (p->at == &c) {
        p->at = tree_.above(c);
        if (auto* const task = tree_.task_before(c)) p->task = task;
      }
    }
  }

 private:
  void go_down() {
    while (coroutine* const below = tree_.newest_below(*here_.at)) {
      if (below == here_.top) {
        // Tasks wait for each other in a circle. The owner of this one has chosen where to open it.
        tree_.leave(*below);
      } else {
        here_.at = below;
        if (comes_first(*below)) tree_.enters(*below);
      }
    }
  }

  // Whether no other loop has come to `c` before.
  bool comes_first(coroutine& c) {
    const bool first = tree_.stage(c) == destruction_stage::untouched;
    tree_.stage(c) = first ? destruction_stage::entered : destruction_stage::entered_again;
    return first;
  }

  void destroy(coroutine& ended) {
    leaves(ended);
    tree_.stage(ended) = destruction_stage::in_destructors;
    const bool left_to_owner = tree_.destroy(ended);
    if (left_to_owner && tree_.stage(ended) == destruction_stage::abandoned) tree_.free_remains(ended);
    if (here_.task != nullptr) tree_.runs_as(*std::exchange(here_.task, nullptr));
  }

  Tree& tree_;
  place here_;
};

/// Destroys `c`, which is below no coroutine and has none below it, and whose memory nobody else frees.
template <class Tree>
void destroy_alone(Tree& tree, typename Tree::coroutine& c) {
  tree.stage(c) = destruction_stage::in_destructors;
  tree.destroy_top(c);
}

/// To be called by the owner of `c`, which has not ended, when the owner is destroyed: destroys `c` and all below it,
/// or what is left of `c`.
template <class Tree>
void destroy_owned_coroutine(Tree& tree, typename Tree::coroutine& c) {
  if (tree.has_remains(c)) {
    tree.free_remains(c);
    return;
  }
  if (destructors_run(tree.stage(c))) {
    tree.stage(c) = destruction_stage::abandoned;  // one of them has called this
    return;
  }
  // A coroutine that has just forked `c`, and has not put it into its list, is being destroyed. From now on `c` is
  // below the next one above it, so that it goes first also if that one's owner is destroyed meanwhile.
  if (auto* const parent = tree.above(c); parent != nullptr && destructors_run(tree.stage(*parent))) {
    tree.move_below(c, tree.above(*parent) != nullptr ? tree.innermost()->at : nullptr);
  }
  {
    destruction_loop loop(tree, c);
    if (!loop.destroy_below()) {
      tree.free_remains(c);
      return;
    }
    loop.leaves(c);
  }
  if (tree.above(c) != nullptr) tree.leave(c);
  destroy_alone(tree, c);
}

/// Destroys all tasks of a tree, by the rule above. Tasks that do not sleep come as early as the rule allows: the end
/// of one that sleeps may wait for work outside of the scheduler, and that work for a task that was about to run.
template <class Tree>
class ending_order {
  using coroutine = typename Tree::coroutine;

 public:
  explicit ending_order(Tree& tree) noexcept : tree_(tree) {}

  void destroy_tasks() {
    // What was put below a coroutine last is destroyed first.
    tree_.for_each_task([this](coroutine& task) {
      if (tree_.asleep(task)) tie(task);
    });
    tree_.for_each_task([this](coroutine& task) { tie(task); });
    tree_.for_each_task([this](coroutine& task) {
      if (!tree_.asleep(task)) destroy_with_top_of(task);
    });
    tree_.for_each_task([this](coroutine& task) { destroy_with_top_of(task); });
  }

 private:
  void tie(coroutine& task) {
    if (tree_.is_tied(task)) return;
    if (coroutine* const waits = tree_.waits_for(task)) tree_.tie(task, *waits);
  }

  void destroy_with_top_of(coroutine& task) {
    coroutine& top = top_above(task);
    tree_.enters(top);
    // One that is no task is its owner's, who may go meanwhile.
    if (destruction_loop(tree_, top).destroy_below() && !tree_.has_owner(top)) destroy_alone(tree_, top);
  }

  // All that it goes past is destroyed with the top, so all climbs together take as long as there are coroutines.
  coroutine& top_above(coroutine& task) {
    coroutine* at = &task;
    while (coroutine* const above = tree_.above(*at)) {
      if (tree_.is_tied(*at) && tree_.passes(*at)) return open_circle(*at);
      at = above;
    }
    return *at;
  }

  // Tasks that wait for each other in a circle: one of them has to go first. Returns the new top.
  coroutine& open_circle(coroutine& task) {
    coroutine* first = nullptr;
    giving_way how = giving_way::no;
    coroutine* at = &task;
    do {
      if (tree_.is_tied(*at) && tree_.gives_way(*at) > how) {
        first = at;
        how = tree_.gives_way(*at);
      }
      at = tree_.above(*at);
    } while (at != &task);
    tree_.untie(*first);
    return *first;
  }

  Tree& tree_;
};

}  // namespace runq::detail
