// SPDX-License-Identifier: MIT
// A generated program as the front end runs one: a main thread, which starts the others and waits for them; variables
// are found when they are first used.
#pragma once

#include <array>
#include <set>
#include <string>

#include "../program.hpp"
#include "exact_search.hpp"

namespace runq::model::selftest {

class executed_program final : public exact::program {
 public:
  explicit executed_program(const selftest::program& p)
      : program_(p), has_main_(has(p, [](action a) { return a == action::start; })) {}
  void run_by(exact::search& s) noexcept { search_ = &s; }
  std::set<std::string> outcomes;

  void begin_execution() override {
    local_ = {};
    read_ = {};
    read_count_ = {};
  }
  void run(unsigned thread) override {
    if (has_main_ || thread != 1) return run_code(thread - (has_main_ ? 1 : 2));
    for (unsigned t = 0; t != program_.size(); ++t) search_->spawn(t + 2, {});
    for (unsigned t = 0; t != program_.size(); ++t) search_->join(t + 2, {});
  }
  void enter(unsigned) noexcept override {}
  void leave() noexcept override {}
  void end_execution() override {
    std::string text;
    for (unsigned t = 0; t != program_.size(); ++t) {
      for (unsigned i = 0; i != read_count_[t]; ++i) {
        text += std::to_string(t) + ":" + std::to_string(read_[t][i]) + " ";
      }
    }
    for (unsigned v = 0; v != max_variables; ++v) text += std::to_string(last_value(v)) + ";";
    outcomes.insert(text);
  }
  [[nodiscard]] bool may_stop(unsigned) const override { return false; }
  [[nodiscard]] bool claims_to_finish(unsigned) const override { return false; }
  [[nodiscard]] std::string name_of_variable(unsigned) override { return {}; }

 private:
  static constexpr unsigned lock_number = max_variables;

  [[nodiscard]] std::uint64_t last_value(unsigned v) const {
    const exact::graph& g = search_->current_graph();
    if (v >= g.size(exact::constructing)) return 0;
    return g.at(g.at(exact::constructing, v).newest).value;
  }
  /// So that variable n is event n of the construction, all before it are found, too.
  [[nodiscard]] location variable(unsigned number) {
    location at;
    for (unsigned v = 0; v <= number; ++v) at = search_->find_variable(v, 0xffffffff, 0, {});
    return at;
  }

  void run_code(unsigned index) {
    unsigned last = 0;
    for (const instruction& i : program_[index]) {
      if (i.guarded && last % 2 == 0) continue;
      run(index, i, last);
    }
  }
  void run(unsigned index, const instruction& i, unsigned& last) {
    if (i.what == action::fence) return search_->fence(i.order, {});
    if (i.what == action::start) return search_->spawn(i.variable + 1, {});
    if (i.what == action::join) return search_->join(i.variable + 1, {});
    if (i.what == action::add_local) return note(index, last = local_[index] += i.operand);
    const bool is_mutex = i.what == action::lock || i.what == action::unlock || i.what == action::try_lock;
    location at = variable(is_mutex ? lock_number : i.variable);
    if (i.what == action::lock) return search_->mutex_lock(at, {});
    if (i.what == action::unlock) return search_->mutex_unlock(at, {});
    const std::uint64_t operand = i.operand + (i.adds_last_read ? last : 0);
    if (i.what == action::store) return search_->store(at, operand, i.order, {});
    note(index, last = static_cast<unsigned>(read(at, i, operand)));
  }

  std::uint64_t read(location at, const instruction& i, std::uint64_t operand) {
    std::uint64_t expected = i.expected;
    switch (i.what) {
      case action::load: return search_->load(at, i.order, {});
      case action::add: return search_->rmw(at, rmw_op::add, operand, i.order, {});
      case action::exchange: return search_->rmw(at, rmw_op::exchange, operand, i.order, {});
      case action::try_lock: return search_->mutex_try_lock(at, {}) ? 1 : 0;
      case action::wait_load:
        search_->await_begin();
        if (const std::uint64_t value = search_->load(at, i.order, {}); value == i.expected) return value;
        break;
      case action::wait_compare:
        search_->await_begin();
        if (search_->compare_exchange(at, expected, operand, false, i.order, i.failure_order, {})) return expected;
        break;
      default:
        search_->compare_exchange(at, expected, operand, i.what == action::weak_exchange, i.order, i.failure_order, {});
        return expected;
    }
    search_->await_failed({});
    return read(at, i, operand);
  }
  void note(unsigned index, unsigned value) { read_[index][read_count_[index]++] = value; }

  const selftest::program& program_;
  bool has_main_;
  exact::search* search_ = nullptr;
  std::array<unsigned, max_threads> local_{};
  std::array<std::array<unsigned, 16>, max_threads> read_{};
  std::array<unsigned, max_threads> read_count_{};
};

}  // namespace runq::model::selftest
