#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws a trace that a scheduler wrote by RUNQ_TRACE as an SVG picture. Needs nothing but Python.

    draw_trace.py trace.json trace.svg
"""
import colorsys
import html
import json
import re
import sys

WIDTH = 1500  # of the time axis
LEFT = 90
LANE = 56
GAP = 30
TOP = 96
SHOWN = 0.9  # narrower than so many units of width: drawn so wide all the same
LETTER = 6.0  # width of one, about


def read(path):
    """Lanes (number -> name), slices, and arrows (from, to) of the trace."""
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    lanes = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    slices = [e for e in events if e["ph"] == "X"]
    begins = {e["id"]: e for e in events if e["ph"] == "s"}
    arrows = [(begins[e["id"]], e) for e in events if e["ph"] == "f"]
    return lanes, slices, arrows


def colour_of(kind, kinds):
    hue = kinds.index(kind) / max(1, len(kinds))
    red, green, blue = colorsys.hls_to_rgb(hue, 0.74, 0.62)
    return f"#{int(red * 255):02x}{int(green * 255):02x}{int(blue * 255):02x}"


def parts(name):
    """Number and kind of a task, from "task 7 reader"."""
    found = re.search(r"task (\d+) ?(.*)", name)
    return found.group(1), found.group(2) or "(no name)"


def step_of(span):
    """The distance between two marks of the axis: 1, 2 or 5 times a power of ten, for about twelve marks."""
    step = 1
    while span / step > 15:
        step *= 2 if str(step)[0] in "15" else 2.5
        step = int(step)
    return step


class Picture:
    def __init__(self, lanes, slices, arrows):
        self.lanes = sorted(lanes)
        self.names = lanes
        self.start = min(s["ts"] for s in slices)
        self.end = max(s["ts"] + s["dur"] for s in slices)
        self.slices = slices
        self.arrows = arrows
        runs = [s for s in slices if s["cat"] == "run"]
        self.kinds = sorted({parts(s["name"])[1] for s in runs}, key=lambda k: min(
            s["ts"] for s in runs if parts(s["name"])[1] == k))
        self.out = []

    def x(self, ts):
        return LEFT + (ts - self.start) / (self.end - self.start) * WIDTH

    def y(self, lane):
        return TOP + self.lanes.index(lane) * (LANE + GAP)

    def text(self, x, y, words, size=12, anchor="start", weight="normal", fill="#222"):
        self.out.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
                        f'font-weight="{weight}" fill="{fill}">{html.escape(words)}</text>')

    def box(self, x, y, width, height, fill, title="", stroke="none"):
        self.out.append(f'<rect x="{x:.2f}" y="{y:.1f}" width="{width:.2f}" height="{height}" fill="{fill}" '
                        f'stroke="{stroke}" stroke-width="0.6"><title>{html.escape(title)}</title></rect>')

    def axis(self, bottom):
        step = step_of(self.end - self.start)
        at = 0
        while at <= self.end - self.start:
            x = self.x(self.start + at)
            self.out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 10}" y2="{bottom}" stroke="#ddd"/>')
            self.text(x, bottom + 16, f"{at:,}", 11, "middle", fill="#555")
            at += step
        self.text(LEFT + WIDTH / 2, bottom + 34, "µs since the first event", 12, "middle", fill="#555")

    def slice(self, s):
        x, y = self.x(s["ts"]), self.y(s["tid"])
        width = max(self.x(s["ts"] + s["dur"]) - x, SHOWN)
        title = f'{s["name"]}: {s["dur"]:.1f} µs'
        if s["cat"] == "run":
            number, kind = parts(s["name"])
            self.box(x, y, width, LANE, colour_of(kind, self.kinds), title, "#555")
            if width > LETTER * len(number) + 2:
                self.text(x + width / 2, y + 16, number, 11, "middle", "bold")
            if width > LETTER * len(kind) + 2:
                self.text(x + width / 2, y + 30, kind, 10, "middle")
        elif s["cat"] == "call":
            self.box(x, y + LANE - 20, width, 20, "#8a8a8a", title, "#555")
            number = parts(s["name"])[0]
            words = f"{number} blocks"
            if width > LETTER * len(words) + 2:
                self.text(x + width / 2, y + LANE - 6, words, 10, "middle", fill="#fff")
        elif s["cat"] == "held":
            self.box(x, y, width, LANE, "url(#held)", title, "#555")
            words = f"held by {parts(s['name'])[0]}"
            if width > LETTER * len(words) + 2:
                self.text(x + width / 2, y + LANE / 2 + 4, words, 10, "middle")
        elif s["cat"] == "look":
            self.box(x, y + LANE / 2 - 6, width, 12, "url(#looks)", title, "#c9c9c9")
        elif s["cat"] == "steal":
            self.box(x, y, width, LANE, "#c00000", title)

    def arrow(self, begin, end):
        """An arrow from the victim's lane to the thief's: it ends at the time at which the thief has the tasks."""
        x = self.x(end["ts"])
        down = self.y(end["tid"]) > self.y(begin["tid"])
        y1 = self.y(begin["tid"]) + (LANE if down else 0)
        y2 = self.y(end["tid"]) + (-2 if down else LANE + 2)
        self.out.append(f'<line x1="{self.x(begin["ts"]):.1f}" y1="{y1}" x2="{x:.1f}" y2="{y2}" '
                        'stroke="#c00000" stroke-width="1.4" marker-end="url(#head)"/>')

    def counts(self):
        """Writes next to each arrow how many tasks it stands for, unless that would cover another label."""
        last = {}
        steals = {(s["tid"], s["ts"]): s for s in self.slices if s["cat"] == "steal"}
        for s in sorted(steals.values(), key=lambda s: s["ts"]):
            number, victim = re.fullmatch(r"steals (\d+) from P(\d+)", s["name"]).groups()
            y = max(self.y(s["tid"]), self.y(int(victim))) - GAP / 2 + 4
            x = self.x(s["ts"])
            if x - last.get(y, -100) > 12:
                self.text(x + 4, y, number, 11, weight="bold", fill="#c00000")
                last[y] = x

    def legend(self):
        x = LEFT
        for kind in self.kinds:
            self.box(x, 44, 14, 14, colour_of(kind, self.kinds), "", "#555")
            self.text(x + 19, 56, kind)
            x += 19 + 7.5 * len(kind) + 22
        for fill, words in (("#8a8a8a", "blocking call"), ("url(#held)", "held by a blocking call"),
                            ("url(#looks)", "looks for work")):
            self.box(x, 44, 22, 14, fill, "", "#999")
            self.text(x + 27, 56, words)
            x += 27 + 7.5 * len(words) + 22
        self.out.append(f'<line x1="{x}" y1="58" x2="{x}" y2="46" stroke="#c00000" stroke-width="1.4" '
                        'marker-end="url(#head)"/>')
        self.text(x + 12, 56, "steals so many tasks", fill="#c00000")

    def draw(self):
        bottom = self.y(self.lanes[-1]) + LANE + 12
        width, height = LEFT + WIDTH + 30, bottom + 50
        self.out.append(
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="sans-serif">'
            '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            'orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#c00000"/></marker>'
            '<pattern id="looks" width="6" height="6" patternUnits="userSpaceOnUse">'
            '<rect width="6" height="6" fill="#fff"/><path d="M0 6 L6 0" stroke="#bbb"/></pattern>'
            '<pattern id="held" width="6" height="6" patternUnits="userSpaceOnUse">'
            '<rect width="6" height="6" fill="#e4e4e4"/><path d="M0 0 L6 6" stroke="#aaa"/></pattern></defs>'
            f'<rect width="{width}" height="{height}" fill="#fff"/>')
        self.text(LEFT, 26, "What ran where: one lane per processor (P), the number is the task's", 16, weight="bold")
        self.legend()
        self.axis(bottom)
        for lane in self.lanes:
            name, *rest = self.names[lane].split(" ", 1)
            self.text(LEFT - 12, self.y(lane) + LANE / 2 + (0 if rest else 5), name, 15, "end", "bold")
            if rest:
                self.text(LEFT - 12, self.y(lane) + LANE / 2 + 14, "without a P", 11, "end", fill="#555")
        # A slice within another one is drawn after it.
        for s in sorted(self.slices, key=lambda s: (s["ts"], -s["dur"])):
            self.slice(s)
        for begin, end in self.arrows:
            self.arrow(begin, end)
        self.counts()
        self.out.append("</svg>")
        return "\n".join(self.out) + "\n"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    lanes, slices, arrows = read(sys.argv[1])
    if not slices:
        sys.exit(f"{sys.argv[1]}: nothing ran")
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(Picture(lanes, slices, arrows).draw())


if __name__ == "__main__":
    main()
