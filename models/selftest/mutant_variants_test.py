#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether a header with all mutants beside the shipped functions does, for each mutant, what the changed header does.

usage: mutant_variants_test.py VERIFY_DIR CHECK_DIR COMPILER
"""
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, sys.argv[1])
from mutants import mutate, parse, parse_table  # noqa: E402
from mutant_variants import bodies, changed_bodies, combined  # noqa: E402

HEADER = """#pragma once
namespace kit {
enum class kind { one, two };
template <class T>
class box {
 public:
  explicit box(T value) : value_{value} {}
  T get() const { return value_; }  // } in a comment
  auto text() const noexcept -> const char* { return "{"; }
  template <class F>
  void each(F f) const {
    for (int i = 0; i != 2; ++i) {
      f([&] { return value_; }());
    }
  }
  static constexpr int width() { return 1'000; }

 private:
  T value_;
};
static_assert(box<int>::width() == 1000);
inline int line() { return __builtin_LINE(); }
}  // namespace kit
"""
PROGRAM = """#include "header.hpp"
#include <cstdio>
namespace runq::model { std::uint64_t chosen_mutant = 0; }
int main(int count, char** words) {
  if (count > 1) runq::model::chosen_mutant = runq::model::mutant_number(words[1]);
  kit::box<int> b(3);
  int sum = 0;
  b.each([&](int v) { sum += v; });
  std::printf("%d %s %d %d %d", b.get(), b.text(), sum, kit::box<int>::width(), kit::line());
}
"""
CHANGES = {
    "stem/another_value": ("return value_; }  // }", "return value_ + 1; }  // }", "4 { 6 1000 22"),
    "stem/other_value": ("return value_; }  // }", "return value_ + 2; }  // }", "5 { 6 1000 22"),
    "stem/another_text": ('return "{"', "return '{' == '}' ? nullptr : \"}\"", "3 } 6 1000 22"),
    "stem/once": ("i != 2", "i != 1", "3 { 3 1000 22"),
    "stem/wider": ("1'000; }", "1'000 + 1; }", "3 { 6 1001 22"),
    "stem/two_lines": ("return __builtin_LINE()", "\n  return __builtin_LINE()", "3 { 6 1000 23"),
}
# What sources have that headers have not.
SOURCE = """namespace {
box::box(int size) : size_(size), all_(new int[size]) { fill(); }
extern "C" int begins() noexcept { return 1; }
extern "C" {
int ends() { return 2; }
}
constexpr int table[] = {1, 2};
#define TWO_LINES \\
  f(1)
class after_a_macro {
  int value() { return 3; }
};
}
"""
TABLE = """=== first
# Two lines.
file: exact/one.cpp
killed by: exact: Suite.Test
--- old
a
b
--- new

--- old
e
--- new
f

=== second_2
file: exact/two.cpp
--- old
c
--- new
d
"""


def main():
    found = [SOURCE[slice(*span)].strip() for span in bodies(SOURCE)]
    assert found == ["fill();", "return 1;", "return 2;", "return 3;"], found
    parsed = [(name, *parse(text)) for name, text in parse_table(TABLE)]
    assert parsed == [("first", {"file": "exact/one.cpp", "killed by": "exact: Suite.Test"}, [("a\nb", ""), ("e", "f")]),
                      ("second_2", {"file": "exact/two.cpp"}, [("c", "d")])], parsed
    assert mutate("a b", [("a", "c"), ("b", "d")]) == ("c d", "applied")
    for text, times in (("a b a", 2), ("b", 0)):
        assert mutate(text, [("a", "c")]) == (None, f"the text to replace stands {times} times, not once: a")
    texts = [HEADER[slice(*span)].split("\n")[0].strip() for span in bodies(HEADER)]
    assert texts == ["", "return value_;", 'return "{";', "", "return 1'000;", "return __builtin_LINE();"], texts
    for old, new in [("T value_;", "T value_ = 1;"), ("const {", "{"), ("one, two", "two"), ("value_{value}", "value_{1}")]:
        assert HEADER.count(old) and changed_bodies(HEADER, HEADER.replace(old, new)) is None, old

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        mutants = [(m, folder / "copy.hpp", HEADER.replace(old, new)) for m, (old, new, _) in CHANGES.items()]
        (folder / "header.hpp").write_text(combined(HEADER, folder / "shipped.hpp", mutants))
        (folder / "program.cpp").write_text(PROGRAM)
        command = [sys.argv[3], "-std=c++20", "-O1", f"-I{sys.argv[2]}", "program.cpp", "-o", "program"]
        subprocess.run(command, cwd=folder, check=True)

        def printed(*words):
            return subprocess.run([folder / "program", *words], check=True, capture_output=True, text=True).stdout

        assert printed() == "3 { 6 1000 22", printed()
        for mutant, (_, _, expected) in CHANGES.items():
            assert printed(mutant) == expected, (mutant, printed(mutant))
    print(f"{len(CHANGES)} mutants, chosen at run time")


if __name__ == "__main__":
    main()
