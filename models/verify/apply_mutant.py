#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Applies one source mutant to a copy of a header.

usage: apply_mutant.py [--must-apply] MUTANT_FILE HEADERS_DIR OUTPUT_DIR

A mutant file says in its first lines what the bug is (`# …`), which header it changes (`file: runq/ring.hpp`), and what
must notice it: cases of the models and how each fails (`killed by: ring/wrap_around (data race)`, a line for each),
laws of the property suites (`breaks: ring/pop_takes_the_oldest`), or both. Then it gives one or more changes:

    --- old
    text that the header contains exactly once
    --- new
    what replaces it

Writes OUTPUT_DIR/<header> and OUTPUT_DIR/status: "applied", or why not. A mutant that does not apply leaves the header
unchanged, so that the rest of the build goes on and the runner reports it; with --must-apply the command fails.
"""
import pathlib
import re
import sys


def parse(text):
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
    """The mutants of a table, as (name, text): a line `=== NAME` begins each; the text is that of a mutant file."""
    parts = re.split(r"^=== (\w+)$", text, flags=re.MULTILINE)
    return [(name, body.rstrip("\n")) for name, body in zip(parts[1::2], parts[2::2])]


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
    """Writes the header as one mutant changes it, and whether it applies; returns the changed text, or None."""
    mutated, status = mutate(source, changes)
    write_if_other(output / header, source if mutated is None else mutated)
    write_if_other(output / "status", status)
    return mutated


def main():
    words = sys.argv[1:]
    must_apply = words[:1] == ["--must-apply"]
    mutant, headers, output = (pathlib.Path(a) for a in words[must_apply:])
    fields, changes = parse(mutant.read_text())
    applies = write(output, fields["file"], (headers / fields["file"]).read_text(), changes) is not None
    if must_apply and not applies:
        sys.exit(f"{mutant} does not apply to {fields['file']}: {(output / 'status').read_text()}")


if __name__ == "__main__":
    main()
