// SPDX-License-Identifier: MIT
#include "brute_force.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "axioms.hpp"

namespace runq::model::selftest {

namespace {

enum class type : unsigned char { initial, read, write, fence, plain };

struct step {
  type is{};
  int thread = -1;
  unsigned variable = 0;  ///< fences: a number that no variable has
  std::memory_order order = std::memory_order::relaxed;
  const instruction* code = nullptr;
  bool writes_next = false;  ///< read: the next event is its write part
  bool second = false;       ///< write: is such a write part
  bool blocked = false;      ///< read: the thread waits here for ever
};

constexpr unsigned lock_variable = max_variables;  // the mutex: an atomic, 1 while it is held
constexpr unsigned locations = max_variables + 1;
constexpr unsigned no_variable = locations;

/// What the program's branches are assumed to do: whether each guarded instruction runs, each compare-exchange
/// succeeds, and each thread that might have to wait for ever does, in program order. Checked against the values
/// afterwards.
using branches = std::uint32_t;

class enumerator {
 public:
  enumerator(const program& p, std::uint64_t budget, bool cycles, unsigned spurious)
      : program_(p), budget_(budget), cycles_(cycles), spurious_(spurious) {}

  std::optional<enumeration> run() {
    unsigned decisions = 0;
    for (const thread_code& code : program_) {
      for (const instruction& i : code) {
        decisions += (i.guarded ? 1U : 0U) + (compares(i.what) ? 1U : 0U) + (may_block(i) ? 1U : 0U);
      }
    }
    for (branches b = 0; b != 1U << decisions; ++b) {
      if (!build(b)) continue;
      choose_source(0);
      if (budget_ == 0) return std::nullopt;
    }
    return std::move(result_);
  }

 private:
  // --- candidates --------------------------------------------------------------------------------------------------

  /// Lays out the events for these branches; false if other branches give the same events (a skipped CAS that
  /// succeeds).
  bool build(branches b) {
    events_.clear();
    reads_.clear();
    assumed_ = b;
    for (unsigned v = 0; v != locations; ++v) events_.push_back({.is = type::initial, .variable = v});
    for (unsigned t = 0; t != program_.size(); ++t) {
      bool ended = false;
      for (const instruction& i : program_[t]) {
        const decision d = decide(i, b);
        if (ended ? d.any() : !d.runs && (d.succeeds || d.blocks)) return false;
        if (!ended && d.runs) add_events(static_cast<int>(t), i, d);
        ended = ended || d.blocks;
      }
    }
    count_ = static_cast<unsigned>(events_.size());
    source_.assign(count_, 0);
    return true;
  }

  static bool take(branches& b) {
    const bool first = (b & 1U) != 0;
    b >>= 1;
    return first;
  }

  /// Only in programs with loops that wait may a mutex never be unlocked.
  [[nodiscard]] bool may_block(const instruction& i) const {
    return waits(i.what) || (i.what == action::lock && has_waiting_);
  }

  struct decision {
    bool guarded, runs, succeeds, blocks;
    [[nodiscard]] bool any() const { return (guarded && runs) || succeeds || blocks; }
  };
  [[nodiscard]] decision decide(const instruction& i, branches& b) const {
    decision d{};
    d.runs = !i.guarded || take(b);
    d.succeeds = compares(i.what) && take(b);
    d.blocks = may_block(i) && take(b);
    d.guarded = i.guarded;
    return d;
  }

  void add_events(int t, const instruction& i, const decision& d) {
    const bool succeeds = !d.blocks && (d.succeeds || !compares(i.what));
    step e{.thread = t, .variable = i.variable, .order = i.order, .code = &i};
    if (is_plain(i.what)) {
      e.is = type::plain;
      e.variable = no_variable;
      events_.push_back(e);
      return;
    }
    if (i.what == action::lock || i.what == action::unlock) {
      e.variable = lock_variable;
      e.order = i.what == action::lock ? std::memory_order::acquire : std::memory_order::release;
    }
    const bool only_writes = i.what == action::store || i.what == action::unlock;
    if (i.what == action::fence) {
      events_.push_back(e);
      events_.back().is = type::fence;
      events_.back().variable = no_variable;
      return;
    }
    if (!only_writes) {
      reads_.push_back(static_cast<unsigned>(events_.size()));
      events_.push_back(e);
      events_.back().is = type::read;
      const bool only_reads = i.what == action::load || i.what == action::wait_load;
      events_.back().writes_next = !only_reads && succeeds;
      events_.back().blocked = d.blocks;
      if (!succeeds) events_.back().order = i.failure_order;
    }
    if (!events_.back().writes_next && !only_writes) return;
    events_.push_back(e);
    events_.back().is = type::write;
    events_.back().second = !only_writes;
  }

  void choose_source(unsigned nth_read) {
    if (budget_ == 0) return;
    if (nth_read == reads_.size()) {
      judge_sources();
      return;
    }
    const unsigned r = reads_[nth_read];
    for (unsigned w = 0; w != count_; ++w) {
      if (!is_write(w) || events_[w].variable != events_[r].variable) continue;
      source_[r] = w;
      choose_source(nth_read + 1);
    }
  }

  void judge_sources() {
    --budget_;
    x_ = to_execution();
    if (!cycles_ && !axioms::no_thin_air(x_)) return;
    if (!compute_values()) return;
    hb_ = axioms::happens_before(x_);
    if (!axioms::no_cycle_of_hb(hb_)) return;
    for (unsigned v = 0; v != locations; ++v) mo_of_[v] = writes_to(v);
    permute(0);
  }

  [[nodiscard]] std::vector<unsigned> writes_to(unsigned v) const {
    std::vector<unsigned> all;
    for (unsigned e = 0; e != count_; ++e) {
      if (events_[e].is == type::write && events_[e].variable == v) all.push_back(e);
    }
    return all;
  }

  void permute(unsigned v) {
    if (budget_ == 0) return;
    if (v == locations) {
      judge_graph();
      return;
    }
    std::vector<unsigned>& order = mo_of_[v];
    std::sort(order.begin(), order.end());
    do {
      permute(v + 1);
    } while (std::next_permutation(order.begin(), order.end()));
  }

  // --- values ------------------------------------------------------------------------------------------------------

  /// Follows the data flow until nothing changes. False if it never ends, or if the values lead to other branches.
  bool compute_values() {
    value_.assign(count_, 0);
    std::vector<bool> known(count_, false);
    for (unsigned round = 0; round != count_ + 1; ++round) {
      for (unsigned e = 0; e != count_; ++e) compute_value(e, known);
    }
    for (unsigned e = 0; e != count_; ++e) {
      if (!known[e]) return false;
    }
    return branches_agree();
  }

  void compute_value(unsigned e, std::vector<bool>& known) {
    const step& x = events_[e];
    if (x.is == type::read) {
      known[e] = known[source_[e]];
      value_[e] = value_[source_[e]];
      return;
    }
    known[e] = true;
    if (x.is != type::write) return;
    if (x.variable == lock_variable) {
      value_[e] = x.second ? 1 : 0;
      return;
    }
    // The operand's last-read value is that before the instruction; an addition also needs its own read.
    const unsigned own_read = e - 1;
    const int last = last_read(x.second ? own_read : e);
    value_[e] = x.code->operand;
    if (x.code->adds_last_read && last >= 0) {
      known[e] = known[static_cast<unsigned>(last)];
      value_[e] += value_[static_cast<unsigned>(last)];
    }
    if (x.code->what == action::add) {
      known[e] = known[e] && known[own_read];
      value_[e] += value_[own_read];
    }
  }

  /// The read before event `e` in its thread, or -1.
  [[nodiscard]] int last_read(unsigned e) const {
    for (unsigned b = e; b-- != 0;) {
      if (events_[b].thread != events_[e].thread) return -1;
      if (events_[b].is == type::read && events_[b].variable != lock_variable) return static_cast<int>(b);
    }
    return -1;
  }

  [[nodiscard]] bool branches_agree() const {
    branches b = assumed_;
    unsigned e = locations;
    unsigned spurious = 0;
    for (const thread_code& code : program_) {
      unsigned last = 0;
      bool ended = false;
      for (const instruction& i : code) {
        const decision d = decide(i, b);
        if (ended) continue;
        if (i.guarded && d.runs != (last % 2 == 1)) return false;
        if (!d.runs) continue;
        if (must_wait(i, value_[e]) != d.blocks) return false;  // a thread that waits does so in another graph
        if (events_[e].is == type::read && i.what != action::lock) last = value_[e];
        if (compares(i.what) && d.succeeds != (last == i.expected)) {
          if (i.what != action::weak_exchange || d.succeeds || ++spurious > spurious_) return false;
        }
        e += events_[e].writes_next ? 2 : 1;
        ended = d.blocks;
      }
    }
    return true;
  }

  [[nodiscard]] static bool must_wait(const instruction& i, unsigned value) {
    switch (i.what) {
      case action::lock: return value != 0;
      case action::wait_load:
      case action::wait_compare: return value != i.expected;
      case action::wait_exchange: return value == i.operand;
      default: return false;
    }
  }

  // --- the axioms --------------------------------------------------------------------------------------------------

  [[nodiscard]] bool is_write(unsigned e) const {
    return events_[e].is == type::write || events_[e].is == type::initial;
  }

  [[nodiscard]] event to_event(unsigned e) const {
    const step& s = events_[e];
    const auto kind = is_write(e)           ? event::kind::write
                      : s.is == type::read  ? event::kind::read
                      : s.is == type::fence ? event::kind::fence
                                            : event::kind::other;
    const bool is_access = kind == event::kind::read || kind == event::kind::write;
    const bool has_order = s.is != type::plain && s.is != type::initial;
    return {.is = kind,
            .thread = s.thread,
            .location = is_access ? s.variable : event::nowhere,
            .order = has_order ? s.order : std::memory_order::relaxed};
  }

  [[nodiscard]] execution to_execution() const {
    std::vector<event> events;
    for (unsigned e = 0; e != count_; ++e) events.push_back(to_event(e));
    execution x(std::move(events));
    x.rf = x.pairs([&](unsigned a, unsigned b) { return events_[b].is == type::read && source_[b] == a; });
    x.po = x.pairs([&](unsigned a, unsigned b) {
      return a < b && events_[a].thread >= 0 && events_[a].thread == events_[b].thread;
    });
    x.rmw = x.pairs([&](unsigned a, unsigned b) { return b == a + 1 && events_[b].second; });
    x.asw = x.pairs(
        [&](unsigned a, unsigned b) { return events_[a].is == type::initial && events_[b].is != type::initial; });
    return x;
  }

  void judge_graph() {
    --budget_;
    derive_mo();
    if (!axioms::coherent(x_, hb_) || !axioms::atomic(x_) || !axioms::sequentially_consistent(x_, hb_)) return;
    if (has_waiting_ && somebody_is_blocked()) {
      if (!all_blocked_see_the_newest()) return;  // other graphs show what they do when they see it
      result_.failures.insert(failure::deadlock);
    } else {
      ++result_.graphs;
      result_.outcomes.insert(outcome());
    }
    judge_memory();
  }

  [[nodiscard]] bool somebody_is_blocked() const {
    return std::any_of(events_.begin(), events_.end(), [](const step& e) { return e.blocked; });
  }
  [[nodiscard]] bool all_blocked_see_the_newest() const {
    for (unsigned e = 0; e != count_; ++e) {
      if (!events_[e].blocked) continue;
      const unsigned v = events_[e].variable;
      if (source_[e] != (mo_of_[v].empty() ? v : mo_of_[v].back())) return false;
    }
    return true;
  }

  /// Every pair of accesses to the same plain variable, one of which writes or frees it.
  void judge_memory() {
    const auto frees = [&](unsigned e) { return events_[e].code->what == action::release; };
    for (unsigned a = 0; a != count_; ++a) {
      if (events_[a].is != type::plain || events_[a].code->what == action::plain_read) continue;
      for (unsigned b = 0; b != count_; ++b) {
        if (b == a || events_[b].is != type::plain || events_[b].code->variable != events_[a].code->variable) continue;
        if (frees(a) && frees(b)) {
          result_.failures.insert(failure::double_free);
        } else if (frees(a)) {
          if (!hb_.has(b, a)) result_.failures.insert(failure::use_after_free);
        } else if (!frees(b) && !hb_.has(a, b) && !hb_.has(b, a)) {
          result_.failures.insert(failure::data_race);
        }
      }
    }
  }

  void derive_mo() {
    x_.mo = relation(count_);
    for (unsigned v = 0; v != locations; ++v) {
      for (unsigned i = 0; i != mo_of_[v].size(); ++i) {
        x_.mo.add(v, mo_of_[v][i]);  // event v is the initial write of variable v
        for (unsigned j = i + 1; j != mo_of_[v].size(); ++j) x_.mo.add(mo_of_[v][i], mo_of_[v][j]);
      }
    }
  }

  [[nodiscard]] std::string outcome() const {
    std::string text;
    for (const unsigned r : reads_) {
      if (events_[r].variable == lock_variable) continue;
      text += std::to_string(events_[r].thread) + ":" + std::to_string(value_[r]) + " ";
    }
    for (unsigned v = 0; v != max_variables; ++v) {
      text += std::to_string(value_[mo_of_[v].empty() ? v : mo_of_[v].back()]) + ";";
    }
    return text;
  }

  const program& program_;
  std::uint64_t budget_;
  bool cycles_;
  unsigned spurious_;
  bool has_waiting_ = has(program_, waits);
  enumeration result_;

  branches assumed_ = 0;
  std::vector<step> events_;
  std::vector<unsigned> reads_;
  unsigned count_ = 0;
  std::vector<unsigned> source_;
  std::vector<unsigned> value_;
  std::array<std::vector<unsigned>, locations> mo_of_;
  execution x_{{}};
  relation hb_;
};

}  // namespace

std::optional<enumeration> enumerate(const program& p, std::uint64_t budget, bool cycles, unsigned spurious) {
  return enumerator(p, budget, cycles, spurious).run();
}

}  // namespace runq::model::selftest
