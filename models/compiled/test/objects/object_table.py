#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a call does with an object of pthreads or of C11 in each of its states: a table, and a program for each cell.

run_program.py compiles all programs together, and checks each. The table stands in evidence/objects.md, too; --docs compares
it, and --write-docs writes it there.
"""
import argparse
import collections
import os
import subprocess
import sys
import tempfile

# Calls are written with `p` for the object. `before` makes a call right that needs it, `after` undoes it, and `fine` are the
# results that a right call may have. `blocked` is a call that does not come back before another thread helps.
Call = collections.namedtuple("Call", "text before after fine", defaults=("", "", "e == 0"))
# `zeros`: whether an object of zeros is initialised; None: it would be one of another kind. `held` is a call by which a thread
# holds the object. `sound` are checked as right calls, and in all wrong states with `init` and `destroy`.
Kind = collections.namedtuple("Kind", "name type init destroy calls zeros held needs_lock")

IN_TIME = "e == 0 || e == ETIMEDOUT"


def mutex(name, kind, zeros):
    take, give = "pthread_mutex_lock(p)", "pthread_mutex_unlock(p)"
    calls = [Call(take, after=give), Call("pthread_mutex_trylock(p)", after=give),
             Call("pthread_mutex_timedlock(p, &soon)", after=give, fine=IN_TIME), Call(give, before=take)]
    return Kind(name, "pthread_mutex_t", f"init_mutex(p, {kind})", "pthread_mutex_destroy(p)", calls, zeros, take, False)


def read_write_lock():
    give = "pthread_rwlock_unlock(p)"
    calls = [Call(f"pthread_rwlock_{how}lock(p)", after=give) for how in ("rd", "wr", "tryrd", "trywr")]
    calls += [Call(f"pthread_rwlock_timed{how}lock(p, &soon)", after=give, fine=IN_TIME) for how in ("rd", "wr")]
    calls += [Call(give, before="pthread_rwlock_rdlock(p)")]
    return Kind("read-write lock", "pthread_rwlock_t", "pthread_rwlock_init(p, NULL)", "pthread_rwlock_destroy(p)", calls, True,
                "pthread_rwlock_rdlock(p)", False)


def spin_lock():
    take, give = "pthread_spin_lock(p)", "pthread_spin_unlock(p)"
    calls = [Call(take, after=give), Call("pthread_spin_trylock(p)", after=give), Call(give, before=take)]
    return Kind("spin lock", "pthread_spinlock_t", "pthread_spin_init(p, 0)", "pthread_spin_destroy(p)", calls, False, take, False)


def condition_variable():
    calls = [Call("pthread_cond_signal(p)"), Call("pthread_cond_broadcast(p)"),
             Call("pthread_cond_timedwait(p, &m, &soon)", fine=IN_TIME),
             Call("pthread_cond_wait(p, &m)", fine="")]
    return Kind("condition variable", "pthread_cond_t", "pthread_cond_init(p, NULL)", "pthread_cond_destroy(p)", calls, True, None,
                True)


def barrier():
    calls = [Call("pthread_barrier_wait(p)", fine="e == PTHREAD_BARRIER_SERIAL_THREAD")]
    return Kind("barrier", "pthread_barrier_t", "pthread_barrier_init(p, NULL, 1)", "pthread_barrier_destroy(p)", calls, False,
                None, False)


def semaphore():
    calls = [Call("sem_wait(p)"), Call("sem_trywait(p)"),
             Call("sem_timedwait(p, &soon)", fine="e == 0 || errno == ETIMEDOUT"), Call("sem_post(p)"),
             Call("sem_getvalue(p, &value)", fine="e == 0 && value == 1")]
    return Kind("semaphore", "sem_t", "sem_init(p, 0, 1)", "sem_destroy(p)", calls, False, None, False)


def c11_mutex():
    take, give = "mtx_lock(p)", "mtx_unlock(p)"
    calls = [Call(take, after=give), Call("mtx_trylock(p)", after=give),
             Call("mtx_timedlock(p, &soon)", after=give, fine="e == thrd_success || e == thrd_timedout"), Call(give, before=take)]
    return Kind("mutex of C11", "mtx_t", "mtx_init(p, mtx_timed)", "(mtx_destroy(p), 0)", calls, None, take, False)


def c11_condition_variable():
    calls = [Call("cnd_signal(p)"), Call("cnd_broadcast(p)"),
             Call("cnd_timedwait(p, (mtx_t*)&m, &soon)", fine="e == thrd_success || e == thrd_timedout"), Call("cnd_wait(p, (mtx_t*)&m)", fine="")]
    return Kind("condition variable of C11", "cnd_t", "cnd_init(p)", "(cnd_destroy(p), 0)", calls, None, None, True)


KINDS = [mutex("mutex", "PTHREAD_MUTEX_NORMAL", True), mutex("recursive mutex", "PTHREAD_MUTEX_RECURSIVE", None),
         mutex("error-checking mutex", "PTHREAD_MUTEX_ERRORCHECK", None), read_write_lock(), spin_lock(), condition_variable(),
         barrier(), semaphore(), c11_mutex(), c11_condition_variable()]

HEAD = """#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
static const struct timespec soon = {1, 0};
static pthread_mutex_t m;
static atomic_int ready, go;
static int value, rounds;
static int init_mutex(pthread_mutex_t* p, int kind) {
  pthread_mutexattr_t a;
  pthread_mutexattr_init(&a);
  pthread_mutexattr_settype(&a, kind);
  const int e = pthread_mutex_init(p, &a);
  pthread_mutexattr_destroy(&a);
  return e;
}
"""


def program(expected, kind, main, beside=""):
    """A program whose main() has those statements, beside a thread with other ones."""
    text = f"// check: {expected}\n{HEAD}static {kind.type} o;\n"
    if beside:
        text += f"static void* run(void* argument) {{\n  {kind.type}* p = argument;\n"
        text += "".join(f"  {line};\n" for line in beside if line) + "  return NULL;\n}\n"
    # In a static variable, so that what is not freed leaks nowhere.
    text += f"int main(void) {{\n  static {kind.type}* p = &o;\n  pthread_t t;\n"
    return text + "".join(f"  {line};\n" for line in main if line) + "}\n"


# A spin lock is volatile.
START, JOIN, FREE = "pthread_create(&t, NULL, run, (void*)p)", "pthread_join(t, NULL)", "free((void*)p)"


def all_calls(kind):
    return [*(c.text for c in kind.calls), kind.destroy, kind.init]


def on_heap(kind):
    return f"p = malloc(sizeof({kind.type}))"


def lock_of(kind, text):
    """What a wait for a condition variable needs."""
    return "pthread_mutex_lock(&m)" if kind.needs_lock and "wait" in text else ""


def unlock_of(kind, text):
    return "pthread_mutex_unlock(&m)" if lock_of(kind, text) else ""


def right(kind):
    for call in kind.calls:
        if not call.fine:
            continue
        yield "passes", [kind.init, call.before, lock_of(kind, call.text), f"const int e = {call.text}", f"assert({call.fine})",
                         f"if (e == 0) {call.after}" if call.after else "", unlock_of(kind, call.text), kind.destroy], []
    yield "passes", [kind.init, kind.destroy, kind.init, kind.destroy], []
    yield "passes", [kind.init, START, JOIN, kind.destroy], [call_and_back(kind)]


def call_and_back(kind):
    call = kind.calls[0]
    return "; ".join(filter(None, [call.text, call.after]))


def freed(kind):
    for text in all_calls(kind):
        yield "FAIL use after free", [on_heap(kind), kind.init, FREE, lock_of(kind, text), text], []


def freed_beside(kind):
    for text in all_calls(kind):
        yield "FAIL use after free", [on_heap(kind), kind.init, START, FREE, JOIN], [lock_of(kind, text), text]


def destroyed(kind):
    for text in all_calls(kind):
        if text == kind.init:
            yield "passes", [kind.init, kind.destroy, text], []
        else:
            what = "destroyed" if text == kind.destroy else "used"
            yield f"FAIL is {what} after or while it is destroyed by T0 at", [kind.init, kind.destroy, lock_of(kind, text), text], []


def destroyed_beside(kind):
    for text in all_calls(kind):
        yield "FAIL destroyed", [kind.init, START, kind.destroy, JOIN], [lock_of(kind, text), text]
    for call in kind.calls:
        if "wait(p, &m)" in call.text or "wait(p, (mtx_t" in call.text:
            continue
        yield ("FAIL is destroyed while in use", [kind.init, START, call.before, lock_of(kind, call.text), call.text, JOIN],
               [kind.destroy])


def zeros(kind):
    if kind.zeros is None:
        return
    for call in kind.calls:
        if not call.fine:
            continue
        if kind.zeros:
            yield "passes", [call.before, lock_of(kind, call.text), f"const int e = {call.text}", f"assert({call.fine})",
                             f"if (e == 0) {call.after}" if call.after else "", unlock_of(kind, call.text)], []
        else:
            yield "FAIL is used that was never initialised", [call.text], []
    yield ("passes" if kind.zeros else "FAIL is destroyed that was never initialised"), [kind.destroy], []


def something_else(kind):
    for text in all_calls(kind)[:-1]:
        what = "destroyed" if text == kind.destroy else "used"
        yield f"FAIL is {what} that was never initialised", [on_heap(kind), "memset((void*)p, 0x5a, sizeof *p)", lock_of(kind, text), text], []


def nowhere(kind):
    for text in all_calls(kind):
        yield "FAIL SEGV", ["p = NULL", lock_of(kind, text), text], []
        yield "FAIL is used at the misaligned address", ["p = (void*)((char*)p + 1)", lock_of(kind, text), text], []


def copied(kind):
    copy = [on_heap(kind), "memcpy((void*)p, (void*)&o, sizeof *p)"]
    for text in all_calls(kind)[:-1]:
        expected = "is a copy of the"
        if kind.type == "pthread_spinlock_t":
            expected = "was never initialised"
        yield f"FAIL {expected}", [kind.init, *copy, lock_of(kind, text), text], []


def initialised_twice(kind):
    yield "FAIL is initialised again: it was initialised by T0 at", [kind.init, kind.init], []
    for call in kind.calls:
        yield "FAIL data race", [START, kind.init, JOIN], [lock_of(kind, call.text), call.text]
        if kind.zeros and call.fine:
            yield ("FAIL is initialised while in use", [START, call.before, lock_of(kind, call.text), call.text, JOIN],
                   [kind.init])


# T1 says that it holds the object, and goes on when T0 has done something with it.
HELD_BY_T1 = ["atomic_store(&ready, 1)", "while (atomic_load(&go) == 0) continue"]
SEES_IT_HELD = "if (atomic_load(&ready) == 0) return atomic_store(&go, 1), pthread_join(t, NULL)"
# T1 waits for the object, unless T0 comes first.
SEES_IT_AWAITED = ["pthread_mutex_lock(&m)", "const int waits = value", "value = 2", "pthread_mutex_unlock(&m)",
                   "if (!waits) return pthread_join(t, NULL)"]


def waits_unless(kind, call):
    return ["pthread_mutex_lock(&m)", f"if (value == 0) {{ value = 1; {call}; }}", "pthread_mutex_unlock(&m)"]


def in_use(kind):
    if kind.held:
        give = next(call.text for call in kind.calls if call.before)
        held = "while T1 holds it, taken at"
        taken = [kind.held, *HELD_BY_T1, give]
        yield "FAIL is destroyed while T0 holds it, taken at", [kind.init, kind.held, kind.destroy], []
        yield f"FAIL is destroyed {held}", [kind.init, START, SEES_IT_HELD, kind.destroy, JOIN], taken
        yield f"FAIL is freed {held}", [on_heap(kind), kind.init, START, SEES_IT_HELD, FREE, JOIN], taken
        yield "FAIL T1 has ended while it holds the", [kind.init, START, JOIN], [kind.held]
        yield "FAIL is destroyed while T1 holds it, taken at", [kind.init, START, JOIN, kind.destroy], [kind.held]
    if kind.needs_lock:
        wait, wake_all = kind.calls[3].text, kind.calls[1].text
        waits = waits_unless(kind, wait)
        yield "FAIL is destroyed while T1 waits for it at", [kind.init, START, *SEES_IT_AWAITED, kind.destroy, JOIN], waits
        yield ("FAIL is freed while T1 waits for it at",
               [on_heap(kind), kind.init, START, *SEES_IT_AWAITED, FREE, JOIN], waits)
        # Who has woken all that wait may destroy it, although they still come back.
        yield "passes", [kind.init, START, *SEES_IT_AWAITED, wake_all, kind.destroy, JOIN], waits
    if kind.name == "barrier":
        two = kind.init.replace("1", "2")
        yield "FAIL destroyed", [two, START, kind.destroy, JOIN], [kind.calls[0].text]
        # Who has come back from a barrier may destroy it, although others still come back.
        yield "passes", [two, START, kind.calls[0].text, kind.destroy, JOIN], [kind.calls[0].text]
        yield "passes", [two, START, kind.calls[0].text, kind.destroy, two, JOIN], [kind.calls[0].text]
        once = [two, START, kind.calls[0].text, "assert(value == ++rounds)", JOIN, kind.destroy]
        yield "passes", [*once, *once], ["++value", kind.calls[0].text]
    if kind.name == "semaphore":
        yield "FAIL destroyed", ["sem_init(p, 0, 0)", START, kind.destroy, JOIN], ["sem_wait(p)"]
        yield "passes", ["sem_init(p, 0, 0)", START, "sem_wait(p)", kind.destroy, JOIN], ["sem_post(p)"]


def not_held(kind):
    if not kind.held:
        return
    give = next(call.text for call in kind.calls if call.before)
    expected = "FAIL T0 gives back the"
    if "RECURSIVE" in kind.init or "ERRORCHECK" in kind.init:
        expected, give = "passes", f"assert({give} == EPERM)"
    yield expected, [kind.init, give], []
    give_as_t0 = [kind.init, START, "if (atomic_load(&ready) == 1) {", give, "}", "atomic_store(&go, 1)", JOIN]
    yield expected, give_as_t0, [kind.held, *HELD_BY_T1, next(call.text for call in kind.calls if call.before)]


# The heading of a column, what is tried in it, and what its cells say when every program of a kind fails, as it must.
STATES = [("used rightly", right), ("freed before", freed), ("freed meanwhile", freed_beside), ("destroyed before", destroyed),
          ("destroyed meanwhile", destroyed_beside), ("zeros", zeros), ("anything else", something_else), ("no address, or misaligned", nowhere), ("a copy", copied),
          ("initialised twice, or meanwhile", initialised_twice), ("held or waited for", in_use),
          ("given back, not held", not_held)]
BEGIN, END = "<!-- objects: begin -->\n", "<!-- objects: end -->\n"


def cells():
    """For each kind and state the programs, as pairs of what is expected and a text."""
    return {(kind.name, state): [(expected, program(expected, kind, main, beside)) for expected, main, beside in tried(kind)]
            for kind in KINDS for state, tried in STATES}


def words(programs):
    good = sum(expected == "passes" for expected, _ in programs)
    bad = len(programs) - good
    return ", ".join(filter(None, [f"{good} pass" if good else "", f"{bad} fail" if bad else ""])) or "–"


def table(all_cells):
    rows = [["object", *(state for state, _ in STATES)], ["---"] * (len(STATES) + 1)]
    rows += [[kind.name, *(words(all_cells[kind.name, state]) for state, _ in STATES)] for kind in KINDS]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def look_at_docs(path, text, write):
    with open(path, encoding="utf-8") as page:
        before, _, rest = page.read().partition(BEGIN)
    found, _, after = rest.partition(END)
    if found == text:
        return
    if not write:
        sys.exit(f"{path}: the table of objects is another one; write it by {sys.argv[0]} --write-docs --docs {path}")
    with open(path, "w", encoding="utf-8") as page:
        page.write(before + BEGIN + text + END + after)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--docs", metavar="PAGE")
    options.add_argument("--write-docs", action="store_true")
    options.add_argument("--keep", metavar="DIR", help="write the programs there, and check nothing")
    o, for_programs = options.parse_known_args()
    all_cells = cells()
    if o.docs:
        look_at_docs(o.docs, table(all_cells), o.write_docs)
    if o.write_docs:
        return
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for (kind, state), programs in all_cells.items():
            for number, (_, text) in enumerate(programs):
                name = f"{kind}_{state}_{number}.c".replace(" ", "_").replace(",", "")
                paths.append(os.path.join(o.keep or folder, name))
                with open(paths[-1], "w", encoding="utf-8") as file:
                    file.write(text)
        if not o.keep:
            here = os.path.dirname(os.path.realpath(__file__))
            sys.exit(subprocess.run([sys.executable, os.path.join(here, "..", "run_program.py"), *for_programs, *paths]).returncode)


main()
