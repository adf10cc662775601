// SPDX-License-Identifier: MIT
// Not instrumented: where memory lies, which threads of a program learn by their atomics.
#include "outside.hpp"

#include "oracle.hpp"

namespace oracle_programs {

void note_plain(state& s, unsigned variable, unsigned* at) noexcept { s.plain[variable] = at; }
unsigned* plain_at(const state& s, unsigned variable) noexcept { return s.plain[variable]; }
void note_freed(state& s, unsigned variable) noexcept { s.is_freed[variable] = true; }
bool must_free(const state& s, unsigned variable) noexcept {
  return s.plain[variable] != nullptr && !s.is_freed[variable];
}

}  // namespace oracle_programs
