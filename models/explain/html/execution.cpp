// SPDX-License-Identifier: MIT
#include "execution.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fields.hpp"
#include "json.hpp"
#include "plain_value.hpp"
#include "verdict.hpp"

namespace runq::model::html {

namespace {

constexpr int main_thread = -1;
constexpr int nothing = -1;  ///< no such step

struct step {
  int index = 0;
  std::string kind;  ///< "load", "cas ok", … as json.hpp spells them
  event operation;   ///< `kind` and `value` as the engine knows them; nothing else
  int thread = main_thread;
  std::string file;
  std::uint64_t line = 0;
  std::string order;  ///< empty for steps that have none
  std::uint64_t location = 0;
  std::string value;    ///< read, or written; for read-modify-write: read
  std::string written;  ///< for read-modify-write
  std::string newest;   ///< for a stale read: the value it ignored
  std::string site;
  std::string source;
  bool stale = false;

  int reads_from = nothing;
  bool inferred = false;      ///< `reads_from` is the last write of that value, not the engine's word
  int ignored = nothing;      ///< for a stale read: the write of the newest value
  int conflict = nothing;     ///< the last access of another thread that the failing step is not ordered with
  bool weakened = false;      ///< an operation that the mutant changed
  bool failing = false;       ///< where the failure was noticed
  bool stuck = false;         ///< the last step of a thread that can go on no more
  bool minor = true;          ///< of no part in the failure, as far as can be told
  bool construction = false;  ///< before the threads start

  // Of plain memory, too.
  [[nodiscard]] bool reads() const { return runq::model::reads(operation) || reads_plain(operation); }
  [[nodiscard]] bool writes() const { return runq::model::writes(operation) || writes_plain(operation); }
  [[nodiscard]] bool is_cell() const { return words_of(operation.kind).is_plain; }
  [[nodiscard]] const std::string& value_written() const { return reads() ? written : value; }
};

struct execution {
  std::vector<step> steps;
  std::vector<int> columns;                    ///< threads in the timeline, main first where it has a part
  std::map<std::uint64_t, std::string> names;  ///< variable -> what the source calls it: "tail_"
};

[[nodiscard]] std::string value_of(const json& event, const char* key) {
  const std::string named = text(event, (std::string(key) + "_text").c_str());
  return named.empty() ? plain_value(number(event, key)) : named;
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
  s.operation.kind = s.kind.empty() ? event_kind::failure : event["kind"].get<event_kind>();
  s.operation.value = number(event, "value");
  if (event.contains("thread") && event["thread"].is_number_integer()) s.thread = event["thread"].get<int>();
  s.file = text(event, "file");
  s.line = number(event, "line");
  const bool has_order = words_of(s.operation.kind).has_order;
  if (has_order) s.order = text(event, "order");
  s.location = number(event, "location");
  s.value = value_of(event, "value");
  s.written = value_of(event, "written");
  s.stale = flag(event, "stale");
  s.weakened = flag(event, "weakened");
  if (s.stale) s.newest = value_of(event, "newest");
  s.site = has_order ? site_name(text(event, "site")) : "";
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
    } else if (s.kind != "lock") {
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

[[nodiscard]] execution read_execution(const json& search) {
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

[[nodiscard]] json step_json(const step& s, const execution& e) {
  json j = {{"kind", s.kind},
            {"thread", s.thread},
            {"file", s.file},
            {"line", s.line},
            {"order", s.order},
            {"location", s.location},
            {"value", s.value},
            {"written", s.written},
            {"newest", s.newest},
            {"site", s.site},
            {"source", s.source},
            {"reads", s.reads()},
            {"inferred", s.inferred},
            {"stale", s.stale},
            {"weakened", s.weakened},
            {"failing", s.failing},
            {"stuck", s.stuck},
            {"minor", s.minor},
            {"construction", s.construction}};
  if (const auto name = e.names.find(s.location); name != e.names.end()) j["variable"] = name->second;
  if (s.reads_from != nothing) j["reads_from"] = s.reads_from;
  if (s.ignored != nothing) j["ignored"] = s.ignored;
  if (s.conflict != nothing) j["conflict"] = s.conflict;
  return j;
}

}  // namespace

json execution_json(const json& search) {
  const execution e = read_execution(search);
  json steps = json::array();
  for (const step& s : e.steps) steps.push_back(step_json(s, e));
  return {{"steps", std::move(steps)}, {"threads", e.columns}};
}

}  // namespace runq::model::html
