// SPDX-License-Identifier: MIT
#include "result_json.hpp"

#include "calls.hpp"
#include "counterexample.hpp"
#include "json.hpp"
#include "source_names.hpp"
#include "why.hpp"

namespace runq::model {

using nlohmann::json;

namespace {

[[nodiscard]] json step_json(const event& e, unsigned digits, source_index& sources) {
  json j = {{"kind", e.kind},     {"thread", e.thread},     {"file", e.where.file}, {"line", e.where.line},
            {"order", e.order},   {"location", e.location}, {"value", e.value},     {"written", e.written},
            {"newest", e.newest}, {"stale", e.stale}};
  j["site"] = render_site(e.where, sources);
  j["text"] = sources.text_of(e.where);
  j["value_text"] = render_value(e.value, digits, e.signed_bytes);
  j["written_text"] = render_value(e.written, digits, e.signed_bytes);
  j["newest_text"] = render_value(e.newest, digits, e.signed_bytes);
  j["position"] = e.position;
  if (e.weakened) j["weakened"] = true;
  if (e.spurious) j["spurious"] = true;
  if (e.constructs) j["constructs"] = true;
  if (e.place != no_event) j["mo"] = e.place;
  if (e.memory != 0) j["memory"] = e.memory;
  if (e.reads_from != no_event) j["reads_from"] = e.reads_from;
  if (e.kind == event_kind::arrive) j.update({{"arrivals", e.barrier.arrivals}, {"leaving", e.barrier.leaving}});
  if (e.kind == event_kind::depart) j["round"] = e.barrier.round;
  if (!e.accessed.is_whole()) j["bytes"] = {e.accessed.first, e.accessed.size, e.accessed.of};
  return j;
}

void add_calls(json& to, const search_result& r) {
  if (r.calls.empty()) return;
  const std::vector<call_span> spans = call_spans(r.calls);
  json calls = json::array();
  for (std::size_t i = 0; i != r.calls.size(); ++i) {
    const shown_call& c = r.calls[i];
    json j = {{"thread", c.thread},
              {"text", c.text},
              {"after", last_before(r.calls, static_cast<std::uint32_t>(i))},
              {"begin", spans[i].begin},
              {"end", spans[i].end}};
    if (c.first != no_event) j.update({{"first", c.first}, {"last", c.last}});
    calls.push_back(std::move(j));
  }
  to["calls"] = std::move(calls);
  to["explained_calls"] = r.explained_calls;
  to["wrong_calls"] = cannot_come_next(r);
}

void add_stuck(json& to, const search_result& r) {
  if (r.stuck.empty()) return;
  json stuck = json::array();
  for (const stuck_thread& s : r.stuck) {
    json j = {{"thread", s.thread}};
    if (s.joins >= 0) j["joins"] = s.joins;
    if (s.stopped) j["stopped"] = true;
    if (s.since != no_event) j["since"] = s.since;
    if (s.at_barrier) j.update({{"barrier", s.barrier}, {"round", s.round}});
    stuck.push_back(std::move(j));
  }
  to["stuck"] = std::move(stuck);
  to["ended"] = r.ended;
}

}  // namespace

json result_json(const search_result& r, source_index& sources) {
  json j = {{"how", r.how},
            {"what", r.what},
            {"message", r.message},
            {"executions", r.executions},
            {"blocked", r.blocked},
            {"spurious", r.spurious},
            {"walks", r.walks},
            {"estimated", r.estimated},
            {"standard_error", r.standard_error},
            {"seconds", r.seconds},
            {"outcomes", r.outcomes},
            {"where", render_site(r.where, sources)}};
  if (!r.trace.empty()) {
    j["counterexample"] = render_counterexample(r, sources);
    json trace = json::array();
    const std::map<std::uint32_t, std::string> names = variable_names(r, sources);
    const unsigned digits = digits_of(r.trace);
    for (const event& e : r.trace) {
      trace.push_back(step_json(e, digits, sources));
      // Of a compiled program, whose variables have names, only the addresses of plain accesses are known.
      if (words_of(e.kind).is_plain && !r.variables.empty()) trace.back()["value_text"] = "?";
      if (const auto name = names.find(e.location); name != names.end())
        trace.back()["variable"] = name_in_step(e.kind, name->second);
    }
    const explanation because = why(r, names);
    if (!because.sentence.empty()) j["why"] = because.sentence;
    j["knows_sources"] = r.knows_sources;
    if (r.buffers_loads) j["load_buffering"] = true;
    if (r.forbidden_by_cpp20) j["forbidden_by_cpp20"] = true;
    if (because.unordered != no_event) j["unordered"] = because.unordered;
    if (because.failing != no_event) j["failing"] = because.failing;
    j["why_steps"] = because.steps;
    add_calls(j, r);
    add_stuck(j, r);
    j["trace"] = std::move(trace);
  }
  return j;
}

}  // namespace runq::model
