// SPDX-License-Identifier: MIT
#include "fields.hpp"

namespace runq::model::html {

namespace {

[[nodiscard]] const json* find(const json& from, const char* key) {
  if (!from.is_object()) return nullptr;
  const auto it = from.find(key);
  return it == from.end() ? nullptr : &*it;
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

std::string changed_site(const json& search) {
  const std::string changed = text(search, "changed");
  const std::size_t open = changed.find('[');
  const std::size_t close = changed.find(']', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos) return {};
  return changed.substr(open + 1, close - open - 1);
}

}  // namespace runq::model::html
