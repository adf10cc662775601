// SPDX-License-Identifier: MIT
// What a law is, and what its run leaves for the runner to print: the code of a unit test, and how much was tried.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "history.hpp"
#include "operations.hpp"

namespace runq::props {

/// The present run as the code of a unit test; printed when a law fails, also when the process is about to die.
class transcript {
 public:
  static void begin(const paste& words, const std::string& comment) {
    text() = {};
    text().words = words;
    text().comment = comment;
  }
  static void add(const std::string& code) { text().lines += "  " + code + "\n"; }
  static void replace(const std::string& whole) {
    text() = {};
    text().whole = whole;
  }
  static void name(const std::string& suite, const std::string& law) {
    text() = {};
    names() = suite + ", " + law;
  }
  [[nodiscard]] static std::string code() {
    const parts& t = text();
    if (!t.whole.empty()) return "TEST(" + names() + ") {\n" + t.whole + "}\n";
    return t.words.at_namespace_scope + "TEST(" + names() + ") {  // " + t.comment + "\n" + t.words.setup + t.lines +
           t.words.cleanup + "}\n";
  }

 private:
  struct parts {
    paste words;
    std::string comment, lines, whole;
  };
  static parts& text() {
    static parts t;
    return t;
  }
  static std::string& names() {
    static std::string n;
    return n;
  }
};

/// How many calls a law has made. Cases without calls would show nothing.
inline std::uint64_t& calls_made() {
  static std::uint64_t n = 0;
  return n;
}

/// How many histories of threads a law has judged. An undecided history shows nothing, so the law fails.
struct histories {
  std::uint64_t judged = 0;
  std::uint64_t undecided = 0;
  std::size_t configurations = default_configurations;  ///< at most so many each
};
inline histories& histories_judged() {
  static histories h;
  return h;
}

/// One law of a suite. Runs inside rc::check: it draws from generators and fails by RC_FAIL.
struct law {
  std::string name;
  std::function<void()> body;
  int cost = 1;  ///< runs one in `cost` of the cases that were asked for
};

}  // namespace runq::props
