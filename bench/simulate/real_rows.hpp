// SPDX-License-Identifier: MIT
// real_rows: rows of the scheduler benchmark (bench/scheduler/rows.hpp) for the simulated scheduler, so that its
// figures can be held against those of real processors. A coroutine is a record with the state in which it goes on; the
// lines of its frame travel as the frame's would. What the code between two operations on shared memory takes is a
// parameter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "places.hpp"
// Not by quotes, which would look beside this file: calibrate.py takes an earlier commit's.
#include <small_scheduler.hpp>

namespace runq::simulate {

/// One row, on `s`. It runs until its last task has ended.
class real_row {
  using place = virtual_place;
  using policy = place::policy;
  using scheduler = small_scheduler<place>;
  using machine = scheduler::machine;
  using task = scheduler::task;

 public:
  /// Of the size `n`, which means what it means there. `code`: what an operation's own instructions take, once for each
  /// of those that the row divides by.
  real_row(scheduler& s, std::string_view name, std::uint64_t n, picoseconds code)
      : s_(s), code_(code), caches_(s.size()) {
    if (one_ != nullptr) throw std::logic_error("there is a row already");
    one_ = this;
    shared_ = new (place::allocate(sizeof(counters), "counters", sizeof(counters))) counters;
    if (name == "fib") {
      begin_with(n, &go_on<fib>);
      operations_ = fib::forks(n);
    } else if (name == "tree") {
      begin_with(n, &go_on<tree>);
      operations_ = n;
    } else if (name == "forks") {
      begin_with(n, &forks);
      operations_ = n;
    } else if (name == "yield") {
      begin_with(yielding, &starts_yields);
      each_ = n;
      operations_ = yielding * n;
    } else if (name == "spawn") {
      begin_with(n, &starts_tasks);
      operations_ = n;
    } else if (name == "all_run") {
      begin_with(n, &starts_all);
      operations_ = 1;
    } else {
      throw std::invalid_argument("there is no such row");
    }
  }
  real_row(const real_row&) = delete;
  real_row& operator=(const real_row&) = delete;
  ~real_row() { one_ = nullptr; }

  /// What the row divides its time by.
  [[nodiscard]] std::uint64_t operations() const { return operations_; }
  /// When what it measures begins.
  [[nodiscard]] picoseconds begin() const { return begin_; }

 private:
  // The record of a coroutine; its queue's link and its count of children are in the first line. What a processor needs
  // to go on with it comes from two more lines: the strand, if it has one, and then the frame. All lines of a frame are
  // one here, because a processor asks for them at once.
  struct alignas(64) coroutine : task {
    coroutine* parent = nullptr;
    std::uint64_t n = 0;
    std::uint64_t id = 0;
    enum class going : unsigned char { begins, forked, called } is = going::begins;
    bool was_forked = false;
    struct alignas(64) line {
      cell<std::uint64_t> touched{std::uint64_t{0}};
    };
    line strand;
    line frame;
  };
  // The row's own counters, which all tasks change.
  struct alignas(64) counters {
    atomic<std::uint64_t> done{std::uint64_t{0}};
    atomic<std::uint64_t> group{std::uint64_t{0}};
  };

  static constexpr std::uint64_t yielding = 1000;
  static constexpr picoseconds until_all_sleep = ns(20'000);
  // As frame_cache: a processor's cache gives half of its blocks away when it has so many, and gets as many at a time.
  static constexpr std::size_t high = 64;

  // -- the coroutines' memory. Its lists cost nothing, the blocks' lines do. --

  [[nodiscard]] coroutine& make(machine& m, coroutine* parent, std::uint64_t n, bool is_forked) {
    auto& cache = caches_[m.held->index];
    if (cache.empty()) refill(cache);
    coroutine& c = *cache.back();
    cache.pop_back();
    c.parent = parent;
    c.n = n;
    c.is = coroutine::going::begins;
    c.was_forked = is_forked;
    c.frame.touched.set(n);
    return c;
  }
  void free(machine& m, coroutine& c) {
    auto& cache = caches_[m.held->index];
    cache.push_back(&c);
    if (cache.size() < high) return;
    for (std::size_t i = 0; i != high / 2; ++i) {
      pool_.push_back(cache.back());
      cache.pop_back();
    }
  }
  void refill(std::vector<coroutine*>& cache) {
    for (std::size_t i = 0; i != high / 2; ++i) {
      if (pool_.empty()) {
        cache.push_back(new (place::allocate(sizeof(coroutine), "frames", sizeof(coroutine))) coroutine);
      } else {
        cache.push_back(pool_.back());
        pool_.pop_back();
      }
    }
  }
  [[nodiscard]] coroutine& make_task(machine& m, std::uint64_t n, scheduler::function what) {
    coroutine& c = make(m, nullptr, n, false);
    c.strand.touched.set(n);
    c.run = what;
    return c;
  }
  // Going on with a coroutine reads and writes its frame.
  static void use(coroutine& c) { c.frame.touched.set(c.frame.touched.get() + 1); }
  static void begin(coroutine& of_task) {
    of_task.strand.touched.set(of_task.strand.touched.get() + 1);
    use(of_task);
  }

  void begin_with(std::uint64_t n, scheduler::function what) {
    auto& main = *new (place::allocate(sizeof(coroutine), "frames", sizeof(coroutine))) coroutine;
    main.n = n;
    main.id = 1;
    main.run = what;
    (void)s_.processor_at(0).own_queue.push(&main);
  }
  void spend() const { world::here().work(code_); }

  // -- fork and join, where the child runs at once and the parent may be stolen --

  struct fib {
    static bool is_leaf(const coroutine& c) { return c.n < 2; }
    static bool counts(const coroutine& c) { return !is_leaf(c); }
    static std::uint64_t forks(std::uint64_t n) {
      std::uint64_t a = 0;
      for (std::uint64_t b = 1, i = n + 1; i != 0; --i) b += std::exchange(a, b);
      return a - 1;
    }
    static std::pair<std::uint64_t, std::uint64_t> children(const coroutine& c) { return {c.n - 1, c.n - 2}; }
  };
  // As bench::left_part().
  struct tree {
    static bool is_leaf(const coroutine& c) { return c.n < 2; }
    static bool counts(const coroutine& c) { return c.n != 0; }
    static std::pair<std::uint64_t, std::uint64_t> children(const coroutine& c) {
      const std::uint64_t below = c.n - 1;
      const bool small_left = (c.id * 0x9e3779b97f4a7c15U) >> 63U != 0;
      const std::uint64_t left = small_left ? below / 16 : below - below / 16;
      return {left, below - left};
    }
  };

  template <class Kind>
  static void go_on(scheduler& s, machine& m, task& t) {
    one_->walk<Kind>(s, m, static_cast<coroutine*>(&t));
  }
  template <class Kind>
  void walk(scheduler& s, machine& m, coroutine* c) {
    // A thief has the parent, whose child runs by itself from then on.
    if (c->is == coroutine::going::forked) c->join.detach();
    while (c != nullptr) {
      switch (c->is) {
        case coroutine::going::begins: {
          if (Kind::counts(*c)) spend();
          if (Kind::is_leaf(*c)) {
            c = end(m, *c);
            break;
          }
          coroutine& child = make(m, c, Kind::children(*c).first, true);
          child.id = c->id + 1;
          c->run = &go_on<Kind>;
          c->is = coroutine::going::forked;
          use(*c);
          s.fork(m, *c);
          c = &child;
          break;
        }
        case coroutine::going::forked: {
          use(*c);
          coroutine& child = make(m, c, Kind::children(*c).second, false);
          child.id = c->id + 1 + Kind::children(*c).first;
          c->is = coroutine::going::called;
          c = &child;
          break;
        }
        case coroutine::going::called:
          use(*c);
          if (c->join.any() && !c->join.wait()) return;
          c = end(m, *c);
          break;
      }
    }
  }
  // Returns what goes on here, or null.
  coroutine* end(machine& m, coroutine& ended) {
    coroutine* const parent = ended.parent;
    const bool was_forked = ended.was_forked;
    free(m, ended);
    if (parent == nullptr) {
      world::here().stop();
      return nullptr;
    }
    if (!was_forked) return parent;
    if (takes_newest(s_, m, *parent)) return parent;
    return parent->join.arrive() ? parent : nullptr;
  }

  // Whether the newest fork of the machine's deque is `wanted`, which leaves the deque then: as at the end of a fork.
  static bool takes_newest(scheduler& s, machine& m, task& wanted) {
    const auto newest = m.held->own_forks.pop();
    if (!newest) return false;
    if (*newest == &wanted) return true;
    s.fork(m, **newest);
    return false;
  }

  // -- one task forks all others before one join --

  static void forks(scheduler& s, machine& m, task& t) {
    real_row& row = *one_;
    auto& main = static_cast<coroutine&>(t);
    if (main.is == coroutine::going::forked) main.join.detach();
    main.run = &forks;
    while (main.n != 0) {
      --main.n;
      row.spend();
      use(main);
      coroutine& child = row.make(m, &main, 0, true);
      main.is = coroutine::going::forked;
      s.fork(m, main);
      row.shared_->done.fetch_add(1);
      // The frame of a child stays until the join if its parent was stolen.
      if (!takes_newest(s, m, main)) {
        if (main.join.arrive()) world::here().stop();
        return;
      }
      row.free(m, child);
    }
    if (!main.join.any() || main.join.wait()) world::here().stop();
  }

  // -- tasks that yield --

  static void starts_yields(scheduler& s, machine& m, task& t) {
    real_row& row = *one_;
    for (std::uint64_t i = 0; i != yielding; ++i) {
      s.next_here(m, row.make_task(m, row.each_, &yields));
    }
    (void)t;
  }
  static void yields(scheduler& s, machine& m, task& t) {
    real_row& row = *one_;
    auto& c = static_cast<coroutine&>(t);
    begin(c);
    row.spend();
    if (c.n-- != 0) {
      s.yield(m, c);
    } else if (row.shared_->group.fetch_add(1) + 1 == yielding) {
      world::here().stop();
    }
  }

  // -- one task starts all others --

  static void starts_tasks(scheduler& s, machine& m, task& t) {
    real_row& row = *one_;
    auto& main = static_cast<coroutine&>(t);
    const std::uint64_t n = row.operations_;
    for (std::uint64_t i = 0; i != n; ++i) {
      world::here().work(row.code_ / 2);
      use(main);
      s.next_here(m, row.make_task(m, 0, &counts));
    }
  }
  static void counts(scheduler&, machine& m, task& t) {
    real_row& row = *one_;
    auto& c = static_cast<coroutine&>(t);
    begin(c);
    world::here().work(row.code_ / 2);
    row.shared_->done.fetch_add(1);
    row.free(m, c);
    if (row.shared_->group.fetch_add(1) + 1 == row.operations_) world::here().stop();
  }

  // -- one task starts a task for each other processor, and each keeps its processor until all have begun --

  static void starts_all(scheduler& s, machine& m, task&) {
    real_row& row = *one_;
    // Until the machines that have nothing to do sleep.
    world::here().work(until_all_sleep);
    row.begin_ = world::here().now();
    for (unsigned i = 1; i != s.size(); ++i) s.next_here(m, row.make_task(m, 0, &keeps));
    row.keep();
    world::here().stop();
  }
  static void keeps(scheduler&, machine&, task& t) {
    begin(static_cast<coroutine&>(t));
    one_->keep();
  }
  void keep() {
    shared_->done.fetch_add(1);
    while (shared_->done.load() != s_.size()) world::here().yield_call();
  }

  static inline real_row* one_ = nullptr;

  scheduler& s_;
  const picoseconds code_;
  counters* shared_ = nullptr;
  std::uint64_t operations_ = 0;
  std::uint64_t each_ = 0;
  picoseconds begin_ = 0;
  std::vector<std::vector<coroutine*>> caches_;
  std::vector<coroutine*> pool_;
};

}  // namespace runq::simulate
