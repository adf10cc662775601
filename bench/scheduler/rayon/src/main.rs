// SPDX-License-Identifier: MIT
// The scheduler benchmark: rayon. Its join keeps the job on the stack; it has no channels, no yield between tasks and no
// task that waits.

mod rows;

use rows::*;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::time::Instant;

fn timed_in<F: FnOnce() + Send>(workers: usize, f: F) -> f64 {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build().unwrap();
    pool.install(|| {
        let begin = Instant::now();
        f();
        begin.elapsed().as_nanos() as f64
    })
}

fn fib(n: i64) -> i64 {
    if n < 2 {
        return n;
    }
    let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

fn fib_row(workers: usize, n: i64) -> f64 {
    timed_in(workers, || require(fib(n) == fib_value(n), "fib")) / fib_forks(n)
}

fn skynet(first: i64, leaves: i64) -> i64 {
    if leaves == 1 {
        return first;
    }
    let mut sums = [0; 10];
    rayon::scope(|s| {
        for (i, sum) in sums.iter_mut().enumerate() {
            s.spawn(move |_| *sum = skynet(first + i as i64 * (leaves / 10), leaves / 10));
        }
    });
    sums.iter().sum()
}

fn skynet_row(workers: usize, leaves: i64) -> f64 {
    timed_in(workers, || require(skynet(0, leaves) == skynet_value(leaves), "skynet")) / leaves as f64
}

fn queens(b: Board, n: i64, row: i64) -> i64 {
    if row == n {
        return 1;
    }
    let mut found = [0; 16];
    rayon::scope(|s| {
        for (col, some) in found.iter_mut().enumerate().take(n as usize) {
            if b.safe(row, col as i64) {
                let next = b.with(row, col as i64);
                s.spawn(move |_| *some = queens(next, n, row + 1));
            }
        }
    });
    found.iter().sum()
}

fn queens_row(workers: usize, n: i64) -> f64 {
    timed_in(workers, || require(queens(Board::default(), n, 0) == queens_value(n), "queens")) / 1e6
}

fn tree(nodes: i64, id: i64) -> i64 {
    if nodes < 2 {
        return nodes;
    }
    let left = left_part(nodes - 1, id);
    let (a, b) = rayon::join(|| tree(left, id + 1), || tree(nodes - 1 - left, id + 1 + left));
    a + b + 1
}

fn tree_row(workers: usize, nodes: i64) -> f64 {
    timed_in(workers, || require(tree(nodes, 1) == nodes, "tree")) / nodes as f64
}

fn spawn_row(workers: usize, n: i64) -> f64 {
    let done = AtomicI64::new(0);
    let ns = timed_in(workers, || {
        rayon::scope(|s| {
            for _ in 0..n {
                s.spawn(|_| {
                    done.fetch_add(1, Relaxed);
                });
            }
        })
    });
    require(done.load(Relaxed) == n, "spawn");
    ns / n as f64
}

fn grain_row(workers: usize, ns: i64) -> f64 {
    let g = Grain::new(ns);
    let done = AtomicI64::new(0);
    let (steps, tasks) = (g.steps, g.tasks);
    let done_ref = &done;
    let wall = timed_in(workers, || {
        rayon::scope(|s| {
            for _ in 0..tasks {
                s.spawn(move |_| {
                    done_ref.fetch_add((work(steps) != 0) as i64, Relaxed);
                });
            }
        })
    });
    require(done.load(Relaxed) == g.tasks, "grain");
    g.percent(wall, workers)
}

fn idle_row(workers: usize, ms: i64) -> f64 {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build().unwrap();
    pool.install(|| ());
    idle_cpu(ms)
}

fn main() {
    run(&[
        ("fib", fib_row),
        ("skynet", skynet_row),
        ("queens", queens_row),
        ("tree", tree_row),
        ("spawn", spawn_row),
        ("grain", grain_row),
        ("idle", idle_row),
    ]);
}
