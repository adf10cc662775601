// SPDX-License-Identifier: MIT
// A scenario of a split ring in one line: what each thread does, a letter per move.
//
// clang-format off
//   script<ring_of<4, 2>, "pppg", "gg", "oo">
//                     a ring of 4 slots and runs of 2; three tasks have been pushed and one popped; the owner pops two
//                     ‖ a thief steals twice
//
// Thread i owns ring i. The owner's moves go to the thread's own ring, a thief's to ring 0, unless a digit after the
// move names another one.
//
//   p  push    h  steal half into the thread's ring, and pop that empty    o  steal half into an array
//   g  pop     k  h without the pops                                       t  steal one task
//              a  o until the ring is empty                                w  ask whether there is work
//
//   !  after a thief's move: that ring is never empty, so the answer "empty" is wrong
//   +  after a steal: the thief tries again while it loses a race, and then must have taken something
// clang-format on
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "moves.hpp"
#include "oracle.hpp"
#include "runq/split_ring.hpp"

namespace runq::model {

/// The rings of a script: capacity, elements in a run, the rest of the options, the first index.
template <std::size_t Capacity, std::size_t Run, std::uint32_t First = 0, unsigned Tries = 1, unsigned Polls = 0,
          unsigned TagBits = 37>
struct ring_of {
  static constexpr std::size_t capacity = Capacity;
  static constexpr std::uint32_t first = First;
  static constexpr split_ring_options options{.run = Run, .tries = Tries, .polls = Polls, .tag_bits = TagBits};
  template <class Policy>
  using type = basic_split_ring<task*, Capacity, options, Policy>;
};

/// The moves `Before` are made by ring 0's owner while the scenario is constructed.
template <class Ring, class Policy, moves Before, moves... Threads>
class script_over : public scenario {
  static constexpr int tasks_in_all = (Before.pushes() + ... + Threads.pushes());
  static constexpr std::size_t threads = sizeof...(Threads);
  static constexpr std::array<moves, threads> programs{Threads...};
  using ring_type = typename Ring::template type<Policy>;
  static constexpr std::string_view letters = "pghkoatw!+0123456789";
  static_assert(Before.only_of(letters) && (Threads.only_of(letters) && ...), "a letter of this script is no move");

  struct owned {
    owned() : ring(Ring::first), owner(ring.make_owner()) {}
    ring_type ring;
    typename ring_type::owner owner;
    fifo_view popped;          // the owner's view
    bool stolen_into = false;  // then tasks of two rings are in it, and their order is not judged
  };

 public:
  script_over() { play(Before, 0); }
  void thread(unsigned index) override { play(programs[index], index); }
  void finish() override {
    for (owned& o : rings_) pop_all(o);
    tasks_.require_all_ran();
    for (owned& o : rings_) require(!o.ring.make_thief().has_work(), "an empty ring is said to have work");
  }

 protected:
  // What surrounds a thread's moves in a model of fences by interrupt.
  void play(const moves& written, unsigned self) {
    for (std::size_t i = 0; i != written.size; ++i) {
      const char what = written.text[i];
      std::size_t ring = what == 'p' || what == 'g' ? self : 0;
      if (written.at(i + 1) >= '0' && written.at(i + 1) <= '9')
        ring = static_cast<std::size_t>(written.text[++i] - '0');
      const char demand = written.at(i + 1);
      if (demand == '!' || demand == '+') ++i;
      make(what, rings_[ring], rings_[self], demand);
    }
  }

 private:
  void make(char what, owned& at, owned& mine, char demand) {
    if (what == 'p') return push(at);
    if (what == 'g') return static_cast<void>(pop(at));
    if (what == 'w') {
      const bool yes = at.ring.make_thief().has_work();
      return require(yes || demand != '!', "has_work() said no about a ring that was never empty");
    }
    if (what == 'a') {
      while (steal(at, mine, 'o') != steal_status::empty) continue;
      return;
    }
    steal_status got = steal(at, mine, what);
    while (demand == '+' && got == steal_status::lost) got = steal(at, mine, what);
    require(demand != '+' || got == steal_status::taken, "a thief took nothing although there was something");
    require(demand != '!' || got != steal_status::empty, "a steal called a ring empty that was never empty");
  }

  /// A task that does not fit is run by the pusher.
  void push(owned& o) {
    task* const t = tasks_.make(++made_);
    if (!o.owner.push(t)) tasks_.run(t);
  }
  bool pop(owned& o) {
    const std::optional<task*> got = o.owner.pop();
    if (!got) return false;
    tasks_.run(*got);
    if (!o.stolen_into) o.popped.see(tasks_.id_of(*got));
    return true;
  }
  void pop_all(owned& o) {
    while (pop(o)) continue;
  }
  steal_status steal(owned& victim, owned& mine, char how) {
    const auto thief = victim.ring.make_thief();
    if (how == 'o') {
      std::array<task*, Ring::capacity> out{};
      const batch_result got = thief.steal_half(std::span<task*>(out));
      if (got) run_in_order(std::span<task* const>(out.data(), got.count), victim);
      return got.status;
    }
    if (how != 't') mine.stolen_into = true;
    const steal_result<task*> got = how == 't' ? thief.steal() : thief.steal_half_into(mine.owner);
    require(got || (got.value == nullptr && got.count == 0), "a steal that took nothing handed something back");
    if (!got) return got.status;
    require(got.count >= 1 && got.count <= Ring::capacity, "a steal took nothing, or more than there can be");
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
  std::array<owned, threads> rings_;
};

template <class Ring, moves Before, moves... Threads>
class script final : public script_over<Ring, atomics, Before, Threads...> {};

}  // namespace runq::model
