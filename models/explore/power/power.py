#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints how many runs, and how many seconds of processor time, the explorer needs to find known bugs, beside the same without weak
memory: the wrong programs of the textbook, and mutants of the scheduler in an ordinary program (scheduler.cpp)."""
import argparse
import glob
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.realpath(__file__))
root = os.path.join(here, "..", "..", "..")
textbook = os.path.join(root, "models", "compiled", "test", "programs", "textbook")
HEADERS = [os.path.join(root, *parts) for parts in (("deque", "include"), ("scheduler", "include"), ("scheduler", "src", "inside"))]
MUTANTS = ["park/no_rest_fence", "park/no_submit_fence", "park/doze_without_fence", "park/found_wakes_nobody",
           "park/doze_without_last_look", "park/looks_without_rmw", "park/no_second_look", "park/stop_forgets_sleepers",
           "park/idle_by_a_light_fence", "parker/wakes_before_the_token", "parker/put_by_store", "parker/wakes_nobody",
           "machine_loop/yields_without_a_fence", "machine_loop/published_in_silence", "machine_loop/found_forgotten",
           "machine_loop/global_overlooked", "monitor/stop_wakes_nobody", "monitor/stop_after_its_token", "mutex/arrival_not_noted",
           "channel/buffer_before_receiver"]


def wrong_variants():
    """Source and flags of the textbook's wrong programs, but leaks, which the explorer does not look for."""
    for source in sorted(glob.glob(os.path.join(textbook, "*", "*.c*"))):
        with open(source) as file:
            for line in file:
                found = re.match(r"// check(.*?): FAIL (.*)", line)
                if found and "--" not in found[1] and not found[2].startswith("leak"):
                    yield source, found[1].split()


def compile_textbook(options, scratch, source, flags):
    program = os.path.join(scratch, "_".join([os.path.basename(source), *flags]))
    words = [word for flag in flags for word in ("--flag", flag)]
    subprocess.run([options.tool, "--compile-only", program, *words, source], check=True)
    return program


def compile_scheduler(options, scratch):
    """Over headers with all mutants; the scheduler's own sources as one."""
    changed = os.path.join(scratch, "mutants")
    os.mkdir(changed)
    subprocess.run([sys.executable, "-B", os.path.join(root, "models", "verify", "mutant_variants.py"), changed, ":".join(HEADERS),
                    os.path.join(root, "models", "cases"), *MUTANTS], check=True)
    unity = os.path.join(scratch, "scheduler_sources.cpp")
    with open(unity, "w") as file:
        file.writelines(f'#include "{s}"\n' for s in sorted(glob.glob(os.path.join(root, "scheduler", "src", "*", "*.cpp"))))
    program = os.path.join(scratch, "scheduler")
    folders = [os.path.join(changed, "all"), os.path.join(root, "models", "check"), *HEADERS]
    words = [word for flag in ["-w", "-O0", *("-I" + f for f in folders)] for word in ("--flag", flag)]
    subprocess.run([options.tool, "--compile-only", program, *words, os.path.join(here, "scheduler.cpp"), unity], check=True)
    return program


def explore(options, program, words, memory):
    """Runs and seconds of processor time until it fails, how it fails, or None."""
    with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([options.tool, "--program", program, "--runs", "100000000", "--make-smaller", "no", "--time-limit",
                        str(options.seconds), "--seed", str(options.seed), "--memory", memory, "--json", file.name, "--", *words],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = json.load(file)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return result["runs"], seconds, result.get("failure")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--seconds", type=float, default=60, help="for each bug, with weak memory and without")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default=".", help="a regular expression: bugs")
    options = parser.parse_args()
    bugs = [(" ".join([os.path.relpath(s, textbook), *flags]), s, flags) for s, flags in wrong_variants()]
    bugs += [(name, None, name) for name in MUTANTS]
    bugs = [bug for bug in bugs if re.search(options.only, bug[0])]
    found = {"weak": 0, "strong": 0}
    print("| bug | found as | runs | seconds | without weak memory: runs | seconds |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        scheduler = compile_scheduler(options, scratch) if any(source is None for _, source, _ in bugs) else None
        for name, source, flags in bugs:
            program = scheduler if source is None else compile_textbook(options, scratch, source, flags)
            row = [name]
            for memory in found:
                runs, seconds, failure = explore(options, program, [flags] if source is None else [], memory)
                found[memory] += failure is not None
                row += ([failure or "not found"] if memory == "weak" else []) + [f"{runs:,}" if failure else f"> {runs:,}",
                                                                                f"{seconds:.2f}"]
            print("| " + " | ".join(row) + " |", flush=True)
    print(f"\n{found['weak']} of {len(bugs)} found within {options.seconds:g} s each; without weak memory {found['strong']}")


if __name__ == "__main__":
    main()
