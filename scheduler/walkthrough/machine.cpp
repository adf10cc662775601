// SPDX-License-Identifier: MIT
#include "walkthrough/machine.hpp"

#include <algorithm>

namespace runq::walkthrough {

std::string thread_name(std::size_t processor) { return "T" + std::to_string(processor + 1); }

machine::machine(const program& p, stealing pushed, std::size_t processors)
    : program_(&p), pushed_(pushed), now_(processors), states_(p.tasks.size()) {
  now_.front().stack.push_back({.task = main_task});
  history_.push_back({event::kind::begins, main_task});
}

// ---- what is possible -----------------------------------------------------------------------------------------------

const frame* machine::current(std::size_t processor) const {
  const auto& stack = now_[processor].stack;
  const bool over = !stack.empty() && stack.back().state == frame::phase::returned;
  const std::size_t depth = stack.size() - (over ? 1U : 0U);
  return depth == 0 ? nullptr : &stack[depth - 1];
}

bool machine::can_go_on(std::size_t processor) const {
  const frame* top = current(processor);
  return top != nullptr && (top->state == frame::phase::running || !missing_child(top->task));
}

bool machine::has_more_to_fork(task_id task) const {
  return states_[task].forked != program_->tasks[task].children.size();
}

std::optional<task_id> machine::missing_child(task_id task) const {
  for (const task_id child : program_->tasks[task].children) {
    if (!states_[child].value) return child;
  }
  return std::nullopt;
}

// The rules say "some other random thread". With two threads there is only one other. With more, the thief tries the
// others in turn, so that the tables are the same from run to run.
std::optional<std::size_t> machine::victim_of(std::size_t thief) const {
  for (std::size_t i = 1; i != now_.size(); ++i) {
    const std::size_t other = (thief + i) % now_.size();
    if (!now_[other].deque.empty()) return other;
  }
  return std::nullopt;
}

std::optional<std::string> machine::obstacle_to_return(const frame& top) const {
  if (has_more_to_fork(top.task)) return name(top.task) + " has not forked all its children";
  if (const auto child = missing_child(top.task)) return name(top.task) + " joins " + name(*child) + ", which runs";
  return std::nullopt;
}

bool machine::called_child_is_back(std::size_t processor) const {
  const auto& stack = now_[processor].stack;
  return !stack.empty() && stack.back().state == frame::phase::returned &&
         states_[caller(processor)].called == stack.back().task;
}

task_id machine::next_child(task_id task) const { return program_->tasks[task].children[states_[task].forked]; }

// The parent of the task on top of the stack, whatever that task's state is.
task_id machine::caller(std::size_t processor) const {
  return program_->tasks[now_[processor].stack.back().task].parent;
}

std::optional<std::string> machine::obstacle(step s) const {
  const frame* top = current(s.processor);
  const bool running = top != nullptr && top->state == frame::phase::running;
  switch (s.what) {
    case act::fork:
    case act::call:
      if (!running) return "no task is running there";
      if (!has_more_to_fork(top->task)) return name(top->task) + " has nothing left to fork";
      break;
    case act::wait:
      if (!running) return "no task is running there";
      if (has_more_to_fork(top->task)) return name(top->task) + " is not at its join";
      if (!missing_child(top->task)) return "the join of " + name(top->task) + " is realized";
      break;
    case act::pop:
      if (running) return name(top->task) + " is running there";
      if (now_[s.processor].deque.empty()) return "its deque is empty";
      break;
    case act::steal:
      if (running) return name(top->task) + " is running there";
      if (!victim_of(s.processor)) return "no other deque holds anything";
      break;
    case act::resume:
      if (!called_child_is_back(s.processor)) return "no called child has just returned there";
      break;
    case act::finish:
      if (top == nullptr) return "no task is running there";
      return obstacle_to_return(*top);
  }
  return std::nullopt;
}

// ---- what happens ---------------------------------------------------------------------------------------------------

void machine::apply(step s) {
  if (s.what != act::resume) drop_returned(s.processor);
  processor& self = now_[s.processor];
  switch (s.what) {
    case act::fork: return fork(s.processor);
    case act::call: return call(s.processor);
    case act::resume: return resume(s.processor);
    case act::finish: return finish(s.processor);
    case act::wait: self.stack.back().state = frame::phase::waiting; return;
    case act::pop: {
      const task_id tail = self.deque.back();
      self.deque.pop_back();
      return take(s.processor, tail, false);
    }
    case act::steal: {
      auto& from = now_[*victim_of(s.processor)].deque;
      const task_id head = from.front();
      from.pop_front();
      return take(s.processor, head, true);
    }
  }
}

void machine::fork(std::size_t processor) {
  walkthrough::processor& self = now_[processor];
  const task_id parent = self.stack.back().task;
  if (pushed_ == stealing::continuations) {
    self.deque.push_back(parent);
    begin_next_child(processor);
  } else {
    self.deque.push_back(next_child(parent));
    ++states_[parent].forked;
  }
}

void machine::call(std::size_t processor) {
  const task_id parent = now_[processor].stack.back().task;
  states_[parent].called = next_child(parent);
  begin_next_child(processor);
}

// The child takes the parent's place on the stack.
void machine::begin_next_child(std::size_t processor) {
  auto& stack = now_[processor].stack;
  const task_id parent = stack.back().task;
  const task_id child = next_child(parent);
  ++states_[parent].forked;
  stack.back() = {.task = child};
  history_.push_back({event::kind::begins, child});
}

// A whole task that is taken from a deque has not begun. The rest of a task has.
void machine::take(std::size_t processor, task_id task, bool stolen) {
  now_[processor].stack.push_back({.task = task, .stolen = stolen});
  if (pushed_ == stealing::tasks) history_.push_back({event::kind::begins, task});
}

void machine::resume(std::size_t processor) {
  const task_id parent = caller(processor);
  now_[processor].stack.back() = {.task = parent};
}

void machine::finish(std::size_t processor) {
  frame& top = now_[processor].stack.back();
  int value = program_->tasks[top.task].own_value;
  for (const task_id child : program_->tasks[top.task].children) value += states_[child].value.value_or(0);
  states_[top.task].value = value;
  history_.push_back({event::kind::returns, top.task});
  top.state = frame::phase::returned;
  top.value = value;
  drop_returned_children(top.task);
}

void machine::drop_returned(std::size_t processor) {
  auto& stack = now_[processor].stack;
  if (!stack.empty() && stack.back().state == frame::phase::returned) stack.pop_back();
}

void machine::drop_returned_children(task_id parent) {
  const auto joined = [&](const frame& f) {
    return f.state == frame::phase::returned && program_->tasks[f.task].parent == parent && f.task != parent;
  };
  for (processor& each : now_) std::erase_if(each.stack, joined);
}

// ---- in words -------------------------------------------------------------------------------------------------------

std::string machine::describe(step s) const {
  const frame* top = current(s.processor);
  const std::string rest_of = pushed_ == stealing::continuations ? "c." : "";
  switch (s.what) {
    case act::fork: return "forks " + name(next_child(top->task));
    case act::call: return "calls " + name(next_child(top->task));
    case act::wait: return "waits in " + name(top->task);
    case act::finish: return "returns from " + name(top->task);
    case act::resume: return "goes on with " + name(caller(s.processor));
    case act::pop: return "pops " + rest_of + name(now_[s.processor].deque.back());
    case act::steal: {
      const std::size_t victim = *victim_of(s.processor);
      return "steals " + rest_of + name(now_[victim].deque.front()) + " from " + thread_name(victim);
    }
  }
  return {};
}

}  // namespace runq::walkthrough
