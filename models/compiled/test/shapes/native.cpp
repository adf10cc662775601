// SPDX-License-Identifier: MIT
// The shapes as scenarios: prints a line for each, with the number of executions and the seconds. The environment
// variable SHAPE chooses one of them.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "atomics.hpp"
#include "exact.hpp"
#include "scenario.hpp"
#include "shapes.hpp"

namespace {

namespace model = runq::model;
using P = model::atomics;

template <class Shape>
struct as_scenario final : model::scenario {
  void thread(unsigned index) override { shape.thread(index); }
  void finish() override { shape.finish(); }
  Shape shape;
};

template <class Shape>
bool explore(const char* name) {
  model::case_spec spec{.name = name, .property = "", .threads = Shape::threads};
  spec.construct = [](void* where) -> model::scenario* { return ::new (where) as_scenario<Shape>; };
  const model::search_result r = model::run_exact(spec, {});
  if (r.what != model::failure::none || r.how != model::coverage::exhaustive) {
    std::printf("%s fails: %s\n", name, r.message.c_str());
    return false;
  }
  std::printf("%llu %.4f %s\n", static_cast<unsigned long long>(r.executions), r.seconds, name);
  return true;
}

}  // namespace

int main() {
  const char* const wanted = std::getenv("SHAPE");
  bool all = true;
#define RUNQ_EXPLORE(shape, ...)                                                    \
  if (wanted == nullptr || std::string_view(wanted) == #shape "<" #__VA_ARGS__ ">") \
    all = explore<shapes::shape<__VA_ARGS__>>(#shape "<" #__VA_ARGS__ ">") && all;
  RUNQ_FOR_EACH_SHAPE(P, RUNQ_EXPLORE)
  return all ? 0 : 1;
}
