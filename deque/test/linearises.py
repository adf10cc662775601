#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that each operation of a queue says where it takes effect.

usage: linearises.py [--paths] INCLUDE_DIR STEM...

A comment `// Linearises here.` stands above the step at which an operation takes effect for all threads at once; where that depends on
its answer, the comment says so. The statement below the comment is that step: an atomic operation, something under a lock that the
function holds, or an operation of a queue inside. A public function of a queue has such a comment in its body, or calls a function of the
same class that has, or an operation of another queue by an object of that (`ring_.push(`); `--paths` prints how each is found. One with
several such moments says `Does not linearise`, and why. These say nothing: a guess (`size_approx`), what does not change
(`capacity`), what makes or hands on a handle, and what only passes the call on to the queue inside.

It reads the headers as clang-format lays them out: a class begins in the first column, and its members in the third.
"""
import functools
import pathlib
import re
import sys

WORDS = re.compile(r"linearises? here|does not linearise", re.I)
ATOMIC = re.compile(r"(\.|->)(load|store|exchange|compare_exchange_\w+|fetch_\w+)\(")
OF_ANOTHER = re.compile(r"\w+(\.|->)(\w+)\(")
LOCKED = re.compile(r"\b(lock_guard|unique_lock|scoped_lock|holds?|guard)\b.*[({]")
NO_OPERATION = re.compile(r"\w+_approx|capacity|make_\w+|rebind")


class Member:
    def __init__(self, stem, line, public):
        self.stem, self.line, self.public, self.text = stem, line, public, ""

    def read(self):
        code = re.sub(r"//[^\n]*", "", self.text)
        name = re.search(r"^  struct (\w+)|(~?\w+|operator\W+)\(", code, re.M)
        self.name = (name[1] or name[2]) if name else ""
        self.passes_on = re.search(rf"\{{ return \w+\.{re.escape(self.name)}\(\w*\); \}}$", code.strip()) is not None
        body = code.partition("{")[2]
        # name(…), name<…>(…) and `struct_name variable(…)`; and, of another queue, object.name(…).
        self.calls_here = set(re.findall(r"(?<![\w.>])(\w+)(?:<[^;()]*>)?[({]", body))
        self.calls_here |= set(re.findall(r"(?<![\w.>])(\w+)(?:<[^;()]*>)? \w+[({]", body))
        self.calls_of_another = {call[1] for call in OF_ANOTHER.findall(body)}
        self.steps = [*self.find_steps()]

    def find_steps(self):
        """(what the comment claims, the statement below it, whether a lock is held there) of each comment with the words."""
        for comment in re.finditer(r"(?:^ *//[^\n]*\n)+", self.text, re.M):
            claim = re.sub(r"\n? *// *", " ", comment[0])
            if WORDS.search(claim):
                statement = re.match(r".*?(?:;|\{ *$|\) *$(?=\n *[^ .&|?:]))", self.text[comment.end():], re.S | re.M)
                before = re.sub(r"//[^\n]*", "", self.text[: comment.start()])
                yield claim, statement[0] if statement else "", LOCKED.search(before) is not None


@functools.lru_cache(maxsize=None)
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
            members.append(Member(stem, number, public))
            waits = True
        if inside and members and not re.match(r" ?\S", line):
            members[-1].text += line + "\n"
            # The head of a member ends so; what follows with more space, or with a brace, belongs to it.
            waits = waits and not re.search(r"[{};]$", line.split(" //")[0].rstrip())
    for member in members:
        member.read()
    return [member for member in members if "{" in member.text]


def with_included(texts, stem):
    members = [*members_of(texts[stem], stem)]
    for other in re.findall(r'#include "runq/(\w+)\.hpp"', texts[stem]):
        if other in texts:
            members += with_included(texts, other)
    return members


def is_step(claim, statement, locked, others):
    """Whether the statement below the words can be the step that they speak of."""
    if re.search(r"does not linearise", claim, re.I) and not re.search(r"linearises? here", claim, re.I):
        return bool(re.search(r"does not linearise[^.]*:\s*\w", claim, re.I))
    operations = {member.name for member in others if member.public}
    return locked or ATOMIC.search(statement) is not None or any(call[1] in operations for call in OF_ANOTHER.findall(statement))


def path_of(member, members):
    """The functions from an operation to the one that has the words, or nothing."""
    paths, seen = [[member]], {id(member)}
    while paths:
        path = paths.pop(0)
        now = path[-1]
        if now.steps:
            return path
        near = [other for other in members if other.stem == now.stem and other.name.lstrip("~") in now.calls_here]
        far = [other for other in members if other.stem != now.stem and other.public and other.name in now.calls_of_another]
        for other in near + far:
            if id(other) not in seen:
                seen.add(id(other))
                paths.append([*path, other])
    return []


def is_operation(member, stem):
    makes = {stem, f"basic_{stem}", "owner", "thief"}
    is_function = member.name.isidentifier() and not re.match(r"  struct ", member.text)
    return member.public and is_function and member.name not in makes and not NO_OPERATION.fullmatch(member.name)


def faults_of(texts, stem):
    """The paths of the operations that do not only pass a call on, and what is wrong with them."""
    members = with_included(texts, stem)
    # A queue inside may be any: boxed is a template over it.
    others = [member for other in texts if other != stem for member in members_of(texts[other], other)]
    operations = [m for m in members_of(texts[stem], stem) if is_operation(m, stem) and not m.passes_on]
    paths = [path_of(operation, members) for operation in operations]
    faults = [f"runq/{stem}.hpp:{m.line}: {m.name}() does not say where it linearises" for m, path in zip(operations, paths) if not path]
    for member in members_of(texts[stem], stem):
        for claim, statement, locked in member.steps:
            if not is_step(claim, statement, locked, others):
                faults.append(f"runq/{stem}.hpp:{member.line}: {member.name}(): below \"{claim.strip()[:60]}\" stands no such step: {statement.strip()}")
    return operations, paths, faults


def main():
    show = "--paths" in sys.argv
    include, *stems = (argument for argument in sys.argv[1:] if argument != "--paths")
    texts = {stem: (pathlib.Path(include) / f"runq/{stem}.hpp").read_text() for stem in stems}
    without_words = {stem: WORDS.sub("", text) for stem, text in texts.items()}
    number, faults = 0, []
    for stem in stems:
        operations, paths, found = faults_of(texts, stem)
        number += len(operations)
        faults += found
        if show:
            print("\n".join(" > ".join(f"{m.stem}.{m.name}" for m in path) for path in paths if path))
        if not operations or len(faults_of(without_words, stem)[2]) != len(operations):
            faults.append(f"runq/{stem}.hpp: this script finds no operation, or takes one for one that says so")
    print("\n".join(faults + [f"{number} operations, {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
