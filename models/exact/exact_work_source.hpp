// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "exact_execution.hpp"
#include "exact_pending.hpp"

namespace runq::model::exact {

/// Where a search that is a part of a larger one gets its work, and where it leaves some for others. A part is named by
/// the path to it, which is the same in every process. A graph cannot be sent, because its numbers are valid in one
/// process only.
class work_source {
 public:
  virtual ~work_source() = default;
  /// Called when nothing is left to do. Returns the next part, or nothing if there is none.
  [[nodiscard]] virtual std::optional<way> next() = 0;
  /// Called after each execution. Returns how many parts other processes would take.
  [[nodiscard]] virtual unsigned wanted() = 0;
  virtual void give(way part) = 0;
  /// Whether the result is no longer wanted.
  [[nodiscard]] virtual bool stopped() const noexcept = 0;
  /// This search cannot go on by that technique, as the execution at the end of that way shows: next() asks all
  /// processes to begin again without it.
  virtual void ask_all_to_begin_again_without(technique t, way shown_at) = 0;
  /// What the last answer was to begin again without; none: it was another one. Until next() is called.
  [[nodiscard]] virtual technique begins_again_without() const noexcept = 0;
  /// The way to the execution that has shown it.
  [[nodiscard]] virtual const way& shown_at() const noexcept = 0;
};

}  // namespace runq::model::exact
