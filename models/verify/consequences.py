#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Says what else has to change with a changed line of a shipped header, before anything is built.

usage: consequences.py ROOT [NAMES_COMMAND…]

A line for each thing, with the command that mends it: mutants whose text is no longer there; rows of the order ledger for orders
that are gone or are others now, and orders without a row; the proof of the ring; names of atomic operations (what NAMES_COMMAND
prints, which is `runq_verify --names`); places in the tree that quote a line which has gone since the last commit; what follows
from the headers that have changed since: pinned facts, and pages. Ends with 0, whether there is something to say or not.
"""
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(HERE.parent / "selftest"), str(HERE.parent / "proof")]
from mutants import mutants_of, mutate, parse, parse_table  # noqa: E402

# Where shipped headers stand: each has them in its folder runq/.
FOLDERS = ("deque/include", "scheduler/include", "scheduler/src/inside")
SITE = re.compile(r"^\s*// \[([a-z0-9_.]+)\] ")
ORDER = re.compile(r"std::memory_order::(\w+)")


def header_file(root, header):
    return next((root / folder / header for folder in FOLDERS if (root / folder / header).exists()), None)


def mutants(root):
    """Mutants that do not apply, of the headers and of the checker."""
    blocks = [(mutant.name, mutant.header, header_file(root, mutant.header), mutant.changes)
              for mutant in mutants_of(root / "models/cases")]
    for table in sorted((root / "models/selftest/mutants").glob("*.mutants")):
        for name, text in parse_table(table.read_text()):
            fields, changes = parse(text)
            blocks.append((f"the checker's {table.stem}/{name}", fields["file"], root / "models" / fields["file"], changes))
    sources = {}
    for name, shown, file, changes in blocks:
        if file is None or not file.exists():
            yield f"{name}: there is no {shown}"
            continue
        source = sources.setdefault(file, file.read_text())
        changed, why = mutate(source, changes)
        if changed is None:
            yield f"{name}: {why}"
        elif changed == source:
            yield f"{name}: it changes nothing"


def orders_of(text):
    """By the name of an atomic operation: the orders in its statement, as written."""
    orders, name, statement = {}, None, ""
    for line in text.splitlines():
        site = SITE.match(line)
        if site:
            name, statement = site[1], ""
        elif name and not line.lstrip().startswith("//"):
            statement += line.split("//")[0] + "\n"
            found = ORDER.findall(statement)
            # A statement ends at its semicolon or brace, unless that is before its first order.
            if found and re.search(r"[;{]\s*$", statement):
                orders[name], name = found, None
    return orders


def ledgers(root):
    """Rows that are not about the header as it is, and orders that no row is about."""
    pinned = json.loads((root / "models/cases/ledger.json").read_text())
    for folder in sorted((root / "models/cases").glob("*/*")):
        headers = [header for under in FOLDERS for header in (root / under).rglob(f"{folder.name}.hpp")]
        if not headers or not list(folder.glob("*.cpp")):
            continue
        rows = pinned.get(folder.name, [])
        orders = orders_of(headers[0].read_text())
        first = {}  # the order that was written, which is that of the row about its first step down
        for row in rows:
            first.setdefault((row["site"], row["arg"]), row["written"])
        for (site, arg), written in first.items():
            now = orders.get(site)
            if now is None:
                yield f"[{site}]: its row says {written}, and {headers[0].name} has no such operation"
            elif arg < len(now) and now[arg] != written:
                yield f"[{site}]: its row says {written}, {headers[0].name} says {now[arg]}"
        for site, now in orders.items():
            if now[0] != "relaxed" and (site, 0) not in first:
                yield f"[{site}] {now[0]}: it has no row"


def proof(root):
    tie = root / "models/proof/tie.py"
    if tie.exists():
        ran = subprocess.run([sys.executable, "-B", tie], capture_output=True, text=True)
        if ran.returncode != 0:
            yield (ran.stderr or ran.stdout).strip().replace("\n", "\n    ")


def names(command):
    ran = subprocess.run(command, capture_output=True, text=True)
    yield from ran.stdout.splitlines()
    if ran.returncode > 1:
        yield f"{command[0]} failed: {ran.stderr}"


def git(root, *words):
    ran = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True)
    return ran.stdout if ran.returncode in (0, 1) else ""


def changed_headers(root):
    return [name for name in git(root, "diff", "--name-only", "HEAD", "--", *FOLDERS).splitlines() if name.endswith(".hpp")]


def quotations(root, headers):
    """Where a line stands that a header no longer has."""
    for header in headers:
        now = (root / header).read_text() if (root / header).exists() else ""
        gone = [line[1:].strip() for line in git(root, "diff", "-U0", "HEAD", "--", header).splitlines()
                if line.startswith("-") and not line.startswith("---")]
        for line in dict.fromkeys(gone):
            # Shorter ones stand in too many places.
            if len(line) < 25 or line in now:
                continue
            for found in git(root, "grep", "-nF", "-e", line, "--", ".", f":!{header}").splitlines():
                file, number, _ = found.split(":", 2)
                yield f"{file}:{number} has: {line}"


def including(root, header):
    """The stems whose cases include the header, perhaps through others."""
    includes = {}
    for under in FOLDERS:
        for file in (root / under).rglob("*.hpp"):
            name = file.relative_to(root / under).as_posix()
            includes[name] = set(re.findall(r'#include "(runq/[^"]+)"', file.read_text()))
    for folder in sorted((root / "models/cases").glob("*/*")):
        todo = {name for file in [*folder.glob("*.cpp"), *folder.glob("*.hpp")]
                for name in re.findall(r'#include "(runq/[^"]+)"', file.read_text())}
        seen = set()
        while todo:
            seen |= todo
            todo = set().union(*(includes.get(name, set()) for name in todo)) - seen
        if header in seen:
            yield folder.name


def follows(root, headers):
    for header in headers:
        short = header[header.index("runq/"):]
        stems = list(including(root, short))
        if stems:
            yield f"pins of {', '.join(stems)}, whose cases include {short}: counts and killers may be others"
        pages = [page.relative_to(root).as_posix() for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
                 if page.exists() and page.name not in ("CHANGELOG.md", "memory-orders.md") and short.rsplit("/", 1)[1] in page.read_text()]
        if pages:
            yield f"pages that speak of {short}: {', '.join(pages)}"
        if short == "runq/ring.hpp" or (root / "bench" / f"{pathlib.Path(short).stem}_bench.cpp").exists():
            yield f"figures of docs/benchmarks.md and bench/results/ about {short}: ./kit bench --against CHECKOUT compares"


def main():
    root, command = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    headers = changed_headers(root)
    sections = [("mutants that no longer apply; bring their texts up to date", mutants(root)),
                ("the order ledger; then ./kit verify --update-ledger, which writes evidence/memory-orders.md, too", ledgers(root)),
                ("the proof of the ring (docs/proof.md)", proof(root)),
                ("names of atomic operations", names(command) if command else ()),
                ("what quotes a line that is gone", quotations(root, headers)),
                (f"what follows from {', '.join(headers)}", follows(root, headers))]
    said = False
    for title, lines in sections:
        lines = list(lines)
        if lines:
            if not said:
                print("what else has to change:")
            said = True
            print(f"  {title}:")
            for line in lines:
                print(f"    {line}")
    if not said:
        print("nothing else has to change")


if __name__ == "__main__":
    main()
