// SPDX-License-Identifier: MIT
// Queues that count their pushes, for all_empty(): their specification, that of the queue with a count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fifo.hpp"
#include "history.hpp"
#include "operations.hpp"
#include "split_spec.hpp"

namespace runq::props {

/// The reference, made of the reference of the queue without a count. Each actor remembers what it observed of each
/// queue last; at first, that nothing was pushed.
template <class QueueSpec>
class with_count : public QueueSpec {
 public:
  with_count(const candidate& c, std::size_t queues)
      : QueueSpec(c, queues), pushes_(queues), seen_(queues, std::vector<seen>(queues)) {}

  outcome apply(const operation& o) {
    if (o.what == verb::push || o.what == verb::push_batch) ++pushes_[o.actor];
    if (o.what == verb::push_run) pushes_[o.actor] += o.n;
    if (o.what == verb::observe) {
      remember(o);
      return {answer::done, this->is_empty(o.victim) ? 1U : 0U, {}, false};
    }
    if (o.what == verb::pushed_since) {
      return {answer::done, seen_[o.actor][o.victim].pushes != pushes_[o.victim] ? 1U : 0U, {}, false};
    }
    return QueueSpec::apply(o);
  }

  /// While others are at work, only two answers promise something: that the queue was empty, and that nothing was
  /// pushed since it was. The other two may be due to a push that is on its way.
  progress step(const operation& o, unsigned phase, unsigned variant, const outcome& answered) {
    if (o.what == verb::observe) {
      remember(o);
      seen_[o.actor][o.victim].empty = answered.count != 0;
      return answered.count == 0 || this->is_empty(o.victim) ? progress::done : progress::illegal;
    }
    if (o.what == verb::pushed_since) {
      const seen& then = seen_[o.actor][o.victim];
      const bool says_no_rightly = !then.empty || then.pushes == pushes_[o.victim];
      return answered.count != 0 || says_no_rightly ? progress::done : progress::illegal;
    }
    const progress made = QueueSpec::step(o, phase, variant, answered);
    const bool pushes = o.what == verb::push || o.what == verb::push_batch;
    if (pushes && made == progress::done) ++pushes_[o.actor];
    return made;
  }

  void encode(std::vector<std::uint32_t>& key) const {
    QueueSpec::encode(key);
    for (const std::vector<seen>& of_actor : seen_) {
      for (const seen& s : of_actor) key.push_back(2 * s.pushes + (s.empty ? 1U : 0U));
    }
  }

  static operation tidy(operation o, const candidate& c, std::size_t queues) {
    o = QueueSpec::tidy(o, c, queues);
    if (o.what == verb::observe || o.what == verb::pushed_since) {
      o.victim = static_cast<std::uint8_t>((o.actor + o.m) % queues);
    }
    return o;
  }

  /// Thread 0 pushes and pops, the others steal, and ask.
  static std::vector<verb> concurrent_mix(std::size_t actor) {
    if (actor == 0) return {verb::push, verb::push, verb::push_batch, verb::pop};
    return {verb::observe, verb::steal, verb::pushed_since, verb::steal_out};
  }

  static std::string code(const operation& o, const outcome& want, const paste& words) {
    const std::string seen = "seen" + std::to_string(o.actor) + "_" + std::to_string(o.victim);
    const std::string queue = "owner" + std::to_string(o.victim);
    const std::string yes = want.count != 0 ? "true" : "false";
    if (o.what == verb::observe)
      return seen + " = " + queue + ".observe();\n  EXPECT_EQ(" + seen + ".empty(), " + yes + ");";
    if (o.what == verb::pushed_since) return "EXPECT_EQ(" + queue + ".pushed_since(" + seen + "), " + yes + ");";
    return QueueSpec::code(o, want, words);
  }

 private:
  struct seen {
    std::uint32_t pushes = 0;
    bool empty = false;
  };
  void remember(const operation& o) { seen_[o.actor][o.victim] = {pushes_[o.victim], this->is_empty(o.victim)}; }

  std::vector<std::uint32_t> pushes_;    // how many, of each queue
  std::vector<std::vector<seen>> seen_;  // by actor and queue
};

/// For a queue with one order for all threads.
struct counted_spec : with_count<fifo_spec> {
  static constexpr const char* type_name = "runq::props::counted_spec";
  using with_count::with_count;
};

/// For a split_ring: a bag, while other threads are at work.
struct counted_split_spec : with_count<split_spec> {
  static constexpr const char* type_name = "runq::props::counted_split_spec";
  using with_count::with_count;
};

}  // namespace runq::props
