#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads tables of mutants, and applies one: a bug that is seeded into a copy of a source.

A table has a block for each mutant: its name; what the bug is; the file that it changes; one or more changes.

    === takes_all
    # A thief takes all tasks instead of half.
    file: runq/ring.hpp
    killed by: ring/push_vs_steal (check failed)
    --- old
    text that the file contains exactly once
    --- new
    what replaces it

`models/cases/*/<stem>/<stem>.mutants` are about shipped headers. `breaks: ring/pop_takes_the_oldest` names laws of the property
suites that must fail (proptests/mutants/laws.py). A mutant that changes more than functions' bodies says `module: its own`
(mutant_variants.py). Which cases notice, `killed by`, is what `./kit verify` has seen, and `--pin` writes it: a line for each case.
The cases are searched that stand in the same sources as these; if there is none, all cases of the folder, unless laws must notice
the mutant: then no case is.

`models/selftest/mutants/*.mutants` are about the checker (selftest/checker_mutants.py).

usage: mutants.py searched CASES_DIR
           each mutant that cases are searched for, in a line, and then the sources of those cases, split by '|'
       mutants.py apply CASES_DIR STEM/NAME HEADERS_DIR OUTPUT_DIR
           writes OUTPUT_DIR/<header> as the mutant changes it; fails if it does not apply
"""
import collections
import pathlib
import re
import sys

KILLER = re.compile(r"^killed by: ([a-z0-9_]+/[a-z0-9_]+) \(.+\)$", re.MULTILINE)

# One of a shipped header. `name` is "ring/takes_all"; `killers` are the cases that are pinned for it.
Mutant = collections.namedtuple("Mutant", "name table header laws apart killers changes")


def parse(text):
    """What a mutant's block says: its fields, and its changes as (old, new)."""
    fields, changes, part = {}, [], None
    for line in text.splitlines():
        if line == "--- old":
            changes.append(([], []))
            part = changes[-1][0]
        elif line == "--- new":
            part = changes[-1][1]
        elif part is not None:
            part.append(line)
        elif ": " in line and not line.startswith("#"):
            key, value = line.split(": ", 1)
            fields[key] = value.strip()
    return fields, [("\n".join(old), "\n".join(new)) for old, new in changes]


def parse_table(text):
    """The mutants of a table, as (name, block)."""
    parts = re.split(r"^=== (\w+)$", text, flags=re.MULTILINE)
    return [(name, body.rstrip("\n")) for name, body in zip(parts[1::2], parts[2::2])]


def mutants_of(cases_dir):
    """The mutants of all stems, in the order of their names."""
    found = []
    for table in sorted(pathlib.Path(cases_dir).glob("*/*/*.mutants")):
        stem = table.parent.name
        if table.stem != stem:
            sys.exit(f"{table}: the mutants of a folder stand in {stem}.mutants")
        for name, text in parse_table(table.read_text()):
            fields, changes = parse(text)
            odd = sorted(set(fields) - {"file", "breaks", "module", "killed by"})
            if odd or "file" not in fields or not changes or fields.get("module", "its own") != "its own":
                sys.exit(f"{table}: {name} needs `file:` and a change, and may have `breaks:`, `module: its own` and `killed by:`, but no {odd}")
            found.append(Mutant(f"{stem}/{name}", table, fields["file"], fields.get("breaks", "").split(), "module" in fields,
                                KILLER.findall(text.split("\n--- old\n")[0]), changes))
    names = [mutant.name for mutant in found]
    if len(names) != len(set(names)):
        sys.exit(f"two mutants have one name: {sorted(name for name in set(names) if names.count(name) != 1)}")
    return sorted(found, key=lambda mutant: mutant.name)


def sources_of_cases(cases_dir):
    """By the name of a case, which stands in it as a literal: the source."""
    return {f"{source.parent.name}/{name}": source for source in sorted(pathlib.Path(cases_dir).glob("*/*/*.cpp"))
            for name in re.findall(rf'"{source.parent.name}/([a-z0-9_]+)"', source.read_text())}


def searched(cases_dir):
    """(mutant, sources of the cases that are searched for it); mutants that only laws must notice are left out."""
    mutants, sources = mutants_of(cases_dir), sources_of_cases(cases_dir)
    for mutant in mutants:
        if mutant.killers or not mutant.laws:
            chosen = dict.fromkeys(sources[case] for case in mutant.killers if case in sources)
            yield mutant, list(chosen) or sorted(mutant.table.parent.glob("*.cpp"))


def mutate(source, changes):
    for old, new in changes:
        if source.count(old) != 1:
            first = old.strip().splitlines()[0]
            return None, f"the text to replace stands {source.count(old)} times, not once: {first}"
        source = source.replace(old, new)
    return source, "applied"


def write_if_other(file, text):
    """Writes the text, unless the file has it already: then nothing that depends on the file is built again."""
    if not file.exists() or file.read_text() != text:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def write(output, header, source, changes):
    """Writes the header as one mutant changes it, and in `status` "applied", or why not: then the header stays as it is, the rest
    of the build goes on, and the runner reports the mutant. Returns the changed text, or None."""
    mutated, status = mutate(source, changes)
    write_if_other(output / header, source if mutated is None else mutated)
    write_if_other(output / "status", status)
    return mutated


def main():
    words = sys.argv[1:]
    if len(words) == 2 and words[0] == "searched":
        for mutant, sources in searched(words[1]):
            print(mutant.name, mutant.header, mutant.table, "apart" if mutant.apart else "", *sources, sep="|")
    elif len(words) == 5 and words[0] == "apply":
        headers, output = map(pathlib.Path, words[3:])
        mutant = next((mutant for mutant in mutants_of(words[1]) if mutant.name == words[2]), None)
        if mutant is None:
            sys.exit(f"no mutant is called {words[2]}")
        if write(output, mutant.header, (headers / mutant.header).read_text(), mutant.changes) is None:
            sys.exit(f"{mutant.name} does not apply to {mutant.header}: {(output / 'status').read_text()}")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
