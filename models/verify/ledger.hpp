// SPDX-License-Identifier: MIT
// The order ledger: for every memory order in a header and every step by which it could be weakened, the models'
// verdict.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime.hpp"
#include "sites.hpp"
#include "verdict.hpp"

namespace runq::model {

enum class ledger_verdict : unsigned char {
  killed,                 ///< a scenario fails; its counterexample can be printed
  killed_load_buffering,  ///< a scenario fails once a relaxed read may take its value from the future
  redundant,              ///< no scenario fails, in complete searches, under RC11 and with one delayed read
};

struct ledger_row {
  std::string site;  ///< "ring.push.publish"
  int arg = 0;       ///< 0: the only or the success order; 1: the failure order
  std::memory_order from{};
  std::memory_order to{};
  ledger_verdict verdict{};
  std::string by;                ///< the scenario that kills it
  failure what{};                ///< how
  std::uint64_t executions = 0;  ///< at which graph; or, redundant, how many were explored in all
  std::string reason;            ///< redundant: why the order stays, from the comment at the site ("kept: …")
};

struct ledger {
  std::vector<ledger_row> rows;
  std::vector<std::string> holes;  ///< orders without a name, never executed, or redundant without a reason
};

/// The orders that each case uses in a complete search, by the case's name. A case that is missing is searched for
/// them.
using orders_by_case = std::map<std::string, std::vector<used_order>>;

/// Runs every weakening of the orders in the header at `path`, whose compiled path ends in `ending`, against every case
/// that executes it. An order that may be weakened by one step is tried one step further. `expected`: rows that save
/// time if they still hold: the case that killed an order comes first, and an order that was redundant is searched
/// once, under load buffering, which allows every execution that RC11 allows, and not at all if a weaker one is
/// redundant, too. If they do not hold, everything is searched. `waits_in_place`: exact_options::waits_in_place; where
/// loads are buffered, waits block.
[[nodiscard]] ledger make_ledger(const std::string& path, const std::string& ending, source_index& sources,
                                 const std::vector<ledger_row>& expected, const orders_by_case& known,
                                 bool waits_in_place, const std::function<void(std::uint64_t)>& progress);

}  // namespace runq::model
