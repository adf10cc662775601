// SPDX-License-Identifier: MIT
// An exception that two threads have: the last one that lets it go frees it, and the C++ library's count puts what the
// others have read before that.
//
// check: none fails
// check -DKEEPS: none fails
// check -DWRONG: FAIL data race
#include <cassert>
#include <exception>
#include <thread>

struct problem {
  int number = 1;
  ~problem() { number = 0; }
};

int main() {
  std::exception_ptr mine = std::make_exception_ptr(problem{});
  std::thread other([its = mine]() mutable {
    try {
      std::rethrow_exception(its);
    } catch (problem& p) {
#ifdef WRONG
      p.number = 2;
#endif
      assert(p.number >= 1);
#ifdef KEEPS
      its = nullptr;
#endif
    }
  });
  try {
    std::rethrow_exception(mine);
  } catch (const problem& p) {
    assert(p.number >= 1);
  }
  mine = nullptr;
  other.join();
}
