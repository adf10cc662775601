#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `runq_worker` answers: lists, searches, weakened orders, mutants, litmus tests and ledgers.

usage: worker_test.py WORKER FOLDER_OF_MODULES FOLDER_OF_HEADERS [TEST...]
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

WORKER, MODULES, HEADERS = sys.argv[1:4]


def lines_of(modules, **what):
    asked = json.dumps({"modules": [f"{MODULES}/{module}.so" for module in modules], **what})
    done = subprocess.run([WORKER, asked], capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines()


def results(lines, letter="R"):
    return [json.loads(line[2:]) for line in lines if line.startswith(letter + " ")]


def search(case, module="cases_join_counter", **what):
    status, lines = lines_of([module], search={"case_name": case, **what})
    return status, results(lines)[0], lines


def ledger(header, modules=("cases_join_counter",), **what):
    status, lines = lines_of(modules, ledger={"header": f"{HEADERS}/{header}", **what})
    assert status == 0, lines
    return results(lines)[0], lines


JOIN = "runq/protocol/join_counter.hpp"
WEAKENED = {"site": "join.arrive", "to": "acquire"}


class Worker(unittest.TestCase):
    def test_cases_are_listed_with_what_the_runner_needs(self):
        status, lines = lines_of(["cases_join_counter", "cases_litmus"], list={})
        cases = {case["name"]: case for case in json.loads(lines[0])}
        one = cases["join_counter/one_child"]
        self.assertEqual((status, one["threads"], one["seeded_bug"]), (0, 2, False))
        self.assertTrue(one["file"].endswith("join.cpp"))
        self.assertEqual(one["kept_for"], "the smallest program")
        self.assertIn({"arg": 0, "name": "arrive_acquire", "site": "join.arrive", "weaker": "acquire"}, one["mutants"])
        self.assertNotIn("litmus", one)
        self.assertEqual(cases["litmus/load_buffering"]["litmus"],
                         {"outcome": "11", "cpp20": True, "relacy": False, "exact": False})

    def test_a_search_counts_all_executions(self):
        status, found, lines = search("join_counter/join_twice")
        self.assertEqual((status, found["what"], found["how"], found["executions"], found["blocked"]),
                         (0, "none", "exhaustive", 4, 0))
        self.assertNotIn("trace", found)
        self.assertNotIn("orders", found)
        for jobs in (1, 2):
            _, shared, _ = search("join_counter/join_twice", jobs=jobs)
            self.assertEqual((shared["executions"], shared["blocked"]), (4, 0))
            _, blocking, _ = search("join_counter/join_twice", jobs=jobs, waits_in_place=False)
            self.assertEqual((blocking["executions"], blocking["blocked"]), (4, 3))
        self.assertEqual(results(lines, "E"), [])

    def test_executions_are_shown(self):
        _, _, lines = search("join_counter/join_twice", show_all=True)
        shown = results(lines, "E")
        self.assertEqual([each["executions"] for each in shown], [1, 2, 3, 4])
        self.assertTrue(all(each["trace"] for each in shown))
        _, found, _ = search("join_counter/join_twice", show=3)
        self.assertEqual(found["executions"], 3)
        self.assertEqual([step["line"] for step in found["trace"]], [step["line"] for step in shown[2]["trace"]])
        step = next(step for step in found["trace"] if "[join." in step["site"] and "std::memory_order" in step["text"])
        self.assertIn("std::memory_order::" + step["order"], step["text"])

    def test_a_search_by_the_other_engine(self):
        _, found, _ = search("join_counter/one_child", kind="random", executions=7)
        self.assertEqual((found["how"], found["executions"]), ("sampled", 7))
        _, found, _ = search("join_counter/one_child", kind="bounded", bound=4)
        self.assertEqual((found["how"], found["executions"]), ("bounded", 20))
        _, found, _ = search("join_counter/one_child", kind="full")
        self.assertEqual((found["how"], found["executions"]), ("full", 20))

    def test_a_weakened_order_fails(self):
        status, found, _ = search("join_counter/one_child", weakened=WEAKENED)
        self.assertEqual((status, found["what"]), (0, "data race"))
        self.assertTrue(any(step.get("weakened") for step in found["trace"]))
        status, found, _ = search("join_counter/one_child", weakened=WEAKENED, kind="mutant")
        self.assertEqual((found["what"], found["by"]), ("data race", "join_counter/one_child"))
        self.assertNotEqual(found["relacy"]["what"], "none")
        self.assertNotIn("trace", found["relacy"])

    def test_what_cannot_be_done_is_an_error(self):
        for asked, error in (
                (dict(search={"case_name": "join_counter/none"}), "no case is called join_counter/none"),
                (dict(search={"case_name": "join_counter/one_child", "weakened": {"site": "join.none", "to": "relaxed"}}),
                 "no operation is called [join.none]"),
                (dict(search={"case_name": "join_counter/one_child", "weakened": {"site": "ring.push.publish", "to": "relaxed"}}),
                 "case join_counter/one_child never executes [ring.push.publish]")):
            status, lines = lines_of(["cases_join_counter"], **asked)
            self.assertEqual(status, 2)
            self.assertIn(error, results(lines)[0]["error"])
        status, lines = lines_of(["no_module"], list={})
        self.assertEqual(status, 2)
        self.assertIn("cannot load cases", results(lines)[0]["error"])
        self.assertEqual(subprocess.run([WORKER], capture_output=True).returncode, 2)

    def test_a_mutant_is_searched_for_by_all_cases_of_the_named_sources(self):
        status, lines = lines_of(["variants_semaphore"],
                                 mutant={"name": "semaphore/arrival_not_noted", "named": ["semaphore/waiter_ends"]})
        found = results(lines)[0]
        self.assertEqual((status, found["by"]), (0, "semaphore/waiter_ends"))
        by_case = {each["case"]: each["what"] for each in found["cases"]}
        self.assertNotEqual(by_case["semaphore/waiter_ends"], "none")
        self.assertIn("semaphore/big_waiter_ends", by_case)
        self.assertNotIn("semaphore/two_writers", by_case)

    def test_a_frozen_thread_stops_the_others_or_not(self):
        status, found, _ = search("join_counter/one_child", kind="progress")
        self.assertEqual(status, 0)
        self.assertLess(2, found["searches"])
        self.assertIn("others_always_finish", found)

    def test_a_litmus_test_has_an_execution_with_the_outcome(self):
        _, found, _ = search("litmus/store_buffering", "cases_litmus", kind="litmus")
        self.assertIn("00", found["exact"]["outcomes"])
        self.assertIn("shown", found["exact"])
        self.assertTrue(found["exact"]["trace"])
        _, found, _ = search("litmus/load_buffering", "cases_litmus", kind="litmus")
        self.assertNotIn("11", found["exact"]["outcomes"])
        self.assertNotIn("shown", found["exact"])
        self.assertIn("11", found["load buffering"]["outcomes"])
        self.assertNotIn("11", found["relacy"]["outcomes"])

    def test_the_orders_that_a_search_uses_are_noted(self):
        _, found, _ = search("join_counter/one_child", note_orders=True)
        self.assertTrue(all(o["file"].endswith("join_counter.hpp") for o in found["orders"]))
        self.assertIn((2, "acq_rel"), {(o["kind"], o["written"]) for o in found["orders"]})

    def test_all_orders_of_the_join_are_needed(self):
        found, lines = ledger(JOIN)
        rows = {(r["site"], r["weaker"]): r for r in found["rows"]}
        self.assertEqual({key: r["verdict"] for key, r in rows.items()},
                         {("join.wait", "acquire"): "killed", ("join.wait", "release"): "killed",
                          ("join.end_mark", "relaxed"): "killed", ("join.arrive", "acquire"): "killed",
                          ("join.arrive", "release"): "killed", ("join.ended", "relaxed"): "killed"})
        self.assertEqual(found["holes"], [])
        self.assertEqual(rows["join.ended", "relaxed"]["case"], "join_counter/dropped_before_the_join")
        self.assertTrue(all(r["what"] != "none" for r in found["rows"]))
        self.assertTrue(any(line.startswith("P ") for line in lines))

    def test_an_order_that_no_case_uses_is_a_hole(self):
        found, _ = ledger(JOIN, modules=("cases_litmus",))
        self.assertEqual(found["rows"], [])
        self.assertEqual(len(found["holes"]), 4)
        self.assertIn("[join.arrive] in runq/protocol/join_counter.hpp is executed by no case", found["holes"])

    def test_the_case_that_an_earlier_ledger_names_is_tried_first(self):
        rows, _ = ledger(JOIN)
        named = [{**row, "case": "join_counter/two_children"} for row in rows["rows"]
                 if row["site"] == "join.arrive"]
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"join_counter": named}, file)
            file.flush()
            again, _ = ledger(JOIN, expected=file.name)
        self.assertEqual({row["case"] for row in again["rows"] if row["site"] == "join.arrive"},
                         {"join_counter/two_children"})

    def test_redundant_orders_say_what_they_are_kept_for(self):
        found, _ = ledger("../src/inside/runq/protocol/descriptors.hpp", modules=("cases_descriptors",))
        self.assertIn("redundant", {row["verdict"] for row in found["rows"]})
        self.assertTrue(all(row["reason"] for row in found["rows"] if row["verdict"] == "redundant"))
        self.assertEqual(found["holes"], [])
        # Without the lines that give reasons, each redundant order is a hole.
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{HEADERS}/../src/inside/runq/protocol/descriptors.hpp", encoding="utf-8") as header:
                text = header.read().replace("kept: ", "held: ")
            os.makedirs(f"{folder}/runq/protocol")
            path = f"{folder}/runq/protocol/descriptors.hpp"
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            _, lines = lines_of(["cases_descriptors"], ledger={"header": path})
        holes = results(lines)[0]["holes"]
        self.assertTrue(any("does not say 'kept: …'" in hole for hole in holes), holes)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
