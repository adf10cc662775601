#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names the cases of models/cases and what each shows, as the runner's --list does, from their sources: nothing is built.

list_cases.py --cases DIR [--case GLOB]
list_cases.py --cases DIR --runner FILE    fails unless the runner says the same, in any order
"""
import argparse
import fnmatch
import re
import subprocess
import sys
from pathlib import Path

TEXT = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'


def literal(text):
    """The value of string literals that stand side by side."""
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text)).replace('\\"', '"').replace("\\\\", "\\")


def cases(folder):
    """(name, property, kept_for) of every case, in the order of their names."""
    found = []
    for source in folder.rglob("*.[ch]pp"):
        text = re.sub(r"^\s*//.*$", "", source.read_text(encoding="utf-8"), flags=re.M)
        starts = [m.start() for m in re.finditer(r'\.name = "', text)]
        for begin, end in zip(starts, [*starts[1:], len(text)]):
            spec = text[begin:end]
            name = literal(re.match(r"\.name = " + TEXT, spec)[1])
            shows = re.search(r"\.property =\s*" + TEXT, spec)
            named = re.search(r"\.property =\s*(\w+)", spec)
            if named:  # a constant of this source or of one beside it
                shows = next((m for file in (source, *sorted(source.parent.glob("*.[ch]pp")))
                              if (m := re.search(rf"\b{named[1]} =\s*" + TEXT, file.read_text(encoding="utf-8")))), None)
            kept = re.search(r"\.kept_for =\s*" + TEXT, spec)
            found.append((name, literal(shows[1]) if shows else "", literal(kept[1]) if kept else ""))
    return sorted(found)


def lines(found):
    for name, shows, kept in found:
        yield f"{name:<40} {shows}"
        if kept:
            yield f"{'':<40} (kept for: {kept})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=Path, required=True)
    parser.add_argument("--case", default="*")
    parser.add_argument("--runner", type=Path)
    options = parser.parse_args()
    mine = list(lines(entry for entry in cases(options.cases) if fnmatch.fnmatchcase(entry[0], options.case)))
    if options.runner is None:
        if not mine:
            print(f"verify: no case matches '{options.case}'; ./kit verify --list names all", file=sys.stderr)
            return 2
        print("\n".join(mine))
        return 0
    said = subprocess.run([options.runner, "--list"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    wrong = sorted(set(mine) ^ set(said))
    print("\n".join(wrong) if wrong else f"{len(mine)} lines, as the runner's")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
