#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Simulates the scheduler on many processors, and makes tables, JSON, plots and bench/results/simulation.md.

simulate.py --build DIR        DIR: where bench/CMakeLists.txt was built
    --smoke                    a few short runs: only whether no task is lost and the output repeats
    --only REGEX               workloads, as in --only '^(tree|yield)$'
    --machine NAME             milan or icelake; default: both
    --processors N,N           default: 2,4,8,16,32,64,128,256
    --json FILE                write what was simulated
    --from FILE                simulate nothing, read what an earlier --json has written
    --before FILE              compare with that file, which an earlier build's --json has written
    --plots DIR                draw, with matplotlib
    --write-docs FILE          write the part of the page between the markers, and plots into a folder beside it

Runs with the same options give the same figures, except for the comparison with real threads.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import run as tables  # noqa: E402

BEGIN, END = "<!-- bench/simulate/simulate.py: begin -->", "<!-- bench/simulate/simulate.py: end -->"
WORKLOADS = {"alone": "each processor has one task, which makes itself runnable again and again",
             "tree": "fork and join: a binary tree, which works in its leaves",
             "burst": "one task starts all others",
             "flood": "tasks start others at the end of the global queue, 16 each",
             "yield": "two tasks for each processor, which yield after each piece of work",
             "ping_pong": "pairs of tasks wake each other; half as many pairs as processors"}
PROCESSORS = [2, 4, 8, 16, 32, 64, 128, 256]
PIECES = 256       # for each processor
LENGTH = 1000      # of a piece of work, ns
REAL_PIECES, REAL_TIMES = 2048, 60
USES = {"work": "work", "own_lines": "own lines", "lines": "lines of others", "locks": "pauses at locks",
        "looking": "pauses while looking", "calls": "system calls", "asleep": "asleep"}


class Failure(Exception):
    pass


def execute(build, *words):
    done = subprocess.run([build / "simulate", *map(str, words)], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise Failure(f"simulate {' '.join(map(str, words))} failed")
    return done.stdout


def simulate(build, machine, workload, processors, pieces=PIECES):
    result = json.loads(execute(build, "run", machine, workload, processors, pieces, LENGTH))
    for place in result["places"]:  # ccache may make the paths relative to the folder where the compiler ran
        place["file"] = str(build.resolve().parent / place["file"])
    return result


@lru_cache(maxsize=None)
def lines_of(file):
    try:
        return Path(file).read_text().splitlines()
    except OSError:
        return []


def site(file, line):
    """The name that the comment before an atomic operation gives it, or the place in the source."""
    source = lines_of(file)
    for i in range(min(line, len(source)) - 1, max(line - 8, -1), -1):
        names = re.findall(r"//.*?\[([a-z_]+(?:\.[a-z_]+)+)\] ", source[i])
        if names:
            return names[-1]
    return f"{Path(file).name}:{line}"


def worst_places(result, most):
    """(object, waited, queued, site) with the sites of one line of an object as one."""
    by_line = {}
    for place in result["places"]:
        entry = by_line.setdefault((place["object"], place["offset"]), [0, 0, []])
        entry[0] += place["waited"]
        entry[1] += place["queued"]
        name = site(place["file"], place["line"])
        if name not in entry[2]:
            entry[2].append(name)
    worst = sorted(by_line.items(), key=lambda item: -item[1][0])
    return [(f"{name} + {offset}", *entry) for (name, offset), entry in worst[:most] if entry[0] >= 0.001]


def sweep(build, options):
    machines = json.loads(execute(build, "machines"))
    results = {"machines": [m for m in machines if options.machine in (None, m["name"])], "pieces": PIECES,
               "length": LENGTH, "runs": {}}
    jobs = [(m["name"], w, n) for n in options.processors for w in WORKLOADS if re.search(options.only, w)
            for m in results["machines"]]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        # The longest first.
        waiting = {pool.submit(simulate, build, *job): job for job in reversed(jobs)}
        for k, done in enumerate(concurrent.futures.as_completed(waiting), 1):
            machine, workload, n = waiting[done]
            results["runs"].setdefault(machine, {}).setdefault(workload, {})[str(n)] = done.result()
            print(f"\r{k} of {len(jobs)} runs", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return results


def compare_with_threads(build, options):
    """For each workload: simulated and real ns per piece, with 1 and 2 processors, with the costs that this machine has."""
    here = execute(build, "measure").strip()
    rows = {}
    for workload in (w for w in WORKLOADS if re.search(options.only, w)):
        for n in (1, 2):
            run = simulate(build, f"here:{here}", workload, n, REAL_PIECES)
            least, median = json.loads(execute(build, "real", workload, n, REAL_PIECES, LENGTH, REAL_TIMES))
            rows[f"{workload}/{n}"] = {"simulated": 1e9 / run["per_second"], "least": least, "median": median}
    return {"costs": here, "load": os.getloadavg()[0], "rows": rows}


def throughput_table(results, machine, before):
    runs = results["runs"].get(machine["name"], {})
    counts = sorted({int(n) for of in runs.values() for n in of})
    lines = []
    for workload in (w for w in WORKLOADS if w in runs):
        for label, source in (("", runs), (" before", (before or {}).get("runs", {}).get(machine["name"], {}))):
            cells = [source.get(workload, {}).get(str(n)) for n in counts]
            if any(cells):
                lines.append([workload + label, *(f"{c['per_second'] / 1e6:.3g} ({100 * c['shares']['work']:.0f})" if c else "–"
                                                  for c in cells)])
    return machine["machine"], ["workload", *map(str, counts)], lines, \
        "Millions of pieces of work per second; in brackets the percent of the processors' time that is work."


def uses_table(results, machine):
    runs = results["runs"].get(machine["name"], {})
    lines = []
    for workload in (w for w in WORKLOADS if w in runs):
        most = max(runs[workload], key=int)
        lines.append([f"{workload}, {most}", *(f"{100 * runs[workload][most]['shares'][use]:.1f}" for use in USES)])
    return f"Where the time goes: {machine['name']}", ["workload, processors", *USES.values()], lines, \
        "Percent of the time of all processors."


def places_table(results, machine, most=3):
    runs = results["runs"].get(machine["name"], {})
    lines = []
    for workload in (w for w in WORKLOADS if w in runs):
        n = max(runs[workload], key=int)
        for place, waited, queued, sites in worst_places(runs[workload][n], most):
            lines.append([f"{workload}, {n}", place, f"{100 * waited:.1f}", f"{100 * queued:.1f}", ", ".join(sites[:4])])
    return f"The worst lines: {machine['name']}", \
        ["workload, processors", "object + offset of the line", "waited", "queued", "by"], lines, \
        "Percent of the time of all processors: waiting for the line or for the lock in it; of that, while other processors had it."


def real_table(results):
    rows = results["real"]["rows"]
    lines = [[row, f"{r['simulated']:.0f}", f"{r['least']:.0f}", f"{r['median']:.0f}", f"{r['simulated'] / r['least']:.2f}"]
             for row, r in rows.items()]
    return "Simulated and real, on this machine", \
        ["workload/processors", "simulated", "real, least", "real, median", "simulated / least"], lines, \
        f"ns per piece of {LENGTH} ns. The real runs: {REAL_TIMES} of {REAL_PIECES} pieces for each processor; load " \
        f"{results['real']['load']:.1f} afterwards. Costs, as measured: {results['real']['costs']}"


def all_tables(results, before):
    for machine in results["machines"]:
        yield throughput_table(results, machine, before)
        yield uses_table(results, machine)
        yield places_table(results, machine)
    if results.get("real"):
        yield real_table(results)


def draw(results, before, folder):
    pyplot = tables.load_pyplot()
    if pyplot is None:
        inputs = {"from": json.dumps(results), **({"before": json.dumps(before)} if before else {})}
        return tables.draw_by_system_python(__file__, folder, inputs)
    folder.mkdir(parents=True, exist_ok=True)
    for machine in results["machines"]:
        figure, axes = pyplot.subplots(figsize=(7, 4))
        counts = []
        for order, workload in enumerate(w for w in WORKLOADS if w in results["runs"].get(machine["name"], {})):
            for style, source in (("-", results), (":", before or {})):
                runs = source.get("runs", {}).get(machine["name"], {}).get(workload, {})
                points = sorted((int(n), r["per_second"] / 1e6) for n, r in runs.items())
                if not points:
                    continue
                counts = sorted({*counts, *(n for n, _ in points)})
                axes.plot(*zip(*points), style, marker="osD^vP"[order], markersize=4, color=f"C{order}",
                          label=workload if style == "-" else None, linewidth=1.6)
        axes.plot(counts, [n * 1000 / results["length"] for n in counts], color="#999999", linewidth=0.8, label="all work")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks(counts, [str(n) for n in counts])
        axes.minorticks_off()
        axes.set_xlabel("virtual processors" + ("; dotted: before" if before else ""))
        axes.set_ylabel("millions of pieces of work per second")
        axes.grid(alpha=0.3)
        axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
        tables.finish_plot(pyplot, figure, folder / f"{machine['name']}.svg")
    return True


def write_page(results, before, page):
    folder = page.with_suffix("")
    drawn = draw(results, before, folder)
    words = "--before earlier.json --write-docs" if before else "--write-docs"
    lines = ["```console", f"$ ./kit bench --simulate {words}", "```", ""]
    lines += [tables.as_markdown(*table) for table in all_tables(results, before)]
    if drawn:
        lines += [f"![{m['machine']}]({folder.name}/{m['name']}.svg)\n" for m in results["machines"]
                  if (folder / f"{m['name']}.svg").exists()]
    text = page.read_text()
    if BEGIN not in text or END not in text:
        sys.exit(f"simulate.py: {page} has no markers {BEGIN} and {END}")
    start, rest = text.split(BEGIN, 1)
    page.write_text(f"{start}{BEGIN}\n\n" + "\n".join(lines).rstrip() + f"\n\n{END}{rest.split(END, 1)[1]}")


def smoke(build):
    for machine in ("milan", "icelake"):
        for workload in WORKLOADS:
            words = ("run", machine, workload, 8, 64, LENGTH)
            first = execute(build, *words)
            if first != execute(build, *words):
                raise Failure(f"simulate {' '.join(map(str, words))} does not repeat")
            run = json.loads(first)
            if abs(sum(run["shares"].values()) - 1) > 1e-3:
                raise Failure(f"{machine} {workload}: the shares do not sum up to 1")
    for row, n in {"fib": 15, "tree": 1000, "forks": 1000, "yield": 5, "spawn": 1000}.items():
        words = [build / "calibrate", "xeon16", row, "4", str(n), "40", "1000"]
        first, second = (subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout for _ in range(2))
        if first != second:
            raise Failure(f"calibrate {row} does not repeat")
    for workload in WORKLOADS:
        execute(build, "real", workload, 2, 64, LENGTH, 2)
    print(f"{len(WORKLOADS)} workloads passed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--quiet", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--only", default="")
    parser.add_argument("--machine")
    parser.add_argument("--processors", default=PROCESSORS, type=lambda text: [int(n) for n in text.split(",")])
    for name in ("--json", "--from", "--before", "--plots", "--write-docs"):
        parser.add_argument(name, type=Path, dest=name.strip("-").replace("-", "_").replace("from", "source"))
    options = parser.parse_args()
    if options.source:
        results = json.loads(options.source.read_text())
    else:
        if not options.build:
            parser.error("--build or --from is needed")
        if not (options.build / "simulate").exists():
            sys.exit("simulate.py: there is no simulator: it needs x86-64 or AArch64")
        if options.smoke:
            return smoke(options.build)
        results = sweep(options.build, options)
        results["real"] = compare_with_threads(options.build, options)
    before = json.loads(options.before.read_text()) if options.before else None
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    if not options.quiet:
        for table in all_tables(results, before):
            print(tables.as_text(*table))
    if options.plots:
        draw(results, before, options.plots)
    if options.write_docs:
        write_page(results, before, options.write_docs)
    return None


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"simulate.py: {failure}")
