#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tie.py must see each order that changes, each line that moves, goes, or has no name."""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
HEADER = (HERE.parents[1] / "deque/include/runq/ring.hpp").read_text()


def tie(text):
    with tempfile.TemporaryDirectory() as folder:
        header = pathlib.Path(folder) / "ring.hpp"
        header.write_text(text)
        done = subprocess.run(
            [sys.executable, "-B", str(HERE / "tie.py"), "--header", str(header)], capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr


def after(site, old, new):
    """The header with `old` replaced by `new`, once, after the comment of a site."""
    at = HEADER.index(f"// [ring.{site}] ")
    assert old in HEADER[at:], (site, old)
    return HEADER[:at] + HEADER[at:].replace(old, new, 1)


def main():
    status, output = tie(HEADER)
    assert status == 0, output
    changes = {}
    # Every named site, with its order weakened or strengthened.
    for line in (HERE / "table.txt").read_text().splitlines():
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
        status, output = tie(text)
        if text == HEADER or status == 0:
            sys.exit(f"tie.py does not see this change: {what}\n{output}")
    print(f"{len(changes)} changes of ring.hpp seen")


if __name__ == "__main__":
    main()
