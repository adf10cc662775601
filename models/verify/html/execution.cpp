// SPDX-License-Identifier: MIT
#include "execution.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "common.hpp"
#include "plain_value.hpp"

namespace runq::model::html {

namespace {

[[nodiscard]] bool is_one_of(const std::string& kind, std::initializer_list<const char*> kinds) {
  return std::any_of(kinds.begin(), kinds.end(), [&](const char* k) { return kind == k; });
}

[[nodiscard]] std::string value_of(const json& event, const char* key) {
  const std::string named = text(event, (std::string(key) + "_text").c_str());
  return named.empty() ? plain_value(number(event, key)) : named;
}

[[nodiscard]] bool has_an_order(const std::string& kind) {
  return is_one_of(kind, {"load", "store", "rmw", "cas ok", "cas failed", "fence"});
}

// "ring.hpp:142 [ring.push.publish]", or the name alone. The name is the nearest comment above. Comments name atomic
// operations only: a name above a plain access is not its own.
[[nodiscard]] std::string site_name(const std::string& site) {
  const std::size_t open = site.find('[');
  if (open != std::string::npos) return site.substr(open + 1, site.rfind(']') - open - 1);
  return site.find(':') == std::string::npos ? site : "";
}

[[nodiscard]] step read_step(const json& event, int index) {
  step s;
  s.index = index;
  s.kind = text(event, "kind");
  if (event.contains("thread") && event["thread"].is_number_integer()) s.thread = event["thread"].get<int>();
  s.file = text(event, "file");
  s.line = number(event, "line");
  if (has_an_order(s.kind)) s.order = text(event, "order");
  s.location = number(event, "location");
  s.value = value_of(event, "value");
  s.written = value_of(event, "written");
  s.stale = flag(event, "stale");
  s.weakened = flag(event, "weakened");
  if (s.stale) s.newest = value_of(event, "newest");
  s.site = has_an_order(s.kind) ? site_name(text(event, "site")) : "";
  s.source = text(event, "text");
  return s;
}

void mark_weakened(execution& e, const json& search) {
  const std::string site = changed_site(search);
  for (step& s : e.steps) s.weakened = s.weakened || (!site.empty() && s.site == site);
}

template <class Accept>
[[nodiscard]] int last_before(const execution& e, int index, Accept accept) {
  for (int i = index; i-- > 0;) {
    if (accept(e.steps[static_cast<std::size_t>(i)])) return i;
  }
  return nothing;
}

void find_sources(execution& e, const json& trace) {
  for (step& s : e.steps) {
    if (!s.reads() || s.location == 0) continue;
    const json& event = trace[static_cast<std::size_t>(s.index)];
    if (event.contains("reads_from")) {
      const std::uint64_t from = number(event, "reads_from");
      if (from < e.steps.size()) s.reads_from = static_cast<int>(from);
    } else {
      s.inferred = true;
      s.reads_from = last_before(e, s.index, [&](const step& w) {
        return w.writes() && w.location == s.location && w.value_written() == s.value;
      });
    }
    if (!s.stale) continue;
    s.ignored = last_before(e, s.index, [&](const step& w) {
      return w.writes() && w.location == s.location && w.value_written() == s.newest;
    });
  }
}

void mark_last_steps(execution& e) {
  std::set<int> seen{main_thread};
  for (std::size_t i = e.steps.size(); i-- != 0;) e.steps[i].stuck = seen.insert(e.steps[i].thread).second;
}

// The exact engine ends a trace with a step of its own for the failure, at the place of the operation that failed.
[[nodiscard]] step& failed_operation(execution& e) {
  step& last = e.steps.back();
  if (last.location != 0 || last.kind != "check") return last;
  const int before = last_before(e, last.index, [&](const step& s) { return s.thread == last.thread; });
  if (before == nothing) return last;
  step& s = e.steps[static_cast<std::size_t>(before)];
  return s.file == last.file && s.line == last.line ? s : last;
}

// A trace ends with the step that failed, unless the failure belongs to no step, as a deadlock.
void mark_failing(execution& e, const json& result) {
  const std::string what = text(result, "what");
  if (e.steps.empty() || what.empty() || what == "none" || what == "leak") return;
  if (what == "deadlock" || what == "livelock") return mark_last_steps(e);
  e.steps.back().failing = true;
  step& failed = failed_operation(e);
  failed.failing = true;
  if (result.contains("unordered")) {
    const std::uint64_t other = number(result, "unordered");
    const std::uint64_t here = number(result, "failing");
    if (other < e.steps.size() && here < e.steps.size()) {
      e.steps[here].failing = true;
      e.steps[here].conflict = static_cast<int>(other);
    }
    return;
  }
  const bool unordered = what == "data race" || what == "uninitialised read";
  if (!unordered || failed.location == 0) return;
  failed.conflict = last_before(e, failed.index, [&](const step& other) {
    return other.location == failed.location && other.thread != failed.thread && (other.writes() || failed.writes());
  });
}

void mark_construction(execution& e) {
  const auto first =
      std::find_if(e.steps.begin(), e.steps.end(), [](const step& s) { return s.thread != main_thread; });
  if (first == e.steps.end()) return;
  std::for_each(e.steps.begin(), first, [](step& s) { s.construction = true; });
}

// Steps by which a value went from one thread to another.
void keep_messages(execution& e) {
  for (step& s : e.steps) {
    for (const int other : {s.reads_from, s.ignored, s.conflict}) {
      if (other == nothing) continue;
      step& o = e.steps[static_cast<std::size_t>(other)];
      if (o.thread == s.thread || o.construction) continue;
      s.minor = false;
      o.minor = false;
    }
  }
}

// Earlier reads by the failing thread of the variables by which it got messages: they are one half of an ABA.
void keep_earlier_looks(execution& e) {
  if (e.steps.empty() || !e.steps.back().failing) return;
  const int thread = e.steps.back().thread;
  std::set<std::uint64_t> heard_on;
  for (const step& s : e.steps) {
    if (s.thread == thread && !s.minor && s.location != 0) heard_on.insert(s.location);
  }
  for (step& s : e.steps) s.minor = s.minor && !(s.thread == thread && heard_on.contains(s.location));
}

// A read whose value another thread replaced before the reader looked again: what the reader did not know.
void keep_overtaken(execution& e) {
  for (step& read : e.steps) {
    if (!read.reads() || read.is_cell() || read.location == 0 || read.construction) continue;
    for (auto i = static_cast<std::size_t>(read.index) + 1; i != e.steps.size(); ++i) {
      step& later = e.steps[i];
      if (later.location != read.location) continue;
      if (later.thread == read.thread) break;
      if (!later.writes()) continue;
      read.minor = false;
      later.minor = false;
      break;
    }
  }
}

// Steps that matter: on the failing variable, on those read stale or changed by the mutant, and whatever carried a
// value from one thread to another.
void mark_minor(execution& e, const json& result) {
  std::set<std::uint64_t> involved;
  for (const step& s : e.steps) {
    if (s.location != 0 && (s.failing || s.stuck || s.stale || s.weakened)) involved.insert(s.location);
  }
  for (step& s : e.steps) {
    const bool marked = s.failing || s.stuck || s.weakened || s.stale;
    if (marked || s.kind == "fence" || involved.contains(s.location)) s.minor = false;
  }
  // The steps that the sentence of the explanation names, such as the free in a use after free.
  for (const json& index : list(result, "why_steps")) {
    if (index.is_number_unsigned() && index < e.steps.size()) e.steps[index.get<std::size_t>()].minor = false;
  }
  keep_messages(e);
  keep_overtaken(e);
  keep_earlier_looks(e);
}

void name_variables(execution& e, const json& trace) {
  for (const step& s : e.steps) {
    const std::string name = text(trace[static_cast<std::size_t>(s.index)], "variable");
    if (s.location != 0 && !name.empty()) e.names[s.location] = name;
  }
}

void find_columns(execution& e) {
  std::set<int> threads;
  for (const step& s : e.steps) {
    if (!s.construction) threads.insert(s.thread);
  }
  e.columns.assign(threads.begin(), threads.end());
}

}  // namespace

bool step::reads() const { return is_one_of(kind, {"load", "rmw", "cas ok", "cas failed", "read"}); }
bool step::writes() const { return is_one_of(kind, {"store", "rmw", "cas ok", "write"}); }

std::string thread_name(int thread) { return thread == main_thread ? "main" : fmt::format("T{}", thread); }

execution read_execution(const json& search) {
  const json& result = object(search, "result");
  const json& trace = list(result, "trace");
  execution e;
  for (std::size_t i = 0; i != trace.size(); ++i) e.steps.push_back(read_step(trace[i], static_cast<int>(i)));
  mark_construction(e);
  mark_weakened(e, search);
  find_sources(e, trace);
  mark_failing(e, result);
  mark_minor(e, result);
  name_variables(e, trace);
  find_columns(e);
  return e;
}

}  // namespace runq::model::html
