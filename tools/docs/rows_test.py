#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rows.py sees rows without a test, tests without a row, and tests that have failed."""
import contextlib
import io
import pathlib
import tempfile
import unittest

import rows

SECTIONS = [("Queues", [("Q1", False, "keeps order"), ("Q2", True, "is fair")])]


def found_in(text):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name, "deque", "test")
        folder.mkdir(parents=True)
        (folder / "ring_test.cpp").write_text(text, encoding="utf-8")
        return rows.tests(pathlib.Path(name))


class Rows(unittest.TestCase):
    def test_tests_name_their_rows(self):
        found = found_in("TEST(ring, Q1_keeps_order) {\nTEST_F(ring, DISABLED_Q3_b) {\nTEST_P(all, Q10_SC2_c) {\n"
                         "TEST(ring, unQ4_d) {\nTEST(ring, Q5th_e) {\n")
        self.assertEqual(found, {"Q1": [("deque/test/ring_test.cpp", "ring", "Q1_keeps_order")],
                                 "Q10": [("deque/test/ring_test.cpp", "all", "Q10_SC2_c")],
                                 "SC2": [("deque/test/ring_test.cpp", "all", "Q10_SC2_c")]})

    def test_each_row_that_is_built_has_a_test_and_each_test_a_row(self):
        test = [("file", "ring", "name")]
        self.assertEqual(list(rows.problems(SECTIONS, {"Q1": test})), [])
        self.assertIn("row Q1 has no test", next(rows.problems(SECTIONS, {})))
        self.assertIn("row Q2 is marked as later", next(rows.problems(SECTIONS, {"Q1": test, "Q2": test})))
        self.assertIn("names row Q3, which is not", next(rows.problems(SECTIONS, {"Q1": test, "Q3": test})))

    def test_the_page_has_the_files_with_the_tests_of_each_row(self):
        tests = [("deque/test/ring_test.cpp", "ring", name) for name in ("Q1_keeps_order", "Q1_wraps")]
        page = rows.page(SECTIONS, {"Q1": [*tests, ("deque/test/inject_test.cpp", "inject", "Q1_keeps_order")]})
        files = "[ring_test](../deque/test/ring_test.cpp), [inject_test](../deque/test/inject_test.cpp)"
        self.assertIn(f"| Q1 | keeps order | {files} |", page)
        self.assertIn("| Q2 | is fair | not built yet |", page)

    def test_the_tests_of_a_row_are_named(self):
        printed = io.StringIO()
        found = {"Q1": [("deque/test/ring_test.cpp", "ring", "Q1_keeps_order")], "Q2": [("file", "ring", "Q2_b")]}
        with contextlib.redirect_stdout(printed):
            rows.list_tests(SECTIONS, found, ["Q1"])
        self.assertEqual(printed.getvalue(), "Q1: keeps order\n  deque/test/ring_test.cpp: ring.Q1_keeps_order\n")
        with self.assertRaises(SystemExit):
            rows.list_tests(SECTIONS, found, ["Q7"])

    def test_a_test_that_has_failed_once_has_failed(self):
        found = {"Q1": [("file", "ring", "Q1_a")]}
        for statuses, word, status in ((("run",), "1 passed", 0), (("run", "fail", "run"), "1 FAILED", 1), ((), "1 not run", 0)):
            with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
                cases = "".join(f'<testcase name="all/ring.Q1_a/{i}" status="{s}"/>' for i, s in enumerate(statuses))
                file.write(f"<testsuite>{cases}</testsuite>")
                file.flush()
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    self.assertEqual(rows.report(SECTIONS, found, [file.name]), status)
            self.assertIn(word, printed.getvalue())


if __name__ == "__main__":
    unittest.main()
