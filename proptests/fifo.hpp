// SPDX-License-Identifier: MIT
// Run queues with one owner and many thieves: their specification in plain containers, and how to put a queue behind
// `subject`. Go's ring is such a queue, and so is a deque whose owner pops the newest element.
//
// To run the laws on a queue of yours, write a class with these members and call `fifo_candidate<it>("its name")`:
//
//   static constexpr std::size_t capacity = …;            // slots, or runq::props::unbounded
//   static constexpr bool owner_pops_newest = …;          // optional, false
//   static constexpr unsigned index_bits = …;             // optional: width of its counters, if they can wrap
//   explicit it(std::uint64_t start);                     // counters start there, where that is possible
//   bool push(value);                                     // false: full
//   std::optional<value> pop();
//   runq::steal_result<value> steal();                    // any thread
//
// and as many of these as it has:
//
//   std::size_t push_batch(std::span<const value>);       // how many went in
//   runq::steal_result<value> steal_half_into(it& mine, std::size_t limit);
//   runq::batch_result steal_half(std::span<value> out);  // any thread
//   values shed_half();    values drain();    std::size_t room();
//   bool has_work();       std::size_t size_approx();     // any thread
//   void hand_over();      void rebind();                 // the owner handle moves; the owner's thread changes
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "history.hpp"
#include "operations.hpp"
#include "runq/common.hpp"

namespace runq::props {

/// `{1, 2, 3}`
inline std::string braces(const values& vs) {
  std::string text = "{";
  for (std::size_t i = 0; i != vs.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(vs[i]);
  return text + "}";
}

/// `n` values from `first` on.
inline values run_of(value first, std::size_t n) {
  values vs(n);
  for (std::size_t i = 0; i != n; ++i) vs[i] = first + static_cast<value>(i);
  return vs;
}

inline const char* status_code(answer a) {
  switch (a) {
    case answer::done: return "runq::steal_status::taken";
    case answer::empty: return "runq::steal_status::empty";
    case answer::lost: return "runq::steal_status::lost";
  }
  return "";
}

inline answer answer_of(steal_status s) {
  switch (s) {
    case steal_status::taken: return answer::done;
    case steal_status::empty: return answer::empty;
    case steal_status::lost: break;
  }
  return answer::lost;
}

template <class T>
outcome outcome_of(const steal_result<T>& r, value taken) {
  if (r.status == steal_status::taken) return {answer::done, r.count, {taken}, false};
  return {answer_of(r.status), 0, {}, false};
}

namespace detail {

inline void encode_queue(std::vector<std::uint32_t>& key, const std::deque<value>& q) {
  key.push_back(static_cast<std::uint32_t>(q.size()));
  key.insert(key.end(), q.begin(), q.end());
}

inline values cut_front(std::deque<value>& from, std::size_t n) {
  const auto end = from.begin() + static_cast<std::ptrdiff_t>(n);
  values vs(from.begin(), end);
  from.erase(from.begin(), end);
  return vs;
}

inline bool starts_with(const std::deque<value>& q, const values& vs) {
  return vs.size() <= q.size() && std::equal(vs.begin(), vs.end(), q.begin());
}

}  // namespace detail

/// The reference: queues 0, 1, … of actors 0, 1, …, which steal from each other.
class fifo_spec {
 public:
  using operation = props::operation;
  using response = outcome;
  static constexpr const char* type_name = "runq::props::fifo_spec";
  static constexpr std::size_t how_many = 2;  // queues in a sequential law

  fifo_spec(const candidate& c, std::size_t queues)
      : capacity_(c.capacity), newest_first_(c.owner_pops_newest), queues_(queues), hands_(queues) {}

  [[nodiscard]] static std::size_t fresh_values(const operation& o) {
    switch (o.what) {
      case verb::push: return 1;
      case verb::push_run:
      case verb::push_batch: return o.n;
      default: return 0;
    }
  }

  /// The sequential specification: what the call returns if no other thread calls anything.
  outcome apply(const operation& o) {
    queue& own = queues_[o.actor];
    queue& other = queues_[o.victim];
    switch (o.what) {
      case verb::push:
      case verb::push_run:
      case verb::push_batch: {
        const std::size_t n = std::min(fresh_values(o), room(own));
        append(own, run_of(o.first, n));
        return {answer::done, n, {}, false};
      }
      case verb::pop: return pop(own, 1);
      case verb::pop_run: return pop(own, o.n);
      case verb::steal: {
        if (other.items.empty()) return {answer::empty, 0, {}, false};
        return {answer::done, 1, take(other, 1), false};
      }
      case verb::steal_half: {
        if (other.items.empty()) return {answer::empty, 0, {}, false};
        const std::size_t n = std::min(half(other, o.n), add(room(own), 1));
        values batch = take(other, n);
        const value newest = batch.back();
        batch.pop_back();
        append(own, batch);
        return {answer::done, n, {newest}, false};
      }
      case verb::steal_out: {
        if (other.items.empty()) return {answer::empty, 0, {}, false};
        const std::size_t n = half(other, o.n);
        return {answer::done, n, take(other, n), false};
      }
      case verb::shed_half: {
        const std::size_t n = own.items.size() / 2;
        return {answer::done, n, take(own, n), false};
      }
      case verb::drain: {
        const std::size_t n = own.items.size();
        return {answer::done, n, take(own, n), false};
      }
      case verb::room: return {answer::done, room(own), {}, false};
      case verb::has_work: return {answer::done, other.items.empty() ? 0U : 1U, {}, false};
      case verb::size_approx: return {answer::done, other.items.size(), {}, false};
      default: return {};
    }
  }

  [[nodiscard]] bool is_empty(std::size_t i) const { return queues_[i].items.empty(); }

  /// The number of ways in which a concurrent call may have had its result.
  [[nodiscard]] unsigned variants(const operation&, const outcome&) const { return 1; }

  /// One atomic step of a concurrent call that returned `seen`.
  progress step(const operation& o, unsigned phase, unsigned, const outcome& seen) {
    queue& own = queues_[o.actor];
    queue& other = queues_[o.victim];
    hand& mine = hands_[o.actor];
    switch (o.what) {
      case verb::push:
        if ((room(own) != 0) != (seen.count == 1)) return progress::illegal;
        if (seen.count == 1) append(own, {o.first});
        return progress::done;
      case verb::push_batch:
        // The call looks at the room, which thieves may enlarge before the batch is published.
        if (phase == 0) return std::min<std::size_t>(o.n, room(own)) == seen.count ? progress::more : progress::illegal;
        append(own, run_of(o.first, seen.count));
        return progress::done;
      case verb::pop:
        if (seen.taken.empty()) return done_if(own.items.empty());
        if (own.items.empty() || next(own) != seen.taken[0]) return progress::illegal;
        (void)pop(own, 1);
        return progress::done;
      case verb::steal:
        // The owner of a LIFO deque takes its last element when it reserves it, which thieves may see ("empty"), but
        // moves the top only later. So a thief may lose to a take that came before the thief's call, and any earlier
        // take explains `lost`.
        if (seen.what == answer::lost) return newest_first_ ? done_if(other.takes != 0) : lost(mine, other, phase);
        if (seen.what == answer::empty) return done_if(other.items.empty());
        return done_if(seen.count == 1 && claim(other, seen.taken));
      case verb::steal_half: return step_steal_half(o, phase, seen, mine, own, other);
      case verb::steal_out: return step_steal_out(o, phase, seen, mine, other);
      case verb::shed_half:
        if (seen.count != 0) return done_if(own.items.size() / 2 == seen.count && claim(own, seen.taken));
        if (phase == 0 && own.items.size() < 2) return progress::done;
        return lost(mine, own, phase);
      case verb::drain: return done_if(own.items.size() == seen.count && claim(own, seen.taken));
      case verb::size_approx: return done_if(seen.count <= capacity_);
      case verb::hand_over: return progress::done;
      case verb::has_work:
        // For the same reason a LIFO deque may still say yes about the element that its owner is popping.
        if (newest_first_ && seen.count != 0) return done_if(other.takes != 0 || !other.items.empty());
        return done_if(apply(o) == seen);
      default: return done_if(operation_is_a_look(o) && apply(o) == seen);
    }
  }

  void encode(std::vector<std::uint32_t>& key) const {
    for (const queue& q : queues_) {
      detail::encode_queue(key, q.items);
      key.push_back(q.takes);
    }
    for (const hand& h : hands_) {
      key.push_back(static_cast<std::uint32_t>(h.n));
      key.push_back(h.takes);
      key.insert(key.end(), h.batch.begin(), h.batch.end());
    }
  }

  /// The values that a call has put in.
  static values entered(const operation& o, const outcome& seen) {
    return run_of(o.first, std::min(fresh_values(o), seen.count));
  }

  static operation prefill(value v) { return {verb::push, 0, 0, 0, 0, v}; }

  /// Turns any numbers into a call that keeps the contract.
  static operation tidy(operation o, const candidate& c, std::size_t queues) {
    const auto next = static_cast<std::uint8_t>((o.actor + 1U + o.m % (queues - 1)) % queues);
    switch (o.what) {
      case verb::steal: o.victim = next; break;
      case verb::steal_half:
      case verb::steal_out:
        o.victim = next;
        if (o.n == 0) o.n = static_cast<std::uint16_t>(std::min<std::size_t>(c.capacity, 0xFFFF));
        break;
      case verb::has_work:
      case verb::size_approx: o.victim = static_cast<std::uint8_t>(o.m % queues); break;
      default: o.victim = o.actor; break;
    }
    return o;
  }

  /// The calls of thread `actor` in a concurrent script: thread 0 pushes and pops, the others steal.
  static std::vector<verb> concurrent_mix(std::size_t actor) {
    if (actor == 0) {
      return {verb::push, verb::push, verb::push_batch, verb::pop,   verb::pop,
              verb::room, verb::pop,  verb::shed_half,  verb::drain, verb::steal_half};
    }
    return {verb::steal_half, verb::steal,    verb::steal_half, verb::steal_out,   verb::pop,  verb::steal,
            verb::steal_half, verb::has_work, verb::steal,      verb::size_approx, verb::push, verb::steal_out};
  }

  /// What takes one element out of actor `a`'s queue, for emptying it at the end.
  static std::vector<operation> emptying(std::size_t queues) {
    std::vector<operation> ops;
    for (std::size_t a = 0; a != queues; ++a) {
      ops.push_back({verb::pop, static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(a), 0, 0, 0});
    }
    return ops;
  }

  /// The call and the answer expected of it, as lines of a unit test.
  static std::string code(const operation& o, const outcome& want, const paste& words);

 private:
  struct queue {
    std::deque<value> items;
    std::uint32_t takes = 0;  // how many times an actor took something: what a claim compares
  };
  struct hand {  // between the steps of one call
    std::size_t n = 0;
    std::uint32_t takes = 0;
    values batch;
  };

  static progress done_if(bool ok) { return ok ? progress::done : progress::illegal; }
  static std::size_t add(std::size_t a, std::size_t b) { return a > unbounded - b ? unbounded : a + b; }
  static bool operation_is_a_look(const operation& o) { return o.what == verb::room || o.what == verb::has_work; }

  [[nodiscard]] std::size_t room(const queue& q) const { return capacity_ - q.items.size(); }
  static std::size_t half(const queue& q, std::size_t limit) {
    return std::min(q.items.size() - q.items.size() / 2, limit);
  }
  static void append(queue& q, const values& vs) { q.items.insert(q.items.end(), vs.begin(), vs.end()); }
  static values take(queue& q, std::size_t n) {
    if (n != 0) ++q.takes;
    return detail::cut_front(q.items, n);
  }
  [[nodiscard]] value next(const queue& q) const { return newest_first_ ? q.items.back() : q.items.front(); }
  outcome pop(queue& q, std::size_t n) {
    n = std::min(n, q.items.size());
    if (n == 0) return {answer::empty, 0, {}, false};
    if (!newest_first_) return {answer::done, n, take(q, n), false};
    values vs(q.items.rbegin(), q.items.rbegin() + static_cast<std::ptrdiff_t>(n));
    q.items.resize(q.items.size() - n);
    ++q.takes;
    return {answer::done, n, vs, false};
  }
  static bool claim(queue& q, const values& vs) {
    if (!detail::starts_with(q.items, vs)) return false;
    (void)take(q, vs.size());
    return true;
  }

  // A look, and later the failed claim: another actor must have taken something in between.
  static progress lost(hand& mine, const queue& q, unsigned phase) {
    if (phase == 0) {
      mine.takes = q.takes;
      return progress::more;
    }
    if (mine.takes == q.takes) return progress::illegal;
    mine = {};
    return progress::done;
  }

  // A look at the victim, a look at the thief's own room, the claim, the publication.
  progress step_steal_half(const operation& o, unsigned phase, const outcome& seen, hand& mine, queue& own,
                           queue& other) {
    if (seen.what == answer::lost) return lost(mine, other, phase);
    if (seen.what == answer::empty) return done_if(other.items.empty());
    switch (phase) {
      case 0:
        mine.n = half(other, o.n);
        mine.takes = other.takes;
        return mine.n >= seen.count && seen.count != 0 ? progress::more : progress::illegal;
      case 1: return std::min(mine.n, add(room(own), 1)) == seen.count ? progress::more : progress::illegal;
      case 2: {
        if (mine.takes != other.takes) return progress::illegal;  // half of elements that are no longer there
        values batch = take(other, seen.count);
        const value newest = batch.back();
        batch.pop_back();
        mine = {0, 0, batch};
        if (newest != seen.taken[0]) return progress::illegal;
        return batch.empty() ? progress::done : progress::more;
      }
      default:
        append(own, mine.batch);
        mine = {};
        return progress::done;
    }
  }

  // A look at the victim, the claim.
  progress step_steal_out(const operation& o, unsigned phase, const outcome& seen, hand& mine, queue& other) {
    if (seen.what == answer::lost) return lost(mine, other, phase);
    if (seen.what == answer::empty) return done_if(other.items.empty());
    if (phase == 0) {
      mine.takes = other.takes;
      return half(other, o.n) == seen.count && seen.count != 0 ? progress::more : progress::illegal;
    }
    if (mine.takes != other.takes) return progress::illegal;
    mine = {};
    return done_if(seen.taken.size() == seen.count && claim(other, seen.taken));
  }

  std::size_t capacity_;
  bool newest_first_;
  std::vector<queue> queues_;
  std::vector<hand> hands_;
};

inline std::string fifo_spec::code(const operation& o, const outcome& want, const paste& words) {
  const std::string own = "owner" + std::to_string(o.actor);
  const std::string thief = "owner" + std::to_string(o.victim) + words.thief;
  std::ostringstream s;
  const auto stolen = [&](const std::string& call) {
    s << "{\n    const auto r = " << call << ";\n    EXPECT_EQ(r.status, " << status_code(want.what) << ");\n";
    if (want.what == answer::done) {
      s << "    EXPECT_EQ(r.value, " << want.taken[0] << "U);\n    EXPECT_EQ(r.count, " << want.count << "U);\n";
    }
    s << "  }";
  };
  const auto popped = [&](const values& vs) {
    for (const value v : vs) s << "EXPECT_EQ(" << own << ".pop(), std::optional<std::uint32_t>(" << v << "));\n  ";
  };
  switch (o.what) {
    case verb::push:
      s << "EXPECT_EQ(" << own << ".push(" << o.first << "), " << (want.count == 1 ? "true" : "false") << ");";
      break;
    case verb::push_run:
      s << "for (std::uint32_t v = " << o.first << "; v != " << o.first + o.n << "; ++v) EXPECT_EQ(" << own
        << ".push(v), v < " << o.first + want.count << ");";
      break;
    case verb::push_batch:
      s << "EXPECT_EQ(" << own << ".push_batch(std::vector<std::uint32_t>" << braces(run_of(o.first, o.n)) << "), "
        << want.count << "U);";
      break;
    case verb::pop:
    case verb::pop_run:
      popped(want.taken);
      if (want.taken.size() < (o.what == verb::pop ? 1U : o.n)) s << "EXPECT_EQ(" << own << ".pop(), std::nullopt);";
      break;
    case verb::steal: stolen(thief + ".steal()"); break;
    case verb::steal_half: stolen(thief + ".steal_half_into(" + own + ", " + std::to_string(o.n) + ")"); break;
    case verb::steal_out:
      s << "{\n    std::vector<std::uint32_t> out(" << o.n << ");\n    const auto r = " << thief
        << ".steal_half(out);\n    EXPECT_EQ(r.status, " << status_code(want.what) << ");\n    out.resize(r.count);\n"
        << "    EXPECT_EQ(out, (std::vector<std::uint32_t>" << braces(want.taken) << "));\n  }";
      break;
    case verb::shed_half:
      if (words.thief.empty()) {
        s << "EXPECT_EQ(" << own << ".shed_half(), (std::vector<std::uint32_t>" << braces(want.taken) << "));";
        break;
      }
      s << "{\n    std::array<std::uint32_t, " << words.capacity / 2 << "> out{};\n    EXPECT_EQ(" << own
        << ".shed_half(out), " << want.count << "U);\n";
      for (std::size_t i = 0; i != want.taken.size(); ++i)
        s << "    EXPECT_EQ(out[" << i << "], " << want.taken[i] << "U);\n";
      s << "  }";
      break;
    case verb::drain:
      if (words.thief.empty()) {
        s << "EXPECT_EQ(" << own << ".drain(), (std::vector<std::uint32_t>" << braces(want.taken) << "));";
        break;
      }
      s << "{\n    std::vector<std::uint32_t> out;\n    " << own
        << ".drain([&out](std::uint32_t v) { out.push_back(v); });\n    EXPECT_EQ(out, (std::vector<std::uint32_t>"
        << braces(want.taken) << "));\n  }";
      break;
    case verb::room: s << "EXPECT_EQ(" << own << ".room(), " << want.count << "U);"; break;
    case verb::has_work:
      s << "EXPECT_EQ(" << thief << ".has_work(), " << (want.count != 0 ? "true" : "false") << ");";
      break;
    case verb::size_approx: s << "EXPECT_EQ(" << thief << ".size_approx(), " << want.count << "U);"; break;
    case verb::hand_over:
      s << "{\n    auto moved = std::move(" << own << ");\n    " << own << " = std::move(moved);\n  }";
      break;
    default: break;
  }
  return s.str();
}

/// Queues of one type behind `subject`.
template <class Queue>
class fifo_subject final : public subject {
 public:
  fifo_subject(std::uint64_t start, std::size_t queues) {
    for (std::size_t i = 0; i != queues; ++i) queues_.push_back(std::make_unique<Queue>(start));
  }

  static std::vector<verb> verbs() {
    std::vector<verb> vs{verb::push, verb::push_run, verb::pop, verb::pop_run, verb::steal};
    if constexpr (has_push_batch) vs.push_back(verb::push_batch);
    if constexpr (has_steal_half) vs.push_back(verb::steal_half);
    if constexpr (has_shed_half) vs.push_back(verb::shed_half);
    if constexpr (has_drain) vs.push_back(verb::drain);
    if constexpr (has_room) vs.push_back(verb::room);
    if constexpr (has_has_work) vs.push_back(verb::has_work);
    if constexpr (has_size) vs.push_back(verb::size_approx);
    if constexpr (has_hand_over) vs.push_back(verb::hand_over);
    if constexpr (has_steal_out) vs.push_back(verb::steal_out);
    return vs;
  }

  outcome apply(const operation& o) override {
    Queue& own = *queues_[o.actor];
    Queue& other = *queues_[o.victim];
    switch (o.what) {
      case verb::push: return {answer::done, own.push(o.first) ? 1U : 0U, {}, false};
      case verb::push_run: {
        outcome r;
        for (const value v : run_of(o.first, o.n)) r.count += own.push(v) ? 1U : 0U;
        return r;
      }
      case verb::pop: return pop(own, 1);
      case verb::pop_run: return pop(own, o.n);
      case verb::steal: {
        const steal_result<value> r = other.steal();
        return outcome_of(r, r.value);
      }
      default: return apply_optional(o, own, other);
    }
  }

  /// Queue number `i`, for what is no operation of this class.
  [[nodiscard]] const Queue& queue(std::size_t i) const { return *queues_[i]; }

  void rebind() override {
    if constexpr (requires(Queue & q) { q.rebind(); }) {
      for (auto& q : queues_) q->rebind();
    }
  }

 private:
  static constexpr bool has_push_batch = requires(Queue & q, std::span<const value> s) { q.push_batch(s); };
  static constexpr bool has_steal_half = requires(Queue & q) { q.steal_half_into(q, std::size_t{1}); };
  static constexpr bool has_steal_out = requires(Queue & q, std::span<value> s) { q.steal_half(s); };
  static constexpr bool has_shed_half = requires(Queue & q) { q.shed_half(); };
  static constexpr bool has_drain = requires(Queue & q) { q.drain(); };
  static constexpr bool has_room = requires(Queue & q) { q.room(); };
  static constexpr bool has_has_work = requires(Queue & q) { q.has_work(); };
  static constexpr bool has_size = requires(Queue & q) { q.size_approx(); };
  static constexpr bool has_hand_over = requires(Queue & q) { q.hand_over(); };

  static outcome pop(Queue& own, std::size_t n) {
    outcome r{answer::empty, 0, {}, false};
    for (std::size_t i = 0; i != n; ++i) {
      const std::optional<value> v = own.pop();
      if (!v) break;
      r.taken.push_back(*v);
    }
    r.count = r.taken.size();
    if (r.count != 0) r.what = answer::done;
    return r;
  }

  static outcome apply_optional(const operation& o, [[maybe_unused]] Queue& own, [[maybe_unused]] Queue& other) {
    if constexpr (has_push_batch) {
      if (o.what == verb::push_batch) {
        const values vs = run_of(o.first, o.n);
        return {answer::done, own.push_batch(std::span<const value>(vs)), {}, false};
      }
    }
    if constexpr (has_steal_half) {
      if (o.what == verb::steal_half) {
        const steal_result<value> r = other.steal_half_into(own, o.n);
        return outcome_of(r, r.value);
      }
    }
    if constexpr (has_steal_out) {
      if (o.what == verb::steal_out) {
        values out(o.n);
        const batch_result r = other.steal_half(out);
        out.resize(std::min(r.count, out.size()));
        return {answer_of(r.status), r.count, std::move(out), false};
      }
    }
    if constexpr (has_shed_half) {
      if (o.what == verb::shed_half) return batch(own.shed_half());
    }
    if constexpr (has_drain) {
      if (o.what == verb::drain) return batch(own.drain());
    }
    if constexpr (has_room) {
      if (o.what == verb::room) return {answer::done, own.room(), {}, false};
    }
    if constexpr (has_has_work) {
      if (o.what == verb::has_work) return {answer::done, other.has_work() ? 1U : 0U, {}, false};
    }
    if constexpr (has_size) {
      if (o.what == verb::size_approx) return {answer::done, other.size_approx(), {}, false};
    }
    if constexpr (has_hand_over) {
      if (o.what == verb::hand_over) own.hand_over();
    }
    return {};
  }

  static outcome batch(values vs) {
    const std::size_t n = vs.size();
    return {answer::done, n, std::move(vs), false};
  }

  std::vector<std::unique_ptr<Queue>> queues_;
};

/// Makes a candidate of an adaptor class; see the top of this file.
template <class Queue>
[[nodiscard]] candidate fifo_candidate(const std::string& type_name) {
  candidate c;
  c.name = type_name;
  c.capacity = Queue::capacity;
  if constexpr (requires { Queue::index_bits; }) c.index_bits = Queue::index_bits;
  if constexpr (requires { Queue::owner_pops_newest; }) c.owner_pops_newest = Queue::owner_pops_newest;
  if constexpr (requires { Queue::run; }) c.run = Queue::run;
  c.expression = "runq::props::fifo_candidate<" + type_name + ">(\"" + type_name + "\")";
  c.verbs = fifo_subject<Queue>::verbs();
  c.make = [](std::uint64_t start, std::size_t queues) -> std::unique_ptr<subject> {
    return std::make_unique<fifo_subject<Queue>>(start, queues);
  };
  c.code = [type_name](std::uint64_t start, std::size_t queues) {
    paste p;
    if constexpr (requires { Queue::code(start, queues); }) {
      p = Queue::code(start, queues);
    } else {
      for (std::size_t i = 0; i != queues; ++i) {
        p.setup += "  " + type_name + " owner" + std::to_string(i) + "(" + std::to_string(start) + ");\n";
      }
      p.thief.clear();
    }
    p.capacity = Queue::capacity;
    return p;
  };
  return c;
}

}  // namespace runq::props
