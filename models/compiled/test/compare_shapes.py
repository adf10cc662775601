#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same programs as scenarios and compiled: both front ends must find as many executions, none of them twice."""
import argparse
import os
import re
import subprocess
import sys
import tempfile


def compare(program, level, count, seconds, shape):
    environment = dict(os.environ, SHAPE=shape, RUNQ_CHECK="--check-duplicates\n--every-iteration")
    ran = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, timeout=300)
    found = re.search(r"^(?:exhaustive|bounded): .*\((\d+) executions? explored, ([0-9.]+) s\)$", ran.stdout, re.MULTILINE)
    good = ran.returncode == 0 and found and found[1] == count and "met before" not in ran.stdout
    print(f"{'ok  ' if good else 'FAIL'} {level} {shape}: {count} as a scenario in {seconds} s;",
          f"compiled: {found[1]} in {found[2]} s" if found else ran.stdout)
    return bool(good)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--native", required=True, help="prints the numbers of the scenarios")
    options.add_argument("--tool", required=True)
    options.add_argument("--compiler", required=True)
    options.add_argument("--levels", default="-O0 -O1 -O2")
    options.add_argument("--include", action="append", default=[])
    options.add_argument("source")
    o = options.parse_args()
    native = subprocess.run([o.native], stdout=subprocess.PIPE, text=True, check=True).stdout
    shapes = [line.split(maxsplit=2) for line in native.splitlines()]
    if len(shapes) < 10:
        sys.exit(f"too few shapes:\n{native}")
    good = True
    with tempfile.TemporaryDirectory() as scratch:
        for level in o.levels.split():
            program = f"{scratch}/shapes"
            # Without debug checks the queues look for no second owner: finish() runs in main(), as in a scenario.
            flags = ["-DNDEBUG", "-w", level, *(f"-I{i}" for i in o.include)]
            subprocess.run([o.tool, "--compiler", o.compiler, "--compile-only", program, o.source, "--", *flags], check=True)
            for count, seconds, shape in shapes:
                good = compare(program, level, count, seconds, shape) and good
    sys.exit(0 if good else 1)


main()
