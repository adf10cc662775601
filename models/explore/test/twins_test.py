#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Explores programs, right and wrong ones, as their first lines say for the exact checker.

A line `// check FLAGS: EXPECTED` stands for one exploration of the program, compiled with FLAGS. What passes there must not fail in
any run; what FAILs there must fail in some run, in the same way, and `--replays N` runs with its seed must print the same.
Variants with options of the exact checker, and those whose failure the explorer does not look for, are left out. The others are
compiled as one source, as run_program.py does it: a number of arguments chooses one."""
import argparse
import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../compiled/test"))
import run_program  # noqa: E402

# How the explorer names what the exact checker does: it sees the race of a use with the release of the memory, or with
# its first write; a spinning thread never waits; and a lock that does not exclude may fail before it blocks.
ALSO = {"use after free": ["use after free", "data race"], "unpublished allocation": ["data race"],
        "deadlock": ["deadlock", "livelock", "data race"]}
NOT_LOOKED_FOR = ("leak",)


def variants(program):
    for check in run_program.checks_of(program):
        if not check.asked and not check.expected.removeprefix("FAIL ").startswith(NOT_LOOKED_FOR):
            yield check


def compiled(options, checks, folder):
    """By variant: the words that explore it, or what the compiler says."""
    together, found = collections.defaultdict(list), {}
    for check in checks:
        together[check if check.alone else (run_program.is_c(check.program), check.flags)].append(check)
    for number, group in enumerate(together.values()):
        binary = os.path.join(folder, str(number))
        flags, source = group[0].flags, binary + (".c" if run_program.is_c(group[0].program) else ".cpp")
        if group[0].alone:
            flags, source = [*group[0].macros, *flags], group[0].program
        else:
            with open(source, "w", encoding="utf-8") as file:
                file.write(run_program.source_of(group))
        words = [word for flag in flags for word in ("--flag", flag)]
        made = subprocess.run([options.tool, "--compile-only", binary, *words, source], text=True, capture_output=True)
        for arguments, check in enumerate(group):
            found[check] = ["--program", binary, "--", *arguments * ["-"]] if made.returncode == 0 else made.stderr
    return found


def without_times(text):
    return re.sub(r"(seed \d+).*", r"\1", text)


def run(options, check, words):
    name, expected = " ".join([os.path.basename(check.program), *check.macros, *check.flags]), check.expected
    if isinstance(words, str):
        return name, words, ""

    def explore(*more):
        limit = ["--max-steps", options.max_steps] if options.max_steps else []
        done = subprocess.run([options.tool, *limit, *more, *words], text=True, capture_output=True)
        return done.returncode, done.stdout + done.stderr

    status, text = explore("--runs", options.runs, *(["--seed", options.seed] if options.seed else []))
    if not expected.startswith("FAIL"):
        wanted = 2 if expected.startswith("not supported") else 0
        fits = status == wanted and (wanted == 0 or expected in text)
        return name, "" if fits else f"expected {expected}, not\n{text}", text.splitlines()[0]
    kind = expected.removeprefix("FAIL ")
    if kind.startswith("assertion"):
        fits = text.startswith("FAIL check failed: assertion") and kind.removeprefix("assertion fails").lstrip(": ") in text
    else:
        fits = any(text.startswith(f"FAIL {other}") for other in ALSO.get(kind, [kind]))
    if status != 1 or not fits:
        return name, f"expected {expected}, not\n{text}", ""
    seed = re.search(r"^seed (\d+)", text, re.M)[1]
    weak = re.search(r"^weak memory: ([^;\n]*)", text, re.M)
    summary = f"seed {seed}; weak memory {weak[1] if weak else '?'}; {text.splitlines()[0]}"
    for i in range(options.replays):
        again, repeated = explore("--seed", seed, "--runs", "1")
        if again != 1 or without_times(repeated) != without_times(text):
            return name, f"replay {i + 1} of seed {seed} differs:\n{repeated}\nfrom\n{text}", ""
    return name, "", summary


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--runs", default="2000")
    parser.add_argument("--max-steps", help="of a run: one without an end takes a minute by default")
    parser.add_argument("--replays", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", help="of the first run")
    parser.add_argument("--variant", help="only the lines with these FLAGS")
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        all_variants = [v for program in options.programs for v in variants(program)
                        if options.variant is None or [*v.macros, *v.flags] == options.variant.split()]
        commands = compiled(options, all_variants, folder)
        for name, problem, summary in pool.map(lambda v: run(options, v, commands[v]), all_variants):
            print(f"{'WRONG' if problem else 'ok'} {name}: {problem or summary}", flush=True)
            wrong += bool(problem)
    print(f"{len(all_variants)} variants, {wrong} wrong")
    return 1 if wrong or not all_variants else 0


if __name__ == "__main__":
    sys.exit(main())
