#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The options of ./kit: evidence/options.md is made of their tables, and nothing else says which there are.

usage: options.py --root DIR --write    writes evidence/options.md
       options.py --root DIR --check    the page, and what ./kit help lists, are those of the tables
       options.py --root DIR --kit      kit reads each option of its own table, and refuses others
       options.py --root DIR --parsers RUNQ_VERIFY RUNQ_CHECK
                                        the help of both programs, and what they and a checked program read, too
       options.py --root DIR --explore RUNQ_EXPLORE
                                        its help, and what it reads
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import typing

KIT_TABLE = "kit.options"
PAGE = "evidence/options.md"


class Option(typing.NamedTuple):
    kind: str  # "", "KIT", "TOOL", …
    name: str
    takes: str
    needs: str  # of `verify`: the function of kit
    read: str
    help: str


class Command(typing.NamedTuple):
    takes: str
    table: str  # the file of its options
    help: str
    options: list[Option]


ROW = re.compile(r'([A-Z_]+)\("([a-z-]+)", "([^"]*)", "([^"]*)", (.*), "([^"]+)"\)')


def rows_of(file):
    for line in file.read_text().splitlines():
        if line.startswith("//") or not line:
            continue
        row = ROW.fullmatch(line)
        if not row:
            sys.exit(f"{file}: this is no row: {line}")
        yield row.groups()


def option_in(file, row):
    kind, *rest = row
    found = re.fullmatch(r"(?:([A-Z]+)_)?OPTION", kind)
    if not found or not rest[0].startswith("--"):
        sys.exit(f"{file}: this is no option: {kind} {rest[0]}")
    return Option(found[1] or "", *rest)


def commands_in(root):
    """By name, with their options, in the order of kit's table."""
    commands = {}
    for row in rows_of(root / KIT_TABLE):
        if row[0] == "COMMAND":
            _, name, takes, table, _, text = row
            options = [option_in(root / table, row) for row in rows_of(root / table)] if table else []
            commands[name] = Command(takes, table or KIT_TABLE, text, options)
        else:
            commands[list(commands)[-1]].options.append(option_in(root / KIT_TABLE, row))
    for name, command in commands.items():
        names = [row.name for row in command.options]
        twice = {option for option in names if names.count(option) != 1}
        if twice:
            sys.exit(f"{command.table}, {name}: there twice: {', '.join(sorted(twice))}")
    return commands


def shown(rows):
    return [row for row in rows if row.kind != "INTERNAL"]


def in_cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("__", "\\_\\_")


def page(commands):
    text = ["# The options of `./kit`", "",
            "Each command reads them from a table, from which this page and `./kit help` are made: a new option is a line there.",
            "`./kit COMMAND --help` prints those of one command."]
    for name, command in commands.items():
        if not command.options:
            continue
        text += ["", f"## ./kit {name}", "", f"The table: [`{command.table}`](../{command.table}).", "", "| option | |", "|---|---|"]
        for row in shown(command.options):
            entry = f"{row.name} {row.takes}".rstrip().replace("|", "\\|")
            text.append(f"| `{entry}` | {in_cell(row.help)} |")
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


def check(root, commands):
    if (root / PAGE).read_text() != page(commands):
        yield f"{PAGE} is not that of the tables: python3 tools/docs/options.py --root . --write"
    sections = re.split(r"^  \./kit ", output_of("bash", root / "kit", "help"), flags=re.M)
    for name, command in commands.items():
        section = next((text for text in sections if text.startswith(name)), "")
        if squeezed(command.help) not in squeezed(section):
            yield f"./kit help does not say what {name} does"
        yield from faults_of_help(f"./kit help, {name},", section, command.options)
    kit = (root / "kit").read_text()
    for row in commands["verify"].options:
        if row.kind == "KIT" and f"\n{row.needs}() {{" not in kit:
            yield f"kit has no function {row.needs}, which makes {row.name}"


def outcome(*command):
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, timeout=60)
    return done.returncode, done.stdout


def value_for(row, root):
    """One that the option takes."""
    if row.takes in ("DIR", "CHECKOUT"):
        return [root]
    if row.takes in ("N", "MINUTES"):
        return [1]
    return [row.takes.split("|")[0]] if row.takes else []


def check_kit(root, commands):
    """`--help` stops a command after it has read the options before it."""
    kit = root.resolve() / "kit"
    for name, command in commands.items():
        if name in ("help", "--version"):
            continue
        status, text = outcome(kit, name, "--help")
        heads = re.findall(r"^  \./kit (\S+)", text, flags=re.M)
        if status != 0 or heads != [name]:
            yield f"./kit {name} --help tells of {', '.join(heads) or 'nothing'}"
        yield from faults_of_help(f"./kit {name} --help", text, command.options)
        if command.table != KIT_TABLE:
            continue
        for row in command.options:
            said = outcome(kit, name, row.name, *value_for(row, root), "--help")
            if said != (status, text):
                yield f"./kit {name} does not read {row.name}: {said[1]}"
            if row.takes:
                yield from faults_of_refusal(f"{name}: {row.name} needs {row.needs}", outcome(kit, name, row.name))
        yield from faults_of_refusal(f"{name}: unknown option --no-such", outcome(kit, name, "--no-such"))


def check_explore(root, commands, program):
    """As for kit: `--help` stops it after it has read the options before it."""
    rows = commands["explore"].options
    status, text = outcome(program, "--help")
    yield from faults_of_help(program, text, rows)
    for row in rows:
        if outcome(program, row.name, root / "kit", "--help") != (status, text):
            yield f"{program} does not read {row.name}"
        needs = f"runq-explore: {row.name} needs {row.needs}\n"
        if outcome(program, row.name) != (2, needs):
            yield f"{program} does not say: {needs}"
    if not outcome(program, "--no-such")[1].startswith("runq-explore: there is no option --no-such"):
        yield f"{program} takes --no-such"


def faults_of_refusal(why, said):
    command = why.split(":")[0]
    if said != (2, f"kit: {why}; ./kit {command} --help lists its options\n"):
        yield f"instead of '{why}' in one line, and status 2: {said[1]}, and status {said[0]}"


def check_parsers(commands, runner, command):
    of_runner = [row for row in commands["verify"].options if row.kind != "KIT"]
    yield from faults_of_help(runner, output_of(runner, "--help"), of_runner)
    yield from faults_of_help(command, output_of(command, "--help"), commands["check"].options)
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
        for row in commands["check"].options:
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
    options.add_argument("--kit", action="store_true")
    options.add_argument("--parsers", nargs=2, metavar=("RUNQ_VERIFY", "RUNQ_CHECK"))
    options.add_argument("--explore", metavar="RUNQ_EXPLORE")
    o = options.parse_args()
    commands = commands_in(o.root)
    if o.write:
        (o.root / PAGE).write_text(page(commands))
    faults = [*(check(o.root, commands) if o.check else ()), *(check_kit(o.root, commands) if o.kit else ()),
              *(check_explore(o.root, commands, o.explore) if o.explore else ()),
              *(check_parsers(commands, *o.parsers) if o.parsers else ())]
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


main()
