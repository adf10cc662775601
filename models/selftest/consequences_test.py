#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A changed line of a header: does consequences.py say everything that has to change with it?

usage: consequences_test.py ROOT

In a copy of the headers, models and pages under git, one line of a copied ring.hpp is changed at a time. Without a change nothing is
said.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1]).resolve()
RING = "deque/include/runq/ring.hpp"
FAULT = "ring.hpp:12: a fault of a name"


def run(*words, cwd):
    return subprocess.run([*map(str, words)], cwd=cwd, check=True, capture_output=True, text=True).stdout


class Copy:
    def __init__(self, folder):
        self.root = pathlib.Path(folder)
        for part in ("deque/include", "scheduler/include", "scheduler/src/inside", "models", "docs"):
            if (ROOT / part).exists():
                shutil.copytree(ROOT / part, self.root / part, ignore=shutil.ignore_patterns("__pycache__"))
        self.git("init", "-q")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "as it was")
        self.header = self.root / RING
        self.shipped = self.header.read_text()

    def git(self, *words):
        run("git", "-c", "user.name=test", "-c", "user.email=test@localhost", *words, cwd=self.root)

    def consequences(self, old="", new="", names=("true",)):
        """What is said once this text of the header is changed."""
        assert not old or self.shipped.count(old) == 1, f"{RING} has changed: choose another line than {old}"
        self.header.write_text(self.shipped.replace(old, new) if old else self.shipped)
        return run(sys.executable, "-B", self.root / "models/verify/consequences.py", self.root, *names, cwd=self.root)


def expect(said, *texts):
    for text in texts:
        assert text in said, f"this is not said: {text}\n{said}"


def site_and_statement(text, site):
    """The comment of an operation, and its statement."""
    lines = text[text.index(f"// [{site}] "):].splitlines()
    code = next(i for i, line in enumerate(lines) if not line.lstrip().startswith("//"))
    end = next(i for i, line in enumerate(lines) if i >= code and line.rstrip().endswith((";", "{")))
    return "\n".join(lines[:code]), "\n".join(lines[code:end + 1])


def main():
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(folder)
        assert copy.consequences() == "nothing else has to change\n", copy.consequences()

        # An order: rows of the ledger, the proof, mutants whose text it is, and texts that quote it.
        _, publish = site_and_statement(copy.shipped, "ring.push.publish")
        said = copy.consequences(publish, publish.replace("release", "seq_cst"))
        expect(said, "mutants that no longer apply", "ring/publish_before_slot: the text to replace stands 0 times",
               "[ring.push.publish]: its row says release, ring.hpp says seq_cst", "./kit verify --update-ledger",
               "the lines of ring.hpp are not those that were proved", "./kit prove --update-table",
               "models/cases/queues/ring/ring.mutants:", "what follows from deque/include/runq/ring.hpp",
               "pins of ", "local_queue, ring", "docs/proof.md")
        assert "nothing else" not in said

        # A name: its row, and the new one has none.
        said = copy.consequences("// [ring.push.publish] ", "// [ring.push.shown] ")
        expect(said, "[ring.push.publish]: its row says release, and ring.hpp has no such operation",
               "[ring.push.shown] release: it has no row", "the proof of the ring")

        # What the runner says of names is passed on.
        expect(copy.consequences(names=("echo", FAULT)), "names of atomic operations", FAULT)

        # A comment that nobody quotes: only what includes the header, and pages that speak of it.
        said = copy.consequences("// SPDX-License-Identifier: MIT\n", "// SPDX-License-Identifier: MIT\n// A new comment.\n")
        expect(said, "what follows from deque/include/runq/ring.hpp")
        for text in ("no longer apply", "ledger", "the proof", "quotes"):
            assert text not in said, f"{text} is said of a comment\n{said}"
    print("passed")


if __name__ == "__main__":
    main()
