// SPDX-License-Identifier: MIT
// A queue shared by all, with batches: what it is supposed to do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "fifo.hpp"
#include "history.hpp"
#include "operations.hpp"

namespace runq::props {

/// The reference: every call is one step, by any actor. `pop` is take().
class shared_spec {
 public:
  using operation = props::operation;
  using response = outcome;
  static constexpr const char* type_name = "runq::props::shared_spec";
  static constexpr std::size_t how_many = 2;
  static constexpr std::size_t max_batch = 128;

  shared_spec(const candidate&, std::size_t) {}

  [[nodiscard]] static std::size_t fresh_values(const operation& o) {
    switch (o.what) {
      case verb::push: return 1;
      case verb::push_batch:
      case verb::push_front: return o.n;
      default: return 0;
    }
  }
  static values entered(const operation& o, const outcome&) { return run_of(o.first, fresh_values(o)); }
  static operation prefill(value v) { return {verb::push, 0, 0, 0, 0, v}; }
  static std::vector<operation> emptying(std::size_t) { return {{verb::pop, 0, 0, 0, 0, 0}}; }
  static operation tidy(operation o, const candidate&, std::size_t) {
    o.victim = o.actor;
    if (o.what == verb::take_batch) {
      o.n = std::max<std::uint16_t>(o.n, 1);
      if (o.m == 0) o.m = max_batch;
    }
    return o;
  }
  static std::vector<verb> concurrent_mix(std::size_t) {
    return {verb::push, verb::push_batch,      verb::pop,         verb::take_batch, verb::push_front,
            verb::pop,  verb::has_work_approx, verb::size_approx, verb::has_work};
  }

  /// A fair share for one of `procs`, at most `max`.
  static std::size_t share(std::size_t size, std::size_t procs, std::size_t max) {
    return std::min({size, size / procs + 1, max, max_batch});
  }

  outcome apply(const operation& o) {
    switch (o.what) {
      case verb::push:
      case verb::push_batch: {
        const values vs = run_of(o.first, fresh_values(o));
        items_.insert(items_.end(), vs.begin(), vs.end());
        return {};
      }
      case verb::push_front: {
        const values vs = run_of(o.first, o.n);
        items_.insert(items_.begin(), vs.begin(), vs.end());
        return {};
      }
      case verb::pop:
        if (items_.empty()) return {answer::empty, 0, {}, false};
        return {answer::done, 1, detail::cut_front(items_, 1), false};
      case verb::take_batch: {
        const std::size_t n = share(items_.size(), o.n, o.m);
        return {answer::done, n, detail::cut_front(items_, n), false};
      }
      case verb::has_work_approx:
      case verb::has_work: return {answer::done, items_.empty() ? 0U : 1U, {}, false};
      case verb::size_approx: return {answer::done, items_.size(), {}, false};
      default: return {};
    }
  }

  [[nodiscard]] unsigned variants(const operation&, const outcome&) const { return 1; }
  progress step(const operation& o, unsigned, unsigned, const outcome& seen) {
    if (!(apply(o) == seen)) return progress::illegal;
    return fresh_values(o) == 0 || can_still_leave() ? progress::done : progress::illegal;
  }
  void encode(std::vector<std::uint32_t>& key) const { detail::encode_queue(key, items_); }

  /// Tells the specification of a concurrent run which thread took what and when. It changes no verdict: it lets the
  /// search give up early on an order in which x waits before y although the call that took y responded before the one
  /// that took x was invoked; whatever follows, such an order cannot be completed, because elements leave at the front
  /// only.
  void learn(const history<shared_spec>& calls) {
    auto known = std::make_shared<std::unordered_map<value, span_of_time>>();
    for (const auto& thread : calls) {
      for (const auto& e : thread) {
        for (const value v : e.seen.taken) known->insert({v, {e.invoked, e.responded}});
      }
    }
    leaves_ = std::move(known);
  }

  static std::string code(const operation& o, const outcome& want, const paste&) {
    std::ostringstream s;
    const std::string batch = "batch(" + std::to_string(o.first) + ", " + std::to_string(o.n) + ")";
    switch (o.what) {
      case verb::push: s << "queue.put(&t[" << o.first << "]);"; break;
      case verb::push_batch: s << "queue.splice(" << batch << ");"; break;
      case verb::push_front: s << "queue.splice_front(" << batch << ");"; break;
      case verb::pop:
        s << "EXPECT_EQ(queue.take(), ";
        if (want.taken.empty()) {
          s << "nullptr);";
        } else {
          s << "&t[" << want.taken[0] << "]);";
        }
        break;
      case verb::take_batch:
        s << "EXPECT_EQ(ids(queue.take_batch(" << o.n << ", " << o.m << ")), (std::vector<std::size_t>"
          << braces(want.taken) << "));";
        break;
      case verb::has_work_approx:
      case verb::has_work:
        s << "EXPECT_EQ(queue." << name_of(o.what) << "(), " << (want.count != 0 ? "true" : "false") << ");";
        break;
      case verb::size_approx: s << "EXPECT_EQ(queue.size_approx(), " << want.count << "U);"; break;
      default: break;
    }
    return s.str();
  }

 private:
  struct span_of_time {
    std::uint64_t invoked, responded;
  };

  [[nodiscard]] bool can_still_leave() const {
    if (leaves_ == nullptr) return true;
    std::uint64_t earliest = 0;
    for (const value v : items_) {
      const auto taken = leaves_->find(v);
      if (taken == leaves_->end()) continue;
      if (taken->second.responded < earliest) return false;
      earliest = std::max(earliest, taken->second.invoked);
    }
    return true;
  }

  std::deque<value> items_;
  std::shared_ptr<const std::unordered_map<value, span_of_time>> leaves_;
};

}  // namespace runq::props
