#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mutants of the checker itself: bugs seeded into the engine, its front ends and its judges, each killed by a test.

usage: checker_mutants.py write OUTPUT_DIR MODELS_DIR TABLE...
       checker_mutants.py run --killers FILE --written DIR [--only GLOB] [--one-in N] [--jobs N] [--seconds N] [--find]
                          TABLE...

A table, `mutants/<area>.mutants`, has a block for each mutant, in the form of verify/mutants.py:

    === joins_the_smaller_clock
    # Joining two clocks keeps the smaller entries.
    file: exact/exact_graph.hpp
    killed by: exact: all/shapes.have_the_known_graphs/WRC_with_rel_with_acq
    --- old
    …
    --- new
    …

`file:` is a source or header of models/, and a change is one of functions' bodies. `killed by:` names a test, which must fail
once the mutant is chosen; of several lines, each must. Instead, `lives:` says why no test can tell the mutant from what is
shipped.

`write` copies those folders of models/ that have mutants, with every changed body beside the shipped one. The environment
variable RUNQ_CHECKER_MUTANT, "exact/joins_the_smaller_clock", chooses one in programs that are built from the copy
(mutants/chosen_mutant.cpp). What does not apply is written into OUTPUT_DIR/refused.

`run` first makes each test without a mutant: it must pass. Then it makes each with each mutant that names it. A line of the
file of --killers says how a kind of test is made: `exact<tab>gtest<tab>PROGRAM`, `check<tab>programs<tab>RUNQ_CHECK<tab>DIR`, or
`name<tab>command<tab>WORD<tab>…`; in the words, {} is what follows the kind in `killed by:`. A mutant dies if the test fails, crashes,
or uses up its time or its memory, which is said. Its time is --seconds of processor time for each process, and by the clock
20 times what the test took without a mutant, at least --patience seconds: processes that wait for each other sleep most of the
time, and the system, which charges a process for the ticks that it meets it at, hardly ever charges them.

`--one-in 4` takes the first, the fifth, … of each table. Of the others it says only which do not apply, and which name no test.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import math
import os
import pathlib
import platform
import re
import resource
import select
import shlex
import subprocess
import sys
import tempfile
import time

here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here.parent / "verify"), str(here.parent / "compiled" / "test")]
from mutants import mutate, parse, parse_table, write_if_other  # noqa: E402
from mutant_variants import changed_bodies, combined  # noqa: E402
import run_program  # noqa: E402

FOLDERS = ("check", "exact", f"arch/{platform.machine()}", "explain", "explain/html", "verify", "compiled", "compiled/include/runq")
VARIABLE = "RUNQ_CHECKER_MUTANT"
MEMORY = 6 << 30

Mutant = collections.namedtuple("Mutant", "name file killers lives changes")


def mutants_of(tables):
    mutants = []
    for table in map(pathlib.Path, tables):
        for name, text in parse_table(table.read_text()):
            fields, changes = parse(text)
            killers = re.findall(r"^killed by: *(.*?) *$", text.split("--- old")[0], re.MULTILINE)
            name = f"{table.stem}/{name}"
            if not changes or "file" not in fields or bool(killers) == ("lives" in fields):
                sys.exit(f"{table}: {name} needs `file:`, a change, and either `killed by:` or `lives:`")
            mutants.append(Mutant(name, fields["file"], killers, fields.get("lives"), changes))
    names = [m.name for m in mutants]
    for name in names:
        if names.count(name) != 1:
            sys.exit(f"two mutants are called {name}")
    return mutants


def one_in(number, mutants):
    """Every so many-th mutant of each table, beginning with the first."""
    by_table = collections.defaultdict(list)
    for mutant in mutants:
        by_table[mutant.name.split("/")[0]].append(mutant)
    return [mutant for of_table in by_table.values() for mutant in of_table[::number]]


# --- the copy ----------------------------------------------------------------------------------------------------------


def write(output, models, tables):
    by_file, refused = collections.defaultdict(list), []
    for mutant in mutants_of(tables):
        source = (models / mutant.file).read_text()
        mutated, status = mutate(source, mutant.changes)
        if mutated is not None and changed_bodies(source, mutated) is None:
            mutated, status = None, "it changes something other than functions' bodies"
        if mutated is None:
            refused.append(f"{mutant.name}\t{mutant.file}: {status}\n")
        else:
            by_file[mutant.file].append((mutant.name, models / mutant.file, mutated))
    for folder in FOLDERS:
        for left in list((output / folder).glob("*.[ch]pp")):
            if not (models / folder / left.name).exists():
                left.unlink()  # a source that was moved must not stand in two places
        for file in sorted((models / folder).glob("*.[ch]pp")):
            name, source = f"{folder}/{file.name}", file.read_text()
            text = combined(source, file, by_file[name]) if by_file[name] else f'#line 1 "{file}"\n{source}'
            write_if_other(output / name, text)
    write_if_other(output / "refused", "".join(refused))


# --- the tests ---------------------------------------------------------------------------------------------------------


def limit(seconds):
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def end_group(process):
    """Ends what the process has started and left behind. To be called before it is waited for: until then its number is its own."""
    try:
        os.killpg(process.pid, 9)
    except ProcessLookupError:
        pass


def ran(command, mutant, limits, environment=None):
    """Runs it with the mutant. Returns its status or "time limit", and what it printed."""
    all_variables = {**os.environ, **(environment or {})}
    all_variables.pop(VARIABLE, None)
    if mutant is not None:
        all_variables[VARIABLE] = mutant
    with tempfile.TemporaryFile("w+", errors="replace") as output:  # no pipe, which others could hold open
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=all_variables,
                                   start_new_session=True, preexec_fn=lambda: limit(limits.processor))
        ends = os.pidfd_open(process.pid)
        in_time = bool(select.select([ends], [], [], limits.clock)[0])
        os.close(ends)
        end_group(process)
        status = process.wait()
        output.seek(0)
        # -24: SIGXCPU
        return ("time limit" if not in_time or status in (-24, -9) else status), output.read()


Limits = collections.namedtuple("Limits", "processor clock")


class Clocks:
    """How long each test may take, by the clock and in processor time: at first long enough for any machine, and once it has been
    made without a mutant, 20 times as long as that took."""
    FACTOR = 20
    LEAST = 2  # seconds of processor time

    def __init__(self, seconds, patience):
        self.seconds, self.patience, self.taken = seconds, patience, {}

    def limits(self, test):
        clock = self.FACTOR * (self.seconds if test not in self.taken else self.taken[test])
        return Limits(min(self.seconds, max(self.LEAST, math.ceil(clock))), max(self.patience, clock))

    def measure(self, test, make):
        begin = time.monotonic()
        result = make(self.limits(test))
        self.taken[test] = time.monotonic() - begin
        return result


class gtest:
    """`killed by: KIND: Suite.Name`"""

    def __init__(self, program):
        self.program = program

    def unknown(self, names):
        """Those of the names that no test has."""
        listed = subprocess.run([self.program, "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout
        known, suite = set(), ""
        for line in listed.splitlines():
            word = line.split("#")[0].strip()
            if line.startswith(" "):
                known.add(suite + word)
            else:
                suite = word
        return [name for name in names if name not in known]

    def prepare(self, names, folder):
        pass

    def test(self, name, mutant, limits):
        """Returns None if it passes, or how it fails."""
        status, output = ran([self.program, f"--gtest_filter={name}", "--gtest_brief=1"], mutant, limits)
        if status == 0 and "[  PASSED  ] 0 tests" in output:
            return f"there is no test {name}"
        return None if status == 0 else "fails" if status == 1 else status_text(status)

    def find(self, mutant, limits):
        status, output = ran([self.program, "--gtest_brief=1"], mutant, limits)
        return sorted(set(re.findall(r"^\[  FAILED  \] ([^, ]+\.[^, ]+)", output, re.MULTILINE))) or [
            f"({status_text(status)})" if status else "nothing"]


class programs:
    """`killed by: check: heap.cpp`: some run of it is not as its lines say; `check: heap.cpp -DTWICE`: that run is not; `check: heap.cpp
    -DTWICE *`: some run is not whose line begins so."""

    def __init__(self, tool, sources):
        self.tool, self.sources = tool, pathlib.Path(sources)

    def checks_named(self, name):
        program, _, words = name.partition(" ")
        all_checks = run_program.checks_of(str(self.sources / program)) if (self.sources / program).exists() else []
        begins = words[:-1] if words.endswith(" *") else None
        return [check for check in all_checks
                if not words or check.words == words or (begins and f"{check.words} ".startswith(begins))]

    def unknown(self, names):
        return [name for name in names if not self.checks_named(name)]

    def prepare(self, names, folder):
        self.o = argparse.Namespace(tool=self.tool, compiler="g++", include=[], shipped=None)
        self.checks = {name: self.checks_named(name) for name in names}
        every = list(dict.fromkeys(check for checks in self.checks.values() for check in checks))
        self.commands = run_program.compiled_together(self.o, "-O1", every, folder)

    def test(self, name, mutant, limits):
        for check in self.checks[name]:
            options, environment = ["--check-duplicates", *check.asked], {}
            if check in self.commands:
                command = self.commands[check]
                environment = {"LD_BIND_NOW": "1", "RUNQ_CHECK": "\n".join(options)}
            else:
                command = [self.tool, "--compiler", "g++", *options, check.program, "--", "-O1", *check.macros, *check.flags]
            status, output = ran(command, mutant, limits, environment)
            if isinstance(status, str) or status < 0:
                return status_text(status)
            if "were met before" in output or not run_program.as_expected(check.expected, status, output, "g++"):
                return f"says {output.splitlines()[0][:60] if output else 'nothing'!r}"
        return None

    def find(self, mutant, limits):
        return [name for name in self.checks if self.test(name, mutant, limits)] or ["nothing"]


class command:
    def __init__(self, *words):
        self.words = words

    def unknown(self, names):
        return []  # it says so itself

    def prepare(self, names, folder):
        pass

    def test(self, name, mutant, limits):
        words = [part for word in self.words for part in (shlex.split(name) if word == "{}" else [word])]
        status, _ = ran(words, mutant, limits)
        return None if status == 0 else "fails" if status == 1 else status_text(status)


def status_text(status):
    if status == "time limit":
        return "time limit"
    return f"ends by signal {-status}" if status < 0 else f"ends with status {status}"


# --- the table ---------------------------------------------------------------------------------------------------------


def killers_from(file):
    kinds = {}
    for line in pathlib.Path(file).read_text().splitlines():
        kind, how, *words = line.split("\t")
        kinds[kind] = {"gtest": gtest, "programs": programs, "command": command}[how](*words)
    return kinds


def split(killer):
    kind, _, name = killer.partition(": ")
    return kind, name


def verdict_on(mutant, refused, kinds, clocks):
    """Returns whether the mutant dies, and how, or why not."""
    if mutant.name in refused:
        return False, f"does not apply: {refused[mutant.name]}"
    hows = []
    for killer in mutant.killers:
        kind, name = split(killer)
        how = kinds[kind].test(name, mutant.name, clocks.limits((kind, name)))
        if how is None:
            return False, f"lives: {killer} passes"
        hows.append(how)
    return True, ", ".join(hows)


def faults_of_tables(mutants, refused, kinds):
    """What is wrong with mutants that are not made, told without making them."""
    named = collections.defaultdict(set)
    for mutant in mutants:
        for kind, name in map(split, mutant.killers):
            named[kind].add(name)
    return [*(f"{m.name}: does not apply: {refused[m.name]}" for m in mutants if m.name in refused),
            *(f"{kind}: {name}: there is no such test" for kind in sorted(named) for name in kinds[kind].unknown(sorted(named[kind])))]


def run(o):
    every_mutant = mutants_of(o.tables)
    mutants = [m for m in one_in(o.one_in, every_mutant) if fnmatch.fnmatch(m.name, o.only)]
    refused = dict(line.split("\t") for line in (pathlib.Path(o.written) / "refused").read_text().splitlines())
    kinds = killers_from(o.killers)
    tests = sorted({split(killer) for m in mutants for killer in m.killers})
    for kind in sorted({split(killer)[0] for m in every_mutant for killer in m.killers}):
        if kind not in kinds:
            sys.exit(f"there is no kind of test {kind!r}, but {', '.join(kinds)}")
    faults = faults_of_tables([m for m in every_mutant if m not in mutants], refused, kinds)
    print(*faults, sep="\n", end="\n" if faults else "")
    good, clocks = not faults, Clocks(o.seconds, o.patience)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        # A mutant changes no program: what one test has compiled, kept_compiler.py has for all.
        os.environ["RUNQ_KEPT_COMPILED"] = os.path.join(folder, "kept")
        os.mkdir(os.environ["RUNQ_KEPT_COMPILED"])
        for kind in kinds:
            names = [name for k, name in tests if k == kind]
            if names:
                kinds[kind].prepare(names, folder)
        unchanged = pool.map(lambda t: clocks.measure(t, lambda limits: kinds[t[0]].test(t[1], None, limits)), tests)
        for (kind, name), how in zip(tests, unchanged):
            if how is not None:
                good = False
                print(f"{kind}: {name}: without a mutant: {how}")
        if o.find:
            found = pool.map(lambda m: [f"{k}: {t}" for k in kinds if hasattr(kinds[k], "checks") or isinstance(kinds[k], gtest)
                                        for t in kinds[k].find(m.name, clocks.limits(None))], mutants)
            for mutant, what in zip(mutants, found):
                print(mutant.name, *what, sep="\n    ", flush=True)
            return
        areas = collections.defaultdict(collections.Counter)
        for mutant, (dies, how) in zip(mutants, pool.map(lambda m: verdict_on(m, refused, kinds, clocks), mutants)):
            count = areas[mutant.name.split("/")[0]]
            count["made"] += 1
            if mutant.lives:
                dies_or_lives = "lives" if mutant.name not in refused else "unsaid"
                how = mutant.lives if dies_or_lives == "lives" else how
            else:
                dies_or_lives = "killed" if dies else "unsaid"
            count[dies_or_lives] += 1
            good = good and dies_or_lives != "unsaid"
            if o.all or dies_or_lives != "killed" or "time limit" in how:
                print(f"{mutant.name}: {how}")
    print(f"{'area':<16}{'made':>6}{'killed':>8}{'living, and why is said':>26}{'living':>8}")
    total = sum(areas.values(), collections.Counter())
    for area, count in [*sorted(areas.items()), ("all", total)]:
        print(f"{area:<16}{count['made']:>6}{count['killed']:>8}{count['lives']:>26}{count['unsaid']:>8}")
    if o.one_in == 1 and total["killed"] * 100 < total["made"] * 98:
        good = False
        print("fewer than 98 % are killed")
    sys.exit(0 if good and total["made"] else 1)


def main():
    options = argparse.ArgumentParser()
    commands = options.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write")
    writing.add_argument("output", type=pathlib.Path)
    writing.add_argument("models", type=pathlib.Path)
    running = commands.add_parser("run")
    running.add_argument("--killers", required=True, metavar="FILE")
    running.add_argument("--written", required=True, metavar="DIR", help="where `write` has put the copy")
    running.add_argument("--only", default="*", metavar="GLOB", help="only mutants with such names")
    running.add_argument("--one-in", type=int, default=1, metavar="N", help="only every so many-th mutant of each table")
    running.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N")
    running.add_argument("--seconds", type=int, default=10, metavar="N", help="of processor time for each test")
    running.add_argument("--patience", type=int, default=20, metavar="N", help="at least so many seconds by the clock for each test")
    running.add_argument("--all", action="store_true", help="say of each mutant how its test fails")
    running.add_argument("--find", action="store_true", help="instead: which tests of all notice each mutant")
    for command in (writing, running):
        command.add_argument("tables", nargs="+", metavar="TABLE")
    o = options.parse_args()
    if o.command == "write":
        write(o.output, o.models, o.tables)
    else:
        run(o)


if __name__ == "__main__":
    main()
