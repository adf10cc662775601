// SPDX-License-Identifier: MIT
// Bytes as a script for the laws about one thread, for libFuzzer: the candidates, the specification and the comparison
// are those of the property suites (laws.hpp); only where the script comes from differs.
//
// Byte 0 chooses the candidate, byte 1 how many counts before the wrap-around its counters start. Then four bytes make
// a call: which one, by whom, n, m. All bytes mean something, so that every mutation of a script is a script.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "laws.hpp"

namespace runq::props {

namespace detail {

/// Prints the calls so far as a unit test. Called before the process ends at a failure, which a law, a contract or a
/// sanitizer has found.
inline void print_fuzz_repro() {
  const std::string code = "as a unit test:\n----------------------------------------\n" + transcript::code() +
                           "----------------------------------------\n";
  (void)!write(STDERR_FILENO, code.data(), code.size());
}

inline struct sigaction libfuzzers_own;
inline void print_repro_and_go_on(int) {
  print_fuzz_repro();
  // libFuzzer writes the script to a file.
  sigaction(SIGABRT, &libfuzzers_own, nullptr);
  (void)raise(SIGABRT);
}

}  // namespace detail

/// To be called before every script.
inline void begin_fuzz(const std::string& stem) {
  // Catches the signal before libFuzzer's own handler, which was installed before the first script.
  static const int caught = [] {
    struct sigaction mine = {};
    mine.sa_handler = detail::print_repro_and_go_on;
    return sigaction(SIGABRT, &mine, &detail::libfuzzers_own);
  }();
  (void)caught;
  transcript::name(stem, "fuzz");
}

[[noreturn]] inline void fuzz_failed(const std::string& what) {
  std::fprintf(stderr, "FAIL  %s\n", what.c_str());
  std::abort();
}

/// Runs the script in `data` on one of the candidates, with everything that a law can look at: every answer is the
/// specification's, every element comes out once, and the answers do not depend on where the counters start.
template <class Spec>
int fuzz(const std::string& stem, const std::vector<candidate>& candidates, const std::uint8_t* data,
         std::size_t size) {
  if (size < 2) return -1;
  const candidate& c = candidates[data[0] % candidates.size()];
  focus everything{.name = "fuzz", .mix = c.verbs, .agree = agree_on_all, .conserve = true};
  everything.any_start = c.index_bits != 0;
  const std::uint64_t near = std::min<std::uint64_t>(2 * std::min<std::uint64_t>(c.capacity, 64), 127);
  const std::size_t most = std::min<std::size_t>(c.capacity, 300) + 3;  // as the laws' generator
  begin_fuzz(stem);
  try {
    detail::execution<Spec> run(c, everything, detail::start_near_wrap(c, 1 + data[1] % near), Spec::how_many);
    detail::model<Spec> m{Spec(c, Spec::how_many)};
    for (std::size_t at = 2; at + 4 <= size; at += 4) {
      operation o;
      o.what = c.verbs[data[at] % c.verbs.size()];
      o.actor = data[at + 1] % Spec::how_many;
      // Small numbers are the interesting ones, and large ones have to be possible.
      o.n = static_cast<std::uint16_t>(data[at + 2] < 128 ? data[at + 2] % 5U : (data[at + 2] * 4U) % most);
      o.m = data[at + 3] % 6U;
      o = Spec::tidy(o, c, Spec::how_many);
      o.first = m.next;
      m.next += static_cast<value>(Spec::fresh_values(o));
      run.run(m.spec, o);
      (void)m.spec.apply(o);
    }
    run.finish(m.spec, m.next);
  } catch (const rc::detail::CaseResult& failure) {
    fuzz_failed(failure.description);
  }
  return 0;
}

}  // namespace runq::props

// AddressSanitizer calls this before it ends the process. It is not inline, because the linker would choose the
// sanitizer's own weak definition. Each fuzz target is one source file, so this is defined once.
extern "C" void __asan_on_error() { runq::props::detail::print_fuzz_repro(); }
