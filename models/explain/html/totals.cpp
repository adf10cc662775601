// SPDX-License-Identifier: MIT
#include "totals.hpp"

#include <map>

namespace runq::model::html {

namespace {

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
