#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints how much processor time an operation costs natively, under ThreadSanitizer, and in an explored run, and what a
run costs, as docs/explore.md says."""
import argparse
import os
import re
import resource
import subprocess
import tempfile

here = os.path.dirname(os.path.realpath(__file__))
# Two threads each carry out the first three.
OPERATIONS = {"load": ("acquire load", 400_000), "add": ("read-modify-write", 400_000), "lock": ("lock and unlock", 200_000),
              "write": ("plain write", 5_000_000), "free": ("allocate and free 8 bytes", 500_000),
              "thread": ("create and join a thread", 2_000)}


def seconds(command, times):
    best = None
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / times
        best = taken if best is None else min(best, taken)
    return best


def runs_per_second(tool, program, *more):
    """With two runs at a time."""
    runs = 2000
    text = subprocess.run([tool, "--program", program, "--jobs", "2", "--runs", str(runs), *more], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    return (runs + 1) / float(re.search(r"none fails \(([\d.]+) s\)", text)[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    options = parser.parse_args()
    source = os.path.join(here, "cost.cpp")
    with tempfile.TemporaryDirectory() as folder:
        def compiled(source, *libraries):
            """Natively, with ThreadSanitizer, and for the explorer."""
            made = [os.path.join(folder, f"{kind} {os.path.basename(source)}") for kind in ("native", "sanitized", "explored")]
            for program, flag in zip(made, ("-O1", "-fsanitize=thread")):
                subprocess.run(["g++", "-std=c++20", "-O1", flag, source, "-o", program, *libraries, "-pthread"], check=True)
            words = [word for library in libraries for word in ("--flag", library)]
            subprocess.run([options.tool, "--compile-only", made[2], *words, source], check=True)
            return made

        native, sanitized, explored = compiled(source)
        explore = [options.tool, "--strategy", "bursts", "--program", explored, "--runs"]
        base = seconds([*explore, "200", "--", "nothing", "1"], 201)
        print("| operation | native | ThreadSanitizer | explored |\n|---|---|---|---|")
        for name, (text, times) in OPERATIONS.items():
            # With --runs 1 the program runs twice, once to tell how long a run is.
            row = [seconds([native, name, str(times)], 1), seconds([sanitized, name, str(times)], 1),
                   max(0.0, seconds([*explore, "1", "--", name, str(times)], 2) - base)]
            operations = times * (2 if name in ("load", "add", "lock") else 1)
            print(f"| {text} | " + " | ".join(f"{1e9 * s / operations:.0f} ns" for s in row) + " |", flush=True)
        print("\n| a run | native | ThreadSanitizer | explored | runs/s, two at a time |\n|---|---|---|---|---|")
        googletest = compiled(os.path.join(here, "tests_of_googletest.cpp"), "-lgtest", "-lgtest_main")
        test = "counter.adds_atomically"
        for text, programs, words, only in (
                ("that does next to nothing", (native, sanitized, explored), ["nothing", "1"], []),
                ("with two threads", (native, sanitized, explored), ["add", "10"], []),
                ("of a test of GoogleTest with two threads", googletest, ["--gtest_filter=" + test], ["--only", test])):
            asked = [*only] if only else ["--", *words]
            row = [seconds([programs[0], *words], 1), seconds([programs[1], *words], 1),
                   seconds([options.tool, "--program", programs[2], "--runs", "500", *asked], 501)]
            print(f"| {text} | " + " | ".join(f"{1e3 * s:.2f} ms" for s in row) +
                  f" | {runs_per_second(options.tool, programs[2], *asked):,.0f} |", flush=True)


main()
