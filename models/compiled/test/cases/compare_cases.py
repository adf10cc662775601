#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks every case of the queues natively, over the models' policy, and as a compiled program, over the policy that
ships: both find as many executions without a spurious failure, none of them twice.

With spurious failures of weak compare-exchanges there may be more of them compiled: natively they fail in threads only,
compiled also in main(), which constructs the scenario and finishes it. A large case is compared without spurious
failures only: with one of them it would take minutes.

At the end: of the atomic operations in the queues' headers, every one must have been executed by some case, unless only
some queues are compared (--some).
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

COUNTS = Path(__file__).resolve().parents[3] / "cases/pinned.txt"


def run(command, **more):
    environment = dict(os.environ, **more)
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment,
                          timeout=600).stdout


def native(worker, module, case):
    """Executions without a spurious failure, and with at most one."""
    output = run([worker, json.dumps({"modules": [module], "search": {"case_name": case}})])
    result = json.loads(re.search(r"^R (.*)$", output, re.MULTILINE)[1])
    if result.get("what") != "none" or result.get("how") != "exhaustive":
        sys.exit(f"{case}, natively: {output}")
    return result["executions"] - result["spurious"], result["executions"]


def compiled(program, case, spurious, executed, waits):
    """How many executions, or what went wrong. Adds to the file `executed` which operations were executed."""
    iterations = "" if waits else "--every-iteration\n"
    output = run([program], CASE=case,
                 RUNQ_CHECK=f"{iterations}--skip-retries\noff\n--check-duplicates\n--executed\n{executed}\n--spurious\n{spurious}")
    found = re.search(r"^(?:exhaustive|bounded): .*\((\d+) executions? explored,(?: \+\d+ blocked,)? [0-9.]+ s\)$", output, re.MULTILINE)
    return output if found is None or "met before" in output else int(found[1])


def not_executed(o, executed):
    """The atomic operations that no case has executed."""
    table = run([sys.executable, "-B", o.coverage, o.program, executed, "runq/"])
    if not table.startswith("coverage: "):
        return [table]
    print(table.splitlines()[0])
    return [line for line in re.findall(r"^  \S+ +(?!plain)\w+ +NEVER EXECUTED.*$", table, re.MULTILINE)
            if not line.split(":")[0].strip() in o.at_start]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--worker", required=True, help="runq_worker")
    options.add_argument("--program", required=True, help="all cases, compiled")
    options.add_argument("--most", type=int, default=10_000, help="compare larger cases without spurious failures only")
    options.add_argument("--own-policy", help="leave cases out whose names contain this: they bring a policy of their own")
    options.add_argument("--waits", action="append", default=[], help="a stem whose threads wait in loops: not every iteration is one")
    options.add_argument("--fewer", action="append", default=[], help="CASE=EXECUTIONS, where the front end leaves out rounds of a "
                         "loop that tries a compare-exchange again and only repeats the round before")
    options.add_argument("--coverage", required=True, help="coverage.py")
    options.add_argument("--at-start", action="append", default=[], help="a header whose operations precede main()")
    options.add_argument("--some", action="store_true", help="do not ask whether all operations were executed")
    options.add_argument("stems", nargs="+", help="FOLDER=MODULE: its cases, as a module for the worker")
    o = options.parse_args()
    fewer = {case: int(number) for case, number in (pair.split("=") for pair in o.fewer)}
    compared = left_out = wrong = 0
    folder_of_lists = tempfile.TemporaryDirectory()
    executed = os.path.join(folder_of_lists.name, "executed")
    for folder, module in (stem.split("=") for stem in o.stems):
        pinned = re.findall(rf"^({os.path.basename(folder)}/\S+) (\d+)", COUNTS.read_text(encoding="utf-8"), re.MULTILINE)
        for case, count in pinned:
            if o.own_policy and o.own_policy in case:
                print(f"     {case}: left out (--own-policy)")
                left_out += 1
                continue
            waits = any(case.startswith(f"{stem}/") for stem in o.waits)
            without, with_one = native(o.worker, module, case)
            got = compiled(o.program, case, 0, executed, waits)
            good = got == fewer.get(case, without)
            text = f"{case}: {without} natively; compiled: {got}"
            if int(count) <= o.most and not waits:
                got = compiled(o.program, case, 1, executed, waits)
                good = good and isinstance(got, int) and got >= with_one
                text += f"; with a spurious failure: {with_one}; compiled: {got}"
            print(f"{'ok  ' if good else 'FAIL'} {text}")
            compared += 1
            wrong += not good
    print(f"{compared} cases, {wrong} differ, {left_out} left out")
    if o.some:
        sys.exit(1 if wrong or compared < 20 else 0)
    holes = not_executed(o, executed)
    print("\n".join(holes) if holes else "every atomic operation of the queues' headers was executed")
    sys.exit(1 if wrong or compared < 40 or holes else 0)


main()
