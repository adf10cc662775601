#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Large searches by runq-check: how large they are, bounds, samples, several processes, and several ranks of MPI.

search_test.py TOOL [--mpirun MPIRUN] [unittest's arguments]: with --mpirun only the tests of ranks, otherwise the
others.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TOOL = sys.argv.pop(1)
MPIRUN = None
if sys.argv[1:2] == ["--mpirun"]:
    MPIRUN = sys.argv.pop(2)
    del sys.argv[1]
HERE = os.path.dirname(os.path.realpath(__file__))
COUNTERS = os.path.join(HERE, "command", "counters.cpp")
TEXTBOOK = os.path.join(HERE, "programs", "textbook")
EXECUTIONS = {3: 1680, 4: 34650}  # of counters.cpp, by its number of operations
SCRATCH = tempfile.TemporaryDirectory()
COMPILED = {}


def compiled(source, *flags, compiler="g++"):
    """A program that checks itself; compiled once."""
    key = (source, *flags, compiler)
    if key not in COMPILED:
        COMPILED[key] = os.path.join(SCRATCH.name, str(len(COMPILED)))
        subprocess.run([TOOL, "--compiler", compiler, "--compile-only", COMPILED[key], source, "--", *flags], check=True)
    return COMPILED[key]


def counters(operations, *flags):
    return compiled(COUNTERS, f"-DOPERATIONS={operations}", *flags)


def environment(options):
    return dict(os.environ, RUNQ_CHECK="\n".join(options))


def run(program, *options, launcher=()):
    """Status, stdout and stderr."""
    ran = subprocess.run([*launcher, program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         env=environment(options), timeout=300)
    return ran.returncode, ran.stdout, ran.stderr


def explored(text):
    found = re.search(r"\((\d+) executions? explored", text)
    return int(found[1]) if found else None


def without_time(text):
    return re.sub(r"\d+\.\d+ s", "", text)


def without_addresses(text):
    return re.sub(r"…[0-9a-f]+", "…", text)


def wait_for(find):
    """Calls `find` until it returns something, and returns that; fails if the process has ended before."""
    while not (found := find()):
        time.sleep(0.01)
    return found


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(child) for child in file.read().split()]
    except FileNotFoundError:
        return []


@unittest.skipIf(MPIRUN, "about one process, or several without MPI")
class Alone(unittest.TestCase):
    def test_a_long_search_says_on_stderr_where_it_stands(self):
        status, text, progress = run(counters(6), "--time-limit", "2")
        self.assertEqual(status, 2, text)
        self.assertRegex(progress, r"^1 s: \d+ executions, of about \d+; about \d+ (s|min|h|days) left\n")
        self.assertRegex(text, r"(?m)^so far no execution fails: about [\d.e-]+ % of the search$")
        self.assertNotIn("of about", text)

    # --- a bound -----------------------------------------------------------------------------------------------------

    def test_a_larger_bound_explores_more_up_to_everything(self):
        before, beyond = 0, ""
        for bound in range(30):
            status, beyond, _ = run(counters(3), "--check-duplicates", "--bound", str(bound))
            self.assertEqual(status, 0, beyond)
            self.assertTrue(beyond.startswith(f"bounded {bound}: "), beyond)
            self.assertNotIn("met before", beyond)
            self.assertGreaterEqual(explored(beyond), before)
            before = explored(beyond)
            if "none is beyond the bound" in beyond:
                break
            self.assertIn("more than", beyond)
        self.assertEqual(explored(beyond), EXECUTIONS[3])

    def test_to_be_woken_is_no_deviation(self):
        """Threads that wait in the first execution go on in another one, which is within each bound."""
        for name in ("waiting/bounded_buffer.c", "waiting/barrier.cpp", "locks/mcs_lock.cpp"):
            program = compiled(os.path.join(TEXTBOOK, name))
            for bound, expected in ((0, 1), (30, explored(run(program)[1]))):
                status, text, _ = run(program, "--check-duplicates", "--bound", str(bound))
                self.assertEqual(status, 0, text)
                self.assertNotIn("met before", text)
                self.assertEqual(explored(text), expected, text)

    def test_a_failure_within_the_bound_is_a_failure(self):
        status, text, _ = run(counters(3, "-DWRONG"), "--bound", "2")
        self.assertEqual(status, 1, text)
        number = re.match(r"FAIL in execution (\d+): check failed", text)[1]
        self.assertEqual(run(counters(3, "-DWRONG"), "--bound", "2", "--execution", number)[:2], (status, text))

    # --- samples -----------------------------------------------------------------------------------------------------

    def test_walks_estimate_the_size_and_are_no_proof(self):
        status, text, _ = run(counters(4), "--sample", "400", "--seed", "5")
        self.assertEqual(status, 0, text)
        found = re.match(r"sampled: no failure in 400 random walks through about (\d+) \(standard error \d+\) executions; left out: .*what no walk "
                         r"has met \(\d+ executions explored", text)
        self.assertIsNotNone(found, text)
        self.assertLess(int(found[1]), 2 * EXECUTIONS[4])
        self.assertGreater(int(found[1]), EXECUTIONS[4] / 2)
        self.assertEqual(without_time(run(counters(4), "--sample", "400", "--seed", "5")[1]), without_time(text))

    def late_sizes(self, *flags):
        return compiled(os.path.join(HERE, "programs", "different_sizes.cpp"), "-DLATE", *flags)

    def test_different_sizes_that_a_later_execution_shows_begin_a_shared_search_again(self):
        for rounds in ("-DROUNDS=0", "-DROUNDS=7"):
            alone, shared = (run(self.late_sizes(rounds), *jobs)[1] for jobs in ([], ["--jobs", "3"]))
            self.assertRegex(alone, r"bounded: .*different sizes at \w+\.cpp:\d+\)")
            self.assertEqual(without_time(alone), without_time(shared))

    def test_a_path_leads_through_the_searches_that_other_sizes_have_ended(self):
        program = self.late_sizes("-DRELAXED")
        status, text, _ = run(program, "--jobs", "2")
        path = re.search(r"--path ([0-9.]+\+[0-9.]+\+[0-9.]+)$", text, re.MULTILINE)[1]
        self.assertEqual(run(program, "--path", path)[:2], (status, text))
        self.assertTrue(run(program, "--all-failures", "1", "--path", path)[1].startswith("FAIL: data race"))
        self.assertIn("there is no execution", run(program, "--path", "9+" + path)[1])

    def test_walks_find_the_bugs_of_the_textbook(self):
        for name, flag, what in (("queues/treiber_stack.cpp", "-DABA", "assertion fails"),
                                 ("queues/work_stealing.cpp", "-DWRONG", "assertion fails"),
                                 ("memory/hazard_pointer.cpp", "-DWRONG", "use after free"),
                                 ("locks/peterson.cpp", "-DWRONG", "data race"),
                                 ("waiting/lost_wakeup.cpp", "-DWRONG", "deadlock")):
            program = compiled(os.path.join(TEXTBOOK, name), flag)
            status, text, _ = run(program, "--sample", "500")
            self.assertEqual(status, 1, f"{name}: {text}")
            self.assertTrue(text.startswith("FAIL: "), text)
            self.assertIn(what, text.splitlines()[0])
            path = re.search(r"--path ([0-9.-]+)$", text, re.MULTILINE)[1]
            again = run(program, "--path", path)
            self.assertEqual((again[0], without_addresses(again[1])), (status, without_addresses(text)))

    def test_a_path_shows_an_execution_that_does_not_fail(self):
        status, text, _ = run(counters(3), "--path", "-")
        self.assertEqual(status, 0, text)
        self.assertTrue(text.startswith("the execution at -, which does not fail:"), text)
        self.assertIn("rmw", text)

    # --- weak compare-exchanges --------------------------------------------------------------------------------------

    def test_weak_compare_exchanges_fail_for_no_reason_as_often_as_is_asked_for(self):
        source = os.path.join(HERE, "command", "spurious.cpp")
        counts = []
        for allowed in range(4):
            status, text, _ = run(compiled(source), "--check-duplicates", "--spurious", str(allowed))
            self.assertEqual(status, 0, text)
            self.assertTrue(text.startswith("bounded: "), text)
            self.assertNotIn("met before", text)
            counts.append(explored(text))
        self.assertEqual(counts, sorted(set(counts)), "each explores more than the one before")
        wrong = compiled(source, "-DWRONG")
        self.assertEqual(run(wrong, "--spurious", "0")[0], 0)
        self.assertIn("failed spuriously, saw the expected value 0", run(wrong)[1])
        status, text, _ = run(wrong, "--spurious", "1")
        self.assertEqual(status, 1, text)
        self.assertIn("assertion fails", text.splitlines()[0])

    # --- what is left out, and what is not asked for -------------------------------------------------------------------

    def test_what_is_left_out_is_named_with_the_option_that_explores_it(self):
        program = compiled(os.path.join(HERE, "command", "left_out.cpp"))
        failures = "more than one spurious failure of a weak compare-exchange in a thread (--spurious N)"
        wakes = "spurious wake-ups but for one of a thread when its wait begins (--spurious-wakeups N)"
        values = "values of __VERIFIER_nondet_…() beyond 0..3 (--nondet LO..HI)"
        tries = "a try_lock() that fails for no reason (--spurious N)"
        rest = [wakes, values, tries]
        for options, verdict, expected in (
                ([], "bounded", [failures, *rest]),
                (["--spurious", "0"], "bounded", ["spurious failures of weak compare-exchanges (--spurious N)", *rest]),
                (["--spurious", "1"], "bounded", ["more than 1 spurious failures in an execution", wakes, values]),
                (["--spurious-wakeups", "0"], "bounded", [failures, "spurious wake-ups (--spurious-wakeups N)", values, tries]),
                (["--spurious-wakeups", "1"], "bounded", [failures, "more than 1 spurious wake-up of a thread", values, tries]),
                (["--spurious-wakeups", "2"], "bounded", [failures, values, tries]),
                (["--nondet", "-1..2"], "bounded", [failures, wakes, values.replace("0..3", "-1..2"), tries]),
                (["--load-buffering"], "bounded", ["but for what --load-buffering tries", failures, *rest]),
                (["--bound", "1"], "bounded 1", ["more than 1 deviation (--bound N)", failures, *rest]),
                (["--bound", "2"], "bounded 2", ["more than 2 deviations (--bound N)", failures, *rest]),
                (["--sample", "1"], "sampled", ["what no walk has met", failures, *rest]),
                (["--jobs", "2"], "bounded", [failures, *rest])):
            status, text, _ = run(program, *options)
            self.assertEqual((status, text.partition(":")[0]), (0, verdict), text)
            left_out = ", ".join(["load buffering", *expected])
            self.assertIn(f"; left out: {left_out} (", text.splitlines()[0])

    def test_a_verdict_of_less_than_all_says_what_was_weakened_and_how_large_all_is(self):
        program = compiled(os.path.join(HERE, "command", "left_out.cpp"))
        with open(os.path.join(HERE, "command", "left_out.cpp"), encoding="utf-8") as source:
            line = next(number for number, text in enumerate(source, 1) if "compare_exchange_weak" in text)
        for options, verdict in (["--bound", "1"], "bounded 1"), (["--bound", "99"], "bounded 99"), (["--sample", "1"], "sampled"), ([], "bounded"):
            text = run(program, *options, "--weaken", f"left_out.cpp:{line}:relaxed")[1]
            self.assertTrue(text.startswith(f"{verdict}, with left_out.cpp:{line} weakened to relaxed: no "), text)
        self.assertRegex(run(program, "--sample", "1")[1], r"in 1 random walk through about \d+ executions;")
        self.assertRegex(run(program, "--sample", "2")[1], r"in 2 random walks through about \d+ \(standard error \d+\) executions;")

    @unittest.skipUnless(shutil.which("clang++"), "there is no clang++")
    def test_what_clang_does_not_show_is_left_out(self):
        program = compiled(os.path.join(HERE, "command", "left_out.cpp"), compiler="clang++")
        self.assertIn("; left out: load buffering, failures of compare-exchanges that this compiler does not tell to be weak, plain accesses of a "
                      "function to members of its own variables, which clang does not show, spurious wake-ups but for", run(program)[1])

    def test_a_size_that_nobody_asks_for_is_no_verdict_however_it_is_searched(self):
        program = compiled(os.path.join(HERE, "command", "grows.cpp"))
        file = os.path.join(SCRATCH.name, "sizes.json")
        for options in (["--json", file], ["--jobs", "2"], ["--ledger"], ["--all-failures", "3"], ["--execution", "1"]):
            status, text, _ = run(program, *options, "--size", "producers=2,round=1")
            self.assertEqual(status, 2, f"{options}: {text}")
            self.assertRegex(text, r"^(without any change: )?no verdict: --size: the program asks for no round \(", text)
            status, text, _ = run(program, *options, "--size", "producers=2,rounds=1")
            self.assertEqual(status, 0, f"{options}: {text}")
            if options[0] in ("--jobs", "--all-failures"):
                self.assertRegex(text, r"^exhaustive: .* \(2 executions explored, ")
        # A limit may come before the program asks.
        self.assertIn("no verdict: limit reached: ", run(program, "--max-events", "1", "--size", "round=1")[1])

    def test_the_sizes_that_a_program_asks_for_are_written_as_they_are_at_first(self):
        program = compiled(os.path.join(HERE, "command", "grows.cpp"))
        file = os.path.join(SCRATCH.name, "sizes")
        self.assertEqual(run(program, "--sizes", file, "--size", "producers=2,rounds=1")[0], 0)
        with open(file, encoding="utf-8") as written:
            self.assertEqual(written.read(), "producers 1\nrounds 1\n")
        status, _, errors = run(program, "--sizes", "/dev/full")
        self.assertEqual((status, errors.splitlines()[-1]), (2, "runq-check: cannot write /dev/full"))

    # --- several processes -------------------------------------------------------------------------------------------

    def test_processes_explore_what_one_explores(self):
        alone = run(counters(4))
        self.assertEqual((alone[0], explored(alone[1])), (0, EXECUTIONS[4]))
        for jobs in ("2", "4"):
            together = run(counters(4), "--jobs", jobs)
            self.assertEqual((together[0], without_time(together[1])), (0, without_time(alone[1])))

    def test_processes_wait_in_place_as_one_does(self):
        program = compiled(os.path.join(HERE, "programs", "waits_in_place.cpp"), "-DMCS")
        for mode, blocked in (("on", ""), ("off", ", +102 blocked")):
            for jobs in ("1", "2", "4"):
                status, text, _ = run(program, "--jobs", jobs, "--waits-in-place", mode)
                self.assertEqual(status, 0, text)
                self.assertIn(f"(66 executions explored{blocked}, ", text)

    def test_processes_begin_again_where_waits_in_place_cannot_tell(self):
        program = compiled(os.path.join(HERE, "programs", "waits_in_place.cpp"), "-DWRITTEN_BESIDE")
        for jobs in ("1", "2", "4"):
            status, text, _ = run(program, "--jobs", jobs)
            self.assertEqual(status, 1, text)
            self.assertRegex(text, "^FAIL.*: data race: ")
            self.assertIn("all was explored again, as with --waits-in-place off", text)
        again = re.search("To see this execution again: (.*)", text)[1]
        status, shown, _ = run(program, *again.split())
        self.assertEqual(status, 1, shown)
        self.assertEqual(without_time(shown).splitlines()[1:4], without_time(text).splitlines()[1:4])
        self.assertNotIn("explored again", shown)

    def test_processes_begin_again_where_rounds_of_a_barrier_are_unclear(self):
        program = compiled(os.path.join(HERE, "programs", "barriers.c"), "-DPAIRS", "-DSOMETIMES")
        alone = run(program, "--barriers-in-order")
        self.assertEqual((alone[0], explored(alone[1])), (0, 98), alone[1])
        for jobs in ("1", "2", "4"):
            together = run(program, "--jobs", jobs)
            self.assertEqual((together[0], without_time(together[1])), (0, without_time(alone[1])))

    def test_processes_begin_again_for_both_reasons(self):
        program = compiled(os.path.join(HERE, "programs", "barriers.c"), "-DPAIRS", "-DWRITTEN_BESIDE")
        for jobs in ("1", "3"):
            status, text, _ = run(program, "--jobs", jobs)
            self.assertEqual(status, 1, text)
            self.assertRegex(text, "^FAIL.*: data race: ")
        self.assertEqual(run(program, "--all-failures", "1")[1].count("\nFAIL: data race: "), 1)
        # The race alone, although it makes of one atomic variable two where a replay has it first.
        self.assertRegex(run(program, "--all-failures", "9")[1], "^FAIL: 1 different failure in ")
        again = re.search("To see this execution again: (.*)", text)[1]
        self.assertTrue(again.startswith("--waits-in-place off --skip-retries off --barriers-in-order --path "), again)
        status, shown, _ = run(program, *again.split())
        self.assertEqual(status, 1, shown)
        self.assertEqual(without_time(shown).splitlines()[1:4], without_time(text).splitlines()[1:4])

    def test_processes_begin_again_where_one_leaves_out_rounds_and_another_one_meets_that(self):
        program = compiled(os.path.join(HERE, "command", "rounds_in_parts.cpp"))
        for limits, failed in (([], "--skip-retries on"), (["--skip-retries", "off"], "--skip-retries off")):
            alone, together = (run(program, "--nondet", "0..1", *limits, *jobs) for jobs in ((), ("--jobs", "2")))
            self.assertEqual((alone[0], without_time(together[1])), (together[0], without_time(alone[1])), failed)

    def test_what_loops_read_while_they_wait_is_known_to_all_processes(self):
        program = compiled(os.path.join(HERE, "programs", "reads_in_waits.cpp"))
        alone, shared = (run(program, "--keep-rounds", "off", *jobs)[1] for jobs in ([], ["--jobs", "2"]))
        self.assertRegex(alone, r"bounded: .*follow it, but do not happen after it \(at \w+\.cpp:\d+; --keep-rounds late\)")
        self.assertEqual(without_time(alone), without_time(shared))
        ordered = compiled(os.path.join(HERE, "programs", "reads_in_waits.cpp"), "-DTOLD_BY=release", "-DLEARNT_BY=acquire")
        self.assertTrue(run(ordered, "--jobs", "2")[1].startswith("exhaustive: "))

    def test_processes_begin_again_together_for_late_accesses(self):
        source = os.path.join(HERE, "programs", "reads_in_waits.cpp")
        note = "all was explored again, as with --keep-rounds on"
        status, text, _ = run(compiled(source), "--jobs", "2")
        self.assertEqual((status, text.count(note)), (1, 1), text)
        path = re.search(r"--keep-rounds on --path ([0-9.-]+)$", text, re.MULTILINE)[1]
        again = run(compiled(source), "--keep-rounds", "on", "--path", path)[:2]
        self.assertEqual(again, (status, "".join(l for l in text.splitlines(True) if note not in l)))
        within = [run(compiled(source), "--bound", "20", *jobs)[1] for jobs in ([], ["--jobs", "2"])]
        self.assertIn("follow it, but do not happen after it", within[0])
        self.assertEqual(without_time(within[0]), without_time(within[1]))
        for flags in (["-DTOLD_TWICE"], ["-DTOLD_TWICE", "-DBY_AN_ATOMIC"]):
            alone, shared = (run(compiled(source, *flags), *jobs)[1] for jobs in ([], ["--jobs", "2"]))
            self.assertIn(note, alone)
            self.assertTrue(alone.startswith("exhaustive: "), alone)
            self.assertEqual(without_time(alone), without_time(shared))

    def test_an_execution_has_the_number_of_the_search_that_is_judged(self):
        waits = compiled(os.path.join(HERE, "programs", "waits_in_place.cpp"), "-DWRITTEN_BESIDE")
        rounds = compiled(os.path.join(HERE, "programs", "barriers.c"), "-DPAIRS", "-DSOMETIMES")
        for program, last, options in ((waits, 4, ["--waits-in-place", "off"]), (rounds, 99, ["--barriers-in-order"])):
            for number in (1, 2, 3, last - 1, last):
                found, expected = (run(program, "--execution", str(number), *more)[:2] for more in ([], options))
                text = "\n".join(line for line in found[1].splitlines() if "explored again" not in line)
                is_shown = program is waits or number < last
                self.assertEqual(re.match(r"(FAIL in )?execution \d", text) is not None, is_shown, text)
                self.assertEqual((found[0], without_time(text)), (expected[0], without_time(expected[1]).strip()))

    def test_the_file_says_whether_threads_wait_in_place(self):
        source = os.path.join(HERE, "programs", "waits_in_place.cpp")
        for macro, options, in_place in (("MCS", [], True), ("MCS", ["--waits-in-place", "off"], False),
                                         ("WRITTEN_BESIDE", [], False)):
            file = os.path.join(SCRATCH.name, "waits.json")
            run(compiled(source, f"-D{macro}"), *options, "--json", file)
            with open(file, encoding="utf-8") as results:
                self.assertIs(json.load(results)["searches"][0]["result"]["waits_in_place"], in_place)

    def test_what_processes_leave_out_and_give_up_is_counted_once(self):
        program = compiled(os.path.join(TEXTBOOK, "waiting", "bounded_buffer.c"))
        alone, together = (run(program, *jobs)[1] for jobs in ((), ("--jobs", "3")))
        self.assertRegex(alone, r"^bounded: .*spurious wake-ups.*, \+\d+ blocked, ")
        self.assertEqual(without_time(together), without_time(alone))

    def test_what_is_explored_up_to_symmetry_is_counted_once(self):
        program = compiled(os.path.join(TEXTBOOK, "..", "symmetry.cpp"), "-DRING")
        alone, together = (run(program, "--symmetry", "on", *jobs)[1] for jobs in ((), ("--jobs", "3")))
        self.assertIn("(180 executions explored, up to symmetry: 180 of 385, +", alone)
        self.assertEqual(without_time(together), without_time(alone))

    def test_all_processes_begin_again_where_threads_are_told_apart(self):
        program = compiled(os.path.join(TEXTBOOK, "..", "symmetry.cpp"), "-DNUMBER")
        for jobs, why in (((), ": one of them asks for the id of its thread"), (("--jobs", "3"), "")):
            status, text, _ = run(program, "--symmetry", "on", *jobs)
            self.assertEqual(status, 0, text)
            self.assertIn("(2 executions explored, ", text)
            self.assertIn(f"note: threads that begin alike are told apart{why}: all was explored", text)

    def test_the_path_of_a_failure_is_one_up_to_symmetry(self):
        program = compiled(os.path.join(TEXTBOOK, "..", "symmetry.cpp"), "-DMUTEX", "-DWRONG")
        status, text, _ = run(program, "--symmetry", "on", "--jobs", "2")
        path = re.search(r"--symmetry on --path ([0-9.-]+)$", text, re.MULTILINE)[1]
        self.assertEqual(run(program, "--symmetry", "on", "--path", path)[:2], (status, text))

    def test_all_failures_are_those_of_all_executions(self):
        program = compiled(os.path.join(TEXTBOOK, "..", "symmetry.cpp"), "-DMUTEX", "-DWRONG")
        with_symmetry, without = (run(program, "--all-failures", "9", *more)[:2] for more in (["--symmetry", "on"], []))
        self.assertEqual((with_symmetry[0], without_time(with_symmetry[1])), (without[0], without_time(without[1])))
        self.assertTrue(without[1].startswith("FAIL: 2 different failures in 24 of 60 executions"), without[1])

    def test_a_check_without_a_verdict_has_none_in_its_file(self):
        file = os.path.join(SCRATCH.name, "limit.json")
        self.assertEqual(run(counters(3), "--max-executions", "9", "--json", file)[0], 2)
        with open(file, encoding="utf-8") as results:
            said = json.load(results)
        self.assertEqual((said["searches"][0]["outcome"], said["searches"][0]["search"]), ("no verdict", "exhaustive"))
        self.assertEqual((said["status"], said["failed"]), (2, 1))

    def test_the_file_says_what_kind_of_search_it_was(self):
        file = os.path.join(SCRATCH.name, "kind.json")
        for options, kind in ([], "exhaustive"), (["--bound", "3"], "bounded"), (["--sample", "5"], "sampled"):
            self.assertEqual(run(counters(3), *options, "--json", file)[0], 0)
            with open(file, encoding="utf-8") as results:
                said = json.load(results)
            self.assertEqual((said["searches"][0]["search"], said["searches"][0]["result"]["how"], said["failed"]), (kind, kind, 0))

    def test_a_bounded_search_is_shared_as_well(self):
        alone, together = (run(counters(4), "--bound", "4", *jobs) for jobs in ((), ("--jobs", "3")))
        self.assertEqual((together[0], without_time(together[1])), (0, without_time(alone[1])))

    def test_what_one_of_the_processes_finds_fails_and_has_a_path(self):
        program = counters(4, "-DWRONG")
        status, text, _ = run(program, "--jobs", "2")
        self.assertEqual(status, 1, text)
        self.assertTrue(text.startswith("FAIL: check failed"), text)
        path = re.search(r"--path ([0-9.-]+)$", text, re.MULTILINE)[1]
        self.assertEqual(run(program, "--path", path)[:2], (status, text))

    def test_a_limit_is_one_of_all_processes(self):
        status, text, _ = run(counters(6), "--jobs", "2", "--max-executions", "5000")
        self.assertEqual(status, 2, text)
        self.assertIn("no verdict: limit reached: --max-executions 5000; raise it, or make the program smaller", text)

    def test_a_search_that_ends_exactly_at_a_limit_has_ended(self):
        for options in ([], ["--jobs", "2"], ["--jobs", "3"], ["--bound", "30"]):
            status, text, _ = run(counters(3), *options, "--max-executions", str(EXECUTIONS[3]))
            self.assertEqual((status, explored(text)), (0, EXECUTIONS[3]), f"{options}: {text}")
            status, text, _ = run(counters(3), *options, "--max-executions", str(EXECUTIONS[3] - 1))
            self.assertEqual(status, 2, f"{options}: {text}")
            self.assertIn(f"limit reached: --max-executions {EXECUTIONS[3] - 1};", text)

    def test_a_process_that_is_killed_is_named_and_there_is_no_total(self):
        with subprocess.Popen([counters(6)], stdout=subprocess.PIPE, text=True,
                              env=environment(["--jobs", "2", "--time-limit", "100"])) as check:
            first = wait_for(lambda: len(children(check.pid)) == 2 and children(check.pid))[0]
            os.kill(first, signal.SIGKILL)
            text = check.communicate(timeout=200)[0]
        self.assertEqual(check.returncode, 2, text)
        self.assertRegex(text, r"^no verdict: process [12] of 2 was ended by signal 9")

    def test_a_long_shared_search_says_on_stderr_where_all_of_it_stands(self):
        status, text, progress = run(counters(6), "--jobs", "2", "--time-limit", "2")
        self.assertEqual(status, 2, text)
        # Each line comes at twice the time of the one before, or later.
        seconds = [int(second) for second in re.findall(r"(?m)^(\d+) s: \d+ executions, of about \d+; about ", progress)]
        self.assertEqual(len(seconds), progress.count("\n"), progress)
        self.assertTrue(seconds and seconds[0] > 0, progress)
        self.assertEqual(seconds, sorted(set(seconds)))
        self.assertGreater(float(re.search(r", ([\d.]+) s\)", text)[1]), 1)

    @unittest.skipIf(os.path.exists(os.path.join(os.path.dirname(TOOL), "librunq_check_mpi.so")), "there is MPI")
    def test_without_mpi_a_rank_has_no_verdict(self):
        ran = subprocess.run([counters(3)], stdout=subprocess.PIPE, text=True, env=environment([]) | {"OMPI_COMM_WORLD_SIZE": "2"}, timeout=300)
        self.assertEqual(ran.returncode, 2, ran.stdout)
        self.assertTrue(ran.stdout.startswith("no verdict: mpirun has started this, but the checker was built without MPI: install Open MPI"), ran.stdout)

    # --- bad input ---------------------------------------------------------------------------------------------------

    def test_bad_input_is_an_error_that_says_what_to_do(self):
        for options, said in ((["--sample", "0"], "--sample takes a number of walks, at least 1"),
                              (["--sample", "5", "--bound", "5"], "choose one"),
                              (["--bound", "5", "--load-buffering"], "--bound does not go with --load-buffering"),
                              (["--bound", "5x"], "--bound needs a number, not '5x'"),
                              (["--bound", "4294967295"], "--bound takes a number up to 4294967294"),
                              (["--path", "1.x"], "--path takes numbers with dots between, as 0.3.1, not '1.x'"),
                              (["--path", "9.9"], "there is no execution at the end of this way"),
                              (["--jobs", "2", "--sample", "5"], "--sample is for one process"),
                              *((["--size", size], f"--size takes NAME=N, or several with commas between, N up to 1000, not '{size}'")
                                for size in ("a=-1", "a=1001", "=2", "a", "a=1,b", "a=1,=2")),
                              (["--jobs", "65"], "--jobs takes a number from 1 to 64")):
            status, text, errors = run(counters(3), *options)
            self.assertEqual(status, 2, f"{options}: {text}")
            self.assertIn(said, text + errors)


@unittest.skipUnless(MPIRUN, "needs mpirun")
class Ranks(unittest.TestCase):
    def launcher(self, ranks):
        return (MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", str(ranks))

    def test_two_and_four_ranks_explore_what_one_process_explores(self):
        alone = run(counters(4))
        self.assertEqual((alone[0], explored(alone[1])), (0, EXECUTIONS[4]))
        for ranks in (2, 4):
            status, text, errors = run(counters(4), launcher=self.launcher(ranks))
            self.assertEqual((status, without_time(text)), (0, without_time(alone[1])), errors)

    def test_what_a_rank_finds_fails(self):
        status, text, _ = run(counters(4, "-DWRONG"), launcher=self.launcher(2))
        self.assertEqual(status, 1, text)
        self.assertTrue(text.startswith("FAIL: check failed"), text)

    def test_ranks_begin_again_when_a_later_execution_shows_different_sizes(self):
        program = compiled(os.path.join(HERE, "programs", "different_sizes.cpp"), "-DLATE", "-DROUNDS=6")
        self.assertEqual(without_time(run(program, launcher=self.launcher(2))[1]), without_time(run(program)[1]))

    def check_after_killing(self, find):
        """Kills the process that `find` finds below mpirun."""
        with subprocess.Popen([*self.launcher(2), counters(6)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env=environment(["--time-limit", "100"])) as check:
            os.kill(wait_for(lambda: find(check.pid)), signal.SIGKILL)
            text = check.communicate(timeout=200)[0]
        self.assertNotEqual(check.returncode, 0, text)
        self.assertNotIn("exhaustive", text)
        return text

    @staticmethod
    def second_rank(mpirun):
        for pid in children(mpirun):
            try:
                with open(f"/proc/{pid}/environ", encoding="latin-1") as file:
                    if "OMPI_COMM_WORLD_RANK=1" in file.read().split("\0") and children(pid):
                        return pid
            except (FileNotFoundError, ProcessLookupError):
                pass
        return None

    def test_a_searcher_that_is_killed_is_named_by_its_rank(self):
        text = self.check_after_killing(lambda mpirun: (rank := self.second_rank(mpirun)) and children(rank)[0])
        self.assertIn("no verdict: the searcher of rank 1 was ended by signal 9", text)

    def test_a_rank_that_is_killed_is_named(self):
        self.assertRegex(self.check_after_killing(self.second_rank), r"process rank 1 .*exited on signal 9")


unittest.main(verbosity=1)
