// SPDX-License-Identifier: MIT
#pragma once

namespace oracle_programs {

struct state;

void note_plain(state& s, unsigned variable, unsigned* at) noexcept;
[[nodiscard]] unsigned* plain_at(const state& s, unsigned variable) noexcept;
void note_freed(state& s, unsigned variable) noexcept;
/// It was allocated, and has not been freed.
[[nodiscard]] bool must_free(const state& s, unsigned variable) noexcept;

}  // namespace oracle_programs
