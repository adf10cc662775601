#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Replays executions of the exact engine in the machine of the deque, as replay.py does for the ring (deque_replay.v).

The operations of a thread are read from its accesses, and the tasks that it ran from the oracle's plain reads of the
tasks' contents. Construction and finish() belong to no thread of the machine: thread 0, the owner, makes their
operations, after it has synchronised with all other threads. The trace is put in an order in which the machine can follow
it: program order, reads-from, and an order of the fences that fits what the threads read.
"""
import pathlib
import re

from failing import fail
from replay import options_of, pinned_graphs, replay

HERE = pathlib.Path(__file__).resolve().parent
# The threads of each case, and whether its deque is bounded. Together they call every operation that is proved, grow, find no
# room, and race for the last element with one thief and with two.
CASES = {
    "grow_vs_steal": (2, False),
    "grow_vs_two_steals": (2, False),
    "last_one": (2, False),
    "last_one_of_three": (3, False),
    "slot_reuse": (2, False),
    "pop_on_empty": (2, False),
    "never_empty": (2, False),
    "batch_vs_steal": (2, False),
    "bounded_vs_steal": (2, True),
    "bounded_batch_vs_steal": (2, True),
}
FIRST_CAPACITY = 2
CHANGED = 25  # of how many graphs of a case every change is tried
MAIN = -1  # the thread that constructs the scenario, and finishes it
SITES = {
    "top_": "Top",
    "bottom_": "Bottom",
    "array_": "Array",
}


class Case:
    def __init__(self, name):
        self.title = f"chase_lev/{name}"
        self.threads, self.bounded = CASES[name]
        self.graphs = pinned_graphs(self.title)


class Access:
    """One access, fence or allocation of the engine's trace, with its site's name."""

    def __init__(self, number, step, site):
        self.number, self.site, self.kind = number, site, step["kind"]
        self.order, self.location, self.memory = step["order"], step["location"], step.get("memory")
        self.source, self.at = step.get("reads_from"), step.get("mo")
        self.value, self.written = step["value"], int(step["written_text"]) if step["kind"] == "cas ok" else None
        self.variable = step.get("variable", "").split("(")[0]
        self.task = int(step["value_text"].removeprefix("task ")) if step["value_text"].startswith("task ") else 0


class Event:
    """One event of the machine's trace. An access has a location, the access that it reads from with the timestamp of that
    message, and the timestamp of its own."""

    def __init__(self, text, access=None, where=None, source=None, stamp=None):
        self.text, self.access, self.where, self.source, self.stamp = text, access, where, source, stamp
        self.reads = access.source if access else None

    def is_fence(self):
        return self.access is not None and self.access.kind == "fence"


class Translation:
    """The translation of one graph into a trace of the machine."""

    def __init__(self, case, trace):
        self.case, self.trace = case, trace
        self.arrays = {}  # the engine's pointer -> the machine's number
        self.of_memory = {}  # an allocation -> the machine's number of the array in it
        self.slots = {}  # the engine's number of a slot -> the machine's slot
        self.accesses = {thread: [] for thread in [MAIN, *range(case.threads)]}
        self.ran = {thread: [] for thread in [MAIN, *range(case.threads)]}
        self.begins_finish = 0  # how many accesses of MAIN come before the threads
        self.stamp = {}  # an access that writes -> its timestamp
        pushed = set()
        started = False
        for number, step in enumerate(trace):
            thread, kind = step["thread"], step["kind"]
            variable = step.get("variable", "").split("(")[0]
            site = re.search(r"\[chase_lev\.([a-z_.]+)\]", step["site"])
            started = started or thread != MAIN
            if step.get("constructs"):
                if variable == "array_" and step["value"] != 0:
                    self.arrays[step["value"]] = 1
                if kind == "store":
                    self.stamp[number] = 0
            elif variable == "contents" and kind == "read":
                self.ran[thread].append(step["value"] // 10)
            elif kind == "allocate":
                self.of_memory[step["location"]] = len(self.of_memory) + 1
                if thread != MAIN or self.accesses[MAIN]:  # not by the constructor
                    self.accesses[thread].append(Access(number, step, "allocate"))
            elif site and site[1] not in ("destroy", "capacity") and (
                kind == "fence" or variable in ("top_", "bottom_", "array_", "slot") and kind in ("load", "store", "cas ok", "cas failed")
            ):
                access = Access(number, step, site[1])
                self.accesses[thread].append(access)
                if not started:
                    self.begins_finish = len(self.accesses[MAIN])
                if access.at is not None:
                    self.stamp[number] = access.at
                if access.site == "grow.publish":
                    self.arrays[access.value] = len(self.of_memory)  # the newest allocation
                if access.site in ("push.slot", "push_batch.slot"):
                    pushed.add(access.task)
        self.ran = {thread: [task for task in ran if task in pushed] for thread, ran in self.ran.items()}
        before = self.events_of(self.accesses[MAIN][: self.begins_finish])
        after = self.events_of(self.accesses[MAIN][self.begins_finish :])
        threads = {thread: self.events_of(self.accesses[thread]) for thread in range(case.threads)}
        meets = [Event(f"Meets {other}") for other in range(1, case.threads)]
        self.order = Order(self, case.threads)
        self.events = [f"(0, {e.text})" for e in before]
        self.order.run_alone(0, before)
        for thread in range(1, case.threads):
            self.events.append(f"({thread}, Meets 0)")
            self.order.meet(thread, 0)
        self.events += [f"({thread}, {e.text})" for thread, e in self.order.interleave(threads)]
        self.events += [f"(0, {e.text})" for e in meets + after]
        self.results = [self.ran[thread] for thread in range(case.threads)]
        if any("PopBottom" in event.text or "StealTop" in event.text for event in before):
            fail(f"{case.title}: the constructor takes elements")
        self.results[0] = self.results[0] + self.ran[MAIN]

    # ---- One thread's operations ----

    def slot(self, access, array, index):
        """The machine's name of a slot: of an array, at the engine's index; the machine counts from 1."""
        capacity = FIRST_CAPACITY << (array - 1)
        slot = (array, (index + 1) % capacity)
        if self.of_memory[access.memory] != array or self.slots.setdefault(access.location, slot) != slot \
                or list(self.slots.values()).count(slot) != 1:
            fail(f"{self.case.title}: [chase_lev.{access.site}] is not at slot {slot}")
        return f"(Slot {slot[0]} {slot[1]})"

    def value(self, access):
        """The machine's value of what the engine read or wrote."""
        if access.variable in ("top_", "bottom_"):
            return access.value + 1
        if access.variable == "array_":
            return self.arrays[access.value] if access.value else 0
        return access.task

    def events_of(self, accesses):
        """The events of one thread: its operations, with all that they do."""
        events, at = [], 0
        while at < len(accesses):
            begin = accesses[at].site
            end = at + 1
            while end < len(accesses) and accesses[end].site not in BEGINS:
                end += 1
            events += self.operation(begin, accesses[at:end])
            at = end
        return events

    def operation(self, begin, accesses):
        if begin not in BEGINS:
            fail(f"{self.case.title}: an operation begins at [chase_lev.{begin}]")
        stored = [a.task for a in accesses if a.site in ("push.slot", "push_batch.slot")]
        if begin == "push.bottom":
            values = stored or [0]
        else:
            # Of a batch that did not fit, the next element: its value is not written anywhere.
            tried = sum(a.site == "push_batch.array" for a in accesses)
            values = stored + [0] * (tried - len(stored))
        text = BEGINS[begin].replace("VALUES", "[" + "; ".join(map(str, values)) + "]")
        events = [Event(f"Calls {text}")]
        bottom = top = array = None
        written = copied = 0
        for number, a in enumerate(accesses):
            kind = a.site.split(".")[-1]
            if a.kind == "fence":
                events.append(Event(f"Fences {a.site.replace('.', '_')} {a.order}", a))
                continue
            if a.kind == "allocate":
                events.append(Event("Allocates"))
                continue
            value = self.value(a)
            if kind == "bottom":
                bottom = a.value - (begin == "pop.bottom")
            elif kind == "top":
                top, copied = a.value, 0
            elif kind == "array":
                array = value
            if a.variable == "slot":
                if kind == "slot":
                    index = top if begin == "steal.top" else bottom if begin == "pop.bottom" else bottom + written
                    where = self.slot(a, array, index)
                    written += 1
                else:
                    where = self.slot(a, array + (kind == "new"), top + copied)
                    copied += kind == "new"
            else:
                where = SITES[a.variable]
            if a.site == "grow.publish":
                array = value
            stamp = self.stamp.get(a.number)
            source = self.stamp[a.source] if a.source is not None else 0
            line = f"{a.site.replace('.', '_')} {a.order} {where} {value}"
            text = {
                "load": f"Loads {line} {source}",
                "store": f"Stores {line} {stamp}",
                "cas ok": f"Wins {line} {(a.written or 0) + 1} {source}",
                "cas failed": f"Fails {line} {source}",
            }[a.kind]
            events.append(Event(text, a, where, source, stamp))
            if a.site == "push.top":
                following = accesses[number + 1].site if number + 1 < len(accesses) else None
                if following not in ("allocate", "push.slot", "push_batch.slot"):
                    events.append(Event("Refuses"))
        return events

    def as_coq(self):
        results = "; ".join("[" + "; ".join(map(str, ran)) + "]" for ran in self.results)
        return "([" + ";\n    ".join(self.events) + f"],\n   [{results}])"


BEGINS = {
    "push.bottom": "(PushBottom Push VALUES)",
    "push_batch.bottom": "(PushBottom PushBatch VALUES)",
    "pop.bottom": "PopBottom",
    "steal.top": "StealTop",
    "has_work.top": "AskTop",
}


class Order:
    """An order in which the machine can follow the threads: only when a fence is made matters. An access can be made as soon
    as what it reads has been written; another fence comes next only when no access can."""

    def __init__(self, translation, threads):
        self.title = translation.case.title
        self.views = [{} for _ in range(threads)]
        self.shared = {}
        self.carried = {}  # an access that writes -> the view that its message carries
        self.done = {None}
        self.done |= {number for number, stamp in translation.stamp.items() if stamp == 0}

    def meet(self, thread, other):
        self.views[thread] = join(self.views[thread], self.views[other])

    def run_alone(self, thread, events):
        for event in events:
            if not self.make(thread, event):
                fail(f"{self.title}: no order for {event.text}")

    def make(self, thread, event):
        """Makes one event; false if the machine cannot."""
        a = event.access
        if a is None:
            return True
        view = self.views[thread]
        if event.is_fence():
            self.shared = self.views[thread] = join(view, self.shared)
            return True
        if a.kind != "store":
            if event.reads not in self.done or view.get(event.where, 0) > event.source:
                return False
            view = join(view, {event.where: event.source})
            if a.order in ("acquire", "acq_rel", "seq_cst") and a.kind != "cas failed":
                view = join(view, self.carried.get(event.reads, {}))
        if a.kind in ("store", "cas ok"):
            view = join(view, {event.where: event.stamp})
            out = view if a.order in ("release", "acq_rel", "seq_cst") else {event.where: event.stamp}
            self.carried[a.number] = join(out, self.carried.get(event.reads, {}) if a.kind == "cas ok" else {})
            self.done.add(a.number)
        self.views[thread] = view
        return True

    def saved(self):
        return [dict(view) for view in self.views], dict(self.shared), dict(self.carried), set(self.done)

    def restore(self, saved):
        self.views, self.shared, self.carried, self.done = saved

    def interleave(self, threads):
        found = self.search({thread: 0 for thread in threads}, threads)
        if found is None:
            fail(f"{self.title}: the fences of a graph have no order in which the machine can follow it")
        return found

    def search(self, at, threads):
        """The rest of the trace from here, or None."""
        at, made, goes_on = dict(at), [], True
        while goes_on:
            goes_on = False
            for thread, events in threads.items():
                while at[thread] < len(events):
                    event = events[at[thread]]
                    if event.is_fence() or not self.make(thread, event):
                        break
                    made.append((thread, event))
                    at[thread] += 1
                    goes_on = True
        fences = [t for t, events in threads.items() if at[t] < len(events) and events[at[t]].is_fence()]
        if all(at[thread] == len(events) for thread, events in threads.items()):
            return made
        for thread in fences:
            before = self.saved()
            self.make(thread, threads[thread][at[thread]])
            rest = self.search({**at, thread: at[thread] + 1}, threads)
            if rest is not None:
                return [*made, (thread, threads[thread][at[thread]]), *rest]
            self.restore(before)
        return None


def join(a, b):
    return {location: max(a.get(location, 0), b.get(location, 0)) for location in a.keys() | b.keys()}


def write_coq(case, translations):
    graphs = ";\n  ".join(t.as_coq() for t in translations)
    program = f"{FIRST_CAPACITY} {int(case.bounded)} {case.threads}"
    return f"""(* Written by deque_replay.py: all execution graphs of {case.title}. *)
Require Import List Arith Bool.
Require Import memory deque deque_replay.
Import ListNotations.
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
    asked = options_of(__doc__, "chase_lev").parse_args()
    replay([Case(name) for name in CASES], "deque_replay", Translation, write_coq, asked)
