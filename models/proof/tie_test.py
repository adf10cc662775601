#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tie.py must see each order that changes, and each line that moves, is removed, or has no name."""
import pathlib
import sys

import tie as tie_module

HERE = pathlib.Path(__file__).resolve().parent
PROVED = (HERE / "table.txt").read_text()
CODE = (HERE / "code.txt").read_text()
HEADER = (HERE.parents[1] / "deque/include/runq/ring.hpp").read_text()


def tie(text, with_code=False):
    """Whether the lines of a header with this text are those that were proved, and its code is that of code.txt."""
    try:
        return tie_module.as_text(tie_module.lines_of(text)) == PROVED and (
            not with_code or tie_module.code_of(text) == CODE
        )
    except tie_module.Untied:  # what it cannot read, it refuses
        return False


def after(site, old, new):
    """The header with `old` replaced by `new`, once, after the comment of a site."""
    at = HEADER.index(f"// [ring.{site}] ")
    assert old in HEADER[at:], (site, old)
    return HEADER[:at] + HEADER[at:].replace(old, new, 1)


def main():
    if not tie(HEADER, with_code=True):
        sys.exit("tie.py does not know the header as it is")
    changes = {}
    # Every named site, with its order weakened or strengthened.
    for line in PROVED.splitlines():
        site = line.split()[1]
        changes[f"order of {site}"] = after(site, "std::memory_order::", "std::memory_order::seq_cst_or_")
    changes["push.publish relaxed"] = after("push.publish", "std::memory_order::release", "std::memory_order::relaxed")
    changes["steal.tail relaxed"] = after("steal.tail", "std::memory_order::acquire", "std::memory_order::relaxed")
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
    # Between the accesses.
    code = {
        "steal takes the smaller half": HEADER.replace("count() - count() / 2", "count() / 2", 1),
        "room is one too many": HEADER.replace("return Capacity - distance(h, t);", "return Capacity + 1 - distance(h, t);"),
        "a far head is no reason to stop": HEADER.replace("count() > Capacity ? steal_status::lost : steal_status::taken", "steal_status::taken", 1),
        "a limit of 0": HEADER.replace("std::max<std::size_t>(limit, 1)", "limit", 1),
        "the remembered head is not looked at": HEADER.replace("if (known >= wanted) return known;", "", 1),
        "slots are not counted round and round": HEADER.replace("slots_[static_cast<std::size_t>(at) % Capacity]", "slots_[at]", 1),
        "a distance the other way": HEADER.replace("static_cast<Index>(to - from)", "static_cast<Index>(from - to)", 1),
        "a capacity that is no power of two": HEADER.replace("std::has_single_bit(Capacity) && ", "", 1),
        "shed_half sheds one": HEADER.replace("return shed(out, 2);", "return shed(out, 1);", 1),
        "observe reads the tail first": HEADER.replace("return {h, t};", "return {t, h};", 1),
        "a steal of one takes two": HEADER.replace("claim(seen.head, 1)", "claim(seen.head, 2)", 1),
        "a steal reads from the tail": HEADER.replace("read(seen.head)", "read(seen.tail)", 1),
        "push publishes two": HEADER.replace("r.tail_.store(advance(t, 1),", "r.tail_.store(advance(t, 2),"),
    }
    for what, text in code.items():
        if text == HEADER or tie(text, with_code=True):
            sys.exit(f"tie.py does not see this change: {what}")
    if not tie(HEADER.replace("  /// Adds one element", "  /// It adds one element"), with_code=True):
        sys.exit("tie.py sees a change where only a comment has changed")
    shapes, theorems = tie_module.shapes_text(), (HERE / "litmus.v").read_text()
    other = theorems.replace("Theorem coherence : forbidden", "Theorem coherence : allowed")
    gone = theorems.replace("Theorem coherence :", "Theorem incoherence :")
    swapped = theorems.replace("forbidden lb 2 2 [1; 1]", "forbidden lb 2 2 [1; 0]")
    seen = [len(tie_module.litmus_disagreements(shapes, text)) for text in (theorems, other, gone, swapped)]
    if seen != [0, 1, 1, 1]:
        sys.exit(f"tie.py does not see what litmus.v says otherwise: {seen}")
    print(f"{len(changes) + len(code)} changes of ring.hpp seen, and 3 of litmus.v")


if __name__ == "__main__":
    main()
