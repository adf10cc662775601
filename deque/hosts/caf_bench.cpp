// SPDX-License-Identifier: MIT
// CAF with its own work_stealing (RUNQ_HOST_OWN_QUEUE), or with ours. Prints a line "PROGRAM NANOSECONDS" a message or
// an actor for each program, and "memory KILOBYTES", the most that was resident. hosts.py compares the two.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <caf/all.hpp>
#include <caf/policy/work_stealing.hpp>
#include <caf/scheduler/coordinator.hpp>
#include <sys/resource.h>

#include "caf_work_stealing.hpp"
#include "host_bench.hpp"

namespace {

#ifdef RUNQ_HOST_OWN_QUEUE
using policy = caf::policy::work_stealing;
#else
using policy = runq_hosts::caf_work_stealing;
#endif
constexpr std::size_t workers = 2;

struct configuration : caf::actor_system_config {
  configuration() {
    set("scheduler.max-threads", workers);
    load<caf::scheduler::coordinator<policy>>();
  }
};

// Runs `body` in a system of its own, which ends when all actors have.
template <class Body>
void in_system(const Body& body) {
  configuration config;
  caf::actor_system system(config);
  body(system);
}

// A tree of actors that wait for their ten children's sums.
constexpr long leaves = 100'000;
struct sum {
  long so_far = 0;
  int missing = 10;
};
caf::behavior summing(caf::stateful_actor<sum>* self, caf::actor parent, long first, long n) {
  if (n == 1) {
    self->send(parent, first);
    return {};
  }
  for (long i = 0; i != 10; ++i) {
    self->spawn(summing, caf::actor_cast<caf::actor>(self), first + i * (n / 10), n / 10);
  }
  return {[self, parent](long part) {
    self->state.so_far += part;
    if (--self->state.missing != 0) return;
    self->send(parent, self->state.so_far);
    self->quit();
  }};
}
std::size_t skynet() {
  in_system([](caf::actor_system& system) {
    caf::scoped_actor self(system);
    self->spawn(summing, caf::actor_cast<caf::actor>(self), 0L, leaves);
    self->receive([](long all) {
      if (all != leaves * (leaves - 1) / 2) std::abort();
    });
  });
  return leaves;
}

// 64 pairs of actors that send a number to and fro.
constexpr long rounds = 4000;
caf::behavior answering(caf::event_based_actor* self) {
  return {[self](long left) {
    if (left == 0) self->quit();
    return left - 1;
  }};
}
caf::behavior asking(caf::event_based_actor* self, const caf::actor& other) {
  self->send(other, rounds);
  return {[self](long left) {
    if (left < 0) {
      self->quit();
      return;
    }
    self->send(caf::actor_cast<caf::actor>(self->current_sender()), left);
  }};
}
std::size_t pairs() {
  constexpr std::size_t n = 64;
  in_system([](caf::actor_system& system) {
    for (std::size_t i = 0; i != n; ++i) system.spawn(asking, system.spawn(answering));
  });
  return n * rounds;
}

// A thread outside sends to actors in turn.
std::size_t from_outside() {
  constexpr std::size_t n = 64;
  constexpr std::size_t each = 2000;
  in_system([](caf::actor_system& system) {
    std::vector<caf::actor> all;
    for (std::size_t i = 0; i != n; ++i) {
      all.push_back(system.spawn([](caf::event_based_actor* self) {
        return caf::behavior{[self, left = each](int) mutable {
          if (--left == 0) self->quit();
        }};
      }));
    }
    for (std::size_t k = 0; k != each; ++k) {
      for (const caf::actor& one : all) caf::anon_send(one, 1);
    }
  });
  return n * each;
}

}  // namespace

int main() {
  runq_hosts::measure("skynet", skynet);
  runq_hosts::measure("pairs", pairs);
  runq_hosts::measure("from_outside", from_outside);
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  std::printf("memory %ld\n", used.ru_maxrss);
}
