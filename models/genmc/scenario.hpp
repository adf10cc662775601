// SPDX-License-Identifier: MIT
// Scenarios and cases for GenMC: one case of a file becomes a program; the others leave no code behind.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include "atomics.hpp"

namespace runq::model {

class scenario {
 public:
  // Not virtual, because no object is deleted through it, and a virtual one would need the heap's operator delete.
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
  ignored_list<order_mutant> mutants{};
  bool seeded_bug = false;
  litmus_question litmus{};
  progress_claim progress = progress_claim::none;
  const char* kept_for = nullptr;
};

inline constexpr unsigned max_threads = 5;

inline void record_outcome(const char*) noexcept {}
inline void name_value(const void*, const char*, int) noexcept {}

/// Does nothing: the case to run is named in the program's main(), which run_genmc.py writes behind the case's file.
template <class S>
[[nodiscard]] constexpr bool add_case(const case_spec&) noexcept {
  return true;
}

template <class S, unsigned Index>
void* run_thread(void* s) {
  static_cast<S*>(s)->thread(Index);
  return nullptr;
}

/// What main() does: one execution of scenario `S`.
template <class S, unsigned Threads>
void run_case() {
  static_assert(Threads <= max_threads);
  S s;
  [&]<unsigned... Index>(std::integer_sequence<unsigned, Index...>) {
    const std::array<long, Threads> running{__VERIFIER_thread_create(nullptr, run_thread<S, Index>, &s)...};
    (__VERIFIER_thread_join(running[Index]), ...);
  }
  (std::make_integer_sequence<unsigned, Threads>{});
  static_cast<scenario&>(s).finish();  // private in some scenarios, so called through the base
}

}  // namespace runq::model
