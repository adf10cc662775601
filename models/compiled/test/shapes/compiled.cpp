// SPDX-License-Identifier: MIT
// The shapes as an ordinary program, over the policy that ships. The environment variable SHAPE says which one.
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include "shapes.hpp"

namespace {

using P = runq::std_atomics;

template <class Shape>
void run() {
  Shape shape;
  std::vector<std::thread> threads;
  threads.reserve(Shape::threads);
  for (unsigned i = 0; i != Shape::threads; ++i) threads.emplace_back([&shape, i] { shape.thread(i); });
  for (std::thread& t : threads) t.join();
  shape.finish();
}

}  // namespace

int main() {
  const std::string_view wanted = std::getenv("SHAPE");
#define RUNQ_RUN(shape, ...) \
  if (wanted == #shape "<" #__VA_ARGS__ ">") return run<shapes::shape<__VA_ARGS__>>(), 0;
  RUNQ_FOR_EACH_SHAPE(P, RUNQ_RUN)
  return 1;
}
