#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The expected rows that `runq_worker ledger` reads only save time: wrong ones do not change a verdict.

usage: ledger_test.py WORKER (CASES_MODULE HEADER)...
"""
import json
import pathlib
import subprocess
import sys
import tempfile


def ledger(command, *more):
    output = subprocess.run([*command, *more], check=True, capture_output=True, text=True).stdout
    return json.loads(next(line[2:] for line in output.splitlines() if line.startswith("R ")))


def verdicts(found):
    return {(row["site"], row["arg"], row["written"], row["weaker"]): row["verdict"] for row in found["rows"]}


def turned_round(row):
    """Wrong rows: needed orders are called redundant, and redundant ones are said to be killed by some case."""
    return {**row, "verdict": "killed" if row["verdict"] == "redundant" else "redundant", "case": "of/no_stem"}


def try_wrong_rows(command):
    """All verdicts that occurred."""
    true = ledger(command)
    with tempfile.TemporaryDirectory() as folder:
        for name, rows in (("right", true["rows"]), ("wrong", [turned_round(row) for row in true["rows"]])):
            file = pathlib.Path(folder, name)
            file.write_text(json.dumps(rows))
            found = ledger(command, "--expected", str(file))
            if verdicts(found) != verdicts(true) or found["holes"] != true["holes"]:
                sys.exit(f"with {name} rows: {verdicts(found)} {found['holes']}\nwithout: {verdicts(true)} {true['holes']}")
    print(f"{command[-1]}: {len(true['rows'])} rows, the same with right and with wrong expectations")
    return set(verdicts(true).values())


def main():
    worker, *words = sys.argv[1:]
    occurred = set()
    for module, header in zip(words[::2], words[1::2]):
        occurred |= try_wrong_rows([worker, "--module", module, "ledger", "--header", header])
    if not {"killed", "redundant"} <= occurred:
        sys.exit(f"both verdicts must occur, or this test shows little: {occurred}")


main()
