// SPDX-License-Identifier: MIT
#include "request.hpp"

#include <stdexcept>

namespace runq::model {

namespace {

using nlohmann::json;

template <class T>
constexpr const char* word_for = nullptr;
template <>
constexpr const char* word_for<list_request> = "list";
template <>
constexpr const char* word_for<search_request> = "search";
template <>
constexpr const char* word_for<mutant_request> = "mutant";
template <>
constexpr const char* word_for<ledger_request> = "ledger";

void require_known(const json& fields, const json& known) {
  for (const auto& [name, value] : fields.items()) {
    if (!known.contains(name)) throw std::invalid_argument("there is no field " + name);
    if (value.is_object()) require_known(value, known[name]);
  }
}

template <class T>
void read_if_named(const json& all, request& r) {
  const auto found = all.find(word_for<T>);
  if (found == all.end()) return;
  require_known(*found, T{});
  r.what = found->template get<T>();
}

}  // namespace

std::string to_text(const request& r) {
  json all = {{"modules", r.modules}};
  std::visit([&]<class T>(const T& what) { all[word_for<T>] = what; }, r.what);
  return all.dump();
}

request to_request(const std::string& text) {
  request r;
  try {
    const json all = json::parse(text);
    all.at("modules").get_to(r.modules);
    if (all.size() != 2) throw std::invalid_argument("it has modules, and one of list, search, mutant and ledger");
    read_if_named<list_request>(all, r);
    read_if_named<search_request>(all, r);
    read_if_named<mutant_request>(all, r);
    read_if_named<ledger_request>(all, r);
    if (!all.contains(std::visit([]<class T>(const T&) { return word_for<T>; }, r.what)))
      throw std::invalid_argument("it asks for none of list, search, mutant and ledger");
  } catch (const std::exception& e) {
    throw std::invalid_argument("this is no request: " + text + ": " + e.what());
  }
  return r;
}

}  // namespace runq::model
