#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Known bugs of other projects: does a small test fail on the version with the bug, and not on the mended one?

./kit verify --known DIR [NAME...]
    DIR has a git checkout of each repository, in DIR/OWNER/NAME; where one is missing, the command that brings it is
    printed. The reports are those of models/known/reports/known.toml, or of your own --table; docs/known-bugs.md says
    what it has. Nothing is checked out there: the files of the two versions are taken from its
    history into a folder that is removed at the end. Prints for each report the verdict on both versions, why the one
    with the bug fails, and what was expected where that is something else. A NAME chooses reports, as 'queue*'.
    With --tsan, also what ThreadSanitizer says of the version with the bug: the same main(), run again and again.
    With --all-failures N instead: what the search for N different failures of the version with the bug costs, beside the
    search of the mended version, which passes.

Exit status: 0: all verdicts are as expected; 1: one is not; 2: a report could not be checked, or the table is wrong.
"""
import argparse
import contextlib
import fnmatch
import io
import os
import re
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "models/compiled"))
from checked_program import compile_checked, run, run_checked  # noqa: E402

REPORTS = Path(__file__).resolve().parent / "reports/known.toml"
SHORTEST_HANG = 5  # seconds: a run that takes longer when the time is over does not end


class Refused(Exception):
    """A report that cannot be checked as the table or the checkout is."""


def checkout_of(folder, repository):
    """The checkout of a project: OWNER/NAME in that folder."""
    checkout = Path(folder) / "/".join(repository.rstrip("/").removesuffix(".git").split("/")[-2:])
    if not checkout.is_dir():
        raise Refused(f"there is no {checkout}: git clone {repository} {checkout}")
    return checkout


@dataclass
class Report:
    """One bug: which files, which versions of them, and what is expected of both."""
    name: str
    link: str
    repository: str
    cause: str
    before: str
    take: list
    buggy: str
    fixed: str
    after: str = ""  # the version without the bug; or `fix`
    fix: list = field(default_factory=list)  # {file, from, to}: texts that are replaced in the version with the bug
    test: str = ""  # NAME.cpp
    beside: list = field(default_factory=list)  # {repository, version, take}: what it needs of other projects
    sources: list = field(default_factory=list)  # what of theirs is compiled beside the test
    include: list = field(default_factory=list)
    flags: list = field(default_factory=list)
    flags_before: list = field(default_factory=list)  # further ones, for the version with the bug
    flags_after: list = field(default_factory=list)  # and for the mended one
    options: list = field(default_factory=list)
    files: dict = field(default_factory=dict)  # headers of the test's own, which stand in for those of their platform

    def __post_init__(self):
        self.test = self.test or f"{self.name}.cpp"
        if bool(self.after) == bool(self.fix):
            raise Refused(f"{self.name}: it has to have one of `after` and `fix`")

    def versions(self):
        return (("buggy", self.before, [], [*self.flags, *self.flags_before], self.buggy),
                ("fixed", self.after or self.before, self.fix, [*self.flags, *self.flags_after], self.fixed))


@dataclass
class Result:
    """What came out for one version."""
    verdict: str
    text: str
    seconds: float
    processor: float  # seconds of processor time, of the compiler and the check together

    def why(self):
        """The sentence that says why it fails."""
        first = re.search(r"^FAIL[^:]*: (.*)", self.text, re.MULTILINE)
        last = re.search(r"^why: (.*(?:\n {2,}\S.*)*)", self.text, re.MULTILINE)
        return [" ".join(found[1].split()) for found in (first, last) if found]


def read_table(file):
    with open(file, "rb") as opened:
        table = tomllib.load(opened)
    try:
        reports = [Report(**one) for one in table["report"]]
    except (KeyError, TypeError) as wrong:
        raise Refused(f"{file}: {str(wrong).removeprefix('Report.__init__() ')}") from wrong
    for report in reports:
        if not (file.parent / report.test).exists():
            raise Refused(f"{report.name}: there is no {file.parent / report.test}")
    names = [report.name for report in reports]
    if len(set(names)) != len(names):
        raise Refused(f"{file}: two reports have the same name")
    return reports


def take(checkout, version, paths, into):
    """Writes these files and folders, as they were in that version."""
    made = subprocess.run(["git", "-C", checkout, "archive", version, "--", *paths], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    if made.returncode != 0:
        raise Refused(made.stderr.decode().strip())
    with tarfile.open(fileobj=io.BytesIO(made.stdout)) as archive:
        archive.extractall(into)


def mend(folder, fixes):
    """Replaces the texts, each of which has to be there once."""
    for fix in fixes:
        file = folder / fix["file"]
        text = file.read_text(encoding="utf-8")
        if text.count(fix["from"]) != 1:
            raise Refused(f"{fix['file']} has {text.count(fix['from'])} times what the fix replaces: {fix['from']}")
        file.write_text(text.replace(fix["from"], fix["to"]), encoding="utf-8")


def short_verdict(text):
    """ "FAIL 5", "exhaustive 18", "bounded 11" or "no verdict"."""
    if failed := re.search(r"^FAIL in execution (\d+)", text, re.MULTILINE):
        return f"FAIL {failed[1]}"
    passed = re.search(r"^(exhaustive|bounded)\b.*?\((\d+) executions? explored", text, re.MULTILINE | re.DOTALL)
    return f"{passed[1]} {passed[2]}" if passed else "no verdict"


@dataclass
class Version:
    """The files of one version, in a folder, and how they are compiled."""
    folder: Path
    sources: list
    flags: list

    @property
    def theirs(self):
        return self.folder / "theirs"


@contextlib.contextmanager
def version_of(report, home, folder, version):
    """Takes and mends the files."""
    _, commit, fixes, flags, _ = version
    with tempfile.TemporaryDirectory() as scratch:
        theirs, ours = Path(scratch) / "theirs", Path(scratch) / "ours"
        take(checkout_of(folder, report.repository), commit, report.take, theirs)
        for other in report.beside:
            take(checkout_of(folder, other["repository"]), other["version"], other["take"], theirs)
        mend(theirs, fixes)
        for name, text in report.files.items():
            (ours / name).parent.mkdir(parents=True, exist_ok=True)
            (ours / name).write_text(text, encoding="utf-8")
        sources = [home / report.test, *(theirs / name for name in report.sources)]
        yield Version(Path(scratch), sources, [f"-I{ours}", *(f"-I{theirs / name}" for name in report.include), "-w", *flags])


def processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def check(tool, compiler, report, home, folder, version, more=()):
    """Compiles one version, and checks it, with more options than the report has."""
    began, used = time.monotonic(), processor_time()
    with version_of(report, home, folder, version) as made:
        program = made.folder / "program"
        compiled = compile_checked(tool, compiler, program, made.sources, made.flags, options=[*report.options, *more])
        if compiled.returncode != 0:
            raise Refused(f"does not compile:\n{compiled.stderr}")
        ran = run_checked(program, [*report.options, *more])
        text = (ran.stdout + ran.stderr).replace(f"{made.theirs}/", "")
    return Result(short_verdict(text), text, time.monotonic() - began, processor_time() - used)


def compile_for_sanitizer(compiler, made):
    """As the checker compiles it, but for the processor, with ThreadSanitizer."""
    objects = []
    for number, source in enumerate(made.sources):
        language = ["-x", "c", "-std=gnu17"] if source.suffix == ".c" else ["-x", "c++", "-std=c++20"]
        objects.append(made.folder / f"{number}.o")
        run_compiler([compiler, *language, "-g", "-O1", "-fsanitize=thread", *made.flags, "-c", source, "-o", objects[-1]])
    libraries = [flag for flag in made.flags if flag.startswith("-l")]
    run_compiler([compiler, "-fsanitize=thread", *objects, *libraries, "-latomic", "-o", made.folder / "program"])
    return made.folder / "program"


def run_compiler(command):
    ran = run(command)
    if ran.returncode != 0:
        raise Refused(f"does not compile with ThreadSanitizer:\n{ran.stderr}")


def run_again_and_again(program, seconds):
    """What ThreadSanitizer says, and in which run; or that it says nothing, in how many."""
    end, count = time.monotonic() + seconds, 0
    while count == 0 or time.monotonic() < end:
        count += 1
        try:
            ran = run([program], timeout=max(end - time.monotonic(), SHORTEST_HANG),
                      env={**os.environ, "TSAN_OPTIONS": "halt_on_error=1"})
        except subprocess.TimeoutExpired:
            return f"run {count} does not end"
        if found := re.search(r"^(?:WARNING: |FATAL: )?ThreadSanitizer: (.*?)(?: \(pid=.*)?$", ran.stderr, re.MULTILINE):
            return f"{found[1]} in run {count}"
        if ran.returncode != 0:
            return f"run {count} fails"
    return f"nothing in {count} runs"


def ask_sanitizer(compiler, report, home, folder, seconds):
    with version_of(report, home, folder, report.versions()[0]) as made:
        return run_again_and_again(compile_for_sanitizer(compiler, made), seconds)


def print_result(version, result, whole):
    name, _, _, _, expected = version
    good = result.verdict == expected
    print(f"  {name}: {result.verdict}, {result.seconds:.1f} s, {result.processor:.1f} s of processor time{'' if good else f'  EXPECTED: {expected}'}", flush=True)
    if whole or not good:
        print(result.text)
    else:
        for sentence in result.why():
            print(f"    {sentence}")


def markdown(report, results, sanitizer):
    """The report's line in a table of Markdown."""
    buggy, fixed = results
    cells = [report.cause, buggy.verdict, "; ".join(buggy.why()), fixed.verdict, *([sanitizer] if sanitizer else [])]
    return " | ".join([f"| [{report.name}]({report.link})", *(cell.replace("|", r"\|") for cell in cells)]) + " |"


def search_of(text):
    """How many executions a search has made, and in how many seconds; nothing if there is no verdict."""
    found = re.search(r"^FAIL: .* of (\d+) executions?(?:, [^()]*?)??, ([\d.]+) s$", text, re.MULTILINE) or re.search(
        r"^(?:exhaustive|bounded)\b.*?\((\d+) executions? explored[^()]*, ([\d.]+) s\)", text, re.MULTILINE)
    return (int(found[1]), float(found[2])) if found else None


def print_costs(o, report, home):
    """Returns the executions and seconds of both searches; nothing if one has no verdict, or the mended version fails."""
    buggy, fixed = report.versions()
    try:
        one = check(o.tool, o.compiler, report, home, o.folder, fixed)
        every = check(o.tool, o.compiler, report, home, o.folder, buggy, ["--all-failures", str(o.all_failures)])
    except Refused as why:
        print(f"{report.name}: not checked: {why}", flush=True)
        return None
    first = every.text.partition("\n")[0]
    costs = search_of(one.text), search_of(every.text)
    if None in costs or one.verdict.startswith("FAIL"):
        print(f"{report.name}: nothing to compare: {one.verdict}, and {first}", flush=True)
        return None
    executions, seconds = costs[0]
    print(f"{report.name}: mended {executions} executions, {seconds:.2f} s; all failures: {first.removeprefix('FAIL: ')}", flush=True)
    return costs


def compare_costs(o, reports):
    """Prints a line for each report, and what all take together. Returns the exit status."""
    costs = [found for found in (print_costs(o, report, o.table.parent) for report in reports) if found]
    if not costs:
        return 2
    (one, one_seconds), (every, all_seconds) = ([sum(part) for part in zip(*side)] for side in zip(*costs))
    print(f"known: {len(costs)} of {len(reports)} reports: mended {one} executions, {one_seconds:.2f} s; "
          f"all failures {every} executions, {all_seconds:.2f} s")
    return 0 if len(costs) == len(reports) else 2


def print_report(o, report, home):
    """Checks one report and prints what came out. Returns "as expected", "not as expected" or "not checked"."""
    if not o.markdown:
        print(f"{report.name}: {report.link}\n  cause: {report.cause}", flush=True)
    results = []
    try:
        for version in report.versions():
            results.append(check(o.tool, o.compiler, report, home, o.folder, version))
            if not o.markdown:
                print_result(version, results[-1], o.text)
        sanitizer = ask_sanitizer(o.compiler, report, home, o.folder, o.tsan) if o.tsan else ""
    except Refused as why:
        print(f"  not checked: {why}", flush=True)
        return "not checked"
    if o.markdown:
        print(markdown(report, results, sanitizer), flush=True)
    elif sanitizer:
        print(f"  ThreadSanitizer: {sanitizer}", flush=True)
    good = [result.verdict == version[-1] for version, result in zip(report.versions(), results)]
    return "as expected" if all(good) else "not as expected"


def main():
    options = argparse.ArgumentParser(prog="./kit verify --known", description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tool", help=argparse.SUPPRESS)
    options.add_argument("--compiler", default="g++", help="g++ (the default), or another one")
    options.add_argument("--text", action="store_true", help="print the whole verdicts")
    options.add_argument("--markdown", action="store_true", help="print a line of a Markdown table for each report")
    options.add_argument("--tsan", type=int, metavar="SECONDS",
                         help="run the version with the bug for so long under ThreadSanitizer, too")
    options.add_argument("--all-failures", type=int, metavar="N",
                         help="instead: what the search for N failures of the version with the bug costs")
    options.add_argument("--table", type=Path, metavar="TABLE", default=REPORTS, help="a table of reports of your own")
    options.add_argument("folder", metavar="DIR", help="the folder that has the checkouts")
    options.add_argument("names", nargs="*", metavar="NAME", help="the reports whose names match")
    o = options.parse_args()
    try:
        reports = read_table(o.table)
    except (Refused, OSError, tomllib.TOMLDecodeError) as wrong:
        print(f"known: {wrong}", file=sys.stderr)
        return 2
    asked = [r for r in reports if not o.names or any(fnmatch.fnmatch(r.name, name) for name in o.names)]
    if o.all_failures and asked:
        return compare_costs(o, asked)
    came = [print_report(o, report, o.table.parent) for report in asked]
    if not came:
        print("known: no report has such a name", file=sys.stderr)
        return 2
    print(f"known: {len(came)} reports, " + ", ".join(
        f"{came.count(word)} {word}" for word in ("as expected", "not as expected", "not checked")))
    return 2 if "not checked" in came else 1 if "not as expected" in came else 0


if __name__ == "__main__":
    sys.exit(main())
