#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tie.py must see each order that changes, each line that moves, goes, or has no name."""
import pathlib
import sys

import tie as tie_module

HERE = pathlib.Path(__file__).resolve().parent
PROVED = (HERE / "table.txt").read_text()
HEADER = (HERE.parents[1] / "deque/include/runq/ring.hpp").read_text()


def tie(text):
    """Whether the lines of a header with this text are those that were proved."""
    try:
        return tie_module.as_text(tie_module.lines_of(text)) == PROVED
    except SystemExit:  # what it cannot read, it refuses
        return False


def after(site, old, new):
    """The header with `old` replaced by `new`, once, after the comment of a site."""
    at = HEADER.index(f"// [ring.{site}] ")
    assert old in HEADER[at:], (site, old)
    return HEADER[:at] + HEADER[at:].replace(old, new, 1)


def main():
    if not tie(HEADER):
        sys.exit("tie.py does not know the header as it is")
    changes = {}
    # Every named site, with its order weakened or strengthened.
    for line in PROVED.splitlines():
        site = line.split()[1]
        changes[f"order of {site}"] = after(site, "std::memory_order::", "std::memory_order::seq_cst_or_")
    changes["push.publish relaxed"] = after("push.publish", "std::memory_order::release", "std::memory_order::relaxed")
    changes["steal_one.tail relaxed"] = after("steal_one.tail", "std::memory_order::acquire", "std::memory_order::relaxed")
    changes["failure order of pop.claim"] = after("pop.claim", "std::memory_order::relaxed", "std::memory_order::acquire")
    changes["a site without its name"] = HEADER.replace("// [ring.pop.slot] relaxed", "// relaxed", 1)
    changes["a site with another name"] = HEADER.replace("[ring.pop.slot]", "[ring.pop.other]", 1)
    changes["a store after the publishing"] = after(
        "push.publish", "return true;", "r.tail_.store(t, std::memory_order::relaxed);\n    return true;"
    )
    changes["no look at the room"] = HEADER.replace("if (room(t, 1) == 0) return false;", "", 1)
    push = HEADER.index("    // [ring.push.slot] relaxed")
    publish = HEADER.index("    // [ring.push.publish] release")
    end = HEADER.index("    return true;", publish)
    changes["push publishes before it writes"] = (
        HEADER[:push] + HEADER[publish:end] + HEADER[push:publish] + HEADER[end:]
    )
    changes["pop reads tail where head was"] = after("pop.head", "r.head_.load", "r.tail_.load")
    for what, text in changes.items():
        if text == HEADER or tie(text):
            sys.exit(f"tie.py does not see this change: {what}")
    shapes, theorems = (HERE.parents[1] / "models/cases/litmus/shapes.cpp").read_text(), (HERE / "litmus.v").read_text()
    other = theorems.replace("Theorem coherence : forbidden", "Theorem coherence : allowed")
    gone = theorems.replace("Theorem coherence :", "Theorem incoherence :")
    swapped = theorems.replace("forbidden lb 2 2 [1; 1]", "forbidden lb 2 2 [1; 0]")
    seen = [len(tie_module.litmus_disagreements(shapes, text)) for text in (theorems, other, gone, swapped)]
    if seen != [0, 1, 1, 1]:
        sys.exit(f"tie.py does not see what litmus.v says otherwise: {seen}")
    print(f"{len(changes)} changes of ring.hpp seen, and 3 of litmus.v")


if __name__ == "__main__":
    main()
