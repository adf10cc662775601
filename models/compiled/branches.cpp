// SPDX-License-Identifier: MIT
#include "branches.hpp"

#include <fstream>

namespace runq::model::compiled {

namespace {

/// Never destroyed: objects announce themselves before this library's variables may be there.
[[nodiscard]] std::vector<noted_ways>& noted() {
  static auto* const all = new std::vector<noted_ways>;
  return *all;
}

}  // namespace

const std::vector<noted_ways>& all_noted_ways() { return noted(); }

bool write_ways(const std::string& file) {
  std::ofstream to(file);
  for (const noted_ways& w : noted()) {
    to << w.object << ' ';
    for (std::size_t i = 0; i != w.size; ++i) to << (w.begin[i] == 0 ? '0' : '1');
    to << '\n';
  }
  return static_cast<bool>(to.flush());
}

}  // namespace runq::model::compiled

extern "C" __attribute__((visibility("default"))) void runq_check_ways(unsigned char* begin, std::size_t size,
                                                                       unsigned object) {
  runq::model::compiled::noted().push_back({begin, size, object});
}
