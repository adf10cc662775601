// SPDX-License-Identifier: MIT
// A ring whose owner claims runs: what it is supposed to do. One call after another, the answers are exact, though the
// order is not that of a plain FIFO: thieves take what is public before they take from the owner's run. For threads the
// specification is a bag: every element is taken once, by a call that overlaps with its being there, and *empty* is
// answered only of an empty bag.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fifo.hpp"
#include "operations.hpp"

namespace runq::props {

class split_spec {
 public:
  using operation = props::operation;
  using response = outcome;
  static constexpr const char* type_name = "runq::props::split_spec";
  static constexpr std::size_t how_many = 2;  // queues in a sequential law

  split_spec(const candidate& c, std::size_t queues) : capacity_(c.capacity), run_(c.run), queues_(queues) {}

  [[nodiscard]] static std::size_t fresh_values(const operation& o) { return fifo_spec::fresh_values(o); }
  static values entered(const operation& o, const outcome& seen) { return fifo_spec::entered(o, seen); }
  static operation prefill(value v) { return fifo_spec::prefill(v); }
  static operation tidy(operation o, const candidate& c, std::size_t queues) { return fifo_spec::tidy(o, c, queues); }
  static std::vector<operation> emptying(std::size_t queues) { return fifo_spec::emptying(queues); }
  static std::string code(const operation& o, const outcome& want, const paste& words) {
    return fifo_spec::code(o, want, words);
  }

  /// Thread 0 pushes and pops, the others steal. No steal into a ring: which elements it has taken besides the one that
  /// it returns can only be told from an order, which a bag has not.
  static std::vector<verb> concurrent_mix(std::size_t actor) {
    if (actor == 0) return {verb::push, verb::push, verb::push_batch, verb::pop, verb::pop};
    return {verb::steal, verb::steal_out, verb::steal, verb::steal_out, verb::has_work, verb::size_approx};
  }

  /// What the call returns if no other thread calls anything.
  outcome apply(const operation& o) {
    queue& own = queues_[o.actor];
    queue& other = queues_[o.victim];
    switch (o.what) {
      case verb::push:
      case verb::push_run:
      case verb::push_batch: {
        outcome r;
        for (const value v : run_of(o.first, fresh_values(o))) r.count += push(own, v) ? 1U : 0U;
        return r;
      }
      case verb::pop: return pop(own, 1);
      case verb::pop_run: return pop(own, o.n);
      case verb::steal: {
        const values got = steal(other, 1);
        return got.empty() ? nothing() : outcome{answer::done, 1, got, false};
      }
      case verb::steal_half: {
        const values got = steal(other, std::min<std::size_t>(o.n, room(own) + 1));
        if (got.empty()) return nothing();
        for (std::size_t i = 0; i + 1 < got.size(); ++i) (void)push(own, got[i]);
        return {answer::done, got.size(), {got.back()}, false};
      }
      case verb::steal_out: {
        const values got = steal(other, o.n);
        return got.empty() ? nothing() : outcome{answer::done, got.size(), got, false};
      }
      case verb::room: return {answer::done, room(own), {}, false};
      case verb::has_work: return {answer::done, other.items.empty() ? 0U : 1U, {}, false};
      case verb::size_approx: return {answer::done, other.items.size(), {}, false};
      default: return {};
    }
  }

  [[nodiscard]] bool is_empty(std::size_t i) const { return queues_[i].items.empty(); }
  [[nodiscard]] unsigned variants(const operation&, const outcome&) const { return 1; }

  /// The one step of a concurrent call that returned `seen`.
  progress step(const operation& o, unsigned, unsigned, const outcome& seen) {
    queue& own = queues_[o.actor];
    queue& other = queues_[o.victim];
    switch (o.what) {
      case verb::push:
        if (seen.count == 1) (void)add(own, o.first);
        return progress::done;
      case verb::push_batch:
        for (const value v : run_of(o.first, seen.count)) (void)add(own, v);
        return progress::done;
      case verb::pop: return removed(own, seen.taken) ? progress::done : progress::illegal;
      case verb::steal:
      case verb::steal_out:
        if (seen.what == answer::lost) return progress::done;
        return removed(other, seen.taken) && seen.count == seen.taken.size() ? progress::done : progress::illegal;
      case verb::has_work: return seen.count != 0 || other.items.empty() ? progress::done : progress::illegal;
      default: return seen.count <= capacity_ ? progress::done : progress::illegal;
    }
  }

  void encode(std::vector<std::uint32_t>& key) const {
    for (const queue& q : queues_) {
      key.push_back(static_cast<std::uint32_t>(q.items.size()));
      for (const auto& [at, v] : q.items) key.push_back(v);
    }
  }

 private:
  // Indices as in split_ring.hpp, but from 0 and without an end: head … run_end is the owner's run, public_begin … tail
  // is public. What stands between has been taken.
  struct queue {
    std::map<std::uint64_t, value> items;
    std::uint64_t head = 0, run_end = 0, public_begin = 0, tail = 0;
  };

  static outcome nothing() { return {answer::empty, 0, {}, false}; }
  [[nodiscard]] std::size_t room(const queue& q) const { return capacity_ - static_cast<std::size_t>(q.tail - q.head); }

  static value add(queue& q, value v) { return q.items[q.tail++] = v; }
  bool push(queue& q, value v) {
    if (room(q) == 0) return false;
    (void)add(q, v);
    return true;
  }
  static values cut(queue& q, std::uint64_t from, std::uint64_t n) {
    values got;
    for (std::uint64_t at = from; at != from + n; ++at) {
      got.push_back(q.items.at(at));
      q.items.erase(at);
    }
    return got;
  }

  outcome pop(queue& q, std::size_t most) {
    outcome r = nothing();
    for (std::size_t i = 0; i != most && q.head != q.tail; ++i) {
      if (q.head == q.run_end) {
        q.head = q.public_begin;
        q.run_end = q.public_begin = q.head + run_;
        if (q.head == q.tail) break;
      }
      r.taken.push_back(cut(q, q.head++, 1)[0]);
    }
    r.count = r.taken.size();
    if (r.count != 0) r.what = answer::done;
    return r;
  }

  static values steal(queue& q, std::uint64_t most) {
    if (q.tail > q.public_begin) {
      const std::uint64_t there = q.tail - q.public_begin;
      const std::uint64_t n = std::min(there - there / 2, most);
      q.public_begin += n;
      return cut(q, q.public_begin - n, n);
    }
    const std::uint64_t there = std::min(q.run_end, q.tail) - q.head;
    if (q.public_begin != q.run_end) {
      const std::uint64_t n = std::min(there, most);
      q.run_end -= n;
      return cut(q, q.run_end, n);
    }
    const std::uint64_t n = std::min(there - there / 2, most);
    if (n == 0) return {};
    q.run_end = q.head;
    q.public_begin = q.head + n;
    return cut(q, q.head, n);
  }

  static bool removed(queue& q, const values& vs) {
    if (vs.empty()) return q.items.empty();
    for (const value v : vs) {
      const auto at = std::find_if(q.items.begin(), q.items.end(), [v](const auto& item) { return item.second == v; });
      if (at == q.items.end()) return false;
      q.items.erase(at);
    }
    return true;
  }

  std::size_t capacity_;
  std::uint64_t run_;
  std::vector<queue> queues_;
};

}  // namespace runq::props
