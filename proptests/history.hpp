// SPDX-License-Identifier: MIT
// Histories of real threads, and the question whether some sequential order explains one (linearizability; the search
// is Wing and Gong's, with Lowe's memory of configurations already tried).
//
// A specification is a copyable class that plays the queue one *step* at a time:
//
//   using operation = …; using response = …;
//   unsigned variants(operation, response)                          ways in which the call may have come about, >= 1
//   progress step(operation, unsigned phase, unsigned variant, response)  one atomic step; illegal, more, or done
//   void encode(std::vector<std::uint32_t>&)                        all of its state, for the memory
//
// Most calls are one step. A call that is not atomic by contract has several, and steps of other threads may come in
// between: a steal of half is a look at the victim, a look at the room, one claim of many elements, and one publication
// in the thief's own queue.
//
// The rule for `empty`. A thief's "empty" is legal if and only if at some step between its invocation and its response
// the queue was empty in the order that explains everything else. Nothing weaker is needed here although the queues
// promise only that nothing that happened-before had left an element behind: the clock below is one atomic counter that
// every invocation and every response increments, so what responded before a call was invoked happened-before it. The
// rule is weak where the contract is: between two steps of one call (a task on its way from runnext to the ring, a
// stolen batch not yet published) elements are in no queue, and "empty" is then a true answer.
//
// The rule for `lost`. Legal if and only if somebody else took something from that queue (or changed that slot) between
// two moments of the call. A queue that says "lost" for any other reason does not make progress.
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

namespace runq::props {

enum class progress : unsigned char { illegal, more, done };

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

template <class Spec>
class linearizer {
 public:
  linearizer(const Spec& initial, const history<Spec>& calls, std::size_t budget)
      : state_(initial), calls_(calls), at_(calls.size()), budget_(budget) {
    verdict_.explained_calls.resize(calls.size());
  }

  verdict run() {
    const bool found = search();
    verdict_.configurations = tried_.size();
    if (found) {
      verdict_.what = judgement::explained;
    } else {
      verdict_.what = tried_.size() < budget_ ? judgement::unexplained : judgement::undecided;
    }
    return std::move(verdict_);
  }

 private:
  // How far the order under construction has come in one thread.
  struct position {
    std::size_t call = 0;
    unsigned phase = 0;
    unsigned variant = 0;
  };

  bool search() {
    if (finished()) return true;
    if (tried_.size() >= budget_) return false;
    // The same calls done and the same state: what can follow is known to explain nothing.
    if (!tried_.insert(key()).second) return false;
    for (const std::size_t t : candidates()) {
      const event<Spec>& e = calls_[t][at_[t].call];
      const unsigned variants = at_[t].phase == 0 ? state_.variants(e.what, e.seen) : 1;
      for (unsigned v = 0; v != variants; ++v) {
        const Spec before = state_;
        const position was = at_[t];
        if (was.phase == 0) at_[t].variant = v;
        const progress p = state_.step(e.what, was.phase, at_[t].variant, e.seen);
        if (p == progress::more) {
          ++at_[t].phase;
        } else if (p == progress::done) {
          at_[t] = {was.call + 1, 0, 0};
        }
        if (p != progress::illegal && search()) return true;
        at_[t] = was;
        state_ = before;
      }
    }
    return false;
  }

  // The threads that may take a step now. What responded first comes first: it is the best guess.
  [[nodiscard]] std::vector<std::size_t> candidates() const {
    std::vector<std::size_t> threads;
    for (std::size_t t = 0; t != calls_.size(); ++t) {
      if (may_go(t)) threads.push_back(t);
    }
    std::sort(threads.begin(), threads.end(), [this](std::size_t a, std::size_t b) {
      return calls_[a][at_[a].call].responded < calls_[b][at_[b].call].responded;
    });
    return threads;
  }

  bool finished() {
    std::size_t done = 0;
    std::size_t best = 0;
    std::size_t all = 0;
    for (std::size_t t = 0; t != calls_.size(); ++t) {
      done += at_[t].call;
      best += verdict_.explained_calls[t];
      all += calls_[t].size();
    }
    if (done >= best) {
      for (std::size_t t = 0; t != calls_.size(); ++t) verdict_.explained_calls[t] = at_[t].call;
    }
    return done == all;
  }

  // Whether thread t's next call may take effect now: no other call that has not taken effect had responded before
  // this one was invoked. A thread's calls follow each other, so its next one is the one that responds first.
  [[nodiscard]] bool may_go(std::size_t t) const {
    if (at_[t].call == calls_[t].size()) return false;
    const std::uint64_t invoked = calls_[t][at_[t].call].invoked;
    for (std::size_t other = 0; other != calls_.size(); ++other) {
      if (other == t || at_[other].call == calls_[other].size()) continue;
      if (calls_[other][at_[other].call].responded < invoked) return false;
    }
    return true;
  }

  [[nodiscard]] std::vector<std::uint32_t> key() const {
    std::vector<std::uint32_t> k;
    for (const position& p : at_) {
      k.push_back(static_cast<std::uint32_t>((p.call << 8U) | (p.phase << 4U) | p.variant));
    }
    state_.encode(k);
    return k;
  }

  Spec state_;
  const history<Spec>& calls_;
  std::vector<position> at_;
  std::size_t budget_;
  std::unordered_set<std::vector<std::uint32_t>, key_hash> tried_;
  verdict verdict_;
};

}  // namespace detail

/// Whether some order of the calls, in which a call that responded before another was invoked comes first, is one that
/// the specification allows from `initial` on. `budget` bounds the configurations looked at, and so memory.
template <class Spec>
[[nodiscard]] verdict explain(const Spec& initial, const history<Spec>& calls, std::size_t budget = 2'000'000) {
  return detail::linearizer<Spec>(initial, calls, budget).run();
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
