#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""deque_tie.py must see each order that changes, and each line that moves, is removed, or has no name."""
import pathlib
import sys

import deque_tie
from tie import Untied

HERE = pathlib.Path(__file__).resolve().parent
PROVED = (HERE / "deque_table.txt").read_text()
CODE = (HERE / "deque_code.txt").read_text()
HEADER = (HERE.parents[1] / "deque/include/runq/chase_lev.hpp").read_text()


def why_untied(text, code=CODE):
    """What deque_tie.py says against a header with this text; nothing if its lines and its code are those that were proved."""
    try:
        deque_tie.compare(text, PROVED, code)
    except Untied as untied:
        return str(untied)
    return ""


def after(site, old, new):
    """The header with `old` replaced by `new`, once, after the comment of a site."""
    at = HEADER.index(f"// [chase_lev.{site}] ")
    assert old in HEADER[at:], (site, old)
    return HEADER[:at] + HEADER[at:].replace(old, new, 1)


def main():
    if why := why_untied(HEADER):
        sys.exit(f"deque_tie.py does not know the header as it is: {why}")
    # What the table sees: the code is that of the changed header.
    changes = {}
    for site in sorted({line.split()[1] for line in PROVED.splitlines()}):
        changes[f"order of {site}"] = after(site, "std::memory_order::", "std::memory_order::not_")
    for site, old, new in [
        ("pop.fence", "order::seq_cst", "order::acq_rel"),
        ("steal.claim", "seq_cst, std", "relaxed, std"),
        ("grow.publish", "order::release", "order::relaxed"),
        ("steal.top", "deque_->top_.load", "deque_->bottom_.load"),
        ("pop.fence", "Atomics::light_fence", "Atomics::heavy_fence"),
        ("pop.claim", "compare_exchange_strong", "compare_exchange_weak"),
    ]:
        changes[f"{site}: {new}"] = after(site, old, new)
    changes["a site without its name"] = HEADER.replace("// [chase_lev.pop.slot] relaxed", "// relaxed", 1)
    changes["a site with another name"] = HEADER.replace("[chase_lev.pop.slot]", "[chase_lev.pop.other]", 1)
    changes["an access without a name"] = after(
        "push.publish", "std::memory_order::release);", "std::memory_order::release);\n    d.top_.load(std::memory_order::relaxed);"
    )
    changes["two accesses under one name"] = after(
        "pop.top", "d.top_.load(std::memory_order::relaxed);", "d.top_.load(std::memory_order::relaxed) + d.bottom_.load(std::memory_order::relaxed);"
    )
    fence = HEADER.index("    // [chase_lev.pop.fence] seq_cst")
    top = HEADER.index("    // [chase_lev.pop.top] relaxed")
    changes["no fence in pop"] = HEADER[:fence] + HEADER[top:]
    for what, text in changes.items():
        if text == HEADER:
            sys.exit(f"this change changes nothing: {what}")
        if not why_untied(text, deque_tie.code_of(text)):
            sys.exit(f"deque_tie.py does not see this change: {what}")
    # What only the comparison of the code sees: between the accesses, and their order in the text.
    reserve = HEADER.index("    // [chase_lev.pop.reserve] release")
    code = {
        "pop reads top before its fence": HEADER[:fence]
        + HEADER[top : HEADER.index("    if (t > b) {")]
        + HEADER[fence:top]
        + HEADER[HEADER.index("    if (t > b) {") :],
        "pop fences before it reserves": HEADER[:reserve] + HEADER[fence:top] + HEADER[reserve:fence] + HEADER[top:],
        "pop takes the last element without a claim": HEADER.replace("if (t < b) return value;", "if (t <= b) return value;", 1),
        "pop reserves nothing": HEADER.replace("(std::memory_order::relaxed) - 1;", "(std::memory_order::relaxed);", 1),
        "a thief takes from an empty deque": HEADER.replace("if (t >= b) return {};", "if (t > b) return {};", 1),
        "one element too many": HEADER.replace("return b < d.full_at_.get();", "return b <= d.full_at_.get();", 1),
        "a full array that is not noticed": HEADER.replace("if (!has_room(d, b)) return otherwise", "if (a == nullptr) return otherwise", 1),
        "an array that is not larger": HEADER.replace("array::make(2 * a->capacity()", "array::make(a->capacity()", 1),
        "a copy that leaves one out": HEADER.replace("for (index i = t; i != b; ++i)", "for (index i = t + 1; i != b; ++i)", 1),
        "slots that are not counted round and round": HEADER.replace("& last_slot_.get()", "& capacity()", 1),
        "a batch that publishes one less": HEADER.replace("begin + static_cast<index>(count)", "begin + static_cast<index>(count) - 1", 1),
        "a claim of two": HEADER.replace("t, t + 1, std::memory_order::seq_cst", "t, t + 2, std::memory_order::seq_cst", 1),
    }
    for what, text in code.items():
        if text == HEADER:
            sys.exit(f"this change changes nothing: {what}")
        if not why_untied(text):
            sys.exit(f"deque_tie.py does not see this change: {what}")
    if why_untied(HEADER.replace("/// Takes the newest element", "/// It takes the newest element")):
        sys.exit("deque_tie.py sees a change where only a comment has changed")
    print(f"{len(changes) + len(code)} changes of chase_lev.hpp seen")


if __name__ == "__main__":
    main()
