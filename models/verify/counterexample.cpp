// SPDX-License-Identifier: MIT
#include "counterexample.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "runtime.hpp"

namespace runq::model {

namespace {

[[nodiscard]] std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

[[nodiscard]] std::string thread_name(int thread) { return thread < 0 ? "main" : fmt::format("T{}", thread); }

[[nodiscard]] std::string what_happened(const event& e) {
  switch (e.kind) {
    case event_kind::load: return fmt::format("load  v{} → {}", e.location, render_value(e.value));
    case event_kind::store: return fmt::format("store v{} ← {}", e.location, render_value(e.value));
    case event_kind::rmw:
      return fmt::format("rmw   v{} {} → {}", e.location, render_value(e.value), render_value(e.written));
    case event_kind::cas_success:
      return fmt::format("cas   v{} {} → {}", e.location, render_value(e.value), render_value(e.written));
    case event_kind::cas_failure: return fmt::format("cas   v{} failed, saw {}", e.location, render_value(e.value));
    case event_kind::fence: return "fence";
    case event_kind::cell_read: return fmt::format("read  plain v{} → {}", e.location, render_value(e.value));
    case event_kind::cell_write: return fmt::format("write plain v{}", e.location);
    case event_kind::lock: return fmt::format("lock  v{}{}", e.location, e.value == 0 ? " (failed or waiting)" : "");
    case event_kind::unlock: return fmt::format("unlock v{}", e.location);
    case event_kind::allocate: return fmt::format("allocate {} bytes", e.value);
    case event_kind::deallocate: return "free";
    case event_kind::pause: return "pause";
    case event_kind::spawn: return fmt::format("start T{}", e.value);
    case event_kind::join: return fmt::format("join  T{}", e.value);
    case event_kind::choice: return fmt::format("choose {}", e.value);
    case event_kind::failure: return "FAILS HERE";
  }
  return "?";
}

[[nodiscard]] bool has_order(event_kind kind) {
  return kind == event_kind::load || kind == event_kind::store || kind == event_kind::rmw ||
         kind == event_kind::cas_success || kind == event_kind::cas_failure || kind == event_kind::fence;
}

[[nodiscard]] std::string render(std::size_t number, const event& e, source_index& sources) {
  const std::string stale = e.stale ? fmt::format("  STALE, newest is {}", render_value(e.newest)) : "";
  // A comment names atomic operations; plain accesses stand near one by chance.
  const std::string site_text =
      has_order(e.kind) ? render_site(e.where, sources) : fmt::format("{}:{}", base_name(e.where.file), e.where.line);
  return fmt::format("{:>4} {:<4} {:<28} {:<8} {:<38} {}{}", number, thread_name(e.thread), what_happened(e),
                     has_order(e.kind) ? to_string(e.order) : "", site_text, sources.text_of(e.where).substr(0, 60),
                     stale);
}

// Which steps to show when there are too many: the last ones, and before them those on the variable that failed.
[[nodiscard]] std::vector<std::size_t> chosen_steps(const std::vector<event>& trace, std::size_t room) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i != trace.size(); ++i) {
    if (trace[i].thread >= 0 || i + 1 == trace.size()) all.push_back(i);
  }
  if (all.size() <= room) return all;
  const std::uint32_t involved = trace.back().location;
  const std::size_t tail = room * 3 / 4;
  std::vector<std::size_t> chosen;
  for (std::size_t i = all.size() - tail; i-- != 0 && chosen.size() != room - tail;) {
    if (involved != 0 && trace[all[i]].location == involved) chosen.push_back(all[i]);
  }
  std::reverse(chosen.begin(), chosen.end());
  chosen.insert(chosen.end(), all.end() - static_cast<std::ptrdiff_t>(tail), all.end());
  return chosen;
}

}  // namespace

// Pointers and indices near the wrap-around are told apart from small numbers by their size alone.
std::string render_value(std::uint64_t value) {
  constexpr std::uint64_t largest_small = 1U << 20;
  if (value <= largest_small) return fmt::format("{}", value);
  if (std::string name = value_name(value); !name.empty()) return name;
  if (~value <= largest_small) return fmt::format("2^64-{}", ~value + 1);
  return fmt::format("…{:x}", value & 0xffffff);
}

std::string render_site(site where, source_index& sources) {
  if (where.line == 0) return "";
  const std::string name = sources.name_of(where);
  return fmt::format("{}:{}{}", base_name(where.file), where.line, name.empty() ? "" : " [" + name + "]");
}

std::vector<std::string> render_counterexample(const search_result& result, source_index& sources) {
  constexpr std::size_t frame = 3;  // heading, a gap note, the last line
  const std::vector<std::size_t> steps = chosen_steps(result.trace, max_counterexample_lines - frame);
  std::vector<std::string> lines;
  lines.push_back("step thr  what                         order    where");
  std::size_t shown_up_to = 0;
  std::size_t left_out = 0;
  for (const std::size_t i : steps) {
    left_out += i - shown_up_to;
    shown_up_to = i + 1;
    lines.push_back(render(i + 1, result.trace[i], sources));
  }
  if (left_out != 0)
    lines.push_back(fmt::format("     ({} earlier steps, of construction or of no part in this, left out)", left_out));
  return lines;
}

}  // namespace runq::model
