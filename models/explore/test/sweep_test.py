#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sweep.py on a tiny tree: one header, its mutants, and a program of GoogleTest. What it finds, what it says of each mutant in the
table, and that it tries nothing twice."""
import argparse
import contextlib
import io
import os
import stat
import subprocess
import sys
import tempfile
import time

here = os.path.dirname(os.path.realpath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(here, "..", "sweep"))
import sweep  # noqa: E402

HEADER = """#pragma once
#include <atomic>
struct thing {
  std::atomic<int> sum{0};
  void add(int n) { sum.fetch_add(n, std::memory_order::relaxed); }
  int get() const { return sum.load(std::memory_order::relaxed); }
  void clear() { sum.store(0, std::memory_order::relaxed); }
};
"""
TESTS = """#include <gtest/gtest.h>
#include <thread>
#include "runq/thing.hpp"
TEST(thing, two_threads_add) {
  thing t;
  std::thread other([&] { t.add(1); });
  t.add(1);
  other.join();
  EXPECT_EQ(t.get(), 2);
}
TEST(thing, one_thread_adds) {
  thing t;
  t.add(1);
  t.add(1);
  EXPECT_GE(t.get(), 0);
}
TEST(thing, fails_in_some_run_without_a_mutant) {
  thing t;
  std::atomic<int> slow{0};
  std::thread other([&] { t.add(1); slow.store(1); });
  const int seen = slow.load();
  other.join();
  EXPECT_EQ(seen, 0);
}
"""
ADDS, CLEARS = "sum.fetch_add(n, std::memory_order::relaxed);", "sum.store(0, std::memory_order::relaxed);"
# name: what it says besides, what is replaced, by what
MUTANTS = {
    "adds_nothing": ("killed by: thing/adds (check failed)\n", ADDS, "(void)n;"),
    "adds_in_two_steps": ("", ADDS, "sum.store(get() + n, std::memory_order::relaxed);"),
    "adds_in_another_order": ("", ADDS, "sum.fetch_add(n, std::memory_order::seq_cst);"),
    "clears_nothing": ("breaks: thing/cleared\n", CLEARS, ""),
    "begins_with_one": ("module: its own\n", "sum{0}", "sum{1}"),
}


def write(text, *path):
    os.makedirs(os.path.dirname(os.path.join(*path)), exist_ok=True)
    with open(os.path.join(*path), "w") as file:
        file.write(text)
    return os.path.join(*path)


def table_of(stem):
    return "\n".join(f"=== {name}\n# A bug.\nfile: runq/{stem}.hpp\n{more}--- old\n{old}\n--- new\n{new}\n"
                     for name, (more, old, new) in MUTANTS.items())


def make_tree(tool, folder):
    """The headers, the tables and, as sweep.py expects them, the command and the program of tests."""
    include, build = os.path.join(folder, "include"), os.path.join(folder, "build")
    write(HEADER, include, "runq", "thing.hpp")
    write(HEADER.replace("struct thing", "struct queue"), include, "runq", "queue.hpp")
    sweep.CASES, sweep.HEADERS = os.path.join(folder, "cases"), [include]
    write(table_of("thing"), sweep.CASES, "scheduler", "thing", "thing.mutants")
    write(table_of("queue"), sweep.CASES, "queues", "queue", "queue.mutants")
    sweep.write_headers(os.path.join(folder, "mutants"))
    command = write(f'#!/bin/sh\nexec "{tool}" "$@"\n', build, "models", "explore", "runq-explore")
    os.chmod(command, os.stat(command).st_mode | stat.S_IXUSR)
    check, chosen = os.path.join(sweep.root, "models", "check"), os.path.join(folder, "chosen_mutant.o")
    source = write(TESTS, folder, "thing_test.cpp")
    os.makedirs(os.path.join(build, "scheduler"))
    subprocess.run([os.environ.get("CXX", "g++"), "-std=c++20", "-DRUNQ_NOTES_MUTANTS", "-I" + check, "-c",
                    os.path.join(here, "..", "sweep", "chosen_mutant.cpp"), "-o", chosen], check=True)
    flags = ["-w", "-DRUNQ_NOTES_MUTANTS", "-I" + os.path.join(folder, "mutants", "all"), "-I" + check, "-I" + include, "-lgtest",
             "-lgtest_main"]
    subprocess.run([tool, "--compile-only", os.path.join(build, "scheduler", "thing_test"), *(w for f in flags for w in ("--flag", f)),
                    source, chosen], check=True)
    return build


def go(build, results):
    """One sweep: what it prints."""
    options = argparse.Namespace(build=build, results=results, seconds=3.0, only="*", one_in=1, jobs=1)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        sweep.Sweep(options).go()
    return printed.getvalue()


def wrong_in(build, folder):
    """What is not as it has to be."""
    results, table = os.path.join(folder, "results.jsonl"), os.path.join(folder, "table.md")
    printed = go(build, results)
    kept = sweep.Results(results)
    found = {name.removeprefix("thing/"): line for name, line in kept.mutants.items()}
    expected = {
        "the mutants that are tried": set(found) == set(MUTANTS) - {"begins_with_one"},
        "the tests that reach a mutant": found["clears_nothing"]["tests"] == 0 and found["adds_nothing"]["tests"] >= 2,
        "a mutant that fails at once": found["adds_nothing"]["failure"] == "check failed" and found["adds_nothing"]["plain"],
        "a mutant that needs a schedule": found["adds_in_two_steps"]["failure"] == "check failed" and
                                          not found["adds_in_two_steps"]["plain"],
        "the test that fails": {found[name]["test"] for name in ("adds_nothing", "adds_in_two_steps")} == {"thing.two_threads_add"},
        "a change that does no harm": found["adds_in_another_order"]["failure"] is None and found["adds_in_another_order"]["runs"] > 100,
        "a test that fails without a mutant": [test for (_, test), line in kept.tests.items() if not line["passes"]] ==
                                              ["thing.fails_in_some_run_without_a_mutant"],
        "what it prints": "thing/adds_nothing: check failed, " in printed and "thing/clears_nothing: not reached, 0 runs" in printed,
    }
    with open(results) as file:
        before = file.read()
    # A mutant that was tried under a test that is left out since, is tried again, once.
    go(build, results)
    expected["nothing that is known is tried again"] = go(build, results) == ""
    sweep.write_table(table, sweep.Results(results))
    with open(table) as file:
        text = file.read()
    for line in ("| mutants | 5 |", "| tried | 4 |", "| found in the first run of a test | 1 |", "| found in a later run | 1 |",
                 "| a test has no verdict with it, and one without it | 0 |",
                 "| explored, and not found | 1 |", "| no test calls what they change | 1 |", "| not tried yet | 0 |",
                 "| not tried: they need a build of their own | 1 |", "| `thing/clears_nothing` | not reached | law of `thing/cleared` |",
                 "by neither models nor laws: `thing/adds_in_two_steps`. Not found, and killed by neither models nor laws: `thing/adds_in_another_order`.",
                 "| `thing/adds_nothing` | check failed | 1 | thing.two_threads_add |", "own\n\n`thing/begins_with_one`"):
        expected["the table's line " + line] = line in text
    return [what for what, fits in expected.items() if not fits], before + text


def lives(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def runaway(folder):
    """What takes too much processor time is ended, with its children."""
    mark = os.path.join(folder, "mark")
    seconds, status = sweep.run(["sh", "-c", f"sh -c 'while :; do :; done' & echo $! >{mark}; wait"], 1)
    with open(mark) as file:
        child = file.read().strip()
    # A killed process ends only when it gets a processor, which may take long beside others.
    end = time.monotonic() + 60
    while lives(child) and time.monotonic() < end:
        time.sleep(0.01)
    if seconds > 1 and status is None and not lives(child):
        return []
    return [f"a command without an end: {seconds} s, status {status}, lives: {lives(child)}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wrong, seen = wrong_in(make_tree(os.path.realpath(options.tool), folder), folder)
        wrong += runaway(folder)
    print("\n".join([*wrong, seen]) if wrong else "the sweep finds, keeps and tells what it has to")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
