// SPDX-License-Identifier: MIT
// The calls of a history that no order explains, drawn along the time of the failing execution: which thread asked what
// when, and what the answers were. As text; html/page.html draws the same for a browser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "verdict.hpp"

namespace runq::model {

/// Where each call is drawn, by its number: from `begin` to `end`. Two calls overlap in the drawing if and only if they
/// overlap in the trace; the drawing has no more positions than that needs.
struct call_span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};
[[nodiscard]] std::vector<call_span> call_spans(const std::vector<shown_call>& calls);

/// The calls directly before call `number`: those that happened before it, without those that happened before another
/// one of them.
[[nodiscard]] std::vector<std::uint32_t> last_before(const std::vector<shown_call>& calls, std::uint32_t number);

/// The call without which there would be an order; or the calls that could come next after the longest order that was
/// found.
[[nodiscard]] std::vector<std::uint32_t> cannot_come_next(const search_result& r);

/// A heading and a line per call, no more than `room` of them; empty if `r` has no calls.
[[nodiscard]] std::vector<std::string> render_calls(const search_result& r, std::size_t room, std::size_t columns);

/// Which answer no order explains; empty if `r` has no calls.
[[nodiscard]] std::string why_no_order(const search_result& r);

}  // namespace runq::model
