// SPDX-License-Identifier: MIT
// Scenarios and cases for GenMC: the case called RUNQ_CASE (set on the compiler's command line) becomes the program's
// main(); the other cases of the file are left out.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "atomics.hpp"

namespace runq::model {

class scenario {
 public:
  // Not virtual, because nobody deletes through it, and a virtual one would need the heap's operator delete.
  ~scenario() = default;
  virtual void thread(unsigned index) = 0;
  virtual void finish() {}
};

struct order_mutant {
  const char* name;
  const char* site;
  std::memory_order weaker;
  int arg = 0;
};

struct relacy_budget {
  std::uint64_t random = 0;
  unsigned bound = 0;
  bool full = false;
};

struct litmus_question {
  const char* outcome = nullptr;
  bool cpp20 = false;
  bool relacy = false;
  bool exact = false;
};

enum class progress_claim : unsigned char { none, lock_free, blocking };

/// Takes a list of anything and keeps nothing.
template <class T>
struct ignored_list {
  constexpr ignored_list() noexcept = default;
  constexpr ignored_list(std::initializer_list<T>) noexcept {}
};

struct case_spec {
  const char* name;
  const char* property;
  unsigned threads;
  relacy_budget quick{};
  relacy_budget full{};
  ignored_list<order_mutant> mutants{};
  bool seeded_bug = false;
  litmus_question litmus{};
  progress_claim progress = progress_claim::none;
};

inline constexpr unsigned max_threads = 4;

inline void record_outcome(const char*) noexcept {}
inline void name_value(const void*, const char*, int) noexcept {}

namespace {

template <class S, unsigned Index>
void* run_thread(void* s) {
  static_cast<S*>(s)->thread(Index);
  return nullptr;
}

template <class S>
void run_case(unsigned threads) {
  constexpr void* (*bodies[max_threads])(void*) = {run_thread<S, 0>, run_thread<S, 1>, run_thread<S, 2>,
                                                   run_thread<S, 3>};
  S s;
  long running[max_threads];
#pragma clang loop unroll(full)
  for (unsigned i = 0; i != max_threads; ++i) {
    if (i < threads) running[i] = __VERIFIER_thread_create(nullptr, bodies[i], &s);
  }
#pragma clang loop unroll(full)
  for (unsigned i = 0; i != max_threads; ++i) {
    if (i < threads) __VERIFIER_thread_join(running[i]);
  }
  static_cast<scenario&>(s).finish();  // some scenarios hide theirs
}

struct {
  void (*run)(unsigned threads) = nullptr;
  unsigned threads = 0;
} chosen;

/// Notes the case if it is the one to run. The compiler evaluates this, and so the other cases leave no code behind.
template <class S>
[[gnu::always_inline]] inline bool add_case(const case_spec& spec) {
  if (__builtin_strcmp(spec.name, RUNQ_CASE) == 0) {
    chosen.run = run_case<S>;
    chosen.threads = spec.threads;
  }
  return true;
}

}  // namespace

}  // namespace runq::model

// This header is the program's frame: it is included by the one file that is compiled.
int main() {  // NOLINT(misc-definitions-in-headers)
  runq::model::chosen.run(runq::model::chosen.threads);
  return 0;
}
