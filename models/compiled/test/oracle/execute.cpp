// SPDX-License-Identifier: MIT
// Executes one of the generated programs.
#include <functional>

#include "oracle.hpp"
#include "outside.hpp"

namespace oracle_programs {

const program_list* all_lists = nullptr;

program_list::program_list(const char* optimised, const oracle_program* first, std::size_t size)
    : level(optimised), programs(first), count(size), next(all_lists) {
  all_lists = this;
}

[[gnu::noinline]] void start(state& s, unsigned thread) {
  s.threads[thread] = std::thread(s.code[thread], std::ref(s), std::ref(s.results[thread]));
}
[[gnu::noinline]] void allocate_plain(state& s, unsigned variable) { note_plain(s, variable, new unsigned(0)); }
[[gnu::noinline]] void free_plain(state& s, thread_result&, unsigned variable) {
  note_freed(s, variable);
  delete plain_at(s, variable);
}

namespace {

void run_threads(const oracle_program& p, state& s) {
  if (p.has_main) return p.threads[0](s, s.results[0]);
  for (unsigned t = 0; t != most_threads && p.threads[t] != nullptr; ++t) start(s, t);
  for (unsigned t = 0; t != most_threads && p.threads[t] != nullptr; ++t) s.threads[t].join();
}

}  // namespace

void run(const oracle_program& p) {
  state s;
  s.code = p.threads.data();
  for (unsigned v = 0; p.has_memory && v != plain_variables; ++v) allocate_plain(s, v);
  run_threads(p, s);
  for (unsigned v = 0; v != plain_variables; ++v) {
    if (must_free(s, v)) free_plain(s, s.results[0], v);
  }
  std::array<unsigned, variables> values{};
  for (std::size_t v = 0; v != variables; ++v) values[v] = s.v[v].load(std::memory_order::relaxed);
  std::size_t threads = 0;
  while (threads != most_threads && p.threads[threads] != nullptr) ++threads;
  random_programs::add_outcome(s.results.data(), threads, values.data());
}

}  // namespace oracle_programs
