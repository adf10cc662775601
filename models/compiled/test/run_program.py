#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks programs as their first lines say, with a compiler at some levels of optimisation.

A line `// check FLAGS: EXPECTED` stands for one run, compiled with FLAGS; those that begin with `--`, and numbers, are
options of the checker. EXPECTED is `exhaustive`, `bounded`, or `passes` for either, perhaps with the number of
executions; `FAIL` with a text that the first line has to contain; or such a text, for a check without a verdict.
"""
import argparse
import os
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


def check_program(o, program):
    """Returns how many runs are not as the program says."""
    with open(program, encoding="utf-8") as source:
        lines = re.findall(r"^// check ?(.*?): (.*)$", source.read(), re.MULTILINE)
    if not lines:
        sys.exit(f"{program}: no line says what to expect")
    failed = 0
    for level in o.levels.split():
        for words, expected in lines:
            asked = [word for word in shlex.split(words) if word.startswith("--") or word.isdigit()]
            flags = [word for word in shlex.split(words) if word not in asked]
            command = [o.tool, "--compiler", o.compiler, "--check-duplicates", *asked, program, "--", level,
                       *(f"-I{folder}" for folder in o.include), *flags]
            ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
            duplicates = "were met before" in ran.stdout
            lines_printed = ran.stdout.count("\n")
            # A long check tells on stderr where it stands.
            good = as_expected(expected, ran.returncode, ran.stdout + ran.stderr, o.compiler) and not duplicates and lines_printed <= 43
            first = ran.stdout.splitlines()[0] if ran.stdout else ""
            print(f"{'ok  ' if good else 'FAIL'} {os.path.basename(program)} {level} {words}: {first}")
            if not good:
                failed += 1
                print(f"  expected: {expected}; status {ran.returncode}\n{ran.stdout}{ran.stderr}\n  {shlex.join(command)}")
    return failed


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--tool", required=True)
    options.add_argument("--compiler", required=True)
    options.add_argument("--levels", default="-O0 -O1 -O2")
    options.add_argument("--include", action="append", default=[], metavar="DIR")
    options.add_argument("programs", nargs="+")
    o = options.parse_args()
    sys.exit(1 if sum(check_program(o, program) for program in o.programs) else 0)


main()
