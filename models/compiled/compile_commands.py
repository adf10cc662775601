# SPDX-License-Identifier: MIT
"""Sources and flags of a compilation database (compile_commands.json), for runq-check.

usage: compile_commands.py DATABASE FILE...

Prints for each FILE its path, and its flags with line ends between them; each of the two ends with a zero byte.
"""
import json
import os
import shlex
import sys

# With their values, which may be the next word: where headers are, macros, what is included first.
WITH_VALUE = ("-I", "-D", "-U", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-B", "--sysroot")
FOLDERS = ("-I", "-isystem", "-iquote", "-idirafter")
# What is about outputs, dependencies, warnings and levels is no matter of a check.
WITHOUT_VALUE = ("-std=", "-f", "-m", "-pthread", "-nostdinc", "--sysroot=", "-Wno-")
NOT = ("-fsanitize", "-flto", "-fPIE", "-fpie", "-fprofile", "-fuse-ld", "-ffile-prefix-map", "-fmodules-ts", "-fmodule-mapper",
       "-fdeps-format", "-fdiagnostics", "-fcoverage")


def words_of(entry):
    return entry["arguments"] if "arguments" in entry else shlex.split(entry["command"])


def path_of(entry):
    return os.path.normpath(os.path.join(entry["directory"], entry["file"]))


def flags_of(entry):
    flags = []
    words = iter(words_of(entry)[1:])
    for word in words:
        option = next((o for o in sorted(WITH_VALUE, key=len, reverse=True) if word.startswith(o)), None)
        if option is not None and not word.startswith("--sysroot="):
            value = word[len(option):] or next(words, "")
            if option in FOLDERS or (option == "-include" and os.path.exists(os.path.join(entry["directory"], value))):
                value = os.path.normpath(os.path.join(entry["directory"], value))
            flags += [option, value] if option.startswith("-i") or option == "--sysroot" else [option + value]
        elif word.startswith(WITHOUT_VALUE) and not word.startswith(NOT):
            flags.append(word)
    return flags


def entry_of(file, entries):
    """Of that file, or, if there is no such file, the only one whose path ends so."""
    path = os.path.realpath(file)
    same = [e for e in entries if os.path.realpath(path_of(e)) == path]
    if same or os.path.exists(file):
        return same[0] if same else None
    ends = [e for e in entries if path_of(e).endswith("/" + file)]
    if len({path_of(e) for e in ends}) > 1:
        sys.exit(f"runq-check: {file} is the end of several paths: {', '.join(sorted({path_of(e) for e in ends}))}")
    if not ends:
        sys.exit(f"runq-check: there is no file {file}, here or in the compilation database")
    return ends[0]


def main():
    database, *files = sys.argv[1:]
    try:
        with open(database, encoding="utf-8") as opened:
            entries = json.load(opened)
        found = [(file, entry_of(file, entries)) for file in files]
        first = next((entry for _, entry in found if entry is not None), None)
        for file, entry in found:
            path = file if entry is None else path_of(entry)
            flags = [] if first is None else flags_of(entry or first)
            sys.stdout.write(path + "\0" + "\n".join(flags) + "\0")
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"runq-check: {database} is no compilation database: {error}")


main()
