#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints how many runs, and how many seconds of processor time, the explorer needs to find known bugs, beside the same without weak
memory and beside ThreadSanitizer: the wrong programs of the textbook, and mutants of the scheduler in a suite of tests
(scheduler_test.cpp). README.md says what the figures were, and why some are not found.

The tests of a suite are explored in turn, a hundred runs each, then two hundred, and so on, until one fails. ThreadSanitizer's build
runs again and again for as much processor time; what it reports, a failed test and a program that does not end count as found.
With several seeds a row has the medians; ThreadSanitizer has no seeds and is asked once. With --results what was measured is kept,
and is not measured again: so a table that takes hours can be stopped and continued.
The exit status is 1 if no strategy of those asked for finds a bug that is known to be found, or one finds a bug where there is none."""
import argparse
import collections
import contextlib
import glob
import hashlib
import json
import math
import os
import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.realpath(__file__))
root = os.path.join(here, "..", "..", "..")
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(here, "..", "test"), os.path.join(root, "models", "compiled", "test")]
import run_program  # noqa: E402
import twins_test  # noqa: E402

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
               "machine_loop/full_ring_in_silence"]
OTHERS = ["PUBLICATION", "EVENTCOUNT", "SEQLOCK", "THREE_LOCKS", "SIX_THREADS", "TRY_LOCK"]
# In at most so many runs, of the default strategy.
GOALS = {"queues/work_stealing.cpp -DWRONG": 4, "queues/treiber_stack.cpp -DABA": 28, "others.cpp -DPUBLICATION": 1,
         "locks/dekker.cpp -DWRONG": 9, "others.cpp -DEVENTCOUNT": 3, "others.cpp -DSEQLOCK": 20, "queues/mpmc_queue.cpp -DWRONG": 1,
         "publication/double_checked_locking.cpp -DWRONG": 3, "memory/reference_count.cpp -DWRONG": 1,
         "waiting/lost_wakeup.cpp -DWRONG": 23, "others.cpp -DTHREE_LOCKS": 29, "others.cpp -DSIX_THREADS": 5,
         "others.cpp -DTRY_LOCK": 19, "memory/hazard_pointer.cpp -DWRONG": 5}
TITLES = {"weak": "explored", "strong": "without weak memory", "sanitizer": "ThreadSanitizer",
          "feedback": "with feedback"}
STRATEGIES = ["walk", "bursts", "pct", "points", "pos"]
FIRST_TURN = 100  # runs
NEXT_SEED = 1_000_000  # later than any seed of a row
NO_END = 20  # seconds of a run under ThreadSanitizer
MAX_STEPS = "1000000"  # of a run, and as many more: what does not end is known sooner than by default
NO_ANSWER = 40  # times as many seconds as there are of processor time

# tests: the words after `--` for each of them.
Bug = collections.namedtuple("Bug", "name sources flags tests")
# failure: how it fails, or None.
Result = collections.namedtuple("Result", "failure runs seconds")


def textbook_bugs(scratch):
    """The wrong programs, but leaks, which the explorer does not look for. Those with the same flags are one program, in which the
    number of arguments chooses."""
    sources = sorted(glob.glob(os.path.join(textbook, "*", "*.c*")))
    checks = [c for source in sources for c in twins_test.variants(source) if c.expected.startswith("FAIL")]
    together, places = collections.defaultdict(list), {}
    for check in checks:
        group = together[check if check.alone else (run_program.is_c(check.program), check.flags)]
        places[check] = (group, len(group))
        group.append(check)
    for check in checks:
        group, place = places[check]
        name = f"{os.path.relpath(check.program, textbook)} {check.words}".rstrip()
        if check.alone:
            yield Bug(name, [check.program], [*check.macros, *check.flags], [[]])
            continue
        end = ".c" if run_program.is_c(check.program) else ".cpp"
        source = os.path.join(scratch, f"textbook{list(together.values()).index(group)}{end}")
        if not os.path.exists(source):
            with open(source, "w", encoding="utf-8") as file:
                file.write(run_program.source_of(group))
        yield Bug(name, [source], list(check.flags), [["-"] * place])


def other_bugs():
    source = os.path.join(here, "others.cpp")
    return [Bug(f"others.cpp -D{name}", [source], ["-D" + name, "-I" + HEADERS[0]], [[]]) for name in OTHERS]


def scheduler_bugs(scratch):
    """Over headers with all mutants; the scheduler's own sources as one."""
    changed = os.path.join(scratch, "mutants")
    os.makedirs(changed, exist_ok=True)
    subprocess.run([sys.executable, "-B", os.path.join(root, "models", "verify", "mutant_variants.py"), changed, ":".join(HEADERS),
                    os.path.join(root, "models", "cases"), *MUTANTS], check=True)
    unity = os.path.join(scratch, "scheduler_sources.cpp")
    with open(unity, "w") as file:
        file.writelines(f'#include "{s}"\n' for s in sorted(glob.glob(os.path.join(root, "scheduler", "src", "*", "*.cpp"))))
    suite = os.path.join(here, "scheduler_test.cpp")
    chosen = os.path.join(here, "..", "sweep", "chosen_mutant.cpp")
    with open(suite) as file:
        tests = ["--gtest_filter=" + ".".join(name) for name in re.findall(r"^TEST\((\w+), (\w+)\)", file.read(), re.M)]
    folders = [os.path.join(changed, "all"), os.path.join(root, "models", "check"), *HEADERS]
    flags = ["-w", *("-I" + f for f in folders), "-lgtest", "-lgtest_main"]
    for name in [*MUTANTS, RIGHT]:
        yield Bug(name, [suite, unity, chosen], flags + ["-U__SANITIZE_THREAD__"] * (name in WITH_BARRIER),
                  [["--mutant=" + name, test] for test in tests])


class Programs:
    """Those that are compiled already, by source and flags."""

    def __init__(self, options, scratch):
        self.options, self.scratch, self.made = options, scratch, {}

    def explored(self, bug):
        words = [word for flag in bug.flags for word in ("--flag", flag)]
        return self.make(bug, "explored", lambda to: [self.options.tool, "--compile-only", to, *words, *bug.sources])

    def sanitized(self, bug):
        return self.make(bug, "sanitized", lambda to: [
            os.environ.get("CXX", "g++"), "-g", "-O1", "-fsanitize=thread", "-pthread",
            *(["-xc", "-std=gnu17"] if bug.sources[0].endswith(".c") else ["-xc++", "-std=c++20", "-Wno-tsan"]), *bug.sources, "-xnone", "-o", to, *bug.flags])

    def make(self, bug, kind, command):
        key = (kind, *bug.sources, *bug.flags)
        if key not in self.made:
            self.made[key] = os.path.join(self.scratch, hashlib.sha256("\n".join(key).encode()).hexdigest()[:16])
            if not os.path.exists(self.made[key]):
                subprocess.run(command(self.made[key]), check=True)
        return self.made[key]


def seconds_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def has_ended(command, seconds):
    """False: it was ended, and all that it had started."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return False
    return True


def explore(options, program, bug, column, seed):
    words = ["--memory", "strong" if column == "strong" else "weak", "--strategy", column if column in STRATEGIES else "any"]
    if column == "feedback":
        words += ["--feedback", "on"]
    begin, runs, turn, turns, seconds = seconds_of_children(), 0, FIRST_TURN, 0, 0.0
    while True:
        for test in bug.tests:
            with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
                if not has_ended([options.tool, "--program", program, "--runs", str(turn), "--make-smaller", "no", "--seed", str(seed),
                                  "--max-steps", MAX_STEPS, "--time-limit", f"{options.seconds - seconds + 1:.2f}", *words,
                                  "--json", file.name, "--", *test], NO_ANSWER * options.seconds):
                    return Result("no answer", runs, seconds_of_children() - begin)
                result = json.load(file)
            runs += result["runs"]
            seconds = seconds_of_children() - begin
            if result.get("failure") or seconds > options.seconds:
                return Result(result.get("failure"), runs, seconds)
        turns += 1
        if turns == options.turns:
            return Result(None, runs, seconds)
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
                return Result("does not end", runs, seconds_of_children() - begin)
            if done.returncode != 0:
                warning = re.search(r"WARNING: ThreadSanitizer: ([\w -]*\w)", done.stdout)
                return Result(warning[1] if warning else "fails", runs, seconds_of_children() - begin)
    return Result(None, runs, seconds_of_children() - begin)


class Measured:
    """Results by bug, column and seed: those of the file, and what is measured, which is added there at once."""

    def __init__(self, options, programs):
        self.options, self.programs, self.known = options, programs, {}
        if options.results and os.path.exists(options.results):
            with open(options.results) as file:
                for bug, column, seed, limit, *result in map(json.loads, file):
                    self.known[bug, column, seed] = (limit, Result(*result))

    def of(self, bug, column, seed):
        limit, result = self.known.get((bug.name, column, seed), (0, None))
        if result and (result.failure or limit >= self.options.seconds):
            return result
        if column == "sanitizer":
            result = sanitize(self.options, self.programs.sanitized(bug), bug)
        else:
            result = explore(self.options, self.programs.explored(bug), bug, column, seed)
        if self.options.results:
            with open(self.options.results, "a") as file:
                file.write(json.dumps([bug.name, column, seed, self.options.seconds, *result]) + "\n")
        return result


def cells(results):
    """How it fails, and the medians; what is not found takes for ever."""
    found = [r for r in results if r.failure]
    runs = statistics.median(r.runs if r.failure else math.inf for r in results)
    seconds = statistics.median(r.seconds if r.failure else math.inf for r in results)
    how = collections.Counter(r.failure for r in found).most_common(1)[0][0] if found else "not found"
    if found and len(found) != len(results):
        how += f" ({len(found)} of {len(results)})"
    if math.isinf(runs):
        return [how, f"> {min(r.runs for r in results):,}", f"> {min(r.seconds for r in results):.2f}"]
    return [how, f"{runs:,.0f}", f"{seconds:.2f}"]


def compare_with_goals(measured, bugs, options):
    """The 14 bugs that the first prototype of the explorer knew, each with the runs that it needed."""
    missed = []
    print("| bug | runs at most | runs | found |\n|---|---|---|---|")
    for bug in bugs:
        results = [measured.of(bug, "weak", options.seed + k * NEXT_SEED) for k in range(options.seeds)]
        runs = statistics.median(r.runs if r.failure else math.inf for r in results)
        print(f"| {bug.name} | {GOALS[bug.name]} | {runs:g} | {sum(bool(r.failure) for r in results)} of {len(results)} |", flush=True)
        missed += [bug.name] * (runs > GOALS[bug.name])
    print(f"\n{len(bugs) - len(missed)} of {len(bugs)} in at most as many runs" + "".join("\nin more: " + name for name in missed))
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--seconds", type=float, default=60, help="of processor time, for each bug, column and seed")
    parser.add_argument("--turns", type=int, default=0, help="at most so many; the first one is of a hundred runs of each test")
    parser.add_argument("--seed", type=int, default=1, help="the first one")
    parser.add_argument("--seeds", type=int, default=1, help="so many times, with seeds of their own")
    parser.add_argument("--only", default=".", help="a regular expression: bugs")
    parser.add_argument("--columns", default="weak strong sanitizer", help="which of these; and a strategy's name: that one alone")
    parser.add_argument("--keep", metavar="FOLDER", help="the compiled programs, which are not compiled again if they are there")
    parser.add_argument("--results", help="a file: what was measured before, and will be now")
    parser.add_argument("--goals", action="store_true", help="only the bugs that have a number of runs to be found in: are they?")
    options = parser.parse_args()
    if options.turns and options.results:
        parser.error("--results keeps what a limit of time has ended, not what --turns has")
    columns, found, wrong = options.columns.split(), collections.Counter(), []
    if not options.goals:
        print("| bug |" + "".join(f" {TITLES.get(name, f'`{name}`')} | runs | seconds |" for name in columns))
        print("|---" * (1 + 3 * len(columns)) + "|")
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    with contextlib.nullcontext(options.keep) if options.keep else tempfile.TemporaryDirectory() as scratch:
        measured = Measured(options, Programs(options, scratch))
        bugs = [bug for bug in [*textbook_bugs(scratch), *other_bugs(), *([] if options.goals else scheduler_bugs(scratch))]
                if re.search(options.only, bug.name) and (not options.goals or bug.name in GOALS)]
        if options.goals:
            return compare_with_goals(measured, bugs, options)
        for bug in bugs:
            row, is_found_by = [bug.name], {}
            for name in columns:
                seeds = range(1 if name == "sanitizer" else options.seeds)
                results = [measured.of(bug, name, options.seed + k * NEXT_SEED) for k in seeds]
                is_found = any(r.failure for r in results)
                found[name] += is_found and bug.name != RIGHT
                row += cells(results)
                is_found_by[name] = is_found
            by_explorer = [is_found for name, is_found in is_found_by.items() if name in ("weak", "feedback", *STRATEGIES)]
            if by_explorer and bug.name not in NEVER_FOUND and any(by_explorer) == (bug.name == RIGHT):
                wrong.append(bug.name)
            print("| " + " | ".join(row) + " |", flush=True)
    print(f"\nof {sum(bug.name != RIGHT for bug in bugs)} bugs found within {options.seconds:g} s each: "
          + ", ".join(f"{TITLES.get(name, name)} {found[name]}" for name in columns))
    if wrong:
        print("not as it was: " + ", ".join(wrong))
    return 1 if wrong or not bugs else 0


if __name__ == "__main__":
    sys.exit(main())
