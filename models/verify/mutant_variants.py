#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts all mutants of each shipped header into one copy of it, so that cases are compiled once for all of them.

usage: mutant_variants.py OUTPUT_DIR HEADERS_DIRS CASES_DIR STEM/NAME...

A colon separates the folders in HEADERS_DIRS. For each mutant, OUTPUT_DIR/<stem>_<name> gets the changed header, whose lines
counterexamples show, and the file `status` (mutants.py). OUTPUT_DIR/all/<header> has all
mutants: a function that a mutant changes has the changed body and the shipped one, and the worker says which one runs
(variant.hpp):

    bool push(T task) { if (::runq::model::runs_mutant("ring/takes_all")) { …changed… } else { …shipped… } }

A change of anything but functions' bodies cannot be chosen at run time: such a mutant says `module: its own`, and is
compiled apart. Files that would stay the same are not touched.
"""
import functools
import pathlib
import re
import sys

from mutants import mutants_of, write, write_if_other

NO_CODE = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:\\\n|[^\n])*", re.DOTALL | re.MULTILINE
)
SCOPE = re.compile(
    r"\s*(?:(?:public|private|protected)\s*:\s*)*(?:template\s*<.*>\s*)?(?:requires.*)?(?:inline\s+)?"
    r"(?:(?:namespace|class|struct|union|enum)\b|extern\s*$)",
    re.DOTALL,
)
MEMBER_INITIALISER = re.compile(r"(?<!:)[:,]\s*\w+\s*(?:<.*>\s*)?$", re.DOTALL)


def code_only(text):
    """The text with comments, literals and preprocessor lines blank; every character stays where it is."""
    text = re.sub(r"(?<=[0-9])'(?=[0-9])", "_", text)
    return NO_CODE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def kind_of_brace(head):
    """The kind of block that the brace after this text opens; the text begins after the last brace or semicolon."""
    head = head.rstrip()
    if SCOPE.match(head) and not head.endswith(")"):
        return "scope"
    # A constructor's body may follow the brace of its last initialiser.
    if not head or (")" in head and not MEMBER_INITIALISER.search(head)):
        return "body"
    return "initialiser"


@functools.lru_cache(maxsize=64)  # each text is asked for several times
def bodies(text):
    """The functions' bodies, as (after the brace, before the brace) of each."""
    code, open_braces, found = code_only(text), [], []
    for brace in re.finditer("[{}]", code):
        at = brace.start()
        if brace[0] == "{":
            head = code[max(code.rfind(c, 0, at) for c in ";{}") + 1 : at]
            open_braces.append((at, kind_of_brace(head)))
        else:
            began, kind = open_braces.pop()
            if kind == "body" and all(outer == "scope" for _, outer in open_braces):
                found.append((began + 1, at))
    return found


def changed_bodies(source, mutated):
    """Which functions' bodies differ, as numbers in order; None if anything else does."""
    before, after = bodies(source), bodies(mutated)

    def rest(text, spans):
        parts, at = [], 0
        for begin, end in spans:
            parts.append(text[at:begin])
            at = end
        return parts + [text[at:]]

    if rest(source, before) != rest(mutated, after):
        return None
    return [i for i, (old, new) in enumerate(zip(before, after)) if source[slice(*old)] != mutated[slice(*new)]]


def placed(text, begin, end, file):
    """That part of the text of `file`, with its line numbers."""
    line = text.count("\n", 0, begin) + 1
    return f'\n#line {line} "{file}"\n{text[begin:end]}'


def combined(source, file, mutants):
    """The header with all bodies: `mutants` gives for each its name, its file and its text."""
    spans = bodies(source)
    variants = [[] for _ in spans]
    for name, copy, mutated in mutants:
        changed = changed_bodies(source, mutated)
        if changed is None:
            sys.exit(
                f"{name} changes something other than functions' bodies, so it cannot be chosen at run time: "
                "let it say `module: its own`"
            )
        for i in changed:
            variants[i].append((name, placed(mutated, *bodies(mutated)[i], copy)))
    parts, at = [f'#include "variant.hpp"\n#line 1 "{file}"\n'], 0
    for (begin, end), of_body in zip(spans, variants):
        if of_body:
            parts.append(source[at:begin])
            for name, body in of_body:
                parts.append(f'if (::runq::model::runs_mutant("{name}")) {{{body}}} else ')
            parts.append(f"{{{placed(source, begin, end, file)}}}")
            at = end
    parts.append(source[at:])
    return "".join(parts)


def main():
    output, headers_dirs = pathlib.Path(sys.argv[1]), [pathlib.Path(d) for d in sys.argv[2].split(":")]
    mutants = {mutant.name: mutant for mutant in mutants_of(sys.argv[3])}
    of_headers = {}
    for name in sys.argv[4:]:
        mutant = mutants[name]
        header = mutant.header
        file = next(d / header for d in headers_dirs if (d / header).exists())
        copy = output / name.replace("/", "_")
        mutated = write(copy, header, file.read_text(), mutant.changes)
        of_header = of_headers.setdefault((header, file), [])
        if mutated is not None and not mutant.apart:  # the runner reports those that do not apply
            of_header.append((name, copy / header, mutated))
    for (header, file), of_header in of_headers.items():
        write_if_other(output / "all" / header, combined(file.read_text(), file, of_header))


if __name__ == "__main__":
    main()
