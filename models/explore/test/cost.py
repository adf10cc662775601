#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints how much processor time an operation costs natively, under ThreadSanitizer, and in an explored run, as the table of docs/explore.md."""
import argparse
import os
import resource
import subprocess
import tempfile

here = os.path.dirname(os.path.realpath(__file__))
# Two threads each carry out the first three.
OPERATIONS = {"load": ("acquire load", 400_000), "add": ("read-modify-write", 400_000), "lock": ("lock and unlock", 200_000),
              "write": ("plain write", 5_000_000), "free": ("allocate and free 8 bytes", 500_000),
              "thread": ("create and join a thread", 2_000), "nothing": ("a run that does next to nothing", 1)}


def seconds(command, times):
    best = None
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / times
        best = taken if best is None else min(best, taken)
    return best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    options = parser.parse_args()
    source = os.path.join(here, "cost.cpp")
    with tempfile.TemporaryDirectory() as folder:
        native, sanitized, explored = (os.path.join(folder, name) for name in ("native", "sanitized", "explored"))
        subprocess.run(["g++", "-std=c++20", "-O1", source, "-o", native, "-pthread"], check=True)
        subprocess.run(["g++", "-std=c++20", "-O1", "-fsanitize=thread", source, "-o", sanitized, "-pthread"], check=True)
        subprocess.run([options.tool, "--compile-only", explored, source], check=True)
        explore = [options.tool, "--strategy", "bursts", "--program", explored, "--runs"]
        base = seconds([*explore, "200", "--", "nothing", "1"], 201)
        print("| operation | native | ThreadSanitizer | explored |\n|---|---|---|---|")
        for name, (text, times) in OPERATIONS.items():
            if name == "nothing":
                row = [seconds([native, name, "1"], 1), seconds([sanitized, name, "1"], 1), base]
                print(f"| {text} | " + " | ".join(f"{1e3 * s:.1f} ms" for s in row) + " |")
                continue
            # With --runs 1 the program runs twice, once to tell how long a run is.
            row = [seconds([native, name, str(times)], 1), seconds([sanitized, name, str(times)], 1),
                   max(0.0, seconds([*explore, "1", "--", name, str(times)], 2) - base)]
            operations = times * (2 if name in ("load", "add", "lock") else 1)
            print(f"| {text} | " + " | ".join(f"{1e9 * s / operations:.0f} ns" for s in row) + " |", flush=True)


main()
