#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares each host with its own queue and with ours: hosts.py --build DIR [--taskflow CHECKOUT] [--repetitions N]
[--json FILE].

The programs <host>_own and <host>_runq in DIR print lines "PROGRAM NUMBER", where less is better. Both run in turn, N
times (default: 7, at least 3). A ratio is the median of the N ratios of neighbours, ours to theirs; below 1 ours is better.
A host that was not built is named. A host of which a checkout is named is built here, its own tests run with our queue, and
it alone is compared. Nothing in the checkout is changed. CXX and CXXFLAGS in the environment name the compiler and more flags.
"""
import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import sys

HOSTS = {"eigen": "Eigen's ThreadPool", "fiber": "Boost.Fiber's work_stealing", "taskflow": "taskflow's executor"}
MINUTES = 30
HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass
class Checkout:
    """How to build a host of which the user has a checkout. `adaptor` is a header that every source includes first."""
    adaptor: str
    folders: list  # of headers
    tests: list    # the host's own


CHECKOUTS = {
    "taskflow": Checkout("taskflow_wsq.hpp", ["", "3rd-party/doctest"], [
        "unittests/test_wsq.cpp", "unittests/test_work_stealing.cpp", "unittests/test_task_group.cpp",
        "unittests/test_asyncs.cpp", "unittests/test_runtimes.cpp"]),
}


def compile_all(host, checkout, build):
    """Returns the programs that test the host with our queue; the two that are compared are called as elsewhere."""
    how = CHECKOUTS[host]
    ours = ["-include", HERE / how.adaptor, f"-I{HERE.parent / 'include'}"]
    sources = {build / f"{host}_{pathlib.Path(test).stem}": (checkout / test, ours) for test in how.tests}
    tests = list(sources)
    sources[build / f"{host}_own"] = HERE / f"{host}_bench.cpp", []
    sources[build / f"{host}_runq"] = HERE / f"{host}_bench.cpp", ours
    for source, _ in sources.values():
        if not source.exists():
            sys.exit(f"hosts.py: there is no {source}: {checkout} is no checkout of {host}, or of another version")
    build.mkdir(parents=True, exist_ok=True)

    def compile_one(program):
        source, flags = sources[program]
        print(f"compile {source.name}", file=sys.stderr)
        command = [os.environ.get("CXX", "g++"), "-std=c++20", "-O2", "-DNDEBUG", *flags,
                   *(f"-I{checkout / folder}" for folder in how.folders), source, "-o", program, "-pthread",
                   *os.environ.get("CXXFLAGS", "").split()]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for program, done in zip(sources, pool.map(compile_one, sources)):
            if done.returncode != 0:
                sys.exit(f"hosts.py: {program.name} does not compile\n{done.stderr}")
    return tests


def test_all(programs):
    """Prints what each of a host's tests says last. The first one that fails ends this program."""
    for program in programs:
        try:
            done = subprocess.run([program], capture_output=True, text=True, timeout=60 * MINUTES, check=False)
        except subprocess.TimeoutExpired:
            sys.exit(f"hosts.py: {program} did not end within {MINUTES} minutes")
        if done.returncode != 0:
            sys.exit(f"hosts.py: {program} failed with status {done.returncode}\n{done.stdout}{done.stderr}")
        counts = [line.split("]")[1].strip() for line in done.stdout.splitlines() if "test cases:" in line]
        print(f"{program.name}: passed; {' '.join(' '.join(counts).split())}", flush=True)


def run(program):
    try:
        done = subprocess.run([program], check=True, capture_output=True, text=True, timeout=60 * MINUTES)
    except subprocess.TimeoutExpired:
        sys.exit(f"hosts.py: {program} did not end within {MINUTES} minutes")
    except subprocess.CalledProcessError as failed:
        sys.exit(f"hosts.py: {program} failed with status {failed.returncode}\n{failed.stderr}")
    return {name: float(number) for name, number in (line.split() for line in done.stdout.splitlines())}


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
    for host in CHECKOUTS:
        p.add_argument(f"--{host}", type=pathlib.Path, metavar="CHECKOUT")
    a = p.parse_args()
    if a.repetitions < 3:
        p.error("--repetitions: a median needs at least 3")
    checkouts = {host: getattr(a, host).resolve() for host in CHECKOUTS if getattr(a, host) is not None}
    for host, checkout in checkouts.items():
        test_all(compile_all(host, checkout, a.build.resolve()))
    results = {}
    for host in checkouts or [host for host in HOSTS if host not in CHECKOUTS]:
        title = HOSTS[host]
        if not (a.build / f"{host}_own").exists():
            print(f"{title}: not run, because it is not installed")
            continue
        results[host] = compare(a.build, host, a.repetitions)
        print(f"{title}, medians of {a.repetitions}: its own queue, ours, ratio (from … to)")
        for name, row in results[host].items():
            unit = "kB" if name == "memory" else "ns"
            print(f"  {name:14} {row['own']:10.1f} {unit} {row['ours']:10.1f} {unit}   {row['ratio']:.2f} "
                  f"({row['least']:.2f} … {row['most']:.2f})")
    if a.json:
        a.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
