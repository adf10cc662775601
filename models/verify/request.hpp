// SPDX-License-Identifier: MIT
// What the runner asks of a worker: types that both share, and the one way in which they become text. A worker gets its
// request as its only argument: {"modules": ["cases_ring.so"], "search": {"case_name": "ring/push_vs_steal"}}. Fields
// that are left out have the values that stand here; a field that is not known is an error.
#pragma once

#include <atomic>
#include <cstdint>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "json.hpp"

namespace runq::model {

enum class search_kind : unsigned char {
  exhaustive,  ///< the exact engine's
  random,      ///< Relacy's: a number of random executions,
  bounded,     ///< all executions with a number of pre-emptions,
  full,        ///< all executions,
  widening,    ///< and bounded searches with one pre-emption more each time, as long as their number is small
  mutant,      ///< of a case that must fail: by both engines
  litmus,      ///< of a litmus test: by all
  progress,    ///< the exact engine's, with each thread frozen at each of its steps
};

NLOHMANN_JSON_SERIALIZE_ENUM(search_kind, {{search_kind::exhaustive, "exhaustive"},
                                           {search_kind::random, "random"},
                                           {search_kind::bounded, "bounded"},
                                           {search_kind::full, "full"},
                                           {search_kind::widening, "widening"},
                                           {search_kind::mutant, "mutant"},
                                           {search_kind::litmus, "litmus"},
                                           {search_kind::progress, "progress"}})
[[nodiscard]] inline std::string to_text(search_kind kind) { return nlohmann::json(kind); }

/// A memory order of one named operation, made weaker.
struct weakened_order {
  std::string site;  ///< "ring.push.publish"; empty: none
  std::memory_order to = std::memory_order::relaxed;
  int arg = 0;  ///< 1: the failure order of a compare-exchange
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(weakened_order, site, to, arg)

/// One search of one case.
struct search_request {
  std::string case_name{};
  search_kind kind = search_kind::exhaustive;
  unsigned jobs = 1;             ///< of an exhaustive search: processes that share it
  unsigned bound = 2;            ///< of a bounded search: pre-emptions
  std::uint64_t executions = 0;  ///< of a random search, 0: its default; of a widening one: in all
  std::uint64_t first = 1;       ///< of a random search: the number of the first execution
  std::uint64_t show = 0;        ///< end at this execution, and show it; 0: none
  bool show_all = false;         ///< of an exhaustive search: show each execution
  bool note_orders = false;      ///< of an exhaustive search: tell which memory orders it uses
  bool waits_in_place = true;    ///< of an exhaustive search, or of a mutant: exact_options::waits_in_place
  weakened_order weakened{};
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(search_request, case_name, kind, jobs, bound, executions, first, show,
                                                show_all, note_orders, waits_in_place, weakened)

/// Searches with a mutant, of all cases in the sources that hold a case which is pinned for it; of all cases if none
/// is.
struct mutant_request {
  std::string name;                      ///< "ring/takes_all"
  std::set<std::string> named{};         ///< cases that are pinned for the mutant
  std::uint64_t graphs_others = 20'000;  ///< at most so many of each other case
  bool waits_in_place = true;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(mutant_request, name, named, graphs_others, waits_in_place)

/// The ledger of a header: every weakening of its orders.
struct ledger_request {
  std::string header;
  std::string expected{};  ///< a file with the rows of earlier ledgers, which save time where they still hold
  std::string uses{};      ///< a file with what searches with note_orders have told, which saves those searches
  bool waits_in_place = true;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ledger_request, header, expected, uses, waits_in_place)

/// The cases of the modules.
struct list_request {};
inline void to_json(nlohmann::json& j, const list_request&) { j = nlohmann::json::object(); }
inline void from_json(const nlohmann::json&, list_request&) {}

struct request {
  std::vector<std::string> modules;  ///< shared objects with cases, which are loaded before
  std::variant<list_request, search_request, mutant_request, ledger_request> what;
};

[[nodiscard]] std::string to_text(const request& r);
/// Throws std::invalid_argument, with a sentence, if the text is no request.
[[nodiscard]] request to_request(const std::string& text);

}  // namespace runq::model
