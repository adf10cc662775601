// SPDX-License-Identifier: MIT
#include "feedback.hpp"

#include <charconv>

#include <fmt/format.h>

#include "random.hpp"

namespace runq::model::explore {

namespace {

/// The beginning of a run, until that step.
[[nodiscard]] leads beginning(const leads& before, std::uint64_t seed, std::uint64_t until) {
  leads found;
  for (const lead& l : before) {
    if (l.until >= until) {
      seed = l.seed;
      break;
    }
    found.push_back(l);
  }
  found.push_back({seed, until});
  return found;
}

/// Of a pair that so many runs have shown.
[[nodiscard]] std::uint64_t weight_of(std::uint64_t runs) { return (std::uint64_t{1} << 32) / runs; }

/// Reads a number and moves on behind it.
[[nodiscard]] bool read_number(const char*& at, const char* end, std::uint64_t& to) {
  const auto [behind, error] = std::from_chars(at, end, to);
  at = behind;
  return error == std::errc{};
}

}  // namespace

std::string text_of(const leads& before, std::uint64_t seed) {
  std::string text;
  for (const lead& l : before) text += fmt::format("{}@{},", l.seed, l.until);
  return text + std::to_string(seed);
}

bool read_seeds(const std::string& text, leads& before, std::uint64_t& seed) {
  before.clear();
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::uint64_t until = 0;; ++at) {
    if (!read_number(at, end, seed)) return false;
    if (at == end) return true;
    if (*at++ != '@' || !read_number(at, end, until) || at == end || *at != ',') return false;
    if (until <= (before.empty() ? 0 : before.back().until)) return false;
    before.push_back({seed, until});
  }
}

void seed_pool::learn(const leads& before, std::uint64_t seed, std::span<const seen_pair> pairs) {
  random_stream random;
  random.seed(seed, 6);
  for (const seen_pair& p : pairs) {
    known_pair& known = known_[p.pair];
    ++known.runs;
    // Any of the runs that have shown it, each as likely as the others.
    if (random.next() % known.runs == 0) known.there = beginning(before, seed, p.step + 1);
  }
}

leads seed_pool::choose(std::uint64_t seed) const {
  random_stream random;
  random.seed(seed, 5);
  if (random.below(2) == 0) return {};
  std::uint64_t sum = 0;
  for (const auto& [pair, known] : known_) sum += weight_of(known.runs);
  if (sum == 0) return {};
  std::uint64_t left = random.next() % sum;
  for (const auto& [pair, known] : known_) {
    const std::uint64_t weight = weight_of(known.runs);
    if (left < weight) return known.there;
    left -= weight;
  }
  return {};
}

void ordered_pool::note(std::uint64_t run, const leads& before, std::uint64_t seed, std::span<const seen_pair> pairs) {
  noted_[run] = {before, seed, {pairs.begin(), pairs.end()}};
}

bool ordered_pool::learn_for(std::uint64_t run) {
  for (; learned_ + feedback_lag <= run; ++learned_) {
    if (noted_.empty() || noted_.begin()->first != learned_) return false;
    learn_first();
  }
  return true;
}

void ordered_pool::learn_all() {
  while (!noted_.empty()) learn_first();
}

void ordered_pool::learn_first() {
  const shown_pairs& first = noted_.begin()->second;
  pool_.learn(first.before, first.seed, first.pairs);
  noted_.erase(noted_.begin());
}

}  // namespace runq::model::explore
