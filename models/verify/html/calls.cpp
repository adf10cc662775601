// SPDX-License-Identifier: MIT
#include "calls.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "columns.hpp"
#include "execution.hpp"

namespace runq::model::html {

namespace {

struct drawn_call {
  int thread = main_thread;
  std::string text;
  std::string steps;  ///< "steps 7–12"
  std::string link;   ///< to the first of them
  std::vector<std::uint64_t> after;
  std::size_t begin = 0;  ///< between which places it is drawn
  std::size_t end = 0;
};

[[nodiscard]] std::vector<std::uint64_t> numbers(const json& from, const char* key) {
  std::vector<std::uint64_t> all;
  for (const json& n : list(from, key)) {
    if (n.is_number_integer()) all.push_back(n.get<std::uint64_t>() + 1);
  }
  return all;
}

[[nodiscard]] drawn_call read_call(const json& call) {
  drawn_call c;
  if (call.contains("thread") && call["thread"].is_number_integer()) c.thread = call["thread"].get<int>();
  c.text = text(call, "text");
  if (call.contains("first") && call.contains("last")) {
    const std::uint64_t first = number(call, "first");
    const std::uint64_t last = number(call, "last");
    c.link = fmt::format("#e{}", first);
    c.steps = first == last ? fmt::format("step {}", first + 1) : fmt::format("steps {}–{}", first + 1, last + 1);
  }
  c.after = numbers(call, "after");
  c.begin = number(call, "begin");
  c.end = std::max<std::size_t>(number(call, "end"), c.begin + 1);
  return c;
}

/// Where each place is, in pixels from the left: a call is at least as wide as what is written in it.
[[nodiscard]] std::vector<std::size_t> lefts(const std::vector<drawn_call>& calls) {
  constexpr std::size_t character = 8;
  constexpr std::size_t padding = 40;
  constexpr std::size_t least = 14;
  std::size_t places = 0;
  for (const drawn_call& c : calls) places = std::max(places, c.end);
  std::vector<std::size_t> left(places + 1, 0);
  for (std::size_t place = 1; place <= places; ++place) {
    left[place] = left[place - 1] + least;
    for (const drawn_call& c : calls) {
      const std::size_t characters = columns_of(c.text) + columns_of(c.steps);
      if (c.end == place) left[place] = std::max(left[place], left[c.begin] + padding + character * characters);
    }
  }
  return left;
}

}  // namespace

std::string calls_section(const json& result) {
  std::vector<drawn_call> calls;
  for (const json& call : list(result, "calls")) calls.push_back(read_call(call));
  if (calls.empty()) return {};
  const std::vector<std::size_t> left = lefts(calls);
  const std::vector<std::uint64_t> wrong = numbers(result, "wrong_calls");
  std::set<int> threads;
  for (const drawn_call& c : calls) threads.insert(c.thread);
  std::string rows;
  for (const int thread : threads) {
    std::string boxes;
    for (std::size_t i = 0; i != calls.size(); ++i) {
      const drawn_call& c = calls[i];
      if (c.thread != thread) continue;
      const std::string after =
          c.after.empty() ? "before it happened no other call" : fmt::format("after {}", fmt::join(c.after, ", "));
      boxes += fmt::format(
          "<div class=\"call{}\" style=\"left:{}px;width:{}px\" title=\"{}\"><span class=\"n\">{}</span>"
          "<b>{}</b> <small><a href=\"{}\">{}</a></small></div>",
          std::find(wrong.begin(), wrong.end(), i + 1) != wrong.end() ? " wrong" : "", left[c.begin],
          left[c.end] - left[c.begin], after, i + 1, escaped(c.text), c.link, c.steps);
    }
    rows += fmt::format("<div class=\"client\"><span class=\"who\">{}</span>{}</div>\n", thread_name(thread), boxes);
  }
  const std::string order = fmt::format("{}", fmt::join(numbers(result, "explained_calls"), ", "));
  const bool all_but_one = wrong.size() == 1 && list(result, "explained_calls").size() + 1 == calls.size();
  const std::string explained =
      all_but_one ? fmt::format("The red one fits nowhere; without it this order explains all answers: {}.", order)
                  : fmt::format("{} the red ones cannot come next.", order.empty() ? "At first" : "After " + order);
  return fmt::format(
      "<section class=\"calls\"><h2>calls and their answers</h2>\n<p>A row per thread, a box per call, along the time "
      "of "
      "the steps below. Calls may take effect in any order in which each comes after those that happened before it; "
      "point at a call to see which these are. {}</p>\n<div class=\"clients\" "
      "style=\"width:{}px\">\n{}</div></section>\n",
      explained, left.back() + 60, rows);
}

}  // namespace runq::model::html
