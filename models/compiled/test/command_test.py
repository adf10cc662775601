#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What runq-check makes of its options: weaker orders, the ledger, files, pages, the sentence that says why, and errors."""
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import kept_compiler

TOOL = sys.argv.pop(1)
PROGRAMS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "command")
ORDERS = os.path.join(PROGRAMS, "orders.cpp")
FAILURES = os.path.join(PROGRAMS, "failures.cpp")
HISTORIES = os.path.join(os.path.dirname(PROGRAMS), "programs", "histories.cpp")


def setUpModule():
    kept_compiler.set_up()


def tearDownModule():
    kept_compiler.tear_down()


def line_of(program, text):
    with open(program, encoding="utf-8") as source:
        return next(number for number, line in enumerate(source, 1) if text in line)


class Command(unittest.TestCase):
    def check(self, *arguments, failure=""):
        """Failure is for failures.cpp."""
        ran = subprocess.run([TOOL, "--compiler", kept_compiler.name(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, timeout=300, env={**os.environ, "FAILURE": failure})
        return ran.returncode, ran.stdout + ran.stderr

    def fails(self, kind):
        status, text = self.check(FAILURES, failure=kind)
        self.assertEqual(status, 1, text)
        self.assertLessEqual(text.count("\n"), 42)
        return text

    def why(self, kind):
        text = self.fails(kind)
        found = re.search(r"^why: (.*)$", text, re.MULTILINE)
        self.assertIsNotNone(found, text)
        return found[1], text

    def step(self, text, what):
        """The number of the step whose line contains that."""
        found = re.search(rf"^ *(\d+) .*{what}.*$", text, re.MULTILINE)
        self.assertIsNotNone(found, f"{what}\n{text}")
        return found[1]

    # --- why ---------------------------------------------------------------------------------------------------------

    def test_a_race_names_the_step_that_does_not_synchronise_and_both_accesses(self):
        why, text = self.why("RACE")
        store, load = self.step(text, "store flag"), self.step(text, "load +flag")
        first, second = self.step(text, "write plain data .*UNORDERED"), self.step(text, "write plain data .*data = 2")
        self.assertEqual(why, f"step {load} acquires from step {store}, which is relaxed, so step {first} does not happen "
                              f"before step {second}")

    def test_an_assertion_after_a_stale_read_names_the_write_that_was_not_seen(self):
        why, text = self.why("STALE")
        stale, write = self.step(text, "STALE"), self.step(text, "store payload")
        load, store = self.step(text, "load +flag"), self.step(text, "store flag")
        self.assertEqual(why, f"step {stale} does not see step {write}: step {load} reads what step {store} releases, but "
                              f"is itself relaxed, so step {write} does not happen before step {stale}")

    def test_a_use_after_free_names_the_free_and_the_use(self):
        why, text = self.why("FREED")
        free = self.step(text, "free ")
        self.assertIn(f"step {free}", why)
        self.assertIn("n->value", text)

    def test_a_step_of_plain_memory_knows_what_its_thread_has_acquired(self):
        why, text = self.why("FREED_BEFORE")
        free, use = self.step(text, "  free "), self.step(text, "  read  plain ")
        self.assertEqual(why, f"step {free} happens before step {use}, and has freed what it uses", text)

    def test_a_cycle_of_locks_names_who_waits_for_whom(self):
        why, _ = self.why("LOCKS")
        self.assertRegex(why, r"^T\d waits at step \d+ for (first|second), which T\d holds since step \d+, and T\d waits at "
                              r"step \d+ for (first|second), which T\d holds since step \d+$")

    def test_a_history_fails_where_the_program_has_it_judged(self):
        status, text = self.check(HISTORIES)
        self.assertEqual(status, 1, text)
        self.assertRegex(text, r"FAILS HERE +histories\.cpp:\d+ +calls\.require_linearizable\(\);")

    def test_a_loop_that_waits_for_ever_names_what_nobody_writes(self):
        why, _ = self.why("WAITS")
        self.assertRegex(why, r"^T1 waits at step \d+ until flag is another value than 0; T0 waits for the end of T1$")

    def test_who_waits_too_is_named(self):
        why, _ = self.why("WAITS_AND_LOCK")
        self.assertRegex(why, r"^T1 waits at step \d+ until flag is another value than 0; T0 waits for the end of T1, and T2 "
                              r"waits at step \d+ for first, which T1 holds since step \d+$")
        why, _ = self.why("JOINS")
        self.assertRegex(why, r"^T1 waits at step \d+ until flag is another value than 0; T0 waits for the end of T1$")

    def test_a_leak_names_the_allocation(self):
        why, text = self.why("LEAK")
        self.assertEqual(why, f"step {self.step(text, 'allocate')} allocates it, and no step frees it")

    def test_memory_that_is_freed_twice_names_both(self):
        why, text = self.why("TWICE")
        frees = re.findall(r"^ *(\d+) .*free ", text, re.MULTILINE)
        self.assertEqual(len(frees), 2, text)
        self.assertIn(f"step {frees[0]}", why)

    def test_an_interleaving_is_not_blamed_on_memory_orders(self):
        why, _ = self.why("INTERLEAVING")
        self.assertRegex(why, r"the order of the steps alone leads here, whatever the memory orders: T1 up to step \d+, then T2 "
                              r"up to step \d+$")

    def test_a_lost_update_is_shown_as_an_interleaving(self):
        why, text = self.why("LOST_UPDATE")
        self.assertNotIn("STALE", text)
        self.assertRegex(why, r"the order of the steps alone leads here, whatever the memory orders: T1 up to step (\d+), then "
                              r"T2 up to step \d+, then T1 up to step \d+|T2 up to step (\d+), then T1 up to step \d+, then T2")

    def test_a_failure_of_one_thread_says_so(self):
        why, _ = self.why("ALONE")
        self.assertEqual(why, "T0 alone leads here: no other thread makes a step")

    def test_a_failure_that_cpp20_forbids_says_so(self):
        program = os.path.join(PROGRAMS, "total_order.cpp")
        sentence = r"^only RC11: C\+\+20 forbids this execution, because its seq_cst operations have no single total order"
        for shape in ("-DTWO_STORES", "-DFENCE"):
            # With a weaker order at one place both allow the same outcome.
            for order, expected in (("", self.assertRegex), ("-DORDER=release", self.assertNotRegex)):
                status, text = self.check(program, "--", shape, *([order] if order else []))
                self.assertEqual(status, 1, text)
                self.assertIn("check failed", text)
                expected(text, re.compile(sentence, re.MULTILINE))

    def test_variables_with_the_same_name_are_told_apart(self):
        why, text = self.why("SAME_NAMES")
        self.assertRegex(text, r"store +started\.value ")
        self.assertRegex(text, r"read +plain result\.value ")

    # --- coverage ----------------------------------------------------------------------------------------------------

    def coverage(self, *arguments):
        status, text = self.check(*arguments)
        self.assertEqual(status, 0, text)
        return text, dict(re.findall(r"^  coverage\.cpp:(\d+ +\w+) +(NEVER EXECUTED|\S+)", text, re.MULTILINE))

    def test_a_passing_test_says_what_it_has_not_executed(self):
        program = os.path.join(PROGRAMS, "coverage.cpp")
        status, text = self.check(program)
        self.assertEqual(status, 0, text)
        listed, _ = self.coverage("--coverage", program)
        never = re.findall(r"^  (coverage\.cpp:\d+) +(\w+) +NEVER EXECUTED", listed, re.MULTILINE)
        self.assertTrue(never, listed)
        said = re.search(r"^not executed by this test: 3 of 6 atomic operations \((.*)\)", text, re.MULTILINE)
        self.assertTrue(said, text)
        for site, kind in never:
            self.assertIn(f"{site} {kind}" if kind != "plain" else site, said[0])
        # Of a test that executes all, and beside the list, there is nothing to say.
        for arguments in ([os.path.join(PROGRAMS, "store_buffering.cpp")], ["--coverage", program]):
            self.assertNotIn("not executed by this test", self.check(*arguments)[1])

    def test_a_passing_test_says_which_conditions_it_decides_in_one_way(self):
        program = os.path.join(PROGRAMS, "branches.cpp")
        full = line_of(program, "// full")
        one_way = rf"(?m)^decided in one way only by this test: 1 of \d lines with conditions \(branches\.cpp:{full}\)$"
        for name in "g++", "clang++":
            if not shutil.which(name):
                continue
            for options in [], ["--html", os.path.join(tempfile.mkdtemp(), "pages")]:
                self.assertRegex(self.check("--compiler", name, *options, program)[1], one_way)
            # A test that meets both ways says nothing, nor do several searches, which do not know of each other.
            for arguments in [program, "--", "-DFULL"], ["--ledger", program], ["--jobs", "2", program]:
                self.assertNotIn("one way", self.check("--compiler", name, *arguments)[1])

    def test_code_that_notes_the_ways_leaves_the_search_as_it_is(self):
        program = os.path.join(PROGRAMS, "branches.cpp")
        executions = r"\(\d+ executions explored[^,]*,"
        noted = re.search(executions, self.check(program)[1])[0]
        self.assertEqual(noted, re.search(executions, self.check("--jobs", "2", program)[1])[0])

    def test_coverage_tells_which_operations_no_execution_executes(self):
        program = os.path.join(PROGRAMS, "coverage.cpp")
        for name in "g++", "clang++":
            if not shutil.which(name):
                continue
            text, seen = self.coverage("--compiler", name, "--coverage", program)
            seen = {re.sub(" +", " ", site): how for site, how in seen.items()}
            self.assertIn("coverage: 3 of 6 atomic operations were executed", text)
            self.assertEqual(seen[f"{line_of(program, 'compare_exchange')} rmw"], "acquire/acq_rel")
            self.assertEqual(seen[f"{line_of(program, 'flag.store')} store"], "release")
            self.assertEqual(seen[f"{line_of(program, 'flag.load')} load"], "acquire")
            self.assertEqual(seen[f"{line_of(program, 'n.store')} store"], "NEVER EXECUTED")
            self.assertEqual(seen[f"{line_of(program, 'fence')} fence"], "NEVER EXECUTED")
            self.assertEqual(seen[f"{line_of(program, 'exchange(3)')} rmw"], "NEVER EXECUTED")
            self.assertEqual(seen[f"{line_of(program, 'unused = 3')} plain"], "NEVER EXECUTED")
            self.assertNotIn(f"{line_of(program, 'data = 1')} plain", seen)

    def test_coverage_of_a_file_leaves_the_others_out(self):
        program = os.path.join(PROGRAMS, "coverage.cpp")
        text, seen = self.coverage("--coverage-of", "other.hpp", program)
        self.assertIn("coverage: 0 of 0 atomic operations", text)
        self.assertEqual(seen, {})
        text, _ = self.coverage("--coverage-of", "command/", program)
        self.assertIn("coverage: 3 of 6 atomic operations", text)

    def test_coverage_is_of_one_check_by_one_process(self):
        program = os.path.join(PROGRAMS, "coverage.cpp")
        for option, said in ("--ledger", "--coverage tells of one"), ("--jobs=2", "--coverage is for one process"):
            status, text = self.check("--coverage", *option.split("="), program)
            self.assertEqual(status, 2, text)
            self.assertIn(said, text)

    # --- tests that grow ---------------------------------------------------------------------------------------------

    GROWS = os.path.join(PROGRAMS, "grows.cpp")

    def test_a_test_grows_until_it_fails(self):
        status, text = self.check("--grow", "200", self.GROWS)
        self.assertEqual(status, 1, text)
        sizes = re.findall(r"(?m)^producers=(\d),rounds=(\d): (\w+)", text)
        self.assertEqual(sizes, [("1", "1", "exhaustive"), ("2", "1", "exhaustive"), ("1", "2", "exhaustive"), ("3", "1", "FAIL")])
        self.assertRegex(text, r"(?m)^ *\d+ +T\d +FAILS HERE")
        again = re.search(r"(?m)^the same again: --size (.*)$", text)[1]
        self.assertEqual(self.check("--size", again, self.GROWS)[0], 1)
        self.assertEqual(self.check(self.GROWS)[0], 0)

    def test_a_test_that_passes_grows_until_the_time_is_over(self):
        status, text = self.check("--grow", "1", self.GROWS, "--", "-DRIGHT")
        self.assertEqual(status, 0, text)
        completed = re.findall(r"(?m)^(\S+): (?:exhaustive|bounded)", text)
        self.assertIn(f"\ngrown up to {completed[-1]}; there was no time for ", text)

    def test_a_size_that_takes_longer_than_there_is_time_ends(self):
        program = self.written("""#include <atomic>
#include <thread>
#include <vector>
#include <runq/grow.hpp>
std::atomic<int> sum{0};
int main() {
  std::vector<std::thread> all;
  const int steps = runq::rounds() == 1 ? 1 : 20;
  for (int i = 0; i != 4; ++i) all.emplace_back([=] { for (int k = 0; k != steps; ++k) sum.fetch_add(1, std::memory_order::relaxed); });
  for (std::thread& t : all) t.join();
}
""")
        status, text = self.check("--grow", "2", "--max-executions", "5000000", program)
        self.assertEqual(status, 0, text)
        self.assertRegex(text, r"(?m)^rounds=1: (exhaustive|bounded)")
        self.assertRegex(text, r"rounds=2: no verdict: limit reached: --time-limit;|; there was no time for rounds=2$")
        self.assertIn("\ngrown up to rounds=1; ", text)

    def test_one_long_execution_ends_at_the_time_limit(self):
        program = self.written("""#include <atomic>
#include <thread>
#include <vector>
std::atomic<int> sum{0};
int main() {
  std::vector<std::thread> all;
  for (int i = 0; i != 4; ++i) all.emplace_back([] { for (int k = 0; k != 1400; ++k) sum.fetch_add(1, std::memory_order::relaxed); });
  for (std::thread& t : all) t.join();
}
""")
        status, text = self.check("--time-limit", "1", "--max-events", "9000", program)
        self.assertEqual(status, 2, text)
        self.assertRegex(text, r"no verdict: limit reached: --time-limit; .*\(0 executions explored")

    def test_a_test_does_not_grow_where_a_limit_is_reached(self):
        program = self.written("""#include <atomic>
#include <runq/grow.hpp>
std::atomic<int> sum{0};
int main() {
  for (int i = 0; i != runq::test_size("steps", 2); ++i) sum.fetch_add(1);
}
""")
        status, text = self.check("--grow", "200", "--max-events", "8", program)
        self.assertEqual(status, 0, text)
        self.assertRegex(text, r"^steps=2: exhaustive")
        last = re.search(r"(?m)^steps=(\d): no verdict: limit reached", text)[1]
        self.assertTrue(text.endswith(f"grown up to steps={int(last) - 1}; no larger size can be checked\n"), text)

    def test_what_is_too_large_in_one_size_is_not_tried_with_more_of_the_others(self):
        program = self.written("""#include <atomic>
#include <thread>
#include <runq/grow.hpp>
std::atomic<int> sum{0}, other{0};
int main() {
  std::thread worker([] { for (int i = 0; i != runq::test_size("turns", 1); ++i) other.fetch_add(1); });
  for (int i = 0; i != runq::test_size("steps", 1); ++i) sum.fetch_add(1);
  worker.join();
}
""")
        status, text = self.check("--grow", "200", "--max-events", "8", program)
        self.assertEqual(status, 0, text)
        size = r"(?m)^steps=(\d),turns=(\d): "
        (steps, one), (also_one, turns) = ends = re.findall(size + "no verdict", text)
        self.assertEqual((one, also_one), ("1", "1"), ends)
        passed = re.findall(size + "exhaustive", text)
        self.assertEqual(sorted(passed), [(str(s), str(t)) for s in range(1, int(steps)) for t in range(1, int(turns))], text)
        self.assertTrue(text.endswith("; no larger size can be checked\n"), text)

    def test_only_sizes_that_a_program_asks_for_can_be_given(self):
        other = os.path.join(PROGRAMS, "store_buffering.cpp")
        for arguments, said in ((["--grow", "1", other], "asks for no size"), (["--size", "producer=2", self.GROWS], "asks for no producer "),
                                (["--size", "2", self.GROWS], "takes NAME=N"), (["--grow", "x", self.GROWS], "a number of seconds"),
                                (["--grow", "1", "--ledger", self.GROWS], "does not go with --ledger"),
                                (["--grow", "1", "--time-limit", "9", self.GROWS], "does not go with --time-limit"),
                                (["--grow", "1", "--cache", os.devnull, self.GROWS], "with neither --cache nor --coverage"),
                                (["--grow", "200", "--max-events", "1", self.GROWS], "no verdict: ")):
            status, text = self.check(*arguments)
            self.assertEqual(status, 2, text)
            self.assertIn(said, text)

    def test_a_test_grows_by_several_searches(self):
        status, text = self.check("--grow", "200", "--ignore-races", self.GROWS)
        self.assertEqual(status, 1, text)
        self.assertIn("\nthe same again: --size producers=3,rounds=1\n", text)

    @unittest.skipUnless(platform.machine() == "x86_64", "the program is for x86-64")
    def test_a_program_that_ends_without_a_verdict_has_none(self):
        ends = self.written("""#include <runq/grow.hpp>
int main() {
  const int end = runq::test_size("end", 0);
  if (end == 1) asm volatile("syscall" : : "a"(231), "D"(7));  // exit_group(7)
  if (end == 2) asm volatile("syscall" : : "a"(231), "D"(0));
  long self;
  if (end == 3) asm volatile("syscall" : "=a"(self) : "a"(39));
  if (end == 3) asm volatile("syscall" : : "a"(62), "D"(self), "S"(9));  // kill(getpid(), SIGKILL)
}
""")
        said = "the program ended with status 7 before there was a verdict"
        for options in ["--size", "end=1"], ["--grow", "200"]:
            status, text = self.check(*options, ends)
            self.assertEqual(status, 2, text)
            self.assertIn(said, text)
        self.assertIn(" with end=1 the program", text)
        status, text = self.check("--jobs", "2", "--size", "end=1", ends)
        self.assertEqual(status, 2, text)
        self.assertRegex(text, "^no verdict: process [12] of 2 ended with status 7; what it has explored is not known")
        # In a process of its own.
        for end, said in (1, "ended with status 7"), (2, "ended with status 0"), (3, "was ended by signal 9"):
            status, text = self.check("--ledger", "--size", f"end={end}", ends)
            self.assertEqual((status, text.splitlines()[0]), (2, f"no verdict: the check {said}"), text)

    def test_bytes_that_are_no_text_are_replaced(self):
        program = self.written('#include <cassert>\n#include <cstdio>\nint main() { std::puts("\\xff is no text"); assert(false); }\n')
        status, text = self.check("--all-failures", "1", program)
        self.assertEqual(status, 1, text)
        self.assertIn("\ufffd is no text", text)

    # --- weaker orders -----------------------------------------------------------------------------------------------

    def test_a_weakened_order_is_marked_where_it_applies(self):
        line = line_of(ORDERS, "ready.load")
        status, text = self.check("--weaken", f"orders.cpp:{line}:relaxed", ORDERS)
        self.assertEqual(status, 1, text)
        self.assertRegex(text, rf"load +ready.*relaxed.*WEAKENED.*orders\.cpp:{line}")
        self.assertRegex(text, rf"^FAIL in execution \d+, with orders\.cpp:{line} weakened to relaxed: data race")

    def test_a_verdict_with_a_weaker_order_says_so_everywhere(self):
        line = line_of(ORDERS, "ready.store")
        with tempfile.TemporaryDirectory() as folder:
            results, pages = os.path.join(folder, "results.json"), os.path.join(folder, "pages")
            status, text = self.check("--weaken", f"orders.cpp:{line}/store:relaxed", "--json", results, "--html", pages,
                                      ORDERS)
            self.assertEqual(status, 0, text)
            self.assertTrue(text.startswith(f"exhaustive, with orders.cpp:{line}/store weakened to relaxed: "), text)
            with open(results, encoding="utf-8") as file:
                self.assertEqual(json.load(file)["searches"][0]["weakened"], f"orders.cpp:{line}/store:relaxed")

    def test_a_name_that_several_files_have_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("one", "two"):
                os.mkdir(os.path.join(folder, name))
                with open(os.path.join(folder, name, "flag.hpp"), "w", encoding="utf-8") as file:
                    file.write("#include <atomic>\n"
                               f"inline std::atomic<int> {name};\n"
                               f"inline void set_{name}() {{ {name}.store(1, std::memory_order::release); }}\n")
            program = os.path.join(folder, "main.cpp")
            with open(program, "w", encoding="utf-8") as file:
                file.write('#include "one/flag.hpp"\n#include "two/flag.hpp"\nint main() { set_one(); set_two(); }\n')
            status, text = self.check("--weaken", "flag.hpp:3:relaxed", program)
            self.assertEqual(status, 2, text)
            self.assertRegex(text, "flag.hpp is the name of several files: .*/one/flag.hpp, .*/two/flag.hpp; give more of")
            self.assertEqual(self.check("--weaken", "one/flag.hpp:3:relaxed", program)[0], 0)
            self.assertEqual(self.check("--weaken", "ag.hpp:3:relaxed", program)[0], 2)
            _, text = self.check("--ledger", program)
            self.assertRegex(text, r"(?m)^one/flag.hpp:3 +store +release[\s\S]*^two/flag.hpp:3 +store +release")

    def test_what_cannot_be_weakened_is_an_error(self):
        line = line_of(ORDERS, "ready.load")
        for change, said in (("orders.cpp", "FILE:LINE:ORDER"), (f"orders.cpp:{line}:weak", "no memory order"),
                             (f"orders.cpp:{line}/read:relaxed", "no kind of operation"),
                             (f"orders.cpp:{line}:release", "no operation at"), ("orders.cpp:1:relaxed", "no operation at"),
                             (f"other.cpp:{line}:relaxed", "no operation at")):
            status, text = self.check("--weaken", change, ORDERS)
            self.assertEqual(status, 2, f"{change}: {text}")
            self.assertIn(said, text)

    def written(self, text):
        source = tempfile.NamedTemporaryFile("w", suffix=".cpp", encoding="utf-8")
        self.addCleanup(source.close)
        source.write(text)
        source.flush()
        return source.name

    def test_a_line_is_weakened_without_the_order_of_a_failure(self):
        program = self.written("""#include <atomic>
#include <thread>
int data;
std::atomic<int> flag{0};
int main() {
  std::thread other([] { data = 1; flag.store(1, std::memory_order::release); });
  int expected = 0;
  bool done = flag.compare_exchange_strong(expected, 2, std::memory_order::acquire, std::memory_order::acquire);
  if (!done && data != 1) return 1;
  other.join();
}
""")
        for kind, expected in ("", 0), ("/rmw", 0), ("/failure", 1):
            status, text = self.check("--weaken", f"{os.path.basename(program)}:8{kind}:relaxed", program)
            self.assertEqual(status, expected, text)

    def test_of_several_orders_of_a_line_the_strongest_is_noted(self):
        program = self.written("""#include <atomic>
std::atomic<int> value{0};
[[gnu::noinline]] int load(std::memory_order order) {
  return value.load(order);
}
int main() {
  load(std::memory_order::acquire);
  load(std::memory_order::seq_cst);
  load(std::memory_order::acquire);
}
""")
        self.assertRegex(self.check("--ledger", program)[1], r":4 +load +seq_cst ")

    # --- the ledger --------------------------------------------------------------------------------------------------

    def test_the_ledger_tells_needed_orders_from_redundant_ones(self):
        status, text = self.check("--ledger", ORDERS)
        self.assertEqual(status, 0, text)
        fence, store, load = (line_of(ORDERS, what) for what in ("atomic_thread_fence", "ready.store", "ready.load"))
        # The fence and the store can each do without the other's release.
        expected = rf"""orders.cpp:{fence} +fence +release +std::atomic_thread_fence.*
  → relaxed +redundant here: no failure in \d+ executions
orders.cpp:{store} +store +seq_cst +ready.store\(true\);
  → release +redundant here: no failure in \d+ executions
  → relaxed +redundant here: no failure in \d+ executions
orders.cpp:{load} +load +acquire +if .*
  → relaxed +needed: data race in execution \d+
ledger: 3 orders, 4 weakenings: 1 needed, 3 redundant here, 0 without a verdict \(.* s\)
as it is: exhaustive"""
        self.assertRegex(text, re.compile("^" + expected))

    def test_the_ledger_is_the_same_by_any_number_of_processes(self):
        ledgers = [re.sub(r"\d+\.\d+ s", "", self.check("--ledger", "--jobs", jobs, ORDERS)[1]) for jobs in ("1", "4")]
        self.assertEqual(*ledgers)
        self.assertIn("4 weakenings", ledgers[0])

    def test_a_search_that_a_limit_cuts_short_leaves_the_order_without_a_verdict(self):
        status, text = self.check("--ledger", "--max-executions", "3", os.path.join(PROGRAMS, "store_buffering.cpp"))
        self.assertEqual(status, 2, text)
        self.assertIn("no verdict: limit reached: --max-executions 3; raise it, or make the program smaller", text)
        self.assertNotIn("0 without a verdict", text)

    def test_there_is_no_ledger_of_a_program_that_fails(self):
        status, text = self.check("--ledger", FAILURES, failure="RACE")
        self.assertEqual(status, 1, text)
        self.assertTrue(text.startswith("without any change: FAIL"), text)
        with tempfile.TemporaryDirectory() as folder:
            results, pages = os.path.join(folder, "results.json"), os.path.join(folder, "pages")
            status, text = self.check("--ledger", "--json", results, "--html", pages, FAILURES, failure="RACE")
            self.assertEqual(status, 1, text)
            with open(results, encoding="utf-8") as file:
                self.assertEqual(json.load(file)["searches"][0]["result"]["what"], "data race")
            self.assertEqual(len(os.listdir(pages)), 2)

    def test_a_ledger_of_a_program_that_never_ends_ends(self):
        status, text = self.check("--ledger", FAILURES, failure="ENDLESS")
        self.assertEqual(status, 2, text)
        self.assertIn("limit reached: a thread runs for 5 s of processor time without an atomic operation", text)

    def test_only_the_orders_of_named_files(self):
        status, text = self.check("--ledger-of", "other.hpp", ORDERS)
        self.assertEqual(status, 0, text)
        self.assertIn("ledger: 0 orders, 0 weakenings", text)

    # --- files and pages ---------------------------------------------------------------------------------------------

    def test_text_file_and_page_say_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            results, pages = os.path.join(folder, "results.json"), os.path.join(folder, "pages")
            status, text = self.check("--json", results, "--html", pages, FAILURES, failure="RACE")
            self.assertEqual(status, 1, text)
            with open(results, encoding="utf-8") as file:
                said = json.load(file)
            self.assertEqual(said["verdict"], text.splitlines()[0])
            self.assertEqual((said["status"], said["failed"]), (1, 1))
            search = said["searches"][0]
            self.assertEqual((search["outcome"], search["verdict"]), ("failed", said["verdict"]))
            self.assertRegex(search["command"], rf"^{re.escape(TOOL)} --compiler .* {re.escape(FAILURES)}$")
            self.assertEqual(search["result"]["what"], "data race")
            self.assertIn("why: " + search["result"]["why"], text)
            self.assertIn("\nT0 is the thread that runs main().\n", text)
            drawn = [name for name in os.listdir(pages) if name != "index.html"]
            self.assertEqual(len(drawn), 1)
            with open(os.path.join(pages, drawn[0]), encoding="utf-8") as file:
                page = json.loads(file.read().partition('id="data">')[2].partition("</script>")[0])
            self.assertEqual(page["search"]["result"]["why"], search["result"]["why"])
            self.assertEqual(page["steps"][search["result"]["failing"]]["conflict"], search["result"]["unordered"])
            with open(os.path.join(pages, "index.html"), encoding="utf-8") as file:
                self.assertIn(drawn[0], file.read())

    def test_the_ledger_is_in_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            results = os.path.join(folder, "results.json")
            self.assertEqual(self.check("--ledger", "--json", results, ORDERS)[0], 0)
            with open(results, encoding="utf-8") as file:
                said = json.load(file)
            self.assertEqual([row["verdict"] for row in said["ledger"]], ["redundant", "redundant", "redundant", "killed"])
            self.assertEqual(said["searches"], [])

    # --- what is not seen ------------------------------------------------------------------------------------------------

    def not_seen(self, text):
        return re.findall(r"^not seen: (.*)$", text, re.MULTILINE)

    def compiled_library(self, folder, *flags, output):
        made = os.path.join(folder, output)
        subprocess.run(["gcc", "-O1", *flags, os.path.join(PROGRAMS, "uninstrumented.c"), "-o", made], check=True)
        return made

    def test_a_function_of_a_library_that_is_not_instrumented_is_named(self):
        program = os.path.join(PROGRAMS, "calls_library.cpp")
        with tempfile.TemporaryDirectory() as folder:
            self.compiled_library(folder, "-shared", "-fPIC", output="libbump.so")
            status, text = self.check(program, "--", f"-L{folder}", "-lbump", f"-Wl,-rpath,{folder}")
            self.assertEqual(status, 0, text)
            self.assertTrue(text.startswith("bounded: "), text)
            self.assertIn("code that is not seen (named below)", text)
            self.assertEqual(self.not_seen(text), ["bump(), in libbump.so: called 2 times"])
            results = os.path.join(folder, "results.json")
            self.check("--json", results, program, "--", f"-L{folder}", "-lbump", f"-Wl,-rpath,{folder}")
            with open(results, encoding="utf-8") as file:
                self.assertEqual(json.load(file)["searches"][0]["result"]["not_seen"],
                                 [{"what": "bump(), in libbump.so", "times": 2}])

    def test_a_function_of_an_object_or_archive_that_is_not_instrumented_is_named(self):
        program = os.path.join(PROGRAMS, "calls_library.cpp")
        with tempfile.TemporaryDirectory() as folder:
            made = self.compiled_library(folder, "-c", output="bump.o")
            status, text = self.check(program, "--", made)
            self.assertEqual((status, self.not_seen(text)), (0, ["bump(), in bump.o: called 2 times"]), text)
            archive = os.path.join(folder, "libbump.a")
            subprocess.run(["ar", "rc", archive, made], check=True)
            status, text = self.check(program, "--", archive)
            self.assertEqual((status, self.not_seen(text)), (0, ["bump(), in libbump.a:bump.o: called 2 times"]), text)

    def test_an_archive_that_cannot_be_read_is_no_verdict(self):
        with tempfile.TemporaryDirectory() as folder:
            text_of_linker = os.path.join(folder, "libbump.a")
            with open(text_of_linker, "w", encoding="utf-8") as file:
                file.write(f"GROUP ( {self.compiled_library(folder, '-c', output='bump.o')} )\n")
            status, text = self.check(os.path.join(PROGRAMS, "calls_library.cpp"), text_of_linker)
            self.assertEqual(status, 2, text)
            self.assertIn(f"nm cannot read {text_of_linker}, so calls of its functions would not be seen", text)

    def test_a_command_that_fails_is_no_verdict(self):
        """Where awk fails, nobody knows which code is not seen."""
        with tempfile.TemporaryDirectory() as folder:
            awk = os.path.join(folder, "awk")
            with open(awk, "w", encoding="utf-8") as file:
                file.write(f'#!/bin/sh\ncase "$*" in *"$FAILS"*) exit 1 ;; esac\nexec {shutil.which("awk")} "$@"\n')
            os.chmod(awk, 0o755)
            made = self.compiled_library(folder, "-c", output="bump.o")
            for script, arguments, said in (("unseen.awk", [os.path.join(PROGRAMS, "assembly.c"), "--", "-DALONE"], "assembly.c: the inline assembly is not counted"),
                                            ("wrapped.awk", [os.path.join(PROGRAMS, "calls_library.cpp"), made], "no verdict: this command fails: awk ")):
                with unittest.mock.patch.dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}", FAILS=script):
                    status, text = self.check(*arguments)
                self.assertEqual(status, 2, text)
                self.assertIn(said, text)

    def test_an_object_that_is_instrumented_is_seen(self):
        program = os.path.join(PROGRAMS, "calls_library.cpp")
        with tempfile.TemporaryDirectory() as folder:
            made = self.compiled_library(folder, "-c", "-g", "-fsanitize=thread", output="bump.o")
            status, text = self.check(program, "--", made)
            self.assertEqual((status, self.not_seen(text)), (1, []), text)
            self.assertIn("data race", text)

    def test_what_several_processes_do_not_see_is_named_once(self):
        program = os.path.join(PROGRAMS, "calls_library.cpp")
        with tempfile.TemporaryDirectory() as folder:
            made = self.compiled_library(folder, "-c", output="bump.o")
            status, text = self.check("--jobs", "2", program, "--", made)
            self.assertEqual((status, self.not_seen(text)), (0, ["bump(), in bump.o: called 2 times"]), text)

    def test_inline_assembly_is_named_beside_any_verdict(self):
        program = os.path.join(PROGRAMS, "assembly.c")
        lines = line_of(program, "xchgl"), line_of(program, "movl")
        for name in "g++", "clang++":
            if not shutil.which(name):
                continue
            status, text = self.check("--compiler", name, program)
            self.assertEqual(status, 1, text)
            self.assertIn("data race", text)
            expected = [rf"inline assembly in {where}\(\), assembly.c:{line}: executed \d+ times?$"
                        for where, line in zip(("lock", "unlock"), lines)]
            named = self.not_seen(text)
            self.assertEqual(len(named), 2, text)
            for found, wanted in zip(named, expected):
                self.assertRegex(found, wanted)
            status, text = self.check("--compiler", name, program, "--", "-DALONE")
            self.assertEqual(status, 0, text)
            self.assertTrue(text.startswith("bounded: "), text)
            self.assertEqual(len(self.not_seen(text)), 2, text)

    def test_hints_and_barriers_for_the_compiler_are_no_unseen_code(self):
        status, text = self.check(os.path.join(PROGRAMS, "assembly.c"), "--", "-DHARMLESS")
        self.assertEqual((status, self.not_seen(text)), (0, []), text)
        self.assertTrue(text.startswith("exhaustive: "), text)

    def test_link_time_optimisation_is_refused_by_name(self):
        status, text = self.check(ORDERS, "--", "-flto")
        self.assertEqual(status, 2, text)
        self.assertIn("-flto", text)

    def test_assertions_that_are_left_out_are_noted(self):
        note = "note: NDEBUG leaves out the assertions of the program"
        self.assertIn(note, self.check(ORDERS, "--", "-DNDEBUG")[1])
        self.assertIn(note, self.check(ORDERS, "--", "-DNDEBUG=1")[1])
        self.assertNotIn(note, self.check(ORDERS)[1])
        self.assertNotIn(note, self.check(ORDERS, "--", "-DNDEBUG", "-UNDEBUG")[1])
        self.assertNotIn(note, self.check(os.path.join(PROGRAMS, "calls_library.cpp"), "--", "-DNDEBUG", "-Dbump=_exit")[1])

    def test_only_a_symbol_of_the_instrumentation_is_said_to_be_not_modelled(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, hint in (("nowhere", False), ("__tsan_nowhere", True)):
                program = os.path.join(folder, name + ".cpp")
                with open(program, "w", encoding="utf-8") as file:
                    file.write(f'extern "C" void {name}();\nint main() {{ {name}(); }}\n')
                status, text = self.check(program)
                self.assertEqual(status, 2, text)
                self.assertIn("the program cannot be linked", text)
                self.assertEqual("not modelled" in text, hint, text)

    def test_a_program_with_checks_of_its_own_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "own.cpp")
            with open(program, "w", encoding="utf-8") as file:
                file.write("#include <iostream>\n#include <runq/check.hpp>\n"
                           "int main() { const auto v = runq::check([] {}); std::cout << v; return v ? 0 : 1; }\n")
            status, text = self.check(program)
            self.assertEqual(status, 0, text)
            self.assertIn("exhaustive: ", text)

    def test_executions_that_are_blocked_are_counted_in_the_verdict(self):
        status, text = self.check(os.path.join(PROGRAMS, "spurious.cpp"))
        self.assertEqual(status, 0, text)
        self.assertNotIn("blocked", text)
        status, text = self.check(os.path.join(os.path.dirname(PROGRAMS), "programs", "condition_variable.cpp"), "--", "-DNOTIFIED")
        self.assertRegex(text, r"\(\d+ executions explored, \+\d+ blocked, ")

    # --- bad input ---------------------------------------------------------------------------------------------------

    def test_bad_input_is_an_error_that_says_what_to_do(self):
        for arguments, said in ((["--json", "/no/such/folder/file"], "cannot write /no/such/folder/file"),
                                (["--html", "/dev/null/pages"], "cannot make the folder"),
                                (["--jobs", "0"], "--jobs takes a number from 1 to 64"),
                                (["--jobs", "many"], "needs a number, not 'many'"),
                                (["--nondet", "3"], "--nondet takes a range, as 0..3, not '3'"),
                                (["--nondet", "3..0"], "--nondet takes a range, as 0..3, not '3..0'"),
                                (["--nondet", "0..65536"], "--nondet takes a range of at most 65536 values"),
                                (["--html", "", "--json", "x"], "--html needs the name of a folder"),
                                (["--json", ""], "--json needs the name of a file"),
                                (["--ledger", "--execution", "1"], "neither --weaken nor --execution"),
                                (["--unknown"], "there is no option --unknown"),
                                (["--compile-only", ""], "--compile-only needs the name of a file"),
                                (["--threads", ""], "--threads needs a number"),
                                (["--threads", "0"], "--threads takes a number, not '0'"),
                                (["--threads", "31"], "--threads takes at most 30"),
                                (["--compiler", "no-such-compiler"], "there is no compiler no-such-compiler")):
            status, text = self.check(*arguments, ORDERS)
            self.assertEqual(status, 2, f"{arguments}: {text}")
            self.assertIn(said, text)
        for arguments, said in ([], "runq-check [OPTIONS] FILE.cpp"), ([ORDERS, "--", "-include", "no-such-file"], "orders.cpp does not compile"):
            status, text = self.check(*arguments)
            self.assertEqual(status, 2, text)
            self.assertIn(said, text)
        self.assertIn("--compiler needs a name", subprocess.run([TOOL, ORDERS, "--compiler"], capture_output=True, text=True).stderr)

    def test_warnings_of_the_compiler_are_shown_and_a_constant_is_one(self):
        constant = self.written('#include <cstring>\n#include <cassert>\nconstexpr auto size = std::strlen("abc");\nint main() { assert(size == 3); }\n')
        status, text = self.check(constant)
        self.assertEqual((status, text.partition(":")[0]), (0, "exhaustive"), text)
        warns = self.written("int main() {\n#warning of the program\n}\n")
        status, text = self.check("--compiler", "g++", warns, "--", "-Wa,--warn")
        self.assertEqual(status, 0, text)
        self.assertIn("#warning of the program", text)

    def test_a_folder_for_temporary_files_that_does_not_exist_is_no_verdict(self):
        with unittest.mock.patch.dict(os.environ, TMPDIR="/nonexistent"):
            status, text = self.check(ORDERS)
        self.assertEqual(status, 2, text)
        self.assertIn("there is no folder /nonexistent for temporary files, or it cannot be written; set TMPDIR", text)


unittest.main(verbosity=1)
