#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the pages for people who change the code.

contributing.py contributing --root ROOT   docs/CONTRIBUTING.md has at most 60 lines of prose, of at most 140 columns
contributing.py readme --root ROOT         README.md has at most 120 lines
contributing.py pages --root ROOT          docs/ has at most 350 KiB
contributing.py glossary --root ROOT       each row of docs/glossary.md names a file that exists, and which has the names of the row's word
contributing.py abandoned --root ROOT      no file has a name that tools/docs/abandoned.md lists
"""
import argparse
import re
import sys
from pathlib import Path

MOST_LINES, MOST_COLUMNS, MOST_LINES_OF_README, MOST_KIB_OF_DOCS = 60, 140, 120, 350
FOLDERS = ("deque", "scheduler", "models")


def prose(text):
    """(number, line) of what is no heading, no row of a table and no code."""
    text = re.sub(r"^( *)```.*?^\1```", lambda code: "\n" * code[0].count("\n"), text, flags=re.M | re.S)
    return [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip() and not line.lstrip().startswith(("#", "|"))]


def contributing_problems(text):
    lines = prose(text)
    if len(lines) > MOST_LINES:
        yield f"{len(lines)} lines of prose, more than {MOST_LINES}"
    for number, line in lines:
        if len(line) > MOST_COLUMNS:
            yield f"line {number} has {len(line)} columns, more than {MOST_COLUMNS}"


def readme_problems(text):
    lines = text.count("\n")
    if lines > MOST_LINES_OF_README:
        yield f"{lines} lines, more than {MOST_LINES_OF_README}: a page of docs/ says the rest"


def pages_problems(root):
    sizes = {path: path.stat().st_size for path in (root / "docs").rglob("*") if path.is_file()}
    if sum(sizes.values()) > MOST_KIB_OF_DOCS * 1024:
        largest = ", ".join(f"{path.name} {size // 1024}" for path, size in sorted(sizes.items(), key=lambda entry: -entry[1])[:3])
        yield f"docs/ has {sum(sizes.values()) / 1024:.0f} KiB, more than {MOST_KIB_OF_DOCS}; the largest: {largest}"


def glossary_rows(text):
    """(line, names of the code, file) of every row."""
    for number, line in enumerate(text.splitlines(), 1):
        cells = line.strip("|").split(" | ")
        if line.startswith("| ") and cells[0].strip() != "word":
            if len(cells) != 3 or not re.fullmatch(r"`[^`]+`", cells[2].strip()):
                yield number, [], ""
            else:
                yield number, re.findall(r"`([^`]+)`", cells[0]), cells[2].strip().strip("`")


def glossary_problems(text, root):
    files = [path for folder in FOLDERS for path in (root / folder).rglob("*") if path.is_file()]
    rows = list(glossary_rows(text))
    if not rows:
        yield "no row was found"
    for number, names, where in rows:
        found = [path for path in files if where and path.as_posix().endswith("/" + where)]
        if not found:
            yield f"line {number}: {f'there is no file {where}' if where else 'a row is | word | what it is | `file` |'}"
        for name in names:
            if found and not any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", path.read_text()) for path in found):
                yield f"line {number}: {where} has no {name}"


def abandoned_names(text):
    """{abandoned name: the folder or file where it must not come back} of every row: | names | the name now | where |."""
    names = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and cells[0] != "abandoned":
            if len(cells) != 3 or not re.fullmatch(r"`[^`]+`(, `[^`]+`)*", cells[2]):
                raise SystemExit(f"tools/docs/abandoned.md: an abandoned name is | `name` | the name now | `folder` |: {line}")
            names.update(dict.fromkeys(re.findall(r"`([^`]+)`", cells[0]), re.findall(r"`([^`]+)`", cells[2])))
    return names


def abandoned_problems(text, root):
    names = abandoned_names(text)
    if not names:
        yield "no abandoned name was found"
    for name, folders in names.items():
        word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        for folder in folders:
            top = root / folder
            files = [path for path in sorted(top.rglob("*")) if path.is_file()] if top.is_dir() else [top]
            if not top.exists():
                yield f"{name}: there is no {folder}"
            for path in files if top.exists() else []:
                if word.search(path.name):
                    yield f"{path.relative_to(root)} is named by an abandoned name: {name}"
                for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                    if word.search(line):
                        yield f"{path.relative_to(root)}:{number}: an abandoned name: {name}"


PROBLEMS = {
    "contributing": lambda text, root: contributing_problems(text),
    "readme": lambda text, root: readme_problems(text),
    "pages": lambda text, root: pages_problems(root),
    "glossary": glossary_problems,
    "abandoned": abandoned_problems,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=list(PROBLEMS))
    parser.add_argument("--root", type=Path, required=True)
    arguments = parser.parse_args()
    page = {"contributing": "docs/CONTRIBUTING.md", "readme": "README.md", "pages": "docs/index.md", "abandoned": "tools/docs/abandoned.md"}.get(arguments.what, "docs/glossary.md")
    text = (arguments.root / page).read_text()
    problems = list(PROBLEMS[arguments.what](text, arguments.root.resolve()))
    for problem in problems:
        print(f"{page}: {problem}")
    print(f"{page}: {len(prose(text))} lines of prose, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
