// SPDX-License-Identifier: MIT
// SafeStack: a stack of indices without a tag against ABA. Instead, a thread that takes an element first exchanges the
// index below it for `none`, so that no other thread can take it. It is wrong: the author of Relacy published it as a
// challenge for checkers.
//
// The failure needs three threads. The first gives an element back: it has stored which element is below, and has not
// changed the head yet. The second exchanges that index for `none`, and stops. The third takes the element below. So
// the first thread's compare-exchange of the head fails. It stores another index below its element, and succeeds. Now
// the second thread finds the head that it expects, and makes an element the top that the third thread has taken.
// With -DTWICE all three threads take an element and give it back, twice each.
// check: FAIL assertion fails: !elements[index].taken
// check -DTWO_THREADS: exhaustive
// check --bound 7 -DTWICE: FAIL assertion fails: in_stack <= 3
#include <atomic>
#include <cassert>
#include <thread>

constexpr int none = -1;
struct element {
  std::atomic<int> below;
  bool taken;
};
element elements[3]{{1, false}, {2, false}, {none, false}};
std::atomic<int> head{0};
std::atomic<int> count{3};

int pop() {
  while (count.load() > 1) {
    const int top = head.load();
    const int below = elements[top].below.exchange(none);
    if (below == none) continue;  // another thread is taking it
    if (int expected = top; head.compare_exchange_strong(expected, below)) {
      count.fetch_sub(1);
      return top;
    }
    elements[top].below.exchange(below);
  }
  return none;
}
void push(int index) {
  int top = head.load();
  do elements[index].below.store(top);
  while (!head.compare_exchange_strong(top, index));
  count.fetch_add(1);
}

int take() {
  const int index = pop();
  if (index != none) elements[index].taken = true;
  return index;
}
void take_and_give_back() {
  const int index = take();
  if (index == none) return;
  elements[index].taken = false;
  push(index);
}

int main() {
#ifdef TWICE
  const auto twice = [] {
    take_and_give_back();
    take_and_give_back();
  };
  std::thread first(twice);
  std::thread second(twice);
  std::thread third(twice);
  third.join();
#else
  std::thread first(take_and_give_back);
  std::thread second(take);
#ifndef TWO_THREADS
  std::thread third(take);
  third.join();
#endif
#endif
  first.join();
  second.join();
  int in_stack = 0;
  for (int index = head.load(); index != none; index = elements[index].below.load()) {
    assert(!elements[index].taken);
    ++in_stack;
    assert(in_stack <= 3);
  }
}
