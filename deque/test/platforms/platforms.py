#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the queues' unit tests and a thread pool on other processors, systems, libraries and compilers, and the checker's tests on
AArch64.

platforms.py --root ROOT --work DIR [--only GLOB] [--list] [--json FILE] [--stress] [--some]

A platform that this machine has no compiler or emulator for is listed as not run, with the Debian packages that it needs; that is
no failure. Where a test runs under an emulator, that shows that the code is right for the processor's instructions, its sizes and
its byte order, and nothing about weak memory: QEMU keeps the order of the memory accesses of the processor that it runs on.

Exit status: 0 if no platform failed, 1 if one did, 2 if the command could not be carried out.
"""
import argparse
import dataclasses
import fnmatch
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time

GOOGLETEST = pathlib.Path("/usr/src/googletest")  # Debian: libgtest-dev, libgmock-dev
# It starts its own program again, by /proc/self/exe, which is the emulator's or the loader's.
NOT_THROUGH_ANOTHER_PROGRAM = "membarrier.a_process_in_which_it_is_forbidden_has_fences_of_the_language"
COMPILE_LIMIT_S = 900
RUN_LIMIT_S = 900


@dataclasses.dataclass
class Platform:
    name: str
    what: str            # for people
    compiler: list       # the C++ compiler and what selects the platform
    packages: str        # Debian packages
    run: list = dataclasses.field(default_factory=list)      # before the program: an emulator, or the loader of another system's libraries
    flags: list = dataclasses.field(default_factory=list)
    libraries: list = dataclasses.field(default_factory=list)
    suffix: str = ""
    how: str = "run"     # "run" or "emulated"
    checks: bool = False  # the checker, rather than the queues


def linux(triplet, qemu, what, **more):
    """A Debian cross compiler, and QEMU for programs of that processor."""
    packages = f"g++-{triplet} qemu-user".replace("_", "-")
    return Platform(triplet.split("-")[0], f"g++, Linux on {what}", [f"{triplet}-g++"], packages, [qemu, "-L", f"/usr/{triplet}"],
                    how="emulated", **more)


PLATFORMS = [
    Platform("gcc", "g++ with libstdc++, Linux on x86-64", ["g++"], "g++"),
    Platform("clang", "clang++ with libstdc++, Linux on x86-64", ["clang++"], "clang"),
    Platform("clang19", "clang++ 19 with libstdc++, Linux on x86-64", ["clang++-19"], "clang-19"),
    Platform("libcxx", "clang++ 19 with libc++ 19, Linux on x86-64", ["clang++-19", "-stdlib=libc++"],
             "clang-19 libc++-19-dev libc++abi-19-dev"),
    Platform("i386", "g++, Linux on i386 (32 bits)", ["i686-linux-gnu-g++"], "g++-i686-linux-gnu",
             ["/usr/i686-linux-gnu/lib/ld-linux.so.2", "--library-path", "/usr/i686-linux-gnu/lib"], libraries=["-latomic"]),
    Platform("clang19-i386", "clang++ 19, Linux on i386 (32 bits)", ["clang++-19", "--target=i686-linux-gnu"], "clang-19 g++-i686-linux-gnu",
             ["/usr/i686-linux-gnu/lib/ld-linux.so.2", "--library-path", "/usr/i686-linux-gnu/lib"], libraries=["-latomic"]),
    linux("aarch64-linux-gnu", "qemu-aarch64", "AArch64"),
    linux("arm-linux-gnueabihf", "qemu-arm", "ARMv7 (32 bits)", libraries=["-latomic"]),
    linux("riscv64-linux-gnu", "qemu-riscv64", "RISC-V (64 bits)", libraries=["-latomic"]),
    linux("powerpc64le-linux-gnu", "qemu-ppc64le", "POWER (64 bits, little-endian)"),
    linux("s390x-linux-gnu", "qemu-s390x", "z/Architecture (64 bits, big-endian)"),
    linux("mips64el-linux-gnuabi64", "qemu-mips64el", "MIPS64 (little-endian)"),
    linux("sparc64-linux-gnu", "qemu-sparc64", "SPARC (64 bits, big-endian)"),
    Platform("mingw", "g++ of MinGW-w64, Windows on x86-64, under Wine", ["x86_64-w64-mingw32-g++-posix", "-static"],
             "g++-mingw-w64-x86-64-posix wine64 wine", ["wine"], suffix=".exe", how="emulated", flags=["-Wa,-mbig-obj"]),
    Platform("checker", "checker and explorer, by g++, Linux on AArch64", ["aarch64-linux-gnu-g++"],
             "g++-aarch64-linux-gnu qemu-user cmake ninja-build libfmt-dev nlohmann-json3-dev",
             ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"], how="emulated", checks=True),
]


class Failed(Exception):
    pass


def run(command, log, limit, **options):
    with log.open("a") as out:
        out.write(" ".join(map(str, command)) + "\n")
        out.flush()
        try:
            done = subprocess.run(list(map(str, command)), stdout=out, stderr=subprocess.STDOUT, timeout=limit, check=False, **options)
        except subprocess.TimeoutExpired as over:
            raise Failed(f"took longer than {limit} s: {log}") from over
    if done.returncode != 0:
        raise Failed(f"exit status {done.returncode}: {log}")


def missing(platform):
    """What this machine lacks for the platform, or ""."""
    for tool in (platform.compiler[0], *platform.run[:1], *(("cmake", "ninja") if platform.checks else ())):
        if shutil.which(tool) is None:
            return tool
    if platform.checks:
        for header in ("fmt/format.h", "nlohmann/json.hpp"):
            if not pathlib.Path("/usr/include", header).exists():
                return header
    if "-stdlib=libc++" in platform.compiler:
        probe = subprocess.run([*platform.compiler, "-x", "c++", "-fsyntax-only", "-"], input="#include <atomic>\n", text=True,
                               capture_output=True, check=False)
        if probe.returncode != 0:
            return "libc++"
    return ""


def tests_as_one(root, stress):
    """One source with all tests, because reading GoogleTest takes most of the time: each in a namespace of its own, after all that
    they include."""
    folder = root / "deque/test"
    sources = [s for s in sorted(folder.glob("*_test.cpp")) if stress or not s.name.endswith("_stress_test.cpp")]
    included, names = {}, []
    for source in [*sorted(folder.glob("*.hpp")), *sources]:
        included.update(dict.fromkeys(re.findall(r"^#include (<.*>)", source.read_text(), re.M)))
    text = "".join(f"#if __has_include({header})\n#include {header}\n#endif\n" for header in included)
    text += "".join(f'#include "{header}"\n' for header in sorted(folder.glob("*.hpp")))
    for number, source in enumerate(sources):
        names.append(source.stem)
        text += f'namespace test_{number} {{\n#include "{source}"\n}}\n'
    return text, names


def build_and_run(platform, root, work, stress):
    """Builds for the platform and runs; returns how many tests passed."""
    folder = work / platform.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    log = folder / "log.txt"
    compiler = [*platform.compiler, "-std=c++20", "-O1", "-pthread", "-w", *platform.flags]
    if platform.run:
        compiler.append('-DRUNQ_DEATH_TEST_STYLE="fast"')
    googletest = [f"-I{GOOGLETEST}/{part}{sub}" for part in ("googletest", "googlemock") for sub in ("/include", "")]
    ours = [f"-I{root}/deque/include", f"-I{root}/deque/test"]

    text, names = tests_as_one(root, stress)
    (folder / "tests.cpp").write_text(text)
    sources = [GOOGLETEST / "googletest/src/gtest-all.cc", GOOGLETEST / "googlemock/src/gmock-all.cc",
               GOOGLETEST / "googletest/src/gtest_main.cc", folder / "tests.cpp"]
    objects = []
    for source in sources:
        objects.append(folder / f"{source.stem}.o")
        run([*compiler, *googletest, *ours, "-c", source, "-o", objects[-1]], log, COMPILE_LIMIT_S)
    program = folder / f"tests{platform.suffix}"
    run([*compiler, *objects, "-o", program, *platform.libraries], log, COMPILE_LIMIT_S)
    pool = folder / f"thread_pool{platform.suffix}"
    run([*compiler, *ours, root / "deque/examples/thread_pool.cpp", "-o", pool, *platform.libraries], log, COMPILE_LIMIT_S)

    report = folder / "tests.json"
    leave_out = f"-{NOT_THROUGH_ANOTHER_PROGRAM}" if platform.run else ""
    run([*platform.run, program, f"--gtest_output=json:{report.name}", f"--gtest_filter=*{leave_out}"], log, RUN_LIMIT_S, cwd=folder)
    run([*platform.run, pool], log, RUN_LIMIT_S, cwd=folder)
    result = json.loads(report.read_text())
    ran = sum(test["status"] == "RUN" and test["result"] == "COMPLETED" for suite in result["testsuites"] for test in suite["testsuite"])
    if ran < len(names):
        raise Failed(f"only {ran} tests ran: {log}")
    return ran


# Of the explorer's tests, those whose mistakes show in few runs.
EXPLORED_PROGRAMS = ("after_release", "descriptors", "endings", "exceptions", "threads")
EXPLORED_RUNS = 50

# Of the checker's tests: right and wrong programs for atomics, locks, waiting, memory, crashes, and calls of libraries.
SOME_PROGRAMS = {"litmus": ("MESSAGE_PASSING", "STORE_BUFFERING"), "condition_variable": ("NOTIFIED",), "endings": ("AT_END",), "loops": ("READS",),
                 "atomics": ("WIDE",), "heap": ("FREED_NODE",)}


def explore(root, folder, log):
    """Explores programs; returns how many variants of them are judged as they should be, and the names of the others."""
    tests = root / "models/explore/test"
    done = subprocess.run([sys.executable, "-B", tests / "twins_test.py", "--tool", folder / "build/models/explore/runq-explore",
                           "--runs", str(EXPLORED_RUNS), "--replays", "1", *(tests / f"programs/{p}.cpp" for p in EXPLORED_PROGRAMS)],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=2 * RUN_LIMIT_S, check=False)
    with log.open("a") as out:
        out.write(done.stdout)
    return len(re.findall("^ok ", done.stdout, re.M)), re.findall(r"^WRONG (\S*)", done.stdout, re.M)


def build_and_check(platform, root, work, some):
    """Builds the checker, and the explorer, for the platform and lets them check programs; returns how many of their lines hold."""
    folder = work / platform.name
    log = folder / "log.txt"
    folder.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    # {fmt} and JSON are headers: those of this machine serve, whichever processor they were installed for.
    packages = {p.name: p for p in pathlib.Path("/usr").glob("lib/*/cmake/fmt")}
    off = [f"-DRUNQ_BUILD_{part}=OFF" for part in ("TESTS", "MODELS", "PROPTESTS", "BENCH", "C", "SCHEDULER")]
    run(["cmake", "-S", root, "-B", folder / "build", "-G", "Ninja", "--toolchain", root / "deque/cmake/aarch64.cmake",
         "-DCMAKE_BUILD_TYPE=Release", "-DRUNQ_BUILD_CHECK=ON", *off, *(f"-D{name}_DIR={path}" for name, path in packages.items())],
        log, COMPILE_LIMIT_S)
    run(["ninja", "-C", folder / "build", "runq_check", *([] if some else ["runq_explore"])], log, COMPILE_LIMIT_S)
    tests = root / "models/compiled/test"
    programs = [p for p in sorted(tests.glob("programs/*.c*")) if not some or p.stem in SOME_PROGRAMS]
    groups = [programs] if some else [[program] for program in programs]  # those of a group are compiled as one source
    macros = [f"--macro={macro}" for program in programs for macro in SOME_PROGRAMS[program.stem]] if some else []
    passed, failed = (0, []) if some else explore(root, folder, log)
    for group in groups:
        done = subprocess.run([sys.executable, "-B", tests / "run_program.py", "--tool", folder / "build/models/compiled/runq-check",
                               "--compiler", platform.compiler[0], "--emulator", " ".join(platform.run), "--levels=-O1", *macros,
                               *group],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=RUN_LIMIT_S, check=False)
        with log.open("a") as out:
            out.write(done.stdout)
        passed += len(re.findall("^ok ", done.stdout, re.M))
        if done.returncode != 0:
            failed += [program.name for program in group]
    if failed or passed < len(programs):
        raise Failed(f"{passed} checks passed, but not all of {', '.join(failed) or 'them'}: {log}")
    return passed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="*", help="only platforms whose names match")
    parser.add_argument("--list", action="store_true", help="name the platforms, and what they need")
    parser.add_argument("--json", type=pathlib.Path, help="write the results to this file")
    parser.add_argument("--stress", action="store_true", help="the stress tests, too")
    parser.add_argument("--some", action="store_true", help="of the checker's tests, a few")
    options = parser.parse_args()
    chosen = [p for p in PLATFORMS if fnmatch.fnmatch(p.name, options.only)]
    if not chosen:
        print(f"platforms: no platform matches {options.only}; there are {' '.join(p.name for p in PLATFORMS)}", file=sys.stderr)
        return 2
    if options.list:
        for p in chosen:
            lacks = missing(p)
            print(f"{p.name:<13}{p.what:<52}{'not here: ' + p.packages if lacks else 'here'}")
        return 0
    if not all(p.checks for p in chosen) and not (GOOGLETEST / "googletest/src/gtest-all.cc").exists():
        print(f"platforms: {GOOGLETEST} is missing (Debian: libgtest-dev libgmock-dev)", file=sys.stderr)
        return 2
    results = {}
    for p in chosen:
        lacks = missing(p)
        if lacks:
            results[p.name] = {"what": p.what, "result": "not run", "why": f"there is no {lacks}; Debian: {p.packages}"}
            print(f"{p.name:<13}not run: there is no {lacks} (Debian: {p.packages})", flush=True)
            continue
        began = time.monotonic()
        try:
            root, work = options.root.resolve(), options.work.resolve()
            if p.checks:
                tests, what = build_and_check(p, root, work, options.some), "checks of programs"
            else:
                tests, what = build_and_run(p, root, work, options.stress), "tests and the thread pool"
            results[p.name] = {"what": p.what, "result": p.how, "tests": tests}
            print(f"{p.name:<13}{p.how}: {tests} {what} passed, {time.monotonic() - began:.0f} s", flush=True)
        except Failed as failure:
            results[p.name] = {"what": p.what, "result": "failed", "why": str(failure)}
            print(f"{p.name:<13}FAILED: {failure}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    failed = [name for name, r in results.items() if r["result"] == "failed"]
    passed = sum("tests" in r for r in results.values())
    print(f"platforms: {passed} passed, {len(failed)} failed, {len(results) - passed - len(failed)} not run")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
