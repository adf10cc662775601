// SPDX-License-Identifier: MIT
// libstdc++ keeps what narrow() answers, without a lock (its bug 77704): regular expressions of two threads race there.
// It is full before main() begins.
//
// check: none fails
// check -DWRONG: FAIL data race
#include <locale>
#include <thread>

char last = 0;

int main() {
  const auto ask = [] {
    const auto& characters = std::use_facet<std::ctype<char>>(std::locale());
    for (char c = 'a'; c != 'z'; ++c) {
      [[maybe_unused]] const char narrowed = characters.narrow(c, '\0');
#ifdef WRONG
      last = narrowed;
#endif
    }
  };
  std::thread other(ask);
  ask();
  other.join();
}
