#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the lines of runq/protocol/park.hpp that the proof speaks of with those that were proved, as tie.py does for the ring.

park_table.txt is what Coq prints (park_header.v), park_code.txt the code of the functions of which the proof speaks as it
was last compared with `go` in park.v. After a change of that code, compare it with park.v again, and then run this script
with --accept-code.
"""
import re

from tie import ORDER, Proof, as_text, bare_code, fail, require_same, run

PARK = Proof(
    "park.hpp", "park.v", "park_header.v", "park_table.txt", "park_code.txt", "park_tie.py", "scheduler/src/inside/runq/protocol"
)

# The sites that each function passes; park_code.txt says that they still do.
PATHS = {
    "submitted": ["submit.fence", "submit.need", "submit.spinning", "one.again", "need.set", "one.spin"],
    "found": ["found"],
    "spin": ["spin"],
    "machine_idle": ["need.heed", "need.clear", "machine_idle.spinning", "machine_idle.fence", "need.set_late"],
    "machine_dozes": ["need.clear", "doze.spinning", "doze.fence"],
}
# The functions of which the proof speaks.
FUNCTIONS = [
    "void submitted()", "void submitted_in_order()", "void found(", "Processor* machine_idle(", "Processor* machine_dozes(",
    "void become_spinning(", "void withdraw_request()", "bool cared_for()", "void wake_one()", "Machine* wake_machine_for(",
    "given release_with_lock(", "Processor* sleep_unless_work(", "Processor* take_back(",
]

SITE = re.compile(r"^\s*// \[park\.([a-z0-9_.]+)\] ")
ACCESS = re.compile(r"(?P<part>\w+_)\.(?P<operation>load|store|fetch_add|fetch_sub)\(|Atomics::(?P<fence>light_fence|heavy_fence)\(")


def sites_of(text):
    """{site: access} of the header's text. The statement of a site ends with the next semicolon."""
    sites, name, code = {}, None, []
    for line in text.splitlines():
        site, bare = SITE.match(line), line.split("//")[0].strip()
        if site:
            if name is not None:
                fail(f"[park.{name}] is not followed by a statement")
            name, code = site[1], []
            if name in sites:
                fail(f"[park.{name}] is there twice")
        elif bare and name is None and ACCESS.search(bare):
            fail(f"an access has no name: {bare}")
        elif bare and name is not None:
            code.append(bare)
            if ";" in bare or "{" in bare:
                sites[name] = access_of(name, " ".join(code))
                name = None
    return sites


def access_of(name, statement):
    """`load spinning relaxed` for the one access in a statement of the header."""
    found, orders = list(ACCESS.finditer(statement)), ORDER.findall(statement)
    if len(found) != 1 or len(orders) != 1:
        fail(f"[park.{name}]: not one access with one memory order: {statement}")
    what = found[0]["fence"] or f"{found[0]['operation']} {found[0]['part'].rstrip('_')}"
    return f"{what} {orders[0]}"


def lines_of(text):
    """{function: [line, ...]} of the header's text."""
    sites = sites_of(text)
    gone = sorted(set().union(*PATHS.values()) - sites.keys())
    if gone:
        fail(f"sites of the proof that are gone: {', '.join(gone)}")
    return {function: [f"{site} {sites[site]}" for site in path] for function, path in PATHS.items()}


def body_of(text, function):
    """A function of the class, up to the brace that closes it."""
    found = re.search(rf"^  (?:\[\[[^\n]*\]\] )?(?:static )?{re.escape(function)}[^;{{]*{{", text, re.M)
    if found is None:
        fail(f"park.hpp has no function that begins with `{function}`")
    depth, at = 1, found.end()
    while depth:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return text[found.start() : at]


def code_of(text):
    """The code of the functions, without comments but for the names of sites."""
    return "".join(bare_code(body_of(text, function), SITE, "park") for function in FUNCTIONS)


def compare(text, proved, compared):
    """How many lines of the header are those that were proved; raises Untied with the first that is not."""
    header = as_text(lines_of(text))
    require_same(PARK, header, proved, code_of(text), compared)
    return len(header.splitlines())


if __name__ == "__main__":
    run(PARK, __doc__, code_of, compare)
