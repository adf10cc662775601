#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The programs of the textbook as a course (test/programs/textbook): `./kit demo` and the pictures of docs/learn.md.

course.py show --tool TOOL NAME
    Prints what the program is about, then checks each of its twins and prints what the checker says.

course.py pictures --tool TOOL [--write] PAGE.md
    A fenced block of the page whose first line is "text picture FILE FLAGS" shows what the checker prints for that program
    with these flags (those that begin with `--` are the checker's own). Without --write, says which are out of date;
    with it, writes them anew. A step names its line, whose text stands in the program. Addresses and times differ from run to run, and are not compared.
"""
import argparse
import re
import shlex
import subprocess
import sys
from pathlib import Path

TEXTBOOK = Path(__file__).resolve().parent / "test/programs/textbook"
PICTURE = re.compile(r"^(```text picture (\S+) *([^\n]*)\n)(.*?)^```$", re.MULTILINE | re.DOTALL)


def find(name):
    found = [path for path in TEXTBOOK.glob("*/*") if path.stem == name]
    if not found:
        sys.exit(f"the textbook has no {name}")
    return found[0]


def about(source):
    """The comment at the head of a program."""
    lines = []
    for line in source.splitlines()[1:]:
        if not line.startswith("// ") or line.startswith("// check"):
            break
        lines.append(line[3:])
    return "\n".join(lines)


def twins(source):
    """The flags of each run that the program names: the right twin's are first."""
    return [shlex.split(words) for words in re.findall(r"^// check ?(.*?): ", source, re.MULTILINE)]


def arguments(path, words):
    """What runq-check is called with."""
    options = [word for word in words if word.startswith("--")]
    flags = [word for word in words if not word.startswith("--")]
    return [*options, str(path), *(["--", *flags] if flags else [])]


def check(tool, path, words):
    # Always g++, whatever CXX says: the pictures show what g++ compiles.
    command = [tool, "--compiler", "g++", *arguments(path, words)]
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
    if ran.returncode not in (0, 1):
        sys.exit(f"{shlex.join(command)}:\n{ran.stdout}{ran.stderr}")
    return "".join(line.rstrip() + "\n" for line in ran.stdout.splitlines())


def show(options):
    path = find(options.name)
    source = path.read_text(encoding="utf-8")
    print(about(source), flush=True)
    for words in twins(source):
        shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
        print(f"\n$ ./kit check {shlex.join(arguments(shown, words))}", flush=True)
        print(check(options.tool, path, words), end="", flush=True)


def comparable(text):
    """Without what differs from run to run: each address becomes the number of its first appearance."""
    seen = {}
    text = re.sub(r"…[0-9a-f]{6,15}\b", lambda m: f"address {seen.setdefault(m[0], len(seen))}", text)
    text = re.sub(r"\d+\.\d+ s\)", "s)", text)
    return re.sub(r"[ \t]+", " ", text)


def without_source(text):
    """Each step names its line; the text of the line is in the program."""
    return "".join(re.sub(r"(\s[\w.]+\.c(?:pp)?:\d+)  \S.*$", r"\1", line) + "\n" for line in text.splitlines())


def pictures(options):
    page = options.page.read_text(encoding="utf-8")
    wrong = []

    def renew(m):
        drawn = without_source(check(options.tool, TEXTBOOK / m[2], shlex.split(m[3])))
        if comparable(drawn) == comparable(m[4]):
            return m[0]
        wrong.append(f"{options.page}: {m[2]} {m[3]}: the checker prints\n{drawn}")
        return f"{m[1]}{drawn}```"

    renewed = PICTURE.sub(renew, page)
    number = len(PICTURE.findall(page))
    if number == 0:
        sys.exit(f"{options.page}: has no pictures")
    if options.write:
        options.page.write_text(renewed, encoding="utf-8")
        print(f"{options.page}: {number} pictures, {len(wrong)} drawn anew")
    else:
        print("\n".join(wrong) + f"{options.page}: {number} pictures, {len(wrong)} out of date" +
              ("; `./kit demo --write-docs` draws them anew" if wrong else ""))
        sys.exit(1 if wrong else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("show")
    one.add_argument("name")
    one.set_defaults(run=show)
    all_of_a_page = commands.add_parser("pictures")
    all_of_a_page.add_argument("--write", action="store_true")
    all_of_a_page.add_argument("page", type=Path)
    all_of_a_page.set_defaults(run=pictures)
    for command in (one, all_of_a_page):
        command.add_argument("--tool", required=True)
    options = parser.parse_args()
    options.run(options)


main()
