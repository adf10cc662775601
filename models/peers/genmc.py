#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tests that GenMC is published with: does ./kit check explore as many executions as GenMC does?

./kit verify --genmc DIR [GLOB...]
    DIR is a checkout of github.com/MPI-SWS/genmc. Of its tests, those of models/peers/genmc.toml are checked. Only their
    header genmc.h is that of models/peers/genmc. Prints a line for each: how many executions GenMC's authors expect under
    RC11, how many are explored here, whether that is the same, and if not, the name of the reason. The reasons follow. Of
    several variants, which differ in the order in which threads are started, the first is checked. A GLOB chooses
    tests by name, as 'litmus/MP*'.

Exit status: 0: each test is the same, or differs as genmc.toml says; 1: one does not; 2: nothing was checked.
"""
import argparse
import fnmatch
import re
import sys
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from peers import HERE, check


@dataclass
class Test:
    """One line of the output: a test with one line of arguments."""
    name: str
    file: Path
    flags: list
    theirs: str  # a number of executions, or "error"
    options: list
    threads: int = 0  # more than the library without options has

    def sources(self, folder):
        """What is compiled, and the flags for that. GenMC's headers include genmc.h; its paths begin at the checkout."""
        # C++23 has <stdatomic.h>. Some tests in C have inline functions that GenMC's compiler inlines.
        of_language = ["-std=c++23"] if self.file.suffix == ".cpp" else ["-fgnu89-inline"]
        flags = [flag.replace("-I.", f"-I{folder}") for flag in self.flags]
        return [self.file], [f"-I{HERE / 'genmc'}", "-include", "genmc.h", "-w", *of_language, *flags]


def lines_of(file):
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def tests_in(folder, group, options):
    """The tests of one folder, each with what its authors expect under RC11, with a modification order."""
    found = []
    for test in sorted((folder / "tests" / group).iterdir()):
        variants = sorted([*test.glob("variants/*.c"), *test.glob("variants/*.cpp")])
        if not variants:
            continue
        name = f"{test.parent.name}/{test.name}"
        if group.startswith("wrong/"):
            found.append(Test(name, variants[0], [], "error", options))
            continue
        expected = [line.strip() for line in lines_of(test / "expected.rc11.mo.in")]
        # A line has arguments of GenMC, and those of the compiler behind `|`.
        arguments = lines_of(test / "args.rc11.mo.in")[:len(expected)] or ["|"]
        for line, theirs in zip(arguments, expected):
            flags = line.split("|")[1].split()
            chosen = [flag for flag in flags if flag.startswith("-D")] if len(arguments) > 1 else []
            found.append(Test(" ".join([name, *chosen]), variants[0], flags, theirs, options))
    return found


def counted(result):
    """What is compared: how many executions, or the verdict, if that is none of a passed search."""
    if re.search(r"^no verdict: all of \d+ executions wait for ever", result.text, re.MULTILINE):
        return "0"
    return str(result.executions) if result.verdict in ("exhaustive", "bounded") else result.verdict


def main():
    options = argparse.ArgumentParser(prog="./kit verify --genmc", description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tool", help=argparse.SUPPRESS)
    options.add_argument("--table", default=HERE / "genmc.toml", help=argparse.SUPPRESS)
    options.add_argument("--compiler", default="g++", help="g++ (the default), or another one")
    options.add_argument("--text", action="store_true", help="print the whole verdicts")
    options.add_argument("folder", metavar="DIR", help="the checkout")
    options.add_argument("globs", nargs="*", metavar="GLOB", help="the tests whose names match")
    o = options.parse_args()
    with open(o.table, "rb") as file:
        table = tomllib.load(file)
    folder = Path(o.folder).resolve()
    if not (folder / "tests/correct/litmus").is_dir():
        print(f"genmc: {folder} is no checkout of {table['source']}", file=sys.stderr)
        return 2
    tests = [test for group in table["groups"] for test in tests_in(folder, group, table["options"])]
    for test in tests:
        test.options = [*test.options, *table.get("options_of", {}).get(test.name, [])]
        test.threads = table.get("threads", {}).get(test.name, 0)
    asked = [test for test in tests if not o.globs or any(fnmatch.fnmatch(test.name, glob) for glob in o.globs)]
    if not asked:
        print("genmc: no test has such a name", file=sys.stderr)
        return 2
    differences = {test: (pinned, reason["name"]) for reason in table["reasons"]
                   for test, pinned in reason["tests"].items()}
    same, met, unexpected = Counter(), Counter(), 0
    print(f"{'test':44} {'theirs':>7} {'here':>28} {'time':>9}")
    for test in asked:
        result = check(o.tool, o.compiler, test, folder)
        ours = counted(result)
        is_same = ours.startswith("FAIL") if test.theirs == "error" else ours == test.theirs
        pinned, reason = differences.get(test.name, (test.theirs, "same"))
        good = is_same if reason == "same" else ours == pinned
        unexpected += not good
        same[test.name.split("/")[0]] += good and is_same
        met[reason] += good
        word = reason if good else f"EXPECTED: {pinned}"
        print(f"{test.name:44} {test.theirs:>7} {ours:>28} {result.seconds:7.2f} s  {word}", flush=True)
        if o.text or not good:
            print(result.text)
    for reason in table["reasons"]:
        if met[reason["name"]]:
            print(f"{reason['name']} ({met[reason['name']]}): {reason['text']}")
    of_group = Counter(test.name.split("/")[0] for test in asked)
    print("genmc: the same: " + ", ".join(f"{group} {same[group]} of {of_group[group]}" for group in of_group) +
          f"; {unexpected} unexpected")
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
