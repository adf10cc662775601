#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a ledger of `runq_worker` reads saves time and changes no verdict: expected rows, even wrong ones, and the orders that
searches have noted.

usage: ledger_test.py WORKER (CASES_MODULE HEADER)...
"""
import json
import pathlib
import subprocess
import sys
import tempfile


def output_of(worker, module, **what):
    asked = json.dumps({"modules": [module], **what})
    return subprocess.run([worker, asked], check=True, capture_output=True, text=True).stdout


def result_of(*command, **what):
    return json.loads(next(line[2:] for line in output_of(*command, **what).splitlines() if line.startswith("R ")))


def verdicts(found):
    return {(row["site"], row["arg"], row["written"], row["weaker"]): row["verdict"] for row in found["rows"]}


def turned_round(row):
    """Wrong rows: needed orders are called redundant, and redundant ones are said to be killed by some case."""
    return {**row, "verdict": "killed" if row["verdict"] == "redundant" else "redundant", "case": "of/no_stem"}


def orders_noted(worker, module):
    """By case: the orders that its complete search uses."""
    cases = [c for c in json.loads(output_of(worker, module, list={})) if not c["seeded_bug"]]
    return {c["name"]: result_of(worker, module, search={"case_name": c["name"], "note_orders": True})["orders"]
            for c in cases}


def try_notes(command, header, true, noted):
    """With the notes of all cases, or of some, the ledger is the same. It believes them, or they would save nothing."""
    some = dict(list(noted.items())[::2])
    with tempfile.TemporaryDirectory() as folder:
        for name, notes in (("all", noted), ("some", some), ("empty", dict.fromkeys(noted, []))):
            file = pathlib.Path(folder, name)
            file.write_text(json.dumps(notes))
            found = result_of(*command, ledger={"header": header, "uses": str(file)})
            if (found == true) != (name != "empty"):
                sys.exit(f"with {name} notes: {found}\nwithout: {true}")


def try_wrong_rows(command, header, true):
    """All verdicts that occurred."""
    with tempfile.TemporaryDirectory() as folder:
        for name, rows in (("right", true["rows"]), ("wrong", [turned_round(row) for row in true["rows"]])):
            file = pathlib.Path(folder, name)
            file.write_text(json.dumps({pathlib.Path(header).stem: rows}))
            found = result_of(*command, ledger={"header": header, "expected": str(file)})
            if verdicts(found) != verdicts(true) or found["holes"] != true["holes"]:
                sys.exit(f"with {name} rows: {verdicts(found)} {found['holes']}\nwithout: {verdicts(true)} {true['holes']}")
    print(f"{header}: {len(true['rows'])} rows, the same with right and with wrong expectations")
    return set(verdicts(true).values())


def main():
    worker, *words = sys.argv[1:]
    occurred = set()
    for module, header in zip(words[::2], words[1::2]):
        command = [worker, module]
        true = result_of(*command, ledger={"header": header})
        try_notes(command, header, true, orders_noted(worker, module))
        occurred |= try_wrong_rows(command, header, true)
    if not {"killed", "redundant"} <= occurred:
        sys.exit(f"both verdicts must occur, or this test shows little: {occurred}")


main()
