#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs litmus shapes under the explorer: each outcome that C++20 allows is seen, none that it forbids.

What C++20 allows is written here as the outcome's digits. A `-` in front says that an outcome must not come; all others of
the shape must."""
import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile

# Per shape: how many digits, of which base, and which of all outcomes are forbidden.
SHAPES = {
    "SB": (2, 2, ""), "SB+ra": (2, 2, ""), "SB+fence": (2, 2, ""), "SB+sc": (2, 2, "00"), "SB+fences": (2, 2, "00"),
    "MP": (2, 2, ""), "MP+release": (2, 2, ""), "MP+acquire": (2, 2, ""), "MP+ra": (2, 2, "10"), "MP+sc": (2, 2, "10"),
    "MP+fences": (2, 2, "10"),
    # Reads from the future are allowed, and never explored (docs/explore.md).
    "LB": (2, 2, "11"),
    "IRIW": (4, 2, ""), "IRIW+ra": (4, 2, ""), "IRIW+sc": (4, 2, "1010"), "IRIW+fences": (4, 2, "1010"),
    "2+2W": (2, 3, "00 01 02 10 20"), "2+2W+sc": (2, 3, "00 01 02 10 20 11"),
    "2+2W+fences": (2, 3, "00 01 02 10 20 11"),
    "RWC": (3, 2, ""), "RWC+sc": (3, 2, "100"), "RWC+fences": (3, 2, "100"),
    "CoRR": (2, 2, "10"), "CoRR+others": (3, 2, "110"),
    "RMW": (2, 2, "00 11"),
    "RS": (2, 2, "10"), "RS+broken": (2, 2, ""),
}


def code_of(digits, base):
    code = 1
    for digit in digits:
        code = code * base + int(digit)
    return code


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--runs", default="10000")
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--only", default="")
    parser.add_argument("source")
    options = parser.parse_args()
    wrong = []
    with tempfile.TemporaryDirectory() as scratch:
        program, result = os.path.join(scratch, "litmus"), os.path.join(scratch, "result.json")
        subprocess.run([options.tool, "--compile-only", program, options.source], check=True)
        for shape, (digits, base, forbidden) in SHAPES.items():
            if options.only and shape not in options.only.split():
                continue
            subprocess.run([options.tool, "--program", program, "--runs", options.runs, "--jobs", options.jobs, "--statuses",
                            "count", "--json", result, "--", shape], check=True, stdout=subprocess.DEVNULL)
            with open(result) as file:
                seen = {int(status): times for status, times in json.load(file)["statuses"].items()}
            total = sum(seen.values())
            rarest = None
            for outcome in map("".join, itertools.product("012"[:base], repeat=digits)):
                times = seen.pop(code_of(outcome, base), 0)
                is_forbidden = outcome in forbidden.split()
                if is_forbidden and times:
                    wrong.append(f"{shape}: the forbidden outcome {outcome} was seen {times} times of {total}")
                if not is_forbidden and not times:
                    wrong.append(f"{shape}: the outcome {outcome} was never seen in {total} runs")
                if not is_forbidden and (rarest is None or times < rarest[1]):
                    rarest = (outcome, times)
            if seen:
                wrong.append(f"{shape}: exit statuses that are no outcomes: {seen}")
            print(f"{shape:12} {total} runs; the rarest outcome {rarest[0]}: {100 * rarest[1] / total:.2f} %", flush=True)
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
