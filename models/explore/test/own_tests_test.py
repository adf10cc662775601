#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""own_tests.py notices a test that fails, one that is refused and not listed, and one that is listed and not refused. Its summary
says what was explored, and what was not."""
import argparse
import os
import re
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.realpath(__file__))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("source")
    options = parser.parse_args()
    wrong = []
    with tempfile.TemporaryDirectory() as scratch:
        program, reasons = os.path.join(scratch, "program"), os.path.join(scratch, "reasons")
        own_tests = [sys.executable, "-B", os.path.join(here, "..", "own_tests.py"), "--not-explored", reasons]
        flags = [word for flag in ("-O0", "-lgtest", "-lgtest_main") for word in ("--flag", flag)]
        subprocess.run([options.tool, "--compile-only", program, *flags, options.source], check=True)
        for what, listed, status, texts in (
                ("a test that fails", "death.*: not supported: fork()\ndeath.*: not supported: clone()\n", 1,
                 ["8 tests, 3 wrong", "WRONG counter.loses_an_update", "--seed 70", "not explored: death.ends: not supported: fork()"]),
                ("one that is left out", "death.*: not supported: fork()\ncounter.loses*: too long\n", 0,
                 ["5 tests, 0 wrong", "not explored: skips.itself: it skips itself: not today"]),
                ("one that is not listed", "counter.loses*: too long\n", 1, ["5 tests, 1 wrong", "WRONG death.ends"]),
                ("one that is not refused", "death.*: not supported: fork()\ncounter.adds_atomically: not supported: fork()\n", 1,
                 ["WRONG counter.adds_atomically: not_explored.txt says not supported: fork(), but:"])):
            with open(reasons, "w") as file:
                file.write(listed)
            done = subprocess.run([*own_tests, "--tool", options.tool, "--seconds", "2", "--seed", "7000", "--log",
                                   os.path.join(scratch, "log.txt"), program], text=True, capture_output=True)
            if done.returncode != status or not all(text in done.stdout for text in texts):
                wrong.append(f"{what}: status {done.returncode}\n{done.stdout}{done.stderr}")
        with open(reasons, "a") as file:
            file.write("death.never: too long\n")
        done = subprocess.run([*own_tests, "--summary", scratch], text=True, capture_output=True)
        parts = (r"explored: 2 tests of 1 programs in [\d,]+ runs, and none fails; 4 others are wrong\nof these 2 have one thread",
                 r"not explored, because too long: death\.never\n", r"because not supported: fork\(\): death\.ends\n",
                 r"WRONG counter\.adds_atomically")
        if done.returncode != 0 or not all(re.search(part, done.stdout) for part in parts):
            wrong.append(f"summary: status {done.returncode}\n{done.stdout}{done.stderr}")
    print("\n".join(wrong) if wrong else "own_tests.py notices what is wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
