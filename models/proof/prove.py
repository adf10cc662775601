#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the proofs with Coq, says what they rest on, and compares their tables of lines with table.txt, deque_table.txt and park_table.txt."""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import time

from failing import fail

HERE = pathlib.Path(__file__).resolve().parent
# The order matters: each file uses those before it.
FILES = ["memory", "runs", "traces", "litmus", "ring", "invariant", "theorems", "sizes", "wrap", "header", "counterexamples", "replay"]
FILES += ["fence_litmus", "deque", "deque_invariant", "deque_theorems", "deque_answers"]
FILES += ["deque_arrays", "deque_header", "deque_counterexamples", "deque_replay"]
FILES += ["park", "park_theorems", "park_request", "park_count", "park_care", "park_header", "park_counterexamples", "park_replay"]
FILES += ["assumptions"]
TABLES = {"header": "table.txt", "deque_header": "deque_table.txt", "park_header": "park_table.txt"}
TIES = ["tie.py", "deque_tie.py", "park_tie.py"]


def compile_file(name, folder):
    """Compiles one file in `folder`; returns what Coq printed."""
    began = time.monotonic()
    done = subprocess.run(["coqc", "-q", f"{name}.v"], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fail(f"Coq does not accept {name}.v:\n{done.stdout}{done.stderr}")
    count = len((folder / f"{name}.v").read_text().splitlines())
    print(f"  {name}.v: {count} lines, {time.monotonic() - began:.1f} s", flush=True)
    return done.stdout


def refuse_gaps(name, text):
    # Print Assumptions would find them, too, if a listed theorem used them.
    found = re.search(r"\b(Admitted|admit|Axiom|Axioms|Parameter|Parameters|Conjecture|Abort)\b", re.sub(r"\(\*.*?\*\)", "", text, flags=re.S))
    if found:
        fail(f"{name}.v says {found[0]}: nothing may be left open")


def table_of(output):
    """The lines of table.txt from what Coq printed of the list of (function, lines)."""
    lines, function = [], None
    for text in re.findall(r'"([^"]*)"', output):
        if " " in text:
            lines.append(f"{function}: {text}\n")
        else:
            function = text
    return "".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="where compiled files go")
    parser.add_argument("--update-table", action="store_true", help="write the tables anew, after a look at the headers")
    options = parser.parse_args()
    if shutil.which("coqc") is None:
        fail("there is no coqc; on Debian: apt-get install --no-install-recommends coq")
    began = time.monotonic()
    shutil.rmtree(options.build, ignore_errors=True)
    options.build.mkdir(parents=True)
    print(subprocess.run(["coqc", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0])
    outputs = {}
    for name in FILES:
        source = HERE / f"{name}.v"
        refuse_gaps(name, source.read_text())
        shutil.copy(source, options.build)
        outputs[name] = compile_file(name, options.build)

    listed = re.search(r"everything :=\s*\((.*?)\)\.", (HERE / "assumptions.v").read_text(), re.S)
    theorems = re.findall(r"[\w.]+", listed[1])
    answer = outputs["assumptions"].strip()
    print(f"Print Assumptions of {', '.join(theorems)}:\n{answer}")
    if answer != "Closed under the global context":
        fail("a theorem rests on something that was not proved")

    for header, name in TABLES.items():
        table, pinned = table_of(outputs[header]), HERE / name
        if options.update_table:
            pinned.write_text(table)
        elif table != pinned.read_text():
            fail(f"{name} is not what {header}.v computes; run ./kit prove --update-table, and look at the difference")
    ties = [subprocess.run([sys.executable, "-B", str(HERE / tie)], check=False).returncode for tie in TIES]
    print(f"prove: {len(theorems)} theorems, no axiom, in {time.monotonic() - began:.0f} s")
    sys.exit(max(ties))


if __name__ == "__main__":
    main()
