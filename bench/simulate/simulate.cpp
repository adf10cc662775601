// SPDX-License-Identifier: MIT
// The simulator of many processors. It runs the scheduler's own headers on virtual processors, and prints how many
// pieces of work they did in a second of virtual time, and where the rest of the time went. simulate.py runs it and
// makes the tables; bench/results/simulated-machines.md explains them.
//
// simulate run MACHINE WORKLOAD PROCESSORS PIECES NS [GROUP]
//     one run, as JSON: PIECES pieces of NS ns for each processor; GROUP processors share a shard of the global queue
// simulate real WORKLOAD PROCESSORS PIECES NS TIMES
//     such a run on threads, TIMES times: the least and the median ns per piece
// simulate measure
//     what operations cost on this machine, as JSON
// simulate machines
//     the simulated machines, as JSON
// simulate costs MACHINE
//     what operations cost on that machine, as `measure` prints it
//
// MACHINE is the name of a published machine, or `here:` and the costs that `measure` has printed, with commas.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "measure.hpp"
#include "places.hpp"
#include "report.hpp"
#include "small_scheduler.hpp"
#include "workloads.hpp"

namespace runq::simulate {
namespace {

[[nodiscard]] workload workload_named(std::string_view name) {
  for (const description& w : workloads) {
    if (w.name == name) return w.what;
  }
  throw std::invalid_argument("there is no such workload");
}

int run(const costs& machine, workload what, unsigned n, std::uint32_t pieces, double length, unsigned per_shard) {
  world w(machine, n);
  virtual_place place(ns(length));
  small_scheduler<virtual_place> s(place, n, per_shard);
  program<virtual_place> tasks(s, what, pieces);
  place.run(n, tasks.runs(), [&s](unsigned i) { s.loop(s.machine_at(i)); });
  if (!w.stopped() || !tasks.complete()) throw std::runtime_error("a task is lost, or ran too often");
  print(w, tasks.pieces(), n);
  return 0;
}

int run_really(workload what, unsigned n, std::uint32_t pieces, double length, unsigned times) {
  const double turns = real_place::measure_turns();
  std::vector<double> all;
  for (unsigned i = 0; i != times; ++i) {
    real_place place(length, turns);
    small_scheduler<real_place> s(place, n);
    program<real_place> tasks(s, what, pieces);
    const std::int64_t took = place.run(
        n, tasks.runs(), [&s](unsigned k) { s.loop(s.machine_at(k)); }, [&s] { s.parking.stop(); });
    if (!tasks.complete()) throw std::runtime_error("a task is lost, or ran too often");
    all.push_back(static_cast<double>(took) / static_cast<double>(tasks.pieces()));
  }
  std::sort(all.begin(), all.end());
  std::printf("[%.3f, %.3f]\n", all.front(), all[all.size() / 2]);
  return 0;
}

int print_machines() {
  std::printf("[");
  for (std::size_t i = 0; i != published.size(); ++i) {
    const costs& c = published[i];
    std::printf("%s\n {\"name\": \"%s\", \"machine\": \"%s\", \"costs\": \"%s\"}", i == 0 ? "" : ",", c.name.data(),
                c.machine.data(), text_of(c).c_str());
  }
  std::printf("]\n");
  return 0;
}

int command(const std::vector<const char*>& words) {
  constexpr unsigned fewest_pieces = 32;
  constexpr unsigned most_pieces = 1'000'000;
  const std::string_view what = words.empty() ? "" : words[0];
  if (what == "run" && (words.size() == 6 || words.size() == 7)) {
    const unsigned per_shard =
        words.size() == 7 ? number(words[6], 1, world::most_processors) : detail::core::processors_per_shard;
    return run(machine_named(words[1]), workload_named(words[2]), number(words[3], 1, world::most_processors),
               number(words[4], fewest_pieces, most_pieces), std::strtod(words[5], nullptr), per_shard);
  }
  if (what == "real" && words.size() == 6) {
    constexpr unsigned most_times = 10'000;
    return run_really(workload_named(words[1]), number(words[2], 1, world::most_processors),
                      number(words[3], fewest_pieces, most_pieces), std::strtod(words[4], nullptr),
                      number(words[5], 1, most_times));
  }
  if (what == "measure" && words.size() == 1) {
    std::printf("%s\n", text_of(measure()).c_str());
    return 0;
  }
  if (what == "machines" && words.size() == 1) return print_machines();
  if (what == "costs" && words.size() == 2) {
    std::printf("%s\n", text_of(machine_named(words[1])).c_str());
    return 0;
  }
  throw std::invalid_argument("see the comment at the top of bench/simulate/simulate.cpp");
}

}  // namespace
}  // namespace runq::simulate

int main(int count, char** words) {
  return runq::simulate::run_command("simulate", runq::simulate::command, count, words);
}
