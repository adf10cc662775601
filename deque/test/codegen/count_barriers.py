#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the instructions that order memory in the code of the hot operations, and compares them with expected.txt.

  count_barriers.py --arch x86-64|aarch64 --compiler CXX --include DIR [--flags WORDS]
                    [--strengthen SITE:ORDER --must-notice OPERATION]

With --strengthen a copy of the headers gets another memory order at the place whose comment begins with [SITE]. The
count of OPERATION must then differ, which shows that the test would notice an unneeded barrier.
"""
import argparse
import collections
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
FLAGS = {"x86-64": [], "aarch64": ["-march=armv8-a+lse"]}


def x86_64(locked, name, operands):
    if name in ("mfence", "lfence", "sfence"):
        return "fence"
    if locked and re.match(r"or[bwlq]? \$0, ?-?\d*\(%rsp\)", f"{name} {operands}"):
        return "fence"
    if name.startswith("xchg"):
        return "xchg" if "(" in operands else None  # between registers nothing is locked
    return re.sub("[bwlq]$", "", name) if locked else None


def aarch64(_, name, __):
    loads_and_stores = "ld(a|la|ap|ax|x|lax)u?r|st(l|ll|lx|x)u?r|(ld|st)l?a?xp"
    read_modify_writes = "(casp?|swp|(ld|st)(add|clr|eor|set|smax|smin|umax|umin))(a|l|al)?"
    if name in ("dmb", "dsb", "isb"):
        return name
    plain = re.sub("[bh]$", "", name)  # of bytes and half words
    return plain if re.fullmatch(f"{loads_and_stores}|{read_modify_writes}", plain) else None


def count(assembly, arch):
    kind = {"x86-64": x86_64, "aarch64": aarch64}[arch]
    counts, operation = {}, None
    for line in assembly.splitlines():
        # The compiler puts the seldom executed part of a function elsewhere, under the label NAME.cold.
        label = re.match(r"([a-z_]\w*)(\.cold)?:", line)
        instruction = re.match(r"\t(lock\s+)?([a-z]\w*)\s*(.*)", line)
        if label:
            operation = label[1]
            counts.setdefault(operation, collections.Counter())
        elif operation and instruction:
            what = kind(*instruction.groups())
            if re.search("__atomic_|__aarch64_|__sync_", instruction[3]):
                what = "call"
            if what:
                counts[operation][what] += 1
    return counts


def expected(arch, family):
    rows = {}
    for number, line in enumerate((HERE / "expected.txt").read_text().splitlines(), 1):
        if line.startswith("#") or not line.strip():
            continue
        row = re.fullmatch(r"(\S+)\s+(\S+)\s+(\S+)\s+(none|[a-z]+ \d+(?:, [a-z]+ \d+)*)\s+# .+", line)
        if not row:
            sys.exit(f"expected.txt:{number}: not a row, or one that does not say why")
        if row[1] == arch and row[3] in ("*", family) and (row[3] == family or row[2] not in rows):
            words = [] if row[4] == "none" else row[4].split(", ")
            rows[row[2]] = {w.split()[0]: int(w.split()[1]) for w in words}
    return rows


def strengthen(include, out, change):
    """A copy of the headers with another order at one place: the first order after the comment with the site's name."""
    site, order = change.split(":")
    shutil.copytree(include, out)
    changed = 0
    comment = rf"// \[{re.escape(site)}\](?:.*\n\s*//)*.*\n"
    for header in pathlib.Path(out).glob("runq/*.hpp"):
        text, n = re.subn(rf"({comment}[^;]*?std::memory_order::)\w+", rf"\g<1>{order}", header.read_text())
        header.write_text(text)
        changed += n
    if changed != 1:
        sys.exit(f"[{site}] was found {changed} times, not once")
    return out


def show(counts):
    return ", ".join(f"{what} {n}" for what, n in sorted(counts.items())) or "none"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--arch", choices=FLAGS, required=True)
    p.add_argument("--compiler", required=True)
    p.add_argument("--include", required=True)
    p.add_argument("--flags", default="")
    p.add_argument("--strengthen", metavar="SITE:ORDER")
    p.add_argument("--must-notice", metavar="OPERATION")
    a = p.parse_args()
    family = "clang++" if "clang" in pathlib.Path(a.compiler).name else "g++"
    flags = FLAGS[a.arch] + (["-mno-outline-atomics"] if (a.arch, family) == ("aarch64", "g++") else [])
    with tempfile.TemporaryDirectory() as temporary:
        include = strengthen(a.include, f"{temporary}/include", a.strengthen) if a.strengthen else a.include
        command = [a.compiler, "-std=c++20", "-O2", "-DNDEBUG", "-S", "-o", "-", *flags, *shlex.split(a.flags),
                   f"-I{include}", str(HERE / "hot_operations.cpp")]
        found = count(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout, a.arch)
    rows = expected(a.arch, family)
    sources = set(re.findall(r"^\S.*?(\w+)\(", (HERE / "hot_operations.cpp").read_text(), re.M))
    wrong = [f"{name}: not in expected.txt" for name in sorted(sources - set(rows))]
    differs = set()
    for name, want in rows.items():
        if name not in found:
            wrong.append(f"{name}: there is no code of it")
        elif dict(found[name]) != want:
            differs.add(name)
            wrong.append(f"{name}: expected {show(want)}, found {show(found[name])}")
    print(f"{a.arch}, {pathlib.Path(a.compiler).name}: {len(rows)} operations, {len(wrong)} not as expected")
    for line in wrong:
        print(line)
    if a.must_notice:
        sys.exit(0 if a.must_notice in differs else f"{a.strengthen} goes unnoticed in {a.must_notice}")
    sys.exit(1 if wrong else 0)


main()
