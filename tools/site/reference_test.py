#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The reference has what users call, nothing else, and no reference to what does not exist. reference_test.py --root ROOT"""
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(sys.argv[sys.argv.index("--root") + 1]).resolve()
sys.path.insert(0, str(ROOT / "tools/site"))
import reference  # noqa: E402


class Reference(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_it_has_what_users_call(self):
        reference.make(ROOT, self.folder)
        classes = (self.folder / "annotated.html").read_text()
        for name in ("basic_ring", "basic_chase_lev", "eventcount", "channel", "scheduler", "mutex", "check_options"):
            self.assertRegex(classes, rf">[\w ]*{name}<", f"{name} is missing")
        self.assertNotIn("runq_1_1detail", classes)
        self.assertNotIn("doxygen.org", classes)
        functions = (self.folder / "namespacerunq.html").read_text()
        for name in ("with_scope", "with_timeout", "all_empty", "go"):
            self.assertIn(name, functions)

    def test_a_reference_to_nothing_is_an_error(self):
        copy = self.folder / "a copy"
        for folder in (*reference.FOLDERS, "tools/site"):
            shutil.copytree(ROOT / folder, copy / folder)
        header = copy / "deque/include/runq/eventcount.hpp"
        text = header.read_text()
        place = text.index("\nclass basic_eventcount") if "\nclass basic_eventcount" in text else text.index("basic_eventcount")
        comment = text.rindex("///", 0, place)
        header.write_text(text[:comment] + "/// See \\ref no_such_thing.\n" + text[comment:])
        with self.assertRaisesRegex(reference.Problem, r"eventcount\.hpp:\d+: .*no_such_thing"):
            reference.make(copy, self.folder / "out")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
