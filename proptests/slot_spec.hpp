// SPDX-License-Identifier: MIT
// A one-slot queue with one owner and many thieves: what it is supposed to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "fifo.hpp"
#include "history.hpp"
#include "operations.hpp"

namespace runq::props {

/// The reference. Actor 0 is the owner; `push_next` returns in `taken` what it displaced.
class slot_spec {
 public:
  using operation = props::operation;
  using response = outcome;
  static constexpr const char* type_name = "runq::props::slot_spec";
  static constexpr std::size_t how_many = 2;

  slot_spec(const candidate&, std::size_t actors) : seen_(actors) {}

  [[nodiscard]] static std::size_t fresh_values(const operation& o) { return o.what == verb::push_next ? 1 : 0; }
  static values entered(const operation& o, const outcome&) { return run_of(o.first, fresh_values(o)); }
  static operation prefill(value v) { return {verb::push_next, 0, 0, 0, 0, v}; }
  static std::vector<operation> emptying(std::size_t) { return {{verb::pop, 0, 0, 0, 0, 0}}; }

  static operation tidy(operation o, const candidate&, std::size_t) {
    if (o.what == verb::push_next || o.what == verb::pop || o.what == verb::hand_over) o.actor = 0;
    o.victim = 0;
    return o;
  }
  static std::vector<verb> concurrent_mix(std::size_t actor) {
    if (actor == 0) return {verb::push_next, verb::push_next, verb::pop};
    return {verb::steal_next, verb::steal_next, verb::has_work_approx, verb::has_work};
  }

  outcome apply(const operation& o) {
    switch (o.what) {
      case verb::push_next: {
        const value displaced = std::exchange(slot_, o.first);
        ++changes_;
        return displaced == 0 ? outcome{} : outcome{answer::done, 1, {displaced}, false};
      }
      case verb::pop:
      case verb::steal_next: {
        if (slot_ == 0) return {answer::empty, 0, {}, false};
        ++changes_;
        return {answer::done, 1, {std::exchange(slot_, 0)}, false};
      }
      case verb::has_work_approx:
      case verb::has_work: return {answer::done, slot_ == 0 ? 0U : 1U, {}, false};
      default: return {};
    }
  }

  [[nodiscard]] unsigned variants(const operation&, const outcome&) const { return 1; }

  progress step(const operation& o, unsigned phase, unsigned, const outcome& seen) {
    if (o.what == verb::steal_next && seen.what == answer::lost) {
      // The thief saw an element, and later another value.
      if (phase == 0) {
        seen_[o.actor] = changes_;
        return slot_ != 0 ? progress::more : progress::illegal;
      }
      return std::exchange(seen_[o.actor], 0) != changes_ ? progress::done : progress::illegal;
    }
    return apply(o) == seen ? progress::done : progress::illegal;
  }

  void encode(std::vector<std::uint32_t>& key) const {
    key.push_back(slot_);
    key.push_back(changes_);
    key.insert(key.end(), seen_.begin(), seen_.end());
  }

  static std::string code(const operation& o, const outcome& want, const paste&) {
    std::ostringstream s;
    const auto maybe = [&](const std::string& call) {
      s << "EXPECT_EQ(" << call << ", ";
      if (want.taken.empty()) {
        s << "std::nullopt);";
      } else {
        s << "std::optional<std::uint32_t>(" << want.taken[0] << "));";
      }
    };
    switch (o.what) {
      case verb::push_next: maybe("owner0.put(" + std::to_string(o.first) + ")"); break;
      case verb::pop: maybe("owner0.take()"); break;
      case verb::steal_next:
        s << "{\n    const auto r = slot.make_thief().steal(" << o.n << ");\n    EXPECT_EQ(r.status, "
          << status_code(want.what) << ");\n";
        if (want.what == answer::done) {
          s << "    EXPECT_EQ(r.value, " << want.taken[0] << "U);\n    EXPECT_EQ(r.count, 1U);\n";
        }
        s << "  }";
        break;
      case verb::has_work_approx:
      case verb::has_work:
        s << "EXPECT_EQ(slot.make_thief()." << name_of(o.what) << "(), " << (want.count != 0 ? "true" : "false")
          << ");";
        break;
      case verb::hand_over: s << "{\n    auto moved = std::move(owner0);\n    owner0 = std::move(moved);\n  }"; break;
      default: break;
    }
    return s.str();
  }

 private:
  value slot_ = 0;
  std::uint32_t changes_ = 1;
  std::vector<std::uint32_t> seen_;  // per actor, what a steal that will be lost saw
};

}  // namespace runq::props
