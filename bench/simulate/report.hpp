// SPDX-License-Identifier: MIT
// report: what the programs of the simulator have in common: the names of machines, numbers from the command line, and
// what they print of a run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "measure.hpp"
#include "world.hpp"

namespace runq::simulate {

inline constexpr std::size_t most_places = 24;

/// A published machine, or `here:` and costs with commas.
[[nodiscard]] inline costs machine_named(std::string_view name) {
  for (const costs& c : published) {
    if (c.name == name) return c;
  }
  if (name == xeon16.name) return xeon16;
  if (name.starts_with("here:")) return costs_from(std::string(name.substr(5)));
  throw std::invalid_argument("there is no such machine");
}

/// What was simulated, as JSON. The seconds are those from `begin` on; the shares are of the whole time.
inline void print(const world& w, std::uint64_t pieces, unsigned n, picoseconds begin = 0) {
  const double seconds = static_cast<double>(w.end() - begin) * 1e-12;
  std::printf("{\"pieces\": %llu, \"seconds\": %.9f, \"per_second\": %.0f, \"operations\": %llu,\n \"shares\": {",
              static_cast<unsigned long long>(pieces), seconds, static_cast<double>(pieces) / seconds,
              static_cast<unsigned long long>(w.operations()));
  const auto shares = w.shares();
  for (std::size_t i = 0; i != shares.size(); ++i) {
    std::printf("%s\"%s\": %.6f", i == 0 ? "" : ", ", spent_names[i].data(), shares[i]);
  }
  std::printf("},\n \"places\": [");
  const std::vector<world::place> places = w.places();
  const double all = static_cast<double>(w.end()) * n;
  for (std::size_t i = 0; i != std::min(places.size(), most_places); ++i) {
    const world::place& p = places[i];
    std::printf(
        "%s\n  {\"object\": \"%s\", \"offset\": %zu, \"file\": \"%s\", \"line\": %d, \"waited\": %.6f, "
        "\"queued\": %.6f, \"times\": %llu}",
        i == 0 ? "" : ",", p.object.c_str(), p.offset, p.where.file, p.where.line, static_cast<double>(p.waited) / all,
        static_cast<double>(p.queued) / all, static_cast<unsigned long long>(p.times));
  }
  std::printf("]}\n");
}

[[nodiscard]] inline unsigned number(const char* text, unsigned least, unsigned most) {
  const unsigned long n = std::strtoul(text, nullptr, 10);
  if (n < least || n > most) throw std::invalid_argument(std::string("out of range: ") + text);
  return static_cast<unsigned>(n);
}

/// What main() returns: what the command does with the words behind the program's name, or 2 with the reason on stderr.
inline int run_command(const char* program, int (*command)(const std::vector<const char*>&), int count, char** words) {
  try {
    return command({words + 1, words + count});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return 2;
  }
}

}  // namespace runq::simulate
