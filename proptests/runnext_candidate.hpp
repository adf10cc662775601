// SPDX-License-Identifier: MIT
// runq::basic_runnext as a candidate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chaos_atomics.hpp"
#include "fifo.hpp"
#include "operations.hpp"
#include "runq/runnext.hpp"
#include "slot_spec.hpp"

namespace runq::props {

template <class Slot>
class slot_subject final : public subject {
 public:
  static constexpr bool has_a_hint = requires(const typename Slot::thief& t) { t.has_work_approx(); };

  slot_subject() : owner_(slot_.make_owner()), thief_(slot_.make_thief()) {}

  outcome apply(const operation& o) override {
    switch (o.what) {
      case verb::push_next: return put(owner_.put(o.first));
      case verb::pop: {
        const std::optional<value> v = owner_.take();
        return v ? outcome{answer::done, 1, {*v}, false} : outcome{answer::empty, 0, {}, false};
      }
      case verb::steal_next: {
        const auto r = thief_.steal(o.n);
        return outcome_of(r, r.value);
      }
      case verb::has_work: return {answer::done, thief_.has_work() ? 1U : 0U, {}, false};
      case verb::has_work_approx:
        if constexpr (has_a_hint) return {answer::done, thief_.has_work_approx() ? 1U : 0U, {}, false};
        return {};
      case verb::hand_over: {
        auto moved = std::move(owner_);
        owner_ = std::move(moved);
        return {};
      }
      default: return {};
    }
  }
  void rebind() override { owner_.rebind(); }

 private:
  static outcome put(const std::optional<value>& displaced) {
    return displaced ? outcome{answer::done, 1, {*displaced}, false} : outcome{};
  }
  Slot slot_;
  typename Slot::owner owner_;
  typename Slot::thief thief_;
};

/// A candidate of a class like basic_runnext: make_owner() with put, take and rebind, make_thief() with steal,
/// has_work and, possibly, has_work_approx.
template <class Slot>
[[nodiscard]] candidate slot_candidate(const std::string& type_name) {
  candidate c;
  c.name = type_name;
  c.capacity = 1;
  c.verbs = {verb::push_next, verb::pop, verb::steal_next, verb::has_work, verb::hand_over};
  if constexpr (slot_subject<Slot>::has_a_hint) c.verbs.push_back(verb::has_work_approx);
  c.expression = "runq::props::slot_candidate<" + type_name + ">(\"" + type_name + "\")";
  c.make = [](std::uint64_t, std::size_t) -> std::unique_ptr<subject> {
    return std::make_unique<slot_subject<Slot>>();
  };
  c.code = [type_name](std::uint64_t, std::size_t) {
    paste p;
    p.setup = "  " + type_name + " slot;\n  [[maybe_unused]] auto owner0 = slot.make_owner();\n";
    return p;
  };
  return c;
}

/// The candidates that the suites run on. They are templates, so that a program that does not call them does not
/// compile them.
template <class = void>
std::vector<candidate> runnext_candidates() {
  return {slot_candidate<basic_runnext<value>>("runq::basic_runnext<std::uint32_t>")};
}
template <class = void>
std::vector<candidate> runnext_candidates_on_threads() {
  return {slot_candidate<basic_runnext<value, chaos_atomics>>(
      "runq::basic_runnext<std::uint32_t, runq::props::chaos_atomics>")};
}

}  // namespace runq::props
