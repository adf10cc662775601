#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The programs that CDSChecker was published with, and SafeStack: does ./kit check find what is known of them?

./kit verify --peers DIR [GLOB...]
    DIR is a checkout of github.com/computersforpeace/model-checker-benchmarks. Its programs are compiled as they are; only
    the headers of their harness are those of models/peers/include. Prints a line for each program: its verdict, how many
    executions that took, the time of the search; and what was expected, where that is something else. Without DIR only
    SafeStack is checked, which is written in this project.

Exit status: 0: all verdicts are as expected; 1: one is not; 2: nothing was checked, or a program does not compile.
"""
import argparse
import fnmatch
import re
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "models/compiled"))
from checked_program import compile_checked, run, run_checked  # noqa: E402

# The headers of their harness are looked for there, after the system's, but before the harness's own ones.
COMPILED_WITH = [f"-I{HERE / 'include'}", "-w"]


@dataclass
class Program:
    """One line of the output."""
    name: str
    verdict: str
    executions: int = 0
    files: list = field(default_factory=list)
    own: str = ""
    defines: list = field(default_factory=list)
    options: list = field(default_factory=list)
    threads: int = 0

    def sources(self, folder):
        """What is compiled, and the flags for that."""
        if self.own:
            return [ROOT / self.own], []
        sources = [folder / name for name in self.files]
        harness = HERE / ("harness.c" if sources[0].suffix == ".c" else "harness.cpp")
        # mpmc-queue returns `false` for a null pointer, which C++11 forbids.
        old = ["-Dfalse=0"] if self.files[0].startswith("mpmc-queue/") else []
        return [*sources, harness], [*COMPILED_WITH, f"-I{folder / 'include'}", *(f"-D{d}" for d in self.defines), *old]


@dataclass
class Result:
    """What came out of one program."""
    verdict: str
    executions: int = 0
    seconds: float = 0
    text: str = ""


def short_verdict(line):
    """ "FAIL in execution 4: unpublished allocation: …" is "FAIL: unpublished allocation"."""
    failed = re.match(r"FAIL[^:]*: ([^:]+)", line)
    if failed:
        return f"FAIL: {failed[1]}"
    return line.partition(":")[0]


def check(tool, compiler, program, folder):
    sources, flags = program.sources(folder)
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch) / "program"
        compiled = compile_checked(tool, compiler, made, sources, flags, threads=program.threads)
        if compiled.returncode != 0:
            return Result("does not compile", text=compiled.stderr)
        began = time.monotonic()
        ran = run_checked(made, ["--no-leaks", *program.options])  # the programs free little
        seconds = time.monotonic() - began
    text = ran.stdout + ran.stderr
    verdict = next((line for line in text.splitlines() if re.match(r"exhaustive|bounded|FAIL|no verdict", line)), "no verdict")
    count = re.search(r"\((\d+) executions? explored", text) or re.search(r"FAIL in execution (\d+)", text)
    return Result(short_verdict(verdict), int(count[1]) if count else 0, seconds, text)


def main():
    options = argparse.ArgumentParser(prog="./kit verify --peers", description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tool", help=argparse.SUPPRESS)
    options.add_argument("--table", default=HERE / "programs.toml", help=argparse.SUPPRESS)
    options.add_argument("--compiler", default="g++", help="g++ (the default), or another one")
    options.add_argument("--text", action="store_true", help="print the whole verdicts")
    options.add_argument("folder", nargs="?", metavar="DIR", help="the checkout")
    options.add_argument("globs", nargs="*", metavar="GLOB", help="the programs whose names match")
    o = options.parse_args()
    with open(o.table, "rb") as file:
        table = tomllib.load(file)
    programs = [Program(**one) for one in table["program"]]
    folder = Path(o.folder).resolve() if o.folder else None
    asked = [p for p in programs if (p.own or folder) and (not o.globs or any(fnmatch.fnmatch(p.name, g) for g in o.globs))]
    missing = sorted({name for p in asked for name in p.files if not (folder / name).exists()})
    if missing or not asked:
        print(f"peers: there is no {missing[0]} in {folder}: is it a checkout of {table['source']}?" if missing else
              "peers: no program has such a name", file=sys.stderr)
        return 2
    if not folder:
        print(f"peers: DIR is not given: {len(programs) - len(asked)} programs not run; they are from {table['source']}")
    # Other compilers compile to other loops, of which more or fewer executions are explored.
    counts = o.compiler == "g++" and run(["g++", "-dumpversion"]).stdout.strip() == "12"
    wrong = 0
    print(f"{'program':40} {'verdict':30} {'executions':>10} {'time':>9}")
    for program in asked:
        r = check(o.tool, o.compiler, program, folder)
        same = r.verdict == program.verdict and (not counts or r.executions == program.executions)
        wrong += not same
        expected = "as expected" if same else f"EXPECTED: {program.verdict}, {program.executions:,} executions"
        print(f"{program.name:40} {r.verdict:30} {r.executions:10,} {r.seconds:7.2f} s  {expected}", flush=True)
        if o.text or r.verdict == "does not compile":
            print(r.text)
        if r.verdict == "does not compile":
            return 2
    print(f"peers: {len(asked)} programs, {wrong} not as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
