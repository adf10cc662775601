// SPDX-License-Identifier: MIT
#include "describe.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

namespace runq::model::html {

namespace {

// With load buffering, the exact engine is expected to show what C++20 allows, no less and no more.
void append_by_engine(json& searches, const json& search) {
  for (const auto& [engine, result] : object(search, "result").items()) {
    if (!result.is_object()) continue;
    json one = search;
    one["engine"] = engine;
    one["result"] = result;
    if (engine == "load buffering") one["litmus"][engine] = flag(object(search, "litmus"), "cpp20");
    searches.push_back(std::move(one));
  }
}

[[nodiscard]] json by_engine(const json& report) {
  json searches = json::array();
  for (const json& search : list(report, "searches")) {
    const json& result = object(search, "result");
    if (text(search, "expect") == "litmus" && !result.contains("what") && !result.contains("error")) {
      append_by_engine(searches, search);
    } else {
      searches.push_back(search);
    }
  }
  return searches;
}

[[nodiscard]] const char* kind_of(const json& search) {
  const std::string expected = text(search, "expect");
  if (expected != "fail") return expected == "litmus" ? "litmus" : "search";
  if (text(search, "label") != "seeded bug") return "mutant";
  return text(search, "case").starts_with("corpus/") ? "corpus" : "bug";
}

[[nodiscard]] bool is_shown(const json& search) {
  const json& result = object(search, "result");
  const std::string wanted = text(object(search, "litmus"), "outcome");
  if (wanted == "race") return text(result, "what") == "data race";
  const json& seen = list(result, "outcomes");
  return std::find(seen.begin(), seen.end(), json(wanted)) != seen.end();
}

void judge_litmus(json& search) {
  json question = object(search, "litmus");
  const bool shown = is_shown(search);
  const auto pinned = question.find(text(search, "engine"));
  question["as_pinned"] = pinned == question.end() || !pinned->is_boolean() || pinned->get<bool>() == shown;
  question["shown"] = shown;
  search["litmus"] = std::move(question);
}

void set_default(json& search, const char* key, const std::string& value) {
  if (text(search, key).empty()) search[key] = value;
}

void describe(json& search) {
  constexpr std::array outcomes = {"passed", "killed", "as expected", "remark", "failed"};
  const std::string outcome = text(search, "outcome");
  if (std::find(outcomes.begin(), outcomes.end(), outcome) == outcomes.end()) search["outcome"] = "failed";
  set_default(search, "case", "");
  set_default(search, "label", text(search, "search"));
  set_default(search, "engine", "relacy");
  set_default(search, "verdict", "not judged");
  set_default(search, "property", text(object(search, "litmus"), "property"));
  search["result"] = object(search, "result");
  search["kind"] = kind_of(search);
  if (search["kind"] == "litmus") judge_litmus(search);
}

[[nodiscard]] json no_searches() {
  json totals = {{"failed", 0}};
  for (const char* what : {"searches", "mutants", "corpus", "bugs", "litmus"}) totals[what] = {0, 0};
  return totals;
}

void increment(json& count, unsigned by = 1) { count = count.get<unsigned>() + by; }

void count(json& totals, const char* what, bool good) {
  increment(totals[what][1]);
  if (good) increment(totals[what][0]);
}

void add(json& totals, const json& search) {
  const std::string outcome = text(search, "outcome");
  const std::string kind = text(search, "kind");
  if (outcome == "failed") increment(totals["failed"]);
  if (outcome == "remark") return;
  if (kind == "search") return count(totals, "searches", outcome == "passed");
  count(totals, kind == "mutant" ? "mutants" : kind == "corpus" ? "corpus" : "bugs", outcome == "killed");
}

}  // namespace

json described(const json& report) {
  json all = report.is_object() ? report : json::object();
  all["searches"] = by_engine(report);
  for (json& search : all["searches"]) describe(search);
  all["problems"] = list(report, "problems");
  all["ledger"] = list(report, "ledger");
  return all;
}

// Killed mutants replay by name: their search stops at the first failure.
std::string replay_of(const json& search) {
  if (std::string command = text(search, "command"); !command.empty()) return command;
  const std::string given = text(search, "replay");
  if (given.starts_with("./") || given.starts_with("cmake")) return given;
  const std::string name = text(search, "case");
  const std::string kind = text(search, "kind");
  std::string command = "./kit verify --case " + name;
  if (!given.empty()) command += " " + given;
  if (kind == "litmus") return command;  // which prints the execution that has the outcome
  if (kind == "search")
    return fmt::format("{} --execution {}", command, number(object(search, "result"), "executions"));
  if (!given.empty() || kind != "mutant") return command;
  const std::string label = text(search, "label");
  return command + " --mutant " + (label == "in the source" ? name.substr(name.find('/') + 1) : label);
}

void add_totals(json& report) {
  json totals = no_searches();
  json queues = json::object();
  std::map<std::string, bool> shapes;  // of litmus tests: whether all engines answer as expected
  for (const json& search : list(report, "searches")) {
    const std::string name = text(search, "case");
    if (text(search, "kind") == "litmus") {
      bool& good = shapes.try_emplace(name, true).first->second;
      good = good && text(search, "outcome") == "as expected";
    } else {
      add(totals, search);
      add(queues.emplace(name.substr(0, name.find('/')), no_searches()).first.value(), search);
    }
  }
  for (const auto& [name, good] : shapes) {
    count(totals, "litmus", good);
    if (!good) increment(totals["failed"]);
  }
  increment(totals["failed"], static_cast<unsigned>(list(report, "problems").size()));
  report["totals"] = std::move(totals);
  report["queues"] = std::move(queues);
}

}  // namespace runq::model::html
