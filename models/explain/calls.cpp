// SPDX-License-Identifier: MIT
#include "calls.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "columns.hpp"
#include "counterexample.hpp"

namespace runq::model {

namespace {

[[nodiscard]] std::string numbers(const std::vector<std::uint32_t>& calls) {
  std::vector<std::uint32_t> from_one(calls);
  for (std::uint32_t& number : from_one) ++number;
  return fmt::format("{}", fmt::join(from_one, ", "));
}

/// "call 4 (main: look → empty)"
[[nodiscard]] std::string named(const search_result& r, std::uint32_t number) {
  const shown_call& c = r.calls[number];
  return fmt::format("call {} ({}: {})", number + 1, thread_name(c.thread), c.text);
}

/// "after 1, 2": the calls of other threads that happened before this one. Not printed are earlier calls of the same
/// thread and those of the construction, which come before it in any case. A call in finish() comes after all others.
[[nodiscard]] std::string known_of_others(const std::vector<shown_call>& calls, std::uint32_t number) {
  const shown_call& c = calls[number];
  if (c.thread < 0) return {};
  std::vector<std::uint32_t> others = last_before(calls, number);
  std::erase_if(others, [&](std::uint32_t i) { return calls[i].thread == c.thread || calls[i].thread < 0; });
  return others.empty() ? "" : "after " + numbers(others);
}

[[nodiscard]] std::string bar(const call_span& at, std::size_t scale) {
  std::string text(at.begin * scale, ' ');
  text += "├";
  for (std::size_t i = at.begin * scale + 1; i < at.end * scale; ++i) text += "─";
  return text + "┤";
}

struct call_row {
  std::string number, thread, text, bar, known;
};

[[nodiscard]] std::vector<std::string> in_columns(const std::vector<call_row>& rows) {
  const auto width = [&rows](std::string call_row::*column) {
    std::size_t most = 0;
    for (const call_row& r : rows) most = std::max(most, columns_of(r.*column));
    return most;
  };
  const std::size_t of_number = width(&call_row::number);
  const std::size_t of_thread = width(&call_row::thread);
  const std::size_t of_text = width(&call_row::text);
  const std::size_t of_bar = width(&call_row::bar);
  std::vector<std::string> lines;
  for (const call_row& r : rows) {
    std::string line = std::string(of_number - columns_of(r.number), ' ') + r.number + " " +
                       padded(r.thread, of_thread) + "  " + padded(r.text, of_text) + "  " + padded(r.bar, of_bar) +
                       "  " + r.known;
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

/// How many calls the construction makes: they come first, one after the other.
[[nodiscard]] std::size_t constructing_calls(const std::vector<shown_call>& calls) {
  const auto first = std::find_if(calls.begin(), calls.end(), [](const shown_call& c) { return c.thread >= 0; });
  return first == calls.end() ? 0 : static_cast<std::size_t>(first - calls.begin());
}

}  // namespace

std::vector<call_span> call_spans(const std::vector<shown_call>& calls) {
  // Calls that begin, with none that ends between, have the same place; so have those that end.
  std::vector<std::tuple<std::uint32_t, std::uint32_t, bool>> instants;
  for (std::uint32_t i = 0; i != calls.size(); ++i) {
    instants.emplace_back(calls[i].began, i, false);
    instants.emplace_back(calls[i].ended, i, true);
  }
  std::sort(instants.begin(), instants.end());
  std::vector<call_span> spans(calls.size());
  std::uint32_t place = 0;
  bool last_was_end = false;
  for (const auto& [when, call, is_end] : instants) {
    if (is_end != last_was_end) ++place;
    last_was_end = is_end;
    (is_end ? spans[call].end : spans[call].begin) = place;
  }
  return spans;
}

std::vector<std::uint32_t> last_before(const std::vector<shown_call>& calls, std::uint32_t number) {
  std::vector<std::uint32_t> last = calls[number].after;
  std::erase_if(last, [&](std::uint32_t early) {
    return std::any_of(calls[number].after.begin(), calls[number].after.end(), [&](std::uint32_t later) {
      const std::vector<std::uint32_t>& before = calls[later].after;
      return std::find(before.begin(), before.end(), early) != before.end();
    });
  });
  return last;
}

std::vector<std::string> render_calls(const search_result& r, std::size_t room, std::size_t columns) {
  const std::vector<shown_call>& calls = r.calls;
  if (calls.empty() || room < 2) return {};
  constexpr std::size_t widest_text = 40;
  const std::size_t constructing = constructing_calls(calls);
  const bool joins_them = constructing > 1;
  // If there are too many, those that are left out come before or between the first ones.
  const std::size_t rows_of_calls = room - 1;
  std::size_t first = joins_them ? constructing : 0;
  const std::size_t rows_wanted = calls.size() - first + (joins_them ? 1 : 0);
  const bool leaves_out = rows_wanted > rows_of_calls;
  if (leaves_out) first = calls.size() - std::min(calls.size(), rows_of_calls - (joins_them ? 2 : 1));
  const std::vector<shown_call> drawn(calls.begin() + static_cast<std::ptrdiff_t>(first), calls.end());
  const std::vector<call_span> spans = call_spans(drawn);
  const std::uint32_t places =
      drawn.empty() ? 0
                    : std::max_element(spans.begin(), spans.end(), [](auto a, auto b) { return a.end < b.end; })->end;
  constexpr std::size_t beside = 60;  // of the bars
  const std::size_t scale = beside + std::size_t{3} * places <= columns   ? 3
                            : beside + std::size_t{2} * places <= columns ? 2
                                                                          : 1;
  const std::vector<std::uint32_t> wrong = cannot_come_next(r);
  const std::string wrong_mark = r.unexplained_call != no_event ? "← no order explains it" : "← cannot come next";
  std::vector<call_row> rows;
  if (joins_them) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i != constructing; ++i) texts.push_back(calls[i].text);
    rows.push_back({fmt::format("1–{}", constructing), "main",
                    cut(fmt::format("{}", fmt::join(texts, "; ")), widest_text), "", ""});
  }
  if (leaves_out)
    rows.push_back({"", "", fmt::format("({} calls left out)", first - (joins_them ? constructing : 0)), "", ""});
  for (std::size_t i = first; i != calls.size(); ++i) {
    std::string known = known_of_others(calls, static_cast<std::uint32_t>(i));
    if (std::find(wrong.begin(), wrong.end(), i) != wrong.end())
      known = wrong_mark + (known.empty() ? "" : "; " + known);
    rows.push_back({fmt::format("{}", i + 1), thread_name(calls[i].thread), cut(calls[i].text, widest_text),
                    bar(spans[i - first], scale), known});
  }
  std::vector<std::string> lines = in_columns(rows);
  lines.insert(lines.begin(),
               "calls and answers, along the time of the steps (after: what of other threads happened before):");
  return lines;
}

std::vector<std::uint32_t> cannot_come_next(const search_result& r) {
  if (r.unexplained_call != no_event) return {r.unexplained_call};
  const auto is_explained = [&r](std::uint32_t call) {
    return std::find(r.explained_calls.begin(), r.explained_calls.end(), call) != r.explained_calls.end();
  };
  std::vector<std::uint32_t> next;
  for (std::uint32_t i = 0; i != r.calls.size(); ++i) {
    if (!is_explained(i) && std::all_of(r.calls[i].after.begin(), r.calls[i].after.end(), is_explained))
      next.push_back(i);
  }
  return next;
}

std::string why_no_order(const search_result& r) {
  if (r.calls.empty()) return {};
  const std::string order = numbers(r.explained_calls);
  if (r.unexplained_call != no_event) {
    return fmt::format("no order of the calls explains {}{}", named(r, r.unexplained_call),
                       order.empty() ? "" : "; without it they have one: " + order);
  }
  std::vector<std::string> next;
  for (const std::uint32_t call : cannot_come_next(r)) next.push_back(named(r, call));
  return fmt::format("no order of the calls explains their answers: {}{} cannot come next{}",
                     next.size() == 1 ? "" : "each of ", fmt::join(next, " and "),
                     order.empty() ? ", as the first" : " after " + order);
}

}  // namespace runq::model
