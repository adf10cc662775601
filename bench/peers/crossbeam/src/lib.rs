// SPDX-License-Identifier: MIT
// The loops over crossbeam-deque for crossbeam_bench.cpp: the same work and the same checks as in queue_rows.hpp.
#![allow(clippy::missing_safety_doc)]

use crossbeam_deque::{Injector, Steal, Stealer, Worker};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Tally {
    count: u64,
    sum: u64,
}

impl Tally {
    #[inline(always)]
    fn add(&mut self, value: u64) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(value);
    }
}

pub struct Thief {
    victim: Stealer<u64>,
    own: Worker<u64>,
}

#[no_mangle]
pub extern "C" fn runq_crossbeam_new(lifo: bool) -> *mut Worker<u64> {
    Box::into_raw(Box::new(if lifo { Worker::new_lifo() } else { Worker::new_fifo() }))
}

#[no_mangle]
pub unsafe extern "C" fn runq_crossbeam_delete(w: *mut Worker<u64>) {
    drop(Box::from_raw(w));
}

#[no_mangle]
pub unsafe extern "C" fn runq_crossbeam_turn(
    w: *mut Worker<u64>, pushes: u64, pops: u64, input: *mut Tally, output: *mut Tally,
) {
    let w = &*w;
    let mut pushed = *input;
    for _ in 0..pushes {
        w.push(pushed.count + 1);
        pushed.add(pushed.count + 1);
    }
    *input = pushed;
    let mut popped = *output;
    for _ in 0..pops {
        match w.pop() {
            Some(value) => popped.add(value),
            None => break,
        }
    }
    *output = popped;
}

#[no_mangle]
pub unsafe extern "C" fn runq_crossbeam_thief_new(victim: *const Worker<u64>) -> *mut Thief {
    Box::into_raw(Box::new(Thief { victim: (*victim).stealer(), own: Worker::new_fifo() }))
}

#[no_mangle]
pub unsafe extern "C" fn runq_crossbeam_thief_delete(t: *mut Thief) {
    drop(Box::from_raw(t));
}

#[no_mangle]
pub unsafe extern "C" fn runq_crossbeam_steal(t: *mut Thief, loot: *mut Tally) -> usize {
    match (*t).victim.steal() {
        Steal::Success(value) => {
            (*loot).add(value);
            1
        }
        _ => 0,
    }
}

#[no_mangle]
pub unsafe extern "C" fn runq_crossbeam_steal_batch(t: *mut Thief, loot: *mut Tally) -> usize {
    let t = &*t;
    match t.victim.steal_batch_and_pop(&t.own) {
        Steal::Success(value) => {
            let mut got = *loot;
            let before = got.count;
            got.add(value);
            while let Some(value) = t.own.pop() {
                got.add(value);
            }
            *loot = got;
            (got.count - before) as usize
        }
        _ => 0,
    }
}

#[no_mangle]
pub extern "C" fn runq_crossbeam_injector_new() -> *mut Injector<u64> {
    Box::into_raw(Box::new(Injector::new()))
}

#[no_mangle]
pub unsafe extern "C" fn runq_crossbeam_injector_delete(q: *mut Injector<u64>) {
    drop(Box::from_raw(q));
}

#[no_mangle]
pub unsafe extern "C" fn runq_crossbeam_injector_put(q: *mut Injector<u64>, first: *const u64, count: usize) {
    for i in 0..count {
        (*q).push(*first.add(i));
    }
}

// The injector has no batches for its producers; a consumer may move some into a queue of its own.
#[no_mangle]
pub unsafe extern "C" fn runq_crossbeam_injector_take(q: *mut Injector<u64>, batch: usize, got: *mut Tally) {
    if batch == 1 {
        if let Steal::Success(value) = (*q).steal() {
            (*got).add(value);
        }
        return;
    }
    thread_local!(static OWN: Worker<u64> = Worker::new_fifo());
    OWN.with(|own| {
        if let Steal::Success(value) = (*q).steal_batch_and_pop(own) {
            (*got).add(value);
            while let Some(value) = own.pop() {
                (*got).add(value);
            }
        }
    });
}
