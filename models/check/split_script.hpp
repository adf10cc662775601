// SPDX-License-Identifier: MIT
// A scenario of a split ring or a split deque in one line: what each thread does, a letter per move.
//
// clang-format off
//   script<ring_of<4, 2>, "pppg", "gg", "oo">
//                     a ring of 4 slots and runs of 2; three tasks have been pushed and one popped; the owner pops two
//                     ‖ a thief steals twice
//
// Thread i owns queue i. The owner's moves go to the thread's own queue, a thief's to queue 0, unless a digit after the
// move names another one.
//
//   p  push    h  steal half into the thread's queue, and pop that empty    o  steal half into an array
//   g  pop     k  h without the pops                                        t  steal one task
//              a  o until the queue is empty                                w  ask whether there is work
//   b  push two tasks as one batch
//   m  move a one_object that nobody uses, push into and pop from what it was moved from, and move it back; at most
//      once, before the threads
//
//   !  after a thief's move: that queue is never empty, so the answer "empty" is wrong
//   +  after a steal: the thief tries again while it loses a race, and then must have taken something
// clang-format on
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "linearize.hpp"
#include "moves.hpp"
#include "oracle.hpp"
#include "runq/one_object.hpp"

namespace runq::model {

/// The queues `Queue` as one_objects. In their scripts no thread steals into its own queue.
template <class Queue>
struct object_of : Queue {
  template <class Policy>
  using type = one_object<typename Queue::template type<Policy>>;
};

/// `Queue` says of the queues of a script: `capacity`, the index of the `first` element, whether the owner pops the
/// `newest_first` or the oldest, and the `type` over a policy. The moves `Before` are made by queue 0's owner while the
/// scenario is constructed.
template <class Queue, class Policy, moves Before, moves... Threads>
class script_over : public scenario {
  static constexpr int tasks_of(const moves& m) { return m.count('p') + 2 * m.count('b') + m.count('m'); }
  static constexpr int tasks_in_all = (tasks_of(Before) + ... + tasks_of(Threads));
  static constexpr std::size_t threads = sizeof...(Threads);
  static constexpr std::array<moves, threads> programs{Threads...};
  using queue_type = typename Queue::template type<Policy>;
  static constexpr bool whole = requires(queue_type q) { q.pop(); };
  static constexpr std::string_view letters = whole ? "pbgmoatw!+0123456789" : "pbghkoatw!+0123456789";
  static_assert(Before.only_of(letters) && (Threads.only_of(letters) && ...), "a letter of this script is no move");
  static constexpr bool takes_batches = requires(typename queue_type::owner o, std::span<task* const> s) {
    o.push_batch(s);
  };
  static_assert(takes_batches || Before.count('b') + (0 + ... + Threads.count('b')) == 0,
                "a script of a queue without batches pushes one");
  static_assert(Before.count('m') <= 1 && (0 + ... + Threads.count('m')) == 0,
                "an object moves once, before the threads");
  // Which tasks leave the victim of a steal into a queue is not told, so no history is kept then.
  static constexpr std::string_view into_no_queue = "pbgmoatw!+0123456789";
  static constexpr bool keeps_history =
      Queue::newest_first && Before.only_of(into_no_queue) && (Threads.only_of(into_no_queue) && ...);

  // A one_object has the operations of both handles itself.
  static decltype(auto) owner_of(queue_type& q) {
    if constexpr (whole) return static_cast<queue_type&>(q);
    if constexpr (!whole) return q.make_owner();
  }
  static decltype(auto) thief_of(const queue_type& q) {
    if constexpr (whole) return static_cast<const queue_type&>(q);
    if constexpr (!whole) return q.make_thief();
  }
  static bool has_work(const queue_type& q) {
    if constexpr (whole) return !q.empty();
    if constexpr (!whole) return q.make_thief().has_work();
  }

  struct owned {
    owned() : queue(Queue::first), owner(owner_of(queue)) {}
    queue_type queue;
    decltype(owner_of(std::declval<queue_type&>())) owner;
    fifo_view popped;                  // the owner's view, if it pops the oldest
    history<31, Queue::capacity> log;  // of one that pops the newest: its thieves take the oldest of all
    bool stolen_into = false;          // then tasks of two queues are in it, and their order is not judged
  };

 public:
  script_over() { play(Before, 0); }
  void thread(unsigned index) override { play(programs[index], index); }
  void finish() override {
    for (owned& o : queues_) pop_all(o);
    tasks_.require_all_ran();
    for (owned& o : queues_) {
      if (keeps_history) o.log.require_linearizable();
    }
    for (owned& o : queues_) require(!has_work(o.queue), "an empty queue is said to have work");
  }

 protected:
  // What surrounds a thread's moves in a model of fences by interrupt.
  void play(const moves& written, unsigned self) {
    for (std::size_t i = 0; i != written.size; ++i) {
      const char what = written.text[i];
      std::size_t of = what == 'p' || what == 'b' || what == 'g' || what == 'm' ? self : 0;
      if (written.at(i + 1) >= '0' && written.at(i + 1) <= '9') of = static_cast<std::size_t>(written.text[++i] - '0');
      const char demand = written.at(i + 1);
      if (demand == '!' || demand == '+') ++i;
      make(what, queues_[of], queues_[self], demand);
    }
  }

 private:
  void make(char what, owned& at, owned& mine, char demand) {
    if (what == 'p') return push(at);
    if (what == 'b') return push_two(at);
    if (what == 'g') return static_cast<void>(pop(at));
    if (what == 'm') return move(at);
    if (what == 'w') {
      const bool yes = has_work(at.queue);
      return require(yes || demand != '!', "has_work() said no about a queue that was never empty");
    }
    if (what == 'a') {
      while (steal(at, mine, 'o') != steal_status::empty) continue;
      return;
    }
    steal_status got = steal(at, mine, what);
    while (demand == '+' && got == steal_status::lost) got = steal(at, mine, what);
    require(demand != '+' || got == steal_status::taken, "a thief took nothing although there was something");
    require(demand != '!' || got != steal_status::empty, "a steal called a queue empty that was never empty");
  }

  void note(owned& o, moment began, op_kind kind, std::span<task* const> some) {
    if (!keeps_history) return;
    std::array<int, Queue::capacity> ids{};
    for (std::size_t i = 0; i != some.size(); ++i) ids[i] = tasks_.id_of(some[i]);
    o.log.add(began, kind, std::span<const int>(ids.data(), some.size()));
  }
  /// A task that does not fit is run by the pusher.
  void push(owned& o) {
    task* const t = tasks_.make(++made_);
    const moment began = o.log.begin();
    const bool pushed = o.owner.push(t);
    note(o, began, pushed ? op_kind::append : op_kind::refuse, std::span<task* const>(&t, pushed ? 1U : 0U));
    if (!pushed) tasks_.run(t);
  }
  void push_two(owned& o) {
    if constexpr (takes_batches) {
      const std::array<task*, 2> batch{tasks_.make(made_ + 1), tasks_.make(made_ + 2)};
      made_ += 2;
      for (std::size_t i = o.owner.push_batch(batch); i != batch.size(); ++i) tasks_.run(batch[i]);
    }
  }
  bool pop(owned& o) {
    const moment began = o.log.begin();
    const std::optional<task*> got = o.owner.pop();
    if (!got) return note(o, began, op_kind::find_empty, {}), false;
    task* const t = *got;
    note(o, began, op_kind::take_back, std::span<task* const>(&t, 1));
    tasks_.run(t);
    if (!Queue::newest_first && !o.stolen_into) o.popped.see(tasks_.id_of(t));
    return true;
  }
  /// The task for what `o` was moved from is the last one, so that those that `o` gets before and after stand next to
  /// each other.
  void move(owned& o) {
    if constexpr (whole) {
      queue_type elsewhere(std::move(o.queue));
      require(o.queue.empty() && o.queue.size() == 0 && o.queue.steal().status == steal_status::empty && !o.queue.pop(),
              "what an object was moved from is not empty");
      task* const last = tasks_.make(tasks_in_all);
      require(o.queue.push(last) && o.queue.pop() == last, "what an object was moved from cannot be used");
      tasks_.run(last);
      o.queue = std::move(elsewhere);
    }
  }
  void pop_all(owned& o) {
    while (pop(o)) continue;
  }
  steal_status steal(owned& victim, owned& mine, char how) {
    decltype(auto) thief = thief_of(victim.queue);
    if (how == 'o') {
      std::array<task*, Queue::capacity> out{};
      const moment began = victim.log.begin();
      const batch_result got = thief.steal_half(std::span<task*>(out));
      // A batch is noted as so many steals of one task: another check judges how many there were.
      for (std::size_t i = 0; i != got.count; ++i) note(victim, began, op_kind::take_front, {&out[i], 1});
      if (got.status == steal_status::empty) note(victim, began, op_kind::find_empty, {});
      if (got) run_in_order(std::span<task* const>(out.data(), got.count), victim);
      return got.status;
    }
    if (how != 't') mine.stolen_into = true;
    const moment began = victim.log.begin();
    const steal_result<task*> got = [&] {
      if constexpr (whole) return thief.steal();
      if constexpr (!whole) return how == 't' ? thief.steal() : thief.steal_half_into(mine.owner);
    }();
    require(got || (got.value == nullptr && got.count == 0), "a steal that took nothing handed something back");
    if (got.status == steal_status::empty) note(victim, began, op_kind::find_empty, {});
    if (!got) return got.status;
    if (how == 't') note(victim, began, op_kind::take_front, {&got.value, 1});
    require(got.count >= 1 && got.count <= Queue::capacity, "a steal took nothing, or more than there can be");
    tasks_.run(got.value);
    if (how == 'h') pop_all(mine);
    return got.status;
  }
  // What one steal takes stands next to each other, oldest first.
  void run_in_order(std::span<task* const> taken, const owned& victim) {
    for (std::size_t i = 0; i != taken.size(); ++i) {
      tasks_.run(taken[i]);
      require(victim.stolen_into || tasks_.id_of(taken[i]) == tasks_.id_of(taken[0]) + static_cast<int>(i),
              failure::out_of_order, "a steal took tasks that do not stand next to each other");
    }
  }

  task_set<tasks_in_all> tasks_;
  int made_ = 0;  // by whichever thread: only one thread of a script pushes
  std::array<owned, threads> queues_;
};

template <class Queue, moves Before, moves... Threads>
class script final : public script_over<Queue, atomics, Before, Threads...> {};

}  // namespace runq::model
