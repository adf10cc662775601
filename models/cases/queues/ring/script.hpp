// SPDX-License-Identifier: MIT
// A scenario of the ring in one line: what each thread does, a letter per move.
//
// clang-format off
//   script<ring_of<4>, "pp", "pgg", "w!l!">
//                     two tasks inside; the owner pushes one and pops two; a thief asks, and steals
//
// Thread i owns ring i. The owner's moves go to the thread's own ring, a thief's to ring 0, unless a digit after the
// move names another one.
//
//   p  push           h  steal half into the thread's ring     r  pop until the thread's ring is empty
//   g  pop            l  h, but at most one task
//   s  shed half      o  steal half into an array              !  after a thief's move: that ring is never empty, so
//   d  drain          u  o, with room for one task                the answer "empty" is wrong
//   [ppp]  a batch    t  steal one task                        +  after a move: no other thread touches that ring, so
//                     w  ask whether there is work                the move takes something
// clang-format on
#pragma once

#include <cstddef>
#include <utility>

#include "moves.hpp"
#include "ring_model.hpp"

namespace runq::model {

/// A thief that steals half of ring 0 and then runs what it got.
inline constexpr moves steal{"hr"};

/// One move, as the program makes it.
struct move {
  char what = 0;    ///< its letter; '[' for a batch
  int ring = 0;     ///< the ring that it touches
  int task = 0;     ///< the (first) task that it pushes
  int tasks = 0;    ///< how many it pushes
  char demand = 0;  ///< '!', '+' or 0
};

struct program {
  move made[moves::most]{};
  std::size_t size = 0;
  int tasks = 0;  ///< pushed by all moves
};

/// Never defined: read() calls it for a letter that is no move, so that such a script does not compile.
void this_letter_is_no_move();

/// The program of the thread that owns ring `own`. The first task that it pushes is number `first_task`.
[[nodiscard]] constexpr program read(const moves& written, int own, int first_task) {
  program p;
  bool in_batch = false;
  for (std::size_t i = 0; i != written.size; ++i) {
    const char c = written.text[i];
    if (c == '!' || c == '+') {
      p.made[p.size - 1].demand = c;
    } else if (c >= '0' && c <= '9') {
      p.made[p.size - 1].ring = c - '0';
    } else if (c == ']') {
      in_batch = false;
    } else if (c == 'p' && in_batch) {
      ++p.made[p.size - 1].tasks;
      ++p.tasks;
    } else {
      in_batch = c == '[';
      const bool of_owner = c == 'p' || c == '[' || c == 'g' || c == 's' || c == 'd' || c == 'r';
      const bool of_thief = c == 'h' || c == 'l' || c == 'o' || c == 'u' || c == 't' || c == 'w';
      if (!of_owner && !of_thief) this_letter_is_no_move();
      p.made[p.size++] = {c, of_owner ? own : 0, first_task + p.tasks, c == 'p' ? 1 : 0, 0};
      if (c == 'p') ++p.tasks;
    }
  }
  return p;
}

/// The rings of a script: their capacity, the type and the first value of their counters, and their form.
template <std::size_t Capacity, class Index = std::uint64_t, unsigned First = 0, order_judged Order = order_judged::yes,
          form Form = form::handles>
struct ring_of {
  static constexpr std::size_t capacity = Capacity;
  using index = Index;
  static constexpr unsigned first = First;
  static constexpr order_judged order = Order;
  static constexpr form what = Form;
};

/// The moves `Before` are made while the scenario is constructed; what they push must fit into ring 0.
template <class Ring, moves Before, moves... Threads>
class script final : public ring_model<Ring::capacity, (0 + ... + read(Threads, 0, 1).tasks) + read(Before, 0, 1).tasks,
                                       typename Ring::index, Ring::order, Ring::what> {
  using base = ring_model<Ring::capacity, (0 + ... + read(Threads, 0, 1).tasks) + read(Before, 0, 1).tasks,
                          typename Ring::index, Ring::order, Ring::what>;
  using queue = typename base::queue;
  static constexpr std::size_t threads = sizeof...(Threads);

 public:
  script() : base(typename Ring::index(Ring::first)) { play<before, -1>(std::make_index_sequence<before.size>()); }

  void thread(unsigned index) override {
    [&]<std::size_t... T>(std::index_sequence<T...>) {
      ((index == T ? play<programs.of[T], static_cast<int>(T)>(std::make_index_sequence<programs.of[T].size>())
                   : void()),
       ...);
    }
    (std::make_index_sequence<threads>());
  }

  void finish() override {
    [&]<std::size_t... T>(std::index_sequence<T...>) { base::finish_with(rings_[T]...); }
    (std::make_index_sequence<threads>());
  }

 private:
  struct all_programs {
    program of[threads]{};
  };
  static constexpr program before = read(Before, 0, 1);
  // Tasks are numbered thread by thread, so the numbers in one ring increase in the order in which its owner pushes.
  static constexpr all_programs programs = [] {
    all_programs all;
    int task = 1 + before.tasks;
    std::size_t t = 0;
    ((all.of[t] = read(Threads, static_cast<int>(t), task), task += all.of[t].tasks, ++t), ...);
    return all;
  }();

  template <program Program, int Thread, std::size_t... Move>
  void play(std::index_sequence<Move...>) {
    (make<Program.made[Move], Thread>(), ...);
  }

  template <move Move, int Thread>
  void make() {
    queue& q = rings_[Move.ring];
    if constexpr (Move.what == 'p') {
      if constexpr (Thread < 0) {
        base::preload(q, Move.task);
      } else {
        base::push(q, Move.task);
      }
    } else if constexpr (Move.what == '[') {
      base::push_batch(q, Move.task, Move.task + Move.tasks - 1);
    } else if constexpr (Move.what == 'g') {
      base::pop(q);
    } else if constexpr (Move.what == 's') {
      base::shed(q);
    } else if constexpr (Move.what == 'd') {
      base::drain_at_once(q);
    } else if constexpr (Move.what == 'r') {
      base::drain(q);
    } else if constexpr (Move.what == 'w') {
      const bool yes = base::has_work(q);
      require(Move.demand == 0 || yes, "has_work() said no about a ring that was never empty");
    } else {
      judge<Move>(take<Move>(q, rings_[Thread]));
    }
  }

  template <move Move>
  steal_status take(queue& victim, queue& mine) {
    if constexpr (Move.what == 'h') return base::steal_half(victim, mine);
    if constexpr (Move.what == 'l') return base::steal_half(victim, mine, 1);
    if constexpr (Move.what == 't') return base::steal_one(victim);
    if constexpr (Move.what == 'o') return base::steal_half_out(victim);
    if constexpr (Move.what == 'u') return base::steal_half_out(victim, 1);
  }

  template <move Move>
  static void judge(steal_status got) {
    require(Move.demand != '!' || got != steal_status::empty, "a steal called a ring empty that was never empty");
    require(Move.demand != '+' || got == steal_status::taken, "a lone thief took nothing although there was something");
  }

  [[nodiscard]] queue fresh(const moves&) const { return queue(base::first()); }

  queue rings_[threads] = {fresh(Threads)...};
};

}  // namespace runq::model
