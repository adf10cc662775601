#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bugs seeded into the scripts that judge: each must make the script's own test fail.

usage: script_mutants_test.py ROOT TABLE [NAME...]

The table is in the form of the tables of mutants (checker_mutants.py). `file:` is a script; `killed by:` is its test and that
one's arguments; all paths are relative to ROOT, and {} is the folder of the copy. What the scripts and tests read is copied, and there one script after the
other is changed.
"""
import collections
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "verify"))
from mutants import mutate, parse, parse_table  # noqa: E402

COPIED = ("models/selftest/*.py", "models/verify/*.py", "models/check/*.hpp", "models/compiled/test/*.py", "models/proof/*.*",
          "models/cases/litmus/*", "models/cases/pinned.txt", "models/cases/queues/ring/owner_vs_thieves.cpp", "deque/include/runq/*.hpp", "tools/docs/rows*")
Mutant = collections.namedtuple("Mutant", "name file killer changes")


def mutants_of(table):
    for name, text in parse_table(table.read_text(encoding="utf-8")):
        fields, changes = parse(text)
        yield Mutant(name, fields["file"], fields["killed by"], changes)


def copy(root, folder):
    for pattern in COPIED:
        for file in root.glob(pattern):
            target = folder / file.relative_to(root)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)


def fails(folder, killer):
    """How the test fails, or None."""
    try:
        words = killer.replace("{}", str(folder)).split()
        done = subprocess.run([sys.executable, "-B", *words], cwd=folder, capture_output=True, text=True, timeout=100)
    except subprocess.TimeoutExpired:
        return "takes too long"
    return None if done.returncode == 0 else (done.stderr.strip().splitlines() or ["fails"])[-1]


def verdict_on(root, mutant):
    """Why the mutant is not killed; empty if it is."""
    changed, status = mutate((root / mutant.file).read_text(encoding="utf-8"), mutant.changes)
    if changed is None:
        return f"does not apply: {status}"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        copy(root, folder)
        (folder / mutant.file).write_text(changed, encoding="utf-8")
        compile(changed, mutant.file, "exec")
        return "" if fails(folder, mutant.killer) else f"lives: {mutant.killer} passes"


def main():
    root, table, only = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    mutants = [m for m in mutants_of(table) if not only or m.name in only]
    good = bool(mutants)
    with tempfile.TemporaryDirectory() as name:
        copy(root, pathlib.Path(name))
        for killer in sorted({m.killer for m in mutants}):
            how = fails(name, killer)
            if how is not None:
                sys.exit(f"{killer}: without a mutant: {how}")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for mutant, why in zip(mutants, pool.map(lambda m: verdict_on(root, m), mutants)):
            if why:
                good = False
                print(f"{mutant.name}: {why}")
    print(f"{len(mutants)} mutants of scripts")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
