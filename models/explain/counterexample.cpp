// SPDX-License-Identifier: MIT
#include "counterexample.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string_view>
#include <tuple>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "calls.hpp"
#include "columns.hpp"
#include "runtime.hpp"
#include "source_names.hpp"
#include "why.hpp"

namespace runq::model {

namespace {

[[nodiscard]] std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

constexpr std::string_view waiters_prefix = "waiters of ";

/// Of a condition variable, or of what else threads wait for, the checker has a number of waiters, in the order in
/// which they began to wait, and for each of them whether it sleeps (0), is woken (1), or waits no longer by itself
/// (2).
[[nodiscard]] std::string said_of_waiters(const event& e, const std::string& of) {
  const auto state = [&] { return e.value == 0 ? "sleeps" : e.value == 1 ? "is woken" : "waits no longer"; };
  switch (e.kind) {
    case event_kind::rmw:
      if (e.written != e.value) return fmt::format("begins to wait for {}", of);
      return fmt::format("wakes {}: {}", of,
                         e.value == 0 ? "nobody has waited yet" : fmt::format("{} began to wait", e.value));
    case event_kind::load:
    case event_kind::cas_failure: return fmt::format("a waiter of {} {}", of, state());
    case event_kind::cas_success:
      return e.written == 1 ? fmt::format("wakes a waiter of {}", of) : fmt::format("waits for {} no longer", of);
    default: return {};
  }
}

[[nodiscard]] std::string what_happened(const event& e, const std::string& variable, bool knows_plain_values,
                                        unsigned digits) {
  const auto say = [&](std::string_view text) {
    return fmt::format(fmt::runtime(text), variable + e.accessed.text(), render_value(e.value, digits, e.signed_bytes),
                       render_value(e.written, digits, e.signed_bytes), e.value);
  };
  if (variable.starts_with(waiters_prefix)) {
    // Without the number that tells the checker's variables apart.
    const std::string of = variable.substr(waiters_prefix.size(), variable.rfind("(v") - waiters_prefix.size());
    if (std::string said = said_of_waiters(e, of); !said.empty()) return said;
  }
  const std::string text = say(words_of(e.kind).text);
  if (reads_plain(e) && knows_plain_values) return text + say(" → {1}");
  if (e.kind == event_kind::lock && e.value == 0) return text + " (failed or waiting)";
  if (e.spurious) return say("cas   {0} failed spuriously, saw the expected value {1}");
  if (e.kind == event_kind::allocate && e.value != 0) return say("allocate {3} bytes");
  return text;
}

/// The width of the terminal; wide if the output is no terminal.
[[nodiscard]] std::size_t line_width() {
  constexpr std::size_t least = 80;
  constexpr std::size_t of_a_file = 160;
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return of_a_file;
  return std::max<std::size_t>(size.ws_col, least);
}

/// What a reader must not miss about a step.
[[nodiscard]] std::string remark(std::size_t index, const event& e, const explanation& because, unsigned digits) {
  std::string text;
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  if (e.stale && e.newest != e.value)
    add(fmt::format("STALE, newest is {}", render_value(e.newest, digits, e.signed_bytes)));
  if (e.weakened) add("WEAKENED");
  if (index == because.unordered) add(fmt::format("UNORDERED with {}", because.failing + 1));
  return text;
}

struct row {
  std::string number, thread, what, order, remark, place, source;
};

/// A step that is shown, with the later ones that read the same again, as a loop that waits does.
struct shown_step {
  std::size_t index = 0;
  std::size_t repeats = 0;
  std::size_t last = 0;  ///< of the repeats
};

[[nodiscard]] row row_of(const shown_step& shown, const search_result& result,
                         const std::map<std::uint32_t, std::string>& names, const explanation& because, unsigned digits,
                         source_index& sources) {
  const std::size_t index = shown.index;
  const event& e = result.trace[index];
  const auto name = names.find(e.location);
  row r;
  r.number = fmt::format("{:>4}", index + 1);
  r.thread = thread_name(e.thread);
  // Of a compiled program, whose variables have names, only the addresses of plain accesses are known.
  const std::string name_of_step =
      name == names.end() ? fmt::format("v{}", e.location) : name_in_step(e.kind, name->second);
  r.what = what_happened(e, name_of_step, result.variables.empty(), digits);
  const bool has_order = words_of(e.kind).has_order;
  // Those of the checker's own variables say nothing of the program.
  if (has_order && !name_of_step.starts_with(waiters_prefix)) r.order = to_string(e.order);
  r.remark = remark(index, e, because, digits);
  if (shown.repeats != 0) {
    if (!r.remark.empty()) r.remark += ", ";
    r.remark += fmt::format("{} times up to step {}", shown.repeats + 1, shown.last + 1);
  }
  // Comments name atomic operations only: a name above a plain access is not its own.
  if (e.where.line != 0) {
    r.place = has_order ? render_site(e.where, sources) : fmt::format("{}:{}", base_name(e.where.file), e.where.line);
  }
  r.source = sources.text_of(e.where);
  return r;
}

/// One line each; the columns are as wide as what is in them, and the source gets what is left.
[[nodiscard]] std::vector<std::string> in_columns(const std::vector<row>& rows) {
  constexpr std::size_t widest = 56;
  constexpr std::size_t least_source = 20;
  const auto width = [&rows](std::string row::*column) {
    std::size_t most = 0;
    for (const row& r : rows) most = std::max(most, columns_of(r.*column));
    return most < widest ? most : widest;
  };
  const std::array columns{&row::number, &row::thread, &row::what, &row::order, &row::remark, &row::place};
  std::vector<std::string> lines;
  for (const row& r : rows) {
    std::string line;
    for (std::string row::*const column : columns) {
      if (const std::size_t w = width(column); w != 0) {
        line += padded(r.*column, w) + (column == &row::number ? " " : "  ");
      }
    }
    const std::size_t used = columns_of(line);
    line += cut(r.source, std::max(line_width(), used + least_source) - used);
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

[[nodiscard]] bool is_named(const explanation& because, std::size_t index) {
  return index == because.failing ||
         std::find(because.steps.begin(), because.steps.end(), index) != because.steps.end();
}

/// Whether the thread reads again what it has read before from the same write, at the same place.
[[nodiscard]] bool repeats(const event& e, const event& earlier) {
  return e.kind == event_kind::load && earlier.kind == event_kind::load && e.location == earlier.location &&
         e.reads_from == earlier.reads_from && e.value == earlier.value && e.newest == earlier.newest &&
         e.stale == earlier.stale && e.where.line == earlier.where.line &&
         std::string_view(e.where.file) == earlier.where.file;
}

/// The steps of threads. Of reads that a thread repeats one after the other, the first stands for those that nothing
/// names.
[[nodiscard]] std::vector<shown_step> folded(const std::vector<event>& trace, const explanation& because) {
  std::vector<shown_step> all;
  std::map<int, std::size_t> last_of;  // of each thread, in `all`
  for (std::size_t i = 0; i != trace.size(); ++i) {
    const event& e = trace[i];
    if (e.thread < 0 && i + 1 != trace.size() && !is_named(because, i)) continue;
    const auto last = last_of.find(e.thread);
    if (last != last_of.end() && !is_named(because, i) && repeats(e, trace[all[last->second].index])) {
      ++all[last->second].repeats;
      all[last->second].last = i;
      continue;
    }
    last_of[e.thread] = all.size();
    all.push_back({i});
  }
  return all;
}

// Which steps to show when there are too many: those that the explanation names and what these read, old values and
// weakened orders, those on the variable that failed, and then the last ones.
[[nodiscard]] std::vector<shown_step> chosen_steps(const std::vector<event>& trace, const explanation& because,
                                                   std::size_t room) {
  const std::vector<shown_step> all = folded(trace, because);
  if (all.size() <= room) return all;
  const std::uint32_t involved = because.failing < trace.size() ? trace[because.failing].location : 0;
  std::set<std::size_t> read;  // what named steps read from
  for (const std::size_t i : because.steps) read.insert(trace[i].reads_from);
  std::vector<bool> chosen(all.size(), false);
  std::size_t count = 0;
  const auto choose = [&](auto accept, std::size_t most) {
    for (std::size_t i = all.size(); i-- != 0 && count < most;) {
      if (chosen[i] || !accept(all[i].index)) continue;
      chosen[i] = true;
      ++count;
    }
  };
  choose([&](std::size_t i) { return i + 1 == trace.size(); }, room);
  choose([&](std::size_t i) { return is_named(because, i); }, room);
  choose([&](std::size_t i) { return read.contains(i); }, room);
  choose([&](std::size_t i) { return trace[i].stale || trace[i].weakened; }, room / 2);
  choose([&](std::size_t i) { return involved != 0 && trace[i].location == involved; }, room / 2);
  choose([](std::size_t) { return true; }, room);
  std::vector<shown_step> shown;
  for (std::size_t i = 0; i != all.size(); ++i) {
    if (chosen[i]) shown.push_back(all[i]);
  }
  return shown;
}

}  // namespace

std::string thread_name(int thread) { return thread < 0 ? "main" : fmt::format("T{}", thread); }

unsigned digits_of(const std::vector<event>& trace) {
  const auto are_distinct = [&trace](unsigned digits) {
    std::map<std::string, std::uint64_t> values;
    for (const event& e : trace) {
      for (const std::uint64_t value : {e.value, e.written, e.newest}) {
        const std::uint64_t number = with_sign(value, e.signed_bytes);
        const auto [same, is_new] = values.try_emplace(plain_value(value, digits, e.signed_bytes), number);
        if (!is_new && same->second != number) return false;
      }
    }
    return true;
  };
  unsigned digits = shown_digits;
  while (digits != all_digits && !are_distinct(digits)) ++digits;
  return digits;
}

std::string render_value(std::uint64_t value, unsigned digits, unsigned signed_bytes) {
  if (value > largest_small_value) {
    if (std::string name = value_name(value); !name.empty()) return name;
  }
  return plain_value(value, digits, signed_bytes);
}

std::string render_site(site where, source_index& sources) {
  if (where.line == 0) return "";
  const std::string name = sources.name_of(where);
  return fmt::format("{}:{}{}", base_name(where.file), where.line, name.empty() ? "" : " [" + name + "]");
}

/// Renames those whose name is not theirs alone.
template <class Rename>
static void rename_equal(std::map<std::uint32_t, std::string>& names, Rename rename) {
  std::map<std::string, unsigned> uses;
  for (const auto& [location, name] : names) ++uses[name];
  for (auto& [location, name] : names) {
    if (uses[name] > 1) name = rename(location, name);
  }
}

std::map<std::uint32_t, std::string> variable_names(const search_result& result, source_index& sources) {
  const auto known = [&](std::uint32_t location) {
    const auto found = result.variables.find(location);
    return found == result.variables.end() ? std::string{} : found->second;
  };
  // What is allocated or freed there is not only the first member.
  std::set<std::uint32_t> blocks;
  for (const event& e : result.trace) {
    if (e.kind == event_kind::allocate || e.kind == event_kind::deallocate) blocks.insert(e.location);
  }
  std::map<std::uint32_t, std::map<std::string, unsigned>> votes;
  std::map<std::tuple<event_kind, bool, std::string>, std::string> in_line;  // a line runs many times
  for (const event& e : result.trace) {
    if (e.location == 0 || e.constructs || blocks.contains(e.location)) continue;  // `= 0` stands beside a parameter
    const bool wakes = known(e.location).starts_with("waiters of ");
    const std::string text = sources.text_of(e.where);
    const auto [name, is_new] = in_line.try_emplace({e.kind, wakes, text});
    if (is_new) name->second = name_in_source(e.kind, wakes, text);
    if (!name->second.empty()) ++votes[e.location][name->second];
  }
  std::map<std::uint32_t, std::string> names;
  for (const auto& [location, of_location] : votes) {
    names[location] = std::max_element(of_location.begin(), of_location.end(), [](const auto& a, const auto& b) {
                        return a.second < b.second;
                      })->first;
  }
  const std::map<std::uint32_t, std::string> members = names;
  for (const auto& [location, name] : result.variables) {
    if (!name.empty()) names[location] = name_of_member(name, names[location]);
  }
  // Several with the same name are told apart by where they lie, or else by their numbers.
  rename_equal(names, [&](std::uint32_t location, const std::string& name) {
    const auto member = members.find(location);
    const std::string memory = known(location);
    const bool lies_in_larger = memory.find('+') != std::string::npos && member != members.end();
    return lies_in_larger ? memory + "." + member->second : name;
  });
  rename_equal(names,
               [](std::uint32_t location, const std::string& name) { return fmt::format("{}(v{})", name, location); });
  return names;
}

namespace {

constexpr const char* only_rc11 =
    "only RC11: C++20 forbids this execution, because its seq_cst operations have no single total order; RC11 allows "
    "it "
    "(docs/checking.md, row seq_cst), and another execution may fail under both";

}  // namespace

std::vector<std::string> render_counterexample(const search_result& result, source_index& sources) {
  // Headings, notes on what is left out, the reason in a few lines, the last line.
  const std::size_t frame = (result.calls.empty() ? 5U : 8U) + (result.forbidden_by_cpp20 ? 1U : 0U);
  constexpr std::size_t most_calls = 16;
  const std::map<std::uint32_t, std::string> names = variable_names(result, sources);
  const explanation because = why(result, names);
  std::vector<row> rows{{"step", "thr", "what", "order", "", "where", ""}};
  std::size_t left_out = result.trace.size();
  const unsigned digits = digits_of(result.trace);
  const std::vector<std::string> calls = render_calls(result, most_calls, line_width());
  for (const shown_step& s : chosen_steps(result.trace, because, max_counterexample_lines - frame - calls.size())) {
    left_out -= 1 + s.repeats;
    rows.push_back(row_of(s, result, names, because, digits, sources));
  }
  std::vector<std::string> lines = in_columns(rows);
  lines.insert(lines.begin(), calls.begin(), calls.end());
  if (left_out != 0)
    lines.push_back(fmt::format("     ({} earlier steps, of construction or of no part in this, left out)", left_out));
  if (!because.sentence.empty()) lines.push_back("why: " + because.sentence);
  if (result.forbidden_by_cpp20) lines.emplace_back(only_rc11);
  return lines;
}

}  // namespace runq::model
