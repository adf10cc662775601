// SPDX-License-Identifier: MIT
// The shapes as an ordinary program, over the policy that ships. The environment variable SHAPE says which one: it is
// looked up before main(), because every execution repeats main().
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

using program = void (*)();

program find() {
  const std::string_view wanted = std::getenv("SHAPE");
#define RUNQ_FIND(shape, ...) \
  if (wanted == #shape "<" #__VA_ARGS__ ">") return &run<shapes::shape<__VA_ARGS__>>;
  RUNQ_FOR_EACH_SHAPE(P, RUNQ_FIND)
  return nullptr;
}

const program wanted = find();

}  // namespace

int main() {
  if (wanted == nullptr) return 1;
  wanted();
}
