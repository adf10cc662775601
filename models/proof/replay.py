#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Replays executions of the exact engine in the machine of the proof.

The engine shows every execution graph of each case below. This script writes each graph for Coq as a trace (see
replay.v). Each step of a trace gives the thread, the operation that begins, if one does, and the access: its site,
location, order, value and message. Coq computes that the machine accepts every trace and ends with the tasks that the
threads took and ran, and that it refuses traces in which something was changed.

The calls of the threads come from the case's script, their reads and writes from the engine's trace, and the tasks that
they ran from the oracle's plain reads of the tasks' contents. Construction and finish() belong to no thread of the
machine: the owner of a ring makes their operations on that ring, after it has synchronised with all other threads.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

from failing import fail

HERE = pathlib.Path(__file__).resolve().parent
COUNTS = HERE.parent / "cases/pinned.txt"
SCRIPTS = (HERE.parent / "cases/queues/ring/owner_vs_thieves.cpp").read_text()
SCRIPT = re.compile(
    r'add_case<script<(?:ring|object)_of<(\d+)((?:[^<>]|<[^<>]*>)*)>, ([^>]*)>>\(\{\s*\.name = "ring/(\w+)"'
)
# Together they call every operation that is proved (shed_half_of_full has the lines of shed_half), with two and with three
# threads, and a thief of a thief. --all takes every script of that file that can be replayed, in several minutes.
CASES = [
    "push_vs_steal",
    "thief_of_a_thief",
    "half_to_memory_vs_push",
    "steal_one_vs_pop",
    "batch_vs_steal",
    "drain_vs_steal",
    "shed_vs_steal",
    "from_and_into",
    "never_empty_shed",
    "slot_reuse",
]
CHANGES = [
    "with another value of an access",
    "with another order",
    "without one access",
    "with a slot read as it was before the first push",
    "with other results",
]
MAIN = -1  # the thread that constructs the scenario, and finishes it
# The access with which an operation begins.
BEGINS = {
    "p": "push.tail",
    "[": "push_batch.tail",
    "g": "pop.tail",
    "s": "shed.head",
    "d": "drain.tail",
    "h": "steal.head",
    "l": "steal.head",
    "o": "steal.head",
    "u": "steal.head",
    "t": "steal.head",
    "w": "steal.head",
}


# ---- The case ----


class Move:
    """One operation of a script: its letter, its ring, and the tasks that it pushes."""

    def __init__(self, letter, ring, tasks=()):
        self.letter, self.ring, self.tasks = letter, ring, list(tasks)


def moves_of(text, own, first_task):
    """The moves of one thread as script.hpp reads them, and the next task's number."""
    moves, in_batch = [], False
    for c in text:
        if c in "!+":
            pass
        elif c.isdigit():
            moves[-1].ring = int(c)
        elif c == "]":
            in_batch = False
        elif c == "p" and in_batch:
            moves[-1].tasks.append(first_task)
            first_task += 1
        else:
            in_batch = c == "["
            moves.append(Move(c, own if c in "p[gsdr" else 0, [first_task] if c == "p" else []))
            first_task += c == "p"
    return moves, first_task


def can_be_replayed(script):
    """The machine counts from 0 and without end."""
    return not re.search(r"uint8_t|narrow|, [1-9]", script[2])


def pinned_graphs(name):
    """How many graphs a case has."""
    pinned = re.search(rf"^{name} (\d+)( \+\d+)?$", COUNTS.read_text(), re.M)
    if not pinned:
        fail(f"{COUNTS.name} does not say how many graphs {name} has")
    return int(pinned[1])


class Case:
    def __init__(self, name):
        self.name, self.title = name, f"ring/{name}"
        scripts = {found[4]: found for found in SCRIPT.finditer(SCRIPTS) if can_be_replayed(found)}
        if name not in scripts:
            fail(f"there is no script ring/{name} whose counters have 64 bits and begin at 0")
        self.capacity = int(scripts[name][1])
        before, *threads = [text.strip().strip('"').replace("steal", "hr") for text in scripts[name][3].split(",")]
        self.threads = len(threads)
        self.before, task = moves_of(before, 0, 1)
        self.moves = []
        for own, text in enumerate(threads):
            moves, task = moves_of(text, own, task)
            self.moves.append(moves)
        self.finish = [Move("r", ring) for ring in range(self.threads)]
        self.graphs = pinned_graphs(self.title)


def graphs_of(case, worker, module):
    """The trace of each of the case's execution graphs, as the exact engine meets them."""
    asked = {"modules": [str(module)], "search": {"case_name": case.title, "show_all": True}}
    command = [worker, json.dumps(asked)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    answers = [json.loads(line[2:]) for line in done.stdout.splitlines() if line.startswith("R ")]
    if done.returncode != 0 or not answers:
        fail(f"{' '.join(map(str, command))} failed: {done.stdout[-2000:]}{done.stderr}")
    answer = answers[-1]
    if answer.get("what", "none") != "none" or "error" in answer or answer["how"] != "exhaustive":
        fail(f"{case.title} fails: {answer}")
    found = [json.loads(line[2:])["trace"] for line in done.stdout.splitlines() if line.startswith("E ")]
    if answer["executions"] != len(found):
        fail(f"{case.title}: {answer['executions']} graphs, of which {len(found)} were shown")
    if len(found) != case.graphs:
        fail(f"{case.title} has {len(found)} graphs, but {case.graphs} in pinned.txt")
    return found


# ---- One graph ----


class Operation:
    """An operation in progress, and the values that decide which slot it accesses next."""

    def __init__(self, move, thread):
        self.move, self.thread = move, thread
        self.head = self.tail = self.own_tail = None
        self.read = self.written = 0
        self.found_nothing = False

    def point(self, capacity):
        """The program point where the machine begins it."""
        letter, ring = self.move.letter, self.move.ring
        limit = 1 if letter in "lu" else capacity
        values = "; ".join(map(str, self.move.tasks))
        if letter == "p":
            return f"PushTail Push {ring} [{values}]"
        if letter == "[":
            return f"PushTail PushBatch {ring} [{values}]"
        if letter in "gr":
            return f"PopTail {ring}"
        if letter == "d":
            return f"DrainTail {ring}"
        kind = {
            "s": "(Shed 2)",
            "h": f"(StealInto {self.thread} {limit})",
            "l": f"(StealInto {self.thread} {limit})",
            "o": f"(StealOut {limit})",
            "u": f"(StealOut {limit})",
            "t": "StealOne",
            "w": "Observe",
        }[letter]
        return f"TakeHead {kind} {ring}"

    def slot(self, site, capacity):
        """The ring and the slot of the next access at a site whose accesses are to slots."""
        own = site == "steal.own_slot"
        writes = own or site in ("push.slot", "push_batch.slot")
        begin = self.own_tail if own else self.tail if writes else self.head
        if begin is None:
            fail(f"thread {self.thread} is at [ring.{site}] in the midst of '{self.move.letter}'")
        if writes:
            self.written += 1
        else:
            self.read += 1
        return (self.thread if own else self.move.ring), (begin + (self.written if writes else self.read) - 1) % capacity

    def note(self, site, value):
        if site == "steal.own_tail":
            self.own_tail = value
        elif site.endswith(".tail"):
            self.tail = value
        elif site.endswith(".head") and site != "room.head":
            self.head, self.read = value, 0
            self.found_nothing = site == "pop.head" and self.head == self.tail


class Translation:
    """The translation of one graph into a trace."""

    def __init__(self, case, trace):
        self.case, self.trace = case, trace
        self.events = []
        self.results = [[[] for _ in range(case.threads)] for _ in range(case.threads)]
        self.started = False
        self.todo = {thread: list(moves) for thread, moves in enumerate(case.moves)}
        self.todo[MAIN] = list(case.before)
        self.now = {}
        self.rings = {}  # the engine's number of a head or a tail -> its ring
        self.slots = {}  # the engine's number of a slot -> (ring, slot)
        self.timestamps = {}  # a location of the machine -> how many messages it has
        self.message = {}  # a step of the trace that writes -> its timestamp
        for number, step in enumerate(trace):
            self.take(number, step)
        for thread, moves in self.todo.items():
            if [m for m in moves if m.letter != "r"] or (thread != MAIN and thread in self.now and not self.over(thread)):
                fail(f"ring/{case.name}: thread {thread} did not end its script")

    def over(self, thread):
        return not self.todo[thread] or self.now[thread].move.letter == "r" and self.now[thread].found_nothing

    def add(self, thread, event):
        self.events.append(f"({thread}, {event})")

    def take(self, number, step):
        thread, kind = step["thread"], step["kind"]
        variable = step.get("variable", "").split("(")[0]
        if thread != MAIN and not self.started:
            # The thread that constructed the rings handed them to all threads.
            self.started = True
            self.todo[MAIN] += self.case.finish
            if self.case.before:
                for one in range(self.case.threads):
                    self.meet_all(one)
        if variable == "contents" and kind == "read":
            self.ran(thread, step["value"] // 10)
        elif variable in ("head_", "tail_", "slot") and kind in ("load", "store", "cas ok", "cas failed"):
            site = re.search(r"\[ring\.([a-z_.]+)\]", step["site"])
            if site:
                self.access(number, step, site[1], variable)
            else:
                self.construct(number, step, variable)

    def construct(self, number, step, variable):
        if step["thread"] != MAIN or step["value"] != 0:
            fail(f"ring/{self.case.name}: a counter begins with {step['value']}")
        same_kind = [ring for ring in self.rings.values() if ring[0] == variable]
        self.rings[step["location"]] = (variable, len(same_kind))
        self.message[number] = 0

    def ran(self, thread, task):
        move = self.now[thread].move
        if task not in move.tasks:  # otherwise a push found no room
            self.results[move.ring][self.now[thread].thread].append(task)

    def meet_all(self, thread):
        for other in range(self.case.threads):
            if other != thread:
                self.add(thread, f"Meets {other}")

    def begin(self, thread, site):
        """The thread's next operation, if this access begins one."""
        if site not in BEGINS.values():
            return
        now, todo = self.now.get(thread), self.todo[thread]
        again = now is not None and now.move.letter == "r" and not now.found_nothing
        if not again and not todo:
            fail(f"ring/{self.case.name}: thread {thread} does more than its script says")
        move = now.move if again else todo.pop(0)
        if BEGINS["g" if move.letter == "r" else move.letter] != site:
            fail(f"ring/{self.case.name}: thread {thread} is at [ring.{site}], its script at '{move.letter}'")
        as_whom = move.ring if thread == MAIN else thread
        if thread == MAIN:
            self.meet_all(as_whom)
        self.now[thread] = Operation(move, as_whom)
        self.add(as_whom, f"Calls ({self.now[thread].point(self.case.capacity)})")

    def location(self, step, site, variable, operation):
        """The machine's name of the location of an access."""
        number = step["location"]
        if variable != "slot":
            kind, ring = self.rings[number]
            return f"({'Head' if kind == 'head_' else 'Tail'} {ring})"
        slot = operation.slot(site, self.case.capacity)
        if self.slots.setdefault(number, slot) != slot or list(self.slots.values()).count(slot) != 1:
            fail(f"ring/{self.case.name}: [ring.{site}] is not at slot {slot}")
        return f"(Slot {slot[0]} {slot[1]})"

    def access(self, number, step, site, variable):
        self.begin(step["thread"], site)
        operation = self.now[step["thread"]]
        where = self.location(step, site, variable, operation)
        # A slot that was not written yet is not in the trace.
        source = self.message[step["reads_from"]] if "reads_from" in step else 0
        value = int(step["value_text"].removeprefix("task "))
        at_line = f"{site.replace('.', '_')} {step['order']} {where} {value}"
        kind = step["kind"]
        if kind in ("store", "cas ok"):
            # The stores to one location are in program order, the claims in the order in which they read each other: the
            # order of the trace is their modification order. The machine refuses a trace where that is not so.
            newest = self.timestamps[where] = self.timestamps.get(where, 0) + 1
            self.message[number] = newest
        if kind == "load":
            self.add(operation.thread, f"Loads {at_line} {source}")
            operation.note(site, value)
        elif kind == "store":
            self.add(operation.thread, f"Stores {at_line} {newest}")
        elif kind == "cas ok":
            self.add(operation.thread, f"Wins {at_line} {step['written']} {source}")
        else:
            self.add(operation.thread, f"Fails {at_line} {source}")

    def as_coq(self):
        results = "; ".join("[" + "; ".join("[" + "; ".join(map(str, ran)) + "]" for ran in ring) + "]" for ring in self.results)
        return "([" + ";\n    ".join(self.events) + f"],\n   [{results}])"


# ---- Coq ----


def write_coq(case, translations):
    graphs = ";\n  ".join(t.as_coq() for t in translations)
    program = f"{case.capacity} {case.threads}"
    return f"""(* Written by replay.py: all execution graphs of ring/{case.name}. *)
Require Import List Arith Bool.
Require Import memory ring replay.
Import ListNotations.
Definition graphs : list (trace * results) :=
 [{graphs}].
Eval vm_compute in (refusals {program} 1 graphs).
Theorem every_graph_of_the_engine_is_a_run : length graphs = {case.graphs} /\\ Forall (is_a_run {program}) graphs.
Proof. split; [vm_compute; reflexivity |]. apply accepted_graphs_are_runs. vm_compute; reflexivity. Qed.
Eval vm_compute in (map (@length _) (all_changes graphs)).
Theorem every_change_is_refused : forallb (forallb (refused {program})) (all_changes graphs) = true.
Proof. vm_compute; reflexivity. Qed.
Print Assumptions every_graph_of_the_engine_is_a_run.
"""


def check(case, text, translations, folder):
    """Lets Coq check the traces; returns how many changed traces of each kind it refused."""
    name = f"replayed_{case.title.replace('/', '_')}"
    (folder / f"{name}.v").write_text(text)
    done = subprocess.run(["coqc", "-q", f"{name}.v"], cwd=folder, capture_output=True, text=True, check=False)
    refused = re.search(r"= \[(.*?)\]\s*: list \(nat \* nat\)", done.stdout, re.S)
    for graph, fitted in re.findall(r"\((\d+), (\d+)\)", refused[1] if refused else ""):
        events = translations[int(graph) - 1].events
        at = int(fitted)
        why = f"at event {at + 1}: {events[at]}" if at < len(events) else "because of what it ends with"
        print(f"  {case.title}: graph {graph} is refused {why}", file=sys.stderr)
    if done.returncode != 0:
        fail(f"Coq does not accept {folder}/{name}.v:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    if "Closed under the global context" not in done.stdout:
        fail(f"the replay of {case.title} rests on something that was not proved:\n{done.stdout}")
    counts = re.search(r"= \[([\d;\s]*)\]\s*: list nat", done.stdout)
    return [int(n) for n in counts[1].split(";")]


def options_of(about, stem):
    """A parser of what the replays of all proofs take."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="where prove.py has compiled the proof")
    parser.add_argument("--worker", type=pathlib.Path, required=True, help="runq_worker of the verify build")
    parser.add_argument("--cases", type=pathlib.Path, required=True, help=f"cases_{stem}.so of the verify build")
    return parser


def replay(cases, proof, translation, coq_of, options, changes=CHANGES):
    """Replays all graphs of these cases: each becomes `translation(case, trace)`, and all of a case become `coq_of(case, …)`.
    `changes`: of which kinds the changed traces are."""
    if not (options.build / f"{proof}.vo").exists():
        fail(f"{options.build} has no compiled proof; prove.py makes it")
    began, graphs, refused = time.monotonic(), 0, [0] * len(changes)

    def replayed(case):
        started = time.monotonic()
        translations = [translation(case, trace) for trace in graphs_of(case, options.worker, options.cases)]
        return case, check(case, coq_of(case, translations), translations, options.build), time.monotonic() - started

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for case, counts, seconds in pool.map(replayed, cases):
            graphs += case.graphs
            refused = [a + b for a, b in zip(refused, counts)]
            print(f"  {case.title}: {case.graphs} of {case.graphs} graphs are runs, {seconds:.1f} s", flush=True)
    if 0 in refused:
        fail(f"a kind of change was never tried: {refused}")
    print("replay: refused: " + ", ".join(f"{n} {what}" for n, what in zip(refused, changes)))
    print(f"replay: {graphs} execution graphs of {len(cases)} cases are runs of the machine, in {time.monotonic() - began:.0f} s")


def main():
    parser = options_of(__doc__, "ring")
    parser.add_argument("--all", action="store_true", help="all cases that can be replayed, which takes several minutes")
    options = parser.parse_args()
    if len(SCRIPT.findall(SCRIPTS)) != SCRIPTS.count("add_case<"):
        fail("owner_vs_thieves.cpp has cases that this script cannot read")
    names = [found[4] for found in SCRIPT.finditer(SCRIPTS) if can_be_replayed(found)] if options.all else CASES
    replay([Case(name) for name in names], "replay", Translation, write_coq, options)


if __name__ == "__main__":
    main()
