#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of validate.py: executions by hand, each of its checks with one that it passes and a wrong twin that it refuses.

A step is written as in

    T1 load x=1 acquire from 2      thread 1 reads 1 from step 2; thread C is the construction, F finish()
    T0 cas ok x=0>1 from 1          a read-modify-write of 0 to 1; `cas failed`, `rmw` and `lock` are written so, too
    T0 fence seq_cst
    T0 arrive b=3 as 2 leaving 1    at a barrier for 3, as two threads, of which one comes to no later round
    T0 depart b round 1             from its second round
    T0 write p in m                 a plain write, in the memory m; `allocate m` and `free m` begin and end it

with relaxed order if none is given. `mo 3` gives a write its place in modification order, `at 3` a step its place in its thread;
`constructs` begins a location; `unknown`: the value is not known.
"""
import json
import re
import subprocess
import sys
import tempfile
import unittest

import validate

KINDS = ["cas ok", "cas failed", "load", "store", "rmw", "fence", "read", "write", "lock", "unlock", "allocate", "free", "spawn",
         "join", "arrive", "depart"]
ORDERS = ["relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"]


def step(text, numbers):
    def number_of(name):
        return numbers.setdefault(name, len(numbers) + 1)

    thread, rest = text.split(" ", 1)
    kind = next(k for k in KINDS if rest == k or rest.startswith(k + " "))
    fields = {"kind": kind, "thread": -1 if thread in "CF" else int(thread[1:]), "order": "relaxed", "value": 0, "written": 0}
    words = rest[len(kind):].split()
    while words:
        word = words.pop(0)
        if word in ORDERS:
            fields["order"] = word
        elif word == "from":
            fields["reads_from"] = int(words.pop(0)) - 1
        elif word == "mo":
            fields["mo"] = int(words.pop(0))
        elif word == "in":
            fields["memory"] = number_of(words.pop(0))
        elif word == "at":
            fields["position"] = int(words.pop(0))
        elif word in ("as", "leaving", "round"):
            fields["arrivals" if word == "as" else word] = int(words.pop(0))
        elif word == "constructs":
            fields["constructs"] = True
        elif word == "unknown":
            fields["value_text"] = "?"
        elif kind in ("spawn", "join"):
            fields["value"] = int(word[1:])
        else:
            name, _, values = word.partition("=")
            value, _, written = values.partition(">")
            fields.update(location=number_of(name), value=int(value or 0), written=int(written or 0))
    return fields


def execution(what, steps, by=None, **facts):
    """The execution of these steps, which fails in the thread `by`: that of the last step, if it is not given."""
    numbers = {}
    trace = [step(line.strip(), numbers) for line in steps.strip().splitlines()]
    trace.append({"kind": "check", "thread": trace[-1]["thread"] if by is None else by})
    return {"what": what, "knows_sources": True, "trace": trace, **facts}


class Case(unittest.TestCase):
    def passes(self, what, steps, **facts):
        return validate.judge(execution(what, steps, **facts))

    def refuses(self, reason, what, steps, **facts):
        with self.assertRaises(validate.Refused) as refused:
            self.passes(what, steps, **facts)
        self.assertTrue(re.search(reason, str(refused.exception)), f"refused for another reason: {refused.exception}")


PUBLICATION = """
    C store x=0 constructs
    T0 write p
    T0 store x=1 {release}
    T1 load x=1 {acquire} from 3
    T1 read p"""


class Exists(Case):
    def test_a_read_has_the_value_of_its_source(self):
        good = "T0 store x=1\n T1 load x=1 from 1"
        self.passes("check failed", good)
        self.refuses("reads 2 from step 1, which wrote 1", "check failed", good.replace("load x=1", "load x=2"))
        self.refuses("does not write that location", "check failed", good.replace("load x=1", "load y=1"))
        self.refuses("does not write that location", "check failed", "T0 load x=1\n T1 load x=1 from 1")

    def test_reads_of_the_first_value_agree(self):
        self.passes("check failed", "T0 load x=1\n T1 load x=1\n T1 load y=0")
        self.refuses("reads 2 from the first value, which wrote 1", "check failed", "T0 load x=1\n T1 load x=2\n T1 load y=0")

    def test_a_thread_makes_its_steps_in_the_order_of_the_trace(self):
        self.passes("check failed", "T0 store x=1 at 0\n T0 store x=2 at 1")
        self.refuses("comes before step 1 in its thread", "check failed", "T0 store x=1 at 1\n T0 store x=2 at 0")

    def test_a_lock_is_taken_when_it_is_free(self):
        good = "C store m=0 constructs\n T0 lock m=1>1 acquire from 1\n T0 unlock m=0 release\n T1 lock m=1>2 acquire from 3"
        self.passes("check failed", good)
        self.refuses("reads 1 from step 2", "check failed", good.replace("from 3", "from 2"))
        self.passes("check failed", good + "\n T0 lock m=0 from 4")
        self.passes("check failed", "T0 lock m=1>1 acquire\n T1 lock m=0 from 1")
        self.refuses("reads 1 from the first value", "check failed", "T0 lock m=0\n T1 lock m=1>2\n T1 load x=0")
        self.refuses("reads 0 from step 3", "check failed", good + "\n T0 lock m=0 from 3")

    def test_a_thread_is_started_before_its_steps_and_joined_after_them(self):
        self.passes("check failed", "T0 spawn T1\n T1 store x=1\n T0 join T1")
        self.refuses("before step 2 starts it", "check failed", "T1 store x=1\n T0 spawn T1")
        self.refuses("after step 2 has waited for its end", "check failed", "T0 spawn T1\n T0 join T1\n T1 store x=1")

    def test_no_thin_air(self):
        buffering = "T0 load x=1 from 4\n T0 store y=1\n T1 load y=1 from 2\n T1 store x=1"
        self.refuses("no thin air", "check failed", buffering)
        self.passes("check failed", buffering, load_buffering=True)
        self.refuses("happens before itself", "check failed",
                     buffering.replace("x=1 from 4", "x=1 acquire from 4").replace("y=1 from 2", "y=1 acquire from 2")
                     .replace("store y=1", "store y=1 release").replace("store x=1", "store x=1 release"), load_buffering=True)


    def test_a_plain_read_has_the_value_of_the_last_write(self):
        steps = "T0 write p=1\n T0 write p=2\n T0 read p={0}\n T0 load x=0"
        self.passes("check failed", steps.format(2))
        for value in (1, 3):
            self.refuses(f"step 3 reads {value} from step 2, which wrote 2", "check failed", steps.format(value))
        self.passes("check failed", steps.format(3).replace("p=2", "p=2 constructs"))
        self.passes("check failed", steps.format("3 unknown"))
        self.passes("data race", "C write p=1\n T0 write p=2\n T1 read p=2")  # what it reads is not defined

    def test_steps_that_are_not_in_the_trace_are_counted(self):
        steps = "C store x=0 at 7\n T0 rmw x=0>1 from 1 at 0\n T0 store y=1 at 2\n T0 write p at 2\n T1 store y=2 at 0"
        for found, text in ((0, steps), (1, steps.replace("y=1 at 2", "y=1 at 3")), (4, steps.replace("y=2 at 0", "y=2 at 4"))):
            self.assertEqual(validate.Execution(execution("lost", text)).left_out(), found)


class Coherence(Case):
    """Each axiom with the modification order that the execution tells, and, where it tells none, by a search for one."""

    def both(self, reason, steps):
        self.refuses(reason, "check failed", steps)
        self.refuses("no modification order satisfies.*" + reason, "check failed", re.sub(r" mo \d", "", steps))

    def test_write_write(self):
        self.passes("check failed", "T0 store x=1 mo 1\n T0 store x=2 mo 2")
        self.refuses("write-write coherence", "check failed", "T0 store x=1 mo 2\n T0 store x=2 mo 1")

    def test_write_read(self):
        self.passes("check failed", "T0 store x=1 mo 1\n T0 store x=2 mo 2\n T0 load x=2 from 2")
        self.both("write-read coherence", "T0 store x=1 mo 1\n T0 store x=2 mo 2\n T0 load x=1 from 1")

    def test_read_write(self):
        self.passes("check failed", "T0 store x=1 mo 1\n T1 load x=1 from 1\n T1 store x=2 mo 2")
        self.refuses("read-write coherence", "check failed", "T0 store x=1 mo 2\n T1 load x=1 from 1\n T1 store x=2 mo 1")
        self.refuses("read-write coherence", "check failed", "T0 load x=1 from 2\n T0 store x=1 mo 1", load_buffering=True)

    def test_read_read(self):
        steps = "T0 store x=1 mo 1\n T1 store x=2 mo 2\n T2 load x=1 from 1\n T2 load x=2 from 2"
        self.passes("check failed", steps)
        self.refuses("read-read coherence", "check failed", steps.replace("mo 1", "mo 3"))
        self.both("read-read coherence", "T0 store x=1 mo 1\n T1 store x=2 mo 2\n T2 load x=1 from 1\n T2 load x=2 from 2\n"
                                         "T3 load x=2 from 2\n T3 load x=1 from 1")

    def test_atomicity(self):
        steps = "C store x=0 mo 0 constructs\n T0 rmw x=0>1 from 1 mo 1\n T1 rmw x=1>2 from 2 mo 2"
        self.passes("check failed", steps)
        self.refuses("atomicity", "check failed", steps.replace("x=1>2 from 2", "x=0>1 from 1"))
        self.refuses("no modification order", "check failed",
                     re.sub(r" mo \d", "", steps.replace("x=1>2 from 2", "x=0>1 from 1")))
        self.refuses("atomicity", "check failed", steps.replace("T1 rmw x=1>2 from 2 mo 2", "T1 store x=5 mo 1")
                     .replace("T0 rmw x=0>1 from 1 mo 1", "T0 rmw x=0>1 from 1 mo 2"))
        self.refuses("reads what it replaces", "check failed", steps.replace("mo 1", "mo 3"))

    def test_the_construction_is_the_first_write(self):
        self.refuses("not its first write", "check failed", "T0 store x=1 mo 1\n T1 store x=0 constructs mo 2")


class Sequential(Case):
    def steps(self, order, fence=""):
        read = 3 if not fence else 4
        return f"""
            C store x=0 constructs
            C store y=0 constructs
            T0 store x=1 {order}
            {'T0 fence ' + fence if fence else 'T0 load z=0'}
            T0 load y=0 {order} from 2
            T1 store y=1 {order}
            {'T1 fence ' + fence if fence else 'T1 load z=0'}
            T1 load x=0 {order} from 1"""

    def test_seq_cst_operations(self):
        self.passes("check failed", self.steps("acq_rel"))
        self.refuses("psc", "check failed", self.steps("seq_cst"))

    def test_seq_cst_fences(self):
        self.passes("check failed", self.steps("relaxed", "acq_rel"))
        self.refuses("psc", "check failed", self.steps("relaxed", "seq_cst"))

    def test_fences_around_reads_of_independent_writes(self):
        steps = """
            C store x=0 constructs
            C store y=0 constructs
            T0 store x=1
            T1 store y=1
            T2 load x=1 from 3
            T2 fence {0}
            T2 load y=0 from 2
            T3 load y=1 from 4
            T3 fence {0}
            T3 load x=0 from 1"""
        self.passes("check failed", steps.format("acq_rel"))
        self.refuses("psc", "check failed", steps.format("seq_cst"))

    def test_modification_order_counts(self):
        steps = """
            C store x=0 constructs mo 0
            T0 store x=1 seq_cst mo 1
            T0 store y=1 seq_cst mo {0}
            T1 store y=2 seq_cst mo {1}
            T1 load x=0 seq_cst from 1"""
        self.passes("check failed", steps.format(2, 1))
        self.refuses("psc", "check failed", steps.format(1, 2))
        untold = re.sub(r" mo (\d|{\d})", "", steps)
        self.passes("check failed", untold)  # then there is an order: the first of these
        self.refuses("psc", "check failed", untold + "\n T2 load y=1 from 3\n T2 load y=2 from 4")

    def test_accesses_beside_fences(self):
        steps = """
            C store x=0 constructs
            C store y=0 constructs
            T0 store x=1
            T0 fence {0}
            T0 load y=0 from 2
            T1 store y=1 {1}
            T1 load x=0 {1} from 1"""
        self.refuses("psc", "check failed", steps.format("seq_cst", "seq_cst"))
        self.passes("check failed", steps.format("acq_rel", "seq_cst"))
        self.passes("check failed", steps.format("seq_cst", "relaxed"))

    def test_what_happens_before_counts(self):
        through_another_location = """
            C store x=0 constructs
            C store z=0 constructs
            T0 store x=1 seq_cst
            T0 store y=1 {0}
            T1 load y=1 acquire from 4
            T1 load z=0 seq_cst from 2
            T2 store z=1 seq_cst
            T2 load x=0 seq_cst from 1"""
        self.refuses("psc", "check failed", through_another_location.format("release"))
        self.passes("check failed", through_another_location.format("relaxed"))
        at_one_location = """
            C store x=0 constructs
            C store z=0 constructs
            T0 store x=1 seq_cst
            T1 load x=1 {0} from 3
            T1 load z=0 seq_cst from 2
            T2 store z=1 seq_cst
            T2 load x=0 seq_cst from 1"""
        self.refuses("psc", "check failed", at_one_location.format("seq_cst"))
        self.passes("check failed", at_one_location.format("relaxed"))

    def test_fences_before_and_after_writes_of_others(self):
        steps = """
            C store y=0 constructs mo 0
            T0 store y=1 mo 1
            T0 fence seq_cst
            T0 store x=1 mo {0}
            T1 store x=2 mo {1}
            T2 load x=2 from 5
            T2 fence seq_cst
            T2 load y=0 from 1"""
        self.refuses("psc", "check failed", steps.format(1, 2))
        self.passes("check failed", steps.format(2, 1))

    def test_what_only_rc11_allows_says_so(self):
        two_stores = """
            C store x=0 constructs
            C store y=0 constructs
            T1 store x=1 {0}
            T1 store x=2 seq_cst
            T0 load x=2 acquire from 4
            T0 load y=0 seq_cst from 2
            T2 store y=1 seq_cst
            T2 load x=0 seq_cst from 1"""
        fence = """
            C store y=0 constructs
            T0 store y=1
            T0 fence {0}
            T0 store x=1 release
            T1 load x=1 acquire from 4
            T1 store z=1
            T2 load z=1 seq_cst from 6
            T2 load y=0 seq_cst from 1"""
        for steps in (two_stores, fence):
            self.passes("check failed", steps.format("seq_cst"), forbidden_by_cpp20=True)
            self.refuses("does not say so", "check failed", steps.format("seq_cst"))
            self.passes("check failed", steps.format("release"))
            self.refuses("says that it has none", "check failed", steps.format("release"), forbidden_by_cpp20=True)


class Races(Case):
    def test_plain_accesses(self):
        racy = PUBLICATION.format(release="relaxed", acquire="relaxed")
        self.assertEqual(self.passes("data race", racy), "step 2 and step 5 race")
        self.passes("data race", racy, unordered=1)
        self.refuses("no data race of step 3 and step 5", "data race", racy, unordered=2)
        for orders in ({"release": "release", "acquire": "relaxed"}, {"release": "relaxed", "acquire": "acquire"}):
            self.passes("data race", PUBLICATION.format(**orders))
        ordered = PUBLICATION.format(release="release", acquire="acquire")
        self.refuses("no data race", "data race", ordered)
        self.refuses("no data race of step 2 and step 5", "data race", ordered, unordered=1)
        for release, acquire in (("seq_cst", "seq_cst"), ("acq_rel", "acq_rel"), ("release", "consume")):
            self.refuses("no data race", "data race", PUBLICATION.format(release=release, acquire=acquire))

    def test_two_reads_or_two_atomic_accesses_are_no_race(self):
        self.passes("data race", "T0 write p\n T1 read p")
        self.refuses("no data race", "data race", "T0 read p\n T1 read p")
        self.refuses("no data race", "data race", "T0 write p\n T1 read q")
        self.refuses("no data race", "data race", "T0 write q\n T1 write p")
        self.refuses("makes no step", "data race", "T0 write p\n T1 read p", by=2)
        self.refuses("no data race", "data race", "T0 store p=1\n T1 store p=2")
        self.passes("data race", "T0 store p=1\n T1 write p")
        self.passes("data race", "T0 store p=1 constructs\n T1 load p=1 from 1")

    def test_construction_is_before_and_finish_after_all(self):
        self.passes("data race", "T0 write p\n T1 read p")
        self.refuses("no data race", "data race", "C write p\n T1 read p")
        self.refuses("no data race", "data race", "T0 write p\n F read p")

    def test_start_and_end_of_threads_synchronize(self):
        self.passes("data race", "T0 spawn T1\n T0 write p\n T1 read p")
        self.refuses("no data race", "data race", "T0 write p\n T0 spawn T1\n T1 read p")
        self.passes("data race", "T0 spawn T1\n T1 read p\n T0 write p")
        joined = "T0 spawn T1\n T1 read p\n T0 join T1\n T0 write p"
        for by in (0, 1):
            self.refuses("no data race", "data race", joined, by=by)

    def test_fences(self):
        steps = "T0 write p\n T0 fence {0}\n T0 store x=1\n T1 load x=1 from 3\n T1 fence {1}\n T1 read p"
        self.refuses("no data race", "data race", steps.format("release", "acquire"))
        self.refuses("no data race", "data race", steps.format("seq_cst", "acq_rel"))
        self.passes("data race", steps.format("acquire", "acquire"))
        self.passes("data race", steps.format("release", "release"))
        late = "T0 write p\n T0 store x=1\n T0 fence release\n T1 load x=1 from 2\n T1 fence acquire\n T1 read p"
        self.passes("data race", late)
        early = "T0 write p\n T0 fence release\n T0 store x=1\n T1 fence acquire\n T1 load x=1 from 3\n T1 read p"
        self.passes("data race", early)

    def test_release_sequences(self):
        steps = "T0 write p\n T0 store x=1 {0}\n T2 {1}\n T1 load x=2 acquire from 3\n T1 read p"
        self.refuses("no data race", "data race", steps.format("release", "rmw x=1>2 from 2"))
        self.passes("data race", steps.format("relaxed", "rmw x=1>2 from 2"))
        self.passes("data race", steps.format("release", "store x=2"))
        # C++20: a later store of the same thread does not belong to the sequence.
        self.passes("data race", "T0 write p\n T0 store x=1 release\n T0 store x=2\n T1 load x=2 acquire from 3\n T1 read p")
        chain = steps.format("release", "rmw x=1>2 from 2").replace("T1 load x=2 acquire from 3",
                                                                     "T3 rmw x=2>3 from 3\n T1 load x=3 acquire from 4")
        self.refuses("no data race", "data race", chain)

    def test_one_fence_that_acquires_and_releases(self):
        steps = """
            T0 write p
            T0 store x=1 release
            T1 load x=1 from 2
            T1 fence {0}
            T1 store y=1
            T2 load y=1 acquire from 5
            T2 read p"""
        self.refuses("no data race", "data race", steps.format("acq_rel"))
        self.passes("data race", steps.format("acquire"))
        self.passes("data race", steps.format("release"))

    def test_locks_synchronize(self):
        steps = """
            C store m=0 constructs
            T0 lock m=1>1 acquire from 1
            T0 write p
            T0 unlock m=0 release
            T1 lock m=1>2 acquire from 4
            T1 read p"""
        self.refuses("no data race", "data race", steps)
        self.passes("data race", steps.replace("T1 lock m=1>2 acquire from 4\n", ""))

    def test_a_compare_exchange_that_fails_has_its_own_order(self):
        steps = "T0 write p\n T0 store x=1 release\n T1 cas failed x=1 {0} from 2\n T1 read p"
        self.passes("data race", steps.format("relaxed"))
        self.refuses("no data race", "data race", steps.format("acquire"))


class Memory(Case):
    def test_use_after_free(self):
        steps = "C allocate m\n T0 free m\n T1 {0} in {1}"
        for use in ("read p", "write p", "load p=0", "store p=1"):
            self.passes("use after free", steps.format(use, "m"))
        self.refuses("no use after free", "use after free", steps.format("read p", "other"))
        self.refuses("no use after free", "use after free", steps.replace("T0 free m", "T0 read p in m").format("read p", "m"))

    def test_free_beside_a_use(self):
        self.passes("use after free", "C allocate m\n T1 read p in m\n T0 free m")
        self.refuses("no use after free", "use after free", "C allocate m\n T0 read p in m\n T0 free m")
        synchronized = "C allocate m\n T1 read p in m\n T1 store x=1 {0}\n T0 load x=1 acquire from 3\n T0 free m"
        self.passes("use after free", synchronized.format("relaxed"))
        self.refuses("no use after free", "use after free", synchronized.format("release"))

    def test_double_free(self):
        self.passes("double free", "C allocate m\n T0 free m\n T1 free m")
        self.refuses("no double free", "double free", "C allocate m\n C allocate n\n T0 free n\n T1 free m")
        self.refuses("no double free", "double free", "C allocate m\n T1 free m")

    def test_unpublished_allocation(self):
        steps = "T0 allocate m\n T0 store x=1 {0}\n T1 load x=1 acquire from 2\n T1 {1}"
        for use in ("read p in m", "free m"):
            self.passes("unpublished allocation", steps.format("relaxed", use))
            self.refuses("happens before it", "unpublished allocation", steps.format("release", use))
        self.passes("unpublished allocation", "T0 store p=1 constructs\n T1 load p=1 from 1")
        self.refuses("happens before it", "unpublished allocation", "T0 store p=1 constructs\n T0 load p=1 from 1")
        self.refuses("happens before it", "unpublished allocation", "T0 store p=1 constructs")

    def test_leak(self):
        self.passes("leak", "T0 allocate m\n T0 allocate n\n T0 free n")
        self.refuses("no leak", "leak", "T0 allocate m\n T0 free m")

    def test_uninitialised_read(self):
        self.passes("uninitialised read", "T0 write q\n T1 read p")
        self.passes("uninitialised read", "T0 store q=1\n T1 load p=0")
        self.passes("uninitialised read", "T1 write q\n T1 read p")
        self.refuses("gives the location a value", "uninitialised read", "C write p\n T1 read p")
        self.refuses("gives the location a value", "uninitialised read", "T0 store p=1\n T1 load p=1 from 1")
        self.refuses("does not read", "uninitialised read", "T1 write p")


class Barriers(Case):
    def test_a_departure_comes_after_the_arrivals_of_its_round(self):
        steps = "T0 write p\n T0 arrive b=2\n T1 arrive b=2\n T1 depart b\n T1 write p"
        self.refuses("no data race", "data race", steps)
        self.passes("data race", steps.replace("T1 depart b\n", ""))
        self.refuses("too few threads have arrived", "none", "T0 arrive b=2\n T1 depart b\n T1 arrive b=2")
        self.refuses("too few threads have arrived", "none", "T0 arrive b=2\n T1 arrive c=2\n T1 depart b")

    def test_a_thread_may_arrive_as_several(self):
        steps = "T0 arrive b=3 as {}\n T1 arrive b=3\n T1 depart b"
        self.passes("none", steps.format(2))
        self.refuses("too few threads have arrived", "none", steps.format(1))

    def test_who_leaves_is_not_waited_for_later(self):
        steps = "T0 arrive b=2 leaving {}\n T1 arrive b=2\n T1 depart b\n T1 arrive b=2\n T1 depart b round 1"
        self.passes("none", steps.format(1))
        self.refuses("too few threads have arrived", "none", steps.format(0))

    def test_a_token_may_be_waited_for_later_and_by_another_thread(self):
        steps = "T0 write p\n T0 arrive b=1\n {} arrive b=1\n T1 depart b round {}\n T1 write p"
        self.refuses("no data race", "data race", steps.format("T1", 0))
        self.passes("data race", steps.format("T2", 1))
        self.refuses("no data race", "data race", steps.format("T2", 0))
        self.refuses("too few threads have arrived", "none", steps.format("T1", 2))

    def test_who_waits_for_ever_waits_for_arrivals(self):
        waits = {"ended": [0], "stuck": [{"thread": 1, "since": 0, "barrier": 1, "round": 1}]}
        steps = "T0 arrive b=1\n T1 {}\n T1 store x=1"
        self.passes("deadlock", steps.format("fence"), **waits)
        self.refuses("and all have come", "deadlock", steps.format("arrive b=1"), **waits)
        self.passes("deadlock", "T1 store x=1", ended=[0], stuck=[{"thread": 1, "since": 0, "barrier": 7, "round": 0}])


class Waiting(Case):
    STEPS = """
        C store x=0 constructs mo 0
        T0 store x=1 mo 1
        T1 load x={0} from {1} at 0"""

    def waits(self, *more, **facts):
        return dict({"ended": [0], "stuck": [{"thread": 1, "since": 0}, *more]}, **facts)

    def test_who_waits_has_seen_the_newest_value(self):
        self.passes("deadlock", self.STEPS.format(1, 2), **self.waits())
        self.refuses("has not read the newest value", "deadlock", self.STEPS.format(0, 1), **self.waits())

    def test_the_first_value_may_be_the_newest(self):
        self.passes("deadlock", "T0 load y=0\n T1 load x=0 at 0", **self.waits())
        self.refuses("has not read the newest value", "deadlock", "T0 store x=1 mo 1\n T1 load x=0 at 0", **self.waits())

    def test_an_older_write_of_the_newest_value_is_as_good(self):
        steps = "C store x=0 mo 0\n T0 store x=1 mo 1\n T0 store x=0 mo 2\n T1 load x=0 from 1"
        self.passes("deadlock", steps, **self.waits())

    def test_a_lock_that_waiting_threads_take_and_give_back(self):
        steps = """
            C store m=0 constructs
            {0} lock m=1>1 acquire from 1
            {0} unlock m=0 release
            T1 lock m=1>2 acquire from 3 at 0
            T1 unlock m=0 release at 2"""
        both = {"ended": [], "stuck": [{"thread": 1, "since": 0}, {"thread": 2, "since": 0}]}
        self.passes("deadlock", steps.format("T2"), **both)

    def test_every_thread_has_ended_or_waits(self):
        self.refuses("T0 has not ended", "deadlock", self.STEPS.format(1, 2), **self.waits(ended=[]))
        self.refuses("T1 waits and has ended", "deadlock", self.STEPS.format(1, 2), **self.waits(ended=[0, 1]))
        self.refuses("T2 has not ended", "deadlock", self.STEPS.format(1, 2) + "\n T1 spawn T2", **self.waits())

    def test_who_waits_has_looked(self):
        self.refuses("has read nothing", "deadlock", self.STEPS.format(1, 2), **self.waits({"thread": 2, "since": 0}))
        self.refuses("has read nothing", "deadlock", self.STEPS.format(1, 2), ended=[0], stuck=[{"thread": 1, "since": 1}])

    def test_who_is_joined_waits_too(self):
        self.passes("deadlock", self.STEPS.format(1, 2), ended=[], stuck=[{"thread": 1, "since": 0}, {"thread": 0, "joins": 1}])
        self.refuses("which does not wait", "deadlock", self.STEPS.format(1, 2), ended=[2],
                     stuck=[{"thread": 1, "since": 0}, {"thread": 0, "joins": 2}])

    def test_finish_waits_when_all_threads_have_ended(self):
        self.passes("deadlock", "T0 store x=1\n F load x=1 from 1 at 0", stuck=[{"thread": -1, "since": 0}], ended=[])

    def test_a_thread_that_has_stopped_waits_for_nothing(self):
        stopped = {"thread": 0, "stopped": True}
        self.passes("not lock-free", self.STEPS.format(1, 2), **self.waits(stopped, ended=[]))
        self.refuses("has not read the newest", "not lock-free", self.STEPS.format(0, 1), **self.waits(stopped, ended=[]))


class NotJudged(Case):
    def not_judged(self, reason, *arguments, **facts):
        with self.assertRaises(validate.NotJudged) as why:
            self.passes(*arguments, **facts)
        self.assertIn(reason, str(why.exception))

    def test_an_engine_that_does_not_tell_what_reads_read_from(self):
        self.not_judged("reads read from", "data race", "T0 write p\n T1 read p", knows_sources=False)

    def test_the_order_of_calls_is_judged_and_their_answers_are_not(self):
        steps = "T0 store x=1 {0}\n T1 load x=1 acquire from 1"
        calls = [{"thread": 0, "text": "put", "after": [], "first": 0, "last": 0},
                 {"thread": 1, "text": "take", "after": [0], "first": 1, "last": 1}]
        self.not_judged("sequential specification", "not linearizable", steps.format("release"), calls=calls)
        self.refuses("'put' is said to come before 'take'", "not linearizable", steps.format("relaxed"), calls=calls)

    def test_a_deadlock_without_the_threads_that_wait(self):
        self.not_judged("which threads wait", "deadlock", "T0 load x=0")

    def test_a_failure_of_the_program_is_one_if_the_execution_exists(self):
        for what in validate.OF_THE_PROGRAM:
            self.assertEqual(self.passes(what, "T0 store x=1"), "")
        self.not_judged("is called 'other'", "other", "T0 store x=1")


class Files(Case):
    def test_every_execution_of_a_file_is_found(self):
        one = execution("lost", "T0 store x=1")
        found = {"searches": [{"case": "a/b", "label": "mutant", "result": one}, {"case": "c", "result": {"shown": 1}},
                              {"case": "d", "result": {"exact": dict(one, what="none")}}]}
        self.assertEqual([(name, r["what"]) for name, r in validate.executions_in(found)],
                         [("a/b mutant", "lost"), ("d/exact", "none")])

    def status_of(self, found):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(found, file)
            file.flush()
            return subprocess.run([sys.executable, "-B", validate.__file__, file.name], capture_output=True).returncode

    def test_the_status_says_whether_one_is_refused_and_whether_there_was_one(self):
        self.assertEqual(self.status_of(execution("lost", "T0 store x=1")), 0)
        self.assertEqual(self.status_of([execution("lost", "T0 store x=1"), execution("lost", "T0 load x=1 from 1")]), 1)
        self.assertEqual(self.status_of([]), 2)


unittest.main()
