#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the rows of the scheduler benchmark by the number of cores, this project's scheduler beside the others.

cores.py [--figures FILE] [--plots DIR] [--quiet]
    --figures FILE    the figures, a row for each candidate and number of workers; default: bench/results/real-16-cores.csv
    --plots DIR       where cores.svg is drawn; default: bench/results/plots
    --quiet           do not say where the picture is

`./kit bench --peers --plots DIR` measures on the machine that it runs on, and draws its rows with 1, 2, 4 … workers.
"""
import argparse
import csv
import sys
from pathlib import Path

import run as tables
from rows import ROWS

RESULTS = Path(__file__).resolve().parent / "results"
# Row and size; of a grain the length of its tasks in ns.
PANELS = (("fib", 35), ("tree", 20_000_000), ("skynet", 10_000_000), ("queens", 13), ("spawn", 1_000_000), ("forks", 1_000_000),
          ("yield", 100), ("pingpong", 50_000), ("echo", 100), ("grain", 1_000), ("grain", 10_000))
COLOURS = {"runq": "#1b6ca8", "libfork": "#d98032", "toomanycooks": "#7a5195", "tokio": "#2f9e44", "go": "#c92a2a",
           "rayon": "#868e96", "tbb": "#495057", "taskflow": "#adb5bd"}
CANNOT_WAIT = ("rayon", "tbb", "taskflow")  # their tasks are no coroutines


def title_of(row, size):
    if row == "grain":
        return f"grain, tasks of {size // 1000} µs: % of the time in the work"
    return f"{row}({size}): {ROWS[row].unit}" if row in ("fib", "queens") else f"{row}, {size:,}: {ROWS[row].unit}"


def draw_panel(axes, row, size, figures):
    """One row: a line for each candidate that was measured with two numbers of workers and more."""
    counts = sorted({w for of in figures.values() for w in of})
    for candidate, colour in COLOURS.items():
        points = sorted(figures.get(candidate, {}).items())
        if len(points) > 1:
            axes.plot(*zip(*points), color=colour, label=candidate, marker="o", markersize=3, zorder=3 if candidate == "runq" else 2,
                      linewidth=2.2 if candidate == "runq" else 1.1, linestyle="--" if candidate in CANNOT_WAIT else "-")
    axes.set_xscale("log", base=2)
    axes.set_xticks(counts, [str(w) for w in counts])
    if row != "grain":
        axes.set_yscale("log")
    axes.set_title(title_of(row, size), fontsize=9)
    axes.grid(alpha=0.3)


def draw(pyplot, figures, plot):
    columns = 3
    figure, panels = pyplot.subplots(-(-len(PANELS) // columns), columns, figsize=(10.5, 10))
    for axes, key in zip(panels.flat, PANELS):
        draw_panel(axes, *key, figures[key])
    rest = panels.flat[len(PANELS)]
    rest.axis("off")
    # Every candidate has a line in the panel of the tasks of 1 µs.
    rest.legend(*panels.flat[PANELS.index(("grain", 1_000))].get_legend_handles_labels(), frameon=False, loc="center",
                title="by number of cores;\ndashed: tasks that cannot wait")
    tables.finish_plot(pyplot, figure, plot)


def figures_of(text, file):
    figures = {key: {} for key in PANELS}
    for line in csv.DictReader(text.splitlines()):
        key = (line["row"], int(line["n"]))
        if key in figures:
            figures[key].setdefault(line["candidate"], {})[int(line["workers"])] = float(line["median"])
    missing = [f"{row} {size}" for (row, size), of in figures.items() if not of]
    if missing:
        sys.exit(f"cores.py: {file} has no figures of {', '.join(missing)}")
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figures", type=Path, default=RESULTS / "real-16-cores.csv")
    parser.add_argument("--plots", type=Path, default=RESULTS / "plots")
    parser.add_argument("--quiet", action="store_true")
    options = parser.parse_args()
    text = options.figures.read_text()
    figures = figures_of(text, options.figures)
    plot = options.plots / "cores.svg"
    if pyplot := tables.load_pyplot():
        options.plots.mkdir(parents=True, exist_ok=True)
        draw(pyplot, figures, plot)
    elif not tables.draw_by_system_python(__file__, options.plots, {"figures": text}):
        sys.exit(1)
    if not options.quiet:
        print(f"drawn: {plot}")


if __name__ == "__main__":
    main()
