#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--only explores GoogleTest's tests one by one, and the line that it prints for a failing one repeats the failure."""
import argparse
import os
import re
import subprocess
import sys
import tempfile


def read(path):
    if not os.path.exists(path):
        return "there is no " + path
    with open(path) as file:
        return file.read()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("source")
    options = parser.parse_args()
    wrong = []

    def expect(what, fits, text):
        if not fits:
            wrong.append(f"{what}:\n{text}")

    with tempfile.TemporaryDirectory() as scratch:
        program = os.path.join(scratch, "program")
        subprocess.run([options.tool, "--compile-only", program, "--flag", "-O0", "--flag", "-lgtest", "--flag", "-lgtest_main",
                        options.source], check=True)

        def explore(*more):
            done = subprocess.run([options.tool, "--program", program, "--runs", "50", *more], text=True, capture_output=True)
            return done.returncode, done.stdout + done.stderr

        status, text = explore("--only", "^[^d]")
        tests = re.findall(r"^== (.*)", text, re.M)
        expect("all tests, in the program's order",
               tests == ["counter.adds_atomically", "counter.loses_an_update", "counter.loses_a_decrement",
                         "counter.loses_a_dozen", "skips.itself", "some/sizes.are_positive/0", "some/sizes.are_positive/1"],
               text)
        expect("three tests fail", status == 1 and "7 tests explored: 3 fail, 0 without a verdict" in text, text)
        expect("one skips itself", "== skips.itself\nnot explored: the test skips itself: not today\n== " in text, text)
        repeat = re.search(r"^repeat: (.*)", text, re.M)
        if repeat:
            again = subprocess.run(repeat[1], shell=True, text=True, capture_output=True)
            expect("the failure is repeated", again.returncode == 1 and "counter.loses_an_update" in again.stdout, again.stdout)
        expect("there is a line that repeats it", repeat, text)

        status, text = explore("--only", "adds|sizes")
        expect("those that do not fail", status == 0 and "3 tests explored: 0 fail" in text, text)
        status, text = explore("--only", "adds|death")
        expect("one without a verdict", status == 2 and "2 tests explored: 0 fail, 1 without a verdict" in text, text)
        status, text = explore("--only", "update|death")
        expect("a failure beside it", status == 1 and "2 tests explored: 1 fail, 1 without a verdict" in text, text)
        status, text = explore("--only", "adds|sizes", "--time-limit", "1.5", "--runs", "100000000")
        took = re.search(r"without a verdict \(([\d.]+) s\)", text)
        expect("the tests share all of the time", status == 0 and took and float(took[1]) >= 1.4, text)
        status, text = explore("--only", "^[^d]", "--time-limit", "0.2", "--runs", "100000000")
        expect("a limit of time is for all", status in (0, 1) and sum(line.startswith("== ") for line in text.splitlines()) == 7, text)
        tiny = os.path.join(scratch, "a.b", "tiny")
        os.mkdir(os.path.dirname(tiny))
        for ending in (".cpp", ""):
            status, text = explore("--only", "loses", "--tiny", tiny + ending)
            for name, path in (("loses_a_decrement", tiny + ending), ("loses_a_dozen", tiny + "_2" + ending)):
                source = read(path)
                expect(f"the tiny program of {name}", f"tiny program: {path}, " in text and f"counter.{name} " in source, text + source)

        for what, more, reason in (("no such test", ["--only", "nobody"], "there is no test"),
                                   ("no expression", ["--only", "("], "takes a regular expression")):
            status, text = explore(*more)
            expect(what, status == 2 and reason in text, text)
    print("\n".join(wrong) if wrong else "--only does what it says")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
