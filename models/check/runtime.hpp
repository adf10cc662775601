// SPDX-License-Identifier: MIT
// What the engines share while a scenario runs: which order is weakened, and the outcomes seen so far.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "engine.hpp"

namespace runq::model {

/// One order of one operation, made weaker for the whole search. The default weakens nothing.
struct weakening {
  std::string file;  ///< how the file's path ends: "runq/ring.hpp"
  int line = 0;      ///< the operation stands on one of the lines `line` … `last_line`
  int last_line = 0;
  int arg = 0;  ///< 0: the only or the success order; 1: the failure order of a compare-exchange
  std::memory_order to{};
};

/// Makes `w` the weakening that effective_order() applies; weakening{} ends it.
void set_weakening(const weakening& w);
/// Whether the current weakening applies to that operation.
[[nodiscard]] bool is_weakened(site where, int arg) noexcept;
/// Whether the current weakening has been applied to at least one operation since it was set.
[[nodiscard]] bool weakening_was_used() noexcept;

/// An order that was used: the operation, and what is written there.
struct used_order {
  std::string file;
  int line = 0;
  int arg = 0;
  order_of kind{};
  std::memory_order written{};
};

/// From now on, notes every order that effective_order() is asked about.
void start_noting_orders() noexcept;
/// The distinct orders noted since then; ends the noting.
[[nodiscard]] std::vector<used_order> noted_orders();

/// Forgets the outcomes recorded so far.
void clear_outcomes() noexcept;
/// The distinct texts passed to record_outcome() since then, sorted.
[[nodiscard]] std::vector<std::string> outcomes();

/// The name that name_value() gave to `bits`, or an empty string.
[[nodiscard]] std::string value_name(std::uint64_t bits);

/// What scenarios have told this process so far. A search by several processes adds theirs up.
struct runtime_notes {
  // Fixed arrays: notes are taken inside an execution, where an engine may have taken over operator new.
  static constexpr std::size_t max_outcomes = 256;
  static constexpr std::size_t outcome_size = 32;
  static constexpr std::size_t max_orders = 1024;
  struct order {
    site where;
    int arg;
    order_of kind;
    std::memory_order written;
  };
  std::array<std::array<char, outcome_size>, max_outcomes> outcomes{};
  std::size_t outcome_count = 0;
  std::array<order, max_orders> orders{};
  std::size_t order_count = 0;
  bool weakening_used = false;
};
[[nodiscard]] const runtime_notes& notes() noexcept;
void set_notes(const runtime_notes& to) noexcept;
/// Adds what another process was told. Returns false when there is no room for it.
[[nodiscard]] bool add_notes(const runtime_notes& more) noexcept;

[[nodiscard]] const char* to_string(std::memory_order order) noexcept;

}  // namespace runq::model
