#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the lines of runq/ring.hpp that touch memory with those that were proved.

table.txt is what the proof computes from its transition system (header.v): for each function, its sites in order, with
operation, location and memory order. This script reads the same from the header's comments `// [ring.NAME] order: ...`
and the statement after each. `./kit prove` checks that table.txt is what the proof computes.

code.txt is the code of the ring as it was last compared with `code` in ring.v: the arithmetic and the decisions between
the accesses. After a change of that code, compare it with ring.v again, and then run this script with --accept-code.
"""
import argparse
import collections
import difflib
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent

# A header, the machine that was proved for it, the machine's sites, what the proof computes of these, and the header's code.
Proof = collections.namedtuple("Proof", "header machine sites table code script folder", defaults=["deque/include/runq"])
RING = Proof("ring.hpp", "ring.v", "header.v", "table.txt", "code.txt", "tie.py")

# Which sites of the header belong to which function of the table; by the part of the name before its last dot.
FUNCTIONS = {
    "push": "push",
    "push_batch": "push_batch",
    "pop": "pop",
    "shed": "shed",
    "drain": "drain",
}
# A thief's functions share observe(), read(), and claim(): the sites steal.NAME, in the order in which
# each function passes them. code.txt says that they still do.
STEALS = {
    "steal_half_into": ["head", "tail", "own_tail", "room", "slot", "own_slot", "claim", "publish"],
    "steal_half": ["head", "tail", "slot", "claim"],
    "steal": ["head", "tail", "slot", "claim"],
    "observe": ["head", "tail"],
}
# Guesses, and the room that the owner asks for: no theorem speaks of their answers.
NOT_PROVED = {"room.tail", "size.tail", "size.head", "observe.again"}

SITE = re.compile(r"^\s*// \[ring\.([a-z0-9_.]+)\] ")
ACCESS = re.compile(
    r"(?P<object>[\w.>-]*?)(?P<part>head_|tail_|slot\()"
    r".*?\.(?P<operation>load|store|compare_exchange_weak|compare_exchange_strong)\("
)
ORDER = re.compile(r"std::memory_order::(\w+)")
ROOM_CALL = re.compile(r"\broom\((?:t|mt), ")


class Untied(Exception):
    """The header is not what was proved."""


def fail(message):
    raise Untied(message)


def access_of(name, statement):
    """`load tail relaxed` for the one access in a statement of the header."""
    found = ACCESS.search(statement)
    if not found:
        fail(f"[ring.{name}]: no access to head_, tail_ or a slot follows the comment: {statement}")
    if len(re.findall(r"\.(?:load|store|compare_exchange_\w+|exchange|fetch_\w+)\(", statement)) != 1:
        fail(f"[ring.{name}]: more than one access, of which only one has a name: {statement}")
    orders = ORDER.findall(statement)
    exchange = found["operation"].startswith("compare_exchange")
    if len(orders) != (2 if exchange else 1):
        fail(f"[ring.{name}]: {found['operation']} with {len(orders)} memory orders: {statement}")
    own = "own " if found["object"].startswith("mine.") else ""
    return f"{found['operation']} {own}{found['part'].rstrip('_(')} {' else '.join(orders)}"


def statements(text):
    """The header's named accesses and its calls of room(), in the order of the file: (name, statement), (None, call)."""
    name, code = None, []

    def done():
        if name is not None:
            # Up to the end of the statement with the access: what follows belongs to no name.
            whole = " ".join(line.strip() for line in code)
            access = ACCESS.search(whole)
            end = re.search(r"[;{]", whole[access.end():]) if access else None
            cut = access.end() + end.start() if end else len(whole)
            yield name, whole[:cut]
            for call in ROOM_CALL.finditer(whole[cut:]):
                before = whole[: cut + call.start()]
                yield None, "into.room(" if before.endswith("into.") else "room("
            rest = whole[cut:]
            if re.search(r"\b(?:head_|tail_|slots_)\.|\bslot\([^;]*\)\.(?:load|store)", rest):
                fail(f"an access after [ring.{name}] has no name: {rest}")

    for line in text.splitlines():
        site = SITE.match(line)
        if site:
            yield from done()
            name, code = site[1], []
        elif not line.lstrip().startswith("//"):
            code.append(line.split("//")[0])
    yield from done()


def lines_of(text):
    """{function: [line, ...]} of the header's text."""
    table = {function: [] for function in FUNCTIONS.values()}
    steal = {}
    room, function, unknown = None, None, []
    calls = []
    for name, statement in statements(text):
        if name is None:
            if function in table:
                calls.append((function, len(table[function]), statement))
            elif prefix == "steal":
                steal["room"] = statement
            continue
        prefix = name.rpartition(".")[0]
        function = FUNCTIONS.get(prefix)
        if name == "room.head":
            room = access_of(name, statement)
        elif name in NOT_PROVED:
            pass
        elif prefix == "steal":
            steal[name.removeprefix("steal.")] = f"{name} {access_of(name, statement)}"
        elif function is None:
            unknown.append(name)
        else:
            table[function].append(f"{name} {access_of(name, statement)}")
    if unknown:
        fail(f"sites that the proof does not know: {', '.join(unknown)}")
    if room is None:
        fail("[ring.room.head] is gone")
    for function, at, call in reversed(calls):
        table[function].insert(at, "room.head " + room)
    if steal.keys() != set(STEALS["steal_half_into"]) or steal["room"] != "into.room(":
        fail(f"a thief's sites are not those that the proof knows: {', '.join(sorted(steal))}")
    steal["room"] = "room.head " + room.replace(" head", " own head")
    return table | {function: [steal[site] for site in sites] for function, sites in STEALS.items()}


def bare_code(text, site_comment, prefix):
    """The lines without comments, but for the names of sites: each of them is a line `[PREFIX.NAME]`."""
    kept = []
    for line in text.splitlines():
        site = site_comment.match(line)
        if site:
            kept.append(f"[{prefix}.{site[1]}]")
        elif code := line.split("//")[0].strip():
            kept.append(code)
    return "\n".join(kept) + "\n"


def code_of(text):
    """The code of the ring and its handles, without comments but for the names of sites."""
    return bare_code(text[text.index("class basic_ring {") :], SITE, "ring")


def shapes_text():
    """The litmus shapes, and what the models say of them."""
    return "".join((HERE.parents[1] / "models/cases/litmus" / name).read_text() for name in ("shapes.hpp", "shapes.cpp"))


def litmus_disagreements(shapes, theorems):
    """What the proof's memory and the exact engine say differently of the litmus shapes without seq_cst."""
    found = []
    pinned = re.findall(
        r'add_case<(\w+)>\(\{.*?\.litmus = \{"(\w+)", (?:true|false), (?:true|false), (true|false)\}', shapes, re.S
    )
    for name, outcome, shown in pinned:
        body = re.search(rf"struct {name} final.*?\n\}};", shapes, re.S)
        if body is None or re.search(r"\bsc\b", body[0]):
            continue
        theorem = re.search(rf"^Theorem {name} :\s*(allowed|forbidden)\b(.*?)\.\n", theorems, re.S | re.M)
        if theorem is None:
            found.append(f"litmus.v has no theorem on {name}")
        elif theorem[1] != ("allowed" if shown == "true" else "forbidden"):
            found.append(f"{name}: {theorem[1]} in litmus.v, but {'' if shown == 'true' else 'not '}shown by the exact engine")
        elif outcome != "race" and not theorem[2].endswith(f"[{'; '.join(outcome)}]"):
            found.append(f"{name}: litmus.v speaks of another outcome than {outcome}")
    if not pinned:
        found.append("no shapes were found")
    return found


def as_text(table):
    return "".join(f"{function}: {line}\n" for function, lines in table.items() for line in lines)


def difference(before, after, names, lines):
    return "".join(difflib.unified_diff(before.splitlines(True), after.splitlines(True), *names, n=lines))


def require_same(proof, header, proved, code, compared):
    """Raises Untied with the first line, of an access or of the code between two, that is not the one that was proved."""
    if header != proved:
        fail(
            f"the lines of {proof.header} are not those that were proved (-: proved, +: {proof.header}):\n"
            + difference(proved, header, ("proved", proof.header), 1)
            + f"Change models/proof/{proof.machine} and {proof.sites} as well, and run ./kit prove --update-table."
        )
    if code != compared:
        fail(
            f"the code of {proof.header} is not that which the proof was compared with (-: then, +: now):\n"
            + difference(compared, code, ("then", "now"), 2)
            + f"Compare it with `code` in models/proof/{proof.machine}, then run models/proof/{proof.script} --accept-code."
        )


def compare(text, proved, compared, shapes, theorems):
    """How many lines of the header are those that were proved; raises Untied with the first that is not."""
    header = as_text(lines_of(text))
    require_same(RING, header, proved, code_of(text), compared)
    disagreements = litmus_disagreements(shapes, theorems)
    if disagreements:
        fail("\n".join(["the memory of the proof is not that of the models:", *disagreements]))
    return len(header.splitlines())


def run(proof, about, code_of, compare):
    """The script of one proof: `about` is its help; `compare(text, table, code)` is as compare()."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--header", type=pathlib.Path, default=HERE.parents[1] / proof.folder / proof.header)
    parser.add_argument("--table", type=pathlib.Path, default=HERE / proof.table)
    parser.add_argument("--accept-code", action="store_true", help=f"write {proof.code} anew, after a look at {proof.machine}")
    parser.add_argument("--result", action="store_true", help='print "R " and a JSON object, as a worker of the models')
    options = parser.parse_args()
    text, compared = options.header.read_text(), HERE / proof.code
    if options.accept_code:
        compared.write_text(code_of(text))
    lines, message = 0, ""
    try:
        lines = compare(text, options.table.read_text(), compared.read_text())
    except Untied as untied:
        message = str(untied)
    if options.result:
        print("R " + json.dumps({"lines": lines, "message": message}))
    elif message:
        sys.exit(f"{proof.script}: {message}")
    else:
        print(f"proof: {lines} lines of {proof.header} are those that were proved")


def main():
    shapes, theorems = shapes_text(), (HERE / "litmus.v").read_text()
    run(RING, __doc__, code_of, lambda text, table, code: compare(text, table, code, shapes, theorems))


if __name__ == "__main__":
    main()
