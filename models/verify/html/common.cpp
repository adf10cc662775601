// SPDX-License-Identifier: MIT
#include "common.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace runq::model::html {

namespace {

constexpr std::string_view style =
#include "style.css.inc"
    ;

[[nodiscard]] const json* find(const json& from, const char* key) {
  if (!from.is_object()) return nullptr;
  const auto it = from.find(key);
  return it == from.end() ? nullptr : &*it;
}

[[nodiscard]] bool fits_file_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
}

[[nodiscard]] bool litmus_is_shown(const json& search) {
  const json& result = object(search, "result");
  const std::string wanted = text(object(search, "litmus"), "outcome");
  if (wanted == "race") return text(result, "what") == "data race";
  const json& seen = list(result, "outcomes");
  return std::find(seen.begin(), seen.end(), json(wanted)) != seen.end();
}

}  // namespace

std::string text(const json& from, const char* key) {
  const json* const value = find(from, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string{};
}

std::uint64_t number(const json& from, const char* key) {
  const json* const value = find(from, key);
  return value != nullptr && value->is_number() ? value->get<std::uint64_t>() : 0;
}

double real(const json& from, const char* key) {
  const json* const value = find(from, key);
  return value != nullptr && value->is_number() ? value->get<double>() : 0;
}

bool flag(const json& from, const char* key) {
  const json* const value = find(from, key);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

const json& list(const json& from, const char* key) {
  static const json none = json::array();
  const json* const value = find(from, key);
  return value != nullptr && value->is_array() ? *value : none;
}

const json& object(const json& from, const char* key) {
  static const json none = json::object();
  const json* const value = find(from, key);
  return value != nullptr && value->is_object() ? *value : none;
}

std::string escaped(std::string_view raw) {
  std::string safe;
  safe.reserve(raw.size());
  for (const char c : raw) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      case '\'': safe += "&#39;"; break;
      default: safe += c;
    }
  }
  return safe;
}

std::string file_name(std::string_view raw) {
  constexpr std::size_t longest = 150;  // file systems allow 255 bytes; a number and ".html" follow
  std::string safe;
  for (const char c : raw.substr(0, longest)) {
    if (fits_file_name(c)) {
      safe += c;
    } else if (!safe.empty() && safe.back() != '-') {
      safe += '-';
    }
  }
  // Neither hidden, nor taken for an option.
  while (!safe.empty() && (safe.front() == '.' || safe.front() == '-')) safe.erase(0, 1);
  while (!safe.empty() && safe.back() == '-') safe.pop_back();
  return safe.empty() ? "trace" : safe;
}

std::string base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::string grouped(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, "\u202f");
  }
  return digits;
}

std::string label_of(const json& search) {
  const std::string label = text(search, "label");
  return label.empty() ? text(search, "search") : label;
}

std::string engine_of(const json& search) {
  const std::string engine = text(search, "engine");
  return engine.empty() ? "relacy" : engine;
}

bool has_trace(const json& search) { return !list(object(search, "result"), "trace").empty(); }
bool is_mutant(const json& search) { return text(search, "expect") == "fail"; }
bool is_litmus(const json& search) { return text(search, "expect") == "litmus"; }

bool is_seeded_bug(const json& search) { return is_mutant(search) && label_of(search) == "seeded bug"; }
bool is_corpus(const json& search) { return is_seeded_bug(search) && text(search, "case").starts_with("corpus/"); }

std::string property_of(const json& search) {
  std::string own = text(search, "property");
  return own.empty() ? text(object(search, "litmus"), "property") : own;
}

std::string unit_of(const json& search) { return engine_of(search) == "relacy" ? "execution" : "graph"; }

std::string changed_site(const json& search) {
  const std::string changed = text(search, "changed");
  const std::size_t open = changed.find('[');
  const std::size_t close = changed.find(']', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos) return {};
  return changed.substr(open + 1, close - open - 1);
}

litmus_verdict litmus_of(const json& search) {
  const json& question = object(search, "litmus");
  litmus_verdict v;
  v.shown = litmus_is_shown(search);
  v.allowed = flag(question, "cpp20");
  const std::string engine = engine_of(search);
  const json* const pinned = find(question, engine.c_str());
  if (pinned != nullptr && pinned->is_boolean()) v.as_pinned = pinned->get<bool>() == v.shown;
  return v;
}

outcome judged(const json& search) {
  const std::string found = text(search, "outcome");
  return found == "passed"        ? outcome::passed
         : found == "killed"      ? outcome::killed
         : found == "as expected" ? outcome::as_expected
         : found == "remark"      ? outcome::remark
                                  : outcome::failed;
}

std::string verdict_words(const json& search) {
  const std::string words = text(search, "verdict");
  return words.empty() ? "not judged" : words;
}

std::string document(std::string_view title, std::string_view body, std::string_view script) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<title>{}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>{}</style>\n</head>\n<body>\n{}\n"
      "<script>{}</script>\n</body>\n</html>\n",
      escaped(title), style, body, script);
}

}  // namespace runq::model::html
