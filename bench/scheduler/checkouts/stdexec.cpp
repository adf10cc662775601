// SPDX-License-Identifier: MIT
// The scheduler benchmark: stdexec's static_thread_pool, from a checkout. Its coroutines (exec::task) do not compile
// with g++ 12 on this pool, and a sender that starts itself again needs a type of its own; so there are no rows of
// forks.
#include <atomic>
#include <utility>

#include <exec/async_scope.hpp>
#include <exec/static_thread_pool.hpp>
#include <stdexec/execution.hpp>

#include "../rows.hpp"

namespace {

using scheduler = decltype(std::declval<exec::static_thread_pool&>().get_scheduler());

/// Nanoseconds until `n` functions that a worker has started have returned.
template <class F>
double run_all(unsigned workers, long n, F&& f) {
  exec::static_thread_pool pool(workers);
  const scheduler on = pool.get_scheduler();
  exec::async_scope scope;
  return bench::timed([&] {
    scope.spawn(stdexec::starts_on(on, stdexec::just() | stdexec::then([&scope, &f, on, n]() noexcept {
                                         for (long i = 0; i != n; ++i) {
                                           scope.spawn(stdexec::starts_on(on, stdexec::just() | stdexec::then(f)));
                                         }
                                       })));
    stdexec::sync_wait(scope.on_empty());
  });
}

double spawn_row(unsigned workers, long n) {
  std::atomic<long> done{0};
  const double ns = run_all(workers, n, [&done]() noexcept { done.fetch_add(1, std::memory_order::relaxed); });
  bench::require(done == n, "spawn");
  return ns / static_cast<double>(n);
}
double grain_row(unsigned workers, long ns) {
  const bench::grain size(ns);
  std::atomic<long> done{0};
  const double wall = run_all(workers, size.tasks, [&]() noexcept {
    done.fetch_add(bench::work(size.steps) != 0 ? 1 : 0, std::memory_order::relaxed);
  });
  bench::require(done == size.tasks, "grain");
  return size.percent(wall, workers);
}

double idle_row(unsigned workers, long ms) {
  exec::static_thread_pool pool(workers);
  stdexec::sync_wait(stdexec::schedule(pool.get_scheduler()));
  return bench::idle_cpu(ms);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run(argc, argv, {{"spawn", spawn_row}, {"grain", grain_row}, {"idle", idle_row}});
}
