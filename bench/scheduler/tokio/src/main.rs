// SPDX-License-Identifier: MIT
// The scheduler benchmark: tokio's multi-threaded runtime. A fork is a spawned task. Its channels have a buffer of one,
// the smallest there is.

mod rows;

use rows::*;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, Ordering::AcqRel};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, Notify};

fn runtime(workers: usize) -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_time().build().unwrap()
}

/// Runs `body` in a task of the pool: the calling thread is none of its workers.
fn timed_in<F: Future<Output = ()> + Send + 'static>(workers: usize, body: F) -> f64 {
    let rt = runtime(workers);
    rt.block_on(async {
        tokio::spawn(async {
            let begin = Instant::now();
            body.await;
            begin.elapsed().as_nanos() as f64
        })
        .await
        .unwrap()
    })
}

/// Counts down; the task that reaches 0 wakes the task that waits.
struct Latch {
    left: AtomicI64,
    zero: Notify,
}

impl Latch {
    fn new(count: i64) -> Arc<Latch> {
        Arc::new(Latch { left: AtomicI64::new(count), zero: Notify::new() })
    }
    fn done(&self) {
        if self.left.fetch_sub(1, AcqRel) == 1 {
            self.zero.notify_one();
        }
    }
    async fn wait(&self) {
        self.zero.notified().await;
    }
}

type Boxed = Pin<Box<dyn Future<Output = i64> + Send>>;

fn fib(n: i64) -> Boxed {
    Box::pin(async move {
        if n < 2 {
            return n;
        }
        let a = tokio::spawn(fib(n - 1));
        let b = fib(n - 2).await;
        a.await.unwrap() + b
    })
}

fn fib_row(workers: usize, n: i64) -> f64 {
    timed_in(workers, async move { require(fib(n).await == fib_value(n), "fib") }) / fib_forks(n)
}

fn skynet(first: i64, leaves: i64) -> Boxed {
    Box::pin(async move {
        if leaves == 1 {
            return first;
        }
        let mut children = Vec::with_capacity(10);
        for i in 0..10 {
            children.push(tokio::spawn(skynet(first + i * (leaves / 10), leaves / 10)));
        }
        let mut total = 0;
        for child in children {
            total += child.await.unwrap();
        }
        total
    })
}

fn skynet_row(workers: usize, leaves: i64) -> f64 {
    timed_in(workers, async move { require(skynet(0, leaves).await == skynet_value(leaves), "skynet") }) / leaves as f64
}

fn queens(b: Board, n: i64, row: i64) -> Boxed {
    Box::pin(async move {
        if row == n {
            return 1;
        }
        let mut children = Vec::new();
        for col in 0..n {
            if b.safe(row, col) {
                children.push(tokio::spawn(queens(b.with(row, col), n, row + 1)));
            }
        }
        let mut total = 0;
        for child in children {
            total += child.await.unwrap();
        }
        total
    })
}

fn queens_row(workers: usize, n: i64) -> f64 {
    let body = async move { require(queens(Board::default(), n, 0).await == queens_value(n), "queens") };
    timed_in(workers, body) / 1e6
}

fn tree(nodes: i64, id: i64) -> Boxed {
    Box::pin(async move {
        if nodes < 2 {
            return nodes;
        }
        let left = left_part(nodes - 1, id);
        let a = tokio::spawn(tree(left, id + 1));
        let b = tree(nodes - 1 - left, id + 1 + left).await;
        a.await.unwrap() + b + 1
    })
}

fn tree_row(workers: usize, nodes: i64) -> f64 {
    timed_in(workers, async move { require(tree(nodes, 1).await == nodes, "tree") }) / nodes as f64
}

fn spawn_row(workers: usize, n: i64) -> f64 {
    let body = async move {
        let all = Latch::new(n);
        for _ in 0..n {
            let all = all.clone();
            tokio::spawn(async move { all.done() });
        }
        all.wait().await;
    };
    timed_in(workers, body) / n as f64
}

fn pingpong_row(workers: usize, rounds: i64) -> f64 {
    let body = async move {
        let (there, mut there_end) = mpsc::channel::<i64>(1);
        let (back, mut back_end) = mpsc::channel::<i64>(1);
        tokio::spawn(async move {
            while let Some(n) = there_end.recv().await {
                back.send(n + 1).await.unwrap();
            }
        });
        for i in 0..rounds {
            there.send(i).await.unwrap();
            require(back_end.recv().await == Some(i + 1), "pingpong");
        }
    };
    timed_in(workers, body) / rounds as f64
}

fn yield_row(workers: usize, each: i64) -> f64 {
    const TASKS: i64 = 1000;
    let body = async move {
        let all = Latch::new(TASKS);
        for _ in 0..TASKS {
            let all = all.clone();
            tokio::spawn(async move {
                for _ in 0..each {
                    tokio::task::yield_now().await;
                }
                all.done();
            });
        }
        all.wait().await;
    };
    timed_in(workers, body) / (TASKS * each) as f64
}

fn grain_row(workers: usize, ns: i64) -> f64 {
    let g = Grain::new(ns);
    let (steps, tasks) = (g.steps, g.tasks);
    let wall = timed_in(workers, async move {
        let all = Latch::new(tasks);
        for _ in 0..tasks {
            let all = all.clone();
            tokio::spawn(async move {
                if work(steps) != 0 {
                    all.done();
                }
            });
        }
        all.wait().await;
    });
    g.percent(wall, workers)
}

fn memory_row(workers: usize, n: i64) -> f64 {
    let rt = runtime(workers);
    let (give, take) = std::sync::mpsc::channel();
    rt.block_on(async move {
        tokio::spawn(async move {
            let begun = Latch::new(n);
            let never = Arc::new(Notify::new());
            let before = resident_bytes();
            for _ in 0..n {
                let (begun, never) = (begun.clone(), never.clone());
                tokio::spawn(async move {
                    begun.done();
                    never.notified().await;
                });
            }
            begun.wait().await;
            give.send((resident_bytes() - before) / n as f64).unwrap();
        })
        .await
        .unwrap();
    });
    rt.shutdown_timeout(Duration::from_secs(5));
    take.recv().unwrap()
}

fn idle_row(workers: usize, ms: i64) -> f64 {
    let rt = runtime(workers);
    for _ in 0..workers {
        rt.spawn(async {});
    }
    idle_cpu(ms)
}

fn main() {
    run(&[
        ("fib", fib_row),
        ("skynet", skynet_row),
        ("queens", queens_row),
        ("tree", tree_row),
        ("spawn", spawn_row),
        ("pingpong", pingpong_row),
        ("yield", yield_row),
        ("grain", grain_row),
        ("memory", memory_row),
        ("idle", idle_row),
    ]);
}
