#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`./kit verify --known` on a repository that this test makes: a flag that is set relaxed, and then with release."""
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

TOOL = sys.argv.pop()
HERE = Path(__file__).resolve().parent

FLAG = """#pragma once
#include <atomic>
#include "platform.h"
struct flag {
  void set() { set_.store(true, std::memory_order_ORDER); }
  bool is_set() const { return set_.load(std::memory_order_acquire); }
  std::atomic<bool> set_{false};
};
"""
TEST = """#include <thread>
#include "flag.h"
int main() {
  flag ready;
  int data = 0;
  std::thread writer([&] {
    data = 42;
    ready.set();
  });
  if (ready.is_set() && data != 42) return platform_answer;
  writer.join();
}
"""
REPORT = {
    "name": '"late"', "link": '"https://example.org/issues/1"', "repository": '"https://example.org/their/flags.git"',
    "cause": '"set() does not release"', "before": '"HEAD^"', "after": '"HEAD"', "take": '["src"]', "include": '["src"]',
    "files": '{ "platform.h" = "enum { platform_answer = 3 };" }', "buggy": '"FAIL 2"', "fixed": '"exhaustive 2"',
}
BY_HAND = '[{ file = "src/flag.h", from = "memory_order_relaxed", to = "memory_order_release" }]'


class OfRepository(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.checkout = self.folder / "checkouts/their/flags"
        self.checkout.mkdir(parents=True)
        self.git("init", "--quiet")
        for order in ("relaxed", "release"):
            (self.checkout / "src").mkdir(exist_ok=True)
            (self.checkout / "src/flag.h").write_text(FLAG.replace("ORDER", order), encoding="utf-8")
            self.git("add", "src")
            self.git("-c", "user.name=test", "-c", "user.email=test@example.org", "commit", "--quiet", "-m", order)
        (self.folder / "late.cpp").write_text(TEST, encoding="utf-8")

    def git(self, *words):
        subprocess.run(["git", "-C", self.checkout, *words], check=True)


class Known(OfRepository):
    def known(self, without=(), names=(), command=(), **changed):
        """Checks the report, with these keys left out and these values instead."""
        report = {key: value for key, value in (REPORT | changed).items() if key not in without}
        table = self.folder / "known.toml"
        table.write_text("[[report]]\n" + "".join(f"{k} = {v}\n" for k, v in report.items()), encoding="utf-8")
        ran = subprocess.run([sys.executable, "-B", HERE.parent / "known.py", "--tool", TOOL, *command, "--table", table,
                              self.folder / "checkouts", *names], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, check=False)
        return ran.returncode, ran.stdout

    def test_both_versions_are_as_expected(self):
        status, text = self.known()
        self.assertEqual(status, 0, text)
        self.assertRegex(text, r"buggy: FAIL 2, [\d.]+ s, [\d.]+ s of processor time\n    data race: ")
        self.assertRegex(text, r"acquires from step \d+, which is relaxed")
        self.assertRegex(text, r"fixed: exhaustive 2, ")
        self.assertIn("known: 1 reports, 1 as expected, 0 not as expected, 0 not checked", text)
        self.assertNotIn("EXPECTED", text)

    def test_a_fix_by_hand(self):
        status, text = self.known(without=("after",), before='"HEAD^"', fix=BY_HAND)
        self.assertEqual(status, 0, text)
        self.assertRegex(text, r"fixed: exhaustive 2, ")

    def test_the_program_is_compiled_for_its_options(self):
        status, text = self.known(command=["--text"], options='["--ignore-races"]', buggy='"FAIL 3"')
        self.assertEqual(status, 0, text)
        self.assertIn("FAIL in execution 3: crash", text)  # it returns while the thread runs, as the races do not end it

    def test_the_reports_that_are_kept_need_checkouts(self):
        ran = subprocess.run([sys.executable, "-B", HERE.parent / "known.py", "--tool", TOOL, self.folder, "neug51"],
                             stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual(ran.returncode, 2)
        self.assertIn(f"git clone https://github.com/alibaba/neug {self.folder}/alibaba/neug\n", ran.stdout)

    def test_files_of_another_project_beside(self):
        other = self.folder / "checkouts/their/platform"
        subprocess.run(["git", "clone", "--quiet", self.checkout, other], check=True)
        (other / "platform.h").write_text("enum { platform_answer = 3 };", encoding="utf-8")
        subprocess.run(["git", "-C", other, "add", "platform.h"], check=True)
        subprocess.run(["git", "-C", other, "-c", "user.name=test", "-c", "user.email=test@example.org", "commit", "--quiet",
                        "-m", "platform"], check=True)
        beside = '[{ repository = "https://example.org/their/platform", version = "HEAD", take = ["platform.h"] }]'
        status, text = self.known(without=("files",), beside=beside, include='["src", "."]')
        self.assertEqual(status, 0, text)
        self.assertEqual(self.known(without=("files",), include='["src", "."]')[0], 2)

    def test_flags_of_one_version(self):
        wrong = '["-include", "absent.h"]'
        self.assertIn("does not compile", self.known(flags_before=wrong)[1])
        status, text = self.known(flags_after=wrong)
        self.assertIn("buggy: FAIL 2", text)
        self.assertIn("does not compile", text)

    def test_another_verdict_is_named(self):
        for key, wrong in (("buggy", '"FAIL 7"'), ("fixed", '"exhaustive 9"'), ("fixed", '"bounded 2"')):
            status, text = self.known(**{key: wrong})
            self.assertEqual(status, 1, text)
            self.assertIn("EXPECTED: " + wrong.strip('"'), text)

    def test_a_version_that_still_has_the_bug(self):
        status, text = self.known(after='"HEAD^"')
        self.assertEqual(status, 1, text)
        self.assertRegex(text, r"fixed: FAIL 2, .*  EXPECTED: exhaustive 2")

    def test_what_cannot_be_checked_says_why(self):
        for changed, why in (
                ({"repository": '"https://example.org/their/other"'}, "there is no "),
                ({"before": '"no-such-commit"'}, "no-such-commit"),
                ({"take": '["lib"]'}, "lib"),
                ({"include": "[]"}, "does not compile"),
                ({"without": ("after",), "fix": BY_HAND.replace("relaxed", "seq_cst")}, "has 0 times"),
        ):
            status, text = self.known(**changed)
            self.assertEqual(status, 2, text)
            self.assertIn("not checked: ", text)
            self.assertIn(why, text)

    def test_a_wrong_table_is_refused(self):
        for changed, why in (
                ({"without": ("cause",)}, "cause"), ({"unknown": "1"}, "unknown"), ({"without": ("after",)}, "one of"),
                ({"fix": BY_HAND}, "one of"), ({"test": '"absent.cpp"'}, "there is no"), ({"names": ["x*"]}, "such a name"),
        ):
            status, text = self.known(**changed)
            self.assertEqual(status, 2, text)
            self.assertIn(why, text)
            self.assertNotIn("Traceback", text)

    def sanitized(self, body, *options):
        (self.folder / "late.cpp").write_text("#include <cstdlib>\n#include <thread>\n" + body, encoding="utf-8")
        _, text = self.known(command=["--tsan", "1", *options])
        return text

    def test_what_the_sanitizer_says(self):
        races = "int data;\nint main() {\n  std::thread writer([] { data = 1; });\n  data = 2;\n  writer.join();\n}\n"
        # Whether the two threads meet in the first run is the system's choice.
        self.assertRegex(self.sanitized(races), r"(?m)^  ThreadSanitizer: data race in run \d+$")
        self.assertRegex(self.sanitized(races, "--markdown"), r"(?m) \| data race in run \d+ \|$")
        self.assertRegex(self.sanitized("int main() {}\n"), r"  ThreadSanitizer: nothing in \d+ runs\n")
        self.assertIn("  ThreadSanitizer: run 1 fails\n", self.sanitized("int main() { std::abort(); }\n"))
        endless = "int main() {\n  for (volatile int i = 0;; i = i) {}\n}\n"
        self.assertIn("  ThreadSanitizer: run 1 does not end\n", self.sanitized(endless))

    def test_what_all_failures_cost(self):
        status, text = self.known(command=["--all-failures", "9"])
        self.assertEqual(status, 0, text)
        self.assertRegex(text, r"(?m)^late: mended 2 executions, [\d.]+ s; all failures: 1 different failure in 1 of 2 executions, ")
        self.assertRegex(text, r"(?m)^known: 1 of 1 reports: mended 2 executions, [\d.]+ s; all failures 2 executions, [\d.]+ s$")

    def test_a_mended_version_that_fails_has_no_cost(self):
        status, text = self.known(command=["--all-failures", "9"], after='"HEAD^"')
        self.assertEqual(status, 2, text)
        self.assertIn("late: nothing to compare: FAIL 2, and FAIL: 1 different failure", text)

    def test_lines_for_a_page(self):
        status, text = self.known(command=["--markdown"])
        self.assertEqual(status, 0, text)
        self.assertIn("| [late](https://example.org/issues/1) | set() does not release | FAIL 2 | data race: ", text)
        self.assertIn(" | exhaustive 2 |", text)


# A checker that says of each version what the test wants: "buggy" is the one with a relaxed order.
STANDS_IN = """#!/bin/sh
echo "$*" >"$FAKES/asked"
version=fixed
for word; do
  case $word in
    -I*) ! grep -q relaxed "${word#-I}/flag.h" 2>/dev/null || version=buggy ;;
    */program) program=$word ;;
  esac
done
cp "$FAKES/$version" "$program"
"""
FAILS = "FAIL in execution 2: data race: of T0 | and T1\nwhy: step 2\n"
PASSES = "exhaustive: nothing fails (2 executions explored, 0.01 s)\n"


class Verdicts(OfRepository):
    """What becomes of them, without a compiler."""

    def setUp(self):
        super().setUp()
        (self.folder / "tool").write_text(STANDS_IN, encoding="utf-8")
        (self.folder / "tool").chmod(0o755)
        patched = unittest.mock.patch.dict(os.environ, FAKES=str(self.folder))
        patched.start()
        self.addCleanup(patched.stop)
        self.says(FAILS, PASSES)

    def says(self, *texts, stream=1):
        for name, text in zip(("buggy", "fixed"), texts):
            (self.folder / name).write_text(f"#!/bin/sh\ncat >&{stream} <<'END'\n{text}END\n", encoding="utf-8")
            (self.folder / name).chmod(0o755)

    def reports(self, *more, command=(), names=()):
        """Checks several reports: each as it is in REPORT, but for these."""
        table = self.folder / "known.toml"
        all_reports = [REPORT | {"test": '"late.cpp"'} | changed for changed in ({}, *more)]
        table.write_text("".join("[[report]]\n" + "".join(f"{k} = {v}\n" for k, v in one.items() if v) for one in all_reports), encoding="utf-8")
        ran = subprocess.run([sys.executable, "-B", HERE.parent / "known.py", "--tool", self.folder / "tool", *command, "--table", table,
                              self.folder / "checkouts", *names], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return ran.returncode, ran.stdout

    def test_one_report_that_is_not_checked_is_not_hidden_by_others(self):
        gone, wrong = {"name": '"gone"', "take": '["lib"]'}, {"name": '"wrong"', "fixed": '"exhaustive 3"'}
        for more, status, counts in (([], 0, "1 as expected, 0 not as expected, 0 not checked"), ([gone], 2, "1 as expected, 0 not as expected, 1 not checked"),
                                     ([wrong], 1, "1 as expected, 1 not as expected, 0 not checked"), ([gone, wrong], 2, "1 as expected, 1 not as expected, 1 not checked")):
            got, text = self.reports(*more)
            self.assertEqual(got, status, text)
            self.assertTrue(text.endswith(f"known: {1 + len(more)} reports, {counts}\n"), text)

    def test_two_reports_have_two_names(self):
        self.assertEqual(self.reports({}), (2, f"known: {self.folder}/known.toml: two reports have the same name\n"))

    def test_a_verdict_is_read_wherever_it_is_printed(self):
        self.says("of the program\n" + FAILS, "a warning\n" + PASSES, stream=2)
        status, text = self.reports()
        self.assertEqual(status, 0, text)
        for printed, verdict in (("", "no verdict"), ("no verdict: limit reached (2 executions explored, 1 s)\n", "no verdict"),
                                 (PASSES.replace("2 exec", "3 exec"), "exhaustive 3"), (PASSES.replace("exhaustive", "bounded"), "bounded 2"),
                                 (FAILS, "FAIL 2")):
            self.says(FAILS, printed)
            status, text = self.reports()
            self.assertEqual(status, 1, text)
            self.assertRegex(text, rf"fixed: {verdict}, .*  EXPECTED: exhaustive 2\n")
            self.assertIn(printed, text)

    def test_a_fix_replaces_one_text(self):
        twice = '[{ file = "src/flag.h", from = "memory_order_", to = "memory_order_" }]'
        status, text = self.reports({"name": '"twice"', "after": "", "fix": twice})
        self.assertEqual(status, 2, text)
        self.assertIn("src/flag.h has 2 times what the fix replaces", text)

    def test_costs_of_some_reports_are_not_those_of_all(self):
        every = ["--all-failures", "9"]
        self.says("FAIL: 1 different failure in 1 of 7 executions, 0.50 s\n", PASSES)
        status, text = self.reports({"name": '"other"'}, command=every)
        self.assertEqual(status, 0, text)
        self.assertIn("known: 2 of 2 reports: mended 4 executions, 0.02 s; all failures 14 executions, 1.00 s\n", text)
        status, text = self.reports({"name": '"other"', "take": '["lib"]'}, command=every)
        self.assertEqual(status, 2, text)
        self.assertIn("other: not checked: ", text)
        self.assertRegex(text, r"(?m)^known: 1 of 2 reports: mended 2 executions")
        self.says("FAIL: 1 different failure in 1 of 7 executions, 0.50 s\n", "no verdict: limit reached\n")
        status, text = self.reports(command=every)
        self.assertEqual((status, text.count("late: nothing to compare: no verdict, and FAIL: 1 different failure")), (2, 1), text)
        self.assertIn(" --all-failures 9 --compile-only ", (self.folder / "asked").read_text(encoding="utf-8"))

    def test_sources_of_theirs_are_compiled_beside_the_test(self):
        self.reports({"name": '"other"', "sources": '["src/flag.h"]'})
        self.assertRegex((self.folder / "asked").read_text(encoding="utf-8"), r"/late\.cpp \S+/theirs/src/flag\.h -- ")

    def test_a_table_that_cannot_be_read_is_refused(self):
        for changed, said in (({"cause": "no text"}, "known: "), ({"test": '"absent.cpp"'}, f"known: other: there is no {self.folder}/absent.cpp\n")):
            status, text = self.reports({"name": '"other"'} | changed)
            self.assertEqual((status, text.startswith(said), "Traceback" in text), (2, True, False), text)
        status, text = self.reports(command=["--all-failures", "9"], names=["none"])
        self.assertEqual((status, text), (2, "known: no report has such a name\n"))

    def test_the_sanitizer_runs_the_version_with_the_bug(self):
        body = "#include <thread>\nint data;\nint main() {\n  std::thread other([] { data = 1; });\n#ifdef BUG\n  data = 2;\n#endif\n  other.join();\n  return RESULT;\n}\n"
        (self.folder / "late.cpp").write_text(body, encoding="utf-8")
        for before, said in ('["-DBUG", "-DRESULT=0"]', "data race in run 1"), ('["-DRESULT=1"]', "run 1 fails"), ("[]", "does not compile with ThreadSanitizer"):
            _, text = self.reports({"name": '"other"', "flags_before": before, "flags_after": '["-DRESULT=0"]'}, command=["--tsan", "1"], names=["other"])
            self.assertIn(said, text)

    def test_a_cell_of_a_table_has_no_bars(self):
        self.assertIn(r"| FAIL 2 | data race: of T0 \| and T1; step 2 | exhaustive 2 |", self.reports(command=["--markdown"])[1])


if __name__ == "__main__":
    unittest.main()
