#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the strategy `points` is for, it finds in as many runs as do not suffice for `pct`. A thread that ticks hides no deadlock.
`--timeouts fail` finds a lost wake-up that a limit of time heals; without that option nothing fails."""
import argparse
import os
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.realpath(__file__))
RUNS = "50"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    options = parser.parse_args()
    wrong, strong = [], ("--memory", "strong")

    def expect(expected, program, flags, *words):
        of_compiler = [word for flag in flags.split() for word in ("--flag", flag)]
        with tempfile.TemporaryDirectory() as scratch:
            done = subprocess.run([options.tool, "--runs", RUNS, *words, *of_compiler, os.path.join(here, "programs", program)],
                                  text=True, capture_output=True, env={**os.environ, "TMPDIR": scratch})
        text = done.stdout + done.stderr
        if done.returncode != (0 if expected == "none fails" else 1) or expected not in text.splitlines()[0]:
            wrong.append(f"{program} {flags} {' '.join(words)}: expected {expected}, not\n{text}")

    expect("assertion n.load(relaxed) == 2 fails", "rare_window.cpp", "-DWRONG", *strong, "--strategy", "points")
    expect("none fails", "rare_window.cpp", "-DWRONG", *strong, "--strategy", "pct")
    expect("none fails", "rare_window.cpp", "-DRIGHT", *strong, "--strategy", "points")
    expect("for 100 s only limits of time let threads go on", "ticks.cpp", "-DTICKS=20000 -DMILLISECONDS=10")
    healed = "no thread could go on, until the wait of T1 ended by its limit of time: then it woke T0"
    expect(healed, "healed.cpp", "-DWAY=1", "--timeouts", "fail")
    expect("none fails", "healed.cpp", "-DWAY=1")
    expect("none fails", "healed.cpp", "-DWAY=2", "--timeouts", "fail")
    print("\n".join(wrong) if wrong else "the strategies find what they are for")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
