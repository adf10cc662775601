#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A failure is made smaller, a debugger can be attached to it, and it is written as JSON, SARIF, JUnit's XML and pages; what does
not fail is written as such."""
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree

here = os.path.dirname(os.path.realpath(__file__))
TEXTBOOK = os.path.join(here, "../../compiled/test/programs/textbook")
PROGRAM = os.path.join(here, "programs", "lost_update.cpp")
with open(PROGRAM) as source:
    LINE = 1 + next(i for i, line in enumerate(source) if "assert(n" in line)
wrong = []


until_wrong = False


def expect(what, fits, text):
    if fits:
        return
    if until_wrong:
        sys.exit(f"{what}:\n{text}")
    wrong.append(f"{what}:\n{text}")


class Program:
    def __init__(self, tool, scratch, name, source, *flags):
        self.tool, self.scratch, self.path = tool, scratch, os.path.join(scratch, name)
        words = [word for flag in flags for word in ("--flag", flag)]
        subprocess.run([tool, "--compile-only", self.path, *words, source], check=True)

    def explore(self, *more):
        done = subprocess.run([self.tool, "--program", self.path, *more], text=True, capture_output=True)
        return done.returncode, done.stdout + done.stderr

    def results(self, *more):
        """Exit status, JSON, SARIF, JUnit's XML, and the pages by their names."""
        files = {name: os.path.join(self.scratch, name) for name in ("json", "sarif", "junit", "html")}
        status, _ = self.explore(*[word for name, path in files.items() for word in ("--" + name, path)], *more)
        with open(files["json"]) as one, open(files["sarif"]) as two:
            as_json, sarif = json.load(one), json.load(two)
        return status, as_json, sarif, tree.parse(files["junit"]).getroot(), sorted(os.listdir(files["html"]))


def smaller(program):
    status, text = program.explore("--strategy", "walk")
    found = re.search(r"^made smaller: (\d+) of (\d+) changes .*, (\d+) of (\d+) old values", text, re.M)
    expect("a failure is made smaller", status == 1 and found, text)
    if found:
        changes, all_changes, old, _ = map(int, found.groups())
        # One thread goes on between two steps of another, and that one then goes on.
        expect("few changes are left of many, and no old value", changes <= 2 and all_changes >= 20 and old == 0, text)
    status, unchanged = program.explore("--strategy", "walk", "--make-smaller", "no")
    expect("it is shown as it was found", status == 1 and "made smaller" not in unchanged, unchanged)


def the_same_failure(program):
    """Not another one that fewer changes lead to."""
    found = 0
    for seed in range(1, 400):
        words = ("--seed", str(seed), "--runs", "1", "--strategy", "walk")
        _, text = program.explore(*words, "--make-smaller", "no")
        if "assertion !came_again fails" not in text:
            continue
        status, text = program.explore(*words)
        expect("a failure that is made smaller stays the same", status == 1 and "made smaller: " in text and
               text.startswith("FAIL check failed: assertion !came_again fails"), text)
        found += 1
        if found == 2:
            break
    expect("the rarer one of two failures is found", found, "")


def needed_memory(failing, seqlock):
    for program, words in ((failing, "not needed; the run that is shown has no old values"), (seqlock, "needed; with the same seed")):
        _, text = program.explore()
        expect("whether it needs weak memory", f"\nweak memory: {words}" in text, text)


def counted_statuses(tool, scratch):
    """An exit status is no failure then; what else ends a run still is."""
    for way, status, begin in ((1, 0, "explored: 21 runs, and none fails"), (2, 1, "FAIL crash: abort()")):
        program = Program(tool, scratch, "counted", os.path.join(here, "programs", "endings.cpp"), f"-DWAY={way}")
        ended, text = program.explore("--runs", "20", "--statuses", "count")
        expect("statuses are counted", ended == status and text.startswith(begin) and (status or "\nstatus 3: 21\n" in text), text)


def the_other_side_of_a_race(tool, scratch):
    with tempfile.TemporaryDirectory(dir=scratch) as own:
        _, as_json, *_ = Program(tool, own, "race", os.path.join(here, "programs", "rare_calls.cpp"), "-DWAY=1").results()
    trace, unordered = as_json["execution"]["trace"], as_json["execution"].get("unordered")
    expect("the other access is one of the other thread", unordered is not None and trace[unordered]["thread"] != trace[-1]["thread"],
           as_json)


def stopped(program):
    for where in "failure", "20":
        with subprocess.Popen([program.tool, "--program", program.path, "--strategy", "walk", "--stop-at", where], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            line = process.stderr.readline()
            found = re.search(r"stopped at step (\d+), in T\d+: attach a debugger by `gdb -p (\d+)`", line)
            expect(f"it stops at {where}", found and where in ("failure", found[1]), line)
            if found:
                pid = int(found[2])
                while True:  # the line is written just before it stops
                    with open(f"/proc/{pid}/stat") as file:
                        if file.read().rsplit(")", 1)[1].split()[0] == "T":
                            break
                os.kill(pid, signal.SIGCONT)
            text = process.stdout.read()
        expect("and goes on to fail", process.returncode == 1 and text.startswith("FAIL check failed: assertion"), text)
    status, text = program.explore("--stop-at", "never")
    expect("where it cannot stop", status == 2 and "--stop-at does not take never" in text, text)


def long_ones(right, endless):
    status, text = right.explore("--max-steps", "2000", "--runs", "20")
    expect("what is long ends", status == 0 and text.startswith("explored: 21 runs"), text)
    status, text = endless.explore("--max-steps", "2000", "--runs", "20")
    found = re.match(r"FAIL livelock: no end: \d+ steps, .* no atomic variable has changed since step (\d+) ", text)
    expect("what is endless does not", status == 1 and found and "--max-steps 2000" in text, text)
    status, text = right.explore("--max-steps", "0")
    expect("no steps at all", status == 2 and "--max-steps does not take 0" in text, text)


def early_waits(program):
    status, text = program.explore("--runs", "1", "--strategy", "bursts")
    waits = re.search("^why: .*", text, re.M)
    expect("who waits since long is named", status == 1 and waits and all(f"T{n} waits since before the steps that are shown" in waits[0]
                                                                         for n in (1, 2)), text)


def libraries(tool, scratch):
    """One that is instrumented, and one that is not, which is named."""
    for name, flags in (("seen", ["-fsanitize=thread"]), ("unseen", [])):
        code, made = os.path.join(scratch, name + ".cpp"), os.path.join(scratch, name + ".o")
        with open(code, "w") as file:
            file.write(f"int {name}(int* n) {{ return ++*n; }}\n")
        subprocess.run(["g++", "-fPIC", *flags, "-c", code, "-o", made], check=True)
        subprocess.run(["g++", "-shared", made, "-o", os.path.join(scratch, f"lib{name}.so")], check=True)
    code = os.path.join(scratch, "libraries.cpp")
    with open(code, "w") as file:
        file.write("int seen(int*), unseen(int*);\nint main() { int n = 0; return seen(&n) + unseen(&n) == 3 ? 0 : 1; }\n")
    status, text = Program(tool, scratch, "libraries", code, "-L" + scratch, "-lseen", "-lunseen", "-Wl,-rpath," + scratch).explore()
    expect("a library is named that is not instrumented", status == 0 and text.endswith("is not seen: libunseen.so\n"), text)


def checked(check, path):
    done = subprocess.run([check, path], text=True, capture_output=True)
    return done.stdout + done.stderr


def tiny_programs(check, fitting, other, scratch):
    """The exact checker refuses them as the runs failed, and those that stronger orders mend it allows with these."""
    path = os.path.join(scratch, "tiny.cpp")
    for program, fails, mended in fitting:
        status, text = program.explore("--tiny", path)
        expect("a tiny program is written", status == 1 and f"tiny program: {path}" in text, text)
        if not os.path.exists(path):
            continue
        answer = checked(check, path)
        expect("the exact checker refuses it", re.match(rf"FAIL in execution \d+: {fails}", answer), answer)
        if mended:
            with open(path) as file:
                source = file.read()
            with open(path, "w") as file:
                file.write(re.sub(r"(x\d+[.,].*)\b(relaxed|acquire|release|acq_rel)\)", r"\1seq_cst)", source))
            answer = checked(check, path)
            expect("it allows it with stronger orders", answer.startswith(("exhaustive", "bounded")), answer)
        os.remove(path)
    status, text = other.explore("--tiny", path)
    expect("what does not fit", status == 1 and re.search("^no tiny program: the run has more than 4096 steps", text, re.M) and
           not os.path.exists(path), text)


def assembler(scratch):
    """A CMake target gives what is included first to its assembler sources, too."""
    code = os.path.join(scratch, "nothing.S")
    with open(code, "w") as file:
        file.write(".section .note.GNU-stack,\"\"\n")
    first = os.path.join(here, "../../compiled/include/runq/check_instrument.h")
    done = subprocess.run(["gcc", "-include", first, "-c", code, "-o", os.path.join(scratch, "nothing.o")], text=True, capture_output=True)
    expect("an assembler source is compiled", done.returncode == 0, done.stderr)


def addresses(program):
    printed = {re.search("mapped at .*", program.explore("--runs", "10", "--jobs", jobs)[1])[0] for jobs in ("1", "2", "5")}
    expect("what the program maps lies at one address, with any number of runs at a time", len(printed) == 1, printed)


def whole_program(right, failing):
    status, as_json, sarif, junit, pages = failing.results()
    (result,) = sarif["runs"][0]["results"]
    (case,) = junit
    expect("JSON of a failure", status == 1 and as_json["verdict"] == "failed" and as_json["failure"] == "check failed" and
           as_json["execution"]["trace"] and as_json["changes"] <= 2, as_json)
    place = result["locations"][0]["physicalLocation"]
    expect("SARIF of a failure", result["ruleId"] == "check failed" and place["artifactLocation"]["uri"].endswith("lost_update.cpp")
           and place["region"]["startLine"] == LINE and result["codeFlows"], sarif)
    expect("JUnit of a failure", junit.get("failures") == "1" and case.find("failure") is not None and
           "lost_update.cpp" in case.find("failure").get("message"), tree.tostring(junit))
    expect("a page for the failure", len(pages) == 2 and "index.html" in pages, pages)

    status, as_json, sarif, junit, pages = right.results("--runs", "20", "--html", os.path.join(right.scratch, "html of right"))
    expect("JSON where nothing fails", status == 0 and as_json["verdict"] == "explored" and as_json["runs"] == 21, as_json)
    expect("SARIF where nothing fails", sarif["runs"][0]["results"] == [], sarif)
    expect("JUnit where nothing fails", junit.get("failures") == "0" and junit.get("errors") == "0" and junit.get("tests") == "1",
           tree.tostring(junit))
    status, text = right.explore("--junit", "/no such folder/file")
    expect("no place for a result", status == 2 and "cannot write /no such folder/file" in text, text)


def tests_one_by_one(tests):
    status, as_json, sarif, junit, pages = tests.results("--only", "adds|update", "--runs", "50")
    expect("JSON of each test", status == 1 and [(t["test"], t["verdict"]) for t in as_json["tests"]] ==
           [("counter.adds_atomically", "explored"), ("counter.loses_an_update", "failed")], as_json)
    expect("SARIF of the one that fails", len(sarif["runs"][0]["results"]) == 1, sarif)
    expect("JUnit of each test", [(c.get("name"), c.find("failure") is not None) for c in junit] ==
           [("counter.adds_atomically", False), ("counter.loses_an_update", True)], tree.tostring(junit))
    with open(os.path.join(tests.scratch, "html", "index.html")) as file:
        text = file.read()
    expect("an index of the tests", "counter.adds_atomically" in text and "counter.loses_an_update" in text, pages)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--check", help="runq-check")
    parser.add_argument("--short", action="store_true", help="only that it is small, and stops; and no more after what is wrong")
    options = parser.parse_args()
    global until_wrong
    until_wrong = options.short
    with tempfile.TemporaryDirectory() as scratch:
        failing = Program(options.tool, scratch, "failing", PROGRAM, "-DWRONG")
        smaller(failing)
        the_same_failure(Program(options.tool, scratch, "two", os.path.join(here, "programs", "two_failures.cpp")))
        needed_memory(failing, Program(options.tool, scratch, "old", os.path.join(TEXTBOOK, "locks/seqlock.cpp"), "-DWRONG"))
        counted_statuses(options.tool, scratch)
        the_other_side_of_a_race(options.tool, scratch)
        stopped(failing)
        libraries(options.tool, scratch)
        assembler(scratch)
        waits = Program(options.tool, scratch, "waits", os.path.join(here, "programs", "early_waits.cpp"))
        early_waits(waits)
        long_run = os.path.join(here, "long_run.cpp")
        long_ones(Program(options.tool, scratch, "long", long_run), Program(options.tool, scratch, "endless", long_run, "-DWRONG"))
        addresses(Program(options.tool, scratch, "mapped", os.path.join(here, "programs", "mapped.cpp"), "-DWRONG"))
        if options.check:
            fitting = [(failing, "check failed", False)]
            for name, fails, mended in (("locks/seqlock", "check failed", True), ("locks/lock_order", "deadlock", False),
                                        ("publication/double_checked_locking", "data race", True)):
                source = os.path.join(TEXTBOOK, name + ".cpp")
                fitting.append((Program(options.tool, scratch, os.path.basename(name), source, "-DWRONG"), fails, mended))
            tiny_programs(options.check, fitting, waits, scratch)
        if not options.short:
            whole_program(Program(options.tool, scratch, "right", PROGRAM), failing)
            tests_one_by_one(Program(options.tool, scratch, "tests", os.path.join(here, "tests_of_googletest.cpp"), "-O0", "-lgtest",
                                     "-lgtest_main"))
    print("\n".join(wrong) if wrong else "failures are small, stop, and are written")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
