// SPDX-License-Identifier: MIT
#include "enumerate.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "../axioms.hpp"

namespace runq::model::selftest {

namespace {

using order = std::memory_order;

constexpr unsigned lock_location = max_variables;  // the mutex: 0 while it is unlocked
constexpr unsigned locations = max_variables + 1;

/// What a thread has done, or, of a condition variable, what has been done to it.
enum class step_kind : unsigned char {
  read,
  write,
  fence,
  plain_read,
  plain_write,
  allocate,
  release,
  start,
  join,
  enter,
  wake,
  notify_one,
  notify_all
};

/// An event by its thread and its number there. Thread -1: the initial value of location `index`; nothing, where a step
/// reads nothing. Thread `not_known`: some write of the value that was read.
struct place {
  static constexpr int not_known = -2;
  int thread = -1;
  unsigned index = 0;
};

struct step {
  step_kind is{};
  unsigned variable = event::nowhere;  ///< the location; of plain steps, the plain variable; start, join: the thread
  order with = order::relaxed;
  unsigned value = 0;  ///< read or written
  place source{};      ///< read: what it reads from; wake: the notification
  /// write: the steps of its thread that its value is computed from, the read before it and its own; -1: none
  int from = -1, from_own = -1;
  bool second = false;    ///< a write: of the read-modify-write that began with the step before
  bool is_noted = false;  ///< the value is part of the outcome
  bool blocks = false;    ///< the thread stays here for ever
};

enum class status : unsigned char { unborn, runs, sleeps, ended, stuck };

struct thread_state {
  status now = status::runs;
  unsigned next = 0;       ///< the instruction
  bool must_lock = false;  ///< at the end of a wait for the condition variable
  unsigned last = 0;       ///< the value that it has read last
  int last_step = -1;      ///< in which step
  unsigned local = 0;
  std::vector<step> steps;
};

struct state {
  std::vector<thread_state> threads;
  unsigned spurious = 0;  ///< failures of weak compare-exchanges

  /// Two states with the same name go on in the same ways.
  [[nodiscard]] std::string name() const {
    std::string text;
    const auto add = [&text](unsigned number) { text += static_cast<char>(number); };
    for (const thread_state& t : threads) {
      add(static_cast<unsigned>(t.now));
      add(t.next);
      add(t.must_lock ? 1 : 0);
      add(static_cast<unsigned>(t.steps.size()));
      for (const step& s : t.steps) {
        add(static_cast<unsigned>(s.is));
        if (s.is != step_kind::read && s.is != step_kind::wake) continue;
        add(static_cast<unsigned>(s.source.thread + 2));
        add(s.source.index);
        if (s.source.thread == place::not_known) add(s.value);
      }
      text += '|';
    }
    return text;
  }
};

class enumerator {
 public:
  enumerator(const program& p, std::uint64_t budget, unsigned spurious, bool cycles)
      : program_(p), budget_(budget), spurious_(spurious), cycles_(cycles) {}

  std::optional<enumeration> run() {
    state s;
    s.threads.resize(program_.size());
    if (has(program_, [](action a) { return a == action::start; })) {
      for (std::size_t t = 1; t != s.threads.size(); ++t) s.threads[t].now = status::unborn;
    }
    if (cycles_) find_values(s);
    explore(s);
    if (budget_ == 0) return std::nullopt;
    return std::move(result_);
  }

 private:
  // --- cycles of program order and reads-from ------------------------------------------------------------------------

  /// Which values a read may find, from what is computed of those that are known: as often as there are instructions,
  /// in each of which a value may be computed from others.
  void find_values(const state& begin) {
    for (std::set<unsigned>& v : values_) v = {0};
    std::size_t rounds = 0;
    for (const thread_code& code : program_) rounds += code.size();
    only_values_ = true;
    for (bool is_more = true; is_more && rounds-- != 0 && budget_ != 0;) {
      seen_.clear();
      explore(begin);
      is_more = false;
      for (unsigned v = 0; v != locations; ++v) {
        const std::size_t before = values_[v].size();
        values_[v].merge(written_[v]);
        is_more = is_more || values_[v].size() != before;
      }
    }
    only_values_ = false;
    seen_.clear();
  }

  /// Reads that found a value: from each write of it.
  void match(state& s, unsigned t, unsigned n) {
    for (; t != s.threads.size(); ++t, n = 0) {
      for (; n != s.threads[t].steps.size(); ++n) {
        if (s.threads[t].steps[n].source.thread == place::not_known) return match_read(s, t, n);
      }
    }
    judge(s);
  }
  void match_read(state& s, unsigned t, unsigned n) {
    const step reader = s.threads[t].steps[n];
    const auto read_from = [&](place source) {
      s.threads[t].steps[n].source = source;
      match(s, t, n + 1);
    };
    if (reader.value == 0) read_from({-1, reader.variable});
    for (unsigned other = 0; other != s.threads.size(); ++other) {
      for (unsigned i = 0; i != s.threads[other].steps.size(); ++i) {
        const step& w = s.threads[other].steps[i];
        const bool fits = w.is == step_kind::write && w.variable == reader.variable && w.value == reader.value;
        if (fits) read_from({static_cast<int>(other), i});
      }
    }
    s.threads[t].steps[n].source.thread = place::not_known;
  }

  /// [atomics.order]/8: no value is computed from itself.
  [[nodiscard]] bool no_value_from_nowhere(const execution& x) const {
    const relation data = x.pairs([&](unsigned a, unsigned b) {
      if (b < locations || x.events[a].thread != x.events[b].thread) return false;
      const step& s = step_of(x, b);
      const auto n = static_cast<int>(a - first_[static_cast<unsigned>(x.events[a].thread)]);
      return n == s.from || n == s.from_own;
    });
    return (data | x.rf).acyclic();
  }

  // --- the threads' steps ------------------------------------------------------------------------------------------

  void explore(const state& s) {
    if (budget_ == 0 || !seen_.insert(s.name()).second) return;
    if (seen_.size() == most_states) {
      budget_ = 0;
      return;
    }
    bool is_over = true;
    for (unsigned t = 0; t != s.threads.size(); ++t) {
      if (!advance(s, t)) continue;
      is_over = false;
      if (cycles_) return;  // with values that are found, no thread has to wait for another one's write
    }
    if (!is_over || only_values_) return;
    if (!cycles_) return judge(s);
    state found = s;
    match(found, 0, 0);
  }

  /// Whether the thread can go on: then with each of the states that follow.
  bool advance(const state& s, unsigned t) {
    const thread_state& now = s.threads[t];
    if (now.now == status::sleeps) return wake(s, t);
    if (now.now != status::runs) return false;
    if (now.must_lock) return read(s, t, instruction{.what = action::lock});  // at the end of a wait
    if (now.next == program_[t].size()) {
      state after = s;
      after.threads[t].now = status::ended;
      explore(after);
      return true;
    }
    const instruction& i = program_[t][now.next];
    state after = s;
    ++after.threads[t].next;
    if (i.guarded && now.last % 2 == 0) {
      explore(after);
      return true;
    }
    switch (i.what) {
      case action::fence: return go_on(after, t, {.is = step_kind::fence, .with = i.order});
      case action::store: {
        step w{.is = step_kind::write, .variable = i.variable, .with = i.order, .value = operand(i, now)};
        w.from = i.adds_last_read ? now.last_step : -1;
        return go_on(after, t, w);
      }
      case action::unlock: return go_on(after, t, unlock());
      case action::plain_read:
        return go_on(after, t, {.is = step_kind::plain_read, .variable = i.variable, .is_noted = true});
      case action::plain_write:
        return go_on(after, t, {.is = step_kind::plain_write, .variable = i.variable, .value = operand(i, now)});
      case action::release: return go_on(after, t, {.is = step_kind::release, .variable = i.variable});
      case action::allocate: return go_on(after, t, {.is = step_kind::allocate, .variable = i.variable});
      case action::add_local: return add_local(after, t, i);
      case action::start:
        after.threads[i.variable].now = status::runs;
        return go_on(after, t, {.is = step_kind::start, .variable = i.variable});
      case action::join:
        return s.threads[i.variable].now == status::ended &&
               go_on(after, t, {.is = step_kind::join, .variable = i.variable});
      case action::wait:  // [thread.condition.condvar]/9: unlocks, and waits from then on
        after.threads[t].steps.push_back({.is = step_kind::enter});
        after.threads[t].now = status::sleeps;
        return go_on(after, t, unlock());
      case action::notify_one: return go_on(after, t, {.is = step_kind::notify_one});
      case action::notify_all: return go_on(after, t, {.is = step_kind::notify_all});
      default: return read(s, t, i);
    }
  }

  bool go_on(state& after, unsigned t, const step& with) {
    note_written(with);
    after.threads[t].steps.push_back(with);
    explore(after);
    return true;
  }

  bool add_local(state& after, unsigned t, const instruction& i) {
    thread_state& now = after.threads[t];
    now.last = now.local += i.operand;
    now.last_step = -1;
    return go_on(after, t,
                 {.is = step_kind::fence, .value = now.last, .is_noted = true});  // a relaxed fence is nothing
  }

  void note_written(const step& s) {
    if (only_values_ && s.is == step_kind::write) written_[s.variable].insert(s.value);
  }

  static step unlock() {
    return {.is = step_kind::write, .variable = lock_location, .with = order::release, .value = 0};
  }
  static unsigned operand(const instruction& i, const thread_state& now) {
    return i.operand + (i.adds_last_read ? now.last : 0);
  }

  /// A thread that sleeps wakes by any notification of others. Which of them could have woken it is seen in the end.
  bool wake(const state& s, unsigned t) {
    for (unsigned other = 0; other != s.threads.size(); ++other) {
      for (unsigned n = 0; n != s.threads[other].steps.size(); ++n) {
        const step_kind k = s.threads[other].steps[n].is;
        if (other == t || (k != step_kind::notify_one && k != step_kind::notify_all)) continue;
        state after = s;
        after.threads[t].now = status::runs;
        after.threads[t].must_lock = true;
        go_on(after, t, {.is = step_kind::wake, .source = {static_cast<int>(other), n}});
      }
    }
    return false;  // it may also sleep for ever
  }

  // --- reads -------------------------------------------------------------------------------------------------------

  static unsigned location_of(const instruction& i) {
    return i.what == action::lock || i.what == action::try_lock ? lock_location : i.variable;
  }

  /// From every write that there is.
  bool read(const state& s, unsigned t, const instruction& i) {
    const unsigned location = location_of(i);
    if (cycles_) {
      for (const unsigned value : std::set<unsigned>(values_[location]))
        read_from(s, t, i, {place::not_known, location}, value);
      return true;
    }
    read_from(s, t, i, {-1, location}, 0);
    for (unsigned other = 0; other != s.threads.size(); ++other) {
      for (unsigned n = 0; n != s.threads[other].steps.size(); ++n) {
        const step& w = s.threads[other].steps[n];
        if (w.is == step_kind::write && w.variable == location)
          read_from(s, t, i, {static_cast<int>(other), n}, w.value);
      }
    }
    return true;
  }

  void read_from(const state& s, unsigned t, const instruction& i, place source, unsigned value) {
    read_and_write(s, t, i, source, value, false);
    if (i.what == action::weak_exchange && value == i.expected && s.spurious != spurious_)
      read_and_write(s, t, i, source, value, true);
  }

  void read_and_write(const state& s, unsigned t, const instruction& i, place source, unsigned value, bool fails) {
    state after = s;
    if (fails) ++after.spurious;
    if (!cycles_ && !fails && does_write(i, value) && is_taken(s, source)) return;  // two cannot be right after it
    thread_state& now = after.threads[t];
    const bool writes = !fails && does_write(i, value);
    const bool waits = must_wait(i, value);
    const bool locks = location_of(i) == lock_location;
    step r{.is = step_kind::read, .variable = location_of(i), .with = order_of(i, writes), .value = value};
    r.source = source;
    r.blocks = waits;
    now.steps.push_back(r);
    if (writes) {
      step w{
          .is = step_kind::write, .variable = r.variable, .with = r.with, .value = locks ? 1 : written(i, now, value)};
      w.second = true;
      w.from = i.adds_last_read ? now.last_step : -1;
      w.from_own = i.what == action::add ? static_cast<int>(now.steps.size()) - 1 : -1;
      note_written(w);
      now.steps.push_back(w);
    }
    step& noted = now.steps[now.steps.size() - (writes ? 2 : 1)];
    if (i.what == action::try_lock) noted.value = writes ? 1 : 0;
    noted.is_noted = i.what != action::lock;
    if (i.what != action::lock) {
      now.last = noted.value;
      now.last_step = static_cast<int>(now.steps.size()) - (writes ? 2 : 1);
    }
    if (now.must_lock) {
      now.must_lock = false;
    } else {
      ++now.next;
    }
    if (waits) now.now = status::stuck;
    explore(after);
  }

  /// Whether a read-modify-write has read that.
  static bool is_taken(const state& s, place source) {
    for (const thread_state& t : s.threads) {
      for (std::size_t n = 1; n < t.steps.size(); ++n) {
        const place other = t.steps[n - 1].source;
        const bool is_same = other.thread == source.thread && other.index == source.index;
        if (t.steps[n].second && is_same && reads_same_location(s, t.steps[n - 1], source)) return true;
      }
    }
    return false;
  }
  static bool reads_same_location(const state& s, const step& read, place source) {
    return source.thread >= 0
               ? read.variable == s.threads[static_cast<unsigned>(source.thread)].steps[source.index].variable
               : read.variable == source.index;
  }

  static bool does_write(const instruction& i, unsigned value) {
    switch (i.what) {
      case action::load:
      case action::wait_load: return false;
      case action::lock:
      case action::try_lock: return value == 0;
      case action::compare_exchange:
      case action::weak_exchange:
      case action::wait_compare: return value == i.expected;
      case action::wait_exchange: return value != i.operand;
      default: return true;
    }
  }
  static bool must_wait(const instruction& i, unsigned value) {
    switch (i.what) {
      case action::lock: return value != 0;
      case action::wait_load:
      case action::wait_compare: return value != i.expected;
      case action::wait_exchange: return value == i.operand;
      default: return false;
    }
  }
  static order order_of(const instruction& i, bool writes) {
    if (i.what == action::lock || i.what == action::try_lock) return writes ? order::acquire : order::relaxed;
    const bool compares_now = compares(i.what) || i.what == action::wait_compare;
    return compares_now && !writes ? i.failure_order : i.order;
  }
  static unsigned written(const instruction& i, const thread_state& before, unsigned read) {
    return operand(i, before) + (i.what == action::add ? read : 0);
  }

  // --- candidates --------------------------------------------------------------------------------------------------

  void judge(const state& s) {
    state_ = &s;
    first_.clear();
    std::vector<event> events;
    for (unsigned v = 0; v != locations; ++v) events.push_back({.is = event::kind::write, .location = v});
    for (unsigned t = 0; t != s.threads.size(); ++t) {
      first_.push_back(static_cast<unsigned>(events.size()));
      for (const step& x : s.threads[t].steps) events.push_back(to_event(x, static_cast<int>(t)));
    }
    execution x(std::move(events));
    add_relations(x);
    const relation hb = axioms::happens_before(x);
    if (!(cycles_ ? no_value_from_nowhere(x) : axioms::no_thin_air(x)) || !axioms::no_cycle_of_hb(hb)) return;
    for (unsigned v = 0; v != locations; ++v) {
      writes_[v].clear();
      for (unsigned e = locations; e != x.size(); ++e) {
        if (axioms::is_write(x.events[e]) && x.events[e].location == v) writes_[v].push_back(e);
      }
    }
    order_writes(x, hb, 0);
  }

  static event to_event(const step& s, int thread) {
    const auto kind = s.is == step_kind::read    ? event::kind::read
                      : s.is == step_kind::write ? event::kind::write
                      : s.is == step_kind::fence ? event::kind::fence
                                                 : event::kind::other;
    const bool is_atomic = kind == event::kind::read || kind == event::kind::write;
    return {.is = kind, .thread = thread, .location = is_atomic ? s.variable : event::nowhere, .order = s.with};
  }

  [[nodiscard]] unsigned number_of(place p) const {
    return p.thread < 0 ? p.index : first_[static_cast<unsigned>(p.thread)] + p.index;
  }
  [[nodiscard]] const step& step_of(const execution& x, unsigned e) const {
    const auto t = static_cast<unsigned>(x.events[e].thread);
    return state_->threads[t].steps[e - first_[t]];
  }

  void add_relations(execution& x) const {
    x.po = x.pairs([&](unsigned a, unsigned b) {
      return a < b && x.events[a].thread >= 0 && x.events[a].thread == x.events[b].thread;
    });
    x.asw = x.pairs([&](unsigned a, unsigned b) { return x.events[a].thread < 0 && x.events[b].thread >= 0; });
    for (unsigned e = locations; e != x.size(); ++e) {
      const step& s = step_of(x, e);
      if (s.is == step_kind::read) x.rf.add(number_of(s.source), e);
      if (s.second) x.rmw.add(e - 1, e);
      if (s.is != step_kind::start && s.is != step_kind::join) continue;
      for (unsigned i = 0; i != state_->threads[s.variable].steps.size(); ++i) {
        const unsigned other = first_[s.variable] + i;
        s.is == step_kind::start ? x.asw.add(e, other) : x.asw.add(other, e);
      }
    }
  }

  /// Every order of the writes to location `v`, and to those after it, one write after the other. Left out early are
  /// orders that no axiom allows: a read-modify-write that is not right after what it has read, and a write after one
  /// that it happens before.
  void order_writes(execution& x, const relation& hb, unsigned v) {
    if (budget_ == 0) return;
    if (v == locations) {
      --budget_;
      return judge(x, hb);
    }
    order_next_write(x, hb, v, 0);
  }
  void order_next_write(execution& x, const relation& hb, unsigned v, std::size_t placed) {
    std::vector<unsigned>& all = writes_[v];
    if (placed == all.size()) return order_writes(x, hb, v + 1);
    const unsigned last = placed == 0 ? v : all[placed - 1];  // event v is the initial value
    const relation before = x.mo;
    for (std::size_t i = placed; i != all.size(); ++i) {
      std::swap(all[placed], all[i]);
      if (may_follow(x, hb, last, v, placed)) {
        x.mo.add(v, all[placed]);
        for (std::size_t earlier = 0; earlier != placed; ++earlier) x.mo.add(all[earlier], all[placed]);
        order_next_write(x, hb, v, placed + 1);
        x.mo = before;
      }
      std::swap(all[placed], all[i]);
    }
  }
  [[nodiscard]] bool may_follow(const execution& x, const relation& hb, unsigned last, unsigned v,
                                std::size_t placed) const {
    const std::vector<unsigned>& all = writes_[v];
    const unsigned write = all[placed];
    if (step_of(x, write).second && !x.rf.has(last, write - 1)) return false;
    return std::none_of(all.begin() + static_cast<std::ptrdiff_t>(placed), all.end(),
                        [&](unsigned later) { return hb.has(later, write); });
  }

  void judge(const execution& x, const relation& hb) {
    if (!axioms::coherent(x, hb) || !axioms::atomic(x) || !axioms::sequentially_consistent(x, hb)) return;
    if (!notifications_fit(x, hb)) return;
    const auto has_ended = [](const thread_state& t) { return t.now == status::ended || t.now == status::unborn; };
    if (!std::all_of(state_->threads.begin(), state_->threads.end(), has_ended)) {
      if (!stuck_threads_see_the_newest()) return;  // other executions show what they do when they see it
      result_.failures.insert(failure::deadlock);
    } else {
      ++result_.graphs;
      result_.outcomes.insert(outcome(x, hb));
    }
    judge_memory(x, hb);
  }

  [[nodiscard]] bool stuck_threads_see_the_newest() const {
    return std::all_of(state_->threads.begin(), state_->threads.end(), [&](const thread_state& t) {
      if (t.now != status::stuck) return true;
      const step& s = t.steps.back();
      const std::vector<unsigned>& all = writes_[s.variable];
      return number_of(s.source) == (all.empty() ? s.variable : all.back());
    });
  }

  [[nodiscard]] std::string outcome(const execution& x, const relation& hb) const {
    std::string text;
    for (unsigned e = locations; e != x.size(); ++e) {
      const step& s = step_of(x, e);
      if (!s.is_noted) continue;
      const unsigned value = s.is == step_kind::plain_read ? plain_value(x, hb, e) : s.value;
      text += std::to_string(x.events[e].thread) + ":" + std::to_string(value) + " ";
    }
    for (unsigned v = 0; v != max_variables; ++v) {
      const place last = writes_[v].empty() ? place{} : place_of(x, writes_[v].back());
      text += (last.thread < 0
                   ? "0"
                   : std::to_string(state_->threads[static_cast<unsigned>(last.thread)].steps[last.index].value)) +
              ";";
    }
    return text;
  }
  [[nodiscard]] place place_of(const execution& x, unsigned e) const {
    const int thread = x.events[e].thread;
    return {thread, e - first_[static_cast<unsigned>(thread)]};
  }

  // --- plain memory ------------------------------------------------------------------------------------------------

  /// [intro.races]/13: the visible side effect; there is one, where there is no data race.
  [[nodiscard]] unsigned plain_value(const execution& x, const relation& hb, unsigned reader) const {
    unsigned value = 0;
    for (unsigned e = locations; e != x.size(); ++e) {
      if (!is_plain_write(x, e) || !same_memory(x, e, reader) || !hb.has(e, reader)) continue;
      bool is_last = true;
      for (unsigned later = locations; later != x.size(); ++later) {
        is_last = is_last &&
                  !(is_plain_write(x, later) && same_memory(x, e, later) && hb.has(e, later) && hb.has(later, reader));
      }
      if (is_last) value = step_of(x, e).value;
    }
    return value;
  }
  [[nodiscard]] bool is(const execution& x, unsigned e, step_kind k) const {
    return e >= locations && step_of(x, e).is == k;
  }
  [[nodiscard]] bool is_plain_write(const execution& x, unsigned e) const { return is(x, e, step_kind::plain_write); }
  [[nodiscard]] bool uses_memory(const execution& x, unsigned e) const {
    return is_plain_write(x, e) || is(x, e, step_kind::plain_read) || is(x, e, step_kind::release);
  }
  [[nodiscard]] bool same_memory(const execution& x, unsigned a, unsigned b) const {
    return step_of(x, a).variable == step_of(x, b).variable;
  }

  /// Every pair of uses of the same memory: [intro.races]/21, [basic.stc.dynamic.deallocation]/4, [basic.life]/6.
  void judge_memory(const execution& x, const relation& hb) {
    for (unsigned a = locations; a != x.size(); ++a) {
      for (unsigned b = locations; b != x.size(); ++b) {
        if (a != b && uses_memory(x, b) && same_memory(x, a, b)) judge_pair(x, hb, a, b);
      }
    }
  }
  void judge_pair(const execution& x, const relation& hb, unsigned a, unsigned b) {
    const bool frees = is(x, b, step_kind::release);
    if (is(x, a, step_kind::release)) {
      if (frees) result_.failures.insert(failure::double_free);
      if (!frees && !hb.has(b, a)) result_.failures.insert(failure::use_after_free);
    } else if (is(x, a, step_kind::allocate)) {  // which writes the first value
      if (hb.has(a, b)) return;
      result_.failures.insert(failure::unpublished_allocation);
      result_.failures.insert(failure::data_race);
    } else if (is_plain_write(x, a) && !frees && !hb.has(a, b) && !hb.has(b, a)) {
      result_.failures.insert(failure::data_race);
    }
  }

  // --- the condition variable --------------------------------------------------------------------------------------

  /// [thread.condition.general]/4: there is one total order, consistent with happens-before, of the beginnings of waits
  /// and of the notifications, such that each notification does to those that wait then what it should.
  [[nodiscard]] bool notifications_fit(const execution& x, const relation& hb) const {
    std::vector<unsigned> all;
    for (unsigned e = locations; e != x.size(); ++e) {
      if (is(x, e, step_kind::enter) || notifies(x, e)) all.push_back(e);
    }
    do {
      if (agrees(hb, all) && notifications_fit(x, all)) return true;
    } while (std::next_permutation(all.begin(), all.end()));
    return false;
  }
  [[nodiscard]] bool notifies(const execution& x, unsigned e) const {
    return is(x, e, step_kind::notify_one) || is(x, e, step_kind::notify_all);
  }
  static bool agrees(const relation& hb, const std::vector<unsigned>& all) {
    for (std::size_t i = 0; i != all.size(); ++i) {
      for (std::size_t before = 0; before != i; ++before) {
        if (hb.has(all[i], all[before])) return false;
      }
    }
    return true;
  }
  /// What has woken the wait that begins with event `enter`; nobody has, if it sleeps for ever.
  [[nodiscard]] unsigned woken_by(const execution& x, unsigned enter) const {
    const std::vector<step>& steps = state_->threads[static_cast<unsigned>(x.events[enter].thread)].steps;
    for (std::size_t i = place_of(x, enter).index; i != steps.size(); ++i) {
      if (steps[i].is == step_kind::wake) return number_of(steps[i].source);
    }
    return event::nowhere;
  }
  [[nodiscard]] bool notifications_fit(const execution& x, const std::vector<unsigned>& all) const {
    std::vector<unsigned> waiting;
    for (const unsigned e : all) {
      if (!notifies(x, e)) {
        waiting.push_back(e);
        continue;
      }
      const auto woken =
          std::partition(waiting.begin(), waiting.end(), [&](unsigned w) { return woken_by(x, w) != e; });
      const auto count = waiting.end() - woken;
      const bool wakes_all = is(x, e, step_kind::notify_all);
      if (wakes_all ? woken != waiting.begin() : count != (waiting.empty() ? 0 : 1)) return false;
      waiting.erase(woken, waiting.end());
    }
    return std::all_of(waiting.begin(), waiting.end(), [&](unsigned w) { return woken_by(x, w) == event::nowhere; });
  }

  const program& program_;
  std::uint64_t budget_;
  unsigned spurious_;
  static constexpr std::size_t most_states = 200'000;
  std::unordered_set<std::string> seen_;
  enumeration result_;

  bool cycles_;                                       ///< of program order and reads-from
  bool only_values_ = false;                          ///< which values are written is asked, not what is consistent
  std::array<std::set<unsigned>, locations> values_;  ///< of each location, that a read may find
  std::array<std::set<unsigned>, locations> written_;

  // Of the candidate that is judged:
  const state* state_ = nullptr;
  std::vector<unsigned> first_;                          ///< the number of the first event of each thread
  std::array<std::vector<unsigned>, locations> writes_;  ///< to each location, in modification order
};

}  // namespace

std::optional<enumeration> enumerate_all(const program& p, std::uint64_t budget, unsigned spurious, bool cycles) {
  return enumerator(p, budget, spurious, cycles).run();
}

}  // namespace runq::model::selftest
