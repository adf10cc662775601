#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Replays executions of the exact engine in the machine of park, as replay.py does for the ring (park_replay.v).

The calls of a thread are read from its accesses. A machine of the scenario is the thread that runs it; machines that no
thread runs, and the thread that constructs the scenario, have numbers behind those. The trace is put in an order in which
the machine can follow it: program order, reads-from, who has the lock after whom, and an order of the fences that fits
what the threads read.

In the trace are not: how a machine looks for work before its last look, the processors' limit, [monitor.wake.fence], and how
the models tell their threads something. To leave them out allows the machine more, and forbids it nothing. Three things are
added. A task that the construction puts into a queue without asking is one about which it asks: a machine spins then. The
construction looks at places that no thread uses, too; the engine does not show that. And in the models whose light fence is
nothing, and whose heavy one interrupts, the fences of the machine are where those would be.
"""
import pathlib
import re

import deque_replay
from deque_replay import join
from failing import fail
from replay import CHANGES, options_of, pinned_graphs, replay

HERE = pathlib.Path(__file__).resolve().parent
# Each case: which thread runs machine 0, 1, ... (None: no thread does); how many other threads, processors and tasks there are; and what
# the construction does after it has asked for the first time, by which machine.
SETTLE_0 = "found 0, ask"
CASES = {
    "submit_vs_last_spinner": ([1], 1, 1, 1, ""),
    "woken_while_looking": ([1, None], 1, 2, 1, f"{SETTLE_0}, idle 1, spin 0"),
    "two_submitters": ([2, 3], 2, 2, 2, f"{SETTLE_0}, idle 0, idle 1"),
    "one_waker": ([None, None], 2, 2, 2, f"{SETTLE_0}, idle 0, idle 1"),
    "finder_wakes_another": ([1, 0], 0, 2, 2, f"{SETTLE_0}, idle 0, put, put"),
    "put_back_vs_last_spinner": ([0, 1], 0, 2, 1, f"{SETTLE_0}, put"),
    "event_vs_submit": ([0, 1], 1, 2, 2, f"{SETTLE_0}, idle 0, idle 1"),
    "gives_up_to_request": ([None, 0], 2, 2, 2, SETTLE_0),
    "gives_up_to_woken": ([None, None, None], 3, 3, 3, f"{SETTLE_0}, found 1, ask, idle 0, idle 1, idle 2"),
    "interrupt_last_spinner": ([1], 1, 1, 1, ""),
}
CHANGED = 25  # of how many graphs of a case every change is tried
OF_PARK = [*CHANGES[:3], "with a last look that does not find the task", CHANGES[4]]
MAIN = -1  # the thread that constructs the scenario
LOCATIONS = {"spinning_": "Spinning", "need_spinning_": "Need"}
BEGINS_WITH = {
    "ask": "Calls Ask", "found": "Calls HasFound", "idle": "Calls GoIdle", "spin": "Calls MaySpin", "put": "Publishes",
}
NOT_REPLAYED = ("doze.", "handoff.", "resize.", "stop.", "not_started", "returning.")
SITE = re.compile(r"\[park\.([a-z_.]+)\]")


def as_option(number):
    return "None" if number is None else f"(Some {number})"


def takes_lock(step):
    return step["kind"] == "lock" or step["name"] == "taken_" and step["kind"] == "rmw" and step["value"] == 0


def releases_lock(step):
    return step["kind"] == "unlock" or step["name"] == "taken_" and step["kind"] == "store" and not step.get("constructs")


class Case:
    def __init__(self, name):
        self.title = f"park/{name}"
        runs, outside, self.processors, tasks, script = CASES[name]
        self.places = self.processors + 1  # of the processors, then of the global queue
        # Where the construction makes the first processor's place, the second's, and so on; and behind them the machines.
        self.first_place = 28 + 3 * tasks
        self.first_machine = self.first_place + 7 * self.processors - 6
        self.engine_threads = outside + sum(thread is not None for thread in runs)
        spare = iter(range(self.engine_threads, self.engine_threads + len(runs)))
        self.machines = [next(spare) if thread is None else thread for thread in runs]  # by number, the machine's thread
        self.main = next(spare, self.engine_threads + len(runs))
        self.threads = self.main + 1
        self.script = ["ask", *[call for call in script.split(", ") if call]]
        self.graphs = pinned_graphs(self.title)


class Event:
    """One event of the machine's trace: what it does to the memory (`kind`), where, which message it reads, and which it writes.
    `number`: of the engine's step, if there is one; `reads`: that of the step from which it reads, or after which it comes."""

    def __init__(self, text, kind="local", step=None, where=None, reads=None, source=None, stamp=None):
        self.text, self.kind, self.where, self.reads, self.source, self.stamp = text, kind, where, reads, source, stamp
        self.number = step["number"] if step else None
        self.order = step["order"] if step else None

    def is_fence(self):
        return self.kind in ("light", "heavy")


class Translation:
    """The translation of one graph into a trace of the machine."""

    def __init__(self, case, trace):
        self.case = case
        self.stamp = {}  # a step that writes -> its timestamp
        self.made = {}  # a location -> where the construction makes it
        self.places = {}  # a place of the engine -> the machine's
        steps = {MAIN: [], **{thread: [] for thread in range(case.engine_threads)}}
        started = False
        for number, step in enumerate(trace):
            step["number"], step["name"] = number, step.get("variable", "").split("(")[0]
            if step.get("mo") is not None:
                self.stamp[number] = step["mo"]
            site = SITE.search(step["site"])
            step["at"] = site[1] if site else ""
            started = started or step["thread"] != MAIN
            if not step.get("constructs") and not (started and step["thread"] == MAIN):
                steps[step["thread"]].append(step)
        self.number(trace)
        self.idle_after = {}  # the end of each time that the lock is held -> how many processors are idle
        self.note_idle(trace)
        self.woken = {}  # where a machine is counted that is woken -> which
        self.woken_by = {}  # a token -> where its waker has released the lock
        for own in steps.values():
            self.note_wakes(own)
        self.events = []
        self.order = Order(self, case.threads)
        self.construction(steps[MAIN])
        threads = {thread: Calls(self, steps[thread]).events for thread in range(case.engine_threads)}
        self.events += [f"({thread}, {e.text})" for thread, e in self.order.interleave(threads)]
        self.results = self.at_the_end(trace)

    def fail(self, why):
        fail(f"{self.case.title}: {why}")

    # ---- What the engine's numbers mean ----

    def number(self, trace):
        """A location that only the construction uses is not in the trace; where the construction makes the others says what they are."""
        makes = [step for step in trace if step.get("constructs")]
        begin = next(step["position"] for step in makes if step["name"] == "spinning_") - 1
        self.made = {step["location"]: step["position"] - begin for step in makes}
        for step in makes:
            if step["name"] == "at":
                at = self.made[step["location"]]
                place, rest = divmod(at - self.case.first_place, 7) if at else (self.case.processors, 0)
                if rest or not 0 <= place < self.case.places:
                    self.fail("a place is not where it is expected")
                self.places[step["location"]] = place

    def machine_at(self, location, offset):
        """The machine of which something is at this location; None if there is no such machine."""
        machine, rest = divmod(self.made[location] - self.case.first_machine, 8)
        return self.case.machines[machine] if rest == offset and 0 <= machine < len(self.case.machines) else None

    def note_idle(self, trace):
        """How many processors are idle whenever the lock is released."""
        idle = {}  # by thread
        for step in trace:
            thread = step["thread"]
            if takes_lock(step):
                idle[thread] = self.idle_after.get(step["reads_from"])
            elif step["at"] == "idle.count" and step["kind"] == "store" and not step.get("constructs"):
                idle[thread] = step["value"]
            elif releases_lock(step):
                self.idle_after[step["number"]] = idle[thread]

    def at_the_end(self, trace):
        writes = [step for step in trace if step["number"] in self.stamp]
        newest = {step["location"]: step for step in sorted(writes, key=lambda step: step["mo"])}
        counts = next(step for step in newest.values() if step["name"] == "spinning_")
        idle = next((step["value"] for step in newest.values() if step["at"] == "idle.count"), None)
        places = ["(0, 0)"] * self.case.places
        for location, place in self.places.items():
            step = newest[location]
            places[place] = f"({step['mo']}, {int(step['kind'] == 'store' and step['value'] != 0)})"
        return f"(Results {counts['written']} {as_option(idle)} [{'; '.join(places)}])"

    def note_wakes(self, steps):
        """A waker sets the flag of the machine that it has counted, and after it has released the lock it stores the token. In the
        construction it starts a machine."""
        starts = iter(self.case.machines)
        for k, step in enumerate(steps):
            if step["at"] != "one.spin" or step["kind"] != "rmw":
                continue
            if step["thread"] == MAIN:
                self.woken[step["number"]] = next(starts)
                continue
            rest = steps[k:]
            released = next(k for k, step in enumerate(rest) if releases_lock(step))
            flags = [self.machine_at(s["location"], 7) for s in rest[:released] if s["kind"] == "write" and s["location"] in self.made]
            token = next((s for s in rest[released:] if s["name"] == "token_" and s["kind"] == "store"), None)
            machines = {machine for machine in flags if machine is not None}
            if token is not None:
                self.woken_by[token["number"]] = rest[released]["number"]
                machines.add(self.machine_at(token["location"], 0))
            if len(machines) != 1:
                self.fail(f"it is not clear which machine is woken: {machines}")
            (self.woken[step["number"]],) = machines

    # ---- The construction ----

    def construction(self, steps):
        """Who does what stands in the script. The threads begin with what the last one had seen."""
        resized = next(k for k, step in enumerate(steps) if releases_lock(step))
        self.order.done.add(steps[resized]["number"])
        events, calls = Calls(self, steps[resized + 1 :]).events, []
        for event in events:
            if event.text.startswith(("Calls", "Publishes")):
                calls.append([])
            calls[-1].append(event)
        last = self.case.main
        for call, what in zip(calls, self.case.script, strict=True):
            does, *machine = what.split()
            actor = self.case.machines[int(machine[0])] if machine else self.case.main
            if BEGINS_WITH[does] not in call[0].text:
                self.fail(f"the construction does {call[0].text} at '{what}'")
            self.alone(actor, call)
            last = actor
            for event in call:
                if event.text.startswith("Wakes_up"):
                    last = int(event.text.split()[1])  # a new machine
                    self.alone(last, [Event("Calls Wake")])
        for thread in range(self.case.main):
            if thread != last:
                self.events.append(f"({thread}, Meets {last})")
                self.order.meet(thread, last)

    def alone(self, thread, events):
        self.order.run_alone(thread, events)
        self.events += [f"({thread}, {event.text})" for event in events]

    def access(self, step, text):
        """An access to memory; `text` may name the message that it reads as {source}, and the one that it writes as {stamp}."""
        where = LOCATIONS.get(step["name"]) or self.places[step["location"]]
        source = self.stamp.get(step.get("reads_from"), 0)
        stamp = self.stamp.get(step["number"])
        return Event(text.format(source=source, stamp=stamp), step["kind"], step, where, step.get("reads_from"), source, stamp)

    def as_coq(self):
        return "([" + ";\n    ".join(self.events) + f"],\n   {self.results})"


class Calls:
    """The calls of one thread, read from its steps. `phase`: where it is in a call; `looked`: at how many places."""

    def __init__(self, translation, steps):
        self.translation, self.places = translation, translation.case.places
        self.constructs = bool(steps) and steps[0]["thread"] == MAIN
        self.events, self.phase, self.looked = [], "between", 0
        self.newest_count = self.newest_request = None
        for step in steps:
            if step["kind"] not in ("read", "write"):
                self.take(step)
        self.end_of_look()

    def take(self, step):
        at, name = step["at"], step["name"]
        if name not in ("at", "limit_"):
            self.end_of_look()
        if name == "at":
            {"store": self.publish, "rmw": self.take_task, "load": self.look}[step["kind"]](step)
        elif name == "token_":
            self.wake(step)
        elif takes_lock(step):
            self.lock(step)
        elif releases_lock(step):
            idle = as_option(self.translation.idle_after[step["number"]])
            self.add("between", Event(f"Unlocks {idle}", "unlock", step))
        elif at == "submit.fence":
            self.begin_to_ask(step)
        elif at in ("submit.spinning", "submit.need"):
            self.ask(step)
        elif at == "machine_idle.fence":
            self.begin_to_look(step)
        elif at in ("one.again", "need.heed", "need.set", "need.set_late", "need.clear"):
            self.add(self.phase, self.line(step))
            self.request(step)
        elif at in ("one.spin", "spin", "found", "machine_idle.spinning"):
            self.count(step)
        elif at.startswith(NOT_REPLAYED) and step["kind"] != "load":
            self.translation.fail(f"[park.{at}] is not replayed")

    def add(self, phase, *events):
        self.events += events
        self.phase = phase

    def access(self, step, text):
        return self.translation.access(step, text)

    def line(self, step):
        what, stamp = ("Stores", "{stamp}") if step["kind"] == "store" else ("Loads", "{source}")
        line = f"{step['at'].replace('.', '_')} {step['order']} {LOCATIONS[step['name']]} {step['value']}"
        return self.access(step, f"{what} {line} {stamp}")

    # ---- Queues ----

    def publish(self, step):
        place = self.translation.places[step["location"]]
        self.add("submits", self.access(step, f"Publishes {step['order']} {place} 1 {{stamp}}"))
        if self.constructs:  # it does not ask: a machine spins, which the newest access to the count has counted
            count, request = self.newest_count, self.newest_request
            asks = Event(f"Loads submit_need relaxed Need 0 {request['mo'] if request else 0}", "load", None, "Need",
                         request and request["number"], request["mo"] if request else 0)
            text = f"Loads submit_spinning relaxed Spinning {count['written']} {count['mo']}"
            load = Event(text, "load", None, "Spinning", count["number"], count["mo"])
            self.add("between", Event("Fences submit_fence seq_cst", "light"), asks, load)

    def take_task(self, step):
        place, value = self.translation.places[step["location"]], int(step["value"] != 0)
        self.add(self.phase, self.access(step, f"Takes {step['order']} {place} {value} {{source}}"))

    def look(self, step):
        """Only the last look is replayed, and not how a machine looks for work before it."""
        if self.phase == "lowered":
            self.begin_to_look(None)
        if self.phase != "looks":
            return
        place, value = self.translation.places[step["location"]], int(step["value"] != 0)
        if self.constructs:
            self.pass_over(place)
        self.add("has found" if value else "looks", self.access(step, f"Looks {place} {value} {{source}}"))
        self.looked += 1
        if self.looked == self.places and not value:
            self.add("between", Event("Sleeps"))

    def begin_to_look(self, fence):
        """`fence`: the heavy fence; None if it is made of an interrupt."""
        order = fence["order"] if fence else "seq_cst"
        self.add("looks", Event(f"Fences machine_idle_fence {order}", "heavy", fence))
        self.looked = 0

    def pass_over(self, place):
        """The construction looks at places that are not in the trace, because no thread uses them."""
        for other in range(self.looked, place):
            self.add("looks", Event(f"Looks {other} 0 0"))
        self.looked = place

    def end_of_look(self):
        if self.constructs and self.phase == "looks":
            self.pass_over(self.places)
            self.add("between", Event("Sleeps"))

    # ---- The lock, the token, and the count ----

    def lock(self, step):
        if self.phase not in ("waits", "has found"):
            self.add(self.phase, Event("Calls GoIdle"))
        self.add("holds the lock", Event("Locks", "lock", step, reads=step["reads_from"]))

    def wake(self, step):
        if step["kind"] == "rmw" and step["value"] == 1:
            waker = self.translation.woken_by[step["reads_from"]]
            self.add("between", Event("Calls Wake", "wake", step, reads=waker))

    def count(self, step):
        self.newest_count = step
        at, values = step["at"], f"{step['order']} {step['value']} {step['written']} {{source}}"
        if at == "one.spin":
            self.add(self.phase, self.access(step, f"Wakes_up {self.translation.woken[step['number']]} {values}"))
            return
        call = {"spin": "MaySpin", "found": "HasFound"}.get(at)
        if call and self.phase != "holds the lock":
            self.add(self.phase, Event(f"Calls {call}"))
        phase = {"found": "submits", "machine_idle.spinning": "lowered"}.get(at, self.phase)
        self.add(phase, self.access(step, f"Counts {at.replace('.', '_')} {values}"))

    def request(self, step):
        """A machine that has counted itself under the lock and then withdraws the request answers it."""
        if step["kind"] == "store":
            self.newest_request = step
        before = self.events[-2] if len(self.events) > 1 else None
        if step["at"] == "need.clear" and before is not None and before.text.startswith("Counts spin "):
            before.text = before.text.replace("Counts", "Answers", 1)

    # ---- submitted() ----

    def begin_to_ask(self, fence):
        """`fence`: the light fence; None if it is nothing."""
        if self.phase == "between":
            self.add(self.phase, Event("Calls Ask"))
        order = fence["order"] if fence else "seq_cst"
        self.add("asks", Event(f"Fences submit_fence {order}", "light", fence))

    def ask(self, step):
        if self.phase in ("between", "submits"):
            self.begin_to_ask(None)
        if step["at"] == "submit.need" and self.phase == "waits":
            self.add("asks", Event("Waits"))
        no = "asks" if step["at"] == "submit.need" else "waits"
        self.add("between" if step["value"] else no, self.line(step))


class Order(deque_replay.Order):
    """An order in which the machine can follow the threads, as for the deque; with light and heavy fences, and a lock."""

    def __init__(self, translation, threads):
        super().__init__(translation, threads)
        self.heavy, self.all, self.lock = {}, {}, {}

    def saved(self):
        return super().saved(), dict(self.heavy), dict(self.all), dict(self.lock)

    def restore(self, saved):
        of_the_memory, self.heavy, self.all, self.lock = saved
        super().restore(of_the_memory)

    def make(self, thread, event):
        view = self.views[thread]
        if event.reads is not None and event.reads not in self.done:
            return False
        if event.kind == "light":
            view = join(view, self.heavy)
            self.all = join(self.all, view)
        elif event.kind == "heavy":
            view = self.heavy = self.all = join(view, self.all)
        elif event.kind == "lock":
            view = join(view, self.lock)
        elif event.kind == "unlock":
            self.lock = self.carried[event.number] = view
        elif event.kind == "wake":
            view = join(view, self.carried[event.reads]) if event.reads is not None else view
        elif event.kind != "local":
            view = self.access(view, event)
            if view is None:
                return False
        self.views[thread] = view
        self.done.add(event.number)
        return True

    def access(self, view, event):
        """The view after an access to memory; None if it cannot be made with this view."""
        where, carried = event.where, {}
        if event.kind in ("load", "rmw"):
            if view.get(where, 0) > event.source:
                return None
            view, carried = join(view, {where: event.source}), self.carried.get(event.reads, {})
            if event.order in ("acquire", "acq_rel"):
                view = join(view, carried)
        if event.kind in ("store", "rmw"):
            if view.get(where, 0) >= event.stamp:
                return None
            view = join(view, {where: event.stamp})
            out = view if event.order in ("release", "acq_rel") else {where: event.stamp}
            self.carried[event.number] = join(out, carried if event.kind == "rmw" else {})
        return view


def write_coq(case, translations):
    graphs = ";\n  ".join(t.as_coq() for t in translations)
    homes = "; ".join("Asleep" if thread in case.machines else "Outside" for thread in range(case.threads))
    program = f"{case.places} {case.processors} {case.threads} first"
    return f"""(* Written by park_replay.py: all execution graphs of {case.title}. *)
Require Import List Arith Bool.
Require Import memory park park_replay.
Import ListNotations.
Definition first (i : nat) : home := nth i [{homes}] Outside.
Definition graphs : list (trace * results) :=
 [{graphs}].
Eval vm_compute in (refusals {program} 1 graphs).
Theorem every_graph_of_the_engine_is_a_run : length graphs = {case.graphs} /\\ Forall (is_a_run {program}) graphs.
Proof. split; [vm_compute; reflexivity |]. apply accepted_graphs_are_runs. vm_compute; reflexivity. Qed.
Definition changed := all_changes (firstn {CHANGED} graphs).
Eval vm_compute in (map (@length _) changed).
Theorem every_change_is_refused : forallb (forallb (refused {program})) changed = true.
Proof. vm_compute; reflexivity. Qed.
Print Assumptions every_graph_of_the_engine_is_a_run.
"""


if __name__ == "__main__":
    parser = options_of(__doc__, "park")
    parser.add_argument("--quick", action="store_true", help="only the cases with fewer than a hundred graphs")
    asked = parser.parse_args()
    cases = [case for case in map(Case, CASES) if not asked.quick or case.graphs < 100]
    replay(cases, "park_replay", Translation, write_coq, asked, OF_PARK)
