// SPDX-License-Identifier: MIT
// Shares one check out among searchers, which are separate processes. Each part of the search is explored by one of
// them, so every execution is visited once. A searcher that has nothing left gets a part from another one: the part
// that that one would explore last, which has the most executions.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "answer.hpp"
#include "options.hpp"
#include "parts.hpp"

namespace runq::model::compiled {

/// Knows what every searcher does. `send` sends an answer to a searcher; `name` is its name in messages.
class share_out {
 public:
  share_out(unsigned searchers, const run_options& options, std::function<void(unsigned, const instruction&)> send,
            std::function<std::string(unsigned)> name);

  /// A searcher says something.
  void take(unsigned searcher, report said);
  /// A searcher has gone without a result. No verdict comes of what is left.
  void lose(unsigned searcher, const std::string& why);
  /// Whether all searchers have ended.
  [[nodiscard]] bool is_over() const noexcept;
  /// Prints how far the search is, after so many seconds.
  [[nodiscard]] search_progress progress(double seconds) const;
  /// After the end. Notes in `s` what the searchers have left out.
  [[nodiscard]] answer result(session& s, double seconds) const;

 private:
  enum class state : std::uint8_t { busy, idle, ended };
  struct searcher {
    state now = state::busy;
    std::size_t told = 0;  ///< of those techniques that are given up, so many
    tally done;
    std::string result;
  };
  struct given_up {
    exact::technique what;
    exact::way shown_at;
  };
  [[nodiscard]] bool begins_again(unsigned who, const report& said);
  [[nodiscard]] bool is_unclear() const noexcept;
  [[nodiscard]] bool may_miss_race() const;
  [[nodiscard]] bool is_news(unsigned who, const report& said) const noexcept;
  [[nodiscard]] bool is_given_up(exact::technique s) const noexcept;
  void begin_again_without(exact::technique s, const exact::way& shown_at);
  void tell_to_begin_again(unsigned who);
  void hand_out();
  void stop();
  [[nodiscard]] unsigned count(state s) const noexcept;
  [[nodiscard]] tally sum() const noexcept;
  [[nodiscard]] bool is_over_limit() const noexcept;
  [[nodiscard]] bool is_not_met(const code_line& l) const;

  const run_options& options_;
  std::function<void(unsigned, const instruction&)> send_;
  std::function<std::string(unsigned)> name_;
  std::vector<searcher> searchers_;
  std::deque<exact::way> waiting_;
  bool stopping_ = false;
  std::vector<given_up> given_up_;  ///< in the order in which all searchers are told
  rounds_met rounds_;               ///< by all of them together, since the last of those
  reads_in_waits waits_;            ///< likewise
  std::string limit_;               ///< the limit that was reached
  std::string lost_;
};

/// What a searcher says of its result.
[[nodiscard]] std::string describe_part(const search_result& r, session& s, const answer& a);

/// Checks by so many processes on this machine.
[[nodiscard]] answer check_by_processes(unsigned processes, const run_options& options, const check_function& check);

/// Whether mpirun has started this process, as one of several.
[[nodiscard]] bool started_by_mpi();
/// Checks by the ranks that mpirun has started. Returns on the first rank only; the others end.
[[nodiscard]] answer check_by_ranks(const run_options& options, const check_function& check);

}  // namespace runq::model::compiled
