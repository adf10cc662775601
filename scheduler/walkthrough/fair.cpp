// SPDX-License-Identifier: MIT
#include "walkthrough/fair.hpp"

#include <algorithm>
#include <deque>

namespace runq::walkthrough {
namespace {

using task_index = std::size_t;

class simulation {
 public:
  simulation(const std::vector<timed_task>& tasks, sharing how, std::size_t processors)
      : tasks_(tasks), how_(how), queues_(how == sharing::central_queue ? 1 : processors), held_(processors) {
    for (const timed_task& t : tasks) left_.push_back(t.before_join + t.after_join);
    result_.without_work.resize(processors);
    deal();
  }

  outcome run() {
    for (; !all_done(); ++result_.end) tick();
    return result_;
  }

 private:
  // A deque's owner pops at the tail. So its tasks are dealt backwards, and the owner does them in the same order as in
  // the static split.
  void deal() {
    for (task_index i = 0; i != tasks_.size(); ++i) {
      auto& queue = queues_[i % queues_.size()];
      how_ == sharing::own_deques ? queue.push_front(i) : queue.push_back(i);
      ++accesses();
    }
  }

  // First all processors choose a task, then all work for one tick. So a task that ends in this tick has ended for the
  // others in the next.
  void tick() {
    for (std::size_t p = 0; p != held_.size(); ++p) choose(p);
    record();
    for (const auto& tasks : held_) {
      if (!tasks.empty() && can_go_on(tasks.back())) --left_[tasks.back()];
    }
    for (auto& tasks : held_) {
      if (!tasks.empty() && left_[tasks.back()] == 0) tasks.pop_back();
    }
    queue_again();
  }

  // Afterwards p works on the last task of held_[p], if that task can go on.
  void choose(std::size_t p) {
    while (held_[p].empty() || !can_go_on(held_[p].back())) {
      if (!held_[p].empty()) {
        if (how_ == sharing::static_split) return;
        if (how_ == sharing::central_queue) put_aside(p);
      }
      const auto found = take(p);
      if (!found) return;
      held_[p].push_back(*found);
    }
  }

  std::optional<task_index> take(std::size_t p) {
    auto& own = queues_[how_ == sharing::central_queue ? 0 : p];
    if (!own.empty()) {
      ++accesses();
      return how_ == sharing::own_deques ? taken_back(own) : taken_front(own);
    }
    if (how_ != sharing::own_deques) return std::nullopt;
    for (auto& other : queues_) {
      if (other.empty()) continue;
      ++result_.shared_accesses;
      return taken_front(other);
    }
    return std::nullopt;
  }

  void put_aside(std::size_t p) {
    aside_.push_back(held_[p].back());
    held_[p].pop_back();
  }

  void queue_again() {
    const auto ready = [&](task_index i) { return can_go_on(i); };
    for (const task_index i : aside_) {
      if (!ready(i)) continue;
      queues_.front().push_back(i);
      ++accesses();
    }
    std::erase_if(aside_, ready);
  }

  void record() {
    period now{.from = result_.end};
    const bool work_lies_about = std::any_of(queues_.begin(), queues_.end(), [](const auto& q) { return !q.empty(); });
    for (std::size_t p = 0; p != held_.size(); ++p) {
      const bool works = !held_[p].empty() && can_go_on(held_[p].back());
      now.doing.push_back(works ? tasks_[held_[p].back()].name : held_[p].empty() ? "(idle)" : "(blocked)");
      if (works) continue;
      ++result_.without_work[p];
      result_.wasted += work_lies_about ? 1 : 0;
    }
    if (result_.periods.empty() || result_.periods.back().doing != now.doing) result_.periods.push_back(now);
  }

  [[nodiscard]] bool can_go_on(task_index i) const {
    const timed_task& t = tasks_[i];
    return !t.joins || left_[i] > t.after_join || left_[*t.joins] == 0;
  }
  [[nodiscard]] bool all_done() const {
    return std::all_of(left_.begin(), left_.end(), [](int ticks) { return ticks == 0; });
  }
  [[nodiscard]] int& accesses() {
    return how_ == sharing::central_queue ? result_.shared_accesses : result_.own_accesses;
  }

  static task_index taken_front(std::deque<task_index>& queue) {
    const task_index i = queue.front();
    queue.pop_front();
    return i;
  }
  static task_index taken_back(std::deque<task_index>& queue) {
    const task_index i = queue.back();
    queue.pop_back();
    return i;
  }

  const std::vector<timed_task>& tasks_;
  sharing how_;
  std::vector<std::deque<task_index>> queues_;
  std::vector<std::vector<task_index>> held_;  // for each processor, the tasks it has begun; all but the last wait
  std::vector<task_index> aside_;              // central_queue only: tasks that wait and that no processor holds
  std::vector<int> left_;                      // ticks of work for each task
  outcome result_;
};

}  // namespace

outcome distribute(const std::vector<timed_task>& tasks, sharing how, std::size_t processors) {
  return simulation(tasks, how, processors).run();
}

}  // namespace runq::walkthrough
