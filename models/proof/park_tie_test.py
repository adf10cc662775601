#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""park_tie.py must see each order that changes, and each line that moves, is removed, or has no name."""
import pathlib
import sys

import park_tie
from tie import Untied

HERE = pathlib.Path(__file__).resolve().parent
PROVED = (HERE / "park_table.txt").read_text()
CODE = (HERE / "park_code.txt").read_text()
HEADER = (HERE.parents[1] / park_tie.PARK.folder / park_tie.PARK.header).read_text()


def why_untied(text, code=None):
    """What park_tie.py says against a header with this text; nothing if its lines and its code are those that were proved.
    Without `code`, only its lines are compared."""
    try:
        park_tie.compare(text, PROVED, park_tie.code_of(text) if code is None else code)
    except Untied as untied:
        return str(untied)
    return ""


def after(place, old, new):
    """The header with `old` replaced by `new`, once, after a place in the text."""
    at = HEADER.index(place)
    assert old in HEADER[at:], (place, old)
    return HEADER[:at] + HEADER[at:].replace(old, new, 1)


def site(name, old, new):
    return after(f"// [park.{name}] ", old, new)


def main():
    if why := why_untied(HEADER, CODE):
        sys.exit(f"park_tie.py does not know the header as it is: {why}")
    # What the table sees: the code is that of the changed header.
    changes = {}
    for name in sorted({line.split()[1] for line in PROVED.splitlines()}):
        changes[f"order of {name}"] = site(name, "std::memory_order::", "std::memory_order::not_")
        changes[f"name of {name}"] = HEADER.replace(f"// [park.{name}] ", f"// [park.{name}.other] ", 1)
        changes[f"no name of {name}"] = HEADER.replace(f"// [park.{name}] ", "// ", 1)
    for name, old, new in [
        ("submit.fence", "Atomics::light_fence", "Atomics::heavy_fence"),
        ("machine_idle.fence", "Atomics::heavy_fence", "Atomics::light_fence"),
        ("doze.fence", "Atomics::heavy_fence", "Atomics::light_fence"),
        ("submit.fence", "order::seq_cst", "order::acq_rel"),
        ("found", "fetch_sub", "fetch_add"),
        ("submit.spinning", "spinning_.load", "need_spinning_.load"),
        ("need.heed", "need_spinning_.load", "spinning_.load"),
    ]:
        changes[f"{name}: {new}"] = site(name, old, new)
    # What only the comparison of the code sees: between the accesses, and their order in the text.
    code = {
        "found wakes nobody": after("  void found(", "    submitted();\n", ""),
        "found by a machine that does not spin": after("  void found(", "if (!m.spinning.get()) return;", ""),
        "no fence before the question": after("  void submitted()", "    submitted_in_order();", "    wake_one();"),
        "a wake-up for each task": after("  void submitted_in_order()", "if (!cared_for()) wake_one();", "wake_one();"),
        "nobody looks again": after("Processor* machine_idle(", "    return sleep_unless_work(m);", "    return sleep(m);"),
        "who was not counted lowers the count": after("Processor* machine_idle(", "      case given::up_uncounted: return sleep(m);\n", ""),
        "the last look does not count": after("Processor* sleep_unless_work(", "if (host_.work_anywhere())", "if (false)"),
        "a doze without a look": after("Processor* machine_dozes(", "while (look())", "while (true)"),
        "a doze without an end": after("Processor* machine_dozes(", "      stop_dozing(m);\n", ""),
        "a request that who spins withdraws": after("  void become_spinning(", "    m.spinning.set(true);\n", "    withdraw_request();\n"),
        "a request that a spinning machine leaves": after("given release_with_lock(", "    if (counted) withdraw_request();\n", ""),
        "an answer that is not counted": after("given release_with_lock(", "      become_spinning(m);\n", ""),
        "a request that nobody heeds": after("given release_with_lock(", "if (!m.spinning.get() && need", "if (false && need"),
        "a processor that is not idle": after("given release_with_lock(", "      processors_.put(p);\n", ""),
        "a machine that is not in the list": after("given release_with_lock(", "    add_idle(m);\n", ""),
        "a woken machine takes one more processor": after("Processor* take_back(", "    if (!m.idle.get()) return nullptr;\n", ""),
        "no request from who comes late": after("Processor* take_back(", "if (p == nullptr) {", "if (p != nullptr) {"),
        "a machine that spins and is in the list": after("Processor* take_back(", "    remove_idle(m);\n", ""),
        "a woken machine that is in the list": after("Machine* wake_machine_for(", "    remove_idle(*m);\n", ""),
        "a woken machine without a processor": after("Machine* wake_machine_for(", "    m->handed.set(&p);\n", ""),
        "no request from a submitter": after("  [[gnu::noinline]] void wake_one()", "if (p == nullptr) {", "if (p != nullptr) {"),
        "nobody is woken": after("  [[gnu::noinline]] void wake_one()", "      m->parker.unpark();\n", ""),
        "nobody asks for the request": after("bool cared_for() const", "if (need_", "if (false && need_"),
    }
    for what, text in (changes | code).items():
        if text == HEADER:
            sys.exit(f"this change changes nothing: {what}")
        if not why_untied(text, None if what in changes else CODE):
            sys.exit(f"park_tie.py does not see this change: {what}")
    if why_untied(HEADER.replace("/// Machine `m` has a task to run.", "/// A machine has a task to run."), CODE):
        sys.exit("park_tie.py sees a change where only a comment has changed")
    print(f"{len(changes) + len(code)} changes of park.hpp seen")


if __name__ == "__main__":
    main()
