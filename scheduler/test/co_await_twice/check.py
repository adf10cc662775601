#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs clang-query over a source and compares the lines that it reports with those marked `// twice`.

    check.py CLANG_QUERY QUERY SOURCE -- COMPILER_FLAGS…
"""

import re
import subprocess
import sys


def main() -> int:
    clang_query, query, source = sys.argv[1:4]
    flags = sys.argv[5:]
    ran = subprocess.run([clang_query, "-f", query, source, "--", *flags], capture_output=True, text=True)
    output = ran.stdout + ran.stderr
    if ran.returncode != 0 or "error:" in output:
        print(output)
        return 1
    found = {int(n) for n in re.findall(re.escape(source) + r':(\d+):\d+: note: "twice" binds here', output)}
    with open(source, encoding="utf-8") as file:
        marked = {n for n, line in enumerate(file, 1) if line.rstrip().endswith("// twice")}
    for n in sorted(marked - found):
        print(f"{source}:{n}: not found")
    for n in sorted(found - marked):
        print(f"{source}:{n}: found, but right")
    print(f"{len(marked & found)} of {len(marked)} found")
    return 0 if marked and found == marked else 1


if __name__ == "__main__":
    sys.exit(main())
