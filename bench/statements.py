# SPDX-License-Identifier: MIT
"""What the benchmarks are to show: docs/benchmarks.md says of each statement whether the figures of a run meet it.

A statement is (queues or scheduler, text, ours, theirs, bound): ours / theirs is at most the bound. `ours` and `theirs` are
(row, candidate), or a number instead of theirs; of several candidates the fastest counts. Of work shares, where more is
better, it is theirs / ours.
"""
from rows import WAITING_PEERS

WORK_SHARES = ((100, "100 ns"), (1000, "1 µs"), (10**4, "10 µs"), (10**5, "100 µs"))

STATEMENTS = [
    ("queues", "ring, owner alone, 64 at a time, against crossbeam's FIFO", ("pairs/64", "ring"), ("pairs/64", "crossbeam_fifo"), 1.0),
    ("queues", "ring, owner alone, 64 at a time, against Go's run queue", ("pairs/64", "ring"), ("pairs/64", "go_runq"), 0.6),
    ("queues", "ring with a thief flat out: owner, against crossbeam's FIFO in batches", ("thief", "ring"), ("thief", "crossbeam_fifo_batch"), 0.9),
    ("queues", "ring with a thief flat out: time per element that the thief got, against crossbeam's FIFO in batches", ("thief:stolen", "ring"), ("thief:stolen", "crossbeam_fifo_batch"), 0.8),
    ("queues", "ring with a thief flat out that steals into memory: owner, against crossbeam's FIFO in batches", ("thief", "ring_steal_half"), ("thief", "crossbeam_fifo_batch"), 0.9),
    ("queues", "ring with a thief flat out that steals into memory: time per element that the thief got, against crossbeam's FIFO in batches", ("thief:stolen", "ring_steal_half"), ("thief:stolen", "crossbeam_fifo_batch"), 0.8),
    ("queues", "ring drained of 256 by a thief, against crossbeam's FIFO in batches", ("drain", "ring"), ("drain", "crossbeam_fifo_batch"), 0.65),
    ("queues", "ring drained of 256 by a thief that steals into memory, against crossbeam's FIFO in batches", ("drain", "ring_steal_half"), ("drain", "crossbeam_fifo_batch"), 0.65),
    ("queues", "ring: part that a thief cannot get while the owner does nothing, percent", ("drain:left", "ring"), 1, 0.0),
    ("queues", "ring: part that a thief that steals into memory cannot get while the owner does nothing, percent", ("drain:left", "ring_steal_half"), 1, 0.0),
    ("queues", "chase_lev, owner alone, 64 at a time, against crossbeam's LIFO", ("pairs/64", "chase_lev"), ("pairs/64", "crossbeam_lifo"), 1.0),
    *(("queues", f"split_ring, owner alone, {n} at a time, against a ring without thieves", (f"pairs/{n}", "split_ring"), (f"pairs/{n}", "plain_ring"), 1.4)
      for n in (1, 64, 200)),
    *(("queues", f"split_deque, owner alone, {n} at a time, against a stack without thieves", (f"pairs/{n}", "split_deque"), (f"pairs/{n}", "plain_stack"), 1.3)
      for n in (1, 64, 200)),
    *(statement for queue in ("split_ring", "split_deque") for statement in (
        ("queues", f"{queue}: part that a thief cannot get while the owner does nothing, percent", ("drain:left", queue), 1, 0.0),
        ("queues", f"{queue}: system calls by which a thief drains 256 while the owner does nothing", ("drain:barriers", queue), 1, 1.0),
        ("queues", f"{queue}: 4 elements reach an idle thief while the owner is in a task of 100 µs, ns", ("reach", queue), 1, 3000))),
    ("queues", "ring: 4 elements reach an idle thief while the owner is in a task of 100 µs, ns", ("reach", "ring"), 1, 3000),
    ("queues", "split_ring with a thief flat out: owner, against ring", ("thief", "split_ring"), ("thief", "ring_steal_half"), 1.0),
    ("queues", "split_ring with a thief flat out: time per element that the thief got, against ring", ("thief:stolen", "split_ring"), ("thief:stolen", "ring_steal_half"), 1 / 0.7),
    ("queues", "inject, batches of 128, one producer, against a list under a mutex", ("put_1/128", "inject"), ("put_1/128", "mutex_list"), 1.2),
    ("queues", "inject, batches of 128, two producers, against a list under a mutex", ("put_2/128", "inject"), ("put_2/128", "mutex_list"), 1.2),
    ("queues", "inject, batches of 128, a producer and a consumer, against a list under a mutex", ("put_take/128", "inject"), ("put_take/128", "mutex_list"), 1.2),
    ("scheduler", "fib against Go, 1 worker", ("fib/1", "runq"), ("fib/1", "go"), 1 / 15),
    ("scheduler", "fib against Go, 2 workers", ("fib/2", "runq"), ("fib/2", "go"), 1 / 15),
    ("scheduler", "fib against oneTBB, 1 worker", ("fib/1", "runq"), ("fib/1", "tbb"), 0.25),
    ("scheduler", "fib against oneTBB, 2 workers", ("fib/2", "runq"), ("fib/2", "tbb"), 0.25),
    ("scheduler", "fib against libfork, 1 worker", ("fib/1", "runq"), ("fib/1", "libfork"), 1.0),
    ("scheduler", "fib against libfork, 2 workers", ("fib/2", "runq"), ("fib/2", "libfork"), 1.0),
    ("scheduler", "skynet against Go, 1 worker", ("skynet/1", "runq"), ("skynet/1", "go"), 0.1),
    ("scheduler", "skynet against Go, 2 workers", ("skynet/2", "runq"), ("skynet/2", "go"), 0.1),
    ("scheduler", "skynet against oneTBB, 1 worker", ("skynet/1", "runq"), ("skynet/1", "tbb"), 1.0),
    ("scheduler", "skynet against oneTBB, 2 workers", ("skynet/2", "runq"), ("skynet/2", "tbb"), 1.0),
    *(("scheduler", f"{row} against the fastest peer whose tasks can wait, {w} worker{'s' * (w - 1)}", (f"{row}/{w}", "runq"), (f"{row}/{w}", WAITING_PEERS), 1.0)
      for row in ("skynet", "queens", "tree") for w in (1, 2)),
    ("scheduler", "spawn against oneTBB, 1 worker", ("spawn/1", "runq"), ("spawn/1", "tbb"), 1.3),
    ("scheduler", "spawn against oneTBB, 2 workers", ("spawn/2", "runq"), ("spawn/2", "tbb"), 1.0),
    ("scheduler", "spawn, 1 worker, ns per task", ("spawn/1", "runq"), 1, 150),
    ("scheduler", "spawn, 2 workers against 1", ("spawn/2", "runq"), ("spawn/1", "runq"), 1.0),
    ("scheduler", "ping-pong against Go, 1 worker", ("pingpong/1", "runq"), ("pingpong/1", "go"), 0.35),
    ("scheduler", "ping-pong against Go, 2 workers", ("pingpong/2", "runq"), ("pingpong/2", "go"), 0.5),
    ("scheduler", "yield against Go, 1 worker", ("yield/1", "runq"), ("yield/1", "go"), 0.3),
    ("scheduler", "yield against Go, 2 workers", ("yield/2", "runq"), ("yield/2", "go"), 0.3),
    ("scheduler", "yield against tokio, 1 worker", ("yield/1", "runq"), ("yield/1", "tokio"), 0.6),
    ("scheduler", "yield against tokio, 2 workers", ("yield/2", "runq"), ("yield/2", "tokio"), 1.0),
    *(("scheduler", f"work share of oneTBB against ours, tasks of {text}, all workers", (f"grain/{n}", "tbb"), (f"grain/{n}", "runq"), 1.0)
      for n, text in WORK_SHARES),
    *(("scheduler", f"work share of oneTBB against ours the second time in a run, tasks of {text}, all workers", (f"grain/{n}", "tbb"),
       (f"grain_again/{n}", "runq"), 1.0) for n, text in WORK_SHARES),
    ("scheduler", "10⁶ forks before one join, 2 workers: runs of 100 that failed", ("survive/2", "runq"), 1, 0),
    ("scheduler", "a task that waits, resident bytes, all included", ("memory/1", "runq"), 1, 192),
    ("scheduler", "a task that was started, resident bytes, all included, a pointer of its own among them", ("started/1", "runq"), 1, 168),
    ("scheduler", "all tasks wait, 2 workers, CPU ms per second", ("idle/2", "runq"), 1, 0.05),
    ("scheduler", "ping-pong over pipes against Go, 1 worker", ("pipes/1", "runq"), ("pipes/1", "go"), 1 / 1.3),
    ("scheduler", "ping-pong over pipes against Go, 2 workers", ("pipes/2", "runq"), ("pipes/2", "go"), 1 / 1.3),
    ("scheduler", "TCP echo, 64 connections, against Go, 1 worker", ("echo/1", "runq"), ("echo/1", "go"), 0.77),
    ("scheduler", "TCP echo, 64 connections, against Go, 2 workers", ("echo/2", "runq"), ("echo/2", "go"), 0.77),
    ("scheduler", "system calls per echo against Go, 1 worker", ("echo_calls/1", "runq"), ("echo_calls/1", "go"), 1.0),
    ("scheduler", "a sleep of 1 ms lasts too long, against Go, 1 worker", ("sleep/1", "runq"), ("sleep/1", "go"), 1.0),
    ("scheduler", "a sleep of 1 ms lasts too long, against Go, 2 workers", ("sleep/2", "runq"), ("sleep/2", "go"), 1.0),
    ("scheduler", "system calls per sleep against Go, 1 worker", ("sleep_calls/1", "runq"), ("sleep_calls/1", "go"), 1.0),
    ("scheduler", "8 tasks, 20 blocking calls of 1 ms each, 1 worker, ms", ("blocking/1", "runq"), 1, 25),
    ("scheduler", "10,000 sockets are waited for, CPU ms per second", ("parked/1", "runq"), 1, 0.05),
    ("scheduler", "HTTP under wrk against Go's net/http, 1 worker", ("wrk/1", "runq"), ("wrk/1", "go"), 1 / 1.2),
    ("scheduler", "HTTP under wrk against Go's net/http, 2 workers", ("wrk/2", "runq"), ("wrk/2", "go"), 1 / 1.2),
    ("scheduler", "HTTP under wrk against Go's net/http, 99th percentile, 1 worker", ("wrk_p99/1", "runq"), ("wrk_p99/1", "go"), 1.0),
    ("scheduler", "HTTP under wrk against Go's net/http, 99th percentile, 2 workers", ("wrk_p99/2", "runq"), ("wrk_p99/2", "go"), 1.0),
]
