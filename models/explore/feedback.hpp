// SPDX-License-Identifier: MIT
// Runs that begin as earlier ones, which have shown what few others have, and then go on by chance: the greybox fuzzing
// of Wolff, Shi, Duck, Mathur and Roychoudhury (ASPLOS 2024), whose coverage is that of the pairs of a write and a read
// that reads from it. Theirs repeats a run by asking for such pairs; here each run is repeatable by its seeds, so that
// the beginning of a run is named by them and the number of its last step.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "pairs.hpp"

namespace runq::model::explore {

/// `count`: pairs are counted, and each run begins by itself.
enum class feedback_mode : std::uint8_t { off, count, on };

/// A seed decides until that step of the run, and the next one from there on.
struct lead {
  std::uint64_t seed = 0;
  std::uint64_t until = 0;

  friend bool operator==(const lead&, const lead&) = default;
};
using leads = std::vector<lead>;

/// "17@350,93@1200,5": the seed 17 until step 350, then 93 until step 1200, and 5 to the end.
[[nodiscard]] std::string text_of(const leads& before, std::uint64_t seed);
/// Reads such a text; false: it is none.
[[nodiscard]] bool read_seeds(const std::string& text, leads& before, std::uint64_t& seed);

/// The pairs that runs have shown, and how to come there again.
class seed_pool {
 public:
  /// What a run has shown that began with `before` and then took `seed`.
  void learn(const leads& before, std::uint64_t seed, std::span<const seen_pair> pairs);
  /// How the run of the seed begins: as an earlier one, until the first step that showed a pair, which is the likelier
  /// the fewer runs have shown it; or, each second run, by itself.
  [[nodiscard]] leads choose(std::uint64_t seed) const;
  [[nodiscard]] std::size_t pairs() const { return known_.size(); }

 private:
  struct known_pair {
    std::uint64_t runs = 0;
    leads there;
  };
  std::map<std::uint64_t, known_pair> known_;
};

/// A pool that learns from runs in the order in which they began: a run knows what all those have shown that began at
/// least feedback_lag before it, and nothing else. So how it begins does not depend on how many are made at a time.
class ordered_pool {
 public:
  /// A run has ended, the first of which is number 0.
  void note(std::uint64_t run, const leads& before, std::uint64_t seed, std::span<const seen_pair> pairs);
  /// What the run may know. False: it has to wait, because a run has not ended of which it has to know.
  [[nodiscard]] bool learn_for(std::uint64_t run);
  /// What is noted.
  void learn_all();
  [[nodiscard]] const seed_pool& pool() const { return pool_; }

 private:
  struct shown_pairs {
    leads before;
    std::uint64_t seed;
    std::vector<seen_pair> pairs;
  };
  void learn_first();

  std::map<std::uint64_t, shown_pairs> noted_;
  std::uint64_t learned_ = 0;  ///< the number of the first run that is not learned from
  seed_pool pool_;
};

}  // namespace runq::model::explore
