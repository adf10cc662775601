// SPDX-License-Identifier: MIT
// Reads the fields of a report. Fields that are missing, or of another type, read as empty.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

namespace runq::model::html {

using nlohmann::json;

[[nodiscard]] std::string text(const json& from, const char* key);
[[nodiscard]] std::uint64_t number(const json& from, const char* key);
[[nodiscard]] bool flag(const json& from, const char* key);
[[nodiscard]] const json& list(const json& from, const char* key);    ///< an array
[[nodiscard]] const json& object(const json& from, const char* key);  ///< an object

/// The site that a search changed: "[ring.push.publish] relaxed" -> "ring.push.publish"; empty when it names none.
[[nodiscard]] std::string changed_site(const json& search);

}  // namespace runq::model::html
