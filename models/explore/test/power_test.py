#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the strategy `points` is for, it finds in as many runs as do not suffice for `pct`. With `pos` each order of events that race
is as likely as in the published algorithm, which is sampled here once more. A thread that ticks hides no deadlock,
and no livelock; a circle in plain memory is one.
`--timeouts fail` finds a lost wake-up that a limit of time heals; without that option nothing fails. With `--patience` no long wait
ends early, but a short one does."""
import argparse
import collections
import json
import os
import random
import resource
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.realpath(__file__))
RUNS = "50"
SAMPLES = 10000
FEW = "700"  # by chance none of 40,000 runs fails
# In litmus.cpp, by name: what main() and the other thread do from the other one's creation on, or its start: the variable that an
# event reads, or writes (with a "!").
ORDERS = {"store behind others": [["start", "x"], ["start", *["x", "own!"] * 4, "x!"]],
          "racing increments": [["start", "x!"], ["start", "x!", "x!", "x!"]]}
ORDERS_RUNS = 1000


def status_of(order, threads):
    """What main()'s event on x sees, behind a leading digit 1: how many writes of x of the other thread have come before."""
    before = order[:len(order) - 1 - order[::-1].index(0)]
    writes = [event == "x!" for event in threads[1]][:before.count(1)]
    return sum(writes) + (4 if threads[0][1] == "x!" else 2)


def partial_orders(threads, chance):
    """How often which status comes of as many samples: algorithm 2 of Yuan, Yang and Gu (CAV 2018)."""
    found = collections.Counter()
    for _ in range(SAMPLES):
        at, priority, order = [0] * len(threads), [chance.random() for _ in threads], []
        while ready := [t for t in range(len(threads)) if at[t] != len(threads[t])]:
            first = max(ready, key=lambda t: priority[t])
            event = threads[first][at[first]]
            for t in ready:
                pending = threads[t][at[t]]
                race = event != "start" and event.rstrip("!") == pending.rstrip("!") and "!" in event + pending
                if t == first or race:
                    priority[t] = chance.random()
            at[first] += 1
            order.append(first)
        found[status_of(order, threads)] += 1
    return {status: times / SAMPLES for status, times in found.items()}


def orders(tool):
    """The shapes whose orders are not as likely as they should be, and what was seen."""
    chance = random.Random(1)
    wrong = []
    with tempfile.TemporaryDirectory() as scratch:
        program, result = os.path.join(scratch, "litmus"), os.path.join(scratch, "result.json")
        subprocess.run([tool, "--compile-only", program, os.path.join(here, "litmus.cpp")], check=True)
        for shape, threads in ORDERS.items():
            subprocess.run([tool, "--program", program, "--runs", str(ORDERS_RUNS), "--strategy", "pos", "--memory", "strong",
                            "--statuses", "count", "--json", result, "--", shape], check=True, stdout=subprocess.DEVNULL)
            with open(result) as file:
                seen = {int(status): times / (ORDERS_RUNS + 1) for status, times in json.load(file)["statuses"].items()}
            wanted = partial_orders(threads, chance)
            # Four standard deviations.
            far = any(abs(seen.get(s, 0) - p) > 4 * (p * (1 - p) / ORDERS_RUNS) ** 0.5 for s, p in wanted.items())
            if far or set(seen) - set(wanted):
                wrong.append(f"{shape}: statuses come {seen}, not {wanted}")
    return wrong


def count_of_pairs(tool, program, words, result):
    subprocess.run([tool, "--program", program, "--runs", "300", "--feedback", "count", "--json", result, "--", *words], check=True,
                   stdout=subprocess.DEVNULL)
    with open(result) as file:
        return json.load(file)["pairs"]


def feedback(tool):
    """Two rare steps, one after the other: runs that begin as those that have made the first find the second."""
    wrong, common = [], ["--memory", "strong", "--max-steps", "100000"]

    def explore(program, *words):
        done = subprocess.run([tool, "--program", program, *common, *words, "--json", result], text=True, capture_output=True)
        with open(result) as file:
            return done.returncode, done.stdout + done.stderr, json.load(file)

    def expect(what, fits, text):
        if not fits:
            wrong.append(f"{what}:\n{text}")

    with tempfile.TemporaryDirectory() as scratch:
        result = os.path.join(scratch, "result.json")
        programs = {}
        for name, flag, source in (("WRONG", "WRONG", "programs/two_rare_steps"), ("RIGHT", "RIGHT", "programs/two_rare_steps"),
                                   ("window", "WRONG", "programs/rare_window"), ("pairs", "RIGHT", "pairs")):
            programs[name] = os.path.join(scratch, name)
            subprocess.run([tool, "--compile-only", programs[name], "--flag", "-D" + flag, os.path.join(here, source + ".cpp")], check=True)
        status, text, counted = explore(programs["WRONG"], "--feedback", "count", "--runs", FEW)
        expect("chance does not find it", status == 0 and f"feedback: {counted['pairs']} pairs" in text
               and "; 0 runs began as earlier ones" in text, text)
        found = [explore(programs["WRONG"], "--feedback", "on", "--runs", FEW, "--jobs", jobs) for jobs in ("1", "2", "5")]
        for status, text, as_json in found:
            expect("feedback finds it, with any number of runs at a time", status == 1 and "@" in as_json.get("seeds", "") and
                   "not repeated" not in text and as_json["seeds"] == found[0][2]["seeds"], text)
        seeds = found[0][2].get("seeds", "1")
        status, text, again = explore(programs["WRONG"], "--seed", seeds, "--runs", "1")
        expect("its seeds repeat it", status == 1 and again["seeds"] == seeds and again["message"] == found[0][2]["message"], text)
        status, text, right = explore(programs["RIGHT"], "--feedback", "on", "--runs", "200")
        expect("the right twin", status == 0 and not "; 0 runs began" in text and right["pairs"] > 10, text)
        status, text, _ = explore(programs["RIGHT"], "--seed", seeds, "--runs", "3")
        expect("several runs begin alike", status == 0 and f"seeds 0 and {seeds} to " in text, text)
        status, text, _ = explore(programs["window"], "--strategy", "pct", "--feedback", "on", "--runs", "200")
        expect("a run that begins until behind the load that has shown a pair is just before the store", status == 1, text)
        # Reads that see what there was, the newest or an old store, of the same thread or another one; orders of stores and of calls.
        shown = [count_of_pairs(tool, programs["pairs"], ["-"] * count, result) for count in range(5)]
        expect("the pairs of each way", shown == [2, 3, 4, 3, 3], shown)
        wrong_seed = subprocess.run([tool, "--program", programs["RIGHT"], "--seed", "17@0,5"], text=True, capture_output=True)
        expect("no seeds", wrong_seed.returncode == 2 and "--seed does not take 17@0,5" in wrong_seed.stderr, wrong_seed.stderr)
    return wrong


def no_end(tool, name, ways, runs, words):
    """The program's first way does not end, which is known long before a run's limit of time; the others end."""
    wrong, program = [], os.path.join(here, name)
    for way in range(1, ways + 1):
        expected = f"FAIL livelock: no end: {words}" if way == 1 else "none fails"
        done = subprocess.run([tool, "--runs", runs, "--max-steps", "100000", "--make-smaller", "no", "--flag", f"-DWAY={way}", program], text=True, capture_output=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (10, 10)))
        text = done.stdout + done.stderr
        if expected not in text.splitlines()[0]:
            wrong.append(f"{name} -DWAY={way}: expected {expected}, not\n{text}")
    return wrong


def silence(tool):
    """A thread that spins beside one that ticks is in a livelock, unless another one does something that ends it."""
    return no_end(tool, "spinner_and_ticker.cpp", 6, "6", "")


def circle(tool):
    """A loop without a step is known to have no end where all is the same again, and only there."""
    return no_end(tool, "endless.cpp", 8, "1", "T1 goes round in a loop without a step")


def strategies(tool):
    """What a strategy or an option is for, it finds, and others do not."""
    wrong, strong = [], ("--memory", "strong")

    def expect(expected, program, flags, *words):
        of_compiler = [word for flag in flags.split() for word in ("--flag", flag)]
        with tempfile.TemporaryDirectory() as scratch:
            done = subprocess.run([tool, "--runs", RUNS, *words, *of_compiler, os.path.join(here, "programs", program)],
                                  text=True, capture_output=True, env={**os.environ, "TMPDIR": scratch})
        text = done.stdout + done.stderr
        if done.returncode != (0 if expected == "none fails" else 1) or expected not in text.splitlines()[0]:
            wrong.append(f"{program} {flags} {' '.join(words)}: expected {expected}, not\n{text}")

    expect("assertion n.load(relaxed) == 2 fails", "rare_window.cpp", "-DWRONG", *strong, "--strategy", "points")
    expect("none fails", "rare_window.cpp", "-DWRONG", *strong, "--strategy", "pct")
    expect("none fails", "rare_window.cpp", "-DRIGHT", *strong, "--strategy", "points")
    expect("for 100 s only limits of time let threads go on", "ticks.cpp", "-DTICKS=20000 -DMILLISECONDS=10")
    healed = "no thread could go on, until the wait of T1 ended by its limit of time: then it woke T0"
    expect(healed, "healed.cpp", "-DWAY=1", "--timeouts", "fail")
    expect("none fails", "healed.cpp", "-DWAY=1")
    expect("none fails", "healed.cpp", "-DWAY=2", "--timeouts", "fail")
    late = "assertion in_time || LIMIT == 0 fails"
    expect(late, "patient.cpp", "-DLIMIT=1 -DSECONDS=3600", "--patience", "7200")
    expect("none fails", "patient.cpp", "-DLIMIT=1 -DSECONDS=3600", "--patience", "60")
    expect(late, "patient.cpp", "-DLIMIT=1 -DSECONDS=30", "--patience", "60")
    return wrong


PARTS = {"orders": orders, "strategies": strategies, "feedback": feedback, "silence": silence, "circle": circle}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--only", choices=list(PARTS))
    options = parser.parse_args()
    chosen = [options.only] if options.only else list(PARTS)
    wrong = [line for name in chosen for line in PARTS[name](options.tool)]
    print("\n".join(wrong) if wrong else "the strategies find what they are for")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
