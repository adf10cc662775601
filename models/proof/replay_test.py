#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""replay.py must translate a graph step by step, and refuse one that does not fit the script, and answers that fall short."""
import json
import os
import pathlib
import tempfile
import unittest

import replay

# A thread pushes task 1, another one steals it. The first lines are of the construction, the last of finish().
STEPS = [
    (-1, "store", "head_", "", "relaxed", 0, 1, {}),
    (-1, "store", "tail_", "", "relaxed", 0, 2, {}),
    (-1, "store", "head_", "", "relaxed", 0, 3, {}),
    (-1, "store", "tail_", "", "relaxed", 0, 4, {}),
    (0, "load", "tail_", "push.tail", "relaxed", 0, 2, {"reads_from": 1}),
    (0, "load", "head_", "push.head", "acquire", 0, 1, {"reads_from": 0}),
    (0, "store", "slot(v1)", "push.slot", "relaxed", 1, 5, {}),
    (0, "store", "tail_", "push.publish", "release", 1, 2, {}),
    (1, "load", "head_", "steal.head", "acquire", 0, 1, {"reads_from": 0}),
    (1, "load", "tail_", "steal.tail", "acquire", 1, 2, {"reads_from": 7}),
    (1, "load", "slot(v1)", "steal.slot", "relaxed", 1, 5, {"reads_from": 6}),
    (1, "cas ok", "head_", "steal.claim", "release", 0, 1, {"reads_from": 0, "written": 1}),
    (1, "read", "contents", "", "", 10, 6, {}),
    (-1, "load", "tail_", "pop.tail", "relaxed", 1, 2, {"reads_from": 7}),
    (-1, "load", "head_", "pop.head", "acquire", 1, 1, {"reads_from": 11}),
    (-1, "load", "tail_", "pop.tail", "relaxed", 0, 4, {"reads_from": 3}),
    (-1, "load", "head_", "pop.head", "acquire", 0, 3, {"reads_from": 2}),
]
EVENTS = """(0, Calls (PushTail Push 0 [1]))
(0, Loads push_tail relaxed (Tail 0) 0 0)
(0, Loads push_head acquire (Head 0) 0 0)
(0, Stores push_slot relaxed (Slot 0 0) 1 1)
(0, Stores push_publish release (Tail 0) 1 1)
(1, Calls (TakeHead StealOne 0))
(1, Loads steal_head acquire (Head 0) 0 0)
(1, Loads steal_tail acquire (Tail 0) 1 1)
(1, Loads steal_slot relaxed (Slot 0 0) 1 1)
(1, Wins steal_claim release (Head 0) 0 1 0)
(0, Meets 1)
(0, Calls (PopTail 0))
(0, Loads pop_tail relaxed (Tail 0) 1 1)
(0, Loads pop_head acquire (Head 0) 1 1)
(1, Meets 0)
(1, Calls (PopTail 1))
(1, Loads pop_tail relaxed (Tail 1) 0 0)
(1, Loads pop_head acquire (Head 1) 0 0)""".split("\n")


def trace(steps=STEPS):
    names = ("thread", "kind", "variable", "site", "order", "value", "location")
    return [{**dict(zip(names, step)), "site": f"[ring.{step[3]}]" if step[3] else "", "value_text": str(step[5]), **step[7]}
            for step in steps]


def case(graphs=1):
    made = object.__new__(replay.Case)
    made.name, made.title, made.capacity, made.threads, made.graphs = "example", "ring/example", 2, 2, graphs
    made.before, made.moves = [], [[replay.Move("p", 0, [1])], [replay.Move("t", 0)]]
    made.finish = [replay.Move("r", 0), replay.Move("r", 1)]
    return made


class Translations(unittest.TestCase):
    def test_a_graph_becomes_a_trace(self):
        translated = replay.Translation(case(), trace())
        self.assertEqual(translated.events, EVENTS)
        self.assertEqual(translated.results, [[[], [1]], [[], []]])

    def test_a_graph_that_does_not_fit_the_script_is_refused(self):
        without_theft = STEPS[:8]
        another_push = STEPS[:13] + STEPS[4:8]
        other_operation = STEPS[:8] + [(1, *STEPS[4][1:])]
        other_slot = STEPS[:11] + STEPS[10:11]  # the second slot cannot be where the first one is
        wrong_beginning = [(-1, "store", "head_", "", "relaxed", 3, 1, {})]
        for steps in without_theft, another_push, other_operation, other_slot, wrong_beginning:
            with self.assertRaises(SystemExit):
                replay.Translation(case(), trace(steps))

    def test_slots_are_counted_from_head_and_tail_modulo_the_capacity(self):
        taking = replay.Operation(replay.Move("h", 1), 0)
        taking.note("steal.head", 3)
        self.assertEqual([taking.slot("steal.slot", 2) for _ in range(2)], [(1, 1), (1, 0)])
        taking.note("steal.own_tail", 1)
        self.assertEqual([taking.slot("steal.own_slot", 2) for _ in range(2)], [(0, 1), (0, 0)])

    def test_a_script_is_read_as_the_models_read_it(self):
        moves, task = replay.moves_of("p[pp]+g2h", 1, 5)
        self.assertEqual([(m.letter, m.ring, m.tasks) for m in moves], [("p", 1, [5]), ("[", 1, [6, 7]), ("g", 2, []), ("h", 0, [])])
        self.assertEqual(task, 8)


class Answers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def program(self, name, text, status=0):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\ncat <<'TEXT'\n{text}\nTEXT\nexit {status}\n")
        path.chmod(0o755)
        return path

    def graphs(self, shown=1, status=0, **answer):
        said = {"how": "exhaustive", "executions": 1, "what": "none", **answer}
        lines = ["E " + json.dumps({"trace": []})] * shown + ["R " + json.dumps(said)]
        return replay.graphs_of(case(), self.program("worker", "\n".join(lines), status), self.folder / "cases.so")

    def test_only_a_whole_search_without_a_failure_is_replayed(self):
        self.assertEqual(self.graphs(), [[]])
        for wrong in ({"how": "bounded"}, {"what": "data race"}, {"error": "none"}, {"executions": 2}, {"status": 1},
                      {"executions": 2, "shown": 2}):
            with self.assertRaises(SystemExit, msg=str(wrong)):
                self.graphs(**wrong)

    def check(self, text, status=0):
        self.program("coqc", text, status)
        path = os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        os.environ["PATH"] = f"{self.folder}:{path}"
        return replay.check(case(), "", [], self.folder)

    def test_coq_has_to_accept_and_to_assume_nothing(self):
        accepted = "= [] : list (nat * nat)\n= [3; 0] : list nat\n"
        closed = "Closed under the global context"
        self.assertEqual(self.check(accepted + closed), [3, 0])
        with self.assertRaises(SystemExit):
            self.check(accepted + closed, status=1)
        with self.assertRaises(SystemExit):
            self.check(accepted + "Axioms: magic")

    def test_a_kind_of_change_that_was_never_tried_is_an_error(self):
        (self.folder / "proof.vo").write_text("")
        options = type("options", (), {"build": self.folder, "worker": self.program("worker", "E {\"trace\": []}\nR " + json.dumps(
            {"how": "exhaustive", "executions": 1})), "cases": self.folder})
        for counts, passes in ("3; 1", True), ("3; 0", False):
            self.check(f"= [{counts}] : list nat\nClosed under the global context")
            make = lambda: replay.replay([case()], "proof", lambda *_: None, lambda *_: "", options, ["one", "other"])
            if passes:
                make()
            else:
                self.assertRaises(SystemExit, make)


if __name__ == "__main__":
    unittest.main()
