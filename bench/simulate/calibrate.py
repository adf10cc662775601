#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the simulator against 16 real cores: rows of the scheduler benchmark, as measured there and as simulated.

calibrate.py --build DIR     DIR: where bench/CMakeLists.txt was built, with `simulate`
    --commit COMMIT          whose scheduler is simulated; default: the one that was measured
    --only REGEX             rows, as in --only '^(fib|yield)$'
    --transfer NS            what a line from another core costs, instead of the machine's own figure
    --write-docs FILE        write the part of the page between the markers

The real figures: bench/results/real-16-cores.csv. The commit's headers come from this checkout's git history.
"""
import argparse
import concurrent.futures
import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import run as tables  # noqa: E402

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BEGIN, END = "<!-- bench/simulate/calibrate.py: begin -->", "<!-- bench/simulate/calibrate.py: end -->"
MEASURED = "a24477c"
MACHINE = "xeon16"
# Instructions of one operation at that commit (callgrind, one worker, g++ 12 -O2: the difference of two sizes).
INSTRUCTIONS = {"fib": 559, "tree": 468, "forks": 295, "yield": 279, "spawn": 736}
NS_PER_INSTRUCTION = 0.12
# ns until a thread that finds work has started the next one, and that has found work (row all_run, 2 workers).
START = 74_000
# Sizes that take minutes are simulated smaller, and without the start of the threads, which then does not count.
SMALLER = {("fib", 35): 28, ("tree", 20_000_000): 1_000_000}
FEWER = {("spawn", 1_000_000): 300_000, ("forks", 1_000_000): 300_000}
NEAR = 0.30


def build_of(commit, build):
    """The program that simulates the scheduler of that commit: its headers, with today's simulator."""
    sources = build / "calibrate-commits" / commit
    sources.mkdir(parents=True, exist_ok=True)
    parts = ["bench/simulate", "deque/include", "scheduler"]
    archive = subprocess.run(["git", "-C", ROOT, "archive", commit, *parts], stdout=subprocess.PIPE)
    if archive.returncode != 0:
        sys.exit(f"calibrate.py: there is no commit {commit} here: it needs this project's git history")
    subprocess.run(["tar", "-x", "-C", sources], input=archive.stdout, check=True)
    arch = ROOT / "models/arch" / os.uname().machine
    folders = [*(sources / f for f in ("bench/simulate", "deque/include", "scheduler/include", "scheduler/src/inside")),
               ROOT / "models/exact", ROOT / "models", arch]
    library = build.parent / "scheduler/librunqkit_scheduler.a"
    program = sources / "calibrate"
    subprocess.run([os.environ.get("CXX", "g++"), "-std=c++20", "-O2", "-DNDEBUG", *(f"-I{f}" for f in folders),
                    HERE / "calibrate.cpp", build / "librunq_simulator.a", library, "-pthread", "-o", program], check=True)
    return program


def simulate(program, machine, row, workers, n, code, start):
    words = [program, machine, row, workers, n, f"{code:.3f}", start]
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def machine_with(options):
    """The machine's name, or its costs with another transfer."""
    if options.transfer is None:
        return MACHINE
    costs = subprocess.run([options.build / "simulate", "costs", MACHINE], stdout=subprocess.PIPE, text=True, check=True)
    figures = costs.stdout.strip().split(",")
    return "here:" + ",".join([*figures[:2], *[str(options.transfer)] * 3, *figures[5:]])


def compare(options):
    program = build_of(options.commit, options.build)
    machine = machine_with(options)
    real = {}
    for line in csv.DictReader((ROOT / "bench/results/real-16-cores.csv").open()):
        if line["candidate"] == "runq" and line["row"] in INSTRUCTIONS and re.search(options.only, line["row"]):
            real.setdefault((line["row"], int(line["n"])), {})[int(line["workers"])] = line

    def row_of(key):
        row, n = key
        size = SMALLER.get(key, FEWER.get(key, n))
        start = 0 if key in SMALLER else START
        own = 1e9 / simulate(program, machine, row, 1, size, 0, 0)["per_second"]
        code = max(0, INSTRUCTIONS[row] * NS_PER_INSTRUCTION - own)
        return {w: simulate(program, machine, row, w, size, code, start) for w in real[key]}

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return real, dict(zip(real, pool.map(row_of, real)))


def all_tables(real, simulated):
    lines = []
    for key, by_workers in real.items():
        for workers, measured in by_workers.items():
            run = simulated[key][workers]
            ns, least = 1e9 / run["per_second"], float(measured["least"])
            ratio = ns / least
            shares = run["shares"]
            lines.append([f"{key[0]} {key[1]}, {workers}", f"{least:.1f}", f"{float(measured['median']):.1f}", f"{ns:.1f}",
                          f"{ratio:.2f}" if abs(ratio - 1) <= NEAR else f"**{ratio:.2f}**",
                          *(f"{100 * shares[use]:.0f}" for use in ("work", "own_lines", "lines", "locks", "looking", "calls",
                                                                   "asleep"))])
    near = sum("*" not in line[4] for line in lines)
    yield "Real and simulated", \
        ["row, size, workers", "real, least", "real, median", "simulated", "simulated / least", "work, %", "own lines",
         "lines of others", "locks", "looking", "calls", "asleep"], lines, \
        f"ns. Within {NEAR:.0%}: {near} of {len(lines)}; bold: the others. Percent: of the simulated time of all processors."


def write_page(text, page):
    whole = page.read_text()
    if BEGIN not in whole or END not in whole:
        sys.exit(f"calibrate.py: {page} has no markers {BEGIN} and {END}")
    before, rest = whole.split(BEGIN, 1)
    page.write_text(f"{before}{BEGIN}\n\n{text.rstrip()}\n\n{END}{rest.split(END, 1)[1]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--commit", default=MEASURED)
    parser.add_argument("--only", default="")
    parser.add_argument("--transfer", type=float)
    parser.add_argument("--write-docs", type=Path)
    options = parser.parse_args()
    for table in all_tables(*compare(options)):
        print(tables.as_text(*table))
        if options.write_docs:
            write_page(tables.as_markdown(*table), options.write_docs)


if __name__ == "__main__":
    main()
