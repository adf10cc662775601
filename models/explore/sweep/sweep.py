#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tries each mutant of the scheduler (models/cases/scheduler/*/*.mutants) by exploration, under the scheduler's unit tests and the
small tests of power/scheduler_test.cpp. The tests are compiled once, over headers with the functions of all mutants; a word chooses one.

  sweep.py --build FOLDER --results FILE     builds there, and tries what FILE has no result for: it can be stopped and continued
  sweep.py --results FILE --table FILE       writes the table

First each test runs twice without a mutant, to see which mutated functions it calls. Then each mutant is explored in turn under the
tests that call one of its functions: first the small tests, then those in which such calls are the greatest share of all calls of
mutated functions. Each has a few runs, then four times as many, and so on, until one fails or the mutant's processor time is used up.
A mutant that no test reaches is not explored; one that changes more than functions' bodies needs a build of its own, and is not tried."""
import argparse
import collections
import concurrent.futures
import fnmatch
import glob
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

here = os.path.dirname(os.path.realpath(__file__))
root = os.path.realpath(os.path.join(here, "..", "..", ".."))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(root, "models", "verify"), os.path.join(root, "models", "explore")]
import mutants as tables  # noqa: E402
import own_tests  # noqa: E402

CASES = os.path.join(root, "models", "cases")
HEADERS = [os.path.join(root, *parts) for parts in (("deque", "include"), ("scheduler", "include"), ("scheduler", "src", "inside"))]
SMALL = "explored_"  # how the names of programs of small tests begin
LONG = 0.2  # seconds of two runs: such a test comes later
MOST_TESTS = 12  # of a mutant, beside the small ones
FIRST_TURN = 10  # runs
MORE = 4
MAX_STEPS = "1000000"  # of a run, and as many more: what does not end is known soon
NO_ANSWER = 10  # times the limit: what takes so long has no answer
A_LOOK, LOOKS = 0.01, 50  # seconds between looks whether a process has ended, and each how many its processor time is looked at
NO_RESULT = ("no answer", "no verdict")
ENTRY = 16  # bytes of an entry in what --reached writes: a number, and how many calls

begun = set()  # groups of processes
PARAMETER = re.compile(r"/[^/.]*$|/\d+(?=\.)")  # in the name of a test


def number_of(name):
    """As mutant_number() in variant.hpp."""
    number = 14695981039346656037
    for character in name.encode():
        number = (number ^ character) * 1099511628211 % 2**64
    return number


def stems(folder):
    """The mutants whose headers are in the folder `scheduler` or `queues`."""
    return [m for m in tables.mutants_of(CASES) if m.table.parent.parent.name == folder]


def write_headers(folder):
    os.makedirs(folder, exist_ok=True)
    names = [m.name for m in stems("scheduler") if not m.apart]
    subprocess.run([sys.executable, "-B", os.path.join(root, "models", "verify", "mutant_variants.py"), folder, ":".join(HEADERS),
                    CASES, *names], check=True)


def build(folder, jobs):
    subprocess.run(["cmake", "--preset", "explore", "-B", folder, "-DRUNQ_EXPLORE_MUTANTS=ON", "-DRUNQ_BUILD_PROPTESTS=OFF"], cwd=root,
                   check=True)
    subprocess.run(["cmake", "--build", folder, "-j", str(jobs), "--target", "runq_explored_programs"], check=True)


class Results:
    """What was found before, and is found now, a line for each: of a test, by program and name, or of a mutant."""

    def __init__(self, file):
        self.file, self.lock, self.tests, self.mutants = file, threading.Lock(), {}, {}
        if os.path.exists(file):
            with open(file) as lines:
                for line in map(json.loads, lines):
                    self.keep(line)

    def keep(self, line):
        if "mutant" in line:
            self.mutants[line["mutant"]] = line
        else:
            self.tests[line["program"], line["test"]] = line

    def add(self, line):
        with self.lock:
            self.keep(line)
            with open(self.file, "a") as file:
                file.write(json.dumps(line) + "\n")


def processor_time(group):
    """Of the processes of the group that live, and of their children that have ended, in seconds."""
    ticks = 0
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(stat) as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group:
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def run(command, limit):
    """Processor time of the command and all that it has started, in seconds, and its status; None: it was ended at the limit."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    begun.add(process.pid)
    looks = 0
    while True:
        ended, status, used = os.wait4(process.pid, os.WNOHANG)
        if ended:
            break
        looks += 1
        if looks % LOOKS == 0 and (so_far := processor_time(process.pid)) > limit:
            os.killpg(process.pid, signal.SIGKILL)
            os.wait4(process.pid, 0)
            break
        time.sleep(A_LOOK)
    begun.discard(process.pid)
    process.returncode = 0
    return (used.ru_utime + used.ru_stime, status) if ended else (so_far, None)


def end_all(*_):
    """Ends what was begun, and then this process."""
    for group in list(begun):
        os.killpg(group, signal.SIGKILL)
    os._exit(1)


class Sweep:
    def __init__(self, options):
        self.options, self.results = options, Results(options.results)
        self.tool = os.path.join(options.build, "models", "explore", "runq-explore")
        self.programs = {}
        for program in sorted(glob.glob(os.path.join(options.build, "scheduler", "*"))):
            name = os.path.basename(program)
            if os.path.isfile(program) and os.access(program, os.X_OK) and not os.path.islink(program) and re.search("test", name):
                self.programs[name] = program
        self.left_out = [p for p, reason in own_tests.listed(os.path.join(root, "models", "explore", "not_explored.txt"))
                         if not reason.startswith(own_tests.REFUSED)]

    def command(self, program, runs, seed, *words):
        return [self.tool, "--program", self.programs[program], "--runs", str(runs), "--seed", str(seed), "--make-smaller", "no",
                "--max-steps", MAX_STEPS, *own_tests.PATIENCE, *words]

    def tests_of(self, program):
        """A run of the program writes the list of its tests."""
        with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
            run(self.command(program, 1, 1, "--", "--gtest_list_tests", "--gtest_output=json:" + file.name), 60)
            suites = json.load(file)["testsuites"]
        return [f"{suite['name']}.{test['name']}" for suite in suites for test in suite["testsuite"]]

    def look(self, program, test):
        """Runs a test without a mutant, and notes what it calls."""
        with tempfile.NamedTemporaryFile(suffix=".reached") as file, tempfile.NamedTemporaryFile("r", suffix=".json") as result:
            seconds, status = run(self.command(program, 1, 1, "--json", result.name, "--", "--gtest_filter=" + test, "--reached=" + file.name),
                                  NO_ANSWER * self.options.seconds)
            data = file.read()
        calls = {}
        for at in range(0, len(data), ENTRY):
            number, count = (int.from_bytes(data[at + k:at + k + 8], sys.byteorder) for k in (0, 8))
            if number:
                calls[str(number)] = count  # as in the results that are read
        self.results.add({"program": program, "test": test, "passes": status == 0, "seconds": round(seconds, 2), "calls": calls})

    def look_at_all(self):
        todo = {}  # of a test with parameters the first
        for program in self.programs:
            for test in self.tests_of(program):
                if not any(fnmatch.fnmatchcase(test, p) for p in self.left_out):
                    todo.setdefault((program, PARAMETER.sub("", test)), test)
        todo = [(program, test) for (program, _), test in todo.items() if (program, test) not in self.results.tests]
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            list(pool.map(lambda of: self.look(*of), todo))

    def reaching(self, name):
        """The tests that reach the mutant, as (program, test), the likeliest first; of one with parameters, one."""
        ranks, number = [], str(number_of(name))
        for (program, test), line in self.results.tests.items():
            own = line["calls"].get(number, 0)
            if own and line["passes"] and line["seconds"] < self.options.seconds and program in self.programs:
                ranks.append((not program.startswith(SMALL), line["seconds"] > LONG, -own / sum(line["calls"].values()), program, test))
        ranks.sort()
        small = sum(not is_other for is_other, *_ in ranks)
        return [(program, test) for *_, program, test in ranks[:small + MOST_TESTS]]

    def explore(self, mutant):
        """Until a test fails: how, which one, and after how many runs of all tests."""
        tests, limit = self.reaching(mutant.name), self.options.seconds
        by_program = collections.defaultdict(list)
        for program, test in tests:
            by_program[program].append(test)
        line = {"mutant": mutant.name, "limit": limit, "tests": len(tests), "runs": 0, "seconds": 0.0, "failure": None}
        turn, seed = FIRST_TURN, 1
        while any(by_program.values()) and line["seconds"] < limit and not line["failure"]:
            for program, names in [(p, names) for p, names in by_program.items() if names]:
                self.explore_program(line, program, names, turn, seed, limit)
                if line["failure"] or line["seconds"] >= limit:
                    break
            seed += turn
            turn *= MORE
        line["seconds"] = round(line["seconds"], 2)
        self.results.add(line)
        return line

    def explore_program(self, line, program, names, turn, seed, limit):
        only = "^(" + "|".join(map(re.escape, names)) + ")$"
        with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
            seconds, status = run(self.command(program, turn, seed, "--time-limit", f"{3 * (limit - line['seconds']) + 1:.1f}", "--only",
                                               only, "--json", file.name, "--", "--mutant=" + line["mutant"]), NO_ANSWER * limit)
            line["seconds"] += seconds
            text = file.read()
        if status is None or not text:
            line.update(failure="no answer", program=program)
            return
        for result in json.loads(text)["tests"]:
            line["runs"] += result.get("runs") or 0
            if result.get("threads") == 1 and turn == FIRST_TURN:
                names.remove(result["test"])  # nothing to explore
            failure = result.get("failure") or ("no verdict" if result["verdict"] == "none" else None)
            if failure and self.passes(program, result["test"], turn, seed):
                line.update(failure=failure, program=program, test=result["test"], plain=result.get("seed") == 0,
                            weak=result.get("weak_memory"))
                return

    def passes(self, program, test, turn, seed):
        """Whether the test passes in the same runs without the mutant. If not, no mutant is explored under it any more."""
        _, status = run(self.command(program, turn, seed, "--", "--gtest_filter=" + test), NO_ANSWER * self.options.seconds)
        if status != 0:
            self.results.add({**self.results.tests[program, test], "passes": False})
        return status == 0

    def go(self):
        self.look_at_all()
        todo = [m for m in stems("scheduler") if not m.apart and fnmatch.fnmatchcase(m.name, self.options.only)]
        todo = [m for m in todo[::self.options.one_in] if not self.known(m.name)]
        # First what was never tried; and by chance, so that what a sweep has done until it is stopped is a fair part.
        todo.sort(key=lambda m: (m.name in self.results.mutants, number_of(m.name)))
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for line in pool.map(self.explore, todo):
                how = line["failure"] or ("not found" if line["tests"] else "not reached")
                print(f"{line['mutant']}: {how}, {line['runs']:,} runs, {line['seconds']:.1f} s {line.get('test', '')}", flush=True)

    def known(self, name):
        line = self.results.mutants.get(name)
        return line and (line["failure"] or (line["limit"] >= self.options.seconds and line["tests"] == len(self.reaching(name))))


def others(mutant):
    """Who else kills it: the first case that is pinned for it, and the first law."""
    return "; ".join([f"`{case}`" for case in mutant.killers[:1]] + [f"law of `{law}`" for law in mutant.laws[:1]]) or "**nobody**"


def write_table(file, results):
    all_of, rows = stems("scheduler"), collections.defaultdict(list)
    reached = {int(n) for line in results.tests.values() if line["passes"] for n in line["calls"]}
    for mutant in all_of:
        line = results.mutants.get(mutant.name)
        if mutant.apart:
            rows["apart"].append((mutant, None))
        elif line is None:
            rows["open"].append((mutant, None))
        elif line["failure"] in NO_RESULT:
            rows["no answer"].append((mutant, line))
        elif line["failure"]:
            rows["plain" if line.get("plain") else "found"].append((mutant, line))
        else:
            rows["not found" if number_of(mutant.name) in reached else "not reached"].append((mutant, line))
    tried = sum(len(rows[kind]) for kind in ("plain", "found", "no answer", "not found", "not reached"))
    found = [*rows["plain"], *rows["found"]]
    alone = [mutant.name for mutant, _ in found if not mutant.killers and not mutant.laws]
    survive = [m.name for kind in ("not found", "not reached", "no answer") for m, _ in rows[kind] if not m.killers and not m.laws]
    weak = sum(line.get("weak") == "needed" for _, line in found)
    limits = sorted({line["limit"] for line in results.mutants.values()})

    def names(which):
        return ", ".join(f"`{name}`" for name in which) or "none"

    with open(file, "w") as out:
        out.write(f"""<!-- SPDX-License-Identifier: MIT -->
# The scheduler's mutants, tried by exploration

`models/explore/sweep/sweep.py --build FOLDER --results FILE --table {os.path.join("evidence", os.path.basename(file))}` makes this table: each mutant of
`models/cases/scheduler/` is [explored](../docs/explore.md) under the small tests of `models/explore/power/` and up to {MOST_TESTS} unit tests of the
scheduler that call a function which it changes, for {" or ".join(f"{limit:g}" for limit in limits)} s of processor time, or until one fails. With few seconds a mutant
that needs a rare moment is not found. The models and laws are those that the tables of mutants name. Of {len(results.tests):,} tests it was
asked which mutated functions they call.

| mutants | {len(all_of)} |
|---|---|
| tried | {tried} |
| found in the first run of a test | {len(rows["plain"])} |
| found in a later run | {len(rows["found"])} |
| of those that are found, need weak memory | {weak} |
| a test has no verdict with it, and one without it | {len(rows["no answer"])} |
| explored, and not found | {len(rows["not found"])} |
| no test calls what they change | {len(rows["not reached"])} |
| not tried yet | {len(rows["open"])} |
| not tried: they need a build of their own | {len(rows["apart"])} |

Found by exploration, and by neither models nor laws: {names(alone)}. Not found, and killed by neither models nor laws: {names(survive)}.
All others that are not found are killed by models, or by laws.

## Not found

| mutant | runs | killed by |
|---|---|---|
""")
        for kind in ("not found", "not reached", "no answer"):
            out.writelines(f"| `{m.name}` | {line['runs'] if kind == 'not found' else kind} | {others(m)} |\n" for m, line in rows[kind])
        out.write("\n## Found\n\n`1`: in the first run. Runs are of all tests until then; *weak*: not without old values.\n\n"
                  "| mutant | as | runs | by the test | |\n|---|---|---|---|---|\n")
        for m, line in sorted(found, key=lambda row: row[0].name):
            out.write(f"| `{m.name}` | {line['failure']} | {1 if line.get('plain') else line['runs']} | {line.get('test', '')} | "
                      f"{'weak' if line.get('weak') == 'needed' else ''} |\n")
        for kind, head in (("open", "Not tried yet"), ("apart", "They need a build of their own")):
            if rows[kind]:
                out.write(f"\n## {head}\n\n{names(m.name for m, _ in rows[kind])}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", metavar="FOLDER", help="where the programs are built")
    parser.add_argument("--as-built", action="store_true", help="build nothing: the programs that are there")
    parser.add_argument("--results", metavar="FILE")
    parser.add_argument("--table", metavar="FILE", help="write it, from the results")
    parser.add_argument("--seconds", type=float, default=5, help="of processor time, for each mutant")
    parser.add_argument("--only", default="*", metavar="GLOB", help="these mutants")
    parser.add_argument("--one-in", type=int, default=1, metavar="K", help="each K-th mutant")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--write", metavar="FOLDER", help="only the headers with all mutants (mutants.cmake)")
    options = parser.parse_args()
    if options.write:
        write_headers(options.write)
        return 0
    if not options.results:
        parser.error("--results FILE keeps what is found")
    if options.build:
        if not options.as_built:
            build(options.build, options.jobs)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # runs that crash are many
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, end_all)
        Sweep(options).go()
    if options.table:
        write_table(options.table, Results(options.results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
