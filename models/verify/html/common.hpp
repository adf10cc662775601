// SPDX-License-Identifier: MIT
// What all pages share: reading results of which every field may be missing, escaping, verdict words, the page's frame.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace runq::model::html {

using nlohmann::json;

// Fields that are missing, or of another type, read as empty: a report may come from an older version.
[[nodiscard]] std::string text(const json& from, const char* key);
[[nodiscard]] std::uint64_t number(const json& from, const char* key);
[[nodiscard]] double real(const json& from, const char* key);
[[nodiscard]] bool flag(const json& from, const char* key);
[[nodiscard]] const json& list(const json& from, const char* key);    ///< an array
[[nodiscard]] const json& object(const json& from, const char* key);  ///< an object

/// For text and for attribute values in double quotes.
[[nodiscard]] std::string escaped(std::string_view raw);

/// Only letters, digits and ".", "_", "-".
[[nodiscard]] std::string file_name(std::string_view raw);

[[nodiscard]] std::string base_name(std::string_view path);
[[nodiscard]] std::string grouped(std::uint64_t count);  ///< "1 234 567", with narrow spaces

[[nodiscard]] std::string label_of(const json& search);   ///< "publish_relaxed", "bounded 3"
[[nodiscard]] std::string engine_of(const json& search);  ///< "relacy" when it is not said
[[nodiscard]] bool has_trace(const json& search);
[[nodiscard]] bool is_mutant(const json& search);
[[nodiscard]] bool is_litmus(const json& search);
[[nodiscard]] bool is_seeded_bug(const json& search);  ///< a program that is wrong on purpose; also a mutant
[[nodiscard]] bool is_corpus(const json& search);      ///< a bug from history; also a seeded bug

[[nodiscard]] std::string property_of(const json& search);

/// "graph" or "execution": what the exact engine counts is not one run.
[[nodiscard]] std::string unit_of(const json& search);

/// "[ring.push.publish] relaxed" -> "ring.push.publish"; empty when no site is named.
[[nodiscard]] std::string changed_site(const json& search);

/// What the runner judged, in report.cpp. A remark counts neither as passed nor as failed.
enum class outcome : unsigned char { passed, killed, as_expected, remark, failed };
[[nodiscard]] outcome judged(const json& search);

/// What the runner printed of it: "PASS exhaustive", "FAIL data race at graph 4, …".
[[nodiscard]] std::string verdict_words(const json& search);

struct litmus_verdict {
  bool shown = false;
  bool allowed = false;
  bool as_pinned = true;  ///< true when nothing is pinned for this engine
};
[[nodiscard]] litmus_verdict litmus_of(const json& search);

/// The whole document. `body` is HTML, the title is not.
[[nodiscard]] std::string document(std::string_view title, std::string_view body, std::string_view script);

}  // namespace runq::model::html
