#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The options of ./kit verify and ./kit check: docs/options.md is made of their tables, and nothing else says which there are.

usage: options.py --root DIR --write    writes docs/options.md
       options.py --root DIR --check    the page, and what ./kit help lists, are those of the tables
       options.py --root DIR --parsers RUNQ_VERIFY RUNQ_CHECK
                                        the help of both programs, and what they and a checked program read, too
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import typing

TABLES = {"verify": "models/verify/options_table.hpp", "check": "models/compiled/options_table.hpp"}
PAGE = "docs/options.md"


class Option(typing.NamedTuple):
    kind: str  # "", "KIT", "TOOL", …
    name: str
    takes: str
    needs: str  # of `verify`: the function of kit
    read: str
    help: str


def options_in(file):
    rows = []
    for line in file.read_text().splitlines():
        if line.startswith("//") or not line:
            continue
        found = re.fullmatch(r'(?:([A-Z]+)_)?OPTION\("(--[a-z-]+)", "([^"]*)", "([^"]*)", ([^"]*), "([^"]+)"\)', line)
        if not found:
            sys.exit(f"{file}: this is no option: {line}")
        rows.append(Option(found[1] or "", *found.groups()[1:]))
    names = [row.name for row in rows]
    twice = {name for name in names if names.count(name) != 1}
    if twice:
        sys.exit(f"{file}: there twice: {', '.join(sorted(twice))}")
    return rows


def shown(rows):
    return [row for row in rows if row.kind != "INTERNAL"]


def in_cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("__", "\\_\\_")


def page(tables):
    text = ["# The options of `verify` and `check`", "",
            "Both programs read them from a table, from which this page and `./kit help` are made: a new option is a line there."]
    for command, rows in tables.items():
        text += ["", f"## ./kit {command}", "", f"The table: [`{TABLES[command]}`](../{TABLES[command]}).", "",
                 "| option | |", "|---|---|"]
        for row in shown(rows):
            name = f"{row.name} {row.takes}".rstrip().replace("|", "\\|")
            text.append(f"| `{name}` | {in_cell(row.help)} |")
    return "\n".join(text) + "\n"


def output_of(*command, **more):
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, timeout=60, **more)
    return done.stdout


def squeezed(text):
    return " ".join(text.split())


def faults_of_help(who, text, rows):
    """Of a help text: options that are missing, and options that are only for programs."""
    text = squeezed(text)
    for row in rows:
        entry = f"{row.name} {row.takes}".rstrip()
        if row.kind == "INTERNAL":
            if re.search(rf" {row.name}(?![\w-])", text):
                yield f"{who} lists {row.name}, which is internal"
        elif row.name != "--help" and f" {entry} {squeezed(row.help)}" not in f" {text}":
            yield f"{who} does not list {entry!r}: {row.help}"


def check(root, tables):
    if (root / PAGE).read_text() != page(tables):
        yield f"{PAGE} is not that of the tables: python3 docs/check/options.py --root . --write"
    sections = re.split(r"^  \./kit ", output_of("bash", root / "kit", "help"), flags=re.M)
    for command, rows in tables.items():
        section = next(text for text in sections if text.startswith(command))
        yield from faults_of_help(f"./kit help, {command},", section, rows)
    kit = (root / "kit").read_text()
    for row in tables["verify"]:
        if row.kind == "KIT" and f"\n{row.needs}() {{" not in kit:
            yield f"kit has no function {row.needs}, which makes {row.name}"


def check_parsers(root, tables, runner, command):
    of_runner = [row for row in tables["verify"] if row.kind != "KIT"]
    yield from faults_of_help(runner, output_of(runner, "--help"), of_runner)
    yield from faults_of_help(command, output_of(command, "--help"), tables["check"])
    for row in of_runner:
        said = output_of(runner, row.name) if row.takes else ""
        if row.takes and "required" not in said:
            yield f"{runner} does not read {row.name}: {said}"
    with tempfile.TemporaryDirectory() as folder:
        program, source = pathlib.Path(folder, "program"), pathlib.Path(folder, "empty.cpp")
        source.write_text("int main() {}\n")
        said = output_of(command, "--compile-only", program, source)
        if not program.exists():
            yield f"{command} does not compile {source.read_text()}: {said}"
            return
        for row in tables["check"]:
            needs = f"{row.name} needs {row.needs}" if row.takes else ""
            by_command = output_of(command, row.name) if row.name != "--help" else ""
            if row.kind == "INTERNAL":
                if f"there is no option {row.name}" not in by_command:
                    yield f"{command} reads {row.name}, which is internal: {by_command}"
            elif needs not in by_command or "there is no option" in by_command:
                yield f"{command} does not read {row.name}: {by_command}"
            if row.kind != "TOOL":
                by_program = output_of(program, env={**os.environ, "RUNQ_CHECK": row.name, "LD_BIND_NOW": "1"})
                if needs not in by_program or "there is no option" in by_program:
                    yield f"a checked program does not read {row.name}: {by_program}"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--root", type=pathlib.Path, required=True)
    options.add_argument("--write", action="store_true")
    options.add_argument("--check", action="store_true")
    options.add_argument("--parsers", nargs=2, metavar=("RUNQ_VERIFY", "RUNQ_CHECK"))
    o = options.parse_args()
    tables = {command: options_in(o.root / file) for command, file in TABLES.items()}
    if o.write:
        (o.root / PAGE).write_text(page(tables))
    faults = [*(check(o.root, tables) if o.check else ()), *(check_parsers(o.root, tables, *o.parsers) if o.parsers else ())]
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


main()
