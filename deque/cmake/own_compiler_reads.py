#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether g++ accepts what clang++ compiled in its place in this build, with the same warnings as errors.

usage: own_compiler_reads.py [--without REGEX] BUILD_FOLDER NINJA

Where there is clang++, it stands in for g++ (fast_compiler.cmake). On a machine without it, g++ compiles all. So each source that
the launcher has compiled is read by g++ here, by the options of its own command, without generating code. Sources whose object
matches REGEX are left out.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

LAUNCHER = "compile_with_clang.sh"
# What follows them names a file that the real command writes.
OUTPUTS = {"-o", "-MT", "-MF"}
PRECOMPILED = "cmake_pch.hxx"


class Command:
    """One compilation that the launcher does: the compiler, its options, and the file that it reads."""

    def __init__(self, words):
        after = [place for place, word in enumerate(words) if word.endswith(LAUNCHER)][0] + 2
        self.object = words[words.index("-o") + 1]
        self.source = words[words.index("-c") + 1]
        self.compiler, self.header, self.options = words[after], None, []
        rest = iter(words[after + 1:])
        for word in rest:
            if word in OUTPUTS or word == "-c":
                next(rest)
            elif word == "-include":
                self.header = next(rest)
            elif word not in ("-MD", "-Winvalid-pch"):
                self.options.append(word)

    def key(self):
        """What decides what g++ reads: several programs compile some sources, with other options of the optimizer."""
        return (self.source, self.header, *(option for option in self.options if option.startswith("-D")))


def launched(ninja, build):
    """The compilations of clang++ in this build, each once, without those that precompile a header."""
    listed = subprocess.run([ninja, "-C", build, "-t", "commands"], stdout=subprocess.PIPE, text=True, check=True).stdout
    commands = [Command(shlex.split(line)) for line in listed.splitlines() if LAUNCHER in line and " -c " in line]
    return {command.key(): command for command in commands if PRECOMPILED not in command.source}.values()


def run(compiler, options, build):
    done = subprocess.run([compiler, *options], cwd=build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def precompile(command, build, folder):
    """The header of that command, precompiled by g++: the options that follow -include for it. Commands share it if they differ only
    in what it does not ask for: in folders, and in macros of ours."""
    options = [option for option in command.options if not option.startswith(("-I", "-DRUNQ_", "-Drunq_"))]
    copy = pathlib.Path(folder) / f"{abs(hash((command.header, *options)))}.hpp"
    if not copy.exists():
        text = pathlib.Path(build, command.header).read_text(encoding="utf-8")
        copy.write_text(text.replace("#pragma GCC system_header", ""), encoding="utf-8")
        run(command.compiler, [*command.options, "-w", "-x", "c++-header", str(copy), "-o", f"{copy}.gch"], build)
    return ["-include", str(copy)]


def read(command, build, header):
    return command, *run(command.compiler, [*command.options, *header, "-fsyntax-only", command.source], build)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--without", default="(?!)")
    arguments.add_argument("build")
    arguments.add_argument("ninja")
    given = arguments.parse_args()
    commands = [command for command in launched(given.ninja, given.build) if not re.search(given.without, command.object)]
    if not commands:
        sys.exit(f"own_compiler_reads: {given.build} has no command of {LAUNCHER}")
    refused = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        headers = [precompile(command, given.build, folder) if command.header else [] for command in commands]
        for command, status, text in pool.map(lambda pair: read(pair[0], given.build, pair[1]), zip(commands, headers)):
            if status:
                refused += 1
                print(f"refused: {command.source} ({command.object})\n{text}")
    print(f"{len(commands)} sources read, {refused} refused")
    sys.exit(1 if refused else 0)


if __name__ == "__main__":
    main()
