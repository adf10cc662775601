# SPDX-License-Identifier: MIT
"""What the driver of the checker's mutants does with a test that does not end: it takes no longer than it may, and leaves no process."""
import os
import pathlib
import sys
import tempfile
import time
import unittest

import checker_mutants
from checker_mutants import Clocks, Limits, Mutant, faults_of_tables, gtest, one_in, programs, ran

# Each process writes its number into the folder, and does then what it is told.
PROGRAM = """
import os, sys, time
folder, first, second = sys.argv[1:]
is_first = os.fork() != 0
open(f"{folder}/{os.getpid()}", "w").close()
while len(os.listdir(folder)) != 2:
    time.sleep(0.001)
what = first if is_first else second
begin = time.monotonic()
while what == "spins":
    pass
while what == "waits" and time.monotonic() - begin < 300:  # as a process of a search does that has no work
    time.sleep(0.00005)
os._exit(int(what))
"""


class Driver(unittest.TestCase):
    def run_two(self, first, second, limits):
        """Returns the status of two processes that do so, and how long they took; neither is left."""
        with tempfile.TemporaryDirectory() as folder:
            begin = time.monotonic()
            status, _ = ran([sys.executable, "-c", PROGRAM, folder, first, second], None, limits)
            taken = time.monotonic() - begin
            numbers = os.listdir(folder)
        self.assertEqual(len(numbers), 2)
        for number in numbers:
            self.assertTrue(self.ends(number), number)
        return status, taken

    def ends(self, number):
        """Whether the process ends soon, which one that is left would not: it waits for five minutes."""
        begin = time.monotonic()
        while self.runs(number) and time.monotonic() - begin < 100:
            time.sleep(0.01)
        return not self.runs(number)

    @staticmethod
    def runs(number):
        """Whether there is a process of that number that has not ended; a zombie has."""
        try:
            state = pathlib.Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return False
        return state not in "ZX"

    def test_processes_that_wait_for_each_other_end_by_the_clock(self):
        status, taken = self.run_two("waits", "waits", Limits(processor=60, clock=3))
        self.assertEqual(status, "time limit")
        self.assertLess(taken, 60)

    def test_a_process_that_uses_processor_time_ends_by_that(self):
        status, _ = self.run_two("spins", "waits", Limits(processor=1, clock=240))
        self.assertEqual(status, "time limit")

    def test_what_a_test_leaves_behind_ends_with_it(self):
        for first in "01":
            status, taken = self.run_two(first, "waits", Limits(processor=60, clock=240))
            self.assertEqual(status, int(first))
            self.assertLess(taken, 240)

    def test_the_clock_is_set_by_the_test_without_a_mutant(self):
        clocks = Clocks(seconds=10, patience=5)
        self.assertEqual(clocks.limits("test"), Limits(10, 200))
        self.assertEqual(clocks.measure("test", lambda limits: limits.clock), 200)
        self.assertEqual(clocks.limits("test"), Limits(2, 5))
        clocks.taken["test"] = 0.21
        self.assertEqual(clocks.limits("test"), Limits(5, 5))
        clocks.taken["test"] = 2
        self.assertEqual(clocks.limits("test"), Limits(10, 40))

    def test_the_mutant_is_chosen_and_only_then(self):
        program = "import os; print(os.environ.get('RUNQ_CHECKER_MUTANT'))"
        for mutant in (None, "exact/one"):
            self.assertEqual(ran([sys.executable, "-c", program], mutant, Limits(10, 60)), (0, f"{mutant}\n"))

    def test_one_in_so_many_is_of_each_table(self):
        names = [*(f"a/{i}" for i in range(9)), "b/0", *(f"c/{i}" for i in range(4))]
        mutants = [Mutant(name, "file", ["exact: a.test"], None, []) for name in names]
        self.assertEqual([m.name for m in one_in(4, mutants)], ["a/0", "a/4", "a/8", "b/0", "c/0"])
        self.assertEqual(one_in(1, mutants), mutants)

    def test_a_mutant_that_is_not_made_must_apply_and_name_a_test(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "program")
            program.write_text("#!/bin/sh\nprintf 'suite.\\n  here\\n  there  # GetParam() = 1\\n'\n")
            program.chmod(0o755)
            pathlib.Path(folder, "checked.cpp").write_text("// check -DA: exhaustive\n")
            kinds = {"exact": gtest(program), "check": programs("", folder)}
            killers = ["exact: suite.here", "exact: suite.there", "check: checked.cpp -DA", "check: checked.cpp"]
            good = [Mutant(f"a/{i}", "file", [killer], None, []) for i, killer in enumerate(killers)]
            self.assertEqual(faults_of_tables(good, {}, kinds), [])
            killers = ["exact: suite.gone", "check: checked.cpp -DB", "check: gone.cpp"]
            bad = [Mutant(f"a/{i}", "file", [killer], None, []) for i, killer in enumerate(killers)]
            self.assertEqual(faults_of_tables(bad, {"a/1": "text is gone"}, kinds),
                             ["a/1: does not apply: text is gone", "check: checked.cpp -DB: there is no such test",
                              "check: gone.cpp: there is no such test", "exact: suite.gone: there is no such test"])


if __name__ == "__main__":
    assert checker_mutants.VARIABLE == "RUNQ_CHECKER_MUTANT"
    unittest.main()
