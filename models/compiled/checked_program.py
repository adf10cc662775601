# SPDX-License-Identifier: MIT
"""Compiles a program for ./kit check, and checks it: for scripts that read the verdicts of many programs."""
import os
import subprocess


def run(command, **more):
    """Runs a command to its end. Returns its status and, as text, what it printed."""
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False, **more)


def compile_checked(tool, compiler, program, sources, flags, threads=0, options=()):
    """`tool` is runq-check; `program` the file that it makes, for up to so many threads, or as many as there are without
    that option, to be checked with these options. The status is not 0 if the sources do not compile."""
    up_to = ["--threads", threads] if threads else []
    return run([tool, "--compiler", compiler, *up_to, *options, "--compile-only", program, *sources, "--", *flags])


def run_checked(program, options, **more):
    """Checks the program, with options of runq-check. Status 0: it passes, 1: it fails, 2: there is no verdict."""
    # The libraries bind their symbols once: what they bind in an execution is undone before the next one.
    return run([program], env={**os.environ, "LD_BIND_NOW": "1", "RUNQ_CHECK": "\n".join(options)}, **more)
