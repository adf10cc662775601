#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the benchmarks that are built, and makes tables, JSON, plots and bench/results/tables.md of what they measure.

run.py [queues|scheduler|all] --build DIR    DIR: where bench/CMakeLists.txt was built
    --smoke              each row once, with little work: only its result is checked
    --repetitions N      default 7
    --only REGEX         rows, as in --only '^pairs/'
    --json FILE          write what was measured
    --from FILE          measure nothing, read what an earlier --json has written
    --plots DIR          draw, with matplotlib
    --write-docs FILE    write the part of the page between the markers, and plots into the folder plots beside it; with --only,
                         a part of its own, without plots
    --compare FILE       print the statements whose verdict differs from that file's; status 1 if there is one

One process measures one figure. All processes of a repetition run in random order, so that a machine that changes its
speed changes it for all candidates alike. Every process checks its results. Ratios are ratios of the medians of one
run; figures of different runs are never compared.
"""
import argparse
import datetime
import json
import os
import platform
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

from rows import CHECKOUTS, ROWS, SCHEDULERS, SWEEPS, sizes, small_sizes
from statements import STATEMENTS

MARKERS = ("<!-- bench/run.py: begin -->", "<!-- bench/run.py: end -->")
MARKERS_OF_SOME_ROWS = ("<!-- bench/run.py --only: begin -->", "<!-- bench/run.py --only: end -->")

def fail(message):
    sys.exit(f"run.py: {message}")


# ---- measuring -------------------------------------------------------------------------------------------------------

class Results:
    """rows[row][candidate]: {"values": [one per repetition or None], "instructions": n, "pinned": bool}"""

    def __init__(self):
        self.rows, self.context, self.absent = {}, {}, {}

    def entry(self, row, candidate):
        return self.rows.setdefault(row, {}).setdefault(candidate, {"values": []})

    def add(self, row, candidate, value):
        self.entry(row, candidate)["values"].append(value)

    def values(self, row, candidate):
        return [v for v in self.rows.get(row, {}).get(candidate, {}).get("values", []) if v is not None]

    def median(self, row, candidate):
        values = self.values(row, candidate)
        return statistics.median(values) if values else None


def cpus():
    return sorted(os.sched_getaffinity(0))


def execute(command, workers=None, env=None, may_die=False):
    """Runs on as many processors as there are workers; None for status 3, "no such row". A peer may die of a signal."""
    keep_to = cpus()[:workers] if workers else cpus()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, **(env or {})}, timeout=300,
                          preexec_fn=lambda: os.sched_setaffinity(0, keep_to))
    if done.returncode == 3:
        return None
    if done.returncode < 0 and may_die:
        return done
    if done.returncode != 0:
        fail(f"status {done.returncode} of {' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done


def instruction_counter():
    """A function from a command to the instructions it executes, and its name; or None."""
    if shutil.which("perf"):
        done = subprocess.run(["perf", "stat", "-x,", "-e", "instructions:u", "true"], stderr=subprocess.PIPE, text=True)
        if re.match(r"\d+,", done.stderr):
            def perf(command, env):
                done = execute(["perf", "stat", "-x,", "-e", "instructions:u", *command], 1, env)
                return int(done.stderr.strip().splitlines()[-1].split(",")[0])
            return perf, "perf stat"
    if shutil.which("valgrind"):
        def callgrind(command, env):
            done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, **env}, timeout=120)
            found = re.search(r"Collected : (\d+)", done.stderr)
            return int(found[1]) if found and done.returncode == 0 else None
        return callgrind, "callgrind"
    return None, ""


def system_call_counter():
    """A function from a command to the system calls it makes, all threads together; or None."""
    if shutil.which("perf"):
        event = "raw_syscalls:sys_enter"
        done = subprocess.run(["perf", "stat", "-x,", "-e", event, "true"], stderr=subprocess.PIPE, text=True)
        if re.search(rf"^\d+,.*{event}", done.stderr, re.M):
            def perf(command, workers, env):
                done = execute(["perf", "stat", "-x,", "-e", event, *command], workers, env)
                return int(re.search(rf"^(\d+),.*{event}", done.stderr, re.M)[1])
            return perf
    if shutil.which("strace"):
        def strace(command, workers, env):
            done = execute(["strace", "-f", "-c", "-U", "calls", *command], workers, env)
            return int(re.search(r"^ *(\d+) total$", done.stderr, re.M)[1])
        return strace
    return None


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def run_all(jobs, repetitions, what):
    """Calls all functions in `jobs` once in random order, and does that `repetitions` times."""
    began = time.monotonic()
    total = len(jobs) * repetitions
    said = began
    for repetition in range(repetitions):
        for at, job in enumerate(random.sample(jobs, len(jobs))):
            job()
            done = repetition * len(jobs) + at + 1
            now = time.monotonic()
            progress(f"{what}: {done} of {total}, about {(now - began) / done * (total - done):.0f} s left")
            if not sys.stderr.isatty() and now - said > 30:
                print(f"{what}: {done} of {total}", file=sys.stderr, flush=True)
                said = now
    progress("")


def cached(build):
    """A variable in CMake's cache."""
    cache = next((p / "CMakeCache.txt" for p in [build, *build.parents] if (p / "CMakeCache.txt").exists()), None)
    return dict(re.findall(r"^(\w+):\w+=(.*)$", cache.read_text(), re.M)) if cache else {}


def has_peers(build):
    """Whether peers are part of this build: programs of an earlier build with peers may still be there."""
    return cached(build).get("RUNQ_BENCH_PEERS") == "ON"


def checkout_of(build, name):
    """The folder of the checkout with which this build measures a scheduler that is not packaged; "": none."""
    return cached(build).get(f"RUNQ_BENCH_{name.upper()}", "") if has_peers(build) else ""


def queue_rows(build):
    """(program, name as it knows it, row, candidate) of every row that is built."""
    for program in sorted(build.glob("*_bench")):
        peer = not (Path(__file__).parent / f"{program.name}.cpp").exists()
        if not os.access(program, os.X_OK) or program.is_dir() or peer and not has_peers(build):
            continue
        go = program.name == "go_runq_bench"
        for name in execute([program] if go else [program, "--benchmark_list_tests"]).stdout.split():
            part = name.split("/")
            row = part[0] + (f"/{part[2]}" if len(part) > 2 and part[2].isdigit() else "")
            yield program, name, row, part[1]


def google_benchmark(program, name):
    """What one row of a program of Google Benchmark measures, by its own names."""
    output = execute([program, f"--benchmark_filter=^{name}$", "--benchmark_format=json", "--benchmark_min_time=0.05"]).stdout
    return json.loads(output)["benchmarks"][0]


def measure_queues(build, results, options):
    rows = [r for r in queue_rows(build) if re.search(options.only, r[2])]

    def job(program, name, row, candidate):
        def measure():
            if program.name == "go_runq_bench":
                got = json.loads(execute([program, name, "0.1"]).stdout)
                got["pinned"] = got["label"] == "pinned"
            else:
                got = google_benchmark(program, name)
                got["pinned"] = got.get("label") == "pinned"
                got["ns"] = got.get("median_ns") or (1e9 / got["items_per_second"] if got.get("items_per_second") else None)
            results.add(row, candidate, got["ns"])
            results.entry(row, candidate)["pinned"] = got["pinned"]
            if "stolen/s" in got:
                results.add(f"{row}:stolen", candidate, 1e9 / got["stolen/s"] if got["stolen/s"] else None)
                results.add(f"{row}:percent", candidate, got["stolen%"])
                results.add(f"{row}:items", candidate, got["items/try"])
            if "drained%" in got:
                results.add(f"{row}:left", candidate, 100 - got["drained%"])
            if "barriers" in got:
                results.add(f"{row}:barriers", candidate, got["barriers"])
        return measure

    run_all([job(*row) for row in rows], options.repetitions or 7, "queues")
    count, by = instruction_counter()
    results.context["instructions"] = by
    for program, name, row, candidate in rows:
        if not count or program.name == "go_runq_bench" or not re.match(r"pairs/64$|slot$|floor$", row):
            continue
        if re.match("floor/(line|.*heavy_fence)", name):
            continue  # rows for two processors
        few, many = (20, 120) if "coroutine" in name else (200, 1200)
        both = [count([str(program), f"--benchmark_filter=^{name}(/iterations:.*)?$"], {"RUNQ_BENCH_ITERATIONS": str(n)}) for n in (few, many)]
        if None not in both:
            each = 64 if row == "pairs/64" else 10945 if "coroutine" in name else 1
            results.entry(row, candidate)["instructions"] = (both[1] - both[0]) / (many - few) / each
        progress(f"instructions: {name}")
    progress("")


def candidates_built(build):
    def belongs(name):
        return name.startswith("runq") or (checkout_of(build, name) if name in CHECKOUTS else has_peers(build))

    return {name: c for name, c in SCHEDULERS.items() if os.access(build / c.program, os.X_OK) and belongs(name)}


def worker_counts():
    """1, 2, 4 … up to the processors, and twice as many as there are processors."""
    counts, all_of_them = [], len(cpus())
    while (n := 2 ** len(counts)) <= all_of_them:
        counts.append(n)
    return counts, 2 * all_of_them


def measure_scheduler(build, results, options):
    usual, too_many = worker_counts()
    built = candidates_built(build)

    def job(row, candidate, workers, n, seconds, key):
        it = built[candidate]

        def measure():
            peer = not candidate.startswith("runq")
            done = execute([build / it.program, row, str(workers), str(n), str(seconds)], workers, it.environment, may_die=peer)
            if done and done.returncode == 0:
                results.add(key, candidate, float(done.stdout))
            elif done:
                results.add(key, candidate, None)
                results.absent[f"{candidate}, {key}"] = f"died of signal {-done.returncode} at least once"
        return measure

    counts = {"one": [1], "two": [w for w in usual if w <= 2], "all": [*usual, too_many]}
    jobs, sweeps = [], []
    for candidate, it in built.items():
        for name, size in sizes().items():
            row = ROWS[name]
            if it.forks and not row.forks:
                continue
            if candidate == "fiber" and row.of_fibers:
                size = row.of_fibers
            for workers in counts[row.workers]:
                key = f"{name}/{workers}"
                if re.search(options.only, key):
                    jobs.append(job(name, candidate, workers, size, 0.1, key))
        for sweep in SWEEPS.values():
            for n in sweep.values_for(candidate):
                key = f"{sweep.name}/{n}"
                if not re.search(options.only, key):
                    continue
                if sweep.name == "tasks":
                    sweeps.append(job(sweep.row, candidate, usual[-1], n, 0 if n > 10**6 else 0.05, key))
                else:
                    jobs.append(job(sweep.row, candidate, usual[-1], n, 0.05, key))
    repetitions = options.repetitions or 7
    run_all(jobs, repetitions, "scheduler")
    run_all(sweeps, min(repetitions, 3), "by number of tasks")
    results.context["workers"] = usual
    results.context["too_many"] = too_many
    # The floor: the time that no scheduler can go below.
    floor = build / "floor_bench"
    if floor.exists() and not results.rows.get("floor"):
        for _ in range(repetitions):
            for name in (row.floor for row in ROWS.values() if row.floor):
                output = execute([floor, f"--benchmark_filter=^floor/{name}$", "--benchmark_format=json"]).stdout
                results.add("floor", name, 1e9 / json.loads(output)["benchmarks"][0]["items_per_second"])
    if "runq" in built and re.search(options.only, "survive/2"):
        failed = 0
        for _ in range(100):
            done = subprocess.run([build / "candidate_runq", "forks", "2", str(ROWS["forks"].size), "0"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            failed += done.returncode != 0
        results.add("survive/2", "runq", failed)
    if re.search(options.only, "wrk"):
        measure_wrk(build, results, min(repetitions, 5))
    measure_system_calls(build, results, built, repetitions)
    count, by = instruction_counter()
    results.context["instructions"] = by
    for candidate, it in built.items():
        for row in (row for row in ROWS.values() if row.instructions):
            key = f"{row.name}/1"
            if not count or not results.rows.get(key, {}).get(candidate):
                continue
            each = per_operation(row.instructions, lambda n, row=row: count(
                [str(build / it.program), row.name, "1", str(n), "0"], it.environment))
            if each is not None:
                results.entry(key, candidate)["instructions"] = each
            progress(f"instructions: {candidate} {row.name}")
    progress("")


def per_operation(counted, count):
    """By the difference of two runs; None if one of them was not counted."""
    both = [count(n) for n in (counted.few, counted.many)]
    return None if None in both else (both[1] - both[0]) / counted.operations


def measure_system_calls(build, results, built, repetitions):
    count = system_call_counter()
    if not count:
        results.absent["system calls"] = "neither perf with tracepoints nor strace"
        return
    for row in (row for row in ROWS.values() if row.system_calls):
        for candidate, it in built.items():
            if not results.rows.get(f"{row.system_calls_of}/1", {}).get(candidate):
                continue
            for _ in range(repetitions):
                each = per_operation(row.system_calls, lambda n, row=row, it=it: count(
                    [str(build / it.program), row.system_calls_of, "1", str(n), "0"], 1, it.environment))
                results.add(f"{row.name}/1", candidate, each)
            progress(f"system calls: {candidate} {row.system_calls_of}")
    progress("")


def measure_wrk(build, results, repetitions, seconds=1):
    """wrk against the demo `http` and a server of Go's, by turns."""
    servers = {"runq": [str(build / "candidate_http"), "0"], "go": [str(build / "candidate_go"), "http", "0", "0", "0"]}
    if not os.access(servers["runq"][0], os.X_OK) or not shutil.which("wrk"):
        results.absent["wrk"] = "Boost.Beast (libboost-dev) is not installed" if shutil.which("wrk") else "not installed"
        return
    if "go" not in candidates_built(build):
        del servers["go"]
    jobs = []
    for name, command in servers.items():
        for workers in (w for w in worker_counts()[0] if w <= 2):
            def job(name=name, command=command, workers=workers):
                command = [str(workers) if i == 2 else part for i, part in enumerate(command)]
                per_second, p99 = load_server(command, workers, seconds)
                results.add(f"wrk/{workers}", name, 1e9 / per_second)
                results.add(f"wrk_p99/{workers}", name, p99)
            jobs.append(job)
    run_all(jobs, repetitions, "wrk")


def load_server(command, workers, seconds):
    """Requests per second, and the 99th percentile of the answers in µs."""
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "RUNQ_PROCS": str(workers)},
                              preexec_fn=lambda: os.sched_setaffinity(0, cpus()[:workers]))
    try:
        url = server.stdout.readline().strip()
        output = execute(["wrk", "--threads", "1", "--connections", "64", "--duration", f"{seconds}s", "--latency", url]).stdout
    finally:
        server.kill()
        server.wait()
    if "Socket errors" in output or "Non-2xx" in output:
        fail(f"failed requests: {command}\n{output}")
    late, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)\b", output).groups()
    return float(re.search(r"Requests/sec:\s+([\d.]+)", output)[1]), float(late) * {"us": 1, "ms": 1e3, "s": 1e6}[unit]


def smoke(build, what):
    """Every row of every candidate that is built, once."""
    count = 0
    if what in ("queues", "all"):
        seen = set()
        for program, name, _, _ in queue_rows(build):
            count += 1
            if program.name == "go_runq_bench":
                execute([program, name, "0.001"])
            elif program not in seen:
                execute([program, "--benchmark_min_time=0.001"])
            seen.add(program)
    if what in ("scheduler", "all"):
        for it in candidates_built(build).values():
            for row, n in small_sizes().items():
                for workers in (1, 2):
                    done = execute([build / it.program, row, str(workers), str(n), "0"], None, it.environment)
                    count += done is not None
        tried = Results()
        measure_wrk(build, tried, 1)
        count += len(tried.rows)
    if count == 0:
        fail(f"nothing is built in {build}")
    print(f"{count} rows give the right result")


def version(command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.splitlines()[0]
    except (OSError, IndexError):
        return ""


def describe(build, results):
    context = results.context
    known = cached(build)
    compiler = known.get("CMAKE_CXX_COMPILER", "c++")
    kind = known.get("CMAKE_BUILD_TYPE", "")
    cpu = re.search(r"^model name\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    system = re.search(r'^PRETTY_NAME="?([^"\n]*)', Path("/etc/os-release").read_text(), re.M)
    context["machine"] = f"{len(cpus())} processors of {cpu[1] if cpu else platform.machine()}"
    if "hypervisor" in Path("/proc/cpuinfo").read_text():
        context["machine"] += ", a virtual machine"
    context["system"] = f"{system[1] if system else 'Linux'}, kernel {platform.release()}"
    context["compilers"] = [v for v in (
        f"{version([compiler, '--version'])}, {kind}: {known.get(f'CMAKE_CXX_FLAGS_{kind.upper()}', '')}",
        version(["go", "version"]) if (build / "candidate_go").exists() else "",
        version(["rustc", "--version"]) if (build / "candidate_rayon").exists() else "") if v]
    context["compilers"] += [f"{name} {version(['git', '-C', checkout_of(build, name), 'rev-parse', '--short', 'HEAD'])}"
                             for name in CHECKOUTS if checkout_of(build, name)]
    context["date"] = datetime.date.today().isoformat()
    if has_peers(build):
        results.absent = dict(line.split(": ", 1) for line in (build / "peers_absent.txt").read_text().splitlines())
    else:
        results.absent = {"peers": "not asked for (--peers)"}


# ---- tables ----------------------------------------------------------------------------------------------------------

def number(value):
    if value is None:
        return "–"
    if value == 0:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def cell(results, row, candidate):
    """Median / minimum ± half of the distance between the quartiles."""
    values = results.values(row, candidate)
    if not values:
        return "–"
    middle = statistics.median(values)
    if len(values) < 3 or middle == 0:
        return number(middle)
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    star = "" if results.rows[row][candidate].get("pinned", True) else "*"
    return f"{number(middle)} / {number(min(values))} ±{50 * (high - low) / middle:.0f}%{star}"


def ratio(results, row, candidate, base):
    ours, theirs = results.median(row, candidate), results.median(row, base)
    return f"{ours / theirs:.2f}" if ours is not None and theirs else "–"


def candidates_of(results, *rows):
    """Sorted by the first of the rows that they have a figure in."""
    found = {c for row in rows for c in results.rows.get(row, {})}
    return sorted(found, key=lambda c: [results.median(r, c) if results.median(r, c) is not None else 1e18 for r in rows])


def instructions(results, row, candidate):
    return number(results.rows.get(row, {}).get(candidate, {}).get("instructions"))


def tables(results):
    """(title, head, lines, note)"""
    has = results.rows

    def table(title, head, lines, note=""):
        if lines:
            yield title, head, lines, note

    yield from table("Floor", ["what", "ns", "instructions"],
                     [[c.replace("_", " "), cell(results, "floor", c), instructions(results, "floor", c)]
                      for c in candidates_of(results, "floor")])
    if "pairs/64" in has:
        yield from table(
            "The owner alone: pushes so many and pops them; ns per pair",
            ["queue", "1", "64", "200", "64, relative to plain_ring", "instructions"],
            [[c, *(cell(results, f"pairs/{n}", c) for n in (1, 64, 200)), ratio(results, "pairs/64", c, "plain_ring"),
              instructions(results, "pairs/64", c)] for c in candidates_of(results, "pairs/64")])
    if "thief" in has:
        yield from table(
            "With a thief on another processor: the owner pushes 64 and pops up to 64",
            ["queue", "thief flat out: owner, ns per push", "thief, M items/s", "stolen %", "thief every 10 µs: owner, ns per push",
             "items per try", "256 drained by a thief, ns per item", "drained %", "system calls per drain", "4 reach an idle thief, ns"],
            [[c, cell(results, "thief", c), number((m := results.median("thief:stolen", c)) and 1e3 / m),
              number(results.median("thief:percent", c)), cell(results, "rare", c), number(results.median("rare:items", c)),
              cell(results, "drain", c), number(None if (left := results.median("drain:left", c)) is None else 100 - left),
              number(results.median("drain:barriers", c)), cell(results, "reach", c)]
             for c in candidates_of(results, "thief", "drain")],
            "The times of drains are the thief's, and include popping what it took; the owner does nothing meanwhile. The thieves of "
            "`ring` and of the peers in batches move half into their own queue and pop it there one at a time; `ring_drain` "
            "empties that queue by one claim; `ring_steal_half` and the thieves of the split queues steal half into plain memory, where no "
            "other thief can steal it. The last column: the owner pushes 4 and works for 100 µs; the thief, which has nothing, tries "
            "without a pause and has all 4 after the median time. 100,000: it does not get them before the owner pops again.")
    if "put_1/1" in has:
        yield from table(
            "The global queue: ns per item",
            ["queue", *(f"{who}, {n}" for who in ("1 producer", "2 producers", "producer and consumer") for n in (1, 128))],
            [[c, *(cell(results, f"{row}/{n}", c) for row in ("put_1", "put_2", "put_take") for n in (1, 128))]
             for c in candidates_of(results, "put_1/1")],
            "One at a time, and in batches of 128.")
    others = [(row, c) for row in sorted(has) for c in sorted(has[row])
              if re.match(r"slot|displace|overflow|steal_from|has_work", row)]
    yield from table("The other operations: ns", ["row", "queue", "ns", "instructions"],
                     [[row.replace("_", " "), c, cell(results, row, c), instructions(results, row, c)] for row, c in others],
                     "`slot`: one task into the slot and out again. `overflow`: a task through ring, global queue and back.")
    counts = [*results.context.get("workers", []), results.context.get("too_many")]
    for row, about in ROWS.items():
        shown = [w for w in counts if f"{row}/{w}" in has]
        if not shown:
            continue
        yield from table(
            f"{about.title}: {about.unit}",
            ["scheduler", *(f"{w} worker{'s' if w > 1 else ''}" + (", too many" if w == counts[-1] else "") for w in shown),
             *(f"relative to runq, {w}" for w in shown), *(["instructions"] if about.instructions else [])],
            [[c, *(cell(results, f"{row}/{w}", c) for w in shown), *(ratio(results, f"{row}/{w}", c, "runq") for w in shown),
              *([instructions(results, f"{row}/1", c)] if about.instructions else [])]
             for c in candidates_of(results, *(f"{row}/{w}" for w in shown))]
            + floor_line(results, about, len(shown)))
    for name, sweep in SWEEPS.items():
        shown = [n for n in sweep.values if f"{name}/{n}" in has]
        unit = (lambda n: f"{n:,}") if name == "tasks" else (lambda n: f"{n} ns" if n < 1000 else f"{n // 1000} µs")
        if shown:
            yield from table(sweep.title, ["scheduler", *map(unit, shown)],
                             [[c, *(cell(results, f"{name}/{n}", c) for n in shown)]
                              for c in candidates_of(results, *(f"{name}/{n}" for n in shown))])
    if results.absent:
        yield "Absent", ["what", "why"], [[c, why] for c, why in results.absent.items()], ""


def floor_line(results, row, columns):
    name = row.floor
    if not name or not results.rows.get("floor", {}).get(name):
        return []
    runq = results.median(f"{row.name}/1", "runq")
    first = f"{results.median('floor', name) / runq:.2f}" if runq else "–"
    return [[f"floor: {name.replace('_', ' ')}", cell(results, "floor", name), *["–"] * (columns - 1), first,
             *["–"] * (columns - 1), instructions(results, "floor", name)]]


def judge(results):
    """(what, text, bound, ratio of medians, lowest and highest ratio of one repetition, verdict)"""
    for what, text, ours, theirs, bound in STATEMENTS:
        mine = results.values(*ours)
        if isinstance(theirs, tuple):
            row, peers = theirs
            found = [peers] if isinstance(peers, str) else [c for c in candidates_of(results, row) if c in peers]
            beside = results.values(row, found[0]) if found else []
        else:
            beside = [theirs] * len(mine)
        if not mine or not beside:
            continue
        value = statistics.median(mine) / statistics.median(beside)
        each = [a / b for a, b in zip(mine, beside) if b]
        low, high = min(each), max(each)
        if value <= bound * (1 + 1e-9):
            # A ranking that single repetitions contradict is not claimed.
            verdict = "yes" if high <= bound * (1 + 1e-9) else "yes, but not in each repetition"
        else:
            verdict = "no" if low > bound else "no, but in some repetitions"
        yield what, text, bound, value, low, high, verdict


def statements_table(results):
    lines = [[text, f"≤ {number(bound)}", number(value), f"{number(low)} … {number(high)}", verdict]
             for _, text, bound, value, low, high, verdict in judge(results)]
    return "What was asked for, and what came out", ["statement", "asked", "measured", "single repetitions", "met"], lines, \
        "Ratios ours / theirs, of work shares theirs / ours, so less is better; those without `against` are absolute."


def as_text(title, head, lines, note):
    # Long heads are broken into lines, or they would make the columns too wide.
    heads, widths = [], []
    for i, name in enumerate(head):
        width = max([len(line[i]) for line in lines] + [len(word) for word in name.split()])
        heads.append(textwrap.wrap(name, width))
        widths.append(width)
    height = max(map(len, heads))
    rows = [[([""] * (height - len(h)) + h)[k] for h in heads] for k in range(height)]
    rows += [["-" * width for width in widths], *lines]
    text = ["  ".join(c.rjust(w) if i else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths))) for row in rows]
    return "\n".join(["", title, *text, *([note] if note else [])])


def as_markdown(title, head, lines, note):
    out = [f"### {title}", "", *([note, ""] if note else []), "| " + " | ".join(head) + " |",
           "|" + "|".join(["---"] + ["---:"] * (len(head) - 1)) + "|"]
    return "\n".join([*out, *("| " + " | ".join(line) + " |" for line in lines), ""])


# ---- plots and the page ----------------------------------------------------------------------------------------------

def load_pyplot():
    """matplotlib's pyplot with the settings of all plots, or None where there is none."""
    try:
        import matplotlib
    except ImportError:
        return None
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "runqkit", "svg.fonttype": "none", "font.size": 9,
                                "axes.spines.top": False, "axes.spines.right": False})
    from matplotlib import pyplot
    return pyplot


def draw_by_system_python(script, folder, inputs):
    """Lets Debian's python3, to which its matplotlib belongs and which need not be the first in the path, draw what `inputs`
    say: an option of the script for each, and its text. Returns whether there are plots."""
    system = "/usr/bin/python3"
    if not os.path.exists(system) or os.path.samefile(system, sys.executable):
        print("no plots: python3-matplotlib is not installed", file=sys.stderr)
        return False
    with tempfile.TemporaryDirectory() as scratch:
        words = []
        for option, text in inputs.items():
            file = Path(scratch) / option
            file.write_text(text)
            words += [f"--{option}", file]
        done = subprocess.run([system, "-B", script, *words, "--plots", folder, "--quiet"])
    return done.returncode == 0


def finish_plot(pyplot, figure, file):
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)


def draw(results, folder):
    pyplot = load_pyplot()
    if pyplot is None:
        return draw_by_system_python(__file__, folder, {"from": as_json(results)})
    folder.mkdir(parents=True, exist_ok=True)
    ours = {"ring", "split_ring", "split_ring_fences", "ring_drain", "ring_steal_half", "ring_push_batch", "chase_lev",
            "split_deque", "split_deque_fences", "local_queue", "local_queue_next", "chase_lev_object", "ring_object",
            "local_queue_object", "split_ring_object", "split_deque_object", "chase_lev_of_8_bytes",
            "boxed_of_16_bytes", "chase_lev_of_16_bytes"}
    floors = {"plain_ring", "allocated_of_16_bytes", "plain_stack", "mutex_deque", "runq_global_queue"}

    def colour(name):
        return "#1b6ca8" if name in ours else "#999999" if name in floors else "#d98032"

    def finish(figure, name):
        finish_plot(pyplot, figure, folder / f"{name}.svg")

    def bars(name, row, label):
        names = [c for c in candidates_of(results, row) if results.median(row, c)]
        if not names:
            return
        names.reverse()
        figure, axes = pyplot.subplots(figsize=(7, 0.7 + 0.24 * len(names)))
        middle = [results.median(row, c) for c in names]
        span = [[m - min(results.values(row, c)) for m, c in zip(middle, names)],
                [max(results.values(row, c)) - m for m, c in zip(middle, names)]]
        axes.barh(names, middle, color=[colour(c) for c in names], xerr=span,
                  error_kw={"elinewidth": 0.8, "ecolor": "#333333"})
        axes.set_xlabel(f"{label}; median, and from the least to the greatest")
        finish(figure, name)

    def curves(name, prefix, values, x_label, y_label, log_y, at=None):
        figure, axes = pyplot.subplots(figsize=(7, 3.6))
        drawn = False
        for order, c in enumerate(SWEEPS["tasks"].candidates):
            points = [(n, m) for n in values if (m := results.median(f"{prefix}/{n}", c))]
            if len(points) < 2:
                continue
            drawn = True
            axes.plot(*zip(*points), marker="osD^vP*"[order], markersize=4, label=c,
                      linewidth=2.2 if c == "runq" else 1.2)
        if drawn:
            axes.set_xscale("log", base=at or 10)
            if log_y:
                axes.set_yscale("log")
            if at:
                axes.set_xticks(values, [str(v) for v in values])
            else:
                axes.set_xticks(values)
            axes.minorticks_off()
            axes.set_xlabel(x_label)
            axes.set_ylabel(y_label)
            axes.grid(alpha=0.3)
            axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
            finish(figure, name)
        else:
            pyplot.close(figure)

    bars("pairs", "pairs/64", "push and pop, 64 at a time: ns per pair")
    bars("drain", "drain", "drained by a thief: ns per item")
    counts = [*results.context.get("workers", []), results.context.get("too_many")]
    for row in (r for r in ROWS.values() if r.workers == "all"):
        curves(row.name, row.name, [w for w in counts if w], "workers", f"{row.title}: {row.unit}", True, at=2)
    curves("tasks", "tasks", SWEEPS["tasks"].values, "tasks", "ns per task", True)
    curves("grain", "grain", SWEEPS["grain"].values, "length of a task, ns", "percent of the workers' time in the work", False)
    return True


PLOTS = {"pairs": "Push and pop, the owner alone", "drain": "256 drained by a thief", "fib": "fib by workers",
         "skynet": "skynet by workers", "queens": "queens by workers", "spawn": "spawn by workers",
         "tree": "lopsided tree by workers", "forks": "forks by workers", "yield": "yield by workers",
         "tasks": "By number of tasks", "grain": "By length of tasks"}


def write_page(results, page, only):
    folder = page.with_name("plots")
    drawn = not only and draw(results, folder)
    context = results.context
    measured = [entry for row, name in (("pairs/64", "ring"), ("fib/1", "runq")) if (entry := results.rows.get(row, {}).get(name))]
    repetitions = " and ".join(map(str, sorted({len(entry["values"]) for entry in measured})))
    words = ["--peers", *(f"--{name} DIR" for name in CHECKOUTS if any(name in row for row in results.rows.values())),
             *([f"--only '{only}'"] if only else []), "--write-docs"]
    lines = ["```console", f"$ ./kit bench {' '.join(words)}", "```", "",
             f"{context['date']}; {context['machine']}; {context['system']}; {'; '.join(context['compilers'])}. "
             f"Load before and after: {context['load'][0]:.2f} and {context['load'][1]:.2f}. Instructions: "
             f"{context.get('instructions') or 'not counted'}."
             + (" Other programs were running, so rows with two threads or workers say little here."
                if context["load"][0] > 0.5 else ""), "",
             f"A cell is median / minimum ± half the distance between the quartiles, over {repetitions} repetitions; with a star, the "
             "threads could not be pinned. Rows of one table can be compared, figures of different runs cannot.", "",
             as_markdown(*statements_table(results))]
    lines += [as_markdown(*table) for table in tables(results)]
    if drawn:
        lines += [f"![{title}]({folder.name}/{name}.svg)\n" for name, title in PLOTS.items() if (folder / f"{name}.svg").exists()]
    text = page.read_text()
    begin, end = MARKERS_OF_SOME_ROWS if only else MARKERS
    if begin not in text or end not in text:
        fail(f"{page} has no markers {begin} and {end}")
    before, rest = text.split(begin, 1)
    page.write_text(f"{before}{begin}\n\n" + "\n".join(lines).rstrip() + f"\n\n{end}{rest.split(end, 1)[1]}")


# ---- the command -----------------------------------------------------------------------------------------------------

def as_json(results):
    return json.dumps({"context": results.context, "absent": results.absent, "rows": results.rows}, indent=1)


def load(file):
    results = Results()
    read = json.loads(file.read_text())
    results.context, results.absent, results.rows = read["context"], read["absent"], read["rows"]
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["queues", "scheduler", "all"], default="all")
    parser.add_argument("--build", type=Path)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--quiet", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--repetitions", type=int)
    parser.add_argument("--only", default="")
    for name in ("--json", "--from", "--plots", "--write-docs", "--compare"):
        parser.add_argument(name, type=Path, dest=name.strip("-").replace("-", "_").replace("from", "source"))
    options = parser.parse_args()
    if options.source:
        results = load(options.source)
    else:
        if not options.build:
            parser.error("--build or --from is needed")
        build = options.build.resolve()
        if options.smoke:
            return smoke(build, options.what)
        results = Results()
        before = os.getloadavg()[0]
        describe(build, results)
        if options.what in ("queues", "all"):
            measure_queues(build, results, options)
        if options.what in ("scheduler", "all"):
            measure_scheduler(build, results, options)
        results.context["load"] = [before, os.getloadavg()[0]]
    if options.json:
        options.json.write_text(as_json(results))
    if not options.quiet:
        for table in tables(results):
            print(as_text(*table))
        print(as_text(*statements_table(results)))
    if options.plots:
        draw(results, options.plots)
    if options.write_docs:
        write_page(results, options.write_docs, options.only)
    if options.compare:
        now = {s[1]: s[6] for s in judge(results)}
        then = {s[1]: s[6] for s in judge(load(options.compare))}
        differing = [t for t in now if t in then and {now[t], then[t]} == {"yes", "no"}]
        for text in differing:
            print(f"verdict differs: {text}: {then[text]}, now {now[text]}")
        if differing:
            sys.exit(1)
        print(f"all {len(now)} statements have the same verdict")


if __name__ == "__main__":
    main()
