#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the lines of runq/chase_lev.hpp that touch memory with those that were proved, as tie.py does for the ring.

deque_table.txt is what the proof computes (deque_header.v), deque_code.txt the code of the deque as it was last compared
with `code` in deque.v. After a change of that code, compare it with deque.v again, and then run this script with
--accept-code.
"""
import re

from tie import ORDER, Proof, as_text, bare_code, fail, require_same, run

DEQUE = Proof("chase_lev.hpp", "deque.v", "deque_header.v", "deque_table.txt", "deque_code.txt", "deque_tie.py")

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
NOT_PROVED = {"destroy", "capacity", "move.array", "move.bottom", "move.read", "size.bottom", "size.top", "oldest.top"}

SITE = re.compile(r"^\s*// \[chase_lev\.([a-z0-9_.]+)\] ")
# A named access; the array's own members are plain memory.
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
    return bare_code(text[text.index("class basic_chase_lev {") :], SITE, "chase_lev")


def compare(text, proved, compared):
    """How many lines of the header are those that were proved; raises Untied with the first that is not."""
    header = as_text(lines_of(text))
    require_same(DEQUE, header, proved, code_of(text), compared)
    return len(header.splitlines())


if __name__ == "__main__":
    run(DEQUE, __doc__, code_of, compare)
