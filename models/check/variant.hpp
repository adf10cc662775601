// SPDX-License-Identifier: MIT
// Mutants of the source that are chosen at run time: the build puts their functions beside the shipped ones
// (verify/mutant_variants.py).
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace runq::model {

/// The name of a source mutant, "ring/takes_all", as a number (FNV-1a).
[[nodiscard]] constexpr std::uint64_t mutant_number(std::string_view name) noexcept {
  std::uint64_t hash = 14'695'981'039'346'656'037U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211U;
  return hash;
}

/// The number of the mutant that runs in this process; 0: none does, but the shipped code.
extern std::uint64_t chosen_mutant;

struct mutant_name {
  std::uint64_t number;
  // NOLINTNEXTLINE(google-explicit-constructor): a literal stands for it
  consteval mutant_name(const char* name) noexcept : number(mutant_number(name)) {}
};

#ifdef RUNQ_NOTES_MUTANTS  // explore/sweep/chosen_mutant.cpp
/// Whether calls of mutated functions are noted.
extern bool mutants_are_noted;
/// A function was called that the mutant of this number changes.
void note_mutant(std::uint64_t number) noexcept;
#endif

/// Whether the changed body of a function runs, rather than the shipped one.
#ifdef RUNQ_NOTES_MUTANTS
[[nodiscard, gnu::no_sanitize("thread")]] constexpr bool runs_mutant(mutant_name name) noexcept {
  if (std::is_constant_evaluated()) return false;
  if (mutants_are_noted) note_mutant(name.number);
#else
[[nodiscard]] constexpr bool runs_mutant(mutant_name name) noexcept {
#endif
  return !std::is_constant_evaluated() && name.number == chosen_mutant;
}

}  // namespace runq::model
