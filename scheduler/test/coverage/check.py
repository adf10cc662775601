#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests coverage.py on a tiny program. check.py CLANG++: the compiler; llvm-cov and llvm-profdata are in the path."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# As in the preset `coverage`.
FLAGS = ["-std=c++20", "-fprofile-instr-generate", "-fcoverage-mapping", "-fprofile-update=atomic", "-mllvm",
         "-runtime-counter-relocation", "-Qunused-arguments"]
PROGRAM = """\
#include <cstdlib>
int twice(int n) {
  if (n > 100) return 0;
  return 2 * n;
}
int unused(int n) {
  return n + 1;
}
int guarded(bool locked) {
  { if (!locked) return 1; }
  return 2;
}
template <class T>
T larger(T a, T b) {
  if constexpr (sizeof(T) == 4) {
    return a < b ? b : a;
  } else {
    return a < b ? b : a;
  }
}
%s
int main() { std::_Exit(twice(4) + guarded(true) + larger(1, 2) + larger(2.0, 1.0) == 14 ? 0 : 1); }
"""
MARKED = """\
// unreached: nobody calls it,
// and this is why
int marked(int n) {
  if (n > 0) return 1;
  return n;
}
int to_the_end(int n) {
  // unreached from here on: a reason
  ++n;
  return 3 * n;
}
int at_its_line(int n) {
  if (n == 4) return 1;  // by chance: a reason
  return n;
}
"""
EXECUTED = """\
#include <cstdlib>
int sign(int n) {
  // by chance: only some runs ask for 0
  if (n == 0) return 0;
  return n > 0 ? 1 : -1;  // by chance: this was executed, which is no error
}
int main() { std::_Exit(sign(4) + sign(-4)); }
"""


def run(program, expected_status):
    """What coverage.py says of the program, and its page."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        build = root / "build"
        for made in (root / "scheduler/src", build / "scheduler", build / "profiles"):
            made.mkdir(parents=True)
        source = root / "scheduler/src/tiny.cpp"
        source.write_text(program)
        subprocess.run([sys.argv[1], *FLAGS, "-o", build / "scheduler/tiny", source], check=True)
        subprocess.run([build / "scheduler/tiny"], check=True,
                       env=dict(os.environ, LLVM_PROFILE_FILE=f"{build}/profiles/%m%c.profraw"))
        done = subprocess.run([sys.executable, "-B", HERE / "coverage.py", "--build", build, "--root", root, "--page",
                               build / "page.html"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == expected_status, done.stdout
        return done.stdout, (build / "page.html").read_text()


def main():
    text, page = run(PROGRAM % MARKED, 1)
    lines = text.splitlines()
    assert lines[0] == "scheduler/src/tiny.cpp:", text
    assert "     3 never true: n > 100" in lines, text
    assert "     7 is not executed: return n + 1;" in lines, text
    assert "    10 never true: !locked" in lines, text
    assert not any(line.startswith("    11") for line in lines), f"what follows a block that may return: {text}"
    assert not any("not executed" in line and "a < b" in line for line in lines), f"each is in one instance: {text}"
    assert not any("marked(" in line or "return 1;" in line or "3 * n" in line for line in lines), f"a mark says why: {text}"
    assert "nobody calls it," in page and "return n + 1;" in page and page.startswith("<!DOCTYPE html>"), page
    assert page.count("<details open>") == 1, page
    assert ("error: 12 lines have no reason (scheduler/src/tiny.cpp:3, scheduler/src/tiny.cpp:6, scheduler/src/tiny.cpp:7, …; all "
            "are listed above). For each, write a unit test") in text, text

    text, _ = run(PROGRAM % MARKED.replace("// unreached: nobody calls it,\n// and this is why", "// unreached:"), 1)
    assert "`unreached` has no reason" in text, text
    text, _ = run(PROGRAM.replace("  return 2 * n;", "  return 2 * n;  // unreached: but it is") % "", 1)
    assert "tiny.cpp:4: `unreached` is not true" in text, text
    text, page = run(EXECUTED, 0)
    assert "error" not in text and "in 0 none does" in text, text
    assert "<details open>" not in page, page


if __name__ == "__main__":
    main()
