// SPDX-License-Identifier: MIT
// The specification of processors and their global queue, call by call. It makes the same promises as
// proptests/processor_spec.hpp, in memory of fixed size. A call that changes several queues has several steps; between
// them, the tasks that the call moves are in no queue.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "linearize.hpp"

namespace runq::model {

enum class processor_call : unsigned char {
  push,        ///< `task` to the ring; `count` tasks went to the global queue
  push_next,   ///< `task` to runnext; what it displaced as by push
  pop,         ///< took `task`, or nothing
  steal,       ///< took `count` tasks from `victim`, of which `task` is the newest, or nothing
  has_work,    ///< of `victim`; the answer is `count`
  take_share,  ///< of the global queue, for one of `limit` processors: took `task` and queued the others, or nothing
  leave,       ///< gave all that it had, in order, to the global queue's front
  put,         ///< `task` to the global queue
  take,        ///< `task` from the global queue, or nothing
};

template <std::size_t Processors, std::size_t Capacity, std::size_t Tasks>
class processors_spec {
 public:
  struct call {
    processor_call what{};
    std::size_t own = 0;  ///< the processor that calls
    std::size_t victim = 0;
    int task = 0;  ///< 0: none
    std::size_t count = 0;
    std::size_t limit = 0;
    bool next = false;  ///< pop: from runnext; steal: runnext was allowed
  };

  [[nodiscard]] static call_text describe(const call& c) {
    const auto of = [&c](const char* what) { return call_text("P").add(c.own).add(" ").add(what); };
    const auto task = [&c](call_text text) { return c.task == 0 ? text.add("nothing") : text.add(c.task); };
    switch (c.what) {
      case processor_call::push: return displaced(task(of("push ")), c);
      case processor_call::push_next: return displaced(task(of("push next ")), c);
      case processor_call::pop: return task(of("pop → ")).add(c.next ? " (next)" : "");
      case processor_call::steal: return stolen(of("steal from P").add(c.victim), c);
      case processor_call::has_work: return of("look at P").add(c.victim).add(c.count != 0 ? " → work" : " → none");
      case processor_call::take_share: return task(of("take share → "));
      case processor_call::leave: return of("leave");
      case processor_call::put: return task(call_text("put "));
      case processor_call::take: return task(call_text("take → "));
    }
    return {};
  }

  /// A task that is stolen alone may come from the ring or from runnext.
  [[nodiscard]] static constexpr unsigned variants(const call& c) {
    return c.what == processor_call::steal && c.next && c.count == 1 ? 2 : 1;
  }

  [[nodiscard]] progress step(const call& c, unsigned phase, unsigned variant) {
    processor& own = processors_[c.own];
    switch (c.what) {
      case processor_call::push:
        if (phase == 0) own.in_hand = c.task;
        return push(c, phase, own);
      case processor_call::push_next: return push_next(c, phase, own);
      case processor_call::pop: return pop(c, own);
      case processor_call::steal: return steal(c, phase, variant, own, processors_[c.victim]);
      case processor_call::has_work: return has_work(c, processors_[c.victim]);
      case processor_call::take_share: return take_share(c, phase, own);
      case processor_call::leave: return leave(phase, own);
      case processor_call::put: return done_if(global_.append({&c.task, 1}));
      case processor_call::take: return done_if(take_front(global_, c.task));
    }
    return progress::illegal;
  }

 private:
  using tasks = id_list<Tasks>;

  [[nodiscard]] static call_text displaced(call_text text, const call& c) {
    return c.count == 0 ? text : text.add(" → ").add(c.count).add(" to the global queue");
  }
  [[nodiscard]] static call_text stolen(call_text text, const call& c) {
    if (c.count == 0) return text.add(" → nothing");
    return text.add(" → ").add(c.count).add(c.count == 1 ? " task, " : " tasks up to ").add(c.task);
  }

  struct processor {
    int next = 0;
    tasks ring;
    // The task that the owner's current call is moving; 0: none.
    int in_hand = 0;
    tasks batch;
    std::size_t room = 0;
  };

  [[nodiscard]] static constexpr progress done_if(bool ok) { return ok ? progress::done : progress::illegal; }
  [[nodiscard]] static std::size_t room(const processor& p) { return Capacity - p.ring.size; }
  // Moves the `n` oldest of `from` to the end of `to`.
  static void move(tasks& from, tasks& to, std::size_t n) {
    (void)to.append(from.first(n));
    from.drop_front(n);
  }
  // Takes exactly `task` from the front. If `task` is 0, requires instead that the queue is empty.
  [[nodiscard]] static bool take_front(tasks& from, int task) {
    if (from.size == 0 || from.ids[0] != task) return from.size == 0 && task == 0;
    from.drop_front(1);
    return true;
  }
  [[nodiscard]] static progress publish(tasks& batch, tasks& to) {
    move(batch, to, batch.size);
    return progress::done;
  }

  // Either the task in hand goes to the ring; or the ring is full, and its older half goes to the global queue,
  // followed by the task in hand.
  [[nodiscard]] progress push(const call& c, unsigned phase, processor& own) {
    if (c.count == 0) return done_if(room(own) != 0 && own.ring.append({&own.in_hand, 1}));
    if (phase != 0) return publish(own.batch, global_);
    if (room(own) != 0 || c.count != Capacity / 2 + 1) return progress::illegal;
    move(own.ring, own.batch, Capacity / 2);
    return own.batch.append({&own.in_hand, 1}) ? progress::more : progress::illegal;
  }

  [[nodiscard]] progress push_next(const call& c, unsigned phase, processor& own) {
    if (phase != 0) return push(c, phase - 1, own);
    own.in_hand = std::exchange(own.next, c.task);
    return own.in_hand != 0 ? progress::more : done_if(c.count == 0);
  }

  [[nodiscard]] static progress pop(const call& c, processor& own) {
    if (own.next == 0) return done_if(!c.next && take_front(own.ring, c.task));
    return done_if(c.next && std::exchange(own.next, 0) == c.task);
  }

  [[nodiscard]] static progress steal(const call& c, unsigned phase, unsigned variant, processor& own,
                                      processor& victim) {
    // The thief finds the ring empty, and then looks at runnext.
    if (variant == 1 || (c.count == 0 && c.next)) {
      if (phase == 0) return victim.ring.size == 0 ? progress::more : progress::illegal;
      return done_if(std::exchange(victim.next, 0) == c.task);
    }
    if (c.count == 0) return done_if(victim.ring.size == 0);
    if (phase != 0) return publish(own.batch, own.ring);
    const std::size_t half = victim.ring.size - victim.ring.size / 2;
    if (std::min(half, room(own) + 1) != c.count || victim.ring.ids[c.count - 1] != c.task) return progress::illegal;
    move(victim.ring, own.batch, c.count - 1);
    victim.ring.drop_front(1);
    return own.batch.size == 0 ? progress::done : progress::more;
  }

  [[nodiscard]] static progress has_work(const call& c, const processor& victim) {
    return done_if((victim.next != 0 || victim.ring.size != 0) == (c.count != 0));
  }

  [[nodiscard]] progress take_share(const call& c, unsigned phase, processor& own) {
    if (phase == 2) return publish(own.batch, own.ring);
    if (phase == 0) {
      own.room = room(own) + 1;
      return progress::more;
    }
    const std::size_t share = std::min({global_.size, global_.size / c.limit + 1, own.room});
    if (!take_front(global_, c.task)) return progress::illegal;
    if (share <= 1) return progress::done;
    move(global_, own.batch, share - 1);
    return progress::more;
  }

  [[nodiscard]] progress leave(unsigned phase, processor& own) {
    if (phase == 0) {
      if (const int next = std::exchange(own.next, 0); next != 0) (void)own.batch.append({&next, 1});
      return progress::more;
    }
    if (phase == 1) {
      move(own.ring, own.batch, own.ring.size);
      return progress::more;
    }
    move(global_, own.batch, global_.size);
    std::swap(global_, own.batch);
    return progress::done;
  }

  std::array<processor, Processors> processors_{};
  tasks global_{};
};

}  // namespace runq::model
