// SPDX-License-Identifier: MIT
// The JSON form of results, between the worker processes and the runner, and in --json files.
#pragma once

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include "verdict.hpp"

namespace runq::model {

// The enumerators' names are their JSON values; the order of the lists does not matter, their completeness does:
// a value that is not listed is read and written as the first entry.
NLOHMANN_JSON_SERIALIZE_ENUM(coverage, {{coverage::cut_short, "cut_short"},
                                        {coverage::exhaustive, "exhaustive"},
                                        {coverage::full, "full"},
                                        {coverage::bounded, "bounded"},
                                        {coverage::sampled, "sampled"}})

NLOHMANN_JSON_SERIALIZE_ENUM(failure, {{failure::none, "none"},
                                       {failure::check_failed, "check failed"},
                                       {failure::lost, "lost"},
                                       {failure::run_twice, "run twice"},
                                       {failure::out_of_order, "out of order"},
                                       {failure::not_linearizable, "not linearizable"},
                                       {failure::data_race, "data race"},
                                       {failure::uninitialised_read, "uninitialised read"},
                                       {failure::use_after_free, "use after free"},
                                       {failure::double_free, "double free"},
                                       {failure::leak, "leak"},
                                       {failure::unpublished_allocation, "unpublished allocation"},
                                       {failure::deadlock, "deadlock"},
                                       {failure::livelock, "livelock"},
                                       {failure::misuse, "misuse"},
                                       {failure::crash, "crash"},
                                       {failure::not_lock_free, "not lock-free"}})

inline void to_json(nlohmann::json& j, event_kind kind) { j = words_of(kind).name; }
inline void from_json(const nlohmann::json& j, event_kind& kind) {
  const auto found = std::find_if(words_of_steps.begin(), words_of_steps.end(),
                                  [&](const step_words& words) { return j == words.name; });
  kind = found == words_of_steps.end() ? event_kind{} : static_cast<event_kind>(found - words_of_steps.begin());
}

NLOHMANN_JSON_SERIALIZE_ENUM(rmw_op, {{rmw_op::exchange, "exchange"},
                                      {rmw_op::add, "add"},
                                      {rmw_op::sub, "sub"},
                                      {rmw_op::bit_and, "and"},
                                      {rmw_op::bit_or, "or"},
                                      {rmw_op::bit_xor, "xor"}})

}  // namespace runq::model

NLOHMANN_JSON_NAMESPACE_BEGIN
template <>
struct adl_serializer<std::memory_order> {
  static constexpr std::array<const char*, 6> names = {"relaxed", "consume", "acquire",
                                                       "release", "acq_rel", "seq_cst"};

  static void to_json(json& j, std::memory_order order) { j = names.at(static_cast<std::size_t>(order)); }
  static void from_json(const json& j, std::memory_order& order) {
    const auto name = std::find(names.begin(), names.end(), j.get<std::string>());
    if (name == names.end()) throw std::invalid_argument("no memory order: " + j.dump());
    order = static_cast<std::memory_order>(name - names.begin());
  }
};
NLOHMANN_JSON_NAMESPACE_END
