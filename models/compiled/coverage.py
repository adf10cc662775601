#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which operations of a checked program were executed by some execution, and which by none.

    coverage.py [--never] PROGRAM EXECUTED [NAME ...]
    coverage.py --ways PROGRAM WAYS FOLDER

EXECUTED is what the checked program wrote: the return address of each operation that was executed, with its orders. The
program's machine code names all operations: each is a call of ThreadSanitizer's interface. With NAMEs only operations in
files whose paths end with a NAME, or lie in a folder NAME/, which may be headers of the system. Needs objdump and
addr2line (binutils). With --never it prints one line with what was not executed, and nothing if all was.

With --ways one line with the conditions that all executions have decided in one way. WAYS is what the checked program
wrote of each object, FOLDER has what branches.awk wrote of it.
"""
import collections
import os
import re
import subprocess
import sys

INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(\S+)(.*)$")
CALL = re.compile(r"call|bl$")  # of x86-64, and of AArch64
CALLED = re.compile(r"<(__tsan_\w+|__atomic_\w+)(?:@plt)?>")
ATOMIC = re.compile(r"^(?:__tsan_atomic\d*|__atomic)_(load|store|exchange|fetch_\w+|compare_exchange|thread_fence)")
ACCESS = re.compile(r"^__tsan_(?:unaligned_|volatile_|noted_)*(?:read|write)")

# For programs of another processor, runq-check says how its tools begin, and what runs them.
BINUTILS = os.environ.get("RUNQ_CHECK_BINUTILS", "")
EMULATOR = os.environ.get("RUNQ_CHECK_EMULATOR", "").split()

# `kind` is as in --weaken; "" is a plain access.
Operation = collections.namedtuple("Operation", "returns_to kind")


def kind_of(function):
    found = ATOMIC.match(function)
    if found:
        name = found[1]
        return "fence" if name == "thread_fence" else name if name in ("load", "store") else "rmw"
    return "" if ACCESS.match(function) else None


def run(tool, *arguments, given=None, env=None):
    try:
        return subprocess.run([tool, *arguments], input=given, env=env, stdout=subprocess.PIPE, text=True,
                              check=True).stdout
    except FileNotFoundError:
        sys.exit(f"runq-check: --coverage needs {tool} (Debian: binutils)")
    except subprocess.CalledProcessError as error:
        sys.exit(f"runq-check: --coverage: {tool} ended with status {error.returncode}")


def operations(program):
    """All calls of the interface. A call returns to the instruction behind it."""
    kind = None
    for line in run(BINUTILS + "objdump", "-d", "--no-show-raw-insn", "-w", program).splitlines():
        found = INSTRUCTION.match(line)
        if not found:
            continue
        if kind is not None:
            yield Operation(int(found[1], 16), kind)
        called = CALLED.search(found[3]) if CALL.match(found[2]) else None
        kind = kind_of(called[1]) if called else None


def inlined_lines(program, addresses):
    """For each address its (file, line) and those of the calls that were compiled inline around it, innermost first."""
    text = run(BINUTILS + "addr2line", "-a", "-i", "-f", "-e", program, given="".join(f"{a:x}\n" for a in addresses))
    chains = []
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("0x"):
            chains.append([])
            continue
        file, _, number = next(lines).split(" ")[0].rpartition(":")
        if number.isdigit():
            chains[-1].append((os.path.normpath(file), int(number)))
    return chains


def owners_of(program, files):
    """Whose each file is: "program", "library" or "atomics" (symbols.hpp). The program tells: it holds the checker."""
    files = sorted(files)
    said = run(*EMULATOR, os.path.abspath(program), given="".join(f"{file}\n" for file in files),
               env={**os.environ, "RUNQ_CHECK_FILES": ""})
    return dict(zip(files, said.split(), strict=True))


def is_named(path, names):
    return any(f"/{name}" in path if name.endswith("/") else path == name or path.endswith("/" + name) for name in names)


def place_of(operation, chain, owners, names):
    """The innermost line that counts. Nothing for an operation within the library, of which the program gives no order."""
    for file, line in chain:
        if owners[file] == "program" or is_named(file, names):
            return file, line
        if operation.kind and owners[file] != "atomics":
            return None
    return None


def read_executed(path):
    """return address -> orders. Each check of a program has written a list."""
    executed = collections.defaultdict(list)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                address, *orders = line.split()
                known = executed[int(address, 16)]
                known += [o for o in orders if o not in known]
    return executed


class Place:
    """All copies of one operation: inline, or in instances of a template."""

    def __init__(self):
        self.executed = False
        self.orders = []

    def add(self, orders):
        if orders is None:
            return
        self.executed = True
        self.orders += [o for o in orders if o not in self.orders]


def places(program, executed, names):
    """(file, line, kind) -> Place."""
    found = collections.defaultdict(Place)
    all_operations = list(operations(program))
    # A return address may belong to the next line already.
    chains = inlined_lines(program, [o.returns_to - 1 for o in all_operations])
    owners = owners_of(program, {file for chain in chains for file, _ in chain})
    for operation, chain in zip(all_operations, chains):
        where = place_of(operation, chain, owners, names)
        if where is not None and (not names or is_named(where[0], names)):
            found[where + (operation.kind,)].add(executed.get(operation.returns_to))
    return found


def source_line(file, line):
    try:
        with open(file, encoding="utf-8", errors="replace") as source:
            return next((text.strip() for number, text in enumerate(source, 1) if number == line), "")
    except OSError:
        return ""


def site_of(file, line):
    return f"{os.path.basename(file)}:{line}"


def text_of(program, executed_file, names):
    found = places(program, read_executed(executed_file), names)
    atomics = {where: place for where, place in found.items() if where[2]}
    accesses = {where: place for where, place in found.items() if not where[2]}
    not_executed = sorted(((where, place) for where, place in accesses.items() if not place.executed), key=lambda item: item[0])
    lines = [f"coverage: {sum(p.executed for p in atomics.values())} of {len(atomics)} atomic operations were executed, and "
             f"{sum(p.executed for p in accesses.values())} of {len(accesses)} lines with plain accesses"]
    width = max((len(site_of(file, line)) for file, line, _ in found), default=0)
    for (file, line, kind), place in sorted(atomics.items(), key=lambda item: item[0]) + not_executed:
        orders = "/".join(place.orders) if place.executed else "NEVER EXECUTED"
        lines.append(f"  {site_of(file, line):<{width}} {kind or 'plain':<6} {orders:<16}  {source_line(file, line)[:90]}")
    return "\n".join(lines)


def never_text(program, executed_file, names):
    """ "not executed by this test: 2 of 4 atomic operations (queue.hpp:12 store, queue.hpp:30 load)", or nothing."""
    found = places(program, read_executed(executed_file), names)
    parts = []
    for what, of_kind in (("atomic operations", lambda kind: kind != ""), ("lines with plain accesses", lambda kind: kind == "")):
        mine = {where: place for where, place in found.items() if of_kind(where[2])}
        never = [f"{site_of(file, line)} {kind}".strip() for (file, line, kind), place in sorted(mine.items()) if not place.executed]
        shown = ", ".join(never[:5]) + (f", and {len(never) - 5} more" if len(never) > 5 else "")
        if never:
            parts.append(f"{len(never)} of {len(mine)} {what} ({shown})")
    return f"not executed by this test: {', '.join(parts)}" if parts else ""


# Lines whose conditions have one way in a test that passes: what ends the test, and what compilers decide themselves.
ONE_WAY_LINES = re.compile(r"assert|ASSERT|EXPECT|CHECK|REQUIRE|abort|\bexit\b|terminate|\bthrow\b|\bdelete\b|\bstatic\b|return 1;")


def decided(ways_file, folder):
    """(file, line) -> [of each column: how each copy of the condition has been decided], for those that were decided."""
    columns = collections.defaultdict(set)
    with open(ways_file, encoding="utf-8") as objects:
        for line in objects:
            number, ways = line.split()
            with open(os.path.join(folder, number + ".ways"), encoding="utf-8") as places_of_object:
                for i, place in enumerate(places_of_object):
                    file, *at = place.rstrip("\n").split("\t")
                    if "1" in ways[2 * i:2 * i + 2]:
                        columns[(os.path.normpath(file), *map(int, at))].add(ways[2 * i:2 * i + 2])
    lines = collections.defaultdict(list)
    for (file, number, _), copies in columns.items():
        lines[file, number].append(copies)
    return lines


def one_way_text(program, ways_file, names):
    """ "decided in one way only: 1 of 3 conditions (queue.hpp:12)", or nothing."""
    lines = decided(ways_file, names[0])
    owners = owners_of(program, {file for file, _ in lines})
    lines = {where: columns for where, columns in lines.items()
             if owners[where[0]] == "program" and not ONE_WAY_LINES.search(source_line(*where))}
    # A compiler may turn round one of two copies, so copies that differ may have had both ways.
    once = [site_of(*where) for where, columns in sorted(lines.items()) if {"10"} in columns or {"01"} in columns]
    shown = ", ".join(once[:5]) + (f", and {len(once) - 5} more" if len(once) > 5 else "")
    return f"decided in one way only by this test: {len(once)} of {len(lines)} lines with conditions ({shown})" if once else ""


def main():
    arguments = sys.argv[1:]
    text = {"--never": never_text, "--ways": one_way_text}.get(arguments[0] if arguments else "")
    if text:
        del arguments[0]
    if len(arguments) < 2:
        sys.exit(__doc__)
    printed = (text or text_of)(arguments[0], arguments[1], arguments[2:])
    try:
        if printed:
            print(printed, flush=True)
    except BrokenPipeError:
        os._exit(0)


if __name__ == "__main__":
    main()
