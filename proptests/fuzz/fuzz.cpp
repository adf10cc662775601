// SPDX-License-Identifier: MIT
#include "fuzz.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "fifo.hpp"
#include "laws.hpp"
#include "processor_spec.hpp"
#include "shared_spec.hpp"
#include "slot_spec.hpp"
#include "split_spec.hpp"

namespace runq::props {

namespace {

/// Prints the calls so far as a unit test. Called before the process ends at a failure, which a law, a contract or a
/// sanitizer has found.
void print_fuzz_repro() {
  const std::string code = "as a unit test:\n----------------------------------------\n" + transcript::code() +
                           "----------------------------------------\n";
  (void)!write(STDERR_FILENO, code.data(), code.size());
}

struct sigaction libfuzzers_own;
void print_repro_and_go_on(int) {
  print_fuzz_repro();
  // libFuzzer writes the script to a file.
  sigaction(SIGABRT, &libfuzzers_own, nullptr);
  (void)raise(SIGABRT);
}

/// To be called before every script.
void begin_fuzz(const std::string& stem) {
  // Catches the signal before libFuzzer's own handler, which was installed before the first script.
  static const int caught = [] {
    struct sigaction mine = {};
    mine.sa_handler = print_repro_and_go_on;
    return sigaction(SIGABRT, &mine, &libfuzzers_own);
  }();
  (void)caught;
  transcript::name(stem, "fuzz");
}

[[noreturn]] void fuzz_failed(const std::string& what) {
  std::fprintf(stderr, "FAIL  %s\n", what.c_str());
  std::abort();
}

int fuzz_any(const std::string& stem, const std::vector<candidate>& candidates, const detail::spec_traits& traits,
             detail::any_spec (*make)(const candidate&, std::size_t), const std::uint8_t* data, std::size_t size) {
  if (size < 2) return -1;
  const candidate& c = candidates[data[0] % candidates.size()];
  focus everything{.name = "fuzz", .mix = c.verbs, .agree = agree_on_all, .conserve = true};
  everything.any_start = c.index_bits != 0;
  const std::uint64_t near = std::min<std::uint64_t>(2 * std::min<std::uint64_t>(c.capacity, 64), 127);
  const std::size_t most = std::min<std::size_t>(c.capacity, 300) + 3;  // as the laws' generator
  begin_fuzz(stem);
  try {
    detail::execution run(c, everything, detail::start_near_wrap(c, 1 + data[1] % near), traits.how_many);
    detail::model m{make(c, traits.how_many)};
    for (std::size_t at = 2; at + 4 <= size; at += 4) {
      operation o;
      o.what = c.verbs[data[at] % c.verbs.size()];
      o.actor = static_cast<std::uint8_t>(data[at + 1] % traits.how_many);
      // Small numbers are the interesting ones, and large ones have to be possible.
      o.n = static_cast<std::uint16_t>(data[at + 2] < 128 ? data[at + 2] % 5U : (data[at + 2] * 4U) % most);
      o.m = data[at + 3] % 6U;
      o = traits.tidy(o, c, traits.how_many);
      o.first = m.next;
      m.next += static_cast<value>(traits.fresh_values(o));
      run.run(m.spec, o);
      (void)m.spec.apply(o);
    }
    run.finish(m.spec, m.next);
  } catch (const rc::detail::CaseResult& failure) {
    fuzz_failed(failure.description);
  }
  return 0;
}

}  // namespace

template <class Spec>
int fuzz(const std::string& stem, const std::vector<candidate>& candidates, const std::uint8_t* data,
         std::size_t size) {
  return fuzz_any(stem, candidates, detail::traits_of<Spec>, detail::any_spec::of<Spec>, data, size);
}

template int fuzz<fifo_spec>(const std::string&, const std::vector<candidate>&, const std::uint8_t*, std::size_t);
template int fuzz<split_spec>(const std::string&, const std::vector<candidate>&, const std::uint8_t*, std::size_t);
template int fuzz<slot_spec>(const std::string&, const std::vector<candidate>&, const std::uint8_t*, std::size_t);
template int fuzz<shared_spec>(const std::string&, const std::vector<candidate>&, const std::uint8_t*, std::size_t);
template int fuzz<processor_spec>(const std::string&, const std::vector<candidate>&, const std::uint8_t*, std::size_t);

int fuzz_chain(const std::string& stem, std::string (*disagrees)(const std::vector<std::uint8_t>&),
               const std::uint8_t* data, std::size_t size) {
  const std::vector<std::uint8_t> steps(data, data + size);
  begin_fuzz(stem);
  transcript::replace("  EXPECT_EQ(runq::props::chain_disagrees(" + braces(values(steps.begin(), steps.end())) +
                      "), \"\");\n");
  if (const std::string wrong = disagrees(steps); !wrong.empty()) fuzz_failed(wrong);
  return 0;
}

}  // namespace runq::props

// AddressSanitizer calls this before it ends the process. It is not inline, because the linker would choose the
// sanitizer's own weak definition.
extern "C" void __asan_on_error() { runq::props::print_fuzz_repro(); }
