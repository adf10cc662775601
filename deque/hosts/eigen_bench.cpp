// SPDX-License-Identifier: MIT
// Eigen's thread pool with its own queue (RUNQ_HOST_OWN_QUEUE), or with ours. For each program it prints a line
// "PROGRAM NANOSECONDS", the time of one task. hosts.py compares the two.
#ifndef RUNQ_HOST_OWN_QUEUE
#include "eigen_run_queue.hpp"
#endif

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <unsupported/Eigen/CXX11/ThreadPool>

#include "host_bench.hpp"

namespace {

using runq_hosts::measure;

constexpr int workers = 2;
constexpr std::size_t tasks = 1U << 18U;

void check(bool ok) {
  if (!ok) std::abort();
}

// One thread outside schedules all tasks.
std::size_t from_outside() {
  std::atomic<std::size_t> ran{0};
  {
    Eigen::ThreadPool pool(workers);
    for (std::size_t i = 0; i != tasks; ++i) pool.Schedule([&ran] { ran.fetch_add(1, std::memory_order::relaxed); });
  }
  check(ran.load() == tasks);
  return tasks;
}

// Each task schedules two more: a binary tree.
std::size_t tree() {
  Eigen::ThreadPool pool(workers);
  Eigen::Barrier done(tasks - 1);
  struct node {
    Eigen::ThreadPool* pool;
    Eigen::Barrier* done;
    std::size_t id;
    void operator()() const {
      for (const std::size_t child : {2 * id, 2 * id + 1}) {
        if (child < tasks) pool->Schedule(node{pool, done, child});
      }
      done->Notify();
    }
  };
  pool.Schedule(node{&pool, &done, 1});
  done.Wait();
  return tasks;
}

// A parallel loop: 256 tasks from outside, wait for all, again.
std::size_t loops() {
  constexpr std::size_t each = 256;
  Eigen::ThreadPool pool(workers);
  std::atomic<std::size_t> sum{0};
  for (std::size_t round = 0; round != tasks / each; ++round) {
    Eigen::Barrier done(each);
    for (std::size_t i = 0; i != each; ++i) {
      pool.Schedule([&] {
        sum.fetch_add(1, std::memory_order::relaxed);
        done.Notify();
      });
    }
    done.Wait();
  }
  check(sum.load() == tasks);
  return tasks;
}

}  // namespace

int main() {
  measure("from_outside", from_outside);
  measure("tree", tree);
  measure("loops", loops);
}
