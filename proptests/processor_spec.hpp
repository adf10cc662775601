// SPDX-License-Identifier: MIT
// A processor's queue, with runnext, ring and overflow into a global queue: what it is supposed to do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "fifo.hpp"
#include "history.hpp"
#include "operations.hpp"
#include "shared_spec.hpp"

namespace runq::props {

/// The reference: processors 0, 1, … and one global queue. `count` is what a push returns: how many went there.
class processor_spec {
 public:
  using operation = props::operation;
  using response = outcome;
  static constexpr const char* type_name = "runq::props::processor_spec";
  static constexpr std::size_t how_many = 2;

  processor_spec(const candidate& c, std::size_t processors)
      : capacity_(c.capacity), processors_(processors), hands_(processors) {}

  [[nodiscard]] static std::size_t fresh_values(const operation& o) {
    switch (o.what) {
      case verb::push:
      case verb::push_next: return 1;
      case verb::push_run:
      case verb::push_batch:
      case verb::global_put: return o.n;
      default: return 0;
    }
  }
  static values entered(const operation& o, const outcome&) { return run_of(o.first, fresh_values(o)); }
  static operation prefill(value v) { return {verb::push_next, 0, 0, 0, 0, v}; }
  static std::vector<operation> emptying(std::size_t processors) {
    std::vector<operation> ops;
    for (std::size_t a = 0; a != processors; ++a) {
      ops.push_back({verb::pop, static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(a), 0, 0, 0});
    }
    ops.push_back({verb::global_take, 0, 0, 0, 0, 0});
    return ops;
  }
  static operation tidy(operation o, const candidate& c, std::size_t processors) {
    const auto next = static_cast<std::uint8_t>((o.actor + 1U + o.m % (processors - 1)) % processors);
    switch (o.what) {
      case verb::steal_half:
        o.victim = next;
        o.m %= 2;
        if (o.n == 0) o.n = static_cast<std::uint16_t>(c.capacity);
        break;
      case verb::has_work_approx:
      case verb::has_work:
      case verb::size_approx: o.victim = static_cast<std::uint8_t>(o.m % processors); break;
      case verb::take_from: o.n = std::max<std::uint16_t>(o.n, 1); [[fallthrough]];
      default: o.victim = o.actor; break;
    }
    return o;
  }
  static std::vector<verb> concurrent_mix(std::size_t actor) {
    if (actor == 0) {
      return {verb::push_next, verb::pop,       verb::push, verb::push_next,  verb::pop,
              verb::push,      verb::take_from, verb::pop,  verb::push_batch, verb::drain};
    }
    return {verb::steal_half, verb::has_work_approx, verb::steal_half, verb::has_work_approx, verb::pop,
            verb::steal_half, verb::take_from,       verb::global_put, verb::global_take,     verb::has_work};
  }

  outcome apply(const operation& o) {
    processor& own = processors_[o.actor];
    processor& other = processors_[o.victim];
    switch (o.what) {
      case verb::push: return {answer::done, push(own, o.first), {}, false};
      case verb::push_run: {
        outcome r;
        for (const value v : run_of(o.first, o.n)) r.count += push(own, v);
        return r;
      }
      case verb::push_next: {
        const value displaced = std::exchange(own.next, o.first);
        return {answer::done, displaced == 0 ? 0 : push(own, displaced), {}, false};
      }
      case verb::push_batch: {
        const std::size_t fits = std::min<std::size_t>(o.n, room(own));
        append(own.ring, run_of(o.first, fits));
        append(global_, run_of(o.first + static_cast<value>(fits), o.n - fits));
        return {answer::done, o.n - fits, {}, false};
      }
      case verb::pop: return pop(own);
      case verb::pop_run: {
        outcome r{answer::empty, 0, {}, false};
        for (std::size_t i = 0; i != o.n; ++i) {
          const outcome one = pop(own);
          r.taken.insert(r.taken.end(), one.taken.begin(), one.taken.end());
        }
        r.count = r.taken.size();
        if (r.count != 0) r.what = answer::done;
        return r;
      }
      case verb::steal_half: {
        if (other.ring.empty()) {
          if (o.m == 0 || other.next == 0) return {answer::empty, 0, {}, false};
          return {answer::done, 1, {std::exchange(other.next, 0)}, false};
        }
        const std::size_t n = std::min(half(other, o.n), room(own) + 1);
        values batch = take(other, n);
        const value newest = batch.back();
        batch.pop_back();
        append(own.ring, batch);
        return {answer::done, n, {newest}, false};
      }
      case verb::take_from: {
        const std::size_t n = shared_spec::share(global_.size(), o.n, room(own) + 1);
        values batch = detail::cut_front(global_, n);
        if (batch.empty()) return {answer::empty, 0, {}, false};
        append(own.ring, values(batch.begin() + 1, batch.end()));
        return {answer::done, 1, {batch[0]}, false};
      }
      case verb::drain: {
        values all;
        if (own.next != 0) all.push_back(std::exchange(own.next, 0));
        const values ring = take(own, own.ring.size());
        all.insert(all.end(), ring.begin(), ring.end());
        return {answer::done, all.size(), all, false};
      }
      case verb::global_put: append(global_, run_of(o.first, o.n)); return {};
      case verb::global_take:
        if (global_.empty()) return {answer::empty, 0, {}, false};
        return {answer::done, 1, detail::cut_front(global_, 1), false};
      case verb::has_work_approx:
      case verb::has_work: return {answer::done, other.next != 0 || !other.ring.empty() ? 1U : 0U, {}, false};
      case verb::size_approx: return {answer::done, other.ring.size(), {}, false};
      default: return {};
    }
  }

  /// A thief that may take from both looks at the ring first and at runnext afterwards; a single element may come from
  /// either.
  [[nodiscard]] unsigned variants(const operation& o, const outcome& seen) const {
    return o.what == verb::steal_half && o.m == 1 && (seen.what == answer::lost || seen.count == 1) ? 2 : 1;
  }

  progress step(const operation& o, unsigned phase, unsigned variant, const outcome& seen) {
    processor& own = processors_[o.actor];
    processor& other = processors_[o.victim];
    hand& mine = hands_[o.actor];
    switch (o.what) {
      case verb::push:
        if (phase == 0) mine.batch = {o.first};
        return step_push(phase, seen, mine, own);
      case verb::push_next: {
        if (phase != 0) return mine.batch.empty() ? progress::done : step_push(phase - 1, seen, mine, own);
        const value displaced = std::exchange(own.next, o.first);
        ++own.changes;
        if (displaced == 0) return done_if(seen.count == 0);
        mine.batch = {displaced};
        return progress::more;
      }
      case verb::push_batch: {
        const std::size_t fits = o.n - std::min<std::size_t>(seen.count, o.n);
        if (phase == 0) return std::min<std::size_t>(o.n, room(own)) == fits ? progress::more : progress::illegal;
        if (phase == 1) {
          append(own.ring, run_of(o.first, fits));
          return seen.count == 0 ? progress::done : progress::more;
        }
        append(global_, run_of(o.first + static_cast<value>(fits), seen.count));
        return progress::done;
      }
      case verb::steal_half: return step_steal(o, phase, variant, seen, mine, own, other);
      case verb::take_from:
        switch (phase) {
          case 0: mine.n = room(own) + 1; return progress::more;
          case 1: {
            values batch = detail::cut_front(global_, shared_spec::share(global_.size(), o.n, mine.n));
            mine = {};
            if (batch.empty() || seen.taken.empty()) return done_if(batch.empty() && seen.taken.empty());
            if (batch[0] != seen.taken[0]) return progress::illegal;
            mine.batch.assign(batch.begin() + 1, batch.end());
            return mine.batch.empty() ? progress::done : progress::more;
          }
          default: return publish(mine, own);
        }
      case verb::drain:
        if (phase == 0) {
          // The state shows whether the first element came from runnext.
          mine.n = own.next != 0 ? 1 : 0;
          if (mine.n == 1) {
            if (seen.taken.empty() || seen.taken[0] != own.next) return progress::illegal;
            own.next = 0;
            ++own.changes;
          }
          return progress::more;
        } else {
          const values ring(seen.taken.begin() + static_cast<std::ptrdiff_t>(mine.n), seen.taken.end());
          mine = {};
          if (own.ring.size() != ring.size() || !detail::starts_with(own.ring, ring)) return progress::illegal;
          (void)take(own, ring.size());
          return progress::done;
        }
      case verb::pop: {
        if (own.next != 0) ++own.changes;
        return done_if(apply(o) == seen);
      }
      case verb::size_approx: return done_if(seen.count <= capacity_);
      default: return done_if(apply(o) == seen);
    }
  }

  void encode(std::vector<std::uint32_t>& key) const {
    for (const processor& p : processors_) {
      detail::encode_queue(key, p.ring);
      key.insert(key.end(), {p.next, p.takes, p.changes});
    }
    detail::encode_queue(key, global_);
    for (const hand& h : hands_) {
      key.push_back(static_cast<std::uint32_t>(h.n));
      key.push_back(h.mark);
      key.push_back(static_cast<std::uint32_t>(h.batch.size()));
      key.insert(key.end(), h.batch.begin(), h.batch.end());
    }
  }

  static std::string code(const operation& o, const outcome& want, const paste&) {
    const std::string own = "owner" + std::to_string(o.actor);
    const std::string victim = "local" + std::to_string(o.victim) + ".make_thief()";
    const std::string batch = "batch(" + std::to_string(o.first) + ", " + std::to_string(o.n) + ")";
    std::ostringstream s;
    const auto task = [](const values& vs) {
      return vs.empty() ? std::string("nullptr") : "&t[" + std::to_string(vs[0]) + "]";
    };
    switch (o.what) {
      case verb::push: s << "EXPECT_EQ(" << own << ".push(&t[" << o.first << "]), " << want.count << "U);"; break;
      case verb::push_next:
        s << "EXPECT_EQ(" << own << ".push_next(&t[" << o.first << "]), " << want.count << "U);";
        break;
      case verb::push_run:
        s << "{\n    std::size_t moved = 0;\n    for (std::size_t v = " << o.first << "; v != " << o.first + o.n
          << "; ++v) moved += " << own << ".push(&t[v]);\n    EXPECT_EQ(moved, " << want.count << "U);\n  }";
        break;
      case verb::push_batch: s << "EXPECT_EQ(" << own << ".push_batch(" << batch << "), " << want.count << "U);"; break;
      case verb::pop:
        s << "{\n    const auto p = " << own << ".pop();\n    EXPECT_EQ(p.task, " << task(want.taken)
          << ");\n    EXPECT_EQ(p.from_runnext, " << (want.from_next ? "true" : "false") << ");\n  }";
        break;
      case verb::pop_run:
        for (const value v : want.taken) s << "EXPECT_EQ(" << own << ".pop().task, &t[" << v << "]);\n  ";
        if (want.taken.size() < o.n) s << "EXPECT_EQ(" << own << ".pop().task, nullptr);";
        break;
      case verb::steal_half:
        s << "{\n    const auto r = " << own << ".steal_from(" << victim
          << ", runq::steal_runnext::" << (o.m == 1 ? "yes" : "no") << ", " << o.n << ", 2);\n    EXPECT_EQ(r.status, "
          << status_code(want.what) << ");\n    EXPECT_EQ(r.value, " << task(want.taken)
          << ");\n    EXPECT_EQ(r.count, " << want.count << "U);\n  }";
        break;
      case verb::take_from:
        s << "EXPECT_EQ(" << own << ".take_from(global, " << o.n << "), " << task(want.taken) << ");";
        break;
      case verb::drain:
        s << "EXPECT_EQ(ids(" << own << ".drain()), (std::vector<std::size_t>" << braces(want.taken) << "));";
        break;
      case verb::global_put: s << "global.splice(" << batch << ");"; break;
      case verb::global_take: s << "EXPECT_EQ(global.take(), " << task(want.taken) << ");"; break;
      case verb::has_work_approx:
      case verb::has_work:
        s << "EXPECT_EQ(" << victim << "." << name_of(o.what) << "(), " << (want.count != 0 ? "true" : "false") << ");";
        break;
      case verb::size_approx: s << "EXPECT_EQ(" << victim << ".size_approx(), " << want.count << "U);"; break;
      case verb::hand_over:
        s << "{\n    auto moved = std::move(" << own << ");\n    " << own << " = std::move(moved);\n  }";
        break;
      default: break;
    }
    return s.str();
  }

 private:
  struct processor {
    value next = 0;
    std::deque<value> ring;
    std::uint32_t takes = 0;    // from the ring
    std::uint32_t changes = 0;  // of runnext
  };
  struct hand {  // between the steps of one call: these elements are in no queue
    std::size_t n = 0;
    std::uint32_t mark = 0;
    values batch;
  };

  static progress done_if(bool ok) { return ok ? progress::done : progress::illegal; }
  [[nodiscard]] std::size_t room(const processor& p) const { return capacity_ - p.ring.size(); }
  static std::size_t half(const processor& p, std::size_t limit) {
    return std::min(p.ring.size() - p.ring.size() / 2, limit);
  }
  static void append(std::deque<value>& q, const values& vs) { q.insert(q.end(), vs.begin(), vs.end()); }
  static values take(processor& p, std::size_t n) {
    if (n != 0) ++p.takes;
    return detail::cut_front(p.ring, n);
  }
  std::size_t push(processor& p, value v) {
    if (room(p) != 0) {
      p.ring.push_back(v);
      return 0;
    }
    values batch = take(p, p.ring.size() / 2);
    batch.push_back(v);
    append(global_, batch);
    return batch.size();
  }
  static outcome pop(processor& p) {
    if (p.next != 0) return {answer::done, 1, {std::exchange(p.next, 0)}, true};
    if (!p.ring.empty()) return {answer::done, 1, take(p, 1), false};
    return {answer::empty, 0, {}, false};
  }
  static progress publish(hand& mine, processor& own) {
    append(own.ring, mine.batch);
    mine = {};
    return progress::done;
  }

  // Either the element in hand goes to the ring; or the ring is full, half of it is claimed and goes to the global
  // queue, followed by the element in hand.
  progress step_push(unsigned phase, const outcome& seen, hand& mine, processor& own) {
    if (seen.count == 0) return room(own) != 0 ? publish(mine, own) : progress::illegal;
    if (phase == 0) {
      if (room(own) != 0 || seen.count != capacity_ / 2 + 1) return progress::illegal;
      values batch = take(own, capacity_ / 2);
      batch.insert(batch.end(), mine.batch.begin(), mine.batch.end());
      mine.batch = batch;
      return progress::more;
    }
    append(global_, mine.batch);
    mine = {};
    return progress::done;
  }

  // A look, and then a claim that fails: `now` must have changed in between.
  static progress lost(hand& mine, std::uint32_t now, bool look) {
    if (look) {
      mine.mark = now;
      return progress::more;
    }
    if (mine.mark == now) return progress::illegal;
    mine = {};
    return progress::done;
  }

  progress step_steal(const operation& o, unsigned phase, unsigned variant, const outcome& seen, hand& mine,
                      processor& own, processor& other) {
    const bool empty = seen.what == answer::empty;
    if (variant == 1 || (empty && o.m == 1)) {
      // The thief finds the ring empty, and then looks at runnext.
      if (phase == 0) return other.ring.empty() ? progress::more : progress::illegal;
      if (empty) return done_if(other.next == 0);
      if (seen.what == answer::lost) {
        if (phase == 1 && other.next == 0) return progress::illegal;
        return lost(mine, other.changes, phase == 1);
      }
      if (other.next != seen.taken[0]) return progress::illegal;
      other.next = 0;
      ++other.changes;
      return progress::done;
    }
    if (empty) return done_if(other.ring.empty());
    if (seen.what == answer::lost) return lost(mine, other.takes, phase == 0);
    switch (phase) {
      case 0:
        mine.n = half(other, o.n);
        mine.mark = other.takes;
        return mine.n >= seen.count && seen.count != 0 ? progress::more : progress::illegal;
      case 1: return std::min(mine.n, room(own) + 1) == seen.count ? progress::more : progress::illegal;
      case 2: {
        if (mine.mark != other.takes) return progress::illegal;
        values batch = take(other, seen.count);
        const value newest = batch.back();
        batch.pop_back();
        mine = {0, 0, batch};
        if (newest != seen.taken[0]) return progress::illegal;
        return batch.empty() ? progress::done : progress::more;
      }
      default: return publish(mine, own);
    }
  }

  std::size_t capacity_;
  std::vector<processor> processors_;
  std::vector<hand> hands_;
  std::deque<value> global_;
};

}  // namespace runq::props
