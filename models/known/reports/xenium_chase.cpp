// SPDX-License-Identifier: MIT
// Two elements: nobody takes one that somebody else has taken.
#include <cassert>
#include <thread>

#include "xenium/chase_work_stealing_deque.hpp"

int main() {
  xenium::chase_work_stealing_deque<int, xenium::policy::capacity<2>> deque;
  int first = 1, second = 2;
  (void)deque.try_push(&first);
  (void)deque.try_push(&second);
  int* stolen[2] = {};
  std::thread thief([&] {
    for (int*& each : stolen)
      if (!deque.try_steal(each)) each = nullptr;
  });
  int* popped = nullptr;
  if (!deque.try_pop(popped)) popped = nullptr;
  thief.join();
  assert(popped == nullptr || (popped != stolen[0] && popped != stolen[1]));
}
