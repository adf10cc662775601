#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs property programs in turn with fresh seeds, until the time is up, Ctrl-C, or a law fails.

  soak.py [--minutes M] [--cases N] [--every S] [--stuck S] PROGRAM...

Prints a line every S seconds, and a summary at the end. Ctrl-C lets the law under way finish, in case it has just
failed and is being made smaller; a second Ctrl-C does not wait. When a law fails, the program's own report with its
repro is printed as it is, and the one command that runs the law again.

Exit status: 0 nothing failed, 1 a law failed, a program died or was stuck, 2 wrong usage.
"""
import argparse
import os
import queue
import re
import secrets
import shlex
import signal
import subprocess
import sys
import threading
import time

# What a suite prints (runner.hpp): its seed, as RapidCheck does, a line for each law, and a summary.
SEED = re.compile(r"\w+: seed \d+, |Using configuration: ")
VERDICT = re.compile(r"(PASS|FAIL|UNDECIDED|GAVE UP|ERROR)  \S+  (\d+) cases  (\d+) calls")
SUMMARY = re.compile(r"\w+: \d+ laws, \d+ failed")


class Soak:
    def __init__(self, options):
        self.options = options
        self.began = time.monotonic()
        self.ends = self.began + 60 * options.minutes if options.minutes else float("inf")
        self.last_progress = 0.0
        self.interrupts = 0
        self.rounds = self.laws = self.cases = self.calls = 0

    def interrupted(self, *_):
        self.interrupts += 1
        if self.interrupts == 1:
            # Not print(): the signal may interrupt a print(), and Python does not allow another one within it.
            os.write(1, b"soak: stops after the law under way; Ctrl-C again to stop at once\n")

    def over(self):
        return self.interrupts > 0 or time.monotonic() >= self.ends

    def so_far(self):
        t = int(time.monotonic() - self.began)
        return (f"{t // 3600}:{t // 60 % 60:02}:{t % 60:02}  {self.rounds} rounds  {self.laws} laws run  "
                f"{self.cases} cases  {self.calls} calls")

    def progress(self, seed):
        if time.monotonic() - self.last_progress >= self.options.every:
            self.last_progress = time.monotonic()
            print(f"{self.so_far()}  seed {seed}", flush=True)

    def run(self):
        signal.signal(signal.SIGINT, self.interrupted)
        signal.signal(signal.SIGTERM, self.interrupted)
        laws = {}
        for program in self.options.programs:
            laws[program] = subprocess.run([program, "--list"], check=True, stdout=subprocess.PIPE, text=True,
                                           start_new_session=True).stdout.split()
            if not laws[program]:
                sys.exit(f"soak: {program} names no laws")
        while not self.over():
            # One seed for a round, below 2^63 so that no tool takes it for a negative number.
            seed = secrets.randbits(63)
            for program in self.options.programs:
                failure = self.run_program(program, laws[program], seed)
                if failure:
                    print(failure)
                    print(f"soak: failed after {self.so_far()}")
                    return 1
                if self.over():
                    break
            else:
                self.rounds += 1
        # Python ends with the default actions of signals: a late second Ctrl-C would look as if the run had failed.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print(f"soak: nothing failed  {self.so_far()}")
        return 0

    def run_program(self, program, laws, seed):
        """Runs all laws of one program. Returns what there is to say about a failure, or None."""
        settings = {"RC_PARAMS": f"seed={seed}", "RUNQ_PROP_CASES": str(self.options.cases)}
        # Without this ThreadSanitizer would report a race and go on, and the law would pass.
        environment = {"TSAN_OPTIONS": "halt_on_error=1", **os.environ, **settings}
        # In a session of its own, so that a terminal's Ctrl-C reaches this script only.
        child = subprocess.Popen([program], env=environment, text=True, errors="replace", start_new_session=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        lines = queue.Queue()
        threading.Thread(target=self.read, args=(child.stdout, lines), daemon=True).start()
        done, report, rules, failed, heard = 0, [], 0, False, time.monotonic()
        while True:
            try:
                line = lines.get(timeout=0.2)
            except queue.Empty:
                if self.interrupts > 1:
                    self.stop(child)
                    return None
                if time.monotonic() - heard > self.options.stuck:
                    report.append(f"soak: {program} has said nothing for {self.options.stuck:g} s\n")
                    failed = True
                    break
                continue
            heard = time.monotonic()
            if line is None:
                break
            verdict = VERDICT.match(line)
            if failed and (verdict or SUMMARY.match(line)):
                break
            if verdict and verdict[1] == "PASS":
                done += 1
                self.laws += 1
                self.cases += int(verdict[2])
                self.calls += int(verdict[3])
                self.progress(seed)
                if self.over():
                    self.stop(child)
                    return None
            elif not SEED.match(line):
                failed = failed or bool(verdict)
                report.append(line)
                rules += line.startswith("-----")
                if failed and rules == 2:  # the end of the repro; other laws would follow
                    break
        if failed:
            self.stop(child)
        elif child.wait() == 0:
            return None
        elif child.returncode < 0:
            report.append(f"soak: {program} was ended by signal {-child.returncode}\n")
        words = " ".join(f"{name}={shlex.quote(value)}" for name, value in settings.items())
        law = laws[min(done, len(laws) - 1)]
        return f"{''.join(report)}soak: to run it again: {words} {shlex.quote(program)} --only {law}"

    @staticmethod
    def stop(child):
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()

    @staticmethod
    def read(stream, lines):
        for line in stream:
            lines.put(line)
        lines.put(None)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--minutes", type=float, help="stop after so many (default: at Ctrl-C)")
    p.add_argument("--cases", type=int, default=200, help="cases per law and round (default: %(default)s)")
    p.add_argument("--every", type=float, default=10, help="seconds between two progress lines (default: %(default)s)")
    p.add_argument("--stuck", type=float, default=900, help="seconds that a law may take (default: %(default)s)")
    p.add_argument("programs", nargs="+", metavar="PROGRAM")
    sys.exit(Soak(p.parse_args()).run())


main()
