// SPDX-License-Identifier: MIT
// The laws of a queue shared by all, with batches, for any candidate.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "laws.hpp"
#include "shared_spec.hpp"

namespace runq::props {

[[nodiscard]] inline std::vector<law> shared_laws(const std::vector<candidate>& candidates) {
  using enum verb;
  const std::vector<verb> all{push,     push_batch,  pop, take_batch, push_front, has_work_approx,
                              has_work, size_approx, push};
  return stateful_laws<shared_spec>(
      candidates,
      {
          {"agrees_with_a_list", all, agree_on_all},
          {"take_returns_the_oldest", {push, push_batch, pop, take_batch, pop}, agree_on({pop})},
          {"splice_appends_in_order", {push_batch, push, pop, pop}, agree_on({pop}), {push_batch}},
          {"splice_front_goes_before_everything_in_order", {push_front, push, pop, pop}, agree_on({pop}), {push_front}},
          {"take_batch_takes_the_least_of_size_share_max_and_128",
           {push_batch, take_batch, push, take_batch, pop},
           agree_on({take_batch}),
           {take_batch}},
          {"has_work_approx_is_exact_when_nobody_else_is_there",
           {push, has_work_approx, pop, has_work_approx, take_batch, push_batch},
           agree_on({has_work_approx}),
           {has_work_approx}},
          {"has_work_is_exact_when_nobody_else_is_there",
           {push, has_work, pop, has_work, take_batch, push_batch},
           agree_on({has_work}),
           {has_work}},
          {"size_approx_is_exact_when_nobody_else_is_there",
           {push, size_approx, pop, take_batch, push_batch, push_front},
           agree_on({size_approx}),
           {size_approx}},
          {.name = "every_element_comes_out_once", .mix = all, .agree = {}, .conserve = true},
          {.name = "elements_come_out_in_the_order_they_went_in",
           .mix = {push, push_batch, pop, take_batch},
           .agree = {},
           .in_order = true},
      });
}

/// A law about inject_chain. `disagrees` is chain_disagrees of the header under test.
[[nodiscard]] inline law chain_law(std::function<std::string(const std::vector<std::uint8_t>&)> disagrees) {
  return {"a_chain_agrees_with_a_list", [disagrees] {
            const auto steps =
                *rc::gen::container<std::vector<std::uint8_t>>(rc::gen::cast<std::uint8_t>(detail::between(0, 256)));
            calls_made() += steps.size();
            values shown(steps.begin(), steps.end());
            transcript::replace("  EXPECT_EQ(runq::props::chain_disagrees(" + braces(shown) + "), \"\");\n");
            const std::string wrong = disagrees(steps);
            if (!wrong.empty()) RC_FAIL(wrong);
          }};
}

[[nodiscard]] inline std::vector<law> shared_thread_laws(const std::vector<candidate>& candidates) {
  return {threads_law<shared_spec>("linearizable_on_threads_that_roam", candidates, false),
          threads_law<shared_spec>("linearizable_on_threads_that_are_pinned", candidates, true)};
}

}  // namespace runq::props
