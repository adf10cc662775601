#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `./kit verify --field` makes of the verdicts that it gets: with a table, a page and a checker of this test."""
import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import field  # noqa: E402

TABLE = """intro = "Intro."
outro = "Outro."
[[group]]
name = "Ours"
file = "ours.cpp"
[[group.structure]]
name = "good"
what = "`good<int>`"
package = "libours-dev"
header = "lib/good.hpp"
quick = true
options = ["--timeouts", "1"]
[[group.structure]]
name = "bad"
what = "`bad<int>`"
package = "libours-dev"
header = "lib/bad.hpp"
finding = "it-loses"
[[group.structure]]
name = "mended"
what = "`bad<int>`, mended"
package = ""
header = "lib/bad.hpp"
section = "bad"
finding = "it-loses"
mends = "it-loses"
[[finding]]
name = "it-loses"
what = "It loses an element."
x86 = "Nothing."
upstream = "Nowhere."
sure = "Very."
second = "`./kit verify --case 'field/it_loses*'`"
fix = "None."
"""
SOURCE = "".join(f"#ifdef FIELD_{name}\n#include <lib/{name}.hpp>\n#include <runq/linearizable.hpp>\n#endif\n" for name in ("good", "bad"))
CASE = """add({.name = "field/it_loses", .seeded_bug = true})
add({.name = "field/it_loses_not", .threads = 2})
"""
PASSES = "field: passed; programs 3 of 3; left out 0; executions 1234; calls 4; threads 2; each 3\nexhaustive: no execution fails; left out: load buffering\n"
FAILS = "field: failed; programs 1 of 3; left out 0; executions 7; calls 2; threads 2; each 2\nFAIL: data race: of two\n\nthe program\n\nFAIL in execution 1: x\n"
# A checker that compiles a program which says what the test wants; --html: draws, or does not.
TOOL = """#!/bin/sh
for word; do
  case $word in
    --html) exit $(cat "$FAKES/html") ;;
    -DFIELD_*) name=${word#-DFIELD_} ;;
    */program) program=$word ;;
  esac
done
case $program in */mended/*) name=mended ;; esac
[ -e "$FAKES/$name" ] || { echo 'an error of the compiler' >&2; exit 1; }
cp "$FAKES/$name" "$program"
"""


class Verdicts(unittest.TestCase):
    def read(self, text):
        return field.read_result(text, 1.5)

    def test_what_is_left_out_is_told_but_for_load_buffering(self):
        first = "bounded: no execution fails; left out: load buffering, spurious wake-ups (--spurious-wakeups N), what a loop does"
        self.assertEqual(field.left_out(first + "\nmore; left out: nothing"), "spurious wake-ups, what a loop does")
        self.assertEqual(field.left_out("exhaustive: no execution fails; left out: load buffering\n"), "")
        self.assertEqual(field.left_out("exhaustive: no execution fails\n"), "")
        bounded = PASSES.replace("left out: load buffering", "left out: load buffering, consume")
        self.assertEqual(self.read(bounded).verdict, "passes, bounded: without consume")

    def test_numbers_are_those_that_the_program_prints(self):
        result = self.read(PASSES)
        self.assertEqual((result.verdict, result.size, result.programs, result.executions, result.seconds),
                         ("passes, exhaustive", "2 × 3", "3", "1,234", 1.5))
        result = self.read(FAILS)
        self.assertEqual((result.verdict, result.programs), ("**FAIL**: data race, in a program of 2 calls", "2 of 3"))
        self.assertTrue(self.read(FAILS.replace("calls 2", "calls 1")).verdict.endswith(" 1 call"))

    def test_without_a_verdict_it_says_why(self):
        undecided = FAILS.replace("failed", "undecided")
        self.assertEqual(self.read(undecided).verdict, "no verdict: unknown reason")
        limit = "no verdict: limit reached: max_events at a.cpp:7; raise it (5 executions explored, 1 s)\n"
        self.assertEqual(self.read(undecided + limit).verdict, "no verdict: max_events")
        for text in "", "Segmentation fault\n":
            self.assertTrue(self.read(text).verdict.startswith("no verdict: "), text)

    def test_a_line_that_differs_is_told(self):
        s = field.Structure("one", "`one`", "", "", "", "")
        row = field.row(s, self.read(PASSES))
        for result, page, same_versions, is_told in (
                (PASSES, row, True, False), (PASSES, row.replace("1,234", "1,235"), True, True), (PASSES, row.replace("1,234", "1,235"), False, False),
                (FAILS, row, False, True), ("", row, False, True), (PASSES, "| no words |", False, True),
                (FAILS, row.replace("passes, exhaustive", "**FAIL**: leak"), False, True),
                (FAILS, row.replace("passes, exhaustive", "**FAIL**: data race, elsewhere"), False, False)):
            self.assertEqual(field.differs(s, self.read(result), {"one": page}, same_versions) != "", is_told, page)
        self.assertIn("no such line", field.differs(s, self.read(PASSES), {}, True))

    def test_only_what_fails_and_is_not_mended_leads_to_its_finding(self):
        for mends, is_named in ("", True), ("why", False):
            s = field.Structure("one", "`one`", "", "", "", "", finding="why", mends=mends)
            self.assertEqual("[why](#why)" in field.row(s, self.read(FAILS)), is_named)


class Field(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.file("structures.toml", TABLE)
        self.file("structures/ours.cpp", SOURCE)
        self.file("models/cases/field/loses.cpp", CASE)
        self.file("coverage.py", "import sys\nprint('coverage: 3 of 4 atomic operations were executed', *sys.argv[3:])\n")
        self.file("tool", TOOL).chmod(0o755)
        self.file("fakes/html", "1")
        self.versions = {"libours-dev": "1.0"}
        for name, printed in ("good", PASSES), ("bad", FAILS), ("mended", PASSES):
            self.program(name, printed)
        for what, value in (("HERE", self.folder), ("ROOT", self.folder), ("PAGE", self.folder / "field.md"), ("COVERAGE", self.folder / "coverage.py"),
                            ("version_of", lambda package: self.versions.get(package, "")), ("ENOUGH", 2)):
            patch = unittest.mock.patch.object(field, what, value)
            patch.start()
            self.addCleanup(patch.stop)

    def file(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def program(self, name, printed, then="exit 0"):
        self.file(f"fakes/{name}", f"#!/bin/sh\nprintf '%s\\n' \"$RUNQ_CHECK\" >'{self.folder}/asked'\ncat <<'END'\n{printed}END\n{then}\n").chmod(0o755)

    def field(self, *arguments):
        words = ["field.py", "--tool", str(self.folder / "tool"), "--work", str(self.folder / "work"), *arguments]
        printed = io.StringIO()
        with unittest.mock.patch.object(sys, "argv", words), unittest.mock.patch.dict(os.environ, FAKES=str(self.folder / "fakes")), \
                contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            try:
                status = field.main()
            except SystemExit as end:
                status, text = end.code, str(end.code)
                printed.write(text)
        return status, printed.getvalue()

    def with_page(self):
        status, text = self.field("--write-docs")
        self.assertEqual(status, 0, text)

    def test_what_is_as_the_page_says(self):
        self.with_page()
        status, text = self.field()
        self.assertEqual(status, 0, text)
        self.assertIn("good: passes, exhaustive (3 programs, 1,234 executions, ", text)
        self.assertTrue(text.endswith("field: 3 structures: 2 pass, 1 fail, 0 without a verdict; 0 not run; 0 not as evidence/field.md says\n"), text)
        page = field.PAGE.read_text(encoding="utf-8")
        self.assertIn("| 3 of 4 | passes, exhaustive | `./kit verify --field good` |", page)
        self.assertIn("With it: passes, exhaustive, 1,234 executions", page)
        self.assertEqual(self.field("--page"), (0, "3 structures in the table and on the page\n"))

    def test_what_is_not_as_the_page_says(self):
        self.with_page()
        for printed, said in ((FAILS, "1 pass, 2 fail, 0 without"), ("", "1 pass, 1 fail, 1 without"), (PASSES.replace("1234", "1235"), "2 pass, 1 fail, 0 without")):
            self.program("good", printed)
            status, text = self.field()
            self.assertEqual(status, 1, text)
            self.assertIn("\n  but evidence/field.md says: | `good<int>` |", text)
            self.assertIn(said, text)
            self.assertTrue(text.endswith("; 0 not run; 1 not as evidence/field.md says\n"), text)

    def test_each_program_gets_the_options_of_its_structure(self):
        self.field("good")
        asked = (self.folder / "asked").read_text(encoding="utf-8").split()
        self.assertEqual(asked[:3], ["--timeouts", "1", "--executed"])
        self.assertEqual(len(asked), 4)

    def test_operations_that_cannot_be_counted_are_unknown(self):
        self.file("coverage.py", "import sys\nsys.exit('no')\n")
        self.with_page()
        self.assertIn("| unknown | passes, exhaustive |", field.PAGE.read_text(encoding="utf-8"))

    def test_what_does_not_compile_has_no_verdict(self):
        self.with_page()
        (self.folder / "fakes/good").unlink()
        status, text = self.field("good")
        self.assertEqual(status, 1, text)
        self.assertIn("good: no verdict: it does not compile", text)
        self.assertIn("an error of the compiler", text)
        self.assertIn("0 pass, 0 fail, 1 without a verdict", text)

    def test_a_search_that_takes_too_long_has_no_verdict(self):
        self.program("good", PASSES, "exec sleep 20")
        self.assertIn("good: no verdict: it took longer than 2 s", self.field("good")[1])

    def test_what_is_not_installed_is_not_run(self):
        self.with_page()
        self.versions.clear()
        status, text = self.field()
        self.assertEqual(status, 0, text)
        self.assertIn("not run: good, bad: libours-dev is not installed\n", text)
        self.assertIn("field: 1 structures: 1 pass, 0 fail, 0 without a verdict; 2 not run; ", text)
        status, text = self.field("--quick")
        self.assertEqual(status, 2, text)
        self.assertIn("field: nothing was checked", text)
        status, text = self.field("--write-docs")
        self.assertIn("the page needs all structures", text)
        self.assertNotEqual(status, 0)

    def test_a_page_that_cannot_be_drawn_is_named(self):
        self.with_page()
        for html, status, named in ("1", 0, False), ("0", 1, True), ("2", 1, True):
            self.file("fakes/html", html)
            got, text = self.field("--html", str(self.folder / "pages"))
            self.assertEqual((got, "bad: its counterexample could not be drawn" in text), (status, named), text)

    def test_structures_are_chosen(self):
        self.assertIn("no structure has such a name", self.field("none")[1])
        for words, names in (["--quick"], ["good"]), (["*d"], ["good", "bad", "mended"]), (["b*"], ["bad"]):
            status, text = self.field("--list", *words)
            self.assertEqual((status, [line.split()[0] for line in text.splitlines()]), (0, names))

    def test_a_page_that_is_not_complete_says_what_is_missing(self):
        self.with_page()
        page, table = field.PAGE.read_text(encoding="utf-8"), TABLE
        for name, changed, said in (
                ("field.md", page.replace("--field good`", "--field gone`"), "field.md and structures.toml differ in gone"),
                ("field.md", page.replace("--field good`", "--field bad`"), "field.md and structures.toml differ in good"),
                ("structures/ours.cpp", SOURCE.replace("FIELD_good", "FIELD_other"), "good: ours.cpp has no section FIELD_good"),
                ("structures/ours.cpp", SOURCE + "#ifdef FIELD_more\n#endif\n", "structures/ours.cpp: FIELD_more is in no line"),
                ("structures.toml", table.replace('name = "mended"', 'name = "bad"'), "two structures are called bad"),
                ("structures.toml", table.replace('finding = "it-loses"\nmends', 'finding = "other"\nmends'), "mended: there is no finding other"),
                ("structures.toml", table.replace('finding = "it-loses"', ""), "no structure has the finding it-loses"),
                ("structures.toml", table.replace('header = "lib/bad.hpp"\nfinding = "it-loses"\n[', 'header = "lib/bad.hpp"\n['),
                 "bad: the page says FAIL, and no finding is named"),
                ("models/cases/field/loses.cpp", CASE.splitlines()[0], "runs no case with the bug, or none without it"),
                ("models/cases/field/loses.cpp", CASE.splitlines()[1], "runs no case with the bug, or none without it"),
                ("structures.toml", table.replace("--case 'field/it_loses*'", ""), "names no case of a second engine")):
            file = self.folder / name
            before = file.read_text(encoding="utf-8")
            self.assertNotEqual(before, changed, said)
            file.write_text(changed, encoding="utf-8")
            status, text = self.field("--page")
            file.write_text(before, encoding="utf-8")
            self.assertEqual(status, 1, said)
            self.assertIn(said, text)


class Edits(unittest.TestCase):
    def test_headers_are_edited_in_a_copy(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "lib").mkdir()
            header = folder / "lib/a.hpp"
            header.write_text("old one\n", encoding="utf-8")

            def edited(*edits, header="lib/a.hpp"):
                copies = Path(tempfile.mkdtemp(dir=folder))
                s = field.Structure("one", "", "", "", "", "", flags=[f"-I{folder}"], edits=[{"header": header, "old": a, "new": b} for a, b in edits])
                beside, wrong = field.edited_headers(s, "g++", copies)
                return beside, wrong, (copies / header).read_text(encoding="utf-8")

            self.assertEqual(edited(("old", "new"), ("one", "two")), (["-iquote", str(folder / "lib")], "", "new two\n"))
            self.assertEqual(header.read_text(encoding="utf-8"), "old one\n")
            self.assertIn("does not have the text", edited(("gone", "new"))[1])
            with self.assertRaisesRegex(SystemExit, "there is no header none.hpp"), contextlib.redirect_stderr(io.StringIO()):
                edited(("old", "new"), header="none.hpp")


if __name__ == "__main__":
    unittest.main()
