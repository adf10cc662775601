// SPDX-License-Identifier: MIT
// Histories of real threads, and the check whether a history is linearizable. It uses the search of the models
// (models/check/wing_gong.hpp), and remembers the configurations that it has tried.
//
// A specification is a copyable class that plays the queue one *step* at a time:
//
//   using operation = …; using response = …;
//   unsigned variants(operation, response)      ways in which the call may have come about, at least 1
//   progress step(operation, unsigned phase, unsigned variant, response)
//                                               one atomic step; returns illegal, more, or done
//   void encode(std::vector<std::uint32_t>&)    all of its state, so that the search can remember it
//
// Most calls are one step. A call that is not atomic by contract has several, and steps of other threads may come in
// between: a steal of half is a look at the victim, a look at the room, one claim of many elements, and one publication
// in the thief's own queue.
//
// The rule for `empty`. A thief's "empty" is legal if and only if the queue was empty, in the sequential order that is
// being tried, at some step between the call's invocation and its response. The queues promise less: only that nothing
// that happened-before the call left an element behind. But here the two are the same, because the clock below is one
// atomic counter that every invocation and every response increments, so a call that responded before another was
// invoked happened-before it. The rule is as weak as the contract in one place: between two steps of one call (a task
// on its way from runnext to the ring, a stolen batch not yet published) elements are in no queue, and "empty" is then
// a true answer.
//
// The rule for `lost`. Legal if and only if another thread took something from that queue (or changed that slot)
// between two moments of the call. A queue that says "lost" for any other reason does not make progress.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "wing_gong.hpp"

namespace runq::props {

using model::progress;

/// One call: between the ticks `invoked` and `responded` it took effect.
template <class Spec>
struct event {
  typename Spec::operation what;
  typename Spec::response seen;
  std::uint64_t invoked = 0;
  std::uint64_t responded = 0;
};

/// What each thread did, in its order.
template <class Spec>
using history = std::vector<std::vector<event<Spec>>>;

/// One counter for all threads. Sequentially consistent, so that order in time is order in happens-before.
class history_clock {
 public:
  std::uint64_t tick() noexcept { return now_.fetch_add(1, std::memory_order::seq_cst); }

 private:
  alignas(64) std::atomic<std::uint64_t> now_{1};
};

/// One thread's record of its calls.
template <class Spec>
class recorder {
 public:
  recorder(history_clock& clock, std::vector<event<Spec>>& log) : clock_(&clock), log_(&log) {}

  template <class Call>
  void record(const typename Spec::operation& what, Call&& call) {
    const std::uint64_t invoked = clock_->tick();
    auto seen = std::forward<Call>(call)(what);
    const std::uint64_t responded = clock_->tick();
    log_->push_back({what, std::move(seen), invoked, responded});
  }

 private:
  history_clock* clock_;
  std::vector<event<Spec>>* log_;
};

enum class judgement : unsigned char {
  explained,    ///< an order was found
  unexplained,  ///< all orders were tried
  undecided,    ///< the budget ran out
};

struct verdict {
  judgement what = judgement::explained;
  std::size_t configurations = 0;              ///< looked at
  std::vector<std::size_t> explained_calls{};  ///< per thread, in the longest order found

  [[nodiscard]] explicit operator bool() const noexcept { return what == judgement::explained; }
};

namespace detail {

struct key_hash {
  std::size_t operator()(const std::vector<std::uint32_t>& key) const noexcept {
    std::uint64_t h = 0x9E3779B97F4A7C15U;
    for (const std::uint32_t word : key) h = (h ^ word) * 0x100000001B3U ^ (h >> 29U);
    return static_cast<std::size_t>(h);
  }
};

/// The calls of real threads, for the search: a call that responded before another one was invoked comes first.
template <class Spec>
class timed_calls {
 public:
  // How far the order under construction has come in one thread.
  struct position {
    std::size_t call = 0;
    unsigned phase = 0;
    unsigned variant = 0;
  };

  explicit timed_calls(const history<Spec>& calls) : calls_(calls), at_(calls.size()), furthest_(calls.size()) {}

  bool all_done() {
    std::size_t done = 0;
    std::size_t best = 0;
    std::size_t all = 0;
    for (std::size_t t = 0; t != calls_.size(); ++t) {
      done += at_[t].call;
      best += furthest_[t];
      all += calls_[t].size();
    }
    if (done >= best) {
      for (std::size_t t = 0; t != calls_.size(); ++t) furthest_[t] = at_[t].call;
    }
    return done == all;
  }

  /// Offers the threads whose next call may come next. The call that responded first is offered first: it is the best
  /// guess.
  template <class Try>
  bool any_that_may_go(Try&& attempt) {
    std::vector<std::size_t> threads;
    for (std::size_t t = 0; t != calls_.size(); ++t) {
      if (may_go(t)) threads.push_back(t);
    }
    std::sort(threads.begin(), threads.end(),
              [this](std::size_t a, std::size_t b) { return next(a).responded < next(b).responded; });
    return std::any_of(threads.begin(), threads.end(), attempt);
  }

  position& at(std::size_t t) { return at_[t]; }
  unsigned variants(const Spec& state, std::size_t t) const { return state.variants(next(t).what, next(t).seen); }
  progress step(Spec& state, std::size_t t) const {
    return state.step(next(t).what, at_[t].phase, at_[t].variant, next(t).seen);
  }
  void finish(std::size_t t) { at_[t] = {at_[t].call + 1, 0, 0}; }

  /// What can follow depends on this and on the specification's state.
  void encode(std::vector<std::uint32_t>& key) const {
    for (const position& p : at_) {
      key.push_back(static_cast<std::uint32_t>((p.call << 8U) | (p.phase << 4U) | p.variant));
    }
  }
  /// Per thread, the calls of the longest order found.
  [[nodiscard]] const std::vector<std::size_t>& furthest() const noexcept { return furthest_; }

 private:
  [[nodiscard]] const event<Spec>& next(std::size_t t) const { return calls_[t][at_[t].call]; }

  // Whether thread t's next call may take effect now: no other call that has not taken effect had responded before
  // this one was invoked. A thread's calls follow each other, so its next one is the one that responds first.
  [[nodiscard]] bool may_go(std::size_t t) const {
    if (at_[t].call == calls_[t].size()) return false;
    for (std::size_t other = 0; other != calls_.size(); ++other) {
      if (other == t || at_[other].call == calls_[other].size()) continue;
      if (next(other).responded < next(t).invoked) return false;
    }
    return true;
  }

  const history<Spec>& calls_;
  std::vector<position> at_;
  std::vector<std::size_t> furthest_;
};

/// Lowe's memory of configurations already tried, up to a budget.
class tried_configurations {
 public:
  explicit tried_configurations(std::size_t budget) : budget_(budget) {}

  template <class Spec>
  bool is_new(const Spec& state, const timed_calls<Spec>& calls) {
    if (exhausted()) return false;
    std::vector<std::uint32_t> key;
    calls.encode(key);
    state.encode(key);
    // The same calls are done and the state is the same: it is known that what follows explains nothing.
    return tried_.insert(std::move(key)).second;
  }
  [[nodiscard]] std::size_t count() const noexcept { return tried_.size(); }
  [[nodiscard]] bool exhausted() const noexcept { return tried_.size() >= budget_; }

 private:
  std::size_t budget_;
  std::unordered_set<std::vector<std::uint32_t>, key_hash> tried_;
};

}  // namespace detail

/// How many configurations are looked at before a history counts as undecided.
inline constexpr std::size_t default_configurations = 2'000'000;

/// Whether some order of the calls, in which a call that responded before another was invoked comes first, is one that
/// the specification allows from `initial` on. `budget` bounds the configurations looked at, and so memory.
template <class Spec>
[[nodiscard]] verdict explain(const Spec& initial, const history<Spec>& calls,
                              std::size_t budget = default_configurations) {
  Spec state = initial;
  detail::timed_calls<Spec> pending(calls);
  detail::tried_configurations tried(budget);
  const bool found = model::explains(state, pending, tried);
  return {found               ? judgement::explained
          : tried.exhausted() ? judgement::undecided
                              : judgement::unexplained,
          tried.count(), pending.furthest()};
}

/// Prints the calls in the order of their invocation; `v` marks the first call of each thread that no order could
/// reach.
template <class Spec>
void print(std::ostream& out, const history<Spec>& calls, const verdict* v = nullptr) {
  struct row {
    std::size_t thread, call;
    const event<Spec>* e;
  };
  std::vector<row> rows;
  for (std::size_t t = 0; t != calls.size(); ++t) {
    for (std::size_t i = 0; i != calls[t].size(); ++i) rows.push_back({t, i, &calls[t][i]});
  }
  std::sort(rows.begin(), rows.end(), [](const row& a, const row& b) { return a.e->invoked < b.e->invoked; });
  for (const row& r : rows) {
    const bool stuck = v != nullptr && !*v && v->explained_calls[r.thread] == r.call;
    out << (stuck ? "  > " : "    ") << "thread " << r.thread << "  [" << r.e->invoked << ", " << r.e->responded
        << "]  " << r.e->what << " -> " << r.e->seen << "\n";
  }
  if (v != nullptr && !*v) out << "    (> marks, per thread, the first call that the longest order could not reach)\n";
}

}  // namespace runq::props
