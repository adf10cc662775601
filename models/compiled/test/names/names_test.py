#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the checker calls places in memory: those of places.cpp, by the debug information of a compiler, and without it. How
it shows what is written there: values.cpp.

usage: names_test.py RUNQ_CHECK [--compiler NAME] [--flags="FLAGS"]...

With each FLAGS the program is checked once.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

VALUES = os.path.join(os.path.dirname(os.path.realpath(__file__)), "values.cpp")
PROGRAM = os.path.join(os.path.dirname(os.path.realpath(__file__)), "places.cpp")
# Lines are known, and types are not: the checker does not read information that is compressed.
UNREADABLE = "-O1 -gz"
# A function with a large frame moves the stack pointer page by page: where its aligned variables lie is not known.
IN_STEPS = "-O1 -fstack-clash-protection"
ONE_STEP = "in one step: "


def expected_names():
    """Of each line with a case: its number, and the name."""
    cases, allocations = {}, {}
    with open(PROGRAM, encoding="utf-8") as source:
        for number, line in enumerate(source, 1):
            if case := re.search(r"case (\d+):.*// (.*)$", line):
                cases[number] = (int(case[1]), case[2])
            if made := re.search(r"// line: (\w+)", line):
                allocations[made[1]] = str(number)
    return {line: (case, re.sub(r"new@([A-Z_]+)", lambda m: "new@" + allocations[m[1]], name)) for line, (case, name) in cases.items()}


def shown_names(tool, compiler, flags, last):
    command = [tool, "--compiler", compiler, "--nondet", f"0..{last}", "--all-failures", str(last + 2), PROGRAM, "--", *flags.split()]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode != 1:
        sys.exit(f"{' '.join(command)}\n{made.stdout}{made.stderr}")
    shown = {}
    for name, line in re.findall(r" write plain (.*?)  +(?:UNORDERED with \d+)? +places\.cpp:(\d+)", made.stdout):
        shown.setdefault(int(line), set()).add(name)
    return shown


def is_expected(found, name, flags):
    """Whether a place is called so; or else as symbols, and lines of allocations, tell alone."""
    if flags == UNREADABLE:
        return len(found) == 1 and re.fullmatch(r"bits\.\w+|(\w|::|\(\))+|[\w:()]+\+\d+|new@\d+(\+\d+)?|local of T0(\(v\d+\))?", min(found))
    if name.startswith(ONE_STEP):
        name = "local of T0" if flags == IN_STEPS else name[len(ONE_STEP) :]
    pattern = re.escape(name).replace(r"\*", r"\d+")
    return len(found) == 1 and re.fullmatch(pattern, min(found))


def expected_values():
    """Of each line that writes a value: how that is shown."""
    with open(VALUES, encoding="utf-8") as source:
        return {number: shown[1] for number, line in enumerate(source, 1) if (shown := re.search(r"// shown: (.*)$", line))}


def wrong_values(tool, compiler, flags, where):
    """What is shown otherwise, as text or in the file."""
    with tempfile.NamedTemporaryFile() as file:
        command = [tool, "--compiler", compiler, "--json", file.name, VALUES, "--", *flags.split(), f"-D{where}"]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode != 1:
            sys.exit(f"{' '.join(command)}\n{made.stdout}{made.stderr}")
        trace = json.load(file)["searches"][0]["result"]["trace"]
    expected = expected_values()
    in_text = {int(line): value for value, line in re.findall(r" store \S+ ← (\S+) .*?values\.cpp:(\d+)", made.stdout)}
    in_file = {step["line"]: step["value_text"] for step in trace if step["line"] in expected}
    for line, value in expected.items():
        if (in_text.get(line), in_file.get(line)) != (value, value):
            yield f"{flags} {where}: values.cpp:{line}: {in_text.get(line)}, in the file {in_file.get(line)}, not {value}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flags", action="append", required=True)
    arguments = parser.parse_args()
    cases = expected_names()
    wrong = 0
    for flags in arguments.flags:
        shown = shown_names(arguments.tool, arguments.compiler, flags, max(case for case, _ in cases.values()))
        for line, (case, name) in cases.items():
            found = shown.get(line, set())
            if not is_expected(found, name, flags):
                wrong += 1
                print(f"{flags}: places.cpp:{line}: case {case} is called {sorted(found)}, not {name}")
        for where in ("GLOBAL", "LOCAL", "BLOCK", "SHARED") if flags != UNREADABLE else ():
            for text in wrong_values(arguments.tool, arguments.compiler, flags, where):
                wrong += 1
                print(text)
    sys.exit(1 if wrong else 0)


main()
