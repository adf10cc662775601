// SPDX-License-Identifier: MIT
// What the C++ library does to the program's memory in functions that it has compiled itself, or that are templates, is
// seen: strings, streams, the nodes of lists and trees, threads. Each call is made by two threads at once, and, as its
// right twin, by one thread after the other. The standard streams may be used by several threads.
// check -DAPPEND -DRACE: FAIL data race
// check -DAPPEND: exhaustive, 1 execution
// check -std=c++17 -DAPPEND -DRACE alone: FAIL data race
// check -std=c++17 -DAPPEND alone: exhaustive, 1 execution
// check -DSTREAM -DRACE: FAIL data race
// check -DSTREAM: exhaustive, 1 execution
// check -DOUTPUT -DRACE: exhaustive, 1 execution
// check -DLIST -DRACE: FAIL data race
// check -DLIST: exhaustive, 1 execution
// check -DTRAVERSE -DRACE: FAIL data race
// check -DTRAVERSE: exhaustive, 1 execution
// check -DMAP -DRACE: FAIL data race
// check -DMAP: exhaustive, 1 execution
// check -DERASE -DRACE: FAIL data race
// check -DERASE: exhaustive, 1 execution
// check -DWALK -DRACE: FAIL data race
// check -DWALK: exhaustive, 1 execution
// check -DUNSEEN: bounded; code that is not seen (named below)
// check -DNEXT_IN_LIST: FAIL data race
// check -DNEXT_IN_MAP: FAIL data race
// check -DHASH -DRACE: FAIL data race
// check -DHASH: exhaustive, 1 execution
// check -DEXCEPTION -DRACE: FAIL data race
// check -DEXCEPTION: exhaustive, 1 execution
// check -DRANGE -DRACE: FAIL data race
// check -DRANGE: exhaustive, 1 execution
// check -DLITERAL -DRACE: FAIL data race
// check -DLITERAL: exhaustive, 1 execution
// check -DCLOSED -DRACE: FAIL data race
// check -DCLOSED: exhaustive, 1 execution
// check -DNUMBERED: bounded; code that is not seen (named below)
// check -DEMPTY: FAIL assertion of the C++ library fails: !this->empty()
#include <cassert>
#include <charconv>
#include <cstdio>
#include <iostream>
#include <list>
#include <map>
#include <queue>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>

std::string text;
std::ostringstream stream;
std::list<int> numbers{0};
std::map<int, int> tree{{1, 1}, {3, 3}, {5, 5}, {7, 7}};
std::unordered_map<std::string, int> table;
std::queue<int> queue;
char literal[] = "why";
std::FILE* file = std::fopen("/dev/null", "w");

/// Returns the first letter of what an exception tells.
template <class Exception, class Text>
[[maybe_unused]] char thrown_with(const Text& why) {
  try {
    throw Exception(why);
  } catch (const std::exception& e) {
    return *e.what();
  }
}

void change(int which) {
#if defined(APPEND)
  text.append(which == 0 ? "abc" : "def");
#elif defined(STREAM)
  stream << which;
#elif defined(OUTPUT)
  std::cout << which << " " << 1.5 << '\n';
#elif defined(LIST)
  numbers.push_back(which);
#elif defined(TRAVERSE)
  if (which == 0) {
    numbers.push_back(1);
  } else {
    int sum = 0;
    for (const int number : numbers) sum += number;
    assert(sum <= 1);
  }
#elif defined(MAP)
  tree.emplace(2 * which, 0);
#elif defined(ERASE)
  tree.erase(3 + 2 * which);
#elif defined(WALK)
  if (which == 0) {
    tree.emplace(4, 4);
  } else {
    int sum = 0;
    for (const auto& [key, value] : tree) sum += value;
    assert(sum >= 16);
  }
#elif defined(EXCEPTION)
  if (which == 0) {
    text += "why";
  } else {
    assert(thrown_with<std::runtime_error>(text) != 'x');
  }
#elif defined(RANGE)
  if (which == 0) {
    text += "why";
  } else {
    assert(thrown_with<std::out_of_range>(text) != 'x');
  }
#elif defined(LITERAL)
  if (which == 0) {
    literal[0] = 'y';
  } else {
    assert(thrown_with<std::logic_error>(literal) != 'x');
  }
#elif defined(CLOSED)
  if (which == 0) {
    std::fputs("text", file);
  } else {
    std::fclose(file);
  }
#elif defined(NUMBERED)
  char result[8];
  std::snprintf(result, sizeof result, "%1$s", literal);
  assert(which + result[0] != 0);
#elif defined(HASH)
  table["a" + std::to_string(which)] = which;
#elif defined(UNSEEN)
  double number = which;
  static_cast<void>(std::from_chars(text.data(), text.data() + text.size(), number));
#elif defined(EMPTY)
  if (which == 0) queue.pop();
#endif
}

int main() {
#if defined(NEXT_IN_LIST)
  numbers = {1, 2, 3};
  const auto first = numbers.begin(), second = std::next(first);
  std::thread other([first] { assert(std::next(first) != first); });
  numbers.erase(second);
#elif defined(NEXT_IN_MAP)
  // From 3 to 5, whose links a new 4 changes.
  tree = {{2, 2}, {3, 3}, {5, 5}};
  const auto three = tree.find(3);
  std::thread other([three] { assert(std::next(three) != three); });
  tree.emplace(4, 4);
#else
  std::thread other(change, 0);
#endif
#if defined(NEXT_IN_LIST) || defined(NEXT_IN_MAP)
  other.join();
#elif defined(RACE)
  change(1);
  other.join();
#else
  other.join();
  change(1);
#endif
}
