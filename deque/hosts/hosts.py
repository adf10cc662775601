#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares each host with its own queue and with ours: hosts.py --build DIR [--HOST CHECKOUT] [--repetitions N]
[--json FILE] [--tsan]. HOST is taskflow, libfork, stdexec or toomanycooks.

The programs <host>_own and <host>_runq in DIR print lines "PROGRAM NUMBER", where less is better. Both run in turn, N
times (default: 7, at least 3). A ratio is the median of the N ratios of neighbours, ours to theirs; below 1 ours is better.
The row `processor` is the processor time of all programs together, which other programs on the machine disturb less.
A host that was not built is named. A host of which a checkout is named is built here, its own tests run with our queue, and
it alone is compared. Nothing in the checkout is changed. CXX and CXXFLAGS in the environment name the compiler and more flags.

With --tsan nothing is compared: the tests of the host's queue run under ThreadSanitizer with our queue, and with its own, and
the reports are counted. A report that names a file of ours, or a test that fails, is an error.
"""
import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import xml.etree.ElementTree

HOSTS = {"eigen": "Eigen's ThreadPool", "fiber": "Boost.Fiber's work_stealing", "caf": "CAF's work_stealing",
         "taskflow": "taskflow's executor",
         "libfork": "libfork's pools", "stdexec": "stdexec's static_thread_pool",
         "toomanycooks": "TooManyCooks' ex_cpu"}
MINUTES = 30
HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass
class Test:
    """One of a host's own tests. `fails` are the innermost Catch2 test cases and sections that demand what our queue
    does not promise. If a test that needs a `newer` compiler does not compile, hosts.py says so and leaves it out."""
    source: str
    fails: frozenset = frozenset()
    newer: bool = False
    tsan: bool = False  # it runs with --tsan, too
    timed: frozenset = frozenset()  # cases that fail on a slow machine; so with --tsan they may


@dataclasses.dataclass
class Checkout:
    """How to build a host of which the user has a checkout. `adaptor` is a header that every source includes first."""
    adaptor: str
    folders: list        # of headers
    tests: list
    framework: str       # of the tests: doctest, catch2 or gtest
    standard: int = 20
    with_each: tuple = ()  # sources and flags of each test


CHECKOUTS = {
    "taskflow": Checkout("taskflow_wsq.hpp", ["", "3rd-party/doctest"], [
        Test("unittests/test_wsq.cpp"), Test("unittests/test_work_stealing.cpp"), Test("unittests/test_task_group.cpp", tsan=True),
        Test("unittests/test_asyncs.cpp"), Test("unittests/test_runtimes.cpp")], "doctest"),
    "libfork": Checkout("libfork_deque.hpp", ["include"], [
        Test("test/source/core/deque.cpp", tsan=True), Test("test/source/core/core.cpp"), Test("test/source/core/exceptions.cpp"),
        Test("test/source/core/unbalanced.cpp")], "catch2", standard=23),
    # The newest block of stdexec's queue belongs to the owner alone; in ours a thief may take each element.
    "stdexec": Checkout("stdexec_lifo_queue.hpp", ["include", "test"], [
        Test("test/exec/test_bwos_lifo_queue.cpp", fails=frozenset({
            "Put one, steal none", "Put three, Steal two", "exec::bwos::lifo_queue - size one block",
            "exec::bwos::lifo_queue - two blocks of size one"}), tsan=True),
        # These demand 50,000 tasks in ten seconds.
        Test("test/exec/test_static_thread_pool.cpp", tsan=True, timed=frozenset({
            "static_thread_pool drains remote work from a shared scheduler",
            "static_thread_pool drains remote work from producer schedulers"}))], "catch2"),
    # The tests are a project of their own, tmc-examples, which has TooManyCooks as a submodule.
    "toomanycooks": Checkout("toomanycooks_deque.hpp", ["submodules/TooManyCooks/include"], [
        Test("tests/test_chase_lev_deque.cpp", tsan=True), Test("tests/test_ex_cpu.cpp", newer=True),
        Test("tests/test_prio.cpp", newer=True), Test("tests/test_fork_group.cpp", newer=True),
        Test("tests/test_spawn_group.cpp", newer=True), Test("tests/test_misc.cpp", newer=True)], "gtest",
        with_each=("-DTMC_STANDALONE_COMPILATION", "{checkout}/tests/standalone_compilation.cpp")),
}


def framework_flags(framework, build):
    """What a test program needs beside its source. Debian 12 has Catch2 2, whose header has another name than Catch2
    3's, by which the hosts include it."""
    if framework == "gtest":
        return ["-lgtest", "-lgtest_main"]
    if framework == "doctest":
        return []
    folder = build / "catch2_names" / "catch2"
    folder.mkdir(parents=True, exist_ok=True)
    for name in "catch_all", "catch_test_macros", "catch_template_test_macros":
        (folder / f"{name}.hpp").write_text("#include <catch2/catch.hpp>\n")
    main = build / "catch2_main.cpp"
    main.write_text("#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n")
    return [f"-I{folder.parent}", main]


@dataclasses.dataclass
class Program:
    path: pathlib.Path
    source: pathlib.Path
    flags: list
    test: Test = None


def all_programs(host, checkout, build, tsan):
    """The programs that test the host with our queue, and the two that are compared. With `tsan`, those that test it under
    ThreadSanitizer: after each the same with the host's own queue."""
    how = CHECKOUTS[host]
    ours = ["-include", HERE / how.adaptor, f"-I{HERE.parent / 'include'}"]
    with_each = [flag.format(checkout=checkout) for flag in how.with_each] + framework_flags(how.framework, build)
    programs = []
    for test in how.tests:
        path = build / f"{host}_{pathlib.Path(test.source).stem}"
        if not tsan:
            programs.append(Program(path, checkout / test.source, ours + with_each, test))
        elif test.tsan:
            programs.append(Program(path.with_name(f"{path.name}_tsan"), checkout / test.source, ours + with_each, test))
            programs.append(Program(path.with_name(f"{path.name}_tsan_own"), checkout / test.source, with_each,
                                    dataclasses.replace(test, fails=frozenset())))
    if not tsan:
        programs.append(Program(build / f"{host}_own", HERE / f"{host}_bench.cpp", []))
        programs.append(Program(build / f"{host}_runq", HERE / f"{host}_bench.cpp", ours))
    for program in programs:
        if not program.source.exists():
            sys.exit(f"hosts.py: there is no {program.source}: {checkout} is no checkout of {host}, or of another version")
    return programs


def compile_all(host, checkout, build, tsan):
    """Builds all programs of a host, and returns its tests."""
    how = CHECKOUTS[host]
    build.mkdir(parents=True, exist_ok=True)
    programs = all_programs(host, checkout, build, tsan)
    # g++ warns that ThreadSanitizer does not know fences.
    flags = ["-O1", "-g1", "-fsanitize=thread", "-Wno-tsan"] if tsan else ["-O2", "-DNDEBUG"]
    compiler = os.environ.get("CXX", "g++")

    def compile_one(program):
        print(f"compile {program.path.name}", file=sys.stderr)
        command = [compiler, f"-std=c++{how.standard}", *flags,
                   *(f"-I{checkout / folder}" for folder in how.folders), program.source, *program.flags, "-o",
                   program.path, "-pthread", *os.environ.get("CXXFLAGS", "").split()]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    tests = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for program, done in zip(programs, pool.map(compile_one, programs)):
            if done.returncode == 0:
                tests += [program] if program.test else []
            elif program.test and program.test.newer:
                print(f"{program.path.name}: not run, because {compiler} does not compile it; CXX=clang++-19 does")
            else:
                sys.exit(f"hosts.py: {program.path.name} does not compile\n{done.stderr}")
    return tests


def catch2_result(xml_text):
    """The number of test cases, and the names of the innermost test cases and sections that failed."""
    root = xml.etree.ElementTree.fromstring(xml_text)
    failed = {part.get("name") for part in root.iter() if part.tag in ("TestCase", "Section")
              for child in part if child.tag in ("Expression", "Exception", "Failure", "FatalErrorCondition")
              and child.get("success") != "true"}
    return sum(1 for _ in root.iter("TestCase")), failed


def tsan_reports(output):
    """How many reports of ThreadSanitizer there are, and how many of them name a file of ours."""
    each = output.split("WARNING: ThreadSanitizer")[1:]
    return len(each), sum(f"{HERE.parent}/" in report for report in each)


def run_test(program, framework, tsan=False):
    """Runs a test, and returns what is wrong with it, or nothing, and what it says of itself."""
    options = ["-r", "xml"] if framework == "catch2" else []
    environment = {**os.environ, "TSAN_OPTIONS": "exitcode=0"} if tsan else None
    try:
        done = subprocess.run([program.path, *options], capture_output=True, text=True, timeout=60 * MINUTES, check=False,
                              env=environment)
    except subprocess.TimeoutExpired:
        return f"did not end within {MINUTES} minutes", ""
    output = done.stdout + done.stderr
    wrong, said = judged(program, framework, done, output, program.test.timed if tsan else frozenset())
    if tsan and not wrong:
        reports, of_ours = tsan_reports(output)
        if of_ours != 0:
            wrong = f"has {of_ours} reports of ThreadSanitizer that name a file of ours\n{output}"
        said += f"; ThreadSanitizer has {reports or 'no'} report{'' if reports == 1 else 's'}"
    return wrong, said


def judged(program, framework, done, output, may_fail):
    """The same, of a test that has ended."""
    if framework == "catch2":
        try:
            cases, failed = catch2_result(done.stdout)
        except xml.etree.ElementTree.ParseError:
            return f"ended with status {done.returncode}\n{output}", ""
        late, failed = failed & may_fail, failed - may_fail
        if failed != program.test.fails or (not failed and not late and done.returncode != 0):
            return f"failed in {sorted(failed)}, expected is {sorted(program.test.fails)}\n{output}", ""
        return "", f"{cases} test cases" + (f"; these fail by design: {'; '.join(sorted(failed))}" if failed else "") + (
            f"; not in time: {'; '.join(sorted(late))}" if late else "")
    if done.returncode != 0:
        return f"failed with status {done.returncode}\n{output}", ""
    said = [line for line in output.splitlines() if "test cases:" in line or "[  PASSED  ]" in line]
    return "", " ".join(" ".join(line.split("]", 1)[1] for line in said).split())


def test_all(programs, framework, tsan):
    """Runs a host's own tests. The first one that fails ends this program."""
    for program in programs:
        wrong, said = run_test(program, framework, tsan)
        if wrong:
            sys.exit(f"hosts.py: {program.path} {wrong}")
        print(f"{program.path.name}: passed; {said}", flush=True)


def run(program):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run([program], check=True, capture_output=True, text=True, timeout=60 * MINUTES)
    except subprocess.TimeoutExpired:
        sys.exit(f"hosts.py: {program} did not end within {MINUTES} minutes")
    except subprocess.CalledProcessError as failed:
        sys.exit(f"hosts.py: {program} failed with status {failed.returncode}\n{failed.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    figures = {name: float(number) for name, number in (line.split() for line in done.stdout.splitlines())}
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return {**figures, "processor": spent * 1000}


def compare(build, host, repetitions):
    pairs = [(run(build / f"{host}_own"), run(build / f"{host}_runq")) for _ in range(repetitions)]
    rows = {}
    for name in pairs[0][0]:
        own, ours = [o[name] for o, _ in pairs], [r[name] for _, r in pairs]
        ratios = [r / o for o, r in zip(own, ours)]
        rows[name] = {"own": statistics.median(own), "ours": statistics.median(ours), "ratio": statistics.median(ratios),
                      "least": min(ratios), "most": max(ratios)}
    return rows


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", type=pathlib.Path, required=True)
    p.add_argument("--repetitions", type=int, default=7)
    p.add_argument("--json", type=pathlib.Path)
    p.add_argument("--tsan", action="store_true")
    for host in CHECKOUTS:
        p.add_argument(f"--{host}", type=pathlib.Path, metavar="CHECKOUT")
    a = p.parse_args()
    if a.repetitions < 3:
        p.error("--repetitions: a median needs at least 3")
    checkouts = {host: getattr(a, host).resolve() for host in CHECKOUTS if getattr(a, host) is not None}
    if a.tsan and not checkouts:
        p.error("--tsan: for a host of which a checkout is named; those that are installed are tests of --preset clang")
    for host, checkout in checkouts.items():
        test_all(compile_all(host, checkout, a.build.resolve(), a.tsan), CHECKOUTS[host].framework, a.tsan)
    if a.tsan:
        return
    results = {}
    for host in checkouts or [host for host in HOSTS if host not in CHECKOUTS]:
        title = HOSTS[host]
        if not (a.build / f"{host}_own").exists():
            print(f"{title}: not run, because it is not installed")
            continue
        results[host] = compare(a.build, host, a.repetitions)
        print(f"{title}, medians of {a.repetitions}: its own queue, ours, ratio (from … to)")
        for name, row in results[host].items():
            unit = {"memory": "kB", "processor": "ms"}.get(name, "ns")
            print(f"  {name:14} {row['own']:10.1f} {unit} {row['ours']:10.1f} {unit}   {row['ratio']:.2f} "
                  f"({row['least']:.2f} … {row['most']:.2f})")
    if a.json:
        a.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
