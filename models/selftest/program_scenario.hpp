// SPDX-License-Identifier: MIT
// A random program as a scenario.
#pragma once

#include <array>
#include <set>
#include <string>

#include "atomics.hpp"
#include "program.hpp"
#include "scenario.hpp"
#include "waiting.hpp"

namespace runq::model::selftest {

inline const program* current_program = nullptr;
/// The engine runs finish() once per graph.
inline std::set<std::string> program_outcomes;

class program_scenario final : public scenario {
 public:
  program_scenario() {
    // Only for programs with plain variables: memory would add an event to every other program.
    has_plain_ = has(*current_program, is_plain);
    for (unsigned v = 0; v != max_plain; ++v) {
      freed_[v] = !has_plain_;
      if (has_plain_) plain_[v] = ::new (current_engine().allocate(sizeof(cell<unsigned>), {})) cell<unsigned>(0);
    }
  }
  void thread(unsigned index) override {
    unsigned last = 0;
    for (const instruction& i : (*current_program)[index]) {
      if (i.guarded && last % 2 == 0) continue;
      run(index, i, last);
    }
  }

  void finish() override {
    std::string text;
    for (unsigned t = 0; t != current_program->size(); ++t) {
      for (unsigned i = 0; i != read_count_[t]; ++i) {
        text += std::to_string(t) + ":" + std::to_string(read_[t][i]) + " ";
      }
    }
    for (unsigned v = 0; v != max_plain; ++v) {
      if (!freed_[v]) release(v);
    }
    for (auto& v : variables_) text += std::to_string(v.value.load(std::memory_order::relaxed)) + ";";
    program_outcomes.insert(text);
  }

 private:
  void run(unsigned thread, const instruction& i, unsigned& last) {
    atomic<unsigned>& v = variables_[i.variable].value;
    const unsigned operand = i.operand + (i.adds_last_read ? last : 0);
    switch (i.what) {
      case action::fence: return atomics::fence(i.order);
      case action::store: return v.store(operand, i.order);
      case action::load: last = v.load(i.order); break;
      case action::lock: return mutex_.lock();
      case action::unlock: return mutex_.unlock();
      case action::plain_read: return static_cast<void>(plain_[i.variable]->get());
      case action::plain_write: return plain_[i.variable]->set(operand);
      case action::release: return release(i.variable);
      case action::wait_load: await([&] { return (last = v.load(i.order)) == i.expected; }); break;
      case action::wait_compare:
        await([&] { return v.compare_exchange_strong(last = i.expected, operand, i.order, i.failure_order); });
        break;
      case action::wait_exchange: require(false, "the condition of an await has no effect"); break;
      case action::add: last = v.fetch_add(operand, i.order); break;
      case action::exchange: last = v.exchange(operand, i.order); break;
      case action::compare_exchange:
        last = i.expected;
        v.compare_exchange_strong(last, operand, i.order, i.failure_order);
        break;
      case action::weak_exchange:
        last = i.expected;
        v.compare_exchange_weak(last, operand, i.order, i.failure_order);
        break;
    }
    read_[thread][read_count_[thread]++] = last;
  }

  void release(unsigned v) {
    freed_[v] = true;
    plain_[v]->~cell();
    current_engine().deallocate(plain_[v], {});
  }

  struct variable {
    atomic<unsigned> value{0};
  };
  mutex mutex_;
  std::array<cell<unsigned>*, max_plain> plain_{};
  std::array<bool, max_plain> freed_{};
  bool has_plain_ = false;
  std::array<variable, max_variables> variables_;
  std::array<std::array<unsigned, 16>, max_threads> read_{};
  std::array<unsigned, max_threads> read_count_{};
};

}  // namespace runq::model::selftest
