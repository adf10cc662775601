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
/// Whether plain reads are among the values of an outcome, as enumerate_all() has it.
inline bool outcomes_have_plain_reads = false;

class program_scenario final : public scenario {
 public:
  program_scenario() {
    // Only for programs with plain variables: memory would add an event to every other program.
    has_plain_ = has(*current_program, is_plain);
    for (unsigned v = 0; v != max_plain; ++v) {
      freed_[v] = true;
      if (has_plain_ && !is_allocated(v)) allocate(v);
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
      case action::plain_read:
        if (const unsigned value = plain_[i.variable]->get(); outcomes_have_plain_reads) note(thread, value);
        return;
      case action::plain_write: return plain_[i.variable]->set(operand);
      case action::release: return release(i.variable);
      case action::allocate: return allocate(i.variable);
      case action::wait: return condition_.wait(mutex_);
      case action::notify_all: return condition_.notify_all();
      case action::notify_one:
      case action::start:
      case action::join: require(false, "not in a scenario"); break;
      case action::try_lock: last = mutex_.try_lock() ? 1 : 0; break;
      case action::add_local: last = local_[thread] += i.operand; break;
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
    note(thread, last);
  }

  void note(unsigned thread, unsigned value) { read_[thread][read_count_[thread]++] = value; }

  /// By a thread.
  static bool is_allocated(unsigned v) {
    for (const thread_code& code : *current_program) {
      for (const instruction& i : code) {
        if (i.what == action::allocate && i.variable == v) return true;
      }
    }
    return false;
  }
  void allocate(unsigned v) {
    plain_[v] = ::new (current_engine().allocate(sizeof(cell<unsigned>), {})) cell<unsigned>(0);
    freed_[v] = false;
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
  condition_variable condition_;
  std::array<unsigned, max_threads> local_{};
  std::array<cell<unsigned>*, max_plain> plain_{};
  std::array<bool, max_plain> freed_{};
  bool has_plain_ = false;
  std::array<variable, max_variables> variables_;
  std::array<std::array<unsigned, 16>, max_threads> read_{};
  std::array<unsigned, max_threads> read_count_{};
};

}  // namespace runq::model::selftest
