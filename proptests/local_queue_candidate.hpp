// SPDX-License-Identifier: MIT
// runq::basic_local_queue as a candidate, by its handles and as one object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "chaos_atomics.hpp"
#include "fifo.hpp"
#include "inject_candidate.hpp"
#include "operations.hpp"
#include "processor_spec.hpp"
#include "runq/local_queue.hpp"
#include "runq/one_object.hpp"

namespace runq::props {

/// A processor's queue with its handles.
template <class Queue>
struct local_queue_handles {
  using queue = Queue;
  explicit local_queue_handles(typename Queue::global_queue& global)
      : local(global), owner(local.make_owner()), thief(local.make_thief()) {}
  void rebind() { owner.rebind(); }

  Queue local;
  typename Queue::owner owner;
  typename Queue::thief thief;
};

/// A processor's queue as one object, which is its own owner and thief. It is moved where other candidates hand over
/// their owner handle.
template <class Queue>
struct local_queue_object {
  using queue = Queue;
  using object = one_object<Queue>;
  struct both_sides : object {
    using object::object;
    auto take_from(typename Queue::global_queue& global, std::size_t procs) {
      return object::make_owner().take_from(global, procs);
    }
    auto drain() { return object::make_owner().drain(); }
    bool has_work() const { return !object::empty(); }
    bool has_work_approx() const { return object::make_thief().has_work_approx(); }
    std::size_t size_approx() const { return object::size(); }
  };

  explicit local_queue_object(typename Queue::global_queue& global) : owner(global) {}
  void rebind() {}

  both_sides owner;
  const both_sides& thief = owner;
};

template <std::size_t Capacity, class Index, class Atomics, template <class> class Processor = local_queue_handles>
class local_queue_subject final : public subject {
 public:
  using element = node<Atomics>;
  using processor = Processor<basic_local_queue<&element::link, Capacity, Index>>;
  using queue = typename processor::queue;
  using chain = typename queue::chain;

  // The counters of a local queue start at 0: `start` pushes and pops bring them elsewhere.
  local_queue_subject(std::uint64_t start, std::size_t processors) {
    for (std::size_t i = 0; i != processors; ++i) {
      locals_.push_back(std::make_unique<processor>(global_));
      for (std::uint64_t n = 0; n != start; ++n) {
        locals_[i]->owner.push(nodes_.get(0));
        (void)locals_[i]->owner.pop();
      }
    }
  }
  ~local_queue_subject() override {
    rebind();
    for (const auto& p : locals_) (void)ids(p->owner.drain());
    while (global_.take() != nullptr) {
    }
  }

  outcome apply(const operation& o) override {
    auto& own = locals_[o.actor]->owner;
    const auto& victim = locals_[o.victim]->thief;
    switch (o.what) {
      case verb::push: return {answer::done, own.push(nodes_.fresh(o.first)), {}, false};
      case verb::push_run: {
        outcome r;
        for (const value v : run_of(o.first, o.n)) r.count += own.push(nodes_.fresh(v));
        return r;
      }
      case verb::push_next: return {answer::done, own.push_next(nodes_.fresh(o.first)), {}, false};
      case verb::push_batch: return {answer::done, own.push_batch(batch(o)), {}, false};
      case verb::pop: {
        const auto p = own.pop();
        outcome r = one(p.task);
        r.from_next = p.from_runnext;
        return r;
      }
      case verb::pop_run: {
        outcome r{answer::empty, 0, {}, false};
        for (std::size_t i = 0; i != o.n; ++i) {
          const auto p = own.pop();
          if (p) r.taken.push_back(p.task->id);
        }
        r.count = r.taken.size();
        if (r.count != 0) r.what = answer::done;
        return r;
      }
      case verb::steal_half: {
        const auto r = own.steal_from(victim, o.m == 1 ? steal_runnext::yes : steal_runnext::no, o.n, 2);
        return outcome_of(r, r ? r.value->id : 0);
      }
      case verb::take_from: return one(own.take_from(global_, o.n));
      case verb::drain: {
        const values all = ids(own.drain());
        return {answer::done, all.size(), all, false};
      }
      case verb::global_put: global_.splice(batch(o)); return {};
      case verb::global_take: return one(global_.take());
      case verb::has_work_approx: return {answer::done, victim.has_work_approx() ? 1U : 0U, {}, false};
      case verb::has_work: return {answer::done, victim.has_work() ? 1U : 0U, {}, false};
      case verb::size_approx: return {answer::done, victim.size_approx(), {}, false};
      case verb::hand_over: {
        auto moved = std::move(own);
        own = std::move(moved);
        return {};
      }
      default: return {};
    }
  }
  void rebind() override {
    for (const auto& p : locals_) p->rebind();
  }

 private:
  static outcome one(const element* e) {
    return e == nullptr ? outcome{answer::empty, 0, {}, false} : outcome{answer::done, 1, {e->id}, false};
  }
  static values ids(chain c) {
    values vs;
    while (const element* const e = c.pop_front()) vs.push_back(e->id);
    return vs;
  }
  chain batch(const operation& o) {
    chain c;
    for (const value v : run_of(o.first, o.n)) c.push_back(nodes_.fresh(v));
    return c;
  }

  arena<Atomics> nodes_;
  typename queue::global_queue global_;
  std::vector<std::unique_ptr<processor>> locals_;
};

template <std::size_t Capacity, class Index, class Atomics = std_atomics,
          template <class> class Processor = local_queue_handles>
[[nodiscard]] candidate local_queue_candidate() {
  constexpr unsigned bits = std::numeric_limits<Index>::digits;
  const std::string parameters = std::to_string(Capacity) + ", std::uint" + std::to_string(bits) + "_t";
  candidate c;
  constexpr bool whole = std::is_same_v<Processor<basic_local_queue<&node<Atomics>::link>>,
                                        local_queue_object<basic_local_queue<&node<Atomics>::link>>>;
  const std::string handled = "runq::basic_local_queue<&task::link, " + parameters + ">";
  c.name = whole ? "runq::one_object<" + handled + ">" : handled;
  c.capacity = Capacity;
  c.index_bits = bits <= 16 ? bits : 0;  // wider ones take too long to wrap
  c.verbs = {verb::push,        verb::push_run,        verb::push_next,   verb::push_batch, verb::pop,
             verb::pop_run,     verb::steal_half,      verb::take_from,   verb::drain,      verb::global_put,
             verb::global_take, verb::has_work_approx, verb::size_approx, verb::hand_over,  verb::has_work};
  c.expression = "runq::props::local_queue_candidate<" + parameters + ", runq::props::chaos_atomics, runq::props::" +
                 (whole ? "local_queue_object" : "local_queue_handles") + ">()";
  c.make = [](std::uint64_t start, std::size_t processors) -> std::unique_ptr<subject> {
    return std::make_unique<local_queue_subject<Capacity, Index, Atomics, Processor>>(start, processors);
  };
  c.code = [name = c.name](std::uint64_t start, std::size_t processors) {
    paste p;
    p.at_namespace_scope = task_code();
    p.setup = "  using queue = " + name + ";\n  runq::inject<&task::link> global;\n";
    for (std::size_t i = 0; i != processors; ++i) {
      const std::string k = std::to_string(i);
      p.setup += "  queue local" + k + "(global);\n  auto owner" + k + " = local" + k + ".make_owner();\n";
      if (start != 0) {
        p.setup += "  for (int i = 0; i != " + std::to_string(start) + "; ++i) {\n    owner" + k +
                   ".push(&t[0]);\n    (void)owner" + k + ".pop();\n  }\n";
      }
      p.cleanup += "  (void)ids(owner" + k + ".drain());\n";
    }
    p.cleanup += "  while (global.take() != nullptr) {}\n";
    return p;
  };
  return c;
}

/// The candidates that the suites run on. They are templates, so that a program that does not call them does not
/// compile them.
template <class = void>
std::vector<candidate> local_queue_candidates() {
  return {local_queue_candidate<2, std::uint8_t>(),
          local_queue_candidate<4, std::uint8_t>(),
          local_queue_candidate<128, std::uint8_t>(),
          local_queue_candidate<2, std::uint32_t>(),
          local_queue_candidate<256, std::uint16_t>(),
          local_queue_candidate<256, std::uint64_t>(),
          local_queue_candidate<4, std::uint8_t, std_atomics, local_queue_object>()};
}
template <class = void>
std::vector<candidate> local_queue_candidates_on_threads() {
  return {local_queue_candidate<2, std::uint8_t, chaos_atomics>(),
          local_queue_candidate<4, std::uint8_t, chaos_atomics>(),
          local_queue_candidate<4, std::uint64_t, chaos_atomics>(),
          local_queue_candidate<4, std::uint8_t, chaos_atomics, local_queue_object>()};
}

}  // namespace runq::props
