#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same programs as scenarios and compiled: both front ends must find as many executions, none of them twice.

With `--measure N SHAPE` it compares what they cost instead: user time, the medians of N runs by turns, and instructions
as valgrind counts them. Unlike the test this is without --check-duplicates, which the scenarios do not have either."""
import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile


def compare(program, level, count, seconds, shape):
    environment = dict(os.environ, SHAPE=shape, RUNQ_CHECK="--check-duplicates\n--every-iteration")
    ran = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, timeout=300)
    found = re.search(r"^(?:exhaustive|bounded): .*\((\d+) executions? explored,(?: \+\d+ blocked,)? ([0-9.]+) s\)$", ran.stdout, re.MULTILINE)
    good = ran.returncode == 0 and found and found[1] == count and "met before" not in ran.stdout
    print(f"{'ok  ' if good else 'FAIL'} {level} {shape}: {count} as a scenario in {seconds} s;",
          f"compiled: {found[1]} in {found[2]} s" if found else ran.stdout)
    return bool(good)


def user_seconds(command, environment):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{command[0]} fails")
    return usage.ru_utime


def instructions(command, environment):
    valgrind = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    ran = subprocess.run(valgrind + command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment)
    return int(re.search(r"I +refs: +([\d,]+)", ran.stderr)[1].replace(",", ""))


def measure(programs, runs, shape):
    environment = dict(os.environ, SHAPE=shape, RUNQ_CHECK="--every-iteration", LD_BIND_NOW="1")
    seconds = {name: [] for name in programs}
    for _ in range(runs):
        for name, program in programs.items():
            seconds[name].append(user_seconds([program], environment))
    unit = statistics.median(seconds["scenario"])
    counted = {}
    if shutil.which("valgrind"):
        counted = {name: instructions([program], environment) for name, program in programs.items()}
    for name in programs:
        middle = statistics.median(seconds[name])
        line = f"{name:10} {middle:.3f} s, {middle / unit:.2f} times"
        if counted:
            line += f"; {counted[name] / 1e6:,.0f} million instructions, {counted[name] / counted['scenario']:.2f} times"
        print(line)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--native", required=True, help="prints the numbers of the scenarios")
    options.add_argument("--tool", required=True)
    options.add_argument("--compiler", required=True)
    options.add_argument("--levels", default="-O0 -O1 -O2")
    options.add_argument("--include", action="append", default=[])
    options.add_argument("--measure", nargs=2, metavar=("N", "SHAPE"))
    options.add_argument("source")
    o = options.parse_args()
    native = subprocess.run([o.native], stdout=subprocess.PIPE, text=True, check=True).stdout
    shapes = [line.split(maxsplit=2) for line in native.splitlines()]
    if len(shapes) < 10:
        sys.exit(f"too few shapes:\n{native}")
    good = True
    programs = {"scenario": o.native}
    with tempfile.TemporaryDirectory() as scratch:
        for level in o.levels.split():
            program = programs[level] = f"{scratch}/shapes{level}"
            # Without debug checks the queues look for no second owner: finish() runs in main(), as in a scenario.
            flags = ["-DNDEBUG", "-w", level, *(f"-I{i}" for i in o.include)]
            subprocess.run([o.tool, "--compiler", o.compiler, "--compile-only", program, o.source, "--", *flags], check=True)
            for count, seconds, shape in [] if o.measure else shapes:
                good = compare(program, level, count, seconds, shape) and good
        if o.measure:
            measure(programs, int(o.measure[0]), o.measure[1])
    sys.exit(0 if good else 1)


main()
