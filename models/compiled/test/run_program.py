#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks programs as their first lines say, with a compiler at some levels of optimisation.

A line `// check FLAGS: EXPECTED` stands for one run, compiled with FLAGS; those that begin with `--`, numbers, ranges, `on` and `off` are
options of the checker. EXPECTED is `exhaustive`, `bounded`, `sampled`, or `passes` for one of the first two, perhaps with
the number of executions, and of blocked ones (`exhaustive, 2 executions, +1 blocked`), or with something that is left out
(`bounded; spurious wake-ups`); `FAIL` with a text that the first line has to contain; or such a text, for a check without a
verdict.

Starting the compiler, reading headers and linking take longer than most checks. So all variants of all programs are
compiled as one source, each in a namespace of its own, and the number of arguments says whose main() is checked. The word
`alone` among the FLAGS is for what this does not fit: a variant that must not be there when others are checked, a program in
which macros decide what is included, or one that defines something in a namespace of its headers. runq-check compiles and
checks it, as its users have it do.

With --shipped and --mutants the program has been compiled, over the shipped headers and over those with all mutants; the
word `MUTANT=park/no_second_look` chooses one. There are no other FLAGS then, and a thread may have 20,000 events. With --native it
has been compiled without the checker, too: that program is run first, 100 times, and must end with 0.

With --emulator WORDS the programs are for another processor than x86-64: these words run one, and what only x86-64
has is left out.

Where a check fails, as it has to, validate.py judges the execution that it shows once more, by the axioms alone.
"""
import argparse
import collections
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "selftest"))
import validate

# Others have atomics of 128 bits without being asked, and no signal for a division by zero.
FLAGS_OF_X86_64 = {"-mcx16"}
MACROS_OF_X86_64 = {"-DDIVIDE"}
STATUS = {"exhaustive": 0, "bounded": 0, "sampled": 0, "passes": 0, "FAIL": 1}
# `asked` are options of the checker, `macros` and `flags` the compiler's; `words` are all of them.
Check = collections.namedtuple("Check", "program words alone asked macros flags expected")


def as_expected(expected, status, output, compiler):
    first = output.splitlines()[0] if output else ""
    kind = re.split("[,;]", expected)[0].split()[0]
    if status != STATUS.get(kind, 2):
        return False
    if kind in ("exhaustive", "bounded", "sampled", "passes"):
        number = re.search(r"(\d+) execution", expected)
        # clang leaves something out of every program.
        words = "bounded" if "clang" in compiler else "exhaustive|bounded" if kind == "passes" else kind
        blocked = re.search(r"\+\d+ blocked", expected)
        if blocked is not None and "clang" in compiler and blocked[0] != "+0 blocked":
            blocked = None  # other code, by which more or fewer rounds of a loop lead back
        return (re.match(rf"({words})( \d+)?:", first) is not None and
                (number is None or f"({number[1]} execution" in first) and
                (blocked is None or blocked[0] in first or (blocked[0] == "+0 blocked" and "blocked" not in first)) and
                ("clang" in compiler or expected.partition("; ")[2] in first))
    if kind == "FAIL":
        return first.startswith("FAIL") and expected[len("FAIL"):].strip() in first
    return expected in first


def is_c(program):
    return program.endswith(".c")


def checks_of(program):
    with open(program, encoding="utf-8") as source:
        lines = re.findall(r"^// check ?(.*?): (.*)$", source.read(), re.MULTILINE)
    if not lines:
        sys.exit(f"{program}: no line says what to expect")
    for words, expected in lines:
        asked, macros, flags = [], [], []
        for word in shlex.split(words):
            if word.startswith("--") or re.fullmatch(r"\d+|-?\d+\.\.-?\d+|on|off", word):
                asked.append(word)
            elif word.startswith("-D"):
                macros.append(word)
            elif word != "alone":
                flags.append(word)
        yield Check(program, words, "alone" in shlex.split(words), *map(tuple, (asked, macros, flags)), expected)


def variant(check, name):
    """Returns what the program includes, the program as a part of a larger source, and how to call its main()."""
    with open(check.program, encoding="utf-8") as source:
        text = source.read()
    if re.search(r"^#if(?:(?!^#endif)[\s\S])*?^#include ", text, re.MULTILINE):
        sys.exit(f"{check.program}: a macro decides what is included; say `alone` in all its lines")
    includes = re.findall(r"^#include .*$", text, re.MULTILINE)
    text = re.sub(r"^#include .*$", "", text, flags=re.MULTILINE)
    # No other function than main() returns 0 by itself.
    text = re.sub(r"^int main(\(.*?\) \{\n.*?)^\}$", r"int checked_main\1  return 0; }", text, flags=re.MULTILINE | re.DOTALL)
    macros = [macro.removeprefix("-D").partition("=") for macro in check.macros]
    macros = {macro: value or "1" for macro, _, value in macros}
    before, after = f"namespace {name} {{", "}"
    if is_c(check.program):
        # There are no namespaces: what begins in the first column is declared under another name.
        before, after = "", ""
        for line in re.findall(r"^[a-z].*?(?=\{ |//|$)", text, re.MULTILINE):
            for declared in re.findall(r"\b([a-z]\w*)(?=[(\[;,]| =| \{)", line):
                macros[declared] = f"{name}_{declared}"
    defined = {*macros, *re.findall(r"^#define (\w+)", text, re.MULTILINE)}
    text = "\n".join([*(f"#define {macro} {value}" for macro, value in macros.items()), before,
                      f'#line 1 "{os.path.realpath(check.program)}"', text, after,
                      *(f"#undef {macro}" for macro in sorted(defined))])
    return includes, text, f"{name}_checked_main()" if is_c(check.program) else f"{name}::checked_main()"


def source_of(checks):
    """One source of all these checks. Its main() makes the first check without an argument, the next with one, and so on."""
    includes, variants, choices = {}, {}, []
    for arguments, check in enumerate(checks, 1):
        key = (check.program, check.macros)
        if key not in variants:
            variants[key] = variant(check, f"variant_{len(variants)}")
            includes.update(dict.fromkeys(variants[key][0]))
        choices.append(f"  if (arguments == {arguments}) return {variants[key][2]};")
    return "\n".join([*includes, *(text for _, text, _ in variants.values()), '#line 1 "choice.cpp"',
                      "int main(int arguments, char** unused) {", "  (void)unused;", *choices, "  return 2;", "}", ""])


def compiled_together(o, level, checks, folder):
    """Returns for each check that is compiled with others the program that makes it, as a command."""
    commands = {}
    together = collections.defaultdict(list)
    for check in checks:
        if not check.alone:
            together[is_c(check.program), check.flags].append(check)
    for (in_c, flags), group in together.items():
        program = os.path.join(folder, str(len(commands)))
        source = program + (".c" if in_c else ".cpp")
        with open(source, "w", encoding="utf-8") as file:
            file.write(source_of(group))
        command = [o.tool, "--compiler", o.compiler, "--compile-only", program, source, "--", level,
                   *(f"-I{include}" for include in o.include), *flags]
        if subprocess.run(command).returncode != 0:
            sys.exit(f"{', '.join(sorted({check.program for check in group}))}: {shlex.join(command)}")
        for arguments, check in enumerate(group):
            commands[check] = [program, *arguments * ["-"]]
    return commands


def refusals_of(result):
    """What the second judge has against the executions that a check has written."""
    if not os.path.exists(result):
        return []
    with open(result, encoding="utf-8") as file:
        return validate.refusals(json.load(file))


def make_checks(o, level, checks, commands, folder):
    """Returns how many runs are not as the programs say."""
    failed = 0
    for number, check in enumerate(checks):
        result = os.path.join(folder, f"{number}.json")
        fails = check.expected.startswith("FAIL") and "--ledger" not in check.asked and "--json" not in check.asked
        writes = ["--json", result] if fails else []
        alone = [o.tool, "--compiler", o.compiler, "--check-duplicates", *writes, *check.asked, check.program, "--", level,
                 *(f"-I{folder}" for folder in o.include), *check.macros, *check.flags]
        command, environment = alone, None
        if o.shipped:
            mutant = check.flags[0].removeprefix("MUTANT=") if check.flags else None
            options = ["--check-duplicates", "--max-events", "20000", *writes, *check.asked]
            environment = {"RUNQ_MUTANT": mutant} if mutant else {}
            command = [o.mutants if mutant else o.shipped]
        elif check in commands:
            options, environment, command = ["--check-duplicates", *writes, *check.asked], {}, commands[check]
        if environment is not None:
            environment.update(os.environ, LD_BIND_NOW="1", RUNQ_CHECK="\n".join(options))
        if command is not alone:
            command = [*shlex.split(o.emulator), *command]
        ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300,
                             env=environment)
        duplicates = "were met before" in ran.stdout
        # An execution is shown in 40 lines; what the checker does not see is named below it.
        lines_printed = sum(not line.startswith("not seen: ") for line in ran.stdout.splitlines())
        # A long check tells on stderr where it stands.
        refusals = refusals_of(result)
        good = (as_expected(check.expected, ran.returncode, ran.stdout + ran.stderr, o.compiler) and not duplicates and
                lines_printed <= 43 and not refusals)
        first = ran.stdout.splitlines()[0] if ran.stdout else ""
        print(f"{'ok  ' if good else 'FAIL'} {os.path.basename(check.program)} {level} {check.words}: {first}")
        if not good:
            failed += 1
            again = shlex.join(command if o.shipped else alone)
            print(f"  expected: {check.expected}; status {ran.returncode}\n{ran.stdout}{ran.stderr}\n  {again}")
            for why in refusals:
                print(f"  validate.py refuses this execution: {why}")
    return failed


def run_natively(program):
    """Returns how many of its runs fail: the first one ends them."""
    for number in range(1, 101):
        ran = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        if ran.returncode != 0:
            print(f"FAIL {program}, native run {number}: status {ran.returncode}\n{ran.stdout}")
            return 1
    print(f"ok   {os.path.basename(program)}: {number} native runs")
    return 0


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--tool")
    options.add_argument("--compiler", default="")
    options.add_argument("--levels", default="-O0 -O1 -O2")
    options.add_argument("--shipped", metavar="PROGRAM")
    options.add_argument("--mutants", metavar="PROGRAM")
    options.add_argument("--native", metavar="PROGRAM")
    options.add_argument("--emulator", default="", metavar="WORDS")
    options.add_argument("--include", action="append", default=[], metavar="DIR")
    options.add_argument("--macro", action="append", default=[], help="only the lines that define this macro, or another one that is named so")
    options.add_argument("programs", nargs="+")
    o = options.parse_args()
    if o.shipped:
        o.levels = "compiled"
    failed = run_natively(o.native) if o.native else 0
    checks = [check for program in o.programs for check in checks_of(program)
              if not o.macro or any(f"-D{macro}" in check.macros for macro in o.macro)]
    if o.emulator:
        checks = [check._replace(flags=tuple(flag for flag in check.flags if flag not in FLAGS_OF_X86_64)) for check in checks
                  if not MACROS_OF_X86_64.intersection(check.macros)]
    for level in o.levels.split():
        with tempfile.TemporaryDirectory() as folder:
            commands = {} if o.shipped else compiled_together(o, level, checks, folder)
            failed += make_checks(o, level, checks, commands, folder)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
