// SPDX-License-Identifier: MIT
// runq::inject as a candidate.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "chaos_atomics.hpp"
#include "fifo.hpp"
#include "operations.hpp"
#include "runq/inject.hpp"
#include "shared_spec.hpp"

namespace runq::props {

/// An element of an intrusive queue. `id` is plain memory that the thread that puts the node writes, and the thread
/// that takes it reads, so that ThreadSanitizer reports a hand-over that orders nothing.
template <class Atomics>
struct node {
  inject_link<node, Atomics> link;
  value id = 0;
};

/// Nodes by value. Values below `ready` are there from the beginning, so that threads can ask without a lock.
template <class Atomics>
class arena {
 public:
  static constexpr std::size_t ready = 6000;
  arena() { (void)get(ready - 1); }
  node<Atomics>* get(value v) {
    while (nodes_.size() <= v) nodes_.emplace_back();
    return &nodes_[v];
  }
  node<Atomics>* fresh(value v) {
    node<Atomics>* const n = get(v);
    n->id = v;
    return n;
  }

 private:
  std::deque<node<Atomics>> nodes_;
};

/// Declarations for a pasted test about intrusive queues.
inline std::string task_code() {
  return "namespace {\n"
         "struct task {\n  runq::inject_link<task> link;\n};\n"
         "using chain = runq::inject_chain<&task::link>;\n"
         "std::vector<task> t(65536);\n"
         "[[maybe_unused]] chain batch(std::size_t first, std::size_t n) {\n  chain c;\n"
         "  for (std::size_t i = 0; i != n; ++i) c.push_back(&t[first + i]);\n  return c;\n}\n"
         "[[maybe_unused]] std::vector<std::size_t> ids(chain c) {\n  std::vector<std::size_t> v;\n"
         "  while (task* e = c.pop_front()) v.push_back(static_cast<std::size_t>(e - t.data()));\n  return v;\n}\n"
         "}  // namespace\n";
}

template <class Atomics>
class inject_subject final : public subject {
 public:
  using queue = inject<&node<Atomics>::link>;
  using chain = typename queue::chain;

  inject_subject() = default;
  ~inject_subject() override {
    while (queue_.take() != nullptr) {
    }
  }

  outcome apply(const operation& o) override {
    switch (o.what) {
      case verb::push: queue_.put(nodes_.fresh(o.first)); return {};
      case verb::push_batch: queue_.splice(batch(o)); return {};
      case verb::push_front: queue_.splice_front(batch(o)); return {};
      case verb::pop: {
        const node<Atomics>* const n = queue_.take();
        return n == nullptr ? outcome{answer::empty, 0, {}, false} : outcome{answer::done, 1, {n->id}, false};
      }
      case verb::take_batch: {
        chain c = queue_.take_batch(o.n, o.m);
        outcome r;
        r.count = c.size();
        while (const node<Atomics>* const n = c.pop_front()) r.taken.push_back(n->id);
        return r;
      }
      case verb::has_work_approx: return {answer::done, queue_.has_work_approx() ? 1U : 0U, {}, false};
      case verb::has_work: return {answer::done, queue_.has_work() ? 1U : 0U, {}, false};
      case verb::size_approx: return {answer::done, queue_.size_approx(), {}, false};
      default: return {};
    }
  }

 private:
  chain batch(const operation& o) {
    chain c;
    for (const value v : run_of(o.first, o.n)) c.push_back(nodes_.fresh(v));
    return c;
  }
  arena<Atomics> nodes_;
  queue queue_;
};

template <class Atomics>
[[nodiscard]] candidate inject_candidate(const std::string& policy) {
  candidate c;
  c.name = "runq::inject with " + policy;
  c.capacity = unbounded;
  c.verbs = {verb::push,       verb::push_batch,      verb::push_front,  verb::pop,
             verb::take_batch, verb::has_work_approx, verb::size_approx, verb::has_work};
  c.expression = "runq::props::inject_candidate<" + policy + ">(\"" + policy + "\")";
  c.make = [](std::uint64_t, std::size_t) -> std::unique_ptr<subject> {
    return std::make_unique<inject_subject<Atomics>>();
  };
  c.code = [](std::uint64_t, std::size_t) {
    paste p;
    p.at_namespace_scope = task_code();
    p.setup = "  runq::inject<&task::link> queue;\n";
    p.cleanup = "  while (queue.take() != nullptr) {}\n";
    return p;
  };
  return c;
}

/// The candidates that the suites run on. They are templates, so that a program that does not call them does not
/// compile them.
template <class = void>
std::vector<candidate> inject_candidates() {
  return {inject_candidate<std_atomics>("runq::std_atomics")};
}
template <class = void>
std::vector<candidate> inject_candidates_on_threads() {
  return {inject_candidate<chaos_atomics>("runq::props::chaos_atomics")};
}

/// Two chains that exchange elements, against two deques. Returns what went wrong, or nothing; `steps` are numbers.
[[nodiscard]] inline std::string chain_disagrees(const std::vector<std::uint8_t>& steps) {
  using chain = inject_chain<&node<std_atomics>::link>;
  std::deque<node<std_atomics>> nodes;
  // When a chain turns out to be broken, it is not used any more.
  auto* const chains = new chain[2];
  std::deque<value> models[2];
  std::string wrong;
  for (const std::uint8_t s : steps) {
    const std::size_t a = s % 2U;
    const std::size_t b = 1U - a;
    const std::size_t n = (s / 16U) % 8U;
    switch ((s / 2U) % 8U) {
      case 0:
      case 1:
      case 2: {
        nodes.emplace_back().id = static_cast<value>(nodes.size());
        chains[a].push_back(&nodes.back());
        models[a].push_back(nodes.back().id);
        break;
      }
      case 3: {
        const node<std_atomics>* const got = chains[a].pop_front();
        const value want = models[a].empty() ? 0 : detail::cut_front(models[a], 1)[0];
        if ((got == nullptr ? 0 : got->id) != want) wrong = "pop_front() did not return the first element";
        break;
      }
      case 4:
        chains[a].splice(std::move(chains[b]));
        models[a].insert(models[a].end(), models[b].begin(), models[b].end());
        models[b].clear();
        break;
      case 5: {
        // The front of `a` is put behind `b`.
        chains[b].splice(chains[a].cut_front(n));
        const values front = detail::cut_front(models[a], std::min(n, models[a].size()));
        models[b].insert(models[b].end(), front.begin(), front.end());
        break;
      }
      case 6:
        chains[a].swap(chains[b]);
        models[a].swap(models[b]);
        break;
      default: {
        chain moved(std::move(chains[a]));
        if (!chains[a].empty()) wrong = "a chain that was moved from is not empty";
        chains[a] = std::move(moved);
        break;
      }
    }
    for (const std::size_t i : {a, b}) {
      if (chains[i].size() != models[i].size() || chains[i].empty() != models[i].empty()) wrong = "size() is wrong";
    }
    if (!wrong.empty()) return wrong;
  }
  for (std::size_t i = 0; i != 2; ++i) {
    while (const node<std_atomics>* const got = chains[i].pop_front()) {
      const bool right = !models[i].empty() && models[i].front() == got->id;
      if (!right && wrong.empty()) wrong = "the elements are not those of the list, in order";
      if (!models[i].empty()) models[i].pop_front();
    }
    if (!models[i].empty() && wrong.empty()) wrong = "elements are missing";
  }
  delete[] chains;
  return wrong;
}

}  // namespace runq::props
