#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks programs as their first lines say, with a compiler at some levels of optimisation.

A line `// check FLAGS: EXPECTED` stands for one run, compiled with FLAGS; those that begin with `--`, and numbers, are
options of the checker. EXPECTED is `exhaustive`, `bounded`, `sampled`, or `passes` for one of the first two, perhaps with
the number of executions; `FAIL` with a text that the first line has to contain; or such a text, for a check without a
verdict.

With --shipped and --mutants the program has been compiled, over the shipped headers and over those with all mutants; the
word `MUTANT=park/no_second_look` chooses one. There are no other FLAGS then, and a thread may have 20,000 events.
"""
import argparse
import os
import re
import shlex
import subprocess
import sys

STATUS = {"exhaustive": 0, "bounded": 0, "sampled": 0, "passes": 0, "FAIL": 1}


def as_expected(expected, status, output, compiler):
    first = output.splitlines()[0] if output else ""
    kind = expected.split(",")[0].split()[0]
    if status != STATUS.get(kind, 2):
        return False
    if kind in ("exhaustive", "bounded", "sampled", "passes"):
        number = re.search(r"(\d+) execution", expected)
        # clang leaves something out of every program.
        words = "bounded" if "clang" in compiler else "exhaustive|bounded" if kind == "passes" else kind
        return re.match(rf"({words})( \d+)?:", first) is not None and (number is None or f"({number[1]} execution" in first)
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
            environment = None
            if o.shipped:
                mutant = flags[0].removeprefix("MUTANT=") if flags else None
                words_of_check = ["--check-duplicates", "--max-events", "20000", *asked]
                environment = dict(os.environ, LD_BIND_NOW="1", RUNQ_CHECK="\n".join(words_of_check))
                environment.update({"RUNQ_MUTANT": mutant} if mutant else {})
                command = [o.mutants if mutant else o.shipped]
            else:
                command = [o.tool, "--compiler", o.compiler, "--check-duplicates", *asked, program, "--", level,
                           *(f"-I{folder}" for folder in o.include), *flags]
            ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300,
                                 env=environment)
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
    options.add_argument("--tool")
    options.add_argument("--compiler", default="")
    options.add_argument("--levels", default="-O0 -O1 -O2")
    options.add_argument("--shipped", metavar="PROGRAM")
    options.add_argument("--mutants", metavar="PROGRAM")
    options.add_argument("--include", action="append", default=[], metavar="DIR")
    options.add_argument("programs", nargs="+")
    o = options.parse_args()
    if o.shipped:
        o.levels = "compiled"
    sys.exit(1 if sum(check_program(o, program) for program in o.programs) else 0)


main()
