// SPDX-License-Identifier: MIT
// Rows of the scheduler benchmark on virtual processors. calibrate.py runs it and compares.
//
// calibrate MACHINE ROW PROCESSORS N CODE START
//     one run, as JSON. CODE: ns that an operation's own instructions take; see real_rows.hpp. START: each processor
//     begins so many ns after the one before it, because a thread that finds work starts the next thread; or `asleep`:
//     all but the first sleep until they are woken
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "real_rows.hpp"
#include "report.hpp"

namespace runq::simulate {
namespace {

// Earlier commits' machines cannot begin asleep.
template <class Scheduler>
void put_to_sleep(Scheduler& s, unsigned i) {
  if constexpr (requires { s.put_to_sleep(i); }) {
    s.put_to_sleep(i);
  } else {
    throw std::invalid_argument("no machine of that commit can begin asleep");
  }
}

int run(const costs& machine, const char* name, unsigned processors, std::uint64_t n, double code,
        std::string_view start) {
  world w(machine, processors);
  virtual_place place(0);
  small_scheduler<virtual_place> s(place, processors);
  for (unsigned i = 1; start == "asleep" && i != processors; ++i) put_to_sleep(s, i);
  const double apart = start == "asleep" ? 0 : std::strtod(start.data(), nullptr);
  const real_row row(s, name, n, ns(code));
  place.run(
      processors, std::numeric_limits<std::uint64_t>::max(), [&s](unsigned i) { s.loop(s.machine_at(i)); }, ns(apart));
  if (!w.stopped()) throw std::runtime_error("a task is lost");
  print(w, row.operations(), processors, row.begin());
  return 0;
}

int command(const std::vector<const char*>& words) {
  constexpr unsigned most = 1'000'000'000;
  if (words.size() != 6) throw std::invalid_argument("see the comment at the top of bench/simulate/calibrate.cpp");
  return run(machine_named(words[0]), words[1], number(words[2], 1, world::most_processors), number(words[3], 1, most),
             std::strtod(words[4], nullptr), words[5]);
}

}  // namespace
}  // namespace runq::simulate

int main(int count, char** words) {
  return runq::simulate::run_command("calibrate", runq::simulate::command, count, words);
}
