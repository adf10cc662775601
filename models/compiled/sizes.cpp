// SPDX-License-Identifier: MIT
#include "sizes.hpp"

#include <algorithm>
#include <fstream>
#include <string_view>

#include "session.hpp"

namespace runq::model::compiled {

namespace {

struct known_sizes {
  std::vector<named_size> chosen;
  std::vector<named_size> asked;  ///< with their smallest values
};
[[nodiscard]] known_sizes& known() {
  static auto* const all = new known_sizes;
  return *all;
}
[[nodiscard]] const named_size* find(const std::vector<named_size>& sizes, std::string_view name) {
  const auto found = std::find_if(sizes.begin(), sizes.end(), [name](const named_size& s) { return s.first == name; });
  return found == sizes.end() ? nullptr : &*found;
}
void note(std::string_view name, int smallest) {
  if (find(known().asked, name) == nullptr) known().asked.emplace_back(name, smallest);
}
[[nodiscard]] int tell(const char* name, int smallest) {
  note(name, smallest);
  const named_size* const chosen = find(known().chosen, name);
  return chosen == nullptr ? smallest : chosen->second;
}

}  // namespace

void choose_sizes(const std::vector<named_size>& chosen) { known().chosen = chosen; }

const std::vector<named_size>& asked_sizes() { return known().asked; }

void add_asked_sizes(const std::vector<named_size>& asked) {
  for (const auto& [name, smallest] : asked) note(name, smallest);
}

std::string size_not_asked_for() {
  for (const named_size& s : known().chosen) {
    if (find(known().asked, s.first) == nullptr) return s.first;
  }
  return {};
}

bool write_sizes(const std::string& file) {
  std::ofstream to(file);
  for (const auto& [name, smallest] : known().asked) to << name << ' ' << smallest << '\n';
  return static_cast<bool>(to.flush());
}

}  // namespace runq::model::compiled

extern "C" __attribute__((visibility("default"))) int runq_check_size(const char* name, int smallest) noexcept {
  const runq::model::compiled::either_scope scope;
  return runq::model::compiled::tell(name, smallest);
}
