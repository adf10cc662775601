#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What ./kit does and leaves out, beside a cmake that only writes down how it is called.

kit_test.py --root ROOT
"""
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(sys.argv[sys.argv.index("--root") + 1]).resolve()
CALLED = """#!/bin/sh
echo "$*" >>"$CALLS"
"""
INSTALLED = """#!/bin/sh
echo "installed all"
"""


class Kit(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name) / "a copy"
        self.calls = Path(folder.name) / "calls"
        self.tools = Path(folder.name) / "tools"
        for name in ("models/compiled", "models/verify", "models/explore"):
            (self.root / name).mkdir(parents=True)
        self.tools.mkdir()
        for name in ("kit", "kit.options", "models/verify/options_table.hpp", "models/compiled/options_table.hpp"):
            shutil.copy(ROOT / name, self.root / name)
        self.program(self.tools / "cmake", CALLED)
        self.program(self.tools / "dpkg-query", INSTALLED)

    @staticmethod
    def program(path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def kit(self, root, *words):
        self.calls.write_text("")
        done = subprocess.run([root / "kit", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=60, check=False,
                              env={**os.environ, "PATH": f"{self.tools}:{os.environ['PATH']}", "CALLS": str(self.calls)})
        return done.returncode, done.stdout, done.stderr, self.calls.read_text().splitlines()

    def test_check_configures_once(self):
        self.program(self.root / "build/verify/models/compiled/runq-check", "#!/bin/sh\nexit 0\n")
        self.assertEqual([call.split()[0] for call in self.kit(self.root, "check", "x.cpp")[3]], ["-S", "--build"])
        (self.root / "build/verify/build.ninja").write_text("")
        status, _, text, calls = self.kit(self.root, "check", "x.cpp")
        self.assertEqual((status, [call.split()[0] for call in calls]), (0, ["--build"]), text)

    def test_a_folder_that_cannot_be_written_costs_one_line(self):
        (self.root / "build").write_text("a file, where the folder should be")
        status, _, text, calls = self.kit(self.root, "check", "x.cpp")
        self.assertEqual((status, calls), (2, []), text)
        self.assertRegex(text, r"^kit: cannot write \S.*/build/\S+: this command builds in the folder build/ .*\n$")

    def test_the_cases_are_listed_without_a_build(self):
        status, text, error, calls = self.kit(ROOT, "verify", "--list")
        self.assertEqual((status, calls), (0, []), error)
        self.assertRegex(text, r"(?m)^ring/push_vs_steal +every task runs exactly once")
        self.assertEqual(self.kit(ROOT, "verify", "--list", "--case", "no/such")[0], 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
