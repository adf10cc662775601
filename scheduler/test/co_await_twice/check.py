#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the lines of a source that are marked `// twice` or `// lost` with those that runq_check_awaits() reports.

    check.py SCRIPT CLANG_QUERY SOURCE -- COMPILER FLAGS…

With `check.py --run SOURCE LIBRARY -- COMPILER FLAGS…`: with what the program does. Each marked line belongs to the last
form that begins at it or before it.
"""

import os
import re
import subprocess
import sys
import tempfile


def marked_in(source):
    with open(source, encoding="utf-8") as file:
        return {n: text.rstrip()[-5:].strip() for n, text in enumerate(file, 1) if re.search(r"// (twice|lost)$", text)}


def reported(script, clang_query, source, command):
    ran = subprocess.run(["sh", script, clang_query, "--only", "--", *command, "-c", source], capture_output=True, text=True)
    found = {}
    for line, text in re.findall(re.escape(source) + r":(\d+):\d+: error: g\+\+ up to 12 (.*)$", ran.stderr, re.M):
        found[int(line)] = "lost" if text.startswith("loses") else "twice"
    if ran.returncode not in (0, 1) or not found or "clang cannot read it" in ran.stderr:
        sys.exit(ran.stdout + ran.stderr)
    return found


def compare(source, marked, found):
    for n in sorted(marked.keys() | found.keys()):
        if marked.get(n) != found.get(n):
            print(f"{source}:{n}: marked {marked.get(n, 'right')}, but {found.get(n, 'right')}")
    print(f"{len(marked)} marked lines, {len(found)} found")
    return 0 if marked and found == marked else 1


def check(script, clang_query, source, command):
    return compare(source, marked_in(source), reported(script, clang_query, source, command))


def run(source, library, command):
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "forms")
        subprocess.run([*command, "-w", source, library, "-pthread", "-o", program], check=True)
        lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    said = {int(line.split()[0]): line.split()[1] for line in lines}
    marked = {max(form for form in said if form <= n): "wrong" for n in marked_in(source)}
    return compare(source, marked, {n: what for n, what in said.items() if what == "wrong"})


def main():
    at = sys.argv.index("--")
    arguments, command = sys.argv[1:at], sys.argv[at + 1:]
    return run(*arguments[1:], command) if arguments[0] == "--run" else check(*arguments, command)


if __name__ == "__main__":
    sys.exit(main())
