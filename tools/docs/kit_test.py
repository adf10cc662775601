#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What ./kit does and leaves out, beside a cmake and a ctest that only write down how they are called.

kit_test.py --root ROOT [TEST...]
kit_test.py --root ROOT --bench DIR    instead: what it does with the benchmarks that were built there, at the smallest size
"""
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path


def word_after(option):
    return Path(sys.argv[sys.argv.index(option) + 1]).resolve() if option in sys.argv else None


ROOT, BENCH = word_after("--root"), word_after("--bench")
# Fails where $FAILS says so: `cmake --build` of a preset, its configuration, or `ctest`.
CALLED = """#!/bin/sh
echo "$*" >>"$CALLS"
case " ${0##*/} $* " in ${FAILS:-nothing}) exit 8 ;; esac
"""
INSTALLED = """#!/bin/sh
echo "installed all"
"""


class Beside(unittest.TestCase):
    """A copy of the script, and a cmake that does nothing."""

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
        for tool in ("cmake", "ctest"):
            self.program(self.tools / tool, CALLED)
        self.program(self.tools / "dpkg-query", INSTALLED)

    @staticmethod
    def program(path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def environment(self, fails="nothing"):
        return {**os.environ, "PATH": f"{self.tools}:{os.environ['PATH']}", "CALLS": str(self.calls), "FAILS": fails}

    def kit(self, root, *words, fails="nothing"):
        self.calls.write_text("")
        done = subprocess.run([root / "kit", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=60, check=False, env=self.environment(fails))
        return done.returncode, done.stdout, done.stderr, self.calls.read_text().splitlines()


class Kit(Beside):
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

    def test_a_preset_fails_if_a_step_of_it_fails(self):
        status, text, error, calls = self.kit(self.root, "test", "--preset", "asan")
        self.assertEqual((status, text.splitlines()[-1]), (0, "passed: asan"), error)
        self.assertEqual([call.split()[0] for call in calls], ["-S", "--build", "--preset"])
        for step, made in ((" cmake -S *", 1), (" cmake --build *", 2), (" ctest *", 3)):
            status, text, error, calls = self.kit(self.root, "test", "--preset", "asan", fails=step)
            self.assertEqual((status, len(calls)), (1, made), error)
            self.assertIn("kit: failed: asan\n", error)
            self.assertNotIn("passed", text)

    def test_of_many_presets_those_are_named_that_fail(self):
        for step in (" cmake *--build */release *", " ctest *--preset release *"):
            status, text, error, calls = self.kit(self.root, "test", "--all-presets", fails=step)
            self.assertEqual(status, 1, error)
            self.assertIn("kit: failed: release\n", error)
            tested = [call.split()[1] for call in calls if call.startswith("--preset")]
            self.assertEqual([preset for preset in tested if preset in ("once", "release", "asan", "verify")],
                             ["once", *(["release"] if "ctest" in step else []), "asan", "verify"])
        status, text, error, _ = self.kit(self.root, "test", "--all-presets")
        self.assertEqual(status, 0, error)
        self.assertRegex(text, r"(?m)^passed: once release asan .*verify$")

    def test_presets_are_built_ahead_once_and_in_their_order(self):
        self.program(self.tools / "ninja", CALLED)
        for fails in "nothing", " ninja *build/asan *":
            status, text, error, calls = self.kit(self.root, "test", "--all-presets", fails=fails)
            self.assertEqual(status, 0, error)
            presets = re.search(r"(?m)^passed: (.*)$", text)[1].split()
            ahead = [os.path.basename(call.split(" -j ")[0]) for call in calls if call.startswith("-C")]
            self.assertEqual(ahead, presets[1:])
            for preset in presets:
                configured = [call for call in calls if call.startswith("-S") and f"--preset {preset} " in call]
                self.assertEqual(len(configured), 2 if "asan" in fails and preset == "asan" else 1, preset)

    def test_who_ends_the_tests_ends_the_builds_beside_them(self):
        begun = self.root / "begun"
        self.program(self.tools / "ninja", '#!/bin/sh\necho $$ >begun.new\nmv begun.new begun\nexec sleep 60\n')
        self.program(self.tools / "ctest", "#!/bin/sh\nexec sleep 60\n")
        kit = subprocess.Popen([self.root / "kit", "test", "--all-presets"], cwd=self.root, start_new_session=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environment())
        self.addCleanup(os.killpg, kit.pid, signal.SIGKILL)  # the sleeping ctest
        end = time.monotonic() + 50
        while not begun.exists() and time.monotonic() < end:
            time.sleep(0.1)
        kit.terminate()
        kit.wait()
        while Path("/proc", begun.read_text().strip()).exists() and time.monotonic() < end:
            time.sleep(0.1)
        self.assertLess(time.monotonic(), end, "the build goes on")

    def test_the_budget_is_the_one_that_was_asked_for(self):
        for words, budget in ((("--preset", "asan"), "full"), (("--all-presets",), "quick"),
                              (("--preset", "asan", "--budget", "quick"), "quick"), (("--all-presets", "--budget", "full"), "full")):
            configured = [call for call in self.kit(self.root, "test", *words)[3] if call.startswith("-S")]
            self.assertTrue(configured and all(f"-DRUNQ_TEST_BUDGET={budget}" in call.split() for call in configured), configured)

    def test_what_selects_tests_reaches_ctest(self):
        _, _, error, calls = self.kit(self.root, "test", "--only", "a|b", "--repeat", "7", "--", "--verbose")
        self.assertIn(" --tests-regex a|b --repeat until-fail:7 --verbose", f"{calls[-1]} ", error)

    def test_what_is_not_built_is_not_run(self):
        self.program(self.root / "build/verify/models/runq_verify", "#!/bin/sh\necho it runs\n")
        self.program(self.root / "build/verify/models/compiled/runq-check", "#!/bin/sh\necho it runs\n")
        self.program(self.root / "build/verify/models/explore/runq-explore", "#!/bin/sh\necho it runs\n")
        for words in (("verify", "--case", "ring/*"), ("check", "x.cpp"), ("explore", "x.cpp")):
            self.assertEqual(self.kit(self.root, *words)[:2], (0, "it runs\n"))
            status, text, error, _ = self.kit(self.root, *words, fails=" cmake --build *")
            self.assertNotEqual(status, 0, error)
            self.assertEqual(text, "")

    def test_the_cases_are_listed_without_a_build(self):
        status, text, error, calls = self.kit(ROOT, "verify", "--list")
        self.assertEqual((status, calls), (0, []), error)
        self.assertRegex(text, r"(?m)^ring/push_vs_steal +every task runs exactly once")
        self.assertEqual(self.kit(ROOT, "verify", "--list", "--case", "no/such")[0], 2)


class Bench(Beside):
    def setUp(self):
        super().setUp()
        shutil.copytree(ROOT / "bench", self.root / "bench", ignore=shutil.ignore_patterns("__pycache__"))
        (self.root / "build/bench").mkdir(parents=True)
        (self.root / "build/bench/bench").symlink_to(BENCH)

    def test_simulate_builds_its_programs_and_prints_its_tables(self):
        status, text, error, calls = self.kit(self.root, "bench", "--simulate", "--only", "^alone$", "--machine", "milan",
                                              "--processors", "2")
        self.assertEqual(status, 0, error)
        self.assertIn("--target=simulate --target=calibrate", calls[-1])
        self.assertRegex(text, r"(?m)^alone +\d[.\d]* \(\d+\)$")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(["Bench"] if BENCH else sys.argv[3:] or ["Kit"])])
