#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of soak.py.

  soak_test.py PROGRAM            it stops when it is told to, and says so when a program dies or hangs
  soak_test.py --mutant PROGRAM   it prints what a program with a seeded bug says, and a command that shows it again
"""
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

SOAK = pathlib.Path(__file__).with_name("soak.py")


def start(*words):
    return subprocess.Popen([sys.executable, SOAK, "--every", "0.3", *words], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def line_like(process, text):
    """Reads what the process prints, as far as a line with this text; returns what was read."""
    output = ""
    for line in process.stdout:
        output += line
        if re.search(text, line):
            return output
    sys.exit(f"it does not say: {text}\n{output}")


def expect(process, status, *texts, said=""):
    output = said + process.communicate(timeout=240)[0]
    print(output)
    if process.returncode != status:
        sys.exit(f"exit status {process.returncode}, not {status}")
    for text in texts:
        if not re.search(text, output, re.M):
            sys.exit(f"it does not say: {text}")
    return output


STOPS = r"^soak: stops after"


def stops(program):
    expect(start("--minutes", "0.02", program), 0, r"^soak: nothing failed  0:00:\d\d  \d+ rounds  [1-9]\d* laws run")
    process = start("--cases", "20", program)
    said = line_like(process, r"^0:00:\d\d  .*seed \d+$")
    process.send_signal(signal.SIGINT)
    expect(process, 0, STOPS, r"^soak: nothing failed", said=said)


def stops_in_the_middle_of_a_law(folder):
    program = fake(folder, "endless", "exec sleep 600")
    process = start(program)
    said = ""
    for before in r"seed \d+$", STOPS:
        said += line_like(process, before)
        process.send_signal(signal.SIGINT)
    expect(process, 0, r"^soak: nothing failed  .*  1 laws run", said=said)


def a_late_signal_does_not_change_the_status(folder):
    for _ in range(5):
        process = start("--minutes", "0.001", fake(folder, "short", "exit 0"))
        said = line_like(process, r"^soak: nothing failed")
        process.send_signal(signal.SIGINT)
        expect(process, 0, said=said)


def fake(folder, name, ending):
    """A program of two laws: the first one passes, and then comes the ending."""
    program = folder / name
    program.write_text("#!/bin/sh\n[ \"$1\" = --list ] && { echo first; echo second; exit; }\n"
                       "echo \"fake: seed 1, up to 20 cases per law\"\n"
                       f"echo 'PASS  fake/first  20 cases  99 calls  seed 1  0.01 s'\n{ending}\n")
    program.chmod(0o755)
    return program


def says(folder):
    for name, ending, texts in (
            ("dies", "echo 'runq: ring: a contract'; kill -ABRT $$", [r"^runq: ring: a contract$", "signal 6"]),
            ("exits", "exit 3", []),
            ("hangs", "exec sleep 60", ["said nothing for 1 s"])):
        expect(start("--stuck", "1", fake(folder, name, ending)), 1, *texts,
               r"^soak: to run it again: RC_PARAMS=seed=\d+ .* --only second$",
               r"^soak: failed after .*  1 laws run  20 cases  99 calls$")


def repro(text):
    return re.search(r"^-----+\nTEST\(.*?^-----+$", text, re.M | re.S)[0]


def finds(program):
    output = expect(start(program), 1, r"^FAIL  ring/", r"^soak: failed after 0:")
    again = re.search(r"^soak: to run it again: (.*)$", output, re.M)[1]
    second = subprocess.run(again, shell=True, capture_output=True, text=True)
    if second.returncode != 1 or repro(second.stdout) != repro(output):
        sys.exit(f"'{again}' does not show the same failure:\n{second.stdout}")


if sys.argv[1] == "--mutant":
    finds(sys.argv[2])
else:
    stops(sys.argv[1])
    with tempfile.TemporaryDirectory() as temporary:
        stops_in_the_middle_of_a_law(pathlib.Path(temporary))
        a_late_signal_does_not_change_the_status(pathlib.Path(temporary))
        says(pathlib.Path(temporary))
