// SPDX-License-Identifier: MIT
// The memory orders that a compiled program asks for, by the lines of its source: which there are, and which one of
// them is made weaker.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine.hpp"
#include "frames.hpp"
#include "symbols.hpp"

namespace runq::model::compiled {

inline constexpr std::size_t order_kinds = 5;  ///< enumerators of order_of

/// An order of all operations of one kind on one line: "queue.cpp:42/load".
struct order_site {
  std::string file;
  int line = 0;
  order_of kind{};
  friend auto operator<=>(const order_site&, const order_site&) = default;
};

/// One order made weaker for the whole check.
struct order_change {
  std::string file;  ///< how the path ends
  int line = 0;      ///< 0: no change
  bool any_kind = true;
  order_of kind{};  ///< any_kind: all but the failure order of a compare-exchange
  std::memory_order to{};
};

/// "load"; the failure order of a compare-exchange is "failure".
[[nodiscard]] const char* name_of(order_of kind);

/// "queue.cpp:42/load"; without a kind if it has none.
[[nodiscard]] std::string place_of(const order_change& change);
/// As --weaken takes it.
[[nodiscard]] std::string to_text(const order_change& change);

/// Reads "FILE:LINE:ORDER" or "FILE:LINE/KIND:ORDER". Returns what is wrong with it, or an empty text.
[[nodiscard]] std::string read_order_change(std::string_view text, order_change& to);

class program_orders {
 public:
  /// Notes from now on which orders there are.
  void note() noexcept { is_noting_ = true; }
  void weaken(const order_change& change) {
    change_ = change;
    if (change.line != 0) include_file(change.file);
  }
  /// Operations in files whose paths end with that count even if the file is a header of the system.
  void include_file(const std::string& file) { named_.push_back(file); }

  [[nodiscard]] bool is_active() const noexcept { return is_noting_ || change_.line != 0; }
  /// The order that applies where `written` stands in the program.
  [[nodiscard]] std::memory_order effective(const frame* at, std::memory_order written, order_of kind, symbols& lines);
  /// Whether any operation was given a weaker order than the program's.
  [[nodiscard]] bool was_weakened() const noexcept { return !weakened_in_.empty(); }
  /// The files in which that happened: more than one when the name that was given is the end of several paths.
  [[nodiscard]] const std::set<std::string>& weakened_in() const noexcept { return weakened_in_; }
  void note_weakened_in(const std::string& file) { weakened_in_.insert(file); }
  /// Whether that operation was given the weaker order `applied`.
  [[nodiscard]] bool is_weakened(const frame* at, std::memory_order applied, order_of kind, symbols& lines);
  /// The strongest order of each site.
  [[nodiscard]] const std::map<order_site, std::memory_order>& noted() const noexcept { return noted_; }

 private:
  /// What is known of the operations at one place in the code.
  struct place {
    source_line line;
    std::array<std::memory_order*, order_kinds> noted{};  ///< by kind: its strongest order, in noted_
  };
  [[nodiscard]] place& place_at(const frame* at, symbols& lines);
  void note(place& at, std::memory_order written, order_of kind);
  [[nodiscard]] bool changes(const source_line& at, order_of kind) const;

  bool is_noting_ = false;
  std::set<std::string> weakened_in_;  ///< the files whose orders were
  order_change change_;
  std::vector<std::string> named_;
  std::unordered_map<const frame*, place> known_;
  std::map<order_site, std::memory_order> noted_;
};

}  // namespace runq::model::compiled
