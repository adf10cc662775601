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

namespace runq::detail {

// What a `Tree` has to offer; `coroutine` is a type of it. A task is known by its first coroutine.
//
//   newest_below(c)        the coroutine that was last put below `c`, or null
//   pop_below(c)           takes that one out of the list
//   above(c)               the coroutine that `c` is below, or null
//   enters(c)              `c` and all below it are about to be destroyed
//   destroy(c)             destroys `c`, which is below no coroutine any more and has none below it
//   destroy_top(c)         likewise for a `c` that no coroutine was above
//
// For ending_order, besides:
//
//   for_each_task(f)       calls f(c) for each task that is left
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

/// Destroys all coroutines below `top`, each after all that are below it.
template <class Tree>
void destroy_below(Tree& tree, typename Tree::coroutine& top) {
  auto* at = &top;
  for (;;) {
    while (auto* const below = tree.newest_below(*at)) {
      at = below;
      tree.enters(*at);
    }
    if (at == &top) return;
    auto& above = *tree.above(*at);
    tree.pop_below(above);
    tree.destroy(*at);
    at = &above;
  }
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
    destroy_below(tree_, top);
    tree_.destroy_top(top);
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
