# SPDX-License-Identifier: MIT
"""The rows of the scheduler's benchmarks, and the schedulers that are measured: all facts of a row stand in its line."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Counted:
    """What is counted as the difference of two runs of different sizes, so that starting up and ending cancel."""
    few: int
    many: int
    operations: int  # of the difference


@dataclass(frozen=True)
class Row:
    name: str  # of the programs' first argument, unless another tool measures it
    title: str
    unit: str
    size: int = 0       # 0: the programs do not measure it
    small: int = 0      # for a smoke test
    of_fibers: int = 0  # the size for Boost.Fiber, if it is another one: its stacks have 128 KiB
    workers: str = "two"  # "one", "two": at most two, "all": and more than there are processors
    forks: bool = False   # measured with each of our ways to fork
    instructions: Counted | None = None  # counted as well, and shown beside it
    system_calls_of: str = ""            # this row counts those of that one
    system_calls: Counted | None = None
    floor: str = ""  # the row of floor_bench that no scheduler can go below


ROWS = {row.name: row for row in (
    Row("fib", "fib(27), no cutoff", "ns per fork", size=27, small=10, of_fibers=18, workers="all", forks=True,
        instructions=Counted(12, 17, 2583 - 232), floor="two_coroutine_calls"),
    Row("skynet", "skynet, 10⁶ leaves", "ns per leaf", size=10**6, small=100, of_fibers=10**4, workers="all", forks=True),
    Row("queens", "12 queens", "ms", size=12, small=5, workers="all", forks=True),
    Row("tree", "lopsided tree, 10⁶ nodes (1 : 15)", "ns per node", size=10**6, small=500, workers="all", forks=True),
    Row("spawn", "one task starts 10⁶ and waits", "ns per task", size=10**6, small=500, of_fibers=10**4, workers="all",
        instructions=Counted(1000, 5000, 4000)),
    Row("forks", "10⁶ forks before one join", "ns per fork", size=10**6, small=500, workers="all", forks=True),
    Row("scope", "10⁶ children of a scope", "ns per child", size=10**6, small=500, forks=True),
    Row("pingpong", "ping-pong over two channels", "ns per round", size=100000, small=50,
        instructions=Counted(500, 2500, 2000), floor="symmetric_transfer"),
    Row("yield", "1000 tasks yield in turn", "ns per yield", size=300, small=3, of_fibers=100, workers="all",
        instructions=Counted(2, 8, 6000)),
    Row("memory", "a task that waits, resident memory", "bytes per task", size=200000, small=500, of_fibers=10**4,
        workers="one"),
    Row("started", "a task that was started and has not run, resident memory", "bytes per task", size=200000, small=500,
        workers="one"),
    Row("idle", "all tasks wait, CPU time", "CPU ms per second", size=3000, small=20),
    Row("pipes", "ping-pong over two pipes", "ns per round", size=20000, small=50),
    Row("pipes_calls", "ping-pong over two pipes", "system calls per round", system_calls_of="pipes",
        system_calls=Counted(1000, 5000, 4000)),
    Row("echo", "TCP echo, 64 connections within the process", "ns per echo", size=200, small=2),
    Row("echo_calls", "TCP echo, 64 connections within the process", "system calls per echo", system_calls_of="echo",
        system_calls=Counted(50, 250, 200 * 64)),
    Row("sleep", "a sleep of 1 ms, median", "µs late", size=200, small=5),
    Row("sleep_calls", "a sleep of 1 ms", "system calls per sleep", system_calls_of="sleep",
        system_calls=Counted(100, 400, 300)),
    Row("blocking", "8 tasks, 20 calls each that block for 1 ms", "ms", size=20, small=1, workers="one"),
    Row("parked", "10,000 sockets are waited for, CPU time", "CPU ms per second", size=10000, small=20, workers="one"),
    Row("beside_yields", "ping-pong over two pipes, beside a task that only yields", "ns per round", size=200, small=5,
        workers="one"),
    Row("beside_waiters", "a thread answers after 100 µs, beside 10⁶ tasks that wait", "ns per round", size=10**6, small=100,
        workers="one"),
    Row("wrk", "HTTP, wrk with 64 connections", "ns per request"),
    Row("wrk_p99", "HTTP, wrk with 64 connections, 99 percent of answers within", "µs"),
)}

CHECKOUTS = ("libfork", "stdexec", "taskflow", "toomanycooks")  # of which no package is in Debian
WAITING_PEERS = ("go", "tokio", "fiber", "libfork", "toomanycooks")  # whose tasks can wait


@dataclass(frozen=True)
class Scheduler:
    program: str
    forks: str = ""  # the way to fork, if it is not the default: then only the rows about forks are measured
    queues: str = "processors"  # "global": it has no other queue, so a fork is a task there

    @property
    def environment(self):
        forks = "task" if self.queues == "global" else self.forks
        return {"RUNQ_FORKS": forks} if forks else {}


SCHEDULERS = {
    "runq": Scheduler("candidate_runq"),
    "runq_child": Scheduler("candidate_runq", "child"),
    "runq_task": Scheduler("candidate_runq", "task"),
    "runq_global_queue": Scheduler("candidate_runq_global_queue", queues="global"),
    **{name: Scheduler(f"candidate_{name}")
       for name in ("go", "tokio", "rayon", "tbb", "fiber", *CHECKOUTS)},
}


@dataclass(frozen=True)
class Sweep:
    """A row of the programs that is measured with many sizes, by all workers."""
    name: str
    title: str
    row: str
    values: tuple
    limits: tuple = ()  # (candidate, the greatest size): the stacks of Go (2 KiB) and Boost.Fiber (128 KiB) are memory
    candidates: tuple = tuple(name for name in SCHEDULERS if not SCHEDULERS[name].forks)
    small: int = 0  # for a smoke test of that row; 0: ROWS has it

    def values_for(self, candidate):
        most = dict(self.limits).get(candidate, self.values[-1])
        return [n for n in self.values if n <= most] if candidate in self.candidates else []


LENGTHS = (10, 100, 1000, 10**4, 10**5)
SWEEPS = {sweep.name: sweep for sweep in (
    Sweep("tasks", "By number of tasks: one task starts so many, all workers; ns per task", "spawn",
          (10**3, 10**4, 10**5, 10**6, 10**7), limits=(("go", 10**6), ("fiber", 10**4))),
    Sweep("grain", "By length of tasks: percent of the workers' time that went into the work", "grain", LENGTHS, small=1000),
    # These start all threads but one in the time that is measured; the threads of the others exist before.
    Sweep("grain_again", "By length of tasks, the second time in a run of the scheduler", "grain_again", LENGTHS,
          candidates=("runq", "runq_global_queue"), small=1000),
)}


def sizes():
    """{row: size} of what the programs measure."""
    return {row.name: row.size for row in ROWS.values() if row.size}


def small_sizes():
    """{row: size} of what a smoke test of the programs runs."""
    return {row.name: row.small for row in (*ROWS.values(), *SWEEPS.values()) if row.small}
