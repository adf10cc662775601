// SPDX-License-Identifier: MIT
// runq::basic_shared_fifo as a candidate: the laws are those of inject, without what only a chain can do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chaos_atomics.hpp"
#include "operations.hpp"
#include "runq/shared_fifo.hpp"
#include "shared_spec.hpp"

namespace runq::props {

/// A queue of T{value}: T is an integer, or larger than any atomic.
template <class Queue>
class shared_fifo_subject final : public subject {
  using element = typename Queue::value_type;

 public:
  shared_fifo_subject() = default;
  ~shared_fifo_subject() override {
    while (queue_.take()) continue;
  }

  outcome apply(const operation& o) override {
    switch (o.what) {
      case verb::push: return to_outcome(queue_.put(element{o.first}));
      case verb::push_batch: {
        std::vector<element> batch;
        for (const value v : run_of(o.first, o.n)) batch.push_back(element{v});
        return to_outcome(queue_.put_batch(batch));
      }
      case verb::pop: {
        const std::optional<element> e = queue_.take();
        return e ? outcome{answer::done, 1, {value_of(*e)}, false} : outcome{answer::empty, 0, {}, false};
      }
      case verb::take_batch: {
        std::vector<element> room(o.m);
        outcome r;
        r.count = queue_.take_batch(o.n, room);
        for (std::size_t i = 0; i != r.count; ++i) r.taken.push_back(value_of(room[i]));
        return r;
      }
      case verb::has_work_approx: return {answer::done, queue_.has_work_approx() ? 1U : 0U, {}, false};
      case verb::has_work: return {answer::done, queue_.has_work() ? 1U : 0U, {}, false};
      case verb::size_approx: return {answer::done, queue_.size_approx(), {}, false};
      default: return {};
    }
  }

 private:
  // No law allows the answer that there is no memory.
  static outcome to_outcome(bool put) { return put ? outcome{} : outcome{answer::lost, 0, {}, false}; }
  static value value_of(const element& e) {
    if constexpr (requires { e.first; }) {
      return e.first;
    } else {
      return e;
    }
  }
  Queue queue_;
};

/// Declarations for a pasted test: shared_fifo with the names of inject's operations, which the specification prints.
inline std::string shared_fifo_code() {
  return "namespace {\n"
         "struct task {};\n"
         "using tasks = std::vector<task*>;\n"
         "std::vector<task> t(65536);\n"
         "[[maybe_unused]] tasks batch(std::size_t first, std::size_t n) {\n  tasks some;\n"
         "  for (std::size_t i = 0; i != n; ++i) some.push_back(&t[first + i]);\n  return some;\n}\n"
         "[[maybe_unused]] std::vector<std::size_t> ids(const tasks& some) {\n  std::vector<std::size_t> v;\n"
         "  for (task* e : some) v.push_back(static_cast<std::size_t>(e - t.data()));\n  return v;\n}\n"
         "struct fifo : runq::shared_fifo<task*> {\n"
         "  void put(task* e) { EXPECT_TRUE(basic_shared_fifo::put(e)); }\n"
         "  void splice(const tasks& some) { EXPECT_TRUE(put_batch(some)); }\n"
         "  task* take() { return basic_shared_fifo::take().value_or(nullptr); }\n"
         "  tasks take_batch(std::size_t procs, std::size_t max) {\n"
         "    tasks room(max);\n    room.resize(basic_shared_fifo::take_batch(procs, room));\n    return room;\n  }\n"
         "};\n"
         "}  // namespace\n";
}

/// A value of 24 bytes.
struct wide_value {
  value first = 0;
  std::uint64_t rest[2] = {};
};

template <class Queue>
[[nodiscard]] candidate shared_fifo_candidate(const std::string& type_name) {
  candidate c;
  c.name = type_name;
  c.capacity = unbounded;
  c.verbs = {verb::push,        verb::push_batch, verb::pop, verb::take_batch, verb::has_work_approx,
             verb::size_approx, verb::has_work};
  c.expression = "runq::props::shared_fifo_candidate<" + type_name + ">(\"" + type_name + "\")";
  c.make = [](std::uint64_t, std::size_t) -> std::unique_ptr<subject> {
    return std::make_unique<shared_fifo_subject<Queue>>();
  };
  c.code = [](std::uint64_t, std::size_t) {
    paste p;
    p.at_namespace_scope = shared_fifo_code();
    p.setup = "  fifo queue;\n";
    p.cleanup = "  while (queue.take() != nullptr) {}\n";
    return p;
  };
  return c;
}

/// The candidates that the suites run on: segments of the size that ships, and of one value and two. They are
/// templates, so that a program that does not call them does not compile them.
template <class = void>
std::vector<candidate> shared_fifo_candidates() {
  return {
      shared_fifo_candidate<shared_fifo<value>>("runq::shared_fifo<std::uint32_t>"),
      shared_fifo_candidate<basic_shared_fifo<value, std_atomics, 1>>(
          "runq::basic_shared_fifo<std::uint32_t, runq::std_atomics, 1>"),
      shared_fifo_candidate<basic_shared_fifo<wide_value, std_atomics, 2>>(
          "runq::basic_shared_fifo<runq::props::wide_value, runq::std_atomics, 2>"),
  };
}
template <class = void>
std::vector<candidate> shared_fifo_candidates_on_threads() {
  return {shared_fifo_candidate<basic_shared_fifo<value, chaos_atomics, 2>>(
      "runq::basic_shared_fifo<std::uint32_t, runq::props::chaos_atomics, 2>")};
}

}  // namespace runq::props
