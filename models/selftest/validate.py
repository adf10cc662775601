#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Judges executions that --json has written, from the axioms alone, without any code of an engine.

    ./kit verify --validate FILE…

For each execution in the files: does C++20 allow it, as RC11 words its memory model, and does it fail as it says? Prints
what is refused, and why. Status 1 if an execution is refused, 2 if the files have none.

The axioms, with the names of RC11 (Lahav et al., PLDI 2017) and the paragraphs of C++20:

    po    sequenced before, and construction before all threads before finish()              [intro.execution]
    rf    a read, and the write that it reads from                                            [intro.races]
    mo    a total order of the atomic writes of each location                                 [intro.races]/4
    rs    release sequence: a write, and the read-modify-writes that read from it in a chain  [intro.races]/5
    sw    synchronizes with: by rs, also from and to fences; start and end of threads         [atomics.order]/2, [atomics.fences]
    hb    happens before: the transitive closure of po and sw
    fr    from-read: a read, and the writes that come in mo after the write that it reads from
    psc   the order of what is seq_cst: RC11, section 3.2 and figure 4
    S     the single total order of C++20                                                     [atomics.order]/3 and 4
"""
import collections
import itertools
import json
import sys

PLAIN = {"read", "write"}
READS = {"load", "rmw", "cas ok", "cas failed", "lock"}  # of atomic locations
WRITES = {"store", "rmw", "cas ok", "unlock"}
ACQUIRES = {"consume", "acquire", "acq_rel", "seq_cst"}
RELEASES = {"release", "acq_rel", "seq_cst"}
# What only the program says: the validator sees that the execution exists, not that the program checks it rightly.
OF_THE_PROGRAM = {"check failed", "lost", "run twice", "out of order", "misuse", "crash", "livelock", "none"}
OF_THE_PROGRAM_TEXT = "that it fails is the program's word"
# The last step of the thread that fails is an access, or a free, that must not be made.
NO_ACCESS = {"data race", "use after free", "unpublished allocation", "uninitialised read"}
MOST_ORDERS = 20_000  # modification orders that are tried where the execution does not tell them
MOST_STEPS = 3_000  # of an execution


class Refused(Exception):
    """The execution does not exist, or does not fail as it says."""


class NotJudged(Exception):
    """The execution does not have what it takes to judge it; perhaps it is known to exist."""

    exists = False


def bits(mask):
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def closed(relation):
    """The transitive closure. A relation has for each step the set of those that it leads to, as the bits of a number."""
    relation = list(relation)
    if all(to & (1 << i + 1) - 1 == 0 for i, to in enumerate(relation)):  # it only leads forward: one pass from the end
        for i in range(len(relation) - 1, -1, -1):
            left, reached = relation[i], relation[i]
            while left:
                first = (left & -left).bit_length() - 1
                reached |= relation[first]
                left &= ~(relation[first] | 1 << first)
            relation[i] = reached
        return relation
    for middle, after in enumerate(relation):
        for i, to in enumerate(relation):
            if to >> middle & 1:
                relation[i] = to | after
    return relation


def is_acyclic(relation):
    return not any(to >> i & 1 for i, to in enumerate(closed(relation)))


class Step:
    """One step of the trace, and which parts of an operation it has."""

    def __init__(self, number, fields):
        self.number = number  # as people see it, from 1 on; 0: the value before the first write
        self.kind = fields["kind"]
        self.thread = fields["thread"]
        self.order = fields.get("order", "relaxed")
        self.location = fields.get("location", 0)
        self.value = fields.get("value", 0)
        self.written = fields.get("written", 0)
        self.has_value = fields.get("value_text") != "?"
        self.source = fields.get("reads_from")
        self.mo = fields.get("mo")
        self.memory = fields.get("memory", 0)
        self.position = fields.get("position", 0)
        self.constructs = fields.get("constructs", False)
        # The bytes of the location that it accesses, of how many; None: all of them. A store to a part replaces the write that
        # it names as its source.
        self.part = fields.get("bytes")
        takes_lock = self.kind == "lock" and self.value == 1
        self.is_fence = self.kind == "fence"
        self.is_plain = self.kind in PLAIN
        self.reads = self.kind in READS
        self.writes = self.kind in WRITES or takes_lock  # to an atomic location
        self.is_rmw = self.reads and self.writes
        self.arrives = self.kind == "arrive"  # at a barrier that began for `value` threads
        self.arrivals = fields.get("arrivals", 1)  # as so many of them
        self.leaving = fields.get("leaving", 0)  # of which so many come to no later round
        self.round = fields.get("round", 0)  # depart: from which
        self.accesses = self.is_plain or self.reads or self.writes or self.arrives
        self.changes = self.writes or self.kind == "write" or self.arrives
        self.is_atomic = (self.reads or self.writes or self.arrives) and not self.constructs
        self.is_sequential = self.order == "seq_cst" and (self.is_fence or self.is_atomic)

    def leaves(self):
        """The value of the location after this write."""
        return self.written if self.is_rmw else self.value

    def bytes(self):
        """Which bytes of the location it accesses."""
        return set(range(16) if self.part is None else range(self.part[0], self.part[0] + self.part[1]))

    def __str__(self):
        return f"step {self.number}" if self.number else "the first value"


class Execution:
    def __init__(self, result):
        self.result = result
        self.what = result["what"]
        trace = result["trace"]
        self.check = trace[-1] if trace[-1]["kind"] == "check" else None
        shown = [Step(i + 1, fields) for i, fields in enumerate(trace if self.check is None else trace[:-1])]
        self.failing_number = None
        if self.check is not None:
            own = [s.number for s in shown if s.thread == self.check["thread"]]
            self.failing_number = own[-1] if own else None
        firsts = self.first_values(shown)
        self.steps = firsts + shown
        self.index_of = {s.number: i for i, s in enumerate(self.steps) if s.number}
        self.source = {}  # rf, by the read
        self.replaced = {}  # by the store to a part: the write before it in mo
        for i, s in enumerate(self.steps):
            if s.reads and s.source is not None:
                self.source[i] = s.source + len(firsts)
            elif s.reads and s.location in self.first_of:
                self.source[i] = self.first_of[s.location]
            if s.kind == "store" and s.part is not None:
                self.replaced[i] = s.source + len(firsts) if s.source is not None else self.first_of[s.location]
        self.failing = self.index_of.get(self.failing_number)
        self.sections()

    def first_values(self, shown):
        """A read that names no write reads the value before the first one: that write gets a step of its own. An access that
        must not be made at all may not have read anything."""
        firsts, self.first_of = [], {}
        no_access = self.failing_number if self.what in NO_ACCESS else None
        for s in shown:
            reads = s.reads or s.kind == "store" and s.part is not None
            if reads and s.source is None and s.number != no_access and s.location not in self.first_of:
                self.first_of[s.location] = len(firsts)
                value = s.value if s.kind != "lock" else 0 if s.writes else 1
                value = value if s.part is None else None  # of all its bytes: not known
                firsts.append(Step(0, {"kind": "store", "thread": -1, "location": s.location, "value": value, "mo": -1,
                                       "constructs": True}))
        told = any(s.mo is not None for s in shown)
        for first in firsts:
            first.mo = first.mo if told else None
        return firsts

    def sections(self):
        """Thread -1 is the construction before the first step of a thread, and finish() after it."""
        begun = False
        self.section = []
        for s in self.steps:
            begun = begun or s.thread >= 0
            self.section.append("finish" if begun and s.thread < 0 else s.thread)

    def left_out(self):
        """How many steps of threads and of finish() are not in the trace: in a thread, a step has the number of those before it.
        The write of a read-modify-write counts; in compiled programs, plain accesses do not."""
        missing, expected = 0, collections.Counter()
        for s, section in zip(self.steps, self.section):
            if section != -1:
                missing += max(0, s.position - expected[section])
                expected[section] = s.position + (2 if s.is_rmw or s.number and s.kind == "store" and s.part else 1)
        return missing

    def all(self, condition):
        return [i for i, s in enumerate(self.steps) if condition(s)]

    # --- the execution exists ------------------------------------------------------------------------------------------

    def require_facts(self):
        """Each read has the value of the write that it reads from, which is one of the same location."""
        for read, source in self.source.items():
            r, w = self.steps[read], self.steps[source]
            if not w.writes or w.location != r.location or source == read:
                raise Refused(f"{r} cannot read from {w}, which does not write that location")
            if self.is_in_parts(r.location):
                if not self.may_hold(r, source):
                    raise Refused(f"{r} reads {r.value}, and {w} and those before it have left something else")
                continue
            is_free = w.leaves() == 0
            right = is_free == (r.value == 1) if r.kind == "lock" else w.leaves() == r.value
            if not right:
                raise Refused(f"{r} reads {r.value} from {w}, which wrote {w.leaves()}")

    def is_in_parts(self, location):
        return any(s.location == location and s.part is not None for s in self.steps)

    def writers(self, source, wanted):
        """Of bytes that a read of the write `source` reads: which write has left them. A write to a part leaves the others as
        they were."""
        found = {}
        while wanted:
            w = self.steps[source]
            found.update(dict.fromkeys(wanted & w.bytes(), source))
            wanted = wanted - w.bytes()
            if wanted:
                source = self.replaced[source] if source in self.replaced else self.source[source]
        return found

    def may_hold(self, r, source):
        """Whether each byte that is read has the value that its writer has left. Values of more than 64 bits are numbers, and
        what a location begins with need not be known."""
        first = r.part[0] if r.part is not None else 0
        for byte, writer in self.writers(source, r.bytes()).items():
            w = self.steps[writer]
            if w.leaves() is None or 16 in ((r.part or [0, 0, 0])[2], (w.part or [0, 0, 0])[2]):
                continue
            if byte - first >= 8 or r.value >> 8 * (byte - first) & 0xff == w.leaves() >> 8 * (byte - (w.part or [0])[0]) & 0xff:
                continue
            return False
        return True

    def make_po(self):
        steps = self.steps
        self.po = [0] * len(steps)
        next_in, later_in = {}, collections.Counter()  # by the section
        for i in range(len(steps) - 1, -1, -1):
            section = self.section[i]
            j = next_in.get(section, i)
            if steps[i].position > steps[j].position:
                raise Refused(f"{steps[j]} comes before {steps[i]} in its thread, but not in the trace")
            self.po[i] = later_in[section]
            later_in[section] |= 1 << i
            next_in[section] = i
        self.steps_in = later_in

    def make_hb(self):
        self.make_po()
        self.fences = self.all(lambda s: s.is_fence)
        n = len(self.steps)
        hb = list(self.po)
        for i, section in enumerate(self.section):
            if section == -1:
                hb[i] |= ((1 << n) - 1) & ~self.steps_in[-1]
            elif section != "finish":
                hb[i] |= self.steps_in["finish"]
        for i, s in enumerate(self.steps):
            if s.kind not in ("spawn", "join"):
                continue
            theirs = list(bits(self.steps_in[s.value]))
            if s.kind == "spawn" and theirs:
                if theirs[0] < i:
                    raise Refused(f"T{s.value} makes {self.steps[theirs[0]]} before {s} starts it")
                hb[i] |= 1 << theirs[0]
            elif s.kind == "join" and theirs:
                if theirs[-1] > i:
                    raise Refused(f"T{s.value} makes {self.steps[theirs[-1]]} after {s} has waited for its end")
                hb[theirs[-1]] |= 1 << i
        for i, s in enumerate(self.steps):
            if s.kind != "depart":
                continue
            arrivals, missing = self.round_at(s.location, s.round, i)
            if missing:
                raise Refused(f"{s} departs from a barrier at which too few threads have arrived")
            for a in arrivals:
                hb[a] |= 1 << i
        for read in self.source:
            for head in self.heads_of_release_sequence(read):
                for i, j in itertools.product(self.releasers(head), self.acquirers(read)):
                    if i != j:
                        hb[i] |= 1 << j
        self.hb = closed(hb)
        for i, to in enumerate(self.hb):
            if to >> i & 1:
                raise Refused(f"{self.steps[i]} happens before itself")

    def round_at(self, location, number, end):
        """The arrivals of that round of a barrier which come before `end`, and whether some are missing."""
        arrivals, missing, left = [], None, 0
        for i in (i for i in range(end) if self.steps[i].arrives and self.steps[i].location == location):
            s = self.steps[i]
            if not missing:
                if missing == 0:
                    number -= 1
                if number < 0:
                    break
                arrivals, missing = [], s.value - left
            arrivals.append(i)
            missing -= s.arrivals
            left += s.leaving
        return arrivals, number > 0 or missing != 0

    def heads_of_release_sequence(self, read):
        """rs: the write that is read; if a read-modify-write, also the one that it reads from, and so on. Where writes have left
        parts, each that has left some of what is read."""
        seen, left = set(), [read]
        while left:
            reader = left.pop()
            for write in set(self.writers(self.source[reader], self.steps[reader].bytes()).values()) - seen:
                seen.add(write)  # a cycle is refused later
                yield write
                if write in self.source:
                    left.append(write)

    def releasers(self, write):
        """The write itself, or a fence before it in its thread."""
        s = self.steps[write]
        if s.is_atomic and s.order in RELEASES:
            yield write
        if s.is_atomic:
            yield from (f for f in self.fences if self.po[f] >> write & 1 and self.steps[f].order in RELEASES)

    def acquirers(self, read):
        """The read itself, or a fence after it in its thread."""
        if self.steps[read].order in ACQUIRES:
            yield read
        yield from (f for f in self.fences if self.po[read] >> f & 1 and self.steps[f].order in ACQUIRES)

    def require_plain_values(self):
        """A plain read has the value of the last plain write that happens before it: [intro.races]/13, the visible side effect.
        Not known are the values of constructions, those of compiled programs, and that of the access that fails."""
        for i in self.all(lambda s: s.kind == "read" and s.has_value):
            r = self.steps[i]
            before = self.all(lambda w: w.kind == "write" and w.location == r.location)
            before = [w for w in before if self.hb[w] >> i & 1]
            last = [self.steps[w] for w in before if not any(self.hb[w] >> x & 1 for x in before)]
            if len(last) == 1 and not last[0].constructs and i != self.failing and last[0].value != r.value:
                raise Refused(f"{r} reads {r.value} from {last[0]}, which wrote {last[0].value}")

    def require_no_thin_air(self):
        """NO-THIN-AIR of RC11: po ∪ rf has no cycle. C++20 has only a recommendation; load buffering breaks it."""
        if self.result.get("load_buffering"):
            return
        relation = list(self.po)
        for read, source in self.source.items():
            relation[source] |= 1 << read
        if not is_acyclic(relation):
            raise Refused("no thin air: a read depends on itself, in po and rf, and the execution is none of load buffering")

    def forced(self, writes):
        """The pairs of writes of one location that coherence orders, [intro.races]/15 to 18: each with the rule, and the two
        steps of which one happens before the other."""
        steps, hb = self.steps, self.hb
        location = steps[writes[0]].location
        reads = [i for i in self.source if steps[i].location == location]
        pairs = [(a, b, "write-write", a, b) for a, b in itertools.permutations(writes, 2) if hb[a] >> b & 1]
        for r in reads:
            source = self.source[r]
            pairs += [(w, source, "write-read", w, r) for w in writes if hb[w] >> r & 1 and w != source]
            pairs += [(source, w, "read-write", r, w) for w in writes if hb[r] >> w & 1]
            pairs += [(self.source[q], source, "read-read", q, r) for q in reads
                      if hb[q] >> r & 1 and self.source[q] != source]
            if r in writes:
                pairs.append((source, r, "update", source, r))
        return pairs

    def text_of(self, pair):
        earlier, later, rule, a, b = (self.steps[x] if isinstance(x, int) else x for x in pair)
        if rule == "update":
            return f"{b} reads what it replaces, {a}"
        reads = [f", which reads from {w}," if s is not w else "" for s, w in ((a, earlier), (b, later))]
        return f"{rule} coherence: {a}{reads[0]} happens before {b}{reads[1]}"

    def breach(self, order, pairs):
        """Why this is no modification order; empty if it is one. Only such pairs are compared as are in the order."""
        place = {w: i for i, w in enumerate(order)}
        for pair in pairs:
            earlier, later = pair[:2]
            if earlier in place and later in place and place[earlier] >= place[later]:
                return (f"{self.text_of(pair)}, but {self.steps[later]} is not newer than {self.steps[earlier]} in modification "
                        f"order")
        for w in order:
            s = self.steps[w]
            if s.constructs and place[w] != 0:
                return f"the construction of a location, {s}, is not its first write"
            before = self.source.get(w) if s.is_rmw else self.replaced.get(w)
            if before is not None and place[w] != place.get(before, -2) + 1:
                return f"atomicity: {s} does not come right after {self.steps[before]}, which it reads"
        return ""

    def orders_of(self, writes):
        """The modification orders of one location that coherence and atomicity allow: the one that the execution tells, or
        all. The step that fails may have no place yet."""
        pairs = self.forced(writes)
        unknown = [w for w in writes if self.steps[w].mo is None]
        if unknown in ([], [self.failing]) and len(unknown) != len(writes):
            order = sorted((w for w in writes if w not in unknown), key=lambda w: self.steps[w].mo)
            wrong = self.breach(order, pairs)
            if wrong:
                raise Refused(wrong)
            return [order]
        found = []
        self.extend_order([], writes, pairs, found)
        if not found:
            raise Refused("no modification order satisfies coherence and atomicity: " + "; ".join(map(self.text_of, pairs)))
        return found

    def extend_order(self, order, left, pairs, found):
        if not left:
            if not self.breach(order, pairs):
                found.append(order)
            if len(found) > MOST_ORDERS:
                raise NotJudged("too many modification orders")
            return
        for w in left:
            if not any(later == w and earlier in left for earlier, later, *_ in pairs):
                self.extend_order([*order, w], [x for x in left if x != w], pairs, found)

    def require_consistent(self):
        if len(self.steps) > MOST_STEPS:
            raise NotJudged(f"more than {MOST_STEPS} steps")
        self.require_facts()
        self.make_hb()
        self.require_no_thin_air()
        self.require_plain_values()
        writes_of = collections.defaultdict(list)
        for w in self.all(lambda s: s.writes):
            writes_of[self.steps[w].location].append(w)
        by_location = [self.orders_of(writes) for writes in writes_of.values()]
        self.sequential = self.all(lambda s: s.is_sequential)
        tried = 0
        for orders in itertools.product(*by_location):
            tried += 1
            if tried > MOST_ORDERS:
                raise NotJudged("too many modification orders")
            self.mo = {self.steps[order[0]].location: order for order in orders}
            self.make_eco()
            if self.has_psc_order():
                break
        else:
            raise Refused("psc: the order of the seq_cst operations and fences has a cycle")
        if self.check is not None and not self.result.get("load_buffering"):
            if self.has_total_order() == bool(self.result.get("forbidden_by_cpp20")):
                raise Refused("C++20 has a single total order of the seq_cst operations, and the execution says that it has none"
                              if self.result.get("forbidden_by_cpp20") else
                              "C++20 has no single total order of the seq_cst operations, and the execution does not say so")

    # --- the order of what is seq_cst ----------------------------------------------------------------------------------

    def make_eco(self):
        """mo, fr, and eco: the closure of rf, mo and fr, which C++20 calls coherence-ordered before."""
        if len(self.sequential) < 2:
            return
        n = len(self.steps)
        self.mo_pairs, self.fr, eco = [0] * n, [0] * n, [0] * n
        for order in self.mo.values():
            for i, w in enumerate(order):
                for later in order[i + 1:]:
                    self.mo_pairs[w] |= 1 << later
        for read, source in self.source.items():
            self.fr[read] = self.mo_pairs[source] & ~(1 << read)
            eco[source] |= 1 << read
        self.eco = closed([a | b | c for a, b, c in zip(eco, self.mo_pairs, self.fr)])

    def has_psc_order(self):
        """psc = psc_base ∪ psc_F has no cycle:
        scb      = po ∪ po≠loc;hb;po≠loc ∪ hb=loc ∪ mo ∪ fr
        psc_base = ([Esc] ∪ [Fsc];hb?) ; scb ; ([Esc] ∪ hb?;[Fsc])
        psc_F    = [Fsc] ; (hb ∪ hb;eco;hb) ; [Fsc]"""
        if len(self.sequential) < 2:
            return True
        steps, po, hb, eco, sequential = self.steps, self.po, self.hb, self.eco, self.sequential
        n = len(steps)
        same = [sum(1 << j for j in range(n) if steps[i].accesses and steps[j].accesses and
                    steps[i].location == steps[j].location) for i in range(n)]
        elsewhere = [po[i] & ~same[i] for i in range(n)]
        around = then(then(elsewhere, hb), elsewhere)
        scb = [po[i] | around[i] | hb[i] & same[i] | self.mo_pairs[i] | self.fr[i] for i in range(n)]
        fences = sum(1 << f for f in sequential if steps[f].is_fence)
        maybe_hb = [to | 1 << i for i, to in enumerate(hb)]
        start = [0] * n
        for a in sequential:
            start[a] = maybe_hb[a] if steps[a].is_fence else 1 << a
        end = [(1 << i if steps[i].is_sequential else 0) | maybe_hb[i] & fences for i in range(n)]
        psc = then(then(start, scb), end)
        through = then(then(hb, eco), hb)
        for f in bits(fences):
            psc[f] |= (hb[f] | through[f]) & fences
        return is_acyclic(psc)

    def has_total_order(self):
        """S of C++20 contains the strongly-happens-before of seq_cst operations, and follows coherence-ordered before, from an
        operation or from a fence that happens before it, to an operation or to a fence that it happens before."""
        if len(self.sequential) < 2:
            return True
        steps, po, hb, eco, sequential = self.steps, self.po, self.hb, self.eco, self.sequential
        chosen = sum(1 << a for a in sequential)
        fences = sum(1 << f for f in sequential if steps[f].is_fence)
        strongly = [a | b for a, b in zip(po, then(then(po, hb), po))]
        start = [0] * len(steps)
        for a in sequential:
            start[a] = hb[a] if steps[a].is_fence else 1 << a
        end = [(1 << i & chosen) | hb[i] & fences for i in range(len(steps))]
        order = then(then(start, eco), end)
        return is_acyclic([(o | s & chosen) if chosen >> i & 1 else 0 for i, (o, s) in enumerate(zip(order, strongly))])

    # --- it fails as it says -------------------------------------------------------------------------------------------

    def unordered(self, a, b):
        return not (self.hb[a] >> b & 1 or self.hb[b] >> a & 1)

    def require_failure(self):
        """Returns what is seen; raises Refused or NotJudged."""
        if self.what in OF_THE_PROGRAM:
            return ""
        if self.what not in FAILURES:
            raise NotJudged(f"a failure that is called '{self.what}'")
        if self.failing is None and self.what not in ("leak", "deadlock", "not linearizable", "not lock-free"):
            raise Refused("the thread that fails makes no step")
        return FAILURES[self.what](self)

    def data_race(self):
        """[intro.races]/21: two accesses of one location, one of which writes, not both atomic, neither of which happens before
        the other."""
        f = self.steps[self.failing]
        told = self.result.get("unordered")
        if told is None and "cannot know that it is initialised" in self.result.get("message", ""):
            raise NotJudged("the construction of the location, which gives it no value, is no step")
        others = self.all(lambda s: True) if told is None else [self.index_of[told + 1]]
        for i in others:
            s = self.steps[i]
            if (i != self.failing and s.accesses and f.accesses and s.location == f.location and (s.changes or f.changes) and
                    not (s.is_atomic and f.is_atomic) and self.unordered(i, self.failing)):
                return f"{s} and {f} race"
        raise Refused(f"no data race: {f} conflicts with no unordered access" if told is None else
                      f"no data race of {self.steps[others[0]]} and {f}: they are ordered, atomic, or of different locations")

    def use_after_free(self):
        """[basic.life], [basic.stc]: the memory is freed, and the access does not happen before that."""
        f = self.steps[self.failing]
        for i in range(len(self.steps)):
            free, use = (self.failing, i) if f.kind == "free" else (i, self.failing)
            end, access = self.steps[free], self.steps[use]
            in_it = end.kind == "free" and access.accesses and access.memory == end.location
            if in_it and not self.hb[use] >> free & 1:
                return f"{access} uses what {end} frees"
        raise Refused(f"no use after free: {f} and each access of the memory that is freed are ordered, the access first")

    def double_free(self):
        f = self.steps[self.failing]
        for s in self.steps:
            if s.kind == f.kind == "free" and s is not f and s.location == f.location:
                return f"{s} and {f} free the same memory"
        raise Refused(f"no double free: nothing else frees the memory of {f}")

    def unpublished_allocation(self):
        """The allocation, or the construction, does not happen before the use."""
        f = self.steps[self.failing]
        memory = f.location if f.kind == "free" else f.memory
        for i, s in enumerate(self.steps):
            begins = s.kind == "allocate" and s.location == memory or s.constructs and s.location == f.location
            if begins and i != self.failing and not self.hb[i] >> self.failing & 1:
                return f"{s} does not happen before {f}"
        raise Refused(f"the allocation of what {f} uses happens before it")

    def leak(self):
        freed = {s.location for s in self.steps if s.kind == "free"}
        for s in self.steps:
            if s.kind == "allocate" and s.location not in freed:
                return f"nothing frees what {s} allocates"
        raise Refused("no leak: all that is allocated is freed")

    def uninitialised_read(self):
        f = self.steps[self.failing]
        if not f.reads and f.kind != "read":
            raise Refused(f"no uninitialised read: {f} does not read")
        for i, s in enumerate(self.steps):
            if s.changes and s.location == f.location and (self.hb[i] >> self.failing & 1 or self.source.get(self.failing) == i):
                raise Refused(f"no uninitialised read: {s} gives the location a value before {f}")
        return f"nothing writes before {f}"

    def deadlock(self):
        """Every thread has ended or waits; and what waits has read the newest values, or waits for the end of one that waits."""
        stuck = {s["thread"]: s for s in self.result.get("stuck", [])}
        if not stuck:
            raise NotJudged("the execution does not say which threads wait")
        ended = set(self.result.get("ended", []))
        present = {s.thread for s in self.steps if s.thread >= 0} | {s.value for s in self.steps if s.kind == "spawn"}
        if self.what == "deadlock" and -1 not in stuck:
            for t in sorted(present - ended - set(stuck)):
                raise Refused(f"no deadlock: T{t} has not ended, and does not wait")
        for t, wait in stuck.items():
            if t in ended:
                raise Refused(f"no deadlock: T{t} waits and has ended")
            if "joins" in wait:
                if wait["joins"] not in stuck:
                    raise Refused(f"no deadlock: T{t} waits for the end of T{wait['joins']}, which does not wait")
            elif "barrier" in wait:
                if not self.round_at(wait["barrier"], wait["round"], len(self.steps))[1]:
                    raise Refused(f"no deadlock: T{t} waits at a barrier for arrivals, and all have come")
            elif not wait.get("stopped"):
                self.require_newest(t, stuck)
        return "who waits has seen the newest values"

    def waits_in(self, i, stuck):
        s, wait = self.steps[i], stuck.get(self.steps[i].thread, {})
        section = "finish" if s.thread < 0 else s.thread
        return self.section[i] == section and "since" in wait and s.position >= wait["since"]

    def require_newest(self, thread, stuck):
        reads = [i for i in self.source if self.steps[i].thread == thread and self.waits_in(i, stuck)]
        if not reads:
            raise Refused(f"no deadlock: T{thread} waits, but has read nothing that it could wait for")
        for r in reads:
            order = self.mo[self.steps[r].location]
            newer = order[order.index(self.source[r]) + 1:]
            # A thread that waits in a loop may write, too: the same value again, or a lock that it takes and gives back.
            if newer and self.steps[newer[-1]].leaves() != self.steps[r].value and not all(
                    self.waits_in(w, stuck) for w in newer):
                raise Refused(f"no deadlock: {self.steps[r]} of T{thread}, which waits, has not read the newest value of its "
                              f"location, of {self.steps[newer[-1]]}")

    def not_linearizable(self):
        """The order of the calls that the engine has used is one of hb. Whether the answers fit is not judged."""
        calls = self.result.get("calls", [])
        for call in calls:
            for before in call["after"]:
                earlier = calls[before]
                if earlier["thread"] == call["thread"] or "last" not in earlier or "first" not in call:
                    continue  # the same thread, or a call that makes no step
                a, b = self.index_of[earlier["last"] + 1], self.index_of[call["first"] + 1]
                if not self.hb[a] >> b & 1:
                    raise Refused(f"'{earlier['text']}' is said to come before '{call['text']}', but {self.steps[a]} does not "
                                  f"happen before {self.steps[b]}")
        raise NotJudged("the sequential specification, which the answers of the calls break, is not in the execution")


FAILURES = {
    "data race": Execution.data_race,
    "use after free": Execution.use_after_free,
    "double free": Execution.double_free,
    "unpublished allocation": Execution.unpublished_allocation,
    "leak": Execution.leak,
    "uninitialised read": Execution.uninitialised_read,
    "deadlock": Execution.deadlock,
    "not lock-free": Execution.deadlock,
    "not linearizable": Execution.not_linearizable,
}


def then(first, second):
    """The composition of two relations."""
    result = []
    for to in first:
        reached = 0
        for middle in bits(to):
            reached |= second[middle]
        result.append(reached)
    return result


def judge(result):
    """Returns what is seen of the failure; empty: only that the execution exists. Raises Refused or NotJudged."""
    if not result.get("knows_sources", True):
        raise NotJudged("the engine does not tell what reads read from")
    execution = Execution(result)
    execution.require_consistent()
    try:
        return execution.require_failure()
    except NotJudged as why:
        why.exists = True
        raise


def executions_in(found, name=""):
    """All executions in what --json has written, each with its name."""
    if isinstance(found, list):
        for item in found:
            yield from executions_in(item, name)
    elif isinstance(found, dict):
        if found.get("trace") and "what" in found:
            yield name, found
        own = " ".join(str(found[key]) for key in ("case", "label") if found.get(key))
        for key, item in found.items():
            if key not in ("trace", "html") and isinstance(item, (dict, list)):
                yield from executions_in(item, own or (f"{name}/{key}" if name and key != "result" else name))


def verdict(result):
    """Returns one of four words, and why."""
    try:
        seen = judge(result)
    except Refused as why:
        return "refused", str(why)
    except NotJudged as why:
        return "exists, not judged" if why.exists else "not judged", str(why)
    return ("fails so", seen) if seen else ("exists", "it does not fail" if result["what"] == "none" else OF_THE_PROGRAM_TEXT)


def refusals(found):
    """Why the executions in what --json has written are refused."""
    verdicts = [verdict(result) for _, result in executions_in(found)]
    return [why for word, why in verdicts if word == "refused"]


def main():
    names = [name for name in sys.argv[1:] if name != "--verbose"]
    counts, left_out = collections.Counter(), 0
    for path in names:
        try:
            with open(path, encoding="utf-8") as file:
                found = json.load(file)
        except (OSError, ValueError) as error:
            print(f"validate: cannot read {path}: {error}", file=sys.stderr)
            sys.exit(2)
        for name, result in executions_in(found):
            word, why = verdict(result)
            left_out += Execution(result).left_out()
            what = "no failure" if result["what"] == "none" else result["what"]
            counts[what, word if word in ("fails so", "refused") else f"{word}: {why}"] += 1
            if word == "refused" or "--verbose" in sys.argv:
                print(f"{path}: {name}: {what}: {word}: {why}")
    for (what, how), count in sorted(counts.items()):
        print(f"{count:>6}  {what}: {how}")
    refused = sum(count for (_, how), count in counts.items() if how == "refused")
    if left_out:
        print(f"{left_out:>6}  steps of threads are in no trace: constructions that give no value, and choices to do nothing")
    print(f"validate: {sum(counts.values())} executions, {refused} refused")
    sys.exit(1 if refused else 0 if counts else 2)


if __name__ == "__main__":
    main()
