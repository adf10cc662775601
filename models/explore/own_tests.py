#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Explores a program of the project's own tests: each test of GoogleTest by itself, or, with words for it, the program as a whole.

The tests that cannot be explored stand in not_explored.txt, beside this file, by name or by a pattern, with the reason; each one is
named when it is met. A test fails if a run of it does, or if it has no verdict and is not listed; or if its name is listed as not
supported, and it is not refused so. A pattern only says what may be refused.

  own_tests.py --summary FOLDER    what the files there say, which --log has written: what was explored, and what was not, and why"""
import argparse
import collections
import fnmatch
import glob
import os
import re
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.realpath(__file__))
REFUSED = "not supported"
# A minute or an hour is as long as for ever in our tests.
PATIENCE = ["--patience", "60"]
SKIPPED = "not explored: the test skips itself: "
ONE_THREAD = "; one thread"


def listed(file_name):
    """Patterns of names, and why these tests are not explored; there may be several reasons for one pattern."""
    with open(file_name) as file:
        lines = [line.rstrip("\n").split(": ", 1) for line in file if not line.startswith("#")]
    return [(pattern, reason) for pattern, reason in lines]


def sections(command):
    """Of what the tool prints: the name of each test, and the text below it, as soon as it is complete."""
    name, text = None, ""
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        for line in process.stdout:
            is_head = line.startswith("== ")
            if (is_head or " tests explored: " in line) and name:
                yield name, text
                name = None
            if is_head:
                name, text = line[3:].strip(), ""
            else:
                text += line
    if name or process.returncode not in (0, 1, 2) or " tests explored: " not in text:
        yield name or "the program", f"{text}ended with status {process.returncode}\n"


def judge(name, text, reasons):
    """Whether the result is as it has to be, and a line that says so."""
    for pattern, reason in reasons:
        if fnmatch.fnmatchcase(name, pattern) and text.startswith(f"runq-explore: {reason}"):
            return True, f"not explored: {name}: {reason}"
    if text.startswith(SKIPPED):
        return True, f"not explored: {name}: it skips itself: {text.removeprefix(SKIPPED)}"
    for pattern, reason in reasons:
        if name == pattern:
            return False, f"{name}: not_explored.txt says {reason}, but:\n{text}"
    head, *more = text.splitlines() or [""]
    if "up to 1 threads" in text:
        head += ONE_THREAD
    return text.startswith("explored: "), "\n".join((f"{name}: {head}", *more))


def limits(options):
    return ["--time-limit", options.seconds, "--runs", "1000000000", "--seed", options.seed, *PATIENCE]


def explore_tests(options, program, reasons, say):
    # What would take too long is not begun; what is refused by name is asked, because that may change.
    left_out = [fnmatch.translate(p).removeprefix("(?s:").removesuffix(r")\Z") for p, r in reasons
                if not r.startswith(REFUSED)]
    only = "^(?!(" + "|".join(left_out) + ")$)" if left_out else "."
    count = wrong = 0
    command = [options.tool, "--program", program, *limits(options), "--only", only]
    for name, text in sections(command):
        is_right, line = judge(name, text, reasons)
        say(line.splitlines()[0] if is_right else f"WRONG {line}")
        count += 1
        wrong += not is_right
    print(f"{count} tests, {wrong} wrong")
    return 0 if count and not wrong else 1


def explore_whole(options, program, say):
    done = subprocess.run([options.tool, "--program", program, *limits(options), "--", *options.words], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    name = f"{os.path.basename(program)} {' '.join(options.words)}"
    say(f"{name}: {done.stdout.splitlines()[0]}" if done.returncode == 0 else f"WRONG {name}: {done.stdout}")
    return done.returncode


def summary(folder, not_begun):
    explored, alone, runs, wrong, reasons = 0, 0, 0, [], collections.defaultdict(list)
    for name, reason in not_begun:
        reasons[reason].append(name)
    files = glob.glob(os.path.join(folder, "*.txt"))
    for file_name in files:
        with open(file_name) as file:
            for line in file:
                if left_out := re.match(r"not explored: ([^:]*): (.*)", line):
                    reasons[left_out[2]].append(left_out[1])
                elif line.startswith("WRONG "):
                    wrong.append(line.strip())
                elif found := re.search(r": explored: ([\d,]+) runs?, and none fails", line):
                    explored += 1
                    alone += line.rstrip().endswith(ONE_THREAD)
                    runs += int(found[1].replace(",", ""))
    print(f"explored: {explored} tests of {len(files)} programs in {runs:,} runs, and none fails; {len(wrong)} others are wrong")
    print(f"of these {alone} have one thread: nothing to explore but which memory is used again")
    for reason, names in sorted(reasons.items()):
        print(f"not explored, because {reason}: {', '.join(sorted(names))}")
    print("\n".join(wrong), end="\n" if wrong else "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool")
    parser.add_argument("--summary", metavar="FOLDER")
    parser.add_argument("--log", metavar="FILE", help="write there, too, what is printed about each test")
    parser.add_argument("--seconds", default="10", help="how long: of each test an equal share, and at least two runs")
    parser.add_argument("--seed", default="1", help="of the first run")
    parser.add_argument("--not-explored", default=os.path.join(here, "not_explored.txt"))
    parser.add_argument("--source", action="append", default=[], help="in place of PROGRAM: compile this, with GoogleTest")
    parser.add_argument("--include", default=".", help="where headers of the sources are")
    parser.add_argument("program", nargs="?")
    parser.add_argument("words", nargs=argparse.REMAINDER, help="explore it as a whole, with these words")
    options = parser.parse_args()
    if options.summary:
        return summary(options.summary, [(p, r) for p, r in listed(options.not_explored) if not r.startswith(REFUSED)])
    log = open(options.log, "w") if options.log else open(os.devnull, "w")

    def say(text):
        print(text, flush=True)
        print(text, file=log, flush=True)

    with log, tempfile.TemporaryDirectory() as scratch:
        program = options.program
        if options.source:
            program = os.path.join(scratch, "program")
            flags = [word for flag in ("-I" + options.include, "-O0", "-lgmock", "-lgtest", "-lgtest_main") for word in ("--flag", flag)]
            subprocess.run([options.tool, "--compile-only", program, *flags, *options.source], check=True)
        if not options.words:
            return explore_tests(options, program, listed(options.not_explored), say)
        return explore_whole(options, program, say)


if __name__ == "__main__":
    sys.exit(main())
