// SPDX-License-Identifier: MIT
// Runs one case, the one that the environment's CASE names.
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string_view>
#include <thread>

#include "scenario.hpp"

namespace runq::model {

std::vector<case_spec>& cases() {
  static std::vector<case_spec> all;
  return all;
}
void record_outcome(const char*) noexcept {}
void name_value(const void*, const char*, int) noexcept {}

void run(const case_spec& c) {
  constexpr std::size_t alignment = 64;
  const std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(alignment, max_scenario_size),
                                                           &std::free);
  scenario* const s = c.construct(memory.get());
  std::vector<std::thread> threads;
  threads.reserve(c.threads);
  for (unsigned i = 0; i != c.threads; ++i) threads.emplace_back(&scenario::thread, s, i);
  for (std::thread& t : threads) t.join();
  s->finish();
  s->~scenario();
}

}  // namespace runq::model

int main() {
  const std::string_view wanted = std::getenv("CASE");
  for (const runq::model::case_spec& c : runq::model::cases()) {
    if (c.name == wanted) return runq::model::run(c), 0;
  }
  return 1;
}
