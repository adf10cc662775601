// SPDX-License-Identifier: MIT
// What rows.hpp is for the candidates in C++: the command line, the clock, the checks, what is computed.

use std::time::{Duration, Instant};

pub fn require(right: bool, what: &str) {
    if !right {
        eprintln!("wrong result: {}", what);
        std::process::exit(1);
    }
}

pub fn fib_value(n: i64) -> i64 {
    let (mut a, mut b) = (0, 1);
    for _ in 0..n {
        (a, b) = (b, a + b);
    }
    a
}

pub fn fib_forks(n: i64) -> f64 {
    (fib_value(n + 1) - 1) as f64
}

pub fn skynet_value(leaves: i64) -> i64 {
    leaves * (leaves - 1) / 2
}

pub fn queens_value(n: i64) -> i64 {
    [1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712][n as usize]
}

#[derive(Clone, Copy, Default)]
pub struct Board([i8; 16]);

impl Board {
    pub fn safe(&self, row: i64, col: i64) -> bool {
        (0..row).all(|r| {
            let d = self.0[r as usize] as i64 - col;
            d != 0 && d != row - r && d != r - row
        })
    }
    pub fn with(&self, row: i64, col: i64) -> Board {
        let mut next = *self;
        next.0[row as usize] = col as i8;
        next
    }
}

pub fn left_part(below: i64, id: i64) -> i64 {
    let hash = (id as u64).wrapping_mul(0x9e3779b97f4a7c15);
    let small = below / 16;
    if hash >> 63 != 0 { small } else { below - small }
}

pub fn work(steps: i64) -> u64 {
    let mut x = 1u64;
    for _ in 0..std::hint::black_box(steps) {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    }
    std::hint::black_box(x)
}

pub struct Grain {
    pub steps: i64,
    pub tasks: i64,
    serial_ns: f64,
}

impl Grain {
    pub fn new(ns: i64) -> Grain {
        const MANY: i64 = 1_000_000;
        let mut best = 1e18f64;
        for _ in 0..5 {
            let begin = Instant::now();
            work(MANY);
            best = best.min(begin.elapsed().as_nanos() as f64);
        }
        let steps = ((ns * MANY) as f64 / best).max(1.0) as i64;
        let tasks = (20_000_000 / ns).clamp(200, 200_000);
        Grain { steps, tasks, serial_ns: best / MANY as f64 * steps as f64 * tasks as f64 }
    }
    pub fn percent(&self, wall_ns: f64, workers: usize) -> f64 {
        100.0 * self.serial_ns / wall_ns / workers as f64
    }
}

#[allow(dead_code)]
pub fn resident_bytes() -> f64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() * 4096.0
}

fn cpu_ms() -> f64 {
    // The sum over the threads, in nanoseconds.
    let mut sum = 0.0;
    for task in std::fs::read_dir("/proc/self/task").unwrap() {
        let text = std::fs::read_to_string(task.unwrap().path().join("schedstat")).unwrap_or_default();
        sum += text.split_whitespace().next().and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0);
    }
    sum / 1e6
}

/// CPU ms per second of this process while the calling thread sleeps.
pub fn idle_cpu(ms: i64) -> f64 {
    std::thread::sleep(Duration::from_millis(ms.min(300) as u64));
    let before = cpu_ms();
    std::thread::sleep(Duration::from_millis(ms as u64));
    (cpu_ms() - before) * 1e3 / ms as f64
}

pub type Row = fn(usize, i64) -> f64;

pub fn run(rows: &[(&str, Row)]) {
    let words: Vec<String> = std::env::args().collect();
    if words.len() != 5 {
        eprintln!("usage: {} ROW WORKERS N SECONDS", words[0]);
        std::process::exit(2);
    }
    let row = match rows.iter().find(|(name, _)| *name == words[1]) {
        Some((_, row)) => row,
        None => std::process::exit(3),
    };
    let workers = words[2].parse().unwrap();
    let n = words[3].parse().unwrap();
    let limit = words[4].parse().unwrap();
    let by_time = limit > 0.0 && words[1] != "memory" && words[1] != "idle";
    if by_time {
        row(workers, n);
    }
    let (mut sum, mut times) = (0.0, 0);
    let begin = Instant::now();
    loop {
        sum += row(workers, n);
        times += 1;
        if !by_time || begin.elapsed().as_secs_f64() >= limit {
            break;
        }
    }
    println!("{:.4}", sum / times as f64);
}
