// SPDX-License-Identifier: MIT
// What the models of chase_lev share: a deque with its owner handle, the tasks, and the history of what was done.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "linearize.hpp"
#include "oracle.hpp"
#include "runq/chase_lev.hpp"
#include "runq/one_object.hpp"

namespace runq::model {

/// The tasks of a list, linked as a scheduler links those that became ready together: the link is the task's, so a
/// thief may overwrite it as soon as it can take the task.
class linked_tasks {
 public:
  using value_type = task*;
  using difference_type = std::ptrdiff_t;

  linked_tasks() = default;
  explicit linked_tasks(task* first) : at_(first) {}

  task* operator*() const { return at_; }
  linked_tasks& operator++() {
    at_ = at_->link.next.get();
    return *this;
  }
  linked_tasks operator++(int) {
    const linked_tasks before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const linked_tasks& a, std::default_sentinel_t) { return a.at_ == nullptr; }

 private:
  task* at_ = nullptr;
};

/// What a model calls: a deque through its handles; the same, but where push_without_growing() says no, push(), as a
/// fork does; or a one_object.
enum class form { handles, in_two_steps, one_object };

/// An array of two slots; tasks are pushed in order of their ids. `Policy` is the deque's.
template <int Tasks, when_full Full = when_full::grow, form Form = form::handles, class Policy = atomics>
class chase_lev_model : public scenario {
 protected:
  static constexpr bool whole = Form == form::one_object;
  using handled = basic_chase_lev<task*, Policy, Full>;
  using deque_type = std::conditional_t<whole, one_object<handled>, handled>;
  static constexpr std::size_t fits = Full == when_full::grow ? 8 : 2;

  void push(int id) { require(try_push(id), "a push failed although there was room or memory"); }
  /// Pushes task `id`; one that does not fit is run by the pusher.
  void push_or_run(int id) {
    if (!try_push(id)) tasks.run(tasks.get(id));
  }
  /// Pushes tasks `first` … `last` at once; those that do not fit are run by the pusher.
  void push_batch(int first, int last) {
    std::array<int, fits> ids{};
    for (int id = first; id <= last; ++id) tasks.make(id)->link.next.set(id == last ? nullptr : tasks.get(id + 1));
    const moment began = log.begin();
    auto [rest, count] = owner.push_batch(linked_tasks(tasks.get(first)), std::default_sentinel);
    for (std::size_t i = 0; i != count; ++i) ids[i] = first + static_cast<int>(i);
    const int left = first + static_cast<int>(count);
    log.add(began, left > last ? op_kind::append : op_kind::append_some, std::span<const int>(ids.data(), count));
    require((rest == std::default_sentinel) == (left > last),
            "a batch pushed another number of tasks than it returned");
    for (int id = left; id <= last; ++id) {
      task* const t = *rest++;
      require(t == tasks.get(id), "a batch pushed another number of tasks than it returned");
      tasks.run(t);
    }
  }
  /// Pops one task, if there is one, and runs it. Returns its id, or 0.
  int pop() {
    const moment began = log.begin();
    const std::optional<task*> got = owner.pop();
    return took(began, op_kind::take_back, got ? *got : nullptr);
  }
  steal_status steal() {
    const moment began = log.begin();
    const steal_result<task*> got = thief().steal();
    require(got || (got.value == nullptr && got.count == 0), "a steal that took nothing handed something back");
    // A lost race has changed nothing, so it is no operation of the history.
    if (got.status != steal_status::lost) took(began, op_kind::take_front, got.value);
    return got.status;
  }
  /// Several steals by one thief.
  void steal_times(int times) {
    for (int i = 0; i != times; ++i) steal();
  }
  void finish() override {
    while (pop() != 0) continue;
    tasks.require_all_ran();
    log.require_linearizable();
  }

  bool try_push(int id) {
    task* const t = tasks.make(id);
    const moment began = log.begin();
    const bool pushed = (Form == form::in_two_steps && without_growing(t)) || owner.push(t);
    log.add(began, pushed ? op_kind::append : op_kind::refuse, {&id, pushed ? 1U : 0U});
    return pushed;
  }
  // Of a one_object there is no such step.
  bool without_growing(task* t) {
    if constexpr (whole)
      return false;
    else
      return owner.push_without_growing(t);
  }
  int took(moment began, op_kind kind, task* t) {
    if (t == nullptr) {
      log.add(began, op_kind::find_empty, {});
      return 0;
    }
    const int id = tasks.id_of(t);
    log.add(began, kind, {&id, 1});
    tasks.run(t);
    return id;
  }

  // A one_object has the operations of both handles itself.
  [[nodiscard]] decltype(auto) thief() const {
    if constexpr (whole) return std::as_const(deque);
    if constexpr (!whole) return deque.make_thief();
  }
  [[nodiscard]] static decltype(auto) owner_of(deque_type& d) {
    if constexpr (whole) return static_cast<deque_type&>(d);
    if constexpr (!whole) return d.make_owner();
  }

  task_set<Tasks> tasks;
  deque_type deque{2};
  decltype(owner_of(std::declval<deque_type&>())) owner = owner_of(deque);
  history<31, fits> log;
};

}  // namespace runq::model
