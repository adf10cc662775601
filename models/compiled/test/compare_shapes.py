#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same programs as scenarios and compiled: both front ends must find as many executions, none of them twice.

With `--measure N SHAPE…`, after the source, it compares what they cost instead: user time, the medians of N runs by turns, and instructions
as valgrind counts them, without those of starting, which are those of the smallest shape. A line for each shape: its executions, then
for each level how many times what the scenario needs. Unlike the test this is without --check-duplicates, which the scenarios do not have
either."""
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


SMALLEST = "dekker_fences<P>"


def user_seconds(command, environment):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{command[0]} fails")
    return usage.ru_utime


def instructions(command, environment):
    if not shutil.which("valgrind"):
        return None
    valgrind = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    ran = subprocess.run(valgrind + command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment)
    return int(re.search(r"I +refs: +([\d,]+)", ran.stderr)[1].replace(",", ""))


def cost(programs, runs, shape):
    """For each program: seconds, and millions of instructions if valgrind is there."""
    environment = dict(os.environ, SHAPE=shape, RUNQ_CHECK="--every-iteration", LD_BIND_NOW="1")
    seconds = {name: [] for name in programs}
    for _ in range(runs):
        for name, program in programs.items():
            seconds[name].append(user_seconds([program], environment))
    return {name: (statistics.median(seconds[name]), instructions([program], environment)) for name, program in programs.items()}


def measure(programs, runs, shapes):
    starting = cost(programs, runs, SMALLEST)
    for count, shape in shapes:
        used = cost(programs, runs, shape)

        def times(name, i):
            return (used[name][i] - starting[name][i]) / (used["scenario"][i] - starting["scenario"][i])

        words = [f"{name}: {times(name, 0):.2f} × time" + (f", {times(name, 1):.2f} × instructions" if used[name][1] else "")
                 for name in programs if name != "scenario"]
        seconds, counted = used["scenario"]
        unit = f", {(counted - starting['scenario'][1]) / int(count):,.0f} instructions for one" if counted else ""
        print(f"{shape}: {count} executions; scenario: {seconds:.3f} s{unit}; {'; '.join(words)}", flush=True)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--native", required=True, help="prints the numbers of the scenarios")
    options.add_argument("--tool", required=True)
    options.add_argument("--compiler", required=True)
    options.add_argument("--levels", default="-O0 -O1 -O2")
    options.add_argument("--include", action="append", default=[])
    options.add_argument("--measure", nargs="+", metavar=("N", "SHAPE"))
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
            measure(programs, int(o.measure[0]), [(count, shape) for count, _, shape in shapes if shape in o.measure[1:]])
    sys.exit(0 if good else 1)


main()
