// SPDX-License-Identifier: MIT
// workloads: what the simulated scheduler is given to do. Each is the same program on virtual processors and on real
// threads, and grows with the number of processors: each processor has as much to do on 256 as on 2.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string_view>

#include "small_scheduler.hpp"

namespace runq::simulate {

enum class workload : unsigned char { alone, tree, burst, flood, yield, ping_pong };

struct description {
  workload what;
  std::string_view name;
  std::string_view title;
};
inline constexpr std::array workloads{
    description{workload::alone, "alone", "each processor has one task, which makes itself runnable again and again"},
    description{workload::tree, "tree", "fork and join: a binary tree, which works in its leaves"},
    description{workload::burst, "burst", "one task starts all others"},
    description{workload::flood, "flood", "tasks start others at the end of the global queue, 16 each"},
    description{workload::yield, "yield", "two tasks for each processor, which yield after each piece of work"},
    description{workload::ping_pong, "ping_pong", "pairs of tasks wake each other; half as many pairs as processors"}};

/// The tasks of one run. They are made before it, on one thread, and looked at after it.
template <class Place>
class program {
  using scheduler = small_scheduler<Place>;
  using machine = typename scheduler::machine;
  using task = typename scheduler::task;

 public:
  /// Gives `s` its tasks. Each processor does about `pieces` pieces of work, at least 32.
  program(scheduler& s, workload what, std::uint32_t pieces) : s_(s), n_(s.size()) {
    switch (what) {
      case workload::alone: make_alone(pieces); break;
      case workload::tree: make_tree(pieces); break;
      case workload::burst: make_burst(pieces); break;
      case workload::flood: make_flood(pieces); break;
      case workload::yield: make_yield(pieces); break;
      case workload::ping_pong: make_ping_pong(pieces); break;
    }
  }

  /// How many tasks the machines run, and how many pieces of work they do in them.
  [[nodiscard]] std::uint64_t runs() const { return runs_; }
  [[nodiscard]] std::uint64_t pieces() const { return pieces_; }

  /// After the run: whether each task has done its work as often as it had to.
  [[nodiscard]] bool complete() const {
    for (std::size_t i = 0; i != count_; ++i) {
      if (s_.tasks[i].worked != expected(i)) return false;
    }
    return true;
  }

 private:
  static constexpr std::uint32_t children = 16;  // of a task in a flood

  task* make(std::size_t count) {
    auto* const memory = static_cast<std::byte*>(Place::allocate(count * sizeof(task), "tasks", sizeof(task)));
    s_.tasks = reinterpret_cast<task*>(memory);
    for (std::size_t i = 0; i != count; ++i) new (memory + i * sizeof(task)) task;
    count_ = count;
    return s_.tasks;
  }
  void start_on(unsigned processor, task& t) { (void)s_.processor_at(processor).own_queue.push(&t); }

  // How often task i does its work.
  [[nodiscard]] std::uint32_t expected(std::size_t i) const { return i < idle_ ? 0 : each_; }

  void make_alone(std::uint32_t pieces) {
    task* const t = make(n_);
    each_ = pieces;
    for (unsigned i = 0; i != n_; ++i) {
      t[i].left = pieces;
      t[i].run = [](scheduler& s, machine& m, task& self) {
        s.work_in(self);
        if (--self.left != 0) s.next_here(m, self);
      };
      start_on(i, t[i]);
    }
    pieces_ = runs_ = std::uint64_t{n_} * pieces;
  }

  // Node i has the children 2 i + 1 and 2 i + 2.
  void make_tree(std::uint32_t pieces) {
    std::uint32_t depth = 0;
    while ((std::uint64_t{1} << depth) < std::uint64_t{n_} * pieces) ++depth;
    const std::size_t leaves = std::size_t{1} << depth;
    task* const t = make(2 * leaves - 1);
    idle_ = leaves - 1;
    each_ = 1;
    t[0].left = depth;
    for (std::size_t i = 0; i != count_; ++i) {
      t[i].run = &walk;
      if (i == 0) continue;
      t[i].other = &t[(i - 1) / 2];
      t[i].left = t[i].other->left - 1;
    }
    start_on(0, t[0]);
    pieces_ = runs_ = leaves;
  }
  static void walk(scheduler& s, machine& m, task& top) {
    task* t = &top;
    while (t->left != 0) {
      task* const left = &s.tasks[2 * (t - s.tasks) + 1];
      t->join.detach();
      t->join.detach();
      if (t->join.wait()) std::abort();
      s.fork(m, left[1]);
      t = left;
    }
    s.work_in(*t);
    for (task* parent = t->other; parent != nullptr && parent->join.arrive();) parent = parent->other;
  }

  void make_burst(std::uint32_t pieces) {
    task* const t = make(std::size_t{n_} * pieces + 1);
    idle_ = 1;
    each_ = 1;
    t[0].left = n_ * pieces;
    t[0].run = [](scheduler& s, machine& m, task& self) {
      for (std::uint32_t i = 0; i != self.left; ++i) s.next_here(m, s.tasks[i + 1]);
    };
    for (std::size_t i = 1; i != count_; ++i) t[i].run = [](scheduler& s, machine&, task& self) { s.work_in(self); };
    start_on(0, t[0]);
    pieces_ = count_ - 1;
    runs_ = count_;
  }

  // A task of a processor starts 16 others, which are next to each other, and then itself once more.
  void make_flood(std::uint32_t pieces) {
    const std::uint32_t rounds = pieces / children;
    task* const t = make(n_ + std::size_t{n_} * rounds * children);
    idle_ = n_;
    each_ = 1;
    for (unsigned i = 0; i != n_; ++i) {
      t[i].left = rounds;
      t[i].other = &t[n_ + std::size_t{i} * rounds * children];
      t[i].run = [](scheduler& s, machine& m, task& self) {
        for (std::uint32_t k = 0; k != children; ++k) s.to_global(m, *self.other++);
        if (--self.left != 0) s.to_global(m, self);
      };
      start_on(i, t[i]);
    }
    for (std::size_t i = n_; i != count_; ++i) t[i].run = [](scheduler& s, machine&, task& self) { s.work_in(self); };
    pieces_ = std::uint64_t{n_} * rounds * children;
    runs_ = pieces_ + std::uint64_t{n_} * rounds;
  }

  void make_yield(std::uint32_t pieces) {
    task* const t = make(2 * std::size_t{n_});
    each_ = pieces / 2;
    for (std::size_t i = 0; i != count_; ++i) {
      t[i].left = each_;
      t[i].run = [](scheduler& s, machine& m, task& self) {
        s.work_in(self);
        if (--self.left != 0) s.yield(m, self);
      };
      start_on(static_cast<unsigned>(i % n_), t[i]);
    }
    pieces_ = runs_ = count_ * each_;
  }

  void make_ping_pong(std::uint32_t pieces) {
    const unsigned pairs = n_ < 2 ? 1 : n_ / 2;
    task* const t = make(2 * std::size_t{pairs});
    each_ = pieces;
    for (std::size_t i = 0; i != count_; ++i) {
      t[i].left = each_;
      t[i].other = &t[i ^ 1];
      const bool first = i % 2 == 0;
      if (first) {
        t[i].run = [](scheduler& s, machine& m, task& self) {
          s.work_in(self);
          s.next_here(m, *self.other);
        };
        start_on(static_cast<unsigned>(i / 2), t[i]);
      } else {
        t[i].run = [](scheduler& s, machine& m, task& self) {
          s.work_in(self);
          if (--self.left != 0) s.next_here(m, *self.other);
        };
      }
    }
    pieces_ = runs_ = count_ * each_;
  }

  scheduler& s_;
  const unsigned n_;
  std::size_t count_ = 0;
  std::size_t idle_ = 0;    // so many tasks, the first ones, do no work
  std::uint32_t each_ = 0;  // so many pieces of work does each of the others
  std::uint64_t pieces_ = 0;
  std::uint64_t runs_ = 0;
};

}  // namespace runq::simulate
