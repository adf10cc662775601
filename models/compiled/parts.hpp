// SPDX-License-Identifier: MIT
// One check by several processes: the messages between them, each a line of text. A searcher explores a part of the
// search, which is named by the path to it. Now and then it asks the process that shares out the parts what to do, and
// gets an answer.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "session.hpp"

namespace runq::model::compiled {

/// What a searcher has done so far, all of its parts together.
struct tally {
  std::uint64_t executions = 0;
  std::uint64_t blocked = 0;
  std::uint64_t spurious = 0;
  std::uint64_t cut_off = 0;
  double arranged = 0;  ///< search_result::arranged
  double weight = 0;    ///< of the whole search; see exact::search::weight_done()
};

/// What a searcher has met of rounds that are left out: see exact::program_operations::require_no_round_left_out().
struct rounds_met {
  bool left_out = false;
  bool used_beside = false;

  void add(const rounds_met& more) noexcept {
    left_out = left_out || more.left_out;
    used_beside = used_beside || more.used_beside;
  }
};

/// What a searcher says, which asks what to do next. After `ended` it says nothing more. `stuck`: a technique has
/// misled it, so all have to begin again without that.
struct report {
  enum class kind : std::uint8_t { busy, idle, stuck, ended };
  kind what{};
  tally done;
  std::vector<exact::way> given;  ///< parts for others
  std::string result;             ///< ended: how, as its answer in JSON
  exact::technique misled{};      ///< stuck: by what
  exact::way shown_at;            ///< stuck: the way to the execution that shows it
  rounds_met rounds;
  std::string waits;  ///< the searcher's reads_in_waits, where it has met more of them
};
[[nodiscard]] std::string to_text(const report& r);
/// As one word. Addresses of another process are those of this one, or are not.
[[nodiscard]] std::string to_text(const reads_in_waits& waits);
void join(reads_in_waits& all, const std::string& waits);
[[nodiscard]] report to_report(std::string_view line);

/// The answer.
struct instruction {
  enum class kind : std::uint8_t { go_on, share, take, begin_again, stop };
  kind what{};
  unsigned parts = 0;          ///< share: how many
  exact::way path;             ///< take; begin_again: to the execution that has shown why
  exact::technique without{};  ///< begin_again
};
[[nodiscard]] std::string to_text(const instruction& o);
[[nodiscard]] instruction to_instruction(std::string_view line);

/// Lines over a socket.
class line_channel {
 public:
  explicit line_channel(int socket) noexcept : socket_(socket) {}
  [[nodiscard]] int socket() const noexcept { return socket_; }
  /// False if the other side has closed.
  [[nodiscard]] bool read(std::string& line);
  void write(const std::string& line) const;

 private:
  int socket_;
  std::string pending_;
};

/// A searcher's side of it.
class part_source final : public exact::work_source {
 public:
  part_source(line_channel& others, session& s) noexcept : others_(others), session_(s) {}

  [[nodiscard]] std::optional<exact::way> next() override;
  [[nodiscard]] unsigned wanted() override;
  void give(exact::way part) override { given_.push_back(std::move(part)); }
  [[nodiscard]] bool stopped() const noexcept override { return stopped_; }
  void ask_all_to_begin_again_without(exact::technique t, exact::way shown_at) override {
    misled_ = t;
    shown_at_ = std::move(shown_at);
  }
  [[nodiscard]] exact::technique begins_again_without() const noexcept override { return without_; }
  [[nodiscard]] const exact::way& shown_at() const noexcept override { return shown_at_; }

  [[nodiscard]] static tally tally_of(const search_result& r, double weight) {
    return {r.executions, r.blocked, r.spurious, r.cut_off, r.arranged, weight};
  }

 private:
  [[nodiscard]] instruction ask(report::kind what);
  [[nodiscard]] std::string new_waits();

  line_channel& others_;
  session& session_;
  std::vector<exact::way> given_;
  bool stopped_ = false;
  exact::technique misled_{};
  exact::way shown_at_;  ///< what has misled this search, or another one
  exact::technique without_{};
  std::chrono::steady_clock::time_point asked_{};
};

}  // namespace runq::model::compiled
