// SPDX-License-Identifier: MIT
// The runtime side of <runq/history.hpp>: records calls with the moments of the graph, and judges them.
#include "runq/history.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "hook.hpp"
#include "judged_calls.hpp"
#include "order_search.hpp"
#include "session.hpp"

namespace runq::model::compiled {

namespace {

/// A call of a history. What the specification needs to make it again is the program's business.
struct recorded_call {
  const void* history;
  moment began;
  moment ended{};
  bool has_ended = false;
  std::string call{};
  call_text text{};
};

/// All calls of the running execution. The checker's own memory: executions do not put it back.
class recorded_calls {
 public:
  /// Forgets the calls of another object that was at the same address.
  void begin(const void* history) {
    for (recorded_call& c : all()) {
      if (c.history == history) c.history = nullptr;
    }
    std::erase(judged_, history);
  }
  [[nodiscard]] std::vector<recorded_call>& all() {
    const std::uint64_t execution = current_session().progress().executions;
    if (std::exchange(execution_, execution) != execution) {
      calls_.clear();
      judged_.clear();
    }
    return calls_;
  }
  void note_judged(const void* history) { judged_.push_back(history); }
  [[nodiscard]] bool is_judged(const void* history) {
    static_cast<void>(all());
    return std::find(judged_.begin(), judged_.end(), history) != judged_.end();
  }

 private:
  std::uint64_t execution_ = 0;
  std::vector<recorded_call> calls_;
  std::vector<const void*> judged_;
};
recorded_calls calls;

/// A state of the program's specification.
class spec_state {
 public:
  explicit spec_state(const runq_check_specification& by) : by_(&by), state_(by.begin()) {}
  spec_state(const spec_state& other) : by_(other.by_), state_(by_->copy(other.state_)) {}
  spec_state& operator=(const spec_state& other) {
    void* const old = std::exchange(state_, by_->copy(other.state_));
    by_->destroy(old);
    return *this;
  }
  ~spec_state() { by_->destroy(state_); }

  [[nodiscard]] bool step(const recorded_call& c, unsigned variant) {
    return by_->step(state_, c.call.data(), static_cast<unsigned>(c.began.thread), variant, &last_);
  }
  /// What the last step has done.
  [[nodiscard]] const runq_check_step& last() const noexcept { return last_; }

 private:
  const runq_check_specification* by_;
  void* state_;
  runq_check_step last_{1, false, false};
};

/// How the search for an order plays the calls (order_search.hpp).
struct played {
  const std::vector<const recorded_call*>* calls;

  [[nodiscard]] unsigned variants(const spec_state& state, std::size_t i) const {
    spec_state copy = state;
    static_cast<void>(copy.step(*(*calls)[i], 0));
    return copy.last().variants;
  }
  [[nodiscard]] model::progress step(spec_state& state, std::size_t i, unsigned, unsigned variant) const {
    return state.step(*(*calls)[i], variant) ? model::progress::done : model::progress::illegal;
  }
  [[nodiscard]] static bool has_lost(const spec_state& state) { return state.last().has_lost; }
  [[nodiscard]] static bool has_changed(const spec_state& state) { return state.last().has_changed; }
};
using search_for_order = order_search<played, max_judged_calls>;

/// Calls keep their order if there was a moment between them at which every call had ended or not begun: the calls that
/// had ended by then are closed under "did not happen before".
void keep_only_quiescent(search_for_order& s) {
  const auto before = s.predecessors;
  for (std::size_t i = 0; i != s.count; ++i) {
    std::uint64_t closed = std::uint64_t{1} << i;
    for (bool grows = true; grows;) {
      grows = false;
      for (std::size_t out = 0; out != s.count; ++out) {
        if ((closed >> out & 1) != 0 || (closed & ~before[out]) == 0) continue;
        closed |= std::uint64_t{1} << out;
        grows = true;
      }
    }
    for (std::size_t out = 0; out != s.count; ++out) {
      if ((closed >> out & 1) == 0) s.predecessors[out] |= std::uint64_t{1} << i;
      if ((closed >> out & 1) != 0) s.predecessors[out] &= ~(std::uint64_t{1} << i);
    }
  }
}

[[nodiscard]] search_for_order search_of(const std::vector<const recorded_call*>& all, bool quiescent) {
  search_for_order s{{&all}, all.size()};
  const exact::search& graph = *current_session().search();
  for (std::size_t i = 0; i != all.size(); ++i) {
    for (std::size_t j = 0; j != all.size(); ++j) {
      // A thread makes its calls in the order in which they were recorded, also those that make no step.
      const bool is_before =
          all[i]->began.thread == all[j]->began.thread ? j < i : graph.happened_before(all[j]->ended, all[i]->began);
      if (is_before) s.predecessors[i] |= std::uint64_t{1} << j;
    }
  }
  if (quiescent) keep_only_quiescent(s);
  return s;
}

/// What the verdict depends on: histories that are equal in it are judged once.
[[nodiscard]] std::string essence_of(const std::vector<const recorded_call*>& all, const search_for_order& s,
                                     const runq_check_specification* by) {
  std::string text;
  const auto add = [&text](const auto& value) { text.append(reinterpret_cast<const char*>(&value), sizeof value); };
  add(by);
  for (std::size_t i = 0; i != all.size(); ++i) {
    add(all[i]->began.thread);
    add(s.predecessors[i]);
    add(all[i]->call.size());
    text += all[i]->call;
  }
  return text;
}

void tell(const std::vector<const recorded_call*>& all, const search_for_order& s, const spec_state& initial) {
  judged_history& to = history_that_fails();
  to.count = all.size();
  for (std::size_t i = 0; i != all.size(); ++i) {
    to.calls[i] = {all[i]->began, all[i]->ended, s.predecessors[i], all[i]->text};
  }
  blame(initial, s, to);
}

void judge(const void* history, const runq_check_specification& by, bool quiescent, const void* code) {
  static std::set<std::string> explained;
  session& s = current_session();
  std::vector<const recorded_call*> all;
  for (const recorded_call& c : calls.all()) {
    if (c.history != history) continue;
    if (!c.has_ended) {
      s.code().fail(failure::misuse,
                    "a history is judged while a call is under way: join the threads that make calls before", code);
    }
    all.push_back(&c);
  }
  calls.note_judged(history);
  if (all.size() > max_judged_calls) {
    s.code().give_up(
        fmt::format("limit reached: {} calls in a history; at most {} are judged", all.size(), max_judged_calls), code);
  }
  const search_for_order order = search_of(all, quiescent);
  std::string essence = essence_of(all, order, &by);
  if (explained.count(essence) != 0) return;
  this_process.judging = true;
  const bool has_order = order.explains_from(spec_state(by));
  if (!has_order) tell(all, order, spec_state(by));
  this_process.judging = false;
  if (has_order) {
    explained.insert(std::move(essence));
    return;
  }
  s.code().fail(failure::not_linearizable,
                fmt::format("no sequential order explains what the calls returned{}",
                            quiescent ? ", also if calls keep their order only across quiet moments" : ""),
                code);
}

}  // namespace

}  // namespace runq::model::compiled

using namespace runq::model::compiled;  // NOLINT(google-build-using-namespace): the functions below have C's names

RUNQ_HOOK void runq_check_history_begin(const void* history) noexcept {
  if (!this_process.in_program) return;
  const checker_scope scope;
  calls.begin(history);
}

RUNQ_HOOK std::uint64_t runq_check_call_begin(const void* history, bool is_lock_free) noexcept {
  if (!this_process.in_program) return 0;
  const checker_scope scope;
  session& s = current_session();
  if (calls.is_judged(history)) {
    s.code().fail(runq::model::failure::misuse,
                  "a call is made after its history was judged: join the threads that make calls before",
                  __builtin_return_address(0));
  }
  calls.all().push_back({history, s.search()->now()});
  s.threads().begin_call(is_lock_free);
  return calls.all().size() - 1;
}

RUNQ_HOOK void runq_check_call_end(std::uint64_t number, const void* call, std::size_t size, const char* text,
                                   std::size_t text_size) noexcept {
  current_session().threads().end_call();
  recorded_call& c = calls.all()[number];
  c.ended = current_session().search()->now();
  c.has_ended = true;
  c.call.assign(static_cast<const char*>(call), size);
  c.text = runq::model::call_text(std::string_view(text, text_size));
}

RUNQ_HOOK void runq_check_judge(const void* history, const runq_check_specification* by, bool quiescent) noexcept {
  if (!this_process.in_program) return;
  const void* const code = __builtin_return_address(0);
  const checker_scope scope;
  judge(history, *by, quiescent, code);
}

RUNQ_HOOK void runq_check_let_one_stop(unsigned threads) noexcept {
  if (!this_process.in_program) return;
  const void* const code = __builtin_return_address(0);
  const checker_scope scope;
  current_session().threads().let_one_stop(threads, code);
}

RUNQ_HOOK bool runq_check_pause() noexcept { return std::exchange(this_process.in_program, false); }
RUNQ_HOOK void runq_check_resume(bool was_checked) noexcept { this_process.in_program = was_checked; }
