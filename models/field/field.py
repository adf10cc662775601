#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The field report: checks the structures that structures.toml names, in headers as they are installed.

./kit verify --field [OPTIONS] [GLOB...]
    Checks the structures whose names match, and compares each with its line of evidence/field.md. Structures whose package is
    not installed are named, and not run.

A structure is a section of a file of structures/, which generates its programs (<runq/linearizable.hpp>): what stands between
`#ifdef FIELD_<name>` and `#endif` at the beginning of a line. Its `edits` are made in a copy of the header, below the build folder: they take out what cannot be checked, or fix a finding.
"""
import argparse
import concurrent.futures
import fnmatch
import os
import re
import shutil
import subprocess
import sys
import textwrap
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "models/compiled"))
from checked_program import compile_checked, run, run_checked  # noqa: E402

PAGE = ROOT / "evidence/field.md"
COVERAGE = ROOT / "models/compiled/coverage.py"
ENOUGH = 200  # seconds for one structure: a search that takes longer has become too large for this report

# Without this, <runq/check.hpp> tells the runtime that the program makes checks, and is none to be checked.
AS_A_WHOLE = "#define RUNQ_CHECK_RUNTIME\n"


@dataclass
class Structure:
    """A line of the report."""
    name: str
    what: str
    package: str
    header: str
    group: str
    file: str
    section: str = ""
    flags: list = field(default_factory=list)
    options: list = field(default_factory=list)
    edits: list = field(default_factory=list)
    finding: str = ""
    mends: str = ""
    quick: bool = False

    @property
    def source(self):
        return HERE / "structures" / self.file

    @property
    def macro(self):
        """What chooses the structure's section of the source."""
        return f"FIELD_{self.section or self.name}"


@dataclass
class Result:
    """What came out of one structure. `text` is the whole verdict, and `coverage` a table, for a person."""
    verdict: str
    size: str = ""
    programs: str = ""
    executions: str = ""
    text: str = ""
    seconds: float = 0
    coverage: str = ""
    operations: str = "–"


def read_table():
    with open(HERE / "structures.toml", "rb") as file:
        table = tomllib.load(file)
    structures = [Structure(group=group["name"], file=group["file"], **one) for group in table["group"] for one in group["structure"]]
    return table, structures


# --- packages ----------------------------------------------------------------------------------------------------------
def version_of(package):
    """The installed version of a Debian package; empty if it is not installed."""
    found = run(["dpkg-query", "-W", "-f=${db:Status-Status} ${Version}\n", package]) if shutil.which("dpkg-query") else None
    for line in found.stdout.splitlines() if found else []:
        if line.startswith("installed "):
            return line.split()[1]
    return ""


def compiler_version(compiler):
    return run([compiler, "-dumpfullversion"]).stdout.strip()


# --- one structure -----------------------------------------------------------------------------------------------------
def edited_headers(structure, compiler, folder):
    """Copies the headers that the structure edits into `folder`, with the edits made. Returns the folders that they are
    from, for what they include beside themselves, and what is wrong."""
    beside = []
    for edit in structure.edits:
        copy = folder / edit["header"]
        if not copy.exists():
            flags = [flag for flag in structure.flags if flag.startswith("-I")]
            lines = run([compiler, *flags, "-std=c++20", "-E", "-x", "c++", "-"], input=f"#include <{edit['header']}>\n").stdout
            paths = re.findall(rf'^# 1 "(/[^"]*/{re.escape(edit["header"])})"', lines, re.MULTILINE)
            if not paths:
                sys.exit(f"field: {structure.name}: there is no header {edit['header']}")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(paths[0], copy)
            beside += ["-iquote", str(Path(paths[0]).parent)]
        text = copy.read_text(encoding="utf-8")
        if edit["old"] not in text:
            return beside, f"the header {edit['header']} does not have the text that is edited"
        copy.write_text(text.replace(edit["old"], edit["new"]), encoding="utf-8")
    return beside, ""


def left_out(text):
    """What a verdict says that it left out, but load buffering, which every verdict does."""
    words = re.search(r"; left out: (.*)$", text.splitlines()[0])
    found = [word for word in words[1].split(", ") if word != "load buffering"] if words else []
    return ", ".join(re.sub(r" \(--[\w-]+ N\)", "", word) for word in found)


def read_result(output, seconds):
    first, _, text = output.partition("\n")
    numbers = re.match(r"field: (\w+); programs (\d+) of (\d+); left out (\d+); executions (\d+); calls (\d+); threads (\d+); each (\d+)", first)
    if not numbers:
        return Result("no verdict: it ended without one", text=output, seconds=seconds)
    status, passed, programs, _, executions, calls, threads, each = numbers.groups()
    result = Result("", f"{threads} × {each}", f"{int(programs):,}", f"{int(executions):,}", text, seconds)
    if status == "passed":
        without = left_out(text)
        result.verdict = f"passes, bounded: without {without}" if without else "passes, exhaustive"
        return result
    result.programs = f"{int(passed) + 1:,} of {result.programs}"
    if status == "failed":
        result.verdict = f"**FAIL**: {re.match('FAIL: ([^:]*)', text)[1]}, in a program of {calls} call{'s' * (calls != '1')}"
    else:
        why = re.search(r"^no verdict: (.*?)(?: \(\d+ executions explored.*)?$", text, re.MULTILINE)
        reason = re.sub(r"^limit reached: |,? at [\w.]+:\d+", "", why[1] if why else "unknown reason")
        result.verdict = "no verdict: " + re.split("[;,]", reason)[0]
    return result


def sections_of(source):
    """The sections of a file of structures, by the macros that choose them."""
    return dict(re.findall(r"^#ifdef (FIELD_\w+)$(.*?)^#endif$", source.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL))


def headers_of(structure):
    """The library's headers that the structure's source includes: their folders, or, without a folder, the headers. None
    for the standard library, whose operations lie in many headers."""
    found = re.findall(r"^#include <([\w/+-]+[/.][\w/.+-]+)>", sections_of(structure.source)[structure.macro], re.MULTILINE)
    return sorted({os.path.dirname(h) + "/" if "/" in h else h for h in found if not h.startswith("runq/")})


class Checker:
    """Compiles and runs structures."""

    def __init__(self, options):
        self.tool = options.tool
        self.compiler = options.compiler
        self.work = Path(options.work)
        self.quiet = options.quiet

    def compile(self, structure):
        """Returns the program, or why there is none."""
        folder = self.work / structure.name
        shutil.rmtree(folder, ignore_errors=True)
        headers = folder / "edited"
        headers.mkdir(parents=True)
        beside, wrong = edited_headers(structure, self.compiler, headers)
        if wrong:
            return None, wrong
        program = folder / "program"
        made = compile_checked(self.tool, self.compiler, program, [structure.source],
                               ["-g1", f"-D{structure.macro}", f"-I{headers}", *beside, *structure.flags])
        return (program, "") if made.returncode == 0 else (None, made.stderr)

    def check(self, structure):
        began = time.monotonic()
        program, wrong = self.compile(structure)
        if program is None:
            return Result("no verdict: it does not compile", text=wrong, seconds=time.monotonic() - began)
        executed = program.parent / "executed"
        try:
            ran = run_checked(program, [*structure.options, "--executed", str(executed)], timeout=ENOUGH)
        except subprocess.TimeoutExpired:
            return Result(f"no verdict: it took longer than {ENOUGH} s", seconds=time.monotonic() - began)
        result = read_result(ran.stdout + ran.stderr if not ran.stdout else ran.stdout, time.monotonic() - began)
        self.count_operations(structure, program, executed, result)
        return result

    @staticmethod
    def count_operations(structure, program, executed, result):
        """Which of the library's operations the programs have executed."""
        names = headers_of(structure)
        if not names:
            return
        counted = run([sys.executable, "-B", str(COVERAGE), str(program), str(executed), *names])
        result.coverage = counted.stdout + counted.stderr
        found = re.match(r"coverage: (\d+ of \d+) atomic operations", counted.stdout)
        result.operations = found[1] if found else "unknown"

    def draw(self, structure, result, folder):
        """Writes the program that fails, and the page with its counterexample. Returns whether that fails, too."""
        folder.mkdir(parents=True, exist_ok=True)
        program = result.text.partition("\n\n")[2].partition("\n\nFAIL in execution")[0]
        source = folder / f"{structure.name}.cpp"
        source.write_text(f'{AS_A_WHOLE}#define RUNQ_FIELD_PROGRAM\n#define {structure.macro}\n#include "{structure.source}"\n{program}\n', encoding="utf-8")
        ran = run([self.tool, "--compiler", self.compiler, "--html", str(folder), *structure.options, str(source), "--",
                   f"-I{self.work / structure.name / 'edited'}", *structure.flags])
        print(ran.stdout + ran.stderr)
        return ran.returncode == 1


# --- the page ----------------------------------------------------------------------------------------------------------
def row(structure, result):
    verdict = f"{result.verdict} ([why](#{structure.finding}))" if structure.finding and not structure.mends else result.verdict
    return (f"| {structure.what} | {result.size} | {result.programs} | {result.executions} | {result.operations} | {verdict} "
            f"| `./kit verify --field {structure.name}` |")


def rows_of(page):
    """The lines of the tables, by the names of their structures."""
    return {name: line for line in page.splitlines() for name in re.findall(r"`\./kit verify --field (\w+)` \|$", line)}


def shown_steps(text, most=24):
    """The counterexample without the column of places, and without what differs from run to run."""
    lines = text.partition("FAIL in execution")[2].splitlines()
    head = next((i for i, line in enumerate(lines) if line.startswith("step thr")), None)
    if head is None:
        return []
    wide = lines[head].index("where")
    why = next(i for i, line in enumerate(lines) if i > head and line.startswith("why:"))
    steps = [line[:wide].rstrip() for line in lines[head:why] if line[:4].strip().isdigit() or line.startswith("step")]
    if len(steps) > most:
        steps = [steps[0], f"     ({len(steps) - most} earlier steps)", *steps[-most + 1:]]
    names = {}

    def named(address):
        """Addresses differ from run to run: &1 is the first that is shown."""
        return f"&{names.setdefault(address[0], len(names) + 1)}".ljust(len(address[0]))

    shown = [*lines[1:head], *steps, lines[why]]
    return [re.sub(r"…[0-9a-f]{6,15}|\b[0-9a-f]{16}\b", named, re.sub(r" at [\w.]+\.[ch]pp:\d+", "", line))[:150].rstrip() for line in shown]


def program_in_a_line(text):
    """"T0: push(1), pop() ‖ T1: push(3)": the calls of the program that fails."""
    threads = {0: []}
    at = 0
    before = []
    started = False
    for line in text.partition("\nint main() {")[2].partition("require_")[0].splitlines():
        thread = re.match(r"  std::thread t(\d+)", line)
        call = re.match(r'\s+object\.(?:lock_free_)?call\("(\w+)", call_\w+(?:, (.*))?\);', line)
        if thread:
            at, started = int(thread[1]), True
            threads[at] = []
        elif line.startswith("  });"):
            at = 0
        elif line.startswith("  t"):
            break
        elif call:
            (threads[at] if at or started or "std::thread" not in text else before).append(f"{call[1]}({call[2] or ''})")
    words = " ‖ ".join(f"T{t}: {', '.join(calls)}" for t, calls in sorted(threads.items()) if calls)
    return f"{', '.join(before)}; then {words}" if before else words


TABLE = "| structure | size | programs | executions | operations | verdict | command |\n|---|---|---|---|---|---|---|"


def page_text(table, structures, results, compiler):
    lines = ["# The field report", "", table["intro"].strip(), "",
             f"Made by `./kit verify --field --write-docs` with g++ {compiler_version(compiler)}"
             f" and libstdc++ {version_of('libstdc++-12-dev') or 'of that version'}.", ""]
    for group in table["group"]:
        mine = [s for s in structures if s.group == group["name"]]
        lines += [f"## {group['name']}", ""]
        if "about" in group:
            lines += [group["about"].strip(), ""]
        packages = {s.package: version_of(s.package) for s in mine if s.package}
        headers = sorted({s.header for s in mine if s.header})
        if packages:
            lines += ["Packages: " + ", ".join(f"{p} {v}" for p, v in packages.items()) + ". Headers: " +
                      ", ".join(f"`{h}`" for h in headers) + ".", ""]
        lines += [TABLE, *(row(s, results[s.name]) for s in mine), ""]
    lines += ["## Findings", ""]
    for finding in table["finding"]:
        lines += finding_text(finding, structures, results)
    lines += [table["outro"].strip(), ""]
    return "\n".join(lines)


def finding_text(finding, structures, results):
    lines = [f"### {finding['name']}", "", finding["what"].strip(), ""]
    failing = [s for s in structures if s.finding == finding["name"] and not s.mends]
    mended = [s for s in structures if s.finding == finding["name"] and s.mends]
    shown = next((s for s in failing if results[s.name].verdict.startswith("**FAIL")), None)
    if shown:
        text = results[shown.name].text
        lines += [f"`{shown.name}`: {program_in_a_line(text)}", "", "```text", *shown_steps(text), "```", "",
                  f"The page: `./kit verify --field {shown.name} --html build/field`.", ""]
    for key, title in (("x86", "On x86"), ("upstream", "Known"), ("sure", "How certain"), ("second", "A second engine"),
                       ("fix", "The smallest fix")):
        lines += [*textwrap.wrap(f"**{title}.** {finding[key]}", 120, break_long_words=False, break_on_hyphens=False), ""]
    for s in mended:
        lines += ["```diff", *edit_text(s), "```", "", f"With it: {results[s.name].verdict}, {results[s.name].executions} executions"
                  f" (`./kit verify --field {s.name}`).", ""]
    return lines


def edit_text(structure):
    lines = []
    for edit in structure.edits:
        if "only_to_check" in edit:
            continue
        lines += [f"--- {edit['header']}", *("-" + x for x in edit["old"].splitlines()), *("+" + x for x in edit["new"].splitlines())]
    return lines


# --- the command -------------------------------------------------------------------------------------------------------
def differs(structure, result, committed, same_versions):
    """How this line is not as the page has it; empty if it is. Another compiler may explore other executions."""
    line = committed.get(structure.name)
    if line is None:
        return "evidence/field.md has no such line"
    if line == row(structure, result):
        return ""
    if same_versions:
        return f"evidence/field.md says: {line}"
    kind = re.compile(r"passes|\*\*FAIL\*\*: [^,|]*|no verdict")
    before, now = kind.search(line), kind.search(result.verdict)
    return "" if before and now and before[0] == now[0] else f"evidence/field.md says: {line}"


def parse():
    options = argparse.ArgumentParser(prog="./kit verify --field", description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tool", help=argparse.SUPPRESS)
    options.add_argument("--work", help=argparse.SUPPRESS)
    options.add_argument("--page", action="store_true", help="only compare the names in the table, the sources and the page")
    options.add_argument("--compiler", default="g++", help="g++ (the default), of which the page tells")
    options.add_argument("--quick", action="store_true", help="only a few, for every day")
    options.add_argument("--list", action="store_true", help="name them and stop")
    options.add_argument("--jobs", type=int, default=os.cpu_count(), help="so many at the same time")
    options.add_argument("--html", metavar="DIR", help="draw the counterexamples as pages into DIR")
    options.add_argument("--text", action="store_true", help="print the whole verdicts")
    options.add_argument("--write-docs", action="store_true", help="write evidence/field.md again")
    options.add_argument("--coverage", action="store_true",
                         help="tell which operations of the library's headers the generated programs have executed")
    options.add_argument("--quiet", action="store_true", help=argparse.SUPPRESS)
    options.add_argument("globs", nargs="*", metavar="GLOB", help="the structures whose names match")
    return options.parse_args()


def chosen(structures, o):
    mine = [s for s in structures if not o.globs or any(fnmatch.fnmatch(s.name, g) for g in o.globs)]
    if o.quick:
        mine = [s for s in mine if s.quick]
    if not mine:
        sys.exit("field: no structure has such a name; --list names them")
    return mine


def print_list(structures):
    for s in structures:
        print(f"{s.name:34} {s.package or 'no package':24} {s.what.replace('`', '')}")


def second_engine_is_missing(finding):
    """Why what the finding says of a second engine is not true of models/cases/: its command has to run a case that is wrong
    on purpose, and one that is not."""
    glob = re.search(r"--case '([^']+)'", re.sub(r"\s+", " ", finding.get("second", "")))
    if not glob:
        return ["it names no case of a second engine"]
    seeded = set()
    for source in sorted((ROOT / "models/cases" / glob[1].partition("/")[0]).glob("*.cpp")):
        for name, rest in re.findall(r'\.name = "([^"]+)",(.*?)\}\)', source.read_text(encoding="utf-8"), re.DOTALL):
            if fnmatch.fnmatch(name, glob[1]):
                seeded.add(".seeded_bug = true" in rest)
    return [] if seeded == {True, False} else [f"{glob[0]} runs no case with the bug, or none without it"]


def page_is_complete(table, structures, page):
    """Whether the table, the folder of sources and the page name the same structures and findings."""
    names = [s.name for s in structures]
    sections = {s.macro for s in structures}
    findings = {finding["name"] for finding in table["finding"]}
    wrong = [f"two structures are called {name}" for name in {n for n in names if names.count(n) > 1}]
    there = {path: sections_of(path) for path in sorted((HERE / "structures").iterdir())}
    wrong += [f"structures/{path.name}: {macro} is in no line of structures.toml" for path, macros in there.items()
              for macro in macros if macro not in sections]
    wrong += [f"{s.name}: {s.source.name} has no section {s.macro}" for s in structures if s.macro not in there.get(s.source, ())]
    wrong += [f"{s.name}: there is no finding {s.finding}" for s in structures if s.finding and s.finding not in findings]
    wrong += [f"no structure has the finding {name}" for name in findings - {s.finding for s in structures}]
    wrong += [f"evidence/field.md and structures.toml differ in {name}" for name in sorted(set(rows_of(page)) ^ set(names))]
    wrong += [f"the finding {finding['name']}: {why}" for finding in table["finding"] for why in second_engine_is_missing(finding)]
    lines = rows_of(page)
    wrong += [f"{s.name}: the page says FAIL, and no finding is named" for s in structures
              if "**FAIL" in lines.get(s.name, "") and not s.finding]
    print("\n".join(wrong) if wrong else f"{len(names)} structures in the table and on the page")
    return not wrong


def check_all(checker, structures, jobs, tell):
    """The results by name; an absent package's structures have none."""
    absent = {s.package for s in structures if s.package and not version_of(s.package)}
    for package in sorted(absent):
        print(f"not run: {', '.join(s.name for s in structures if s.package == package)}: {package} is not installed")
    to_run = [s for s in structures if s.package not in absent]
    results = {}
    with concurrent.futures.ThreadPoolExecutor(max_workers=jobs) as pool:
        for structure, result in zip(to_run, pool.map(checker.check, to_run)):
            results[structure.name] = result
            tell(structure, result)
    return results, absent


def main():
    o = parse()
    table, structures = read_table()
    mine = chosen(structures, o)
    if o.list:
        print_list(mine)
        return 0
    page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    if o.page:
        return 0 if page_is_complete(table, structures, page) else 1
    committed = rows_of(page)
    # Other versions of the compiler compile to other loops, of which the checker may explore more or fewer.
    same_compiler = f"g++ {compiler_version(o.compiler)} " in page and o.compiler == "g++"
    wrong = []

    def tell(s, result):
        same = same_compiler and (not s.package or f"{s.package} {version_of(s.package)}" in page)
        how = "" if o.write_docs else differs(s, result, committed, same)
        wrong.extend([s.name] if how else [])
        size = f"{result.programs} programs, {result.executions} executions, " if result.programs else ""
        print(f"{s.name}: {result.verdict} ({size}{result.seconds:.1f} s)" + (f"\n  but {how}" if how else ""), flush=True)
        if o.text or result.verdict.endswith("it does not compile"):
            print(result.text)
        if o.coverage:
            print(result.coverage, flush=True)

    checker = Checker(o)
    results, absent = check_all(checker, mine, max(1, o.jobs), tell)
    if o.html:
        for s in mine:
            if s.name in results and results[s.name].verdict.startswith("**FAIL"):
                if not checker.draw(s, results[s.name], Path(o.html)):
                    print(f"field: {s.name}: its counterexample could not be drawn")
                    wrong.append(s.name)
    if o.write_docs:
        if absent or len(mine) != len(structures):
            sys.exit("field: the page needs all structures: ./kit setup --field")
        PAGE.write_text(page_text(table, structures, results, o.compiler), encoding="utf-8")
    failed = sum(r.verdict.startswith("**FAIL") for r in results.values())
    undecided = sum(r.verdict.startswith("no verdict") for r in results.values())
    print(f"field: {len(results)} structures: {len(results) - failed - undecided} pass, {failed} fail, {undecided} without a verdict; "
          f"{len(mine) - len(results)} not run; {len(wrong)} not as evidence/field.md says")
    if not results:
        print("field: nothing was checked; ./kit setup --field installs the packages", file=sys.stderr)
        return 2
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
