// SPDX-License-Identifier: MIT
// What the models of local_queue share: processors' queues with a tiny ring, their moves, and the oracle.
#pragma once

#include <type_traits>

#include "oracle.hpp"
#include "processors_spec.hpp"
#include "runq/local_queue.hpp"
#include "runq/one_object.hpp"

namespace runq::model {

/// What a model calls: a queue through its handles, or a one_object.
enum class form : bool { handles, one_object };

template <int Tasks, std::size_t Capacity = 2, form Form = form::handles>
class local_queue_model : public scenario {
  static constexpr bool whole = Form == form::one_object;
  using handled = basic_local_queue<&task::link, Capacity>;

 public:
  using queue_type = std::conditional_t<whole, one_object<handled>, handled>;

  /// A processor: its queue and its owner's handle; and the number by which the history knows it.
  struct processor {
    explicit processor(local_queue_model& model)
        : queue(model.global), owner(owner_of(queue)), number(model.processors_++) {
      require(number < most_processors, "limit reached: more processors than a history has room for");
    }
    // A one_object has the operations of both handles itself.
    [[nodiscard]] static decltype(auto) owner_of(queue_type& q) {
      if constexpr (whole) return static_cast<queue_type&>(q);
      if constexpr (!whole) return q.make_owner();
    }
    [[nodiscard]] decltype(auto) thief() const {
      if constexpr (whole) return static_cast<const queue_type&>(queue);
      if constexpr (!whole) return queue.make_thief();
    }
    queue_type queue;
    std::conditional_t<whole, queue_type&, typename handled::owner> owner;
    const std::size_t number;
  };

 protected:
  /// push() and push_next() return how many tasks went to the global queue.
  std::size_t push(processor& p, int id) {
    return log({.what = asked::push, .own = p.number, .task = id},
               [&](call& c) { c.count = p.owner.push(tasks.make(id)); })
        .count;
  }
  std::size_t push_next(processor& p, int id) {
    return log({.what = asked::push_next, .own = p.number, .task = id},
               [&](call& c) { c.count = p.owner.push_next(tasks.make(id)); })
        .count;
  }
  /// Pops one task and runs it. Returns its id, or 0.
  int pop(processor& p) {
    const moment began = history::begin();
    const auto got = p.owner.pop();
    return took({.what = asked::pop, .own = p.number, .next = got.from_runnext}, began, got.task);
  }
  void drain(processor& p) {
    while (pop(p) != 0) continue;
  }
  /// Steals once into `mine`; the task that the steal returns is run at once.
  void steal(processor& victim, processor& mine, steal_runnext next) {
    const moment began = history::begin();
    const auto got = mine.owner.steal_from(victim.thief(), next, Capacity, std::size_t{0});
    if (got.status == steal_status::lost) return;  // nothing happened
    took({.what = asked::steal,
          .own = mine.number,
          .victim = victim.number,
          .count = got.count,
          .next = next == steal_runnext::yes},
         began, got.value);
  }
  /// Whether there is work, as has_work_approx() or has_work() says.
  bool asks(const processor& p, bool ordered) {
    return log({.what = asked::has_work, .victim = p.number}, [&](call& c) {
             const auto thief = p.queue.make_thief();
             c.count = (ordered ? thief.has_work() : thief.has_work_approx()) ? 1 : 0;
           }).count != 0;
  }
  /// Takes a share of the global queue, for one of `procs` processors, and runs its first task. Returns its id, or 0.
  int take_share(processor& p, std::size_t procs) {
    const moment began = history::begin();
    task* const first = p.owner.take_from(global, procs);
    return took({.what = asked::take_share, .own = p.number, .limit = procs}, began, first);
  }
  /// The processor is given up: all its tasks go to the front of the global queue.
  void leave(processor& p) {
    log({.what = asked::leave, .own = p.number}, [&](call&) { global.splice_front(p.owner.drain()); });
  }
  void put(int id) {
    log({.what = asked::put, .task = id}, [&](call&) { global.put(tasks.make(id)); });
  }

  /// In finish(): runs what is left, and requires that no task is missing and that the history is linearizable.
  template <class... Processors>
  void finish_with(Processors&... processors) {
    (drain(processors), ...);
    while (take() != 0) continue;
    tasks.require_all_ran();
    history_.require_linearizable({});
  }

  task_set<Tasks> tasks;
  inject<&task::link> global;

 private:
  using asked = processor_call;
  static constexpr std::size_t most_processors = 4;
  using history = call_log<processors_spec<most_processors, Capacity, Tasks>, 48>;
  using call = typename history::call;

  template <class Do>
  call log(call c, Do&& make) {
    const moment began = history::begin();
    make(c);
    history_.add(began, c);
    return c;
  }

  // Logs what was taken, if anything was, and then runs it. Returns its id, or 0.
  int took(call c, moment began, task* t) {
    c.task = t == nullptr ? 0 : tasks.id_of(t);
    history_.add(began, c);
    if (t != nullptr) tasks.run(t);
    return c.task;
  }
  int take() {
    const moment began = history::begin();
    task* const t = global.take();
    return took({.what = asked::take}, began, t);
  }

  history history_;
  std::size_t processors_ = 0;
};

}  // namespace runq::model
