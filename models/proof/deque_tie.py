#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the lines of runq/chase_lev.hpp that touch memory with those that were proved, as tie.py does for the ring.

deque_table.txt is what the proof computes (deque_header.v), deque_code.txt the code of the deque as it was last compared
with `code` in deque.v. After a change of that code, compare it with deque.v again, and then run this script with
--accept-code.
"""
import argparse
import json
import pathlib
import re
import sys

from tie import HERE, ORDER, Untied, as_text, difference, fail

# The sites that each function passes, in that order. Functions share sites by the functions that they call; deque_code.txt
# says that they still do.
GROWS = ["push.top", "grow.old", "grow.new", "grow.publish"]
PATHS = {
    "push": ["push.bottom", "push.array", *GROWS, "push.slot", "push.publish"],
    "push_batch": ["push_batch.bottom", "push_batch.array", *GROWS, "push_batch.slot", "push_batch.publish"],
    "pop": [f"pop.{s}" for s in ("bottom", "array", "reserve", "fence", "top", "restore", "slot", "claim", "reset")],
    "steal": [f"steal.{s}" for s in ("top", "fence", "bottom", "array", "slot", "claim")],
    "has_work": ["has_work.top", "has_work.bottom"],
}
# Construction, moves and destruction, which no other thread sees; guesses; and the capacity.
NOT_PROVED = {"destroy", "capacity", "move.array", "move.bottom", "move.read", "size.bottom", "size.top"}

SITE = re.compile(r"^\s*// \[chase_lev\.([a-z0-9_.]+)\] ")
# A named access; `slots()[` and the array's own members are plain memory.
ACCESS = re.compile(r"(?P<part>top_|bottom_|array_|slot\([^;]*?\)|of_unused)\.(?P<operation>load|store|compare_exchange_strong)\(")
FENCE = re.compile(r"Atomics::(?P<operation>light_fence|heavy_fence)\(")
ANY = re.compile(r"\.(?:load|store|compare_exchange_\w+|exchange|fetch_\w+)\(|\w+_fence\(")


def access_of(name, statement):
    """`load top relaxed` for the one access in a statement of the header."""
    found = ACCESS.search(statement) or FENCE.search(statement)
    if not found:
        fail(f"[chase_lev.{name}]: no access, and no fence, follows the comment: {statement}")
    if len(ANY.findall(statement)) != 1:
        fail(f"[chase_lev.{name}]: more than one access, of which only one has a name: {statement}")
    orders, operation = ORDER.findall(statement), found["operation"]
    if len(orders) != (2 if operation.startswith("compare_exchange") else 1):
        fail(f"[chase_lev.{name}]: {operation} with {len(orders)} memory orders: {statement}")
    part = "" if operation.endswith("_fence") else found["part"].split("(")[0].rstrip("_") + " "
    return f"{operation} {part}{' else '.join(orders)}"


def sites_of(text):
    """{site: access} of the header's text. The statement of a site ends with the next semicolon."""
    sites, name, code = {}, None, []
    for line in text.splitlines():
        site = SITE.match(line)
        if site:
            if name is not None:
                fail(f"[chase_lev.{name}] is not followed by a statement")
            name, code = site[1], []
            if name in sites:
                fail(f"[chase_lev.{name}] is there twice")
        elif not line.lstrip().startswith("//"):
            code.append(line.split("//")[0].strip())
            if name is None:
                if ANY.search(line.split("//")[0]):
                    fail(f"an access has no name: {line.strip()}")
            elif ";" in line or "{" in line:
                sites[name] = access_of(name, " ".join(code))
                name = None
    return sites


def lines_of(text):
    """{function: [line, ...]} of the header's text."""
    sites = sites_of(text)
    known = NOT_PROVED.union(*PATHS.values())
    if sites.keys() != known:
        fail(f"sites that the proof does not know, or that are gone: {', '.join(sorted(sites.keys() ^ known))}")
    return {function: [f"{site} {sites[site]}" for site in path] for function, path in PATHS.items()}


def code_of(text):
    """The code of the deque and its handles, without comments but for the names of sites."""
    kept = []
    for line in text[text.index("class basic_chase_lev {") :].splitlines():
        site = SITE.match(line)
        if site:
            kept.append(f"[chase_lev.{site[1]}]")
        elif code := line.split("//")[0].strip():
            kept.append(code)
    return "\n".join(kept) + "\n"


def compare(text, proved, compared):
    """How many lines of the header are those that were proved; raises Untied with the first that is not."""
    header = as_text(lines_of(text))
    if header != proved:
        fail(
            "the lines of chase_lev.hpp are not those that were proved (-: proved, +: chase_lev.hpp):\n"
            + difference(proved, header, ("proved", "chase_lev.hpp"), 1)
            + "Change models/proof/deque.v and deque_header.v as well, and run ./kit prove --update-table."
        )
    if code_of(text) != compared:
        fail(
            "the code of chase_lev.hpp is not that which the proof was compared with (-: then, +: now):\n"
            + difference(compared, code_of(text), ("then", "now"), 2)
            + "Compare it with `code` in models/proof/deque.v, then run models/proof/deque_tie.py --accept-code."
        )
    return len(header.splitlines())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--header", type=pathlib.Path, default=HERE.parents[1] / "deque/include/runq/chase_lev.hpp")
    parser.add_argument("--table", type=pathlib.Path, default=HERE / "deque_table.txt")
    parser.add_argument("--accept-code", action="store_true", help="write deque_code.txt anew, after a look at deque.v")
    parser.add_argument("--result", action="store_true", help='print "R " and a JSON object, as a worker of the models')
    options = parser.parse_args()
    text, compared = options.header.read_text(), HERE / "deque_code.txt"
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
        sys.exit(f"deque_tie: {message}")
    else:
        print(f"proof: {lines} lines of chase_lev.hpp are those that were proved")


if __name__ == "__main__":
    main()
