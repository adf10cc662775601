// SPDX-License-Identifier: MIT
// The laws that are promised of several queues.
//
// A law is a property and a name that says what is promised. A `stateful_law` runs random calls on a candidate and on
// its specification; a `threads_law` runs random scripts on real threads. Both take any candidate, and are templates
// over the specification that soon forget its type (any_spec.hpp). runner.hpp runs them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <rapidcheck.h>
#include <rapidcheck/state.h>

#include "any_spec.hpp"
#include "history.hpp"
#include "law.hpp"
#include "operations.hpp"
#include "threads.hpp"

namespace runq::props {

// RapidCheck prints generated values with these.
inline void showValue(const operation& o, std::ostream& out) { out << o; }

/// What a stateful law checks.
struct focus {
  std::string name;
  /// The calls that it makes. A call that is listed twice is made twice as often; calls that a candidate does not have
  /// are left out.
  std::vector<verb> mix;
  /// Whether an answer agrees with the expected one; empty: the law does not consult the specification.
  std::function<bool(const operation&, const outcome& want, const outcome& seen)> agree;
  /// The calls that the law is about: it is not run on candidates that lack one of them.
  std::vector<verb> needs{};
  /// Whether every element that went in, and no other, comes out, and exactly once. Does not consult the specification.
  bool conserve = false;
  /// Whether actor 0 and the thieves get the elements in the order in which actor 0, which alone puts, has put them.
  bool in_order = false;
  /// Whether to make the same calls on a second candidate, whose counters start elsewhere, and compare all answers.
  bool any_start = false;
};

/// For calls with one of these verbs, everything that the call returns must agree.
inline auto agree_on(std::vector<verb> verbs) {
  return [verbs = std::move(verbs)](const operation& o, const outcome& want, const outcome& seen) {
    for (const verb v : verbs) {
      if (v == o.what) return want == seen;
    }
    return true;
  };
}
inline bool agree_on_all(const operation&, const outcome& want, const outcome& seen) { return want == seen; }

namespace detail {

struct model {
  any_spec spec;
  value next = 1;
};

/// A candidate under test, with a record of the calls made on it.
class execution {
 public:
  execution(const candidate& c, const focus& f, std::uint64_t start, std::size_t queues)
      : candidate_(c), focus_(f), start_(start), queues_(queues), words_(c.code(start, queues)) {
    subject_ = c.make(start, queues);
    if (f.any_start) twin_ = c.make(0, queues);
    transcript::begin(words_, c.name + ", counters from " + std::to_string(start));
  }

  void run(const any_spec& before, const operation& o) {
    ++calls_made();
    any_spec after = before;
    const outcome want = after.apply(o);
    transcript::add(before.traits().code(o, want, words_));
    const outcome seen = subject_->apply(o);
    std::ostringstream what;
    what << o << " of " << candidate_.name << ", counters from " << start_;
    if (focus_.agree && !focus_.agree(o, want, seen)) {
      what << "\nexpected " << want << "\ngot      " << seen;
      RC_FAIL(what.str());
    }
    if (twin_) {
      const outcome other = twin_->apply(o);
      if (!(other == seen)) {
        what << "\nwith counters from 0  " << other << "\nwith counters as here " << seen;
        RC_FAIL(what.str());
      }
    }
    const values in = before.traits().entered(o, seen);
    entered_.insert(in.begin(), in.end());
    if (o.actor == 0) pushed_ += in.size();
    for (const value v : seen.taken) left(v, what.str());
  }

  // Empties the queues, and crosses the wrap-around of the counters if the calls so far have not.
  void finish(any_spec spec, value next) {
    const spec_traits& traits = spec.traits();
    const auto call = [&](operation o) {
      o.first = next;
      next += static_cast<value>(traits.fresh_values(o));
      run(spec, o);
      return spec.apply(o);
    };
    if (candidate_.index_bits != 0) {
      const std::uint64_t to_wrap = candidate_.index_bits == 64 ? 0 - start_ : (1ULL << candidate_.index_bits) - start_;
      for (const operation& o : traits.emptying(queues_)) {
        while (call(o).what != answer::empty) {
        }
      }
      const auto chunk = static_cast<std::uint16_t>(std::min<std::size_t>(candidate_.capacity, 1024));
      while (pushed_ < to_wrap) {
        call({verb::push_run, 0, 0, chunk, 0, 0});
        call({verb::pop_run, 0, 0, chunk, 0, 0});
        if (entered_.empty()) break;  // the queue accepts no element: another law reports that
      }
    }
    for (const operation& o : traits.emptying(queues_)) {
      while (call(o).what != answer::empty) {
      }
      // Makes one more call, which should find nothing: the queue may hold more elements than it should.
      transcript::add(traits.code(o, {answer::empty, 0, {}, false}, words_));
      for (const value v : subject_->apply(o).taken) left(v, "when all is taken");
    }
    if (focus_.conserve && gone_.size() != entered_.size()) {
      RC_FAIL(std::to_string(entered_.size()) + " went into " + candidate_.name + ", " + std::to_string(gone_.size()) +
              " came out");
    }
  }

 private:
  void left(value v, const std::string& where) {
    if (focus_.conserve) {
      if (entered_.count(v) == 0) RC_FAIL("never put in: " + std::to_string(v) + ", from " + where);
      if (!gone_.insert(v).second) RC_FAIL("taken twice: " + std::to_string(v) + ", by " + where);
    }
    if (focus_.in_order) {
      if (v <= last_) RC_FAIL(std::to_string(v) + " came out after " + std::to_string(last_) + ", by " + where);
      last_ = v;
    }
  }

  const candidate& candidate_;
  const focus& focus_;
  std::uint64_t start_;
  std::size_t queues_;
  paste words_;
  std::unique_ptr<subject> subject_, twin_;
  std::set<value> entered_, gone_;
  std::uint64_t pushed_ = 0;
  value last_ = 0;
};

class command final : public rc::state::Command<model, execution> {
 public:
  explicit command(const operation& o) : call_(o) {}
  void apply(model& m) const override {
    const operation o = at(m);
    m.next += static_cast<value>(m.spec.traits().fresh_values(o));
    (void)m.spec.apply(o);
  }
  void run(const model& m, execution& e) const override { e.run(m.spec, at(m)); }
  void show(std::ostream& out) const override { out << call_; }

 private:
  operation at(const model& m) const {
    operation o = call_;
    o.first = m.next;
    return o;
  }
  operation call_;
};

/// A number from `low` to `high` - 1, all of them at every size: RapidCheck's inRange() offers the lower part of the
/// range only while the size is small, and within gen::resize(). Shrinks to `low`.
template <class T>
rc::Gen<T> between(T low, T high) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(low, high));
}

/// Any call of these, on `queues` queues.
inline rc::Gen<operation> any_operation(const spec_traits& traits, std::vector<verb> mix, const candidate& c,
                                        std::size_t first_actor, std::size_t actors, std::size_t queues) {
  const int most = static_cast<int>(std::min<std::size_t>(c.capacity, 300) + 3);
  return rc::gen::map(
      rc::gen::tuple(between<std::size_t>(0, mix.size()), detail::between<std::size_t>(0, actors),
                     rc::gen::weightedOneOf<int>({{3, between(0, 5)}, {1, between(0, most)}}), detail::between(0, 6)),
      [=, tidy = traits.tidy](const std::tuple<std::size_t, std::size_t, int, int>& drawn) {
        operation o;
        o.what = mix[std::get<0>(drawn)];
        o.actor = static_cast<std::uint8_t>(first_actor + std::get<1>(drawn));
        o.n = static_cast<std::uint16_t>(std::get<2>(drawn));
        o.m = static_cast<std::uint16_t>(std::get<3>(drawn));
        return tidy(o, c, queues);
      });
}

inline std::vector<verb> only_those_of(const candidate& c, const std::vector<verb>& mix) {
  std::vector<verb> mine;
  for (const verb v : mix) {
    if (c.has(v)) mine.push_back(v);
  }
  return mine;
}

/// A start from which at most some 2 · capacity pushes cross the wrap-around.
inline std::uint64_t start_near_wrap(const candidate& c, std::uint64_t before) {
  if (c.index_bits == 0) return 0;
  const std::uint64_t start = 0 - before;
  return c.index_bits == 64 ? start : start & ((1ULL << c.index_bits) - 1);
}

/// Runs one case of a law about sequences of calls. `make` is the specification of a candidate with so many queues.
inline void run_stateful_case(const std::vector<candidate>& candidates, const focus& f, const spec_traits& traits,
                              any_spec (*make)(const candidate&, std::size_t)) {
  const candidate& c = candidates[*between<std::size_t>(0, candidates.size())];
  const std::size_t queues = traits.how_many;
  const int near = static_cast<int>(std::min<std::size_t>(2 * std::min<std::size_t>(c.capacity, 64), 127));
  const std::uint64_t start = start_near_wrap(c, static_cast<std::uint64_t>(*between(1, near + 1)));
  const std::vector<verb> mix = only_those_of(c, f.mix);
  RC_PRE(!mix.empty());
  const model initial{make(c, queues)};
  const auto any = any_operation(traits, mix, c, 0, queues, queues);
  const bool one_producer = f.in_order;
  const auto commands = *rc::state::gen::commands(initial, [&](const model&) {
    return rc::gen::map(any, [=](operation o) {
      if (one_producer && o.victim == o.actor) o.actor = o.victim = 0;
      if (one_producer && o.victim != o.actor) o.actor = 1, o.victim = 0;
      return std::shared_ptr<const rc::state::Command<model, execution>>(std::make_shared<const command>(o));
    });
  });
  execution e(c, f, start, queues);
  model m = initial;
  rc::state::runAll(commands, initial, e);
  rc::state::applyAll(commands, m);
  e.finish(m.spec, m.next);
}

}  // namespace detail

/// A law about sequences of calls on each of the candidates; each case draws one of them.
template <class Spec>
[[nodiscard]] law stateful_law(const std::vector<candidate>& candidates, const focus& f) {
  return {f.name, [candidates, f] {
            detail::run_stateful_case(candidates, f, detail::traits_of<Spec>, detail::any_spec::of<Spec>);
          }};
}

/// One law for each focus that some candidate can be asked about.
template <class Spec>
[[nodiscard]] std::vector<law> stateful_laws(const std::vector<candidate>& candidates, const std::vector<focus>& all) {
  std::vector<law> laws;
  for (const focus& f : all) {
    std::vector<candidate> able;
    for (const candidate& c : candidates) {
      // A candidate whose counters always start at 0 shows nothing about other starts.
      if (f.any_start && c.index_bits == 0) continue;
      if (detail::only_those_of(c, f.needs).size() == f.needs.size()) able.push_back(c);
    }
    if (!able.empty()) laws.push_back(stateful_law<Spec>(able, f));
  }
  return laws;
}

namespace detail {

/// Runs one case of a law about real threads. Once a script has failed, which makes it `suspicious`, each smaller
/// script must pass more runs before it counts as passing.
inline void run_threads_case(const std::vector<candidate>& candidates, bool pinned, bool& suspicious,
                             const spec_traits& traits,
                             threads_report (*attempt)(const candidate&, const script&, std::uint64_t chaos_seed,
                                                       std::size_t times, std::size_t configurations)) {
  const candidate& c = candidates[*between<std::size_t>(0, candidates.size())];
  const auto threads = *between<std::size_t>(2, 5);
  script s;
  s.pin = !pinned ? pinning::none : *rc::gen::element(pinning::one_core, pinning::spread);
  s.start = start_near_wrap(c, static_cast<std::uint64_t>(*between(1, 9)));
  s.prefill = static_cast<std::uint16_t>(*between(0, 5));
  for (std::size_t t = 0; t != threads; ++t) {
    const auto mix = only_those_of(c, traits.concurrent_mix(t));
    auto calls =
        *rc::gen::resize(30, rc::gen::container<std::vector<operation>>(any_operation(traits, mix, c, t, 1, threads)));
    if (calls.size() > 12) calls.resize(12);
    // Most of the calls go to queue 0, so that threads meet there.
    for (operation& o : calls) {
      if (t != 0 && o.victim != o.actor && o.m < 5) o.victim = 0;
      o.n = std::min<std::uint16_t>(o.n, 6);
    }
    s.threads.push_back(std::move(calls));
  }
  const auto seed = *rc::gen::noShrink(rc::gen::arbitrary<std::uint32_t>());
  const auto report = attempt(c, s, seed, suspicious ? 300 : 5, histories_judged().configurations);
  calls_made() += report.runs * s.calls();
  histories_judged().judged += report.runs;
  histories_judged().undecided += report.undecided;
  if (report.failure.empty()) return;
  suspicious = true;
  std::ostringstream code;
  code << "  using namespace runq::props;\n  EXPECT_TRUE(holds_on_threads<" << traits.type_name << ">(" << c.expression
       << ",\n    " << s << ",\n    " << seed << "U, 10000));\n";
  transcript::replace(code.str());
  RC_FAIL(c.name + ", " + report.failure);
}

}  // namespace detail

/// A law about real threads: every history can be explained by the specification.
template <class Spec>
[[nodiscard]] law threads_law(const std::string& name, const std::vector<candidate>& candidates, bool pinned) {
  auto suspicious = std::make_shared<bool>(false);
  return {
      name,
      [=] { detail::run_threads_case(candidates, pinned, *suspicious, detail::traits_of<Spec>, try_on_threads<Spec>); },
      5};
}

}  // namespace runq::props
