#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks one program as its first lines say, with a compiler at some levels of optimisation.

A line `// check FLAGS: EXPECTED` stands for one run, compiled with FLAGS. EXPECTED is `exhaustive`, `bounded`, or
`passes` for either, perhaps with the number of executions; `FAIL` with a text that the first line has to contain; or such
a text, for a check without a verdict.
"""
import argparse
import re
import shlex
import subprocess
import sys

STATUS = {"exhaustive": 0, "bounded": 0, "passes": 0, "FAIL": 1}


def as_expected(expected, status, output, compiler):
    first = output.splitlines()[0] if output else ""
    kind = expected.split(",")[0].split()[0]
    if status != STATUS.get(kind, 2):
        return False
    if kind in ("exhaustive", "bounded", "passes"):
        number = re.search(r"(\d+) execution", expected)
        # clang leaves something out of every program.
        words = ("bounded:",) if "clang" in compiler else ("exhaustive:", "bounded:") if kind == "passes" else (f"{kind}:",)
        return first.startswith(words) and (number is None or f"({number[1]} execution" in first)
    if kind == "FAIL":
        return first.startswith("FAIL") and expected[len("FAIL"):].strip() in first
    return expected in first


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--tool", required=True)
    options.add_argument("--compiler", required=True)
    options.add_argument("--levels", default="-O0 -O1 -O2")
    options.add_argument("program")
    o = options.parse_args()
    with open(o.program, encoding="utf-8") as source:
        lines = re.findall(r"^// check ?(.*?): (.*)$", source.read(), re.MULTILINE)
    if not lines:
        sys.exit(f"{o.program}: no line says what to expect")
    failed = 0
    for level in o.levels.split():
        counts = {}
        for flags, expected in lines:
            command = [o.tool, "--compiler", o.compiler, "--check-duplicates", o.program, "--", level, *shlex.split(flags)]
            ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
            duplicates = "were met before" in ran.stdout
            lines_printed = ran.stdout.count("\n")
            good = as_expected(expected, ran.returncode, ran.stdout, o.compiler) and not duplicates and lines_printed <= 43
            counts[flags] = ran.stdout
            print(f"{'ok  ' if good else 'FAIL'} {level} {flags}: {ran.stdout.splitlines()[0] if ran.stdout else ''}")
            if not good:
                failed += 1
                print(f"  expected: {expected}; status {ran.returncode}\n{ran.stdout}\n  {shlex.join(command)}")
    sys.exit(1 if failed else 0)


main()
