#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bugs seeded into the scripts that judge: each must make the script's own test fail.

usage: script_mutants_test.py [--quick] ROOT TABLE TOOL [NAME...]

The table is in the form of the tables of mutants (checker_mutants.py). `file:` is a script; `killed by:` is its test and that
one's arguments; all paths are relative to ROOT, and {} is the folder of the copy. What the scripts and tests read is copied, and there one script after the
other is changed. TOOL is runq-check; {}/runq-check is one that reads its scripts from the copy, and is changed by mutants of runq-check.in. With
--quick its mutants only have to apply.
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
          "models/compiled/*.sh", "models/compiled/*.py", "models/compiled/*.awk", "models/compiled/*.hpp", "models/compiled/test/command/*",
          "models/compiled/test/existing/*", "models/compiled/include/runq/*", "models/cases/litmus/*", "models/cases/pinned.txt", "models/cases/queues/ring/owner_vs_thieves.cpp", "deque/include/runq/*.hpp", "tools/docs/rows*",
          "models/field/*.py", "models/field/test/*.py", "models/known/*.py", "models/known/test/*.py", "models/known/reports/*", "tools/docs/kit_test.py", "kit", "kit.options", "models/verify/options_table.hpp")
TOOL = "{}/runq-check"
COMMAND = "models/compiled/runq-check.in"
Mutant = collections.namedtuple("Mutant", "name file killer changes")


def mutants_of(table):
    for name, text in parse_table(table.read_text(encoding="utf-8")):
        fields, changes = parse(text)
        yield Mutant(name, fields["file"], fields["killed by"], changes)


def copy(root, tool, folder):
    for pattern in COPIED:
        for file in root.glob(pattern):
            if file.is_dir():
                continue
            target = folder / file.relative_to(root)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)
    text = tool.read_text(encoding="utf-8").replace('here=$(dirname "$(realpath "$0")")', f"here='{tool.parent}'")
    copied = folder / "runq-check"
    copied.write_text(text.replace(f"data_dir='{root}/models/compiled'", f"data_dir='{folder}/models/compiled'"), encoding="utf-8")
    copied.chmod(0o755)


def fails(folder, killer):
    """How the test fails, or None."""
    try:
        words = killer.replace("{}", str(folder)).split()
        done = subprocess.run([sys.executable, "-B", *words], cwd=folder, capture_output=True, text=True, timeout=400)
    except subprocess.TimeoutExpired:
        return "takes too long"
    return None if done.returncode == 0 else (done.stderr.strip().splitlines() or ["fails"])[-1]


def verdict_on(root, tool, mutant, is_run):
    """Why the mutant is not killed; empty if it is, or only has to apply."""
    changed, status = mutate((root / mutant.file).read_text(encoding="utf-8"), mutant.changes)
    if changed is None:
        return f"does not apply: {status}"
    if not is_run:
        return ""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        copy(root, tool, folder)
        (folder / mutant.file).write_text(changed, encoding="utf-8")
        if mutant.file == COMMAND:
            command = folder / "runq-check"
            command.write_text(mutate(command.read_text(encoding="utf-8"), mutant.changes)[0], encoding="utf-8")
        if mutant.file.endswith(".py"):
            compile(changed, mutant.file, "exec")
        return "" if fails(folder, mutant.killer) else f"lives: {mutant.killer} passes"


def main():
    quick = sys.argv[1] == "--quick"
    root, table, tool, *only = sys.argv[1 + quick:]
    root, table, tool = pathlib.Path(root), pathlib.Path(table), pathlib.Path(tool)
    mutants = [m for m in mutants_of(table) if not only or m.name in only]
    good = bool(mutants)

    def is_run(mutant):
        return not quick or TOOL not in mutant.killer

    with tempfile.TemporaryDirectory() as name:
        copy(root, tool, pathlib.Path(name))
        for killer in sorted({m.killer for m in mutants if is_run(m)}):
            how = fails(name, killer)
            if how is not None:
                sys.exit(f"{killer}: without a mutant: {how}")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for mutant, why in zip(mutants, pool.map(lambda m: verdict_on(root, tool, m, is_run(m)), mutants)):
            if why:
                good = False
                print(f"{mutant.name}: {why}")
    print(f"{len(mutants)} mutants of scripts")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
