#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the compiler refuses each of some programs, for the expected reason.

  must_not_compile.py SOURCE.cpp ... -- COMPILER OPTIONS...

The first line of a source gives the text that the compiler's first error must have: `// expect: TEXT`. With RUNQ_CONTROL defined the same
source must compile, which shows that the mistake under test is the only one in it.

Most of such a check is starting the compiler and reading headers, so all sources are compiled as one, each in a namespace of
its own; a message belongs to the source that it, or the instantiation that it is about, stands in.
"""
import os
import re
import subprocess
import sys
import tempfile


def expected_of(source):
    with open(source, encoding="utf-8") as file:
        found = re.match(r"// expect: (.+)$", file.readline())
    if not found:
        sys.exit(f"{source}: the first line must be `// expect: TEXT`")
    return found[1]


def as_one(sources):
    includes, texts = {}, []
    for source in sources:
        with open(source, encoding="utf-8") as file:
            text = file.read()
        includes.update(dict.fromkeys(re.findall(r"^#include .*$", text, re.MULTILINE)))
        name = os.path.splitext(os.path.basename(source))[0]
        text = re.sub(r"^#include .*$", "", text, flags=re.MULTILINE)
        texts.append(f'namespace {name} {{\n#line 1 "{source}"\n{text}\n}}')
    return "\n".join([*includes, *texts, ""])


def compile_as_one(sources, command, *flags):
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "all.cpp")
        with open(program, "w", encoding="utf-8") as file:
            file.write(as_one(sources))
        options = ["-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-fsyntax-only"]
        ran = subprocess.run([*command, *options, *flags, program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, env={**os.environ, "LC_ALL": "C"})
    return ran.returncode, ran.stdout


def errors_of(output):
    """Returns each error with what belongs to it. g++ says before an error what was being instantiated, clang++ after it."""
    errors, before = [], []
    in_error = False
    for line in output.splitlines():
        begins = re.search(r": In .*:$|: At global scope:$", line) is not None
        if begins:
            before, in_error = [], False
        if ": error: " in line:
            errors.append([*before, line])
            in_error = True
        elif in_error:
            errors[-1].append(line)
        else:
            before.append(line)
    return errors


def main():
    at = sys.argv.index("--")
    sources, command = sys.argv[1:at], sys.argv[at + 1:]
    expected = {source: expected_of(source) for source in sources}
    status, output = compile_as_one(sources, command, "-DRUNQ_CONTROL")
    if status != 0:
        sys.exit(f"{output}\nThese do not compile even with RUNQ_CONTROL.")
    status, output = compile_as_one(sources, command)
    errors = errors_of(output)
    failed = 0
    for source, text in expected.items():
        own = [error for error in errors if any(line.startswith(f"{source}:") for line in error)]
        good = bool(own) and any(text in line for line in own[0] if ": error: " in line)
        print(f"{'ok  ' if good else 'FAIL'} {os.path.basename(source)}: {text}")
        if not own:
            print("  The compiler finds no mistake in it.")
        elif not good:
            print("  It fails to compile, but the first error does not say so:\n" + "\n".join(map("\n".join, own)))
        failed += not good
    sys.exit(1 if failed or status == 0 else 0)


main()
