#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a program compiles that includes a header of the scheduler.

header_size.py COMPILER HEADER MOST_HEADERS MOST_LINES INCLUDE_DIR ...
    fails if <runq/HEADER> brings more than so many headers of this project, itself included, or if they have more
    lines than that.
header_size.py COMPILER --complete INCLUDE_DIR ...
    fails if a header in runq/ of the last folder needs one of this project that is in none of the folders. A header that
    needs another library which is not installed is left out.
"""
import pathlib
import re
import subprocess
import sys


def brought_by(compiler, header, dirs):
    """The headers of this project that <runq/header> brings, or None if it needs another library."""
    command = [compiler, "-std=c++20", "-M", "-x", "c++", "-", *(f"-I{d}" for d in dirs)]
    found = subprocess.run(command, input=f"#include <runq/{header}>\n", capture_output=True, text=True)
    if found.returncode != 0:
        missing = "No such file|file not found"
        if re.search(f"{missing}|#error", found.stderr) and not re.search(rf"\brunq/\S+ ({missing})", found.stderr):
            return None
        sys.exit(found.stderr)
    ours = [pathlib.Path(word) for word in found.stdout.replace("\\\n", " ").split()]
    return sorted({p for p in ours if any(p.is_relative_to(d) for d in dirs)})


def check_size(compiler, header, most_headers, most_lines, dirs):
    brought = brought_by(compiler, header, dirs)
    if not brought:
        sys.exit(f"<runq/{header}> brings no header of {', '.join(dirs)}")
    lines = {p: len(p.read_text().splitlines()) for p in brought}
    for path, n in lines.items():
        print(f"{n:6} {path}")
    print(f"<runq/{header}> brings {len(lines)} headers, {sum(lines.values())} lines")
    if len(lines) > most_headers or sum(lines.values()) > most_lines:
        sys.exit(f"more than {most_headers} headers or {most_lines} lines: users compile them in every source")


def check_complete(compiler, dirs):
    headers = sorted(pathlib.Path(dirs[-1], "runq").glob("*.hpp"))
    checked = [path.name for path in headers if brought_by(compiler, path.name, dirs) is not None]
    print(f"{len(checked)} headers checked")
    if not checked:
        sys.exit("nothing was checked")


def main():
    compiler, *rest = sys.argv[1:]
    if rest[0] == "--complete":
        check_complete(compiler, rest[1:])
    else:
        check_size(compiler, rest[0], int(rest[1]), int(rest[2]), rest[3:])


main()
