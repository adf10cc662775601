// SPDX-License-Identifier: MIT
// A failing execution as text that a person reads: at most 40 lines, a line per step.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plain_value.hpp"
#include "sites.hpp"
#include "verdict.hpp"

namespace runq::model {

inline constexpr std::size_t max_counterexample_lines = 40;

/// The lines, without line ends. The last one says why the execution fails, if that is known. Of long executions they
/// show the steps that the last line names, the steps that touch what failed, and the last steps.
[[nodiscard]] std::vector<std::string> render_counterexample(const search_result& result, source_index& sources);

/// The names of the trace's variables, by their numbers: from the program's symbols or the source.
[[nodiscard]] std::map<std::uint32_t, std::string> variable_names(const search_result& result, source_index& sources);

/// "T0", or "main" for -1.
[[nodiscard]] std::string thread_name(int thread);

/// A value as text: a task's name, a small number, or the last digits of an address.
[[nodiscard]] std::string render_value(std::uint64_t value, unsigned digits = shown_digits, unsigned signed_bytes = 0);

/// How many digits of the trace's addresses are shown, so that two that differ look different.
[[nodiscard]] unsigned digits_of(const std::vector<event>& trace);

/// "ring.hpp:142 [ring.push.publish]"
[[nodiscard]] std::string render_site(site where, source_index& sources);

}  // namespace runq::model
