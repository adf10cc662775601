// SPDX-License-Identifier: MIT
// Runs one litmus shape as an ordinary program, the one that the environment's SHAPE names. If OUTCOME is set, an
// execution with this outcome fails. Without SHAPE it prints what is known of each shape.
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include "known_shapes.hpp"

namespace {

using namespace runq::model;  // NOLINT(google-build-using-namespace)

const char* const outcome = std::getenv("OUTCOME");

template <class Shape>
void run(unsigned count) {
  Shape shape;
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (unsigned i = 0; i != count; ++i) threads.emplace_back([&shape, i] { shape.thread(i); });
  for (std::thread& t : threads) t.join();
  shape.finish();
}

struct known_shape {
  const char* name;
  void (*run)(unsigned threads);
  unsigned threads;
  unsigned graphs;
  const char* absent;
  const char* present;
};
constexpr known_shape all[] = {
#define RUNQ_KNOWN(name, shape, threads, graphs, absent, present) \
  {name, &run<litmus::shape>, threads, graphs, absent, present},
    RUNQ_FOR_EACH_LITMUS(RUNQ_KNOWN)
#undef RUNQ_KNOWN
};

[[noreturn]] void print_all() {
  const auto text = [](const char* of) { return of == nullptr ? "-" : of; };
  for (const known_shape& s : all) std::printf("%s\t%u\t%s\t%s\n", s.name, s.graphs, text(s.absent), text(s.present));
  std::fflush(stdout);
  std::_Exit(0);
}

// Before main(), because every execution repeats main().
const known_shape* find() {
  const char* const wanted = std::getenv("SHAPE");
  if (wanted == nullptr) print_all();
  for (const known_shape& s : all) {
    if (std::string_view(s.name) == wanted) return &s;
  }
  return nullptr;
}
const known_shape* const chosen = find();

}  // namespace

void runq::model::record_outcome(const char* seen) noexcept {
  if (outcome != nullptr && std::string_view(seen) == outcome) std::abort();
}

int main() {
  if (chosen == nullptr) return 1;
  chosen->run(chosen->threads);
}
