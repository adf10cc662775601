// SPDX-License-Identifier: MIT
// A machine whose processors run a fork-join program one step at a time. The machine knows which steps are possible.
// The strict rule (strict.hpp) or a script (replay.hpp) decides which of them is taken.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "walkthrough/program.hpp"

namespace runq::walkthrough {

/// What a fork pushes. tasks: it pushes the child, and the parent goes on. continuations: it pushes the rest of the
/// parent, and the child starts at once.
enum class stealing { tasks, continuations };

enum class act {
  fork,    // the task on top forks its next child
  call,    // as `fork`, but the rest of the task on top is pushed nowhere; only the book does this
  wait,    // the task on top reaches its join, and a child has not returned
  pop,     // take from the tail of the own deque
  steal,   // take from the head of another deque
  resume,  // a child that was called has returned, and its parent goes on
  finish,  // the task on top returns: it has no children, or all have returned
};

struct step {
  std::size_t processor;
  act what;
  friend bool operator==(const step&, const step&) = default;
};

struct frame {
  enum class phase { running, waiting, returned };
  task_id task;
  phase state = phase::running;
  bool stolen = false;
  int value = 0;  // what the task has returned; valid once it has
};

struct processor {
  std::vector<frame> stack{};   // the last frame is on top
  std::deque<task_id> deque{};  // front: the head, where others steal; back: the tail, where the owner pushes and pops
};

/// The state of all processors at one moment: one row of a table.
using row = std::vector<processor>;

struct event {
  enum class kind { begins, returns };
  kind what;
  task_id task;
  friend bool operator==(const event&, const event&) = default;
};

class machine {
 public:
  /// main is on the first processor's stack. `p` must outlive the machine and its copies.
  machine(const program& p, stealing pushed, std::size_t processors);

  /// Why the step cannot be taken, in one line; nothing when it can.
  [[nodiscard]] std::optional<std::string> obstacle(step s) const;
  [[nodiscard]] bool possible(step s) const { return !obstacle(s); }

  /// Takes a step that is possible.
  void apply(step s);

  /// What the processor does in a possible step: "steals f4 from T1".
  [[nodiscard]] std::string describe(step s) const;

  /// The task that the processor is in, which may be waiting; null when it is in none. A task that has returned does
  /// not count, although it stays on the stack until the processor's next step or until its parent picks up the value.
  [[nodiscard]] const frame* current(std::size_t processor) const;

  /// Whether the current task of the processor can go on: it does not wait, or what it waited for has happened.
  [[nodiscard]] bool can_go_on(std::size_t processor) const;

  [[nodiscard]] bool finished() const { return states_[main_task].value.has_value(); }
  [[nodiscard]] std::optional<int> value_of(task_id task) const { return states_[task].value; }
  [[nodiscard]] const row& now() const { return now_; }
  [[nodiscard]] stealing pushed() const { return pushed_; }
  [[nodiscard]] const std::vector<event>& history() const { return history_; }

 private:
  struct state {
    std::size_t forked = 0;           // how many of its children it has forked
    std::optional<task_id> called{};  // the child that it called last, which returns to it
    std::optional<int> value{};       // what it has returned; nothing before that
  };

  [[nodiscard]] const std::string& name(task_id task) const { return program_->tasks[task].name; }
  [[nodiscard]] bool has_more_to_fork(task_id task) const;
  [[nodiscard]] std::optional<task_id> missing_child(task_id task) const;
  [[nodiscard]] std::optional<std::size_t> victim_of(std::size_t thief) const;
  [[nodiscard]] std::optional<std::string> obstacle_to_return(const frame& top) const;
  [[nodiscard]] bool called_child_is_back(std::size_t processor) const;
  [[nodiscard]] task_id next_child(task_id task) const;
  [[nodiscard]] task_id caller(std::size_t processor) const;

  void fork(std::size_t processor);
  void call(std::size_t processor);
  void begin_next_child(std::size_t processor);
  void take(std::size_t processor, task_id task, bool stolen);
  void resume(std::size_t processor);
  void finish(std::size_t processor);
  void drop_returned(std::size_t processor);
  void drop_returned_children(task_id parent);

  const program* program_;
  stealing pushed_;
  row now_;
  std::vector<state> states_;
  std::vector<event> history_;
};

/// "T1" for processor 0.
[[nodiscard]] std::string thread_name(std::size_t processor);

}  // namespace runq::walkthrough
