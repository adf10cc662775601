// SPDX-License-Identifier: MIT
#include "walkthrough/table.hpp"

#include <algorithm>
#include <cstddef>

namespace runq::walkthrough {
namespace {

const std::string nothing = "–";

// How many columns a text takes. Only the first byte of a UTF-8 character counts.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::size_t widest(const lines& text) {
  std::size_t w = 0;
  for (const std::string& line : text) w = std::max(w, width(line));
  return w;
}

std::string padded(const std::string& text, std::size_t to) { return text + std::string(to - width(text), ' '); }

std::string joined(const lines& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ",") + part;
  return text.empty() ? nothing : text;
}

std::string rest_of(const run& r, task_id task, const wording& words) {
  return task == main_task ? words.rest_of_main : "c." + r.what.tasks[task].name;
}

std::string returned(const frame& f, const wording& words) {
  const std::string value = std::to_string(f.value);
  return f.task == main_task ? words.before_result + value + words.after_result : "ret" + value;
}

// The rest of a task is shown as "c.f4" on the stack of a thread that stole it. On the stack of its owner, which popped
// it, it is shown as the task "f4".
std::string shown(const run& r, const frame& f, const wording& words) {
  if (f.state == frame::phase::returned) return returned(f, words);
  const bool is_rest = f.stolen && r.pushed == stealing::continuations;
  return (is_rest ? rest_of(r, f.task, words) : r.what.tasks[f.task].name) +
         (f.state == frame::phase::waiting ? "(j)" : "");
}

std::string stack_of(const run& r, const processor& p, const wording& words) {
  lines parts;
  for (const frame& f : p.stack) parts.push_back(shown(r, f, words));
  return joined(parts);
}

std::string deque_of(const run& r, const processor& p, const wording& words) {
  lines parts;
  for (const task_id task : p.deque) {
    parts.push_back(r.pushed == stealing::tasks ? r.what.tasks[task].name : rest_of(r, task, words));
  }
  return joined(parts);
}

std::string number_of(const run& r, std::size_t row_number) {
  const bool departs =
      std::any_of(r.departures.begin(), r.departures.end(), [&](const departure& d) { return d.row == row_number; });
  const std::string digits = std::to_string(row_number);
  return (digits.size() < 2 ? " " : "") + digits + (departs ? "*" : "");
}

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

lines in_notation(const run& r, const wording& words) {
  lines text;
  for (const row& now : r.rows) {
    std::string line;
    for (const processor& p : now) {
      line += (line.empty() ? "" : " ‖ ") + stack_of(r, p, words) + " / " + deque_of(r, p, words);
    }
    text.push_back(line);
  }
  return text;
}

lines table_of(const run& r, const wording& words) {
  std::vector<lines> cells{{"row"}};
  for (std::size_t i = 0; i != r.rows.front().size(); ++i) {
    cells.front().push_back(thread_name(i) + " stack");
    cells.front().push_back("deque");
  }
  for (const row& now : r.rows) {
    lines line{number_of(r, cells.size())};
    for (const processor& p : now) {
      line.push_back(stack_of(r, p, words));
      line.push_back(deque_of(r, p, words));
    }
    cells.push_back(line);
  }
  return aligned(cells);
}

lines aligned(const std::vector<lines>& cells) {
  std::vector<std::size_t> widths(cells.front().size());
  for (const lines& row_cells : cells) {
    for (std::size_t i = 0; i != row_cells.size(); ++i) widths[i] = std::max(widths[i], width(row_cells[i]));
  }
  lines text;
  for (const lines& row_cells : cells) {
    std::string line;
    for (std::size_t i = 0; i != row_cells.size(); ++i) line += (i == 0 ? "" : "  ") + padded(row_cells[i], widths[i]);
    text.push_back(trimmed(line));
  }
  return text;
}

lines beside(const std::string& left_title, lines left, const std::string& right_title, lines right) {
  left.insert(left.begin(), left_title);
  right.insert(right.begin(), right_title);
  const std::size_t height = std::max(left.size(), right.size());
  const std::size_t left_width = widest(left);
  left.resize(height);
  right.resize(height);
  lines text;
  for (std::size_t i = 0; i != height; ++i) text.push_back(trimmed(padded(left[i], left_width) + "   " + right[i]));
  return text;
}

}  // namespace runq::walkthrough
