#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How many executions does ./kit check explore of the programs in models/peers/engine, and how many does GenMC?

./kit verify --engine-table [--time-limit SECONDS] [--rows] [GLOB...]
    Prints a line for each program and number of threads: complete + blocked executions, and seconds of processor time of the check (without
    compiling), with --waits-in-place off and --skip-retries off, and with --skip-retries on; then what GenMC (commit b03f01e, LLVM 14, RC11)
    explores of the same program: its numbers were noted once, with its seconds on another machine, of which 0.3 are for compiling; and
    whether the goal is met: no more complete executions than GenMC, none blocked in locks and awaits, seconds. A check that needs more than
    SECONDS (20) is given up: `-`. A GLOB chooses lines by name, as 'ticket*'. --rows prints them as a page of the documentation has them.

Exit status: 0: the same programs pass with and without these options; 1: a check fails.
"""
import argparse
import fnmatch
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent / "engine"
SOURCES = {
    "locks.c": ("mutex", "ticket", "ttas", "mcs", "rw", "seqlock"),
    "structures.c": ("treiber", "msq", "ring", "chaselev"),
    "steps.c": ("fai", "cascnt", "sbn", "indexer", "await", "barrier"),
}
# program, threads: what GenMC explores, its seconds, and ours at most
ROWS = {
    ("ticket", 4): "24, 0.32 s", ("ticket", 5): "120, 0.34 s", ("ticket", 6): "720, 0.42 s", ("ticket", 8): ("40320", 5),
    ("await", 4): "24, 0.33 s", ("await", 5): "120, 0.33 s",
    ("mcs", 3): "66, 0.33 s", ("mcs", 4): "1080, 0.43 s",
    ("mutex", 6): "720, 0.33 s",
    ("barrier", 4): "1, 0.31 s", ("barrier", 6): "1, 0.31 s",
    ("rw", 3): "14 + 20, 0.31 s", ("rw", 4): ("216 + 348, 0.35 s", 1),
    ("treiber", 2): "20 + 8, 0.30 s", ("treiber", 3): ("2640 + 2400, 0.72 s", 0.3),
    ("msq", 3): "26 + 40, 0.31 s", ("msq", 4): ("158 + 704, 0.37 s", 0.2),
    ("ring", 3): "23 + 56, 0.35 s", ("ring", 4): ("112 + 644, 0.34 s", 0.1),
    ("cascnt", 3): "6 + 15, 0.30 s", ("cascnt", 4): "24 + 124, 0.30 s", ("cascnt", 5): ("120", 0.1),
    ("seqlock", 2): "3 + 19, 0.29 s", ("seqlock", 3): ("9 + 475, 0.32 s", 1),
    ("chaselev", 3): "300, 0.36 s", ("chaselev", 4): "6320, 0.51 s",
    ("fai", 6): "720, 0.37 s", ("fai", 7): "5040, 0.69 s",
    ("sbn", 8): "256, 0.33 s", ("indexer", 12): "8, 0.33 s",
}  # yapf: disable
BLOCK_NEVER = ("ticket", "await", "mcs", "mutex", "barrier")


def missed(name, explored, theirs, seconds):
    """What of the goal is not met; empty: all of it is."""
    if explored is None: return "more than the time limit"
    said = []
    if explored[0] > int(re.match(r"\d+", theirs)[0]): said.append("executions")
    if name in BLOCK_NEVER and explored[1] != 0: said.append("blocked")
    if seconds is not None and explored[2] > seconds: said.append(f"{seconds} s")
    return ", ".join(said)


def explore(program, options, time_limit):
    """Complete and blocked executions and seconds of a compiled program; None: the check was given up."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "RUNQ_CHECK": f"--time-limit {time_limit} {options}"}
    ran = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ran.returncode == 2: return None
    found = re.search(r"\((\d+) executions? explored(?:, \+(\d+) blocked)?", ran.stdout)
    if ran.returncode != 0 or found is None: sys.exit(f"{program} {options}: {ran.stdout}")
    return int(found[1]), int(found[2] or 0), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def to_text(explored):
    if explored is None: return "-"
    complete, blocked, seconds = explored
    return f"{complete}{f' + {blocked}' if blocked else ''}, {seconds:.2f} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--time-limit", type=int, default=20)
    parser.add_argument("--rows", action="store_true")
    parser.add_argument("globs", nargs="*", metavar="GLOB")
    options = parser.parse_args()
    line = "| {} | {} | {} | {} | {} |" if options.rows else "{:<12} {:>22} {:>22} {:>22}  {}"
    print(line.format("program", "both options off", "--skip-retries on", "GenMC", "not met"))
    if options.rows: print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for (name, threads), goal in ROWS.items():
            title = f"{name} {threads}"
            if options.globs and not any(fnmatch.fnmatch(title, glob) for glob in options.globs): continue
            theirs, seconds = goal if isinstance(goal, tuple) else (goal, None)
            program = f"{folder}/{name}{threads}"
            source = next(PROGRAMS / source for source, names in SOURCES.items() if name in names)
            subprocess.run([options.tool, "--compile-only", program, source, "--", "-O1", "-w", f"-DN={threads}", f"-D{name.upper()}"],
                           check=True, stdout=subprocess.DEVNULL)
            without = explore(program, "--waits-in-place off --skip-retries off", options.time_limit)
            with_both = explore(program, "--skip-retries on", options.time_limit)
            print(line.format(title, to_text(without), to_text(with_both), theirs, missed(name, with_both, theirs, seconds)), flush=True)


if __name__ == "__main__":
    main()
