// SPDX-License-Identifier: MIT
// costs: what a memory operation, a pause and a system call cost on the simulated machines, and where each figure is
// from. bench/results/simulated-machines.md says what the simulator makes of them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace runq::simulate {

/// Virtual time, in picoseconds: a cycle of 3.5 GHz is 286 of them.
using picoseconds = std::int64_t;
[[nodiscard]] constexpr picoseconds ns(double n) noexcept { return static_cast<picoseconds>(n * 1000); }

struct costs {
  std::string_view name;
  std::string_view machine;
  // Cores share a cache in groups, groups make a socket. A machine with more cores than the real one has more sockets.
  unsigned group;
  unsigned socket;
  // A compare-exchange of a line that another core has changed: the whole operation.
  picoseconds same_group;
  picoseconds same_socket;
  picoseconds other_socket;
  picoseconds hit;          // a load or a store of a line that this core has
  picoseconds rmw;          // a read-modify-write of a line that only this core has
  picoseconds fence;        // a sequentially consistent fence when the store buffer is empty
  picoseconds heavy_fence;  // membarrier(2), beside threads of the process that run
  picoseconds interrupt;    // what such a call takes from each of those threads
  picoseconds pause;
  picoseconds wake_call;   // futex(2): the caller of a wake
  picoseconds sleep_call;  // futex(2): until the thread sleeps
  picoseconds wake_up;     // from the beginning of the wake call until the woken thread runs
  picoseconds yield_call;  // sched_yield(2) with nothing else to run
};

// Transfers between cores: N. Viennot, github.com/nviennot/core-to-core-latency, README, the tables "Single socket
// results" and "Dual sockets results": medians of a compare-exchange ping-pong, one way, on AWS c6a.metal and
// c6i.metal. Everything else is an assumption, made as follows. `hit` is one cycle of 3.5 GHz, because the latency of a
// hit in the first cache overlaps with other work. `milan`: rmw, fence, pause, wake_call, wake_up and yield_call were
// measured by `simulate measure` on a virtual machine with two cores of Zen 4, the successor of Milan's Zen 3; going to
// sleep is taken to cost half of waking. `icelake`: rmw and fence are 20 cycles of 3.5 GHz (uops.info,
// CMPXCHG_LOCK_M64_R64, measures 19 on the related Alder Lake-P); pause is 140 cycles, as it has been since Skylake
// (it was 10 before); system calls are those of `milan`. heavy_fence and interrupt: bench/results/calibration.md.
inline constexpr costs milan{.name = "milan",
                             .machine = "AMD EPYC 7R13: groups of 8 cores, 48 in a socket",
                             .group = 8,
                             .socket = 48,
                             .same_group = ns(23),
                             .same_socket = ns(107),
                             .other_socket = ns(197),
                             .hit = ns(0.3),
                             .rmw = ns(2.2),
                             .fence = ns(2.2),
                             .heavy_fence = ns(1700),
                             .interrupt = ns(1000),
                             .pause = ns(24.4),
                             .wake_call = ns(2000),
                             .sleep_call = ns(1000),
                             .wake_up = ns(4000),
                             .yield_call = ns(500)};
inline constexpr costs icelake{.name = "icelake",
                               .machine = "Intel Xeon Platinum 8375C: 32 cores in a socket",
                               .group = 32,
                               .socket = 32,
                               .same_group = ns(51),
                               .same_socket = ns(51),
                               .other_socket = ns(108),
                               .hit = ns(0.3),
                               .rmw = ns(5.7),
                               .fence = ns(5.7),
                               .heavy_fence = milan.heavy_fence,
                               .interrupt = milan.interrupt,
                               .pause = ns(40),
                               .wake_call = milan.wake_call,
                               .sleep_call = milan.sleep_call,
                               .wake_up = milan.wake_up,
                               .yield_call = milan.yield_call};
inline constexpr std::array published{milan, icelake};

// What the simulation is held against: see bench/results/calibration.md.
inline constexpr costs xeon16{.name = "xeon16",
                              .machine = "an Intel Xeon with 300 MiB of L3, of which a virtual machine has 16 cores",
                              .group = 16,
                              .socket = 16,
                              .same_group = icelake.same_group,
                              .same_socket = icelake.same_socket,
                              .other_socket = icelake.other_socket,
                              .hit = icelake.hit,
                              .rmw = icelake.rmw,
                              .fence = icelake.fence,
                              .heavy_fence = icelake.heavy_fence,
                              .interrupt = icelake.interrupt,
                              .pause = icelake.pause,
                              .wake_call = icelake.wake_call,
                              .sleep_call = icelake.sleep_call,
                              .wake_up = ns(13'600),
                              .yield_call = icelake.yield_call};

}  // namespace runq::simulate
