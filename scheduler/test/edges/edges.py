#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Repeats the tests of all that once went wrong at the scheduler's edges (edges.txt), many times.

edges.py --check                        fails when a line of edges.txt names no test
edges.py --programs                     prints the programs that edges.txt names
edges.py FOLDER [--runs N] [--minutes M] [--only REGEX] [--jobs J]
                                        runs the tests of edges.txt by the programs in FOLDER, each N times

Some tests repeat what they test in a loop; here they do it once (RUNQ_TEST_ONCE), so N is the number of runs. Other
tests are smaller here where the mistake shows as surely: see repeats.hpp and the constants of depth_test. The lines of
edges.txt take turns, J at the same time, so that all have had about as many runs when the minutes are over. J is twice
the number of processors if it is not given, because many tests mostly wait. A process makes one run at first, and later
as many as take a minute, up to 100: the tests share nothing, and a test that ends its process starts another one for
that in each run (GoogleTest's EXPECT_EXIT). On one processor: `taskset -c 0 edges.py ...`. The exit status is 1 when a
test has failed, or did not end.
"""
import argparse
import fnmatch
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
AT_ONCE = 100  # runs in one process, at most
ABOUT = 60  # s, the time for which one process is expected to run
LONGEST = 1200  # s, of one process: one that takes longer counts as hanging


def edges():
    """[(what, [(program, filter)])]"""
    found = []
    for number, line in enumerate((HERE / "edges.txt").read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("## "):
            found.append((line[3:], []))
        elif line and not line.startswith("#"):
            words = line.split()
            if len(words) != 2 or not found:
                sys.exit(f"edges.txt:{number}: expected a heading, or PROGRAM FILTER")
            found[-1][1].append(tuple(words))
    return found


def tests_of(program):
    """The names of a program's tests, as far as its source has them: instances of a suite may have any name."""
    text = (HERE.parent / f"{program}.cpp").read_text(encoding="utf-8")
    suites = {suite: parameters for parameters, suite in
              re.findall(r"^INSTANTIATE_TEST_SUITE_P\(\s*(\w+),\s*(\w+)", text, re.M)}
    # `using pairs = under_the_tests_clock;` gives a suite another name, which TEST_F has.
    for kind, suite, name in re.findall(r"^TEST(_P|_F)?\(\s*(\w+),\s*(\w+)\)", text, re.M):
        yield f"{suites.get(suite, '?')}/{suite}.{name}/*" if kind == "_P" else f"{suite}.{name}"


def problems():
    for what, lines in edges():
        if not lines:
            yield f"{what}: no test"
        for program, patterns in lines:
            if not (HERE.parent / f"{program}.cpp").exists():
                yield f"{what}: there is no {program}.cpp"
                continue
            names = list(tests_of(program))
            for pattern in patterns.split(":"):
                # An instance's own name is not in the source.
                of_suite = re.sub(r"(?<=/)[a-z]\w*$", "*", pattern) if pattern.count("/") == 2 else pattern
                if not any(fnmatch.fnmatchcase(name, of_suite) for name in names):
                    yield f"{what}: {program} has no test {pattern}"


def what_failed(output):
    """The part of the output that reports a failure, or else its end."""
    said = re.search(r"Failure$|^\[  FAILED  \]|WARNING: |ERROR: |runtime error: ", output, re.M)
    before = max(said.start() - 500, 0) if said else max(len(output) - 4000, 0)
    return output[before : before + 4000]


def run_some(folder, program, patterns, times):
    """(seconds, runs of tests that passed, those that were skipped, the output if something is wrong)"""
    began = time.monotonic()
    command = [str(folder / program), f"--gtest_filter={patterns}", f"--gtest_repeat={times}", "--gtest_color=no"]
    environment = {**os.environ, "RUNQ_TEST_ONCE": "1"}
    try:
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=LONGEST, text=True, errors="replace", check=False)
        output, status = done.stdout, done.returncode
    except subprocess.TimeoutExpired as late:
        output, status = (late.stdout or b"").decode(errors="replace"), f"no end after {LONGEST} s"
    passed = len(re.findall(r"^\[       OK \] ", output, re.M))
    skipped = len(re.findall(r"^\[  SKIPPED \] [^,\n]* \(", output, re.M))
    begun = len(re.findall(r"^\[ RUN      \] ", output, re.M))
    wrong = status != 0 or begun == 0 or begun != passed + skipped
    return time.monotonic() - began, passed, skipped, f"{what_failed(output)}\nstatus: {status}" if wrong else None


def in_next_process(done, seconds, runs):
    """How many of the `runs` the next process makes, after `done` that took so long."""
    as_known = 1 if done == 0 else int(ABOUT * done / max(seconds, 0.001))
    return max(1, min(AT_ONCE, as_known, runs - done))


def one_turn(folder, counts, runs, end, jobs):
    """Runs each line that has too few runs, and adds to its counts. Returns the number of failures."""
    turn = [(line, in_next_process(count[0], count[3], runs)) for line, count in counts.items() if count[0] < runs]
    failures = 0
    with ThreadPoolExecutor(jobs) as at_once:
        # A process that has begun runs to its end, even past the time limit.
        results = at_once.map(
            lambda one: run_some(folder, *one[0][1:], one[1]) if time.monotonic() < end else None, turn)
        for (line, times), result in zip(turn, results):
            if result is None:
                continue
            seconds, passed, skipped, output = result
            if output is not None:
                failures += 1
                print(f"FAILED: {line[1]} --gtest_filter={line[2]}\n{output}\n", flush=True)
            counts[line] = [a + b for a, b in zip(counts[line], (times, passed, skipped, seconds))]
    return failures


def run_all(folder, runs, minutes, only, jobs):
    end = time.monotonic() + minutes * 60
    missing = sorted({program for _, lines in edges() for program, _ in lines if not (folder / program).exists()})
    if missing:
        sys.exit(f"edges.py: {folder} has no {', '.join(missing)}: build them first, as ./kit test --edges N does")
    chosen = [(what, program, patterns) for what, lines in edges() for program, patterns in lines
              if re.search(only, f"{what} {program} {patterns}")]
    if not chosen:
        sys.exit(f"edges.py: nothing in edges.txt matches {only}")
    counts = {line: [0, 0, 0, 0.0] for line in chosen}  # runs, tests passed, tests skipped, seconds
    failures = 0
    try:
        while any(count[0] < runs for count in counts.values()) and time.monotonic() < end:
            failures += one_turn(folder, counts, runs, end, jobs)
            least = min(count[0] for count in counts.values())
            print(f"  {least} to {max(count[0] for count in counts.values())} runs, {failures} failures", flush=True)
    except KeyboardInterrupt:
        print("stopped; the runs that ended are counted:", flush=True)
    for (what, program, patterns), (times, passed, skipped, seconds) in counts.items():
        left_out = f", {skipped} skipped" if skipped else ""
        print(f"{times:6} runs, {passed} tests passed{left_out}, {seconds:.0f} s: {what}: {program} {patterns}")
    least = min(count[0] for count in counts.values())
    print(f"each {least} times or more, on {len(os.sched_getaffinity(0))} CPUs: {failures} failures")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--programs", action="store_true")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2 * os.cpu_count())
    options = parser.parse_args()
    if options.check:
        found = list(problems())
        print("\n".join(found) if found else f"{len(edges())} edges, each with its tests")
        return 1 if found else 0
    if options.programs:
        print("\n".join(sorted({program for _, lines in edges() for program, _ in lines})))
        return 0
    if options.folder is None:
        parser.error("FOLDER, --check or --programs")
    if options.runs < 1 or options.jobs < 1:
        parser.error("--runs and --jobs need a number of 1 or more")
    return 1 if run_all(options.folder, options.runs, options.minutes, options.only, options.jobs) else 0


if __name__ == "__main__":
    sys.exit(main())
