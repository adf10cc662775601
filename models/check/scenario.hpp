// SPDX-License-Identifier: MIT
// What a model consists of: a scenario (the closed program), a case (the scenario with its name, bounds and mutants).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "atomics.hpp"

namespace runq::model {

/// A closed program of a few threads. An engine constructs it anew for every execution, runs `thread(0)` …
/// `thread(threads-1)` concurrently, then, all of them joined, `finish()`, then destroys it. Construction and finish()
/// run on a thread of their own that happens-before, and happens-after, all others.
///
/// Rules: deterministic but for the shared accesses; shared state through `model::atomics`; no heap memory but
/// `engine::allocate`, because an engine may abandon an execution half-way; at most `max_scenario_size` bytes.
class scenario {
 public:
  virtual ~scenario() = default;
  virtual void thread(unsigned index) = 0;
  virtual void finish() {}
};

inline constexpr std::size_t max_scenario_size = 1U << 16;

/// A one-step weakening of one memory order, which some check of the case must notice.
struct order_mutant {
  const char* name;          ///< "publish_relaxed"
  const char* site;          ///< "ring.push.publish": the name in the comment above the operation
  std::memory_order weaker;  ///< what the order becomes
  int arg = 0;               ///< 0: the only or the success order; 1: the failure order
};

/// A litmus test asks whether one outcome can be seen. The answer per engine is pinned: it is what calibrates how a
/// PASS of that engine is to be read (docs/limits.md).
struct litmus_question {
  const char* outcome = nullptr;  ///< a text of record_outcome(), or "race"; nullptr: the case is no litmus test
  bool cpp20 = false;             ///< allowed by C++20
  bool relacy = false;            ///< shown by Relacy's searches
  bool exact = false;             ///< shown by the exact engine without load buffering (RC11)
};

/// What is claimed of the operations that a case's threads call, and so is checked: freeze any one thread for ever at
/// any of its steps, and see whether the others still finish.
enum class progress_claim : unsigned char {
  none,       ///< nothing is claimed, nothing checked
  lock_free,  ///< the others always finish
  blocking,   ///< they do not: somewhere a frozen thread holds them up (a lock)
};

struct case_spec {
  const char* name;      ///< "ring/push_vs_steal": folder and file of the model
  const char* property;  ///< one sentence: what holds in every execution
  unsigned threads;      ///< 2 … max_threads
  std::vector<order_mutant> mutants{};
  /// The scenario is wrong on purpose, to show what its bug looks like: it must fail.
  bool seeded_bug = false;
  litmus_question litmus{};
  progress_claim progress = progress_claim::none;
  /// What this case is there for although each mutant that it kills is killed by other cases, too. A case that has
  /// neither this nor a mutant of its own (docs/models.md) fails, and so does one that has both.
  const char* kept_for = nullptr;
  /// Set by add_case from the scenario's member of this name: what the verdict relies on besides C++ (docs/limits.md).
  const char* axiom = nullptr;
  /// Set by add_case: the source that registers the case.
  const char* file = "";
  /// Set by add_case: constructs the scenario in `where` (max_scenario_size bytes, aligned to 64).
  scenario* (*construct)(void* where) = nullptr;
};

/// A clock has an entry for each thread, and its size costs time. For more threads, change this and compile the engine
/// again.
#ifndef RUNQ_MODEL_MAX_THREADS
#define RUNQ_MODEL_MAX_THREADS 5
#endif
inline constexpr unsigned max_threads = RUNQ_MODEL_MAX_THREADS;

/// Describes the outcome of this execution, in at most 31 characters; meant for finish(). The distinct texts of all
/// executions are part of the search's result: litmus tests are judged by them.
void record_outcome(const char* text) noexcept;

/// All cases in this program and the modules it has loaded, in order of registration.
[[nodiscard]] std::vector<case_spec>& cases();

/// Gives a value, such as a task's address, a name for counterexamples: `kind` (a literal) and a number. Meant for
/// constructors: the engine places a scenario at the same address for every execution.
void name_value(const void* value, const char* kind, int number) noexcept;

/// Registers scenario `S`; meant for a namespace-scope constant in the model's file.
template <class S>
bool add_case(case_spec spec, const char* file = __builtin_FILE()) {
  static_assert(sizeof(S) <= max_scenario_size, "a scenario must be small: an engine builds it for every execution");
  static_assert(alignof(S) <= 64);
  spec.file = file;
  if constexpr (requires { S::axiom; }) spec.axiom = S::axiom;
  spec.construct = [](void* where) -> scenario* { return ::new (where) S; };
  cases().push_back(spec);
  return true;
}

}  // namespace runq::model
