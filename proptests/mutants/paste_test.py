#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a law fail on a seeded bug, pastes the code that it prints into a GoogleTest program, and compiles that twice:
with the bug it must fail, with the queue as it ships it must pass."""
import argparse
import pathlib
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


def main():
    p = argparse.ArgumentParser()
    for word in ("program", "law", "compiler", "changed", "out"):
        p.add_argument(f"--{word}", required=True)
    p.add_argument("--include", action="append")
    a = p.parse_args()
    out = pathlib.Path(a.out)
    out.mkdir(parents=True, exist_ok=True)
    code = out / "pasted.txt"
    code.unlink(missing_ok=True)
    subprocess.run([a.program, "--must-fail", a.law, "--paste", code], check=True)
    source = out / "pasted_test.cpp"
    source.write_text(INCLUDES + code.read_text())
    print(code.read_text())
    jobs = []
    for name, before in (("changed", [a.changed]), ("shipped", [])):
        folders = [f"-I{folder}" for folder in before + a.include]
        command = [a.compiler, "-std=c++20", "-O1", "-Wall", "-Wextra", *folders, source, "-o", out / name, "-lgtest",
                   "-lgtest_main", "-pthread"]
        jobs.append((name, subprocess.Popen(command)))
    if any([job.wait() != 0 for _, job in jobs]):
        sys.exit("the printed code does not compile")
    # On threads the bug shows in one of many rounds, in fewer while other programs take the processors: the test with
    # the bug runs until it fails.
    for name, wanted, most in (("changed", 1, 100), ("shipped", 0, 1)):
        for _ in range(most):
            got = subprocess.run([out / name], capture_output=True, text=True)
            if got.returncode == wanted:
                break
        else:
            sys.exit(f"the pasted test on the {name} queue: exit status {got.returncode}, not {wanted}\n{got.stdout}")
    print("fails on the bug, passes on the queue that ships")


main()
