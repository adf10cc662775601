#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which seeded bug breaks which law.

The bugs are the mutants of models/cases/*/*/*.mutants (models/verify/mutants.py says how one is written, and applies
it): `breaks:` names the laws that must fail on it, as in `breaks: ring/pop_takes_the_oldest`.

  laws.py list                          name, stem, header, laws, table and the name by which it is chosen of every bug of
                                        every stem, one a line, split by '|'
  laws.py coverage STEM=PROGRAM...      fails unless every law that PROGRAM --list names is broken by some bug, and no two
                                        bugs are the same
  laws.py check-doc FILE                fails unless FILE contains the table of evidence/laws.md; update-doc writes it
"""
import pathlib
import re
import subprocess
import sys

MODELS = pathlib.Path(__file__).resolve().parents[2] / "models"
sys.path.insert(0, str(MODELS / "verify"))
sys.dont_write_bytecode = True
from mutants import mutants_of  # noqa: E402

STEMS = ["ring", "split_ring", "runnext", "inject", "shared_fifo", "local_queue", "chase_lev", "split_deque", "counted",
         "boxed"]
BEGIN = "<!-- laws.py table: begin -->"
END = "<!-- laws.py table: end -->"


def short(mutant):
    return mutant.name.split("/", 1)[1]


def bugs():
    """(stem, laws of this stem, mutant) for each stem whose laws a mutant breaks, which may be two."""
    for mutant in mutants_of(MODELS / "cases"):
        laws = [law.split("/", 1) for law in mutant.laws]
        if laws and mutant.apart:
            sys.exit(f"{mutant.name}: a mutant that breaks laws is chosen at run time, and cannot have a module of its own")
        for stem in dict.fromkeys(stem for stem, _ in laws):
            if stem not in STEMS:
                sys.exit(f"{mutant.name}: there are no laws of '{stem}', only of {', '.join(STEMS)}")
            yield stem, [law for s, law in laws if s == stem], mutant


def twice():
    """How many mutants make the same change as another one."""
    seen, found = {}, 0
    for mutant in mutants_of(MODELS / "cases"):
        first = seen.setdefault((mutant.header, str(mutant.changes)), mutant)
        if first is not mutant:
            print(f"{mutant.name}: the same change as {first.name}")
            found += 1
    return found


def coverage(programs):
    all_bugs, bad = list(bugs()), twice()
    for word in programs:
        stem, program = word.split("=", 1)
        laws = subprocess.run([program, "--list"], check=True, capture_output=True, text=True).stdout.split()
        mine = [broken for s, broken, _ in all_bugs if s == stem]
        broken = {law for some in mine for law in some}
        for law in laws:
            if law not in broken:
                print(f"{stem}/{law}: no seeded bug makes this law fail")
                bad += 1
        for law in sorted(broken - set(laws)):
            print(f"{stem}/{law}: a mutant names it, but there is no such law")
            bad += 1
        print(f"{stem}: {len(laws)} laws, {len(mine)} mutants")
    sys.exit(1 if bad else 0)


def table():
    rows = ["| law | seeded bugs that it must fail on |", "|---|---|"]
    seen = {}
    for stem, laws, mutant in bugs():
        for law in laws:
            seen.setdefault((STEMS.index(stem), law), []).append(short(mutant))
    for (stem, law), names in sorted(seen.items()):
        rows.append(f"| `{STEMS[stem]}/{law}` | {', '.join(f'`{n}`' for n in names)} |")
    return f"{BEGIN}\n" + "\n".join(rows) + f"\n{END}"


def main():
    words = sys.argv[1:]
    if words == ["list"]:
        for stem, laws, mutant in bugs():
            print(f"{stem}.{short(mutant)}|{stem}|{mutant.header}|{' '.join(laws)}|{mutant.table}|{mutant.name}")
    elif len(words) > 1 and words[0] == "coverage":
        coverage(words[1:])
    elif len(words) == 2 and words[0] in ("check-doc", "update-doc"):
        page = pathlib.Path(words[1])
        text = page.read_text()
        fresh = re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: table(), text, flags=re.DOTALL)
        if words[0] == "update-doc":
            page.write_text(fresh)
        elif fresh != text or BEGIN not in text:
            sys.exit(f"{page} does not show the table as it is now; run laws.py update-doc")
    else:
        sys.exit(__doc__)


main()
