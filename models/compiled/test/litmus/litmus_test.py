#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The litmus shapes through the front end for compiled programs: as many executions as native, and the same outcomes.

litmus_test.py PROGRAM: run.cpp, compiled. What is known is what it prints (models/cases/litmus/known_shapes.hpp), which
the native front end is compared with, too.
"""
import os
import re
import subprocess
import sys

program = sys.argv[1]


def check(shape, **more):
    environment = dict(os.environ, SHAPE=shape, RUNQ_CHECK="--check-duplicates\n--every-iteration", LD_BIND_NOW="1", **more)
    ran = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, timeout=300)
    return ran.stdout


def passes(output, executions):
    """Every execution was explored, and none of them twice."""
    found = re.match(r"(?:exhaustive|bounded): .*\((\d+) executions? explored", output)
    return found is not None and found[1] == executions and "met before" not in output


shapes = [line.split("\t") for line in subprocess.run([program], stdout=subprocess.PIPE, text=True).stdout.splitlines()]
wrong = 0
for name, executions, absent, present in shapes:
    races = executions == "0"
    output = check(name)
    good = output.startswith("FAIL") and "data race" in output if races else passes(output, executions)
    good = good and (absent == "-" or passes(check(name, OUTCOME=absent), executions))
    good = good and (present == "-" or "abort() is called" in check(name, OUTCOME=present))
    wrong += not good
    print(f"{'ok  ' if good else 'FAIL'} {name}: {'a data race' if races else executions + ' executions'},",
          f"never {absent}, sometimes {present}")
    if not good:
        print(output)
print(f"{len(shapes)} shapes, {wrong} differ")
sys.exit(1 if wrong or len(shapes) < 30 else 0)
