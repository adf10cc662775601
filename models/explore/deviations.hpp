// SPDX-License-Identifier: MIT
// What chance has decided in a run otherwise than a plain run would have: threads that go on where nothing forces a
// change, reads of old values, waits that end for no reason. A run can be recorded, and another one can follow a part
// of what was recorded: so a failure is made small (smaller.hpp).
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>

namespace runq::model::explore {

enum class deviation_kind : std::uint8_t {
  change,            ///< the thread with this number goes on
  time_out,          ///< the wait of the thread with this number ends early
  tick,              ///< deadlines that have passed are looked at
  old_value,         ///< a read sees a store so many places before the newest
  insertion,         ///< a store goes so many places before the end of modification order
  spurious_failure,  ///< of a weak compare-exchange
  spurious_wakeup,   ///< of a condition variable
  woken,             ///< of several that wait, another one than the first is woken
};
inline constexpr std::size_t deviation_kinds = 8;

/// When a thread is asked something: after so many of its own steps, for the n-th time since then.
struct moment {
  std::uint32_t thread = 0;
  std::uint64_t step = 0;
  deviation_kind kind{};
  std::uint32_t nth = 0;

  friend auto operator<=>(const moment&, const moment&) = default;
};

struct deviation {
  moment when;
  std::uint32_t value = 0;
};

/// What a run leaves, in memory that it shares with the process that has started it.
struct recording {
  static constexpr std::size_t most = std::size_t{1} << 20;
  std::uint64_t count;  ///< with those that have found no room
  deviation list[most];
};

enum class deviation_mode : std::uint8_t { by_chance, recorded, followed };
extern deviation_mode mode;

void record_into(recording& to) noexcept;
/// `some`: sorted by their moments; they live as long as the run.
void follow(std::span<const deviation> some) noexcept;

/// Of the running thread, now.
[[nodiscard]] moment ask(deviation_kind kind) noexcept;
void note_deviation(const moment& when, std::uint32_t value) noexcept;
/// What is followed there, or nullptr.
[[nodiscard]] const deviation* followed_at(const moment& when) noexcept;
/// The next step of the thread after `step` at which the scheduler has something to follow; ~0: there is none.
[[nodiscard]] std::uint64_t next_followed_step(std::uint32_t thread, std::uint64_t step) noexcept;

/// A choice: what `draw` gives, or what is followed, at most `most`. A plain run takes 0.
template <class Draw>
[[nodiscard]] std::uint32_t deviate(deviation_kind kind, std::uint32_t most, Draw&& draw) {
  if (mode == deviation_mode::by_chance) return draw();
  const moment now = ask(kind);
  if (mode == deviation_mode::followed) {
    const deviation* const d = followed_at(now);
    return d == nullptr ? 0 : std::min(d->value, most);
  }
  const std::uint32_t value = draw();
  if (value != 0) note_deviation(now, value);
  return value;
}

}  // namespace runq::model::explore
