#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that each operation of a queue says where it takes effect.

usage: linearises.py INCLUDE_DIR STEM...

A comment `// Linearises here.` stands above the step at which an operation takes effect for all threads at once; where that depends on
its answer, the comment says so. A public function of a queue has such a comment in its body, or calls one that has. One with
several such moments says `Does not linearise`, and why. These say nothing: a guess (`size_approx`), what does not change
(`capacity`), what makes or hands on a handle, and what only passes the call on to the queue inside.

It reads the headers as clang-format lays them out: a class begins in the first column, and its members in the third.
"""
import pathlib
import re
import sys

WORDS = re.compile(r"linearises? here|does not linearise", re.I)
NO_OPERATION = re.compile(r"\w+_approx|capacity|make_\w+|rebind")


class Member:
    def __init__(self, line, public):
        self.line, self.public, self.text = line, public, ""

    def read(self):
        code = re.sub(r"//[^\n]*", "", self.text)
        name = re.search(r"^  struct (\w+)|(~?\w+|operator\W+)\(", code, re.M)
        self.name = (name[1] or name[2]) if name else ""
        self.calls = set(re.findall(r"\w+", code))
        comments = re.sub(r"\n *// *", " ", self.text)
        self.says = bool(WORDS.search(comments))
        self.passes_on = re.search(rf"\{{ return \w+\.{re.escape(self.name)}\(\w*\); \}}$", code.strip()) is not None


def members_of(text, stem):
    """The functions and structs with a body of a queue's class, and of its handles."""
    members, inside, public, waits = [], False, False, False
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(rf"class (?:basic_)?{stem}\b(?!.*;)", line):
            inside, public = True, False
        elif line.startswith("};"):
            inside = False
        elif not inside:
            continue
        elif label := re.match(r" (public|private):", line):
            public = label[1] == "public"
        elif re.match(r"  [^ /}#{]", line) and not waits:
            members.append(Member(number, public))
            waits = True
        if inside and members and not re.match(r" ?\S", line):
            members[-1].text += line + "\n"
            # The head of a member ends so; what follows with more space, or with a brace, belongs to it.
            waits = waits and not re.search(r"[{};]$", line.split(" //")[0].rstrip())
    for member in members:
        member.read()
    return [member for member in members if "{" in member.text]


def with_included(texts, stem):
    members = members_of(texts[stem], stem)
    for other in re.findall(r'#include "runq/(\w+)\.hpp"', texts[stem]):
        if other in texts:
            members += with_included(texts, other)
    return members


def says_so(member, members):
    todo, done = [member], []
    while todo:
        now = todo.pop()
        if now.says:
            return True
        done.append(now)
        todo += [other for other in members if other.name.lstrip("~") in now.calls and other not in done and other not in todo]
    return False


def is_operation(member, stem):
    makes = {stem, f"basic_{stem}", "owner", "thief"}
    is_function = member.name.isidentifier() and not re.match(r"  struct ", member.text)
    return member.public and is_function and member.name not in makes and not NO_OPERATION.fullmatch(member.name)


def faults_of(texts, stem):
    """How many operations the queue has that do not only pass a call on, and what is wrong with them."""
    members = with_included(texts, stem)
    operations = [m for m in members_of(texts[stem], stem) if is_operation(m, stem) and not m.passes_on]
    silent = [m for m in operations if not says_so(m, members)]
    return len(operations), [f"runq/{stem}.hpp:{m.line}: {m.name}() does not say where it linearises" for m in silent]


def main():
    include, stems = pathlib.Path(sys.argv[1]), sys.argv[2:]
    texts = {stem: (include / f"runq/{stem}.hpp").read_text() for stem in stems}
    without_words = {stem: WORDS.sub("", text) for stem, text in texts.items()}
    number, faults = 0, []
    for stem in stems:
        operations, found = faults_of(texts, stem)
        number += operations
        faults += found
        if operations == 0 or len(faults_of(without_words, stem)[1]) != operations:
            faults.append(f"runq/{stem}.hpp: this script finds no operation, or takes one for one that says so")
    print("\n".join(faults + [f"{number} operations, {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
