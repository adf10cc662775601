#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which lines and branches of the scheduler no unit test executes: `./kit test --coverage`.

coverage.py --build DIR --root DIR --page FILE    reads what the programs in DIR/scheduler have counted (DIR/profiles)
coverage.py --export FILE --root DIR              instead: reads what `llvm-cov export` has written

Prints the files of scheduler/src and scheduler/include with their lines and branches that were not executed, and writes
them into a page. What no test can execute is named in the source:

    f();  // unreached: why no test can execute this line
    // unreached: why no test can execute what follows: the next line, and if that opens a block, the block
    // unreached from here on: why no test can execute what follows up to the end of the block
    // by chance: why only some runs execute what follows

A line or an answer of a condition that was not executed and has no mark is an error. So is a mark without a reason, and
`unreached` at a line that was executed as a whole, because it is not true any more. The exit status is 1 when there is an
error, otherwise 0. A template that no test instantiates does not appear: the compiler makes nothing of it.
"""
import argparse
import html
import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

PARTS = ("scheduler/src", "scheduler/include")
MARK = re.compile(r"//\s*(unreached|by chance)\b( from here on)?:?[ \t]*(.*)")


def exported(build, root):
    """What llvm-cov knows of the sources: the parsed JSON."""
    profiles = sorted(map(str, (build / "profiles").glob("*.profraw")))
    programs = [p for p in sorted((build / "scheduler").rglob("*")) if is_program(p)]
    if not profiles or not programs:
        sys.exit(f"coverage.py: nothing was counted in {build}/profiles")
    merged = build / "coverage.profdata"
    subprocess.run(["llvm-profdata", "merge", "-o", merged, *profiles], check=True)
    objects = [programs[0]] + [word for p in programs[1:] for word in ("-object", p)]
    sources = [s for part in PARTS for s in sorted((root / part).rglob("*.[hc]pp"))]
    # It warns of functions with "mismatched data": inline functions in sources that do not call them.
    run = subprocess.run(["llvm-cov", "export", "-format=text", f"-instr-profile={merged}", *objects, *sources],
                         check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(run.stdout)


def is_program(path):
    if path.is_symlink() or not path.is_file() or not path.stat().st_mode & 0o111:
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def line_counts(segments):
    """{line: how often it was executed}, as llvm-cov's LineCoverageStats counts. A segment is [line, column, count,
    has count, begins a region, is a gap]."""
    counts = {}
    by_line = defaultdict(list)
    for s in segments:
        by_line[s[0]].append(s)
    wrapped = None
    last = max(by_line, default=0)
    for line in range(min(by_line, default=1), last + 1):
        here = by_line.get(line, [])
        begun = [s for s in here if not s[5] and s[3] and s[4]]
        skipped = bool(here) and not here[0][3] and here[0][4]
        if not skipped and (begun or (wrapped is not None and wrapped[3])):
            # Behind a block that may return, a gap that counts nothing goes on to what follows, which does count.
            before = wrapped
            if wrapped is None or wrapped[5]:
                before = next((s for s in here if s[3] and not s[5]), wrapped)
            counts[line] = max([before[2] if before else 0] + [s[2] for s in begun])
        if here:
            wrapped = here[-1]
    return counts


class Source:
    """A file with its lines, its branches and its marks."""

    def __init__(self, name, text, data):
        self.name = name
        self.text = text
        self.lines = line_counts(data["segments"])
        branches = defaultdict(lambda: [0, 0])
        for line, column, end_line, end_column, taken, not_taken, *_ in data.get("branches", []):
            of = branches[line, column, end_line, end_column]
            of[0] += taken
            of[1] += not_taken
        # One that was never asked lies in a line that was not executed, or beside a condition that is listed.
        self.branches = {where: of for where, of in branches.items() if any(of)}
        self.errors = []
        self.marks = {}  # line: (word, reason)
        self._read_marks()

    def missed_lines(self):
        return [line for line, count in sorted(self.lines.items()) if count == 0]

    def missed_branches(self):
        """[(line, condition, the answer that it never gave)]"""
        return [(line, self._between(line, column, end_line, end_column), "true" if never_true == 0 else "false")
                for (line, column, end_line, end_column), (never_true, never_false) in sorted(self.branches.items())
                if never_true == 0 or never_false == 0]

    def open_ends(self):
        """{line: what is missing there}, without what a mark explains."""
        return {line: what for line, what in self.missed().items() if line not in self.marks}

    def missed(self):
        found = {line: ["is not executed"] for line in self.missed_lines()}
        for line, condition, answer in self.missed_branches():
            found.setdefault(line, []).append(f"never {answer}: {condition}")
        return found

    def _between(self, line, column, end_line, end_column):
        if line == end_line:
            return self.text[line - 1][column - 1:end_column - 1]
        return self.text[line - 1][column - 1:].strip() + " …"

    def _read_marks(self):
        missed = self.missed()
        for line, text in enumerate(self.text, 1):
            mark = MARK.search(text)
            if mark is None:
                continue
            word, from_here_on, reason = mark.groups()
            if not reason.strip():
                self.errors.append(f"{self.name}:{line}: `{word}` has no reason; write // {word}: and why")
            if text[:mark.start()].strip():
                of = [line]
            elif from_here_on:
                of = self._rest_of_block(line)
            else:
                of = self._what_follows(line)
            for marked in of:
                self.marks[marked] = (word, reason.strip())
            if word == "unreached" and not any(marked in missed for marked in of):
                self.errors.append(f"{self.name}:{line}: `unreached` is not true: all of it was executed; remove the mark")

    def _what_follows(self, line):
        """The lines of the statement after a comment: up to a line that ends it, and if that opens a block, up to its end."""
        first = line + 1
        while first <= len(self.text) and self.text[first - 1].lstrip().startswith("//"):
            first += 1
        last = first
        while last < len(self.text) and not re.search(r"[;{}]\s*(//.*)?$", self.text[last - 1]):
            last += 1
        if re.search(r"\{\s*(//.*)?$", self.text[last - 1]):
            indent = re.match(r"\s*", self.text[first - 1]).group()
            last += 1
            while last < len(self.text) and not self.text[last - 1].startswith(indent + "}"):
                last += 1
        return range(first, last + 1)

    def _rest_of_block(self, line):
        """The lines from a comment to the end of the block in which it stands, with that of the brace."""
        indent = len(self.text[line - 1]) - len(self.text[line - 1].lstrip())
        last = line + 1
        while last < len(self.text) and (not self.text[last - 1].strip() or
                                         len(self.text[last - 1]) - len(self.text[last - 1].lstrip()) >= indent):
            last += 1
        return range(line + 1, last + 1)


def sources_in(data, root):
    found = []
    for file in data["data"][0]["files"]:
        path = Path(file["filename"])
        name = path.relative_to(root).as_posix()
        if name.startswith(PARTS):
            found.append(Source(name, path.read_text(encoding="utf-8").splitlines(), file))
    return sorted(found, key=lambda s: s.name)


def not_compiled(found, root):
    """Files of which the compiler has made nothing, with the marks that they must not have."""
    names = {s.name for s in found}
    return [path.relative_to(root).as_posix() for part in PARTS for path in sorted((root / part).rglob("*.[hc]pp"))
            if path.relative_to(root).as_posix() not in names]


def report(found):
    lines = []
    for s in found:
        open_ends = s.open_ends()
        if not open_ends:
            continue
        lines.append(f"{s.name}:")
        for line, what in sorted(open_ends.items()):
            lines += [f"  {line:4} {w}" + (f": {s.text[line - 1].strip()}" if w == "is not executed" else "")
                      for w in what]
    return lines


def totals(found):
    executed = [sum(len(s.lines) - len(s.missed_lines()) for s in found), sum(len(s.lines) for s in found)]
    answers = [sum((t != 0) + (f != 0) for s in found for t, f in s.branches.values()),
               2 * sum(len(s.branches) for s in found)]
    unexplained = sum(len(s.open_ends()) for s in found)
    explained = sum(len(s.missed()) for s in found) - unexplained
    return (f"Unit tests execute {executed[0]} of {executed[1]} lines, and {answers[0]} of {answers[1]} answers of "
            f"conditions. In {explained} lines a mark says why something is missing, in {unexplained} none does.")


STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
summary { cursor: pointer; padding: .15rem 0; } summary span { color: #777; }
table { border-collapse: collapse; font: 13px/1.45 ui-monospace, monospace; margin: .3rem 0 1rem; }
td { padding: 0 .6rem 0 0; vertical-align: top; white-space: pre-wrap; }
td:first-child { color: #999; text-align: right; }
.open { background: #fde2dd; } .marked { background: #f2f0e6; } .why { color: #8a2b1c; } .marked .why { color: #6b6540; }
@media (prefers-color-scheme: dark) {
  body { background: #1b1b1d; color: #ddd; } .open { background: #4a201b; } .marked { background: #2e2c22; }
  .why { color: #f0a595; } .marked .why { color: #c9c08f; }
}
"""


def rows(source):
    for line, what in sorted(source.missed().items()):
        mark = source.marks.get(line)
        kind = "open" if mark is None else "marked"
        why = "; ".join(what) + ("" if mark is None else f" – {mark[0]}: {mark[1]}")
        yield (f'<tr class="{kind}"><td>{line}</td><td>{html.escape(source.text[line - 1])}</td>'
               f'<td class="why">{html.escape(why)}</td></tr>')


def page(found):
    """One HTML file, without anything from elsewhere."""
    parts = ["<!DOCTYPE html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>",
             f"<title>Coverage of the scheduler</title><style>{STYLE}</style><h1>What no unit test executes</h1>",
             f"<p>{html.escape(totals(found))} Models execute the headers of <code>protocol/</code> as well, in every "
             "order: <code>./kit verify --case 'scheduler/*'</code>.</p>"]
    for s in sorted(found, key=lambda s: (-len(s.open_ends()), s.name)):
        missed, unexplained = s.missed(), len(s.open_ends())
        title = f"{len(s.lines)} lines, {unexplained} to look at, {len(missed) - unexplained} marked"
        parts.append(f"<details{' open' if unexplained else ''}><summary>{html.escape(s.name)} <span>{title}</span>"
                     f"</summary><table>{''.join(rows(s))}</table></details>")
    return "\n".join(parts) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path)
    parser.add_argument("--export", type=Path)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    root = given.root.resolve()
    data = json.loads(given.export.read_text()) if given.export else exported(given.build.resolve(), root)
    found = sources_in(data, root)
    print("\n".join(report(found)))
    print(totals(found))
    if given.page:
        given.page.parent.mkdir(parents=True, exist_ok=True)
        given.page.write_text(page(found), encoding="utf-8")
        print(f"As a page: {given.page}")
    errors = [e for s in found for e in s.errors]
    open_ends = [f"{s.name}:{line}" for s in found for line in sorted(s.open_ends())]
    if open_ends:
        errors.append(f"{len(open_ends)} lines have no reason ({', '.join(open_ends[:3])}{', …' * (len(open_ends) > 3)}; all are "
                      "listed above). For each, write a unit test that executes it, or say at the line why none does: "
                      "`// unreached: why`, or `// by chance: why` if some runs do.")
    sys.stdout.flush()
    print("".join(f"error: {e}\n" for e in errors), end="", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
