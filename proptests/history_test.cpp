// SPDX-License-Identifier: MIT
// The history checker on histories that are known to be good or bad, on the specifications' own answers, and against a
// simple search by brute force.
#include "history.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iostream>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "fifo.hpp"
#include "processor_spec.hpp"
#include "shared_spec.hpp"
#include "slot_spec.hpp"

namespace {

using namespace runq::props;

int failures = 0;

void expect(bool ok, const std::string& what) {
  if (!ok) {
    ++failures;
    std::cout << "FAIL  " << what << "\n";
  }
}

const char* word(judgement j) {
  return j == judgement::explained ? "explained" : j == judgement::unexplained ? "unexplained" : "undecided";
}

template <class Spec>
void judge(const std::string& what, const Spec& initial, const history<Spec>& calls, judgement wanted) {
  const verdict v = explain(initial, calls);
  expect(v.what == wanted, what + ": " + word(v.what) + ", should be " + word(wanted));
  if (v.what != wanted) print(std::cout, calls, &v);
}

candidate four_slots() {
  candidate c;
  c.capacity = 4;
  return c;
}

// Short words for calls and answers.
operation push(std::uint8_t actor, value v) { return {verb::push, actor, actor, 0, 0, v}; }
operation push_batch(std::uint8_t actor, std::uint16_t n, value v) { return {verb::push_batch, actor, actor, n, 0, v}; }
operation pop(std::uint8_t actor) { return {verb::pop, actor, actor, 0, 0, 0}; }
operation steal(std::uint8_t actor, std::uint8_t victim = 0) { return {verb::steal, actor, victim, 0, 0, 0}; }
operation steal_half(std::uint8_t actor, std::uint16_t limit = 4, std::uint8_t victim = 0) {
  return {verb::steal_half, actor, victim, limit, 0, 0};
}
operation steal_out(std::uint8_t actor, std::uint16_t room = 4, std::uint8_t victim = 0) {
  return {verb::steal_out, actor, victim, room, 0, 0};
}
operation ask(verb what, std::uint8_t actor, std::uint8_t victim = 0) { return {what, actor, victim, 0, 0, 0}; }
const outcome yes{answer::done, 1, {}, false};
const outcome no{answer::done, 0, {}, false};
const outcome nothing{answer::empty, 0, {}, false};
const outcome lost{answer::lost, 0, {}, false};
outcome got(value v, std::size_t count = 1) { return {answer::done, count, {v}, false}; }
outcome hands(const values& vs) { return {answer::done, vs.size(), vs, false}; }

using fifo_history = history<fifo_spec>;
constexpr auto good = judgement::explained;
constexpr auto bad = judgement::unexplained;

void known_fifo_histories() {
  const candidate c = four_slots();
  const auto say = [&](const std::string& what, const fifo_history& h, judgement wanted) {
    judge("fifo: " + what, fifo_spec(c, 3), h, wanted);
  };
  // Actor 0's queue; each row is a thread; {call, answer, invoked, responded}.
  say("nothing happened", {{}, {}}, good);
  say("a push, then a steal", {{{push(0, 1), yes, 1, 2}}, {{steal(1), got(1), 3, 4}}}, good);
  say("a steal that overlaps the push", {{{push(0, 1), yes, 1, 4}}, {{steal(1), got(1), 2, 3}}}, good);
  say("a steal that had responded before the push", {{{push(0, 1), yes, 3, 4}}, {{steal(1), got(1), 1, 2}}}, bad);
  say("taken twice", {{{push(0, 1), yes, 1, 2}, {pop(0), got(1), 3, 6}}, {{steal(1), got(1), 4, 5}}}, bad);
  say("never put in", {{{push(0, 1), yes, 1, 2}}, {{steal(1), got(7), 3, 4}}}, bad);
  say("out of order",
      {{{push(0, 1), yes, 1, 2}, {push(0, 2), yes, 3, 4}}, {{steal(1), got(2), 5, 6}, {steal(1), got(1), 7, 8}}}, bad);
  say("two thieves, overlapping, in either order",
      {{{push(0, 1), yes, 1, 2}, {push(0, 2), yes, 3, 4}}, {{steal(1), got(2), 5, 8}}, {{steal(2), got(1), 6, 7}}},
      good);
  say("lost for ever", {{{push(0, 1), yes, 1, 2}, {pop(0), nothing, 3, 4}}}, bad);

  // `empty`
  say("empty before the push", {{{push(0, 1), yes, 1, 4}}, {{steal(1), nothing, 2, 3}}}, good);
  say("empty although a push had responded", {{{push(0, 1), yes, 1, 2}}, {{steal(1), nothing, 3, 4}}}, bad);
  say("empty between a pop and a push",
      {{{push(0, 1), yes, 1, 2}, {pop(0), got(1), 3, 4}, {push(0, 2), yes, 5, 6}}, {{steal(1), nothing, 2, 7}}}, good);
  say("empty although there was always one",
      {{{push(0, 1), yes, 1, 2}, {push(0, 2), yes, 4, 5}, {pop(0), got(1), 6, 7}}, {{steal(1), nothing, 3, 8}}}, bad);
  say("has_work of an empty queue", {{{push(0, 1), yes, 3, 4}}, {{ask(verb::has_work, 1), yes, 1, 2}}}, bad);

  // `lost`
  say("lost, to a pop that overlaps", {{{push(0, 1), yes, 1, 2}, {pop(0), got(1), 3, 5}}, {{steal(1), lost, 4, 6}}},
      good);
  say("lost, and no other thread called anything", {{{push(0, 1), yes, 1, 2}}, {{steal(1), lost, 3, 4}}}, bad);
  say("lost, to a pop that had responded",
      {{{push(0, 1), yes, 1, 2}, {push(0, 2), yes, 3, 4}, {pop(0), got(1), 5, 6}}, {{steal(1), lost, 7, 8}}}, bad);
  say("lost, to a push only", {{{push(0, 1), yes, 1, 2}, {push(0, 2), yes, 3, 6}}, {{steal(1), lost, 4, 5}}}, bad);

  // full
  say("full with four inside", {{{push_batch(0, 4, 1), {answer::done, 4, {}, false}, 1, 2}, {push(0, 5), no, 3, 4}}},
      good);
  say("full with three inside", {{{push_batch(0, 3, 1), {answer::done, 3, {}, false}, 1, 2}, {push(0, 5), no, 3, 4}}},
      bad);
  say("a batch that did not see the room that a thief makes",
      {{{push_batch(0, 4, 1), {answer::done, 4, {}, false}, 1, 2}, {push_batch(0, 2, 5), no, 3, 6}},
       {{steal(1), got(1), 4, 5}}},
      good);

  // steal_half
  const event<fifo_spec> three{push_batch(0, 3, 1), {answer::done, 3, {}, false}, 1, 2};
  say("half of three is two, the second is returned and the first is queued",
      {{three}, {{steal_half(1), got(2, 2), 3, 4}, {pop(1), got(1), 5, 6}}}, good);
  say("half of three is not one", {{three}, {{steal_half(1), got(1, 1), 3, 4}}}, bad);
  say("half of three is one, if that is the limit", {{three}, {{steal_half(1, 1), got(1, 1), 3, 4}}}, good);
  say("half of three is one, if the owner popped two meanwhile",
      {{three, {pop(0), got(1), 3, 4}, {pop(0), got(2), 6, 7}}, {{steal_half(1), got(3, 1), 5, 8}}}, good);
  say("it returns the newest, not the oldest", {{three}, {{steal_half(1), got(1, 2), 3, 4}}}, bad);
  say("the batch is taken at once, not in between two pops",
      {{three, {pop(0), got(2), 4, 5}}, {{steal_half(1), got(3, 2), 3, 6}, {pop(1), got(1), 7, 8}}}, bad);
  say("a batch in the thief's hands is in no queue",
      {{three},
       {{steal_half(1), got(2, 2), 3, 8}, {pop(1), got(1), 9, 10}},
       {{steal(2, 0), got(3), 4, 5}, {steal(2, 1), nothing, 6, 7}}},
      good);
  say("a batch that has been published is in the thief's queue",
      {{three}, {{steal_half(1), got(2, 2), 3, 4}}, {{steal(2, 1), nothing, 5, 6}}}, bad);

  // steal_out
  say("half of three is two, and both are in the thief's hands", {{three}, {{steal_out(1), hands({1, 2}), 3, 4}}},
      good);
  say("half of three in an array is not one", {{three}, {{steal_out(1), hands({1}), 3, 4}}}, bad);
  say("half of three in an array is one, if there is room for one", {{three}, {{steal_out(1, 1), hands({1}), 3, 4}}},
      good);
  say("what is stolen into an array is in order", {{three}, {{steal_out(1), hands({2, 1}), 3, 4}}}, bad);
  say("what is stolen into an array is in no queue",
      {{three}, {{steal_out(1), hands({1, 2}), 3, 4}, {pop(1), got(1), 5, 6}}}, bad);
  say("half of what it saw, though more was pushed meanwhile",
      {{three, {push(0, 4), yes, 4, 5}, {pop(0), got(3), 7, 8}}, {{steal_out(1), hands({1, 2}), 3, 6}}}, good);
  say("half of what was no longer there", {{three, {pop(0), got(1), 3, 4}}, {{steal_out(1), hands({1, 2}), 2, 5}}},
      bad);
  say("lost, and no other thread took anything", {{three}, {{steal_out(1), lost, 3, 4}}}, bad);
  say("lost, to a pop", {{three, {pop(0), got(1), 4, 5}}, {{steal_out(1), lost, 3, 6}}}, good);

  const outcome two_shed{answer::done, 2, {1, 2}, false};
  const operation shed = ask(verb::shed_half, 0);
  const event<fifo_spec> four{push_batch(0, 4, 1), {answer::done, 4, {}, false}, 1, 2};
  say("shed half of four", {{four, {shed, two_shed, 3, 4}}}, good);
  say("shed nothing of four", {{four, {shed, no, 3, 4}}}, bad);
  say("shed nothing of four, having lost a race", {{four, {shed, no, 3, 6}}, {{steal(1), got(1), 4, 5}}}, good);
}

void known_other_histories() {
  const candidate c = four_slots();
  const operation next1{verb::push_next, 0, 0, 0, 0, 1};
  const operation next2{verb::push_next, 0, 0, 0, 0, 2};
  const operation rob{verb::steal_half, 1, 0, 4, 1, 0};
  const operation look{verb::has_work, 2, 0, 0, 0, 0};
  // 1 is displaced by 2 and on its way to the ring; thread 1 takes 2; thread 2 finds nothing, which is true.
  judge("processor: a displaced task on its way is nowhere", processor_spec(c, 3),
        {{{next1, no, 1, 2}, {next2, no, 3, 8}}, {{rob, got(2), 4, 5}}, {{look, no, 6, 7}}}, good);
  judge("processor: a displaced task that has arrived is somewhere", processor_spec(c, 3),
        {{{next1, no, 1, 2}, {next2, no, 3, 4}}, {{rob, got(1), 5, 6}}, {{look, no, 7, 8}}}, bad);
  judge("processor: has_work between two places, when no thread stole", processor_spec(c, 3),
        {{{next1, no, 1, 2}, {next2, no, 3, 6}}, {}, {{look, no, 4, 5}}}, bad);
  judge("processor: runnext is left alone while the ring has work", processor_spec(c, 3),
        {{{next1, no, 1, 2}, {next2, no, 3, 4}}, {{rob, got(2), 5, 6}}}, bad);

  const operation take{verb::steal_next, 1, 0, 0, 0, 0};
  judge("slot: lost, and no other thread took anything", slot_spec(c, 3), {{{next1, {}, 1, 2}}, {{take, lost, 3, 4}}},
        bad);
  judge("slot: lost to a put", slot_spec(c, 3), {{{next1, {}, 1, 2}, {next2, got(1), 4, 5}}, {{take, lost, 3, 6}}},
        good);
  judge("slot: displaced and stolen", slot_spec(c, 3),
        {{{next1, {}, 1, 2}, {next2, got(1), 3, 6}}, {{take, got(1), 4, 5}}}, bad);

  const operation share{verb::take_batch, 1, 1, 2, 128, 0};
  const operation put3{verb::push_batch, 0, 0, 3, 0, 1};
  judge("shared: a share of three for two is two", shared_spec(c, 2),
        {{{put3, {}, 1, 2}}, {{share, {answer::done, 2, {1, 2}, false}, 3, 4}}}, good);
  judge("shared: a share of a size that never was", shared_spec(c, 2),
        {{{put3, {}, 1, 2}}, {{share, {answer::done, 1, {1}, false}, 3, 4}}}, bad);
}

// The checker must be able to explain every answer that a specification gives by itself, call after call: step() and
// apply() are written separately. And it must not explain the same calls with an element that was never put in.
template <class Spec>
void explains_itself(const std::string& name, const std::vector<verb>& verbs) {
  std::mt19937 dice(20240607);
  const auto roll = [&](std::uint32_t n) { return static_cast<std::uint16_t>(dice() % n); };
  for (int round = 0; round != 300; ++round) {
    candidate c = four_slots();
    Spec spec(c, 2);
    history<Spec> calls(1);
    value next = 1;
    for (std::uint64_t i = 0; i != 40; ++i) {
      operation o{verbs[roll(static_cast<std::uint32_t>(verbs.size()))],
                  static_cast<std::uint8_t>(roll(2)),
                  0,
                  roll(6),
                  roll(6),
                  0};
      o = Spec::tidy(o, c, 2);
      o.first = next;
      next += static_cast<value>(Spec::fresh_values(o));
      calls[0].push_back({o, spec.apply(o), 2 * i + 1, 2 * i + 2});
    }
    judge(name + ": its own calls", Spec(c, 2), calls, good);
    for (auto& e : calls[0]) {
      if (e.seen.taken.empty()) continue;
      e.seen.taken.back() = 100'000;
      judge(name + ": its own calls, with one answer forged", Spec(c, 2), calls, bad);
      break;
    }
  }
}

// All orders of single-step calls, by brute force.
bool some_order_explains(const fifo_spec& initial, const fifo_history& calls) {
  std::vector<event<fifo_spec>> all;
  for (const auto& t : calls) all.insert(all.end(), t.begin(), t.end());
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  do {
    bool ok = true;
    for (std::size_t i = 0; ok && i != order.size(); ++i) {
      for (std::size_t j = i + 1; ok && j != order.size(); ++j) {
        ok = all[order[i]].invoked < all[order[j]].responded;
      }
    }
    fifo_spec s = initial;
    for (std::size_t i = 0; ok && i != order.size(); ++i) {
      ok = s.step(all[order[i]].what, 0, 0, all[order[i]].seen) == progress::done;
    }
    if (ok) return true;
  } while (std::next_permutation(order.begin(), order.end()));
  return false;
}

void agrees_with_brute_force() {
  std::mt19937 dice(7);
  const auto roll = [&](std::uint32_t n) { return static_cast<std::uint32_t>(dice() % n); };
  int explained = 0;
  const int rounds = 3000;
  for (int round = 0; round != rounds; ++round) {
    const fifo_spec initial(four_slots(), 3);
    // Three threads, two calls each, at random times, with answers that are often wrong.
    std::vector<std::uint64_t> times(12);
    std::iota(times.begin(), times.end(), std::uint64_t{1});
    std::vector<std::size_t> whose;
    for (std::size_t i = 0; i != 12; ++i) whose.push_back(i / 4);
    std::shuffle(whose.begin(), whose.end(), dice);
    std::vector<std::vector<std::uint64_t>> stamps(3);
    for (std::size_t i = 0; i != 12; ++i) stamps[whose[i]].push_back(times[i]);
    fifo_history calls(3);
    for (std::uint8_t t = 0; t != 3; ++t) {
      for (std::size_t k = 0; k != 2; ++k) {
        const std::uint64_t from = stamps[t][2 * k];
        const std::uint64_t to = stamps[t][2 * k + 1];
        if (t == 0 && roll(3) != 0) {
          calls[t].push_back({push(0, static_cast<value>(k + 1)), yes, from, to});
        } else {
          const operation o = t == 0 ? pop(0) : steal(t);
          const std::uint32_t r = roll(3);
          calls[t].push_back({o, r == 0 ? nothing : got(r), from, to});
        }
      }
    }
    const bool wanted = some_order_explains(initial, calls);
    explained += wanted ? 1 : 0;
    judge("brute force", initial, calls, wanted ? good : bad);
  }
  std::cout << "brute force: " << rounds << " histories, " << explained << " of them explained\n";
  expect(explained > rounds / 50 && explained < rounds, "the histories are too easy to say anything");
}

void knows_when_it_gave_up() {
  fifo_history calls(1);
  calls[0].push_back({push(0, 1), yes, 1, 2});
  calls[0].push_back({pop(0), nothing, 3, 4});
  expect(explain(fifo_spec(four_slots(), 1), calls, 1).what == judgement::undecided, "a spent budget is not a verdict");
}

}  // namespace

int main() {
  known_fifo_histories();
  known_other_histories();
  using enum verb;
  explains_itself<fifo_spec>("fifo",
                             {push, push_batch, pop, steal, steal_half, steal_out, shed_half, drain, room, has_work});
  explains_itself<slot_spec>("slot", {push_next, pop, steal_next, has_work});
  explains_itself<shared_spec>("shared", {push, push_batch, push_front, pop, take_batch, has_work, size_approx});
  explains_itself<processor_spec>("processor", {push, push_next, push_batch, pop, steal_half, take_from, drain,
                                                global_put, global_take, has_work, size_approx});
  agrees_with_brute_force();
  knows_when_it_gave_up();
  std::cout << (failures == 0 ? "history checker: as it should be\n" : "history checker: WRONG\n");
  return failures == 0 ? 0 : 1;
}
