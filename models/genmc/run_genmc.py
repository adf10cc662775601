#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles one case of the models to LLVM bitcode and lets GenMC, if it is installed, check it.

Prints one line, "R " and a JSON object with the keys that the workers of the models use (explain/json.hpp):
  how         "exhaustive", or "cut_short" by the time limit
  what        "none", or what kind of failure
  message     of the failure or of the limit
  executions  complete executions explored; on failure, those before it
  blocked     executions abandoned because a thread was blocked
  seconds     GenMC's time
or, when GenMC could not be asked, {"error": why}. GenMC is a program of its own (https://github.com/MPI-SWS/genmc);
nothing of it is part of this kit.
"""

import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.dirname(HERE)
SKIPPED = 77  # what ctest is told when there is no clang

# Optimised a little, because GenMC does not accept the copies of small structures in unoptimised code. But clang must
# not vectorise, nor merge stores into memset: GenMC would see accesses that are not the program's.
COMPILE = ["-std=c++20", "-O1", "-g0", "-fno-builtin", "-fno-vectorize", "-fno-slp-vectorize", "-fno-exceptions",
           "-fno-rtti", "-fno-threadsafe-statics", "-emit-llvm", "-c", "-x", "c++", "-"]

# Load annotation changes GenMC's counts, and estimation only costs time. GenMC must execute each round of a loop, as
# the exact engine does: it must neither turn spin loops into assumptions nor block retries. waiting.hpp marks waiting
# loops.
CHECK = ["--disable-load-annotation", "--disable-estimation", "--disable-spin-assume",
         "--disable-confirmation-annotation", "--check-liveness"]


class Unavailable(Exception):
    """GenMC could not be asked; says nothing about the case."""


def cases_of_stem(stem):
    """The sources of one folder of cases: models/cases/<stem>/, or a subject's models/cases/<subject>/<stem>/."""
    return (path for place in ("", "*") for path in glob.glob(os.path.join(MODELS, "cases", place, stem, "*.cpp")))


def program_of(case):
    """A source that includes the file which registers `case` and runs that case in main()."""
    registered = re.compile(r"add_case<((?:(?!add_case<).)*)>\(\s*\{\s*\.name = \"" + re.escape(case) +
                            r"\",.*?\.threads = (\d+)", re.DOTALL)
    for path in sorted(cases_of_stem(case.split("/")[0])):
        with open(path, encoding="utf-8") as file:
            if found := registered.search(file.read()):
                scenario, threads = found.groups()
                return (f'#include "{path}"\nnamespace runq::model::corpus {{}}\nnamespace runq::model::field {{}}\n'
                        f"using namespace runq::model;\nusing namespace runq::model::corpus;\nusing namespace runq::model::field;\n"
                        f"int main() {{\n  run_case<{scenario}, {threads}>();\n  return 0;\n}}\n")
    raise Unavailable(f"no file registers a case called {case}")


def find_clang(genmc):
    """A clang++ whose bitcode this GenMC reads: of the same LLVM if there is one."""
    if genmc:
        banner = subprocess.run([genmc, "--version"], capture_output=True, text=True, check=False)
        version = re.search(r"LLVM\D*(\d+)", banner.stdout + banner.stderr)
        if version and (found := shutil.which("clang++-" + version.group(1))):
            return found
    return shutil.which("clang++")


def lay_headers(folder):
    """A folder with the headers of the checker, in which those of this folder replace others of the same name."""
    os.mkdir(folder)
    headers = {os.path.basename(path): path for place in (os.path.join(MODELS, "check"), HERE)
               for path in glob.glob(os.path.join(place, "*.hpp"))}
    for name, path in headers.items():
        os.symlink(path, os.path.join(folder, name))


def compile_case(clang, include, case, output):
    command = [clang, *COMPILE, *(f"-I{folder}" for folder in include), "-o", output]
    done = subprocess.run(command, input=program_of(case), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "error:" in line] or [done.stderr.strip()]
        raise Unavailable(f"{os.path.basename(clang)} does not compile {case} for GenMC: {errors[0]}")


# GenMC's words for what it finds, and those of the models.
FAILURES = {
    "Safety violation": "check failed",
    "Non-atomic race": "data race",
    "Liveness violation": "deadlock",
    "Attempt to read from uninitialized memory": "uninitialised read",
    "Attempt to access freed memory": "use after free",
    "Malloc-free race": "use after free",
    "Double-free error": "double free",
    "Unfreed memory": "leak",
    "Attempt to access non-allocated memory": "unpublished allocation",
}


def result_of(seconds, executions=0, blocked=0, what="none", message="", how="exhaustive"):
    return {"how": how, "what": what, "message": message, "executions": executions, "blocked": blocked,
            "seconds": seconds, "outcomes": [], "where": ""}


def verdict(text, status, seconds):
    count = re.search(r"Number of complete executions explored: (\d+)", text)
    if count is None:
        raise Unavailable(f"GenMC ended with status {status}: {' '.join(text.split())[-300:]}")
    blocked = re.search(r"Number of blocked executions seen: (\d+)", text)
    counts = (int(count.group(1)), int(blocked.group(1)) if blocked else 0)
    found = re.search(r"^(?:Error: ([^\n]*?)|Warning: (Unfreed memory[^\n]*?))!?$", text, re.MULTILINE)
    if found is None:
        if "No errors were detected" not in text:
            raise Unavailable(f"GenMC gave no verdict: {' '.join(text.split())[-300:]}")
        return result_of(seconds, *counts)
    name = found.group(1) or found.group(2)
    in_main = re.search(r"^Error: .*\nEvent \(0, ", text, re.MULTILINE)
    if FAILURES.get(name) == "uninitialised read" and in_main and "Memory intrinsic found" in text:
        # The optimiser may join the zeroes of an array with those of the next member; GenMC then writes only the
        # array's. The run fails at once if so, while the scenario is constructed.
        raise Unavailable("reads uninitialised memory, but GenMC has split a memset before, which can lose its tail")
    check = re.search(r"Assertion violation: (.*)", text)
    return result_of(seconds, *counts, what=FAILURES.get(name, "misuse"),
                     message=check.group(1) if check else name)


def check(genmc, model, bitcode, limit):
    started = time.monotonic()
    command = [genmc, *CHECK, f"--{model}", "--input-from-bitcode-file", bitcode]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              timeout=limit or None, check=False)
    except subprocess.TimeoutExpired:
        return result_of(time.monotonic() - started, how="cut_short", message=f"not finished after {limit:g} s")
    return verdict(done.stdout, done.returncode, time.monotonic() - started)


def run(options):
    clang = options.clang or find_clang(options.genmc)
    if clang is None:
        if options.compile_only:
            print("skipped: there is no clang++")
            sys.exit(SKIPPED)
        raise Unavailable("GenMC is there, but no clang++ to compile the cases for it")
    with tempfile.TemporaryDirectory(prefix="runq-genmc-") as folder:
        bitcode = os.path.join(folder, "case.bc")
        laid = os.path.join(folder, "include")
        lay_headers(laid)
        for case in options.case:
            compile_case(clang, [laid, *options.headers], case, bitcode)
        if options.compile_only:
            return {"how": "compiled only"}
        return check(options.genmc, options.model, bitcode, options.seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", required=True, nargs="+", help="as ring/push_vs_steal; several with --compile-only")
    parser.add_argument("--genmc", default=shutil.which("genmc"), help="the executable (default: from the PATH)")
    parser.add_argument("--clang", help="clang++ (default: of GenMC's LLVM version, else from the PATH)")
    parser.add_argument("--headers", nargs="+", default=[os.path.join(os.path.dirname(MODELS), part, "include")
                                                         for part in ("deque", "scheduler")])
    parser.add_argument("--model", choices=["rc11", "imm"], default="rc11")
    parser.add_argument("--seconds", type=float, default=0, help="time limit (0: none)")
    parser.add_argument("--compile-only", action="store_true", help="needs no GenMC; exits with 77 without clang++")
    options = parser.parse_args()
    if len(options.case) != 1 and not options.compile_only:
        parser.error("one --case at a time")
    if options.genmc is None and not options.compile_only:
        parser.error("no genmc on the PATH, and none given")
    try:
        print("R " + json.dumps(run(options)))
    except Unavailable as why:
        print("R " + json.dumps({"error": str(why)}))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
