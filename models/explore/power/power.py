#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints how many runs, and how many seconds of processor time, the explorer needs to find known bugs, beside the same without weak
memory and beside ThreadSanitizer: the wrong programs of the textbook, and mutants of the scheduler in a suite of tests
(scheduler_test.cpp). README.md says what the figures were, and why some are not found.

The tests of a suite are explored in turn, a hundred runs each, then two hundred, and so on, until one fails. ThreadSanitizer's build
runs again and again for as much processor time; what it reports, a failed test and a program that does not end count as found.
The exit status is 1 if the explorer does not find a bug that it is known to find, or finds one where there is none."""
import argparse
import collections
import glob
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.realpath(__file__))
root = os.path.join(here, "..", "..", "..")
textbook = os.path.join(root, "models", "compiled", "test", "programs", "textbook")
HEADERS = [os.path.join(root, *parts) for parts in (("deque", "include"), ("scheduler", "include"), ("scheduler", "src", "inside"))]
MUTANTS = ["park/no_rest_fence", "park/no_submit_fence", "park/doze_without_fence", "park/found_wakes_nobody",
           "park/doze_without_last_look", "park/looks_without_rmw", "park/no_second_look", "park/stop_forgets_sleepers",
           "park/idle_by_a_light_fence", "parker/wakes_before_the_token", "parker/put_by_store", "parker/wakes_nobody",
           "machine_loop/yields_without_a_fence", "machine_loop/full_ring_in_silence", "machine_loop/found_forgotten",
           "machine_loop/global_overlooked", "monitor/stop_wakes_nobody", "monitor/stop_after_its_token", "mutex/arrival_not_noted",
           "channel/buffer_before_receiver"]
# As the scheduler ships: a build for ThreadSanitizer has no barrier of the kernel, so light fences are heavy ones there.
WITH_BARRIER = ["park/idle_by_a_light_fence"]
RIGHT = "no mutant"  # nothing may be found there
NEVER_FOUND = ["park/doze_without_fence", "parker/put_by_store", "machine_loop/yields_without_a_fence",
               "machine_loop/published_in_silence"]
FIRST_TURN = 100  # runs
NO_END = 20  # seconds of a run under ThreadSanitizer

# tests: the words after `--` for each of them.
Bug = collections.namedtuple("Bug", "name sources flags tests")


def textbook_bugs():
    """The wrong programs, but leaks, which the explorer does not look for."""
    for source in sorted(glob.glob(os.path.join(textbook, "*", "*.c*"))):
        with open(source) as file:
            for line in file:
                found = re.match(r"// check(.*?): FAIL (.*)", line)
                if found and "--" not in found[1] and not found[2].startswith("leak"):
                    flags = found[1].split()
                    yield Bug(" ".join([os.path.relpath(source, textbook), *flags]), [source], flags, [[]])


def scheduler_bugs(scratch):
    """Over headers with all mutants; the scheduler's own sources as one."""
    changed = os.path.join(scratch, "mutants")
    os.mkdir(changed)
    subprocess.run([sys.executable, "-B", os.path.join(root, "models", "verify", "mutant_variants.py"), changed, ":".join(HEADERS),
                    os.path.join(root, "models", "cases"), *MUTANTS], check=True)
    unity = os.path.join(scratch, "scheduler_sources.cpp")
    with open(unity, "w") as file:
        file.writelines(f'#include "{s}"\n' for s in sorted(glob.glob(os.path.join(root, "scheduler", "src", "*", "*.cpp"))))
    suite = os.path.join(here, "scheduler_test.cpp")
    with open(suite) as file:
        tests = ["--gtest_filter=" + ".".join(name) for name in re.findall(r"^TEST\((\w+), (\w+)\)", file.read(), re.M)]
    folders = [os.path.join(changed, "all"), os.path.join(root, "models", "check"), *HEADERS]
    flags = ["-w", *("-I" + f for f in folders), "-lgtest"]
    for name in [*MUTANTS, RIGHT]:
        yield Bug(name, [suite, unity], flags + ["-U__SANITIZE_THREAD__"] * (name in WITH_BARRIER),
                  [[name, test] for test in tests])


class Programs:
    """Those that are compiled already, by source and flags."""

    def __init__(self, options, scratch):
        self.options, self.scratch, self.made = options, scratch, {}

    def explored(self, bug):
        words = [word for flag in bug.flags for word in ("--flag", flag)]
        return self.make(bug, "explored", lambda to: [self.options.tool, "--compile-only", to, *words, *bug.sources])

    def sanitized(self, bug):
        return self.make(bug, "sanitized", lambda to: [
            os.environ.get("CXX", "g++"), "-std=c++20", "-g", "-O1", "-Wno-tsan", "-fsanitize=thread", "-pthread",
            *([] if bug.sources[0].endswith(".c") else ["-xc++"]), *bug.sources, "-xnone", "-o", to, *bug.flags])

    def make(self, bug, kind, command):
        key = (kind, *bug.sources, *bug.flags)
        if key not in self.made:
            self.made[key] = os.path.join(self.scratch, str(len(self.made)))
            subprocess.run(command(self.made[key]), check=True)
        return self.made[key]


def seconds_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def explore(options, program, bug, memory):
    """How it fails, or None; runs, and seconds of processor time."""
    begin, runs, turn, seed = seconds_of_children(), 0, FIRST_TURN, options.seed
    while True:
        for words in bug.tests:
            with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
                subprocess.run([options.tool, "--program", program, "--runs", str(turn), "--make-smaller", "no", "--seed", str(seed),
                                "--memory", memory, "--strategy", options.strategy, "--json", file.name, "--", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                result = json.load(file)
            runs += result["runs"]
            seconds = seconds_of_children() - begin
            if result.get("failure") or seconds > options.seconds:
                return result.get("failure"), runs, seconds
        seed += turn
        turn *= 2


def sanitize(options, program, bug):
    begin, runs = seconds_of_children(), 0
    while seconds_of_children() - begin < options.seconds:
        for words in bug.tests:
            runs += 1
            try:
                done = subprocess.run([program, *words], timeout=NO_END, text=True, errors="replace", stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT)
            except subprocess.TimeoutExpired:
                return "does not end", runs, seconds_of_children() - begin
            if done.returncode != 0:
                warning = re.search(r"WARNING: ThreadSanitizer: ([\w -]*\w)", done.stdout)
                return warning[1] if warning else "fails", runs, seconds_of_children() - begin
    return None, runs, seconds_of_children() - begin


def cells(result):
    failure, runs, seconds = result
    return [failure or "not found", f"{runs:,}" if failure else f"> {runs:,}", f"{seconds:.2f}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--seconds", type=float, default=60, help="of processor time, for each bug and each column")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--strategy", default="any")
    parser.add_argument("--only", default=".", help="a regular expression: bugs")
    parser.add_argument("--columns", default="weak strong sanitizer", help="which of these")
    options = parser.parse_args()
    columns = {"weak": lambda bug: explore(options, programs.explored(bug), bug, "weak"),
               "strong": lambda bug: explore(options, programs.explored(bug), bug, "strong"),
               "sanitizer": lambda bug: sanitize(options, programs.sanitized(bug), bug)}
    columns = {name: run for name, run in columns.items() if name in options.columns.split()}
    titles = {"weak": "explored", "strong": "without weak memory", "sanitizer": "ThreadSanitizer"}
    found, wrong = collections.Counter(), []
    print("| bug |" + "".join(f" {titles[name]} | runs | seconds |" for name in columns))
    print("|---" * (1 + 3 * len(columns)) + "|")
    with tempfile.TemporaryDirectory() as scratch:
        programs = Programs(options, scratch)
        bugs = [bug for bug in [*textbook_bugs(), *scheduler_bugs(scratch)] if re.search(options.only, bug.name)]
        for bug in bugs:
            row = [bug.name]
            for name, run in columns.items():
                result = run(bug)
                found[name] += result[0] is not None and bug.name != RIGHT
                row += cells(result)
                if name == "weak" and bug.name not in NEVER_FOUND and (result[0] is None) != (bug.name == RIGHT):
                    wrong.append(bug.name)
            print("| " + " | ".join(row) + " |", flush=True)
    print(f"\nof {sum(bug.name != RIGHT for bug in bugs)} bugs found within {options.seconds:g} s each: "
          + ", ".join(f"{titles[name]} {found[name]}" for name in columns))
    if wrong:
        print("not as it was: " + ", ".join(wrong))
    return 1 if wrong or not bugs else 0


if __name__ == "__main__":
    sys.exit(main())
