// SPDX-License-Identifier: MIT
// An exception that two threads have: the last one that lets it go destroys it, and the C++ library's count puts what
// the others have read before that. A thread holds it by the handler that it is in, or by a pointer.
//
// check: none fails
// check -DBY_POINTER: none fails
// check -DWRONG: FAIL data race
#include <cassert>
#include <exception>
#include <thread>

struct problem {
  int number = 1;
  ~problem() { number = 0; }
};

void use(std::exception_ptr held) {
  const problem* found = nullptr;
  try {
    std::rethrow_exception(held);
  } catch (problem& p) {
    found = &p;
#ifndef BY_POINTER
    held = nullptr;
    assert(found->number >= 1);
#endif
#ifdef WRONG
    p.number = 2;
#endif
  }
#ifdef BY_POINTER
  assert(found->number >= 1);
#endif
}

int main() {
  std::exception_ptr problems = std::make_exception_ptr(problem{});
  std::thread other(use, problems);
  use(std::move(problems));
  other.join();
}
