#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares each host with its own queue and with ours: hosts.py --build DIR [--repetitions N] [--json FILE].

The programs <host>_own and <host>_runq in DIR print lines "PROGRAM NUMBER", where less is better. Both run in turn, N
times (default: 7, at least 3). A ratio is the median of the N ratios of neighbours, ours to theirs; below 1 ours is better.
A host that was not built is named.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

HOSTS = {"eigen": "Eigen's ThreadPool", "fiber": "Boost.Fiber's work_stealing"}
MINUTES = 5


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
    a = p.parse_args()
    if a.repetitions < 3:
        p.error("--repetitions: a median needs at least 3")
    results = {}
    for host, title in HOSTS.items():
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
