// SPDX-License-Identifier: MIT
#include "deviations.hpp"

#include <array>

#include "limits.hpp"
#include "scheduler.hpp"
#include "threads.hpp"

namespace runq::model::explore {

deviation_mode mode = deviation_mode::by_chance;

namespace {

recording* recorded = nullptr;
std::span<const deviation> followed;

/// How often a thread was asked since its last step, by kind.
struct questions {
  std::uint64_t step = 0;
  std::array<std::uint32_t, deviation_kinds> asked{};
};
std::array<questions, max_threads> questions_of{};

[[nodiscard]] auto first_from(const moment& when) noexcept {
  return std::lower_bound(followed.begin(), followed.end(), when,
                          [](const deviation& d, const moment& m) { return d.when < m; });
}

}  // namespace

void record_into(recording& to) noexcept {
  mode = deviation_mode::recorded;
  recorded = &to;
  to.count = 0;
}

void follow(std::span<const deviation> some) noexcept {
  mode = deviation_mode::followed;
  followed = some;
}

moment ask(deviation_kind kind) noexcept {
  questions& q = questions_of[self->number];
  const std::uint64_t step = own_steps();
  if (q.step != step) q = {step, {}};
  return {self->number, step, kind, q.asked[static_cast<std::size_t>(kind)]++};
}

void note_deviation(const moment& when, std::uint32_t value) noexcept {
  if (recorded->count < recording::most) recorded->list[recorded->count] = {when, value};
  ++recorded->count;
}

const deviation* followed_at(const moment& when) noexcept {
  const auto found = first_from(when);
  return found == followed.end() || found->when != when ? nullptr : &*found;
}

std::uint64_t next_followed_step(std::uint32_t thread, std::uint64_t step) noexcept {
  const auto is_the_schedulers = [](deviation_kind kind) { return kind <= deviation_kind::tick; };
  for (auto at = first_from({thread, step + 1, {}, 0}); at != followed.end() && at->when.thread == thread; ++at) {
    if (is_the_schedulers(at->when.kind)) return at->when.step;
  }
  return ~std::uint64_t{0};
}

}  // namespace runq::model::explore
