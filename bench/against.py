#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the benchmarks of two builds of this project row by row: has a change made something slower?

against.py [queues|scheduler|all] --build DIR --against DIR    both: where bench/CMakeLists.txt was built
    --repetitions N      default 7
    --only REGEX         rows, as in --only '^(pairs|fib)/'
    --smoke              the scheduler's rows with little work, once: only whether it works

The two builds take turns, in random order, so that a machine that changes its speed changes it for both. A row that only one
build has is left out. Less is better. `lowest` compares the fastest repetition of each: where it says something else than the
medians, the machine was not quiet.
"""
import argparse
import os
import random
import re
import statistics
import sys
from pathlib import Path

import run
from rows import ROWS, sizes, small_sizes


def queue_jobs(build):
    """row -> a function of a build, for each row of the project's own queues."""
    jobs = {}
    for program, name, row, candidate in run.queue_rows(build):
        def measure(where, program=program.name, name=name):
            return 1e9 / run.google_benchmark(where / program, name)["items_per_second"]
        if (Path(run.__file__).parent / f"{program.name}.cpp").exists():
            jobs[f"{row} {candidate}"] = measure
    return jobs


def scheduler_jobs(size_of):
    jobs = {}
    for row, size in size_of.items():
        for workers in (1,) if row in ROWS and ROWS[row].workers == "one" else run.worker_counts()[0]:
            def measure(where, row=row, size=size, workers=workers):
                done = run.execute([where / "candidate_runq", row, str(workers), str(size), "0.1"], workers)
                return float(done.stdout)
            jobs[f"{row}/{workers} runq"] = measure
    return jobs


def jobs_of(options):
    jobs = {}
    if options.what in ("queues", "all"):
        theirs = queue_jobs(options.against)
        jobs |= {row: job for row, job in queue_jobs(options.build).items() if row in theirs}
    if options.what in ("scheduler", "all"):
        jobs |= scheduler_jobs(small_sizes() if options.smoke else sizes())
    chosen = {row: job for row, job in jobs.items() if re.search(options.only, row)}
    if not chosen:
        sys.exit(f"against.py: both builds together have no row that matches '{options.only}'")
    return chosen


def line(row, values):
    here, there = values
    median, lowest = (pick(here) / pick(there) if pick(there) else float("nan") for pick in (statistics.median, min))
    return median, f"{row:<34} {statistics.median(there):>10.4g} {statistics.median(here):>10.4g} {median:>7.3f} {lowest:>7.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["queues", "scheduler", "all"], default="all")
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--against", type=Path, required=True)
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--only", default="")
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    options.build, options.against = options.build.resolve(), options.against.resolve()
    for build in options.build, options.against:
        if not os.access(build / "candidate_runq", os.X_OK):
            sys.exit(f"against.py: there are no benchmarks in {build}; `./kit bench --smoke` builds them in a checkout")
    jobs = jobs_of(options)
    values = {row: ([], []) for row in jobs}

    def compare(row):
        for i in random.sample((0, 1), 2):
            values[row][i].append(jobs[row]((options.build, options.against)[i]))

    run.run_all([lambda row=row: compare(row) for row in jobs], 1 if options.smoke else options.repetitions, "rows")
    print(f"{'row':<34} {'there':>10} {'here':>10} {'ratio':>7} {'lowest':>7}")
    for _, text in sorted((line(row, both) for row, both in values.items()), key=lambda item: -item[0]):
        print(text)


if __name__ == "__main__":
    main()
