#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Explores the generated programs of models/selftest/oracle: what is seen is what the enumerator allows.

`--most N` takes at most so many programs of each family, evenly from all of it; `--all` takes all of them, some 230,000. Of the
programs in which no execution fails, no run may fail or have an outcome that the enumerator does not have. Of the others, a run
that fails must do so in a way that the enumerator has."""
import argparse
import os
import re
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.realpath(__file__))
compiled = os.path.join(here, "..", "..", "compiled", "test")
# A race between a use and the release of the memory is the one or the other, by which of them comes first.
ALSO = {"use after free": ["data race"], "data race": ["use after free"], "double free": ["data race", "use after free"],
        "unpublished allocation": ["data race"]}
NO_SUCH_PROGRAM = 3


def compile_part(options, part, parts, scratch):
    source = os.path.join(scratch, "programs.cpp")
    with open(source, "w") as file:
        subprocess.run([options.write, str(options.most), str(part), str(parts)], check=True, stdout=file)
    words = ["-g0", "-I" + os.path.join(compiled, "oracle"), "-I" + os.path.join(compiled, "random"), '-DRUNQ_LEVEL="-O1"',
             "-Wno-invalid-memory-model"]
    program = os.path.join(scratch, "program")
    sources = [source] + [os.path.join(compiled, "oracle", name) for name in ("execute.cpp", "explored.cpp")]
    subprocess.run([options.tool, "--compile-only", program, *[w for word in words for w in ("--flag", word)], *sources,
                    *options.objects], check=True)
    return program


def explore(options, program, runs, *arguments):
    done = subprocess.run([options.tool, "--program", program, "--runs", str(runs), "--", *arguments], text=True,
                          capture_output=True)
    return done.returncode, done.stdout + done.stderr


def explore_right(options, program, scratch):
    """How many programs, outcomes that they allow, and outcomes seen."""
    file_name = os.path.join(scratch, "seen")
    status, text = explore(options, program, options.runs, "right", file_name)
    if status:
        sys.exit(f"wrong:\n{text}")
    with open(file_name) as file:
        seen = set(file.read().splitlines())
    os.remove(file_name)
    allowed = {number: int(place.split("/")[1]) for number, place in (line.split() for line in seen)}
    return len(allowed), sum(allowed.values()), len(seen)


def explore_wrong(options, program):
    """How many programs, and how many of them fail."""
    count = failing = 0
    while True:
        number = count * options.every_wrong
        status, text = explore(options, program, options.runs_of_wrong, "wrong", str(number))
        if f"status {NO_SUCH_PROGRAM}" in text:
            break
        count += 1
        if status == 0:
            continue
        failing += 1
        expected = re.search(r"^fails by: (.*)", text, re.M)
        allowed = [k for kind in expected[1].split(";") if kind for k in [kind] + ALSO.get(kind, [])] if expected else []
        found = re.match(r"FAIL ([^:]*):", text)
        if not found or found[1] not in allowed:
            sys.exit(f"wrong: none of {allowed}:\n{text}")
    return count, failing


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--write", required=True, help="writes the programs: runq_write_oracle")
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--runs-of-wrong", type=int, default=50)
    parser.add_argument("--most", type=int, default=40)
    parser.add_argument("--every-wrong", type=int, default=1, help="of the programs in which some execution fails each N-th")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("objects", nargs="+", help="what of the programs is not instrumented")
    options = parser.parse_args()
    parts = 1
    if options.all:
        options.most, parts = 10**9, 1000
    totals = [0] * 5
    for part in range(parts):
        with tempfile.TemporaryDirectory() as scratch:
            program = compile_part(options, part, parts, scratch)
            found = explore_right(options, program, scratch) + explore_wrong(options, program)
        totals = [a + b for a, b in zip(totals, found)]
    right, allowed, seen, wrong, failing = totals
    print(f"{right} programs in which nothing fails: {seen} of {allowed} allowed outcomes seen, and no other one")
    print(f"{wrong} programs in which something fails: {failing} do, as the enumerator says")
    return 0 if right and failing else 1


if __name__ == "__main__":
    sys.exit(main())
