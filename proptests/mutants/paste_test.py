#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""For each --bug, makes a law fail on a seeded bug, which prints code. Pastes all printed codes into one GoogleTest program,
each in a namespace of its own, and compiles that twice: with the bug each must fail, with the queue as it ships it must pass.

--bug NAME=PROGRAM=LAW    NAME is the value of RUNQ_MUTANT that chooses the bug, in PROGRAM as in the pasted code
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

INCLUDES = """#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <runq/local_queue.hpp>

#include "inject_candidate.hpp"
#include "local_queue_candidate.hpp"
#include "ring_candidate.hpp"
#include "runnext_candidate.hpp"
#include "shared_fifo_candidate.hpp"
#include "threads.hpp"

"""


def with_bug(name):
    return {**os.environ, "RUNQ_MUTANT": name}


def main():
    p = argparse.ArgumentParser()
    for word in ("compiler", "changed", "chosen-mutant", "out"):
        p.add_argument(f"--{word}", required=True)
    for word in ("bug", "include", "option"):
        p.add_argument(f"--{word}", action="append", default=[])
    a = p.parse_args()
    out = pathlib.Path(a.out)
    out.mkdir(parents=True, exist_ok=True)
    code, source = out / "pasted.txt", out / "pasted_test.cpp"
    text, tests = INCLUDES, []
    for number, (name, program, law) in enumerate(bug.split("=") for bug in a.bug):
        code.unlink(missing_ok=True)
        subprocess.run([program, "--must-fail", law, "--paste", code], check=True, env=with_bug(name))
        pasted = code.read_text()
        print(pasted, flush=True)
        suite, test = re.search(r"^TEST\((\w+), (\w+)\)", pasted, re.M).groups()
        tests.append((name, f"{suite}.{test}"))
        text += f"namespace pasted_{number} {{\n{pasted}}}  // namespace pasted_{number}\n"
    if len(set(tests)) != len(tests):
        sys.exit("two bugs print tests of one name")
    source.write_text(text)
    jobs = []
    for name, before, objects in (("changed", [a.changed], [a.chosen_mutant]), ("shipped", [], [])):
        folders = [f"-I{folder}" for folder in before + a.include]
        command = [a.compiler, "-std=c++20", "-O1", "-Wall", "-Wextra", *a.option, *folders, source, *objects, "-o", out / name,
                   "-lgtest", "-lgtest_main", "-pthread"]
        jobs.append((name, subprocess.Popen(command)))
    if any([job.wait() != 0 for _, job in jobs]):
        sys.exit("the printed code does not compile")
    # On threads the bug shows in one of many rounds, in fewer while other programs take the processors: the test with
    # the bug runs until it fails.
    for bug, test in tests:
        for name, wanted, most in (("changed", 1, 100), ("shipped", 0, 1)):
            line = "[  FAILED  ] 1 test," if wanted else "[  PASSED  ] 1 test."
            for _ in range(most):
                got = subprocess.run([out / name, f"--gtest_filter={test}"], capture_output=True, text=True,
                                     env=with_bug(bug))
                if got.returncode == wanted and line in got.stdout:
                    break
            else:
                sys.exit(f"{bug}: the pasted test on the {name} queue: exit status {got.returncode}, not {wanted}\n"
                         f"{got.stdout}")
        print(f"{bug}: {test} fails on the bug, passes on the queue that ships")


main()
