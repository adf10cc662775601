// SPDX-License-Identifier: MIT
#include "ledger.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "exact.hpp"
#include "scenario.hpp"
#include "searches.hpp"
#include "weaker.hpp"

namespace runq::model {

namespace {

using order = std::memory_order;

// One order of the header, and the cases that use it.
struct entry {
  std::string site;
  int first_line;
  int last_line;
  int arg;
  order_of kind;
  order written;
  std::vector<const case_spec*> cases;
};

[[nodiscard]] bool counts(const case_spec& c) { return !c.seeded_bug && c.litmus.outcome == nullptr; }

class maker {
 public:
  maker(const std::string& path, const std::string& ending, source_index& sources,
        const std::vector<ledger_row>& expected, const orders_by_case& known, bool waits_in_place,
        const std::function<void(std::uint64_t)>& progress)
      : path_(path),
        ending_(ending),
        sources_(sources),
        expected_(expected),
        known_(known),
        search_(complete_search(waits_in_place)),
        progress_(progress) {}

  [[nodiscard]] ledger make() {
    find_entries();
    find_holes();
    for (const entry& e : entries_) weaken_from(e, e.written);
    return std::move(ledger_);
  }

 private:
  // Which orders of this header each case uses, unweakened.
  void find_entries() {
    for (const case_spec& c : cases()) {
      if (!counts(c)) continue;
      const auto known = known_.find(c.name);
      for (const used_order& used : known == known_.end() ? search_for_orders(c) : of_this_header(known->second)) {
        add_use(used, c);
      }
    }
  }

  // Most cases are about another header: their first executions show that.
  [[nodiscard]] std::vector<used_order> search_for_orders(const case_spec& c) const {
    constexpr std::uint64_t first = 1000;
    exact_options few = search_;
    few.max_executions = first;
    if (orders_used(c, few).empty()) return {};
    return orders_used(c, search_);
  }

  [[nodiscard]] std::vector<used_order> orders_used(const case_spec& c, const exact_options& options) const {
    start_noting_orders();
    static_cast<void>(run_exact(c, options));
    return of_this_header(noted_orders());
  }

  [[nodiscard]] std::vector<used_order> of_this_header(std::vector<used_order> used) const {
    std::erase_if(used, [this](const used_order& o) { return !std::string_view(o.file).ends_with(ending_); });
    return used;
  }

  void add_use(const used_order& used, const case_spec& c) {
    const std::string name = sources_.name_of({used.file.c_str(), used.line});
    const auto range = sources_.find(path_, ending_, name, used.arg, used.written);
    if (!range) {
      ledger_.holes.push_back(fmt::format("{}:{} has no name: put '// [name] order: …' above it", ending_, used.line));
      return;
    }
    for (entry& e : entries_) {
      if (e.site != name || e.arg != used.arg) continue;
      if (e.cases.back() != &c) e.cases.push_back(&c);
      return;
    }
    entries_.push_back({name, range->line, range->last_line, used.arg, used.kind, used.written, {&c}});
  }

  // Names in the header whose orders no case ever used; relaxed ones have nothing to weaken.
  void find_holes() {
    std::set<std::string> used;
    for (const entry& e : entries_) used.insert(e.site);
    for (const std::string& name : sources_.names_with_orders(path_)) {
      if (!used.contains(name)) {
        ledger_.holes.push_back(fmt::format("[{}] in {} is executed by no case", name, ending_));
      }
    }
  }

  void weaken_from(const entry& e, order from) {
    for (const order to : weaker(e.kind, from)) {
      if (find_row(e, [to](const ledger_row& r) { return r.to == to; }) != nullptr) continue;
      ledger_row row;
      row.site = e.site;
      row.arg = e.arg;
      row.from = from;
      row.to = to;
      const ledger_row* const before = find_expected(row);
      const auto rows_before = static_cast<std::ptrdiff_t>(ledger_.rows.size());
      if (before != nullptr && before->verdict == ledger_verdict::redundant) weaken_from(e, to);
      if (const ledger_row* further = find_redundant_from(e, to); further != nullptr) {
        // The weaker order allows every execution that this one allows.
        row.executions = further->executions;
        keep(row);
      } else {
        try_weakening(e, before, row);
        // Of an order that is needed, no weaker one is asked for.
        if (row.verdict != ledger_verdict::redundant) {
          ledger_.rows.erase(ledger_.rows.begin() + rows_before, ledger_.rows.end());
        }
      }
      ledger_.rows.push_back(row);
      if (progress_) progress_(ledger_.rows.size());
      if (row.verdict == ledger_verdict::redundant) weaken_from(e, to);
    }
  }

  template <class Predicate>
  [[nodiscard]] const ledger_row* find_row(const entry& e, Predicate&& is) const {
    const auto it = std::find_if(ledger_.rows.begin(), ledger_.rows.end(),
                                 [&](const ledger_row& r) { return r.site == e.site && r.arg == e.arg && is(r); });
    return it == ledger_.rows.end() ? nullptr : &*it;
  }

  [[nodiscard]] const ledger_row* find_redundant_from(const entry& e, order from) const {
    return find_row(e,
                    [from](const ledger_row& r) { return r.from == from && r.verdict == ledger_verdict::redundant; });
  }

  void try_weakening(const entry& e, const ledger_row* before, ledger_row& row) {
    set_weakening({ending_, e.first_line, e.last_line, e.arg, row.to});
    const std::vector<const case_spec*> in_order = likely_first(e.cases, before);
    if (before == nullptr || before->verdict != ledger_verdict::redundant || !still_redundant(in_order, row)) {
      try_cases(in_order, row);
    }
    set_weakening({});
  }

  [[nodiscard]] const ledger_row* find_expected(const ledger_row& row) const {
    const auto it = std::find_if(expected_.begin(), expected_.end(), [&](const ledger_row& r) {
      return r.site == row.site && r.arg == row.arg && r.from == row.from && r.to == row.to;
    });
    return it == expected_.end() ? nullptr : &*it;
  }

  [[nodiscard]] static std::vector<const case_spec*> likely_first(std::vector<const case_spec*> some,
                                                                  const ledger_row* before) {
    if (before != nullptr) {
      std::stable_partition(some.begin(), some.end(), [&](const case_spec* c) { return c->name == before->by; });
    }
    return some;
  }

  [[nodiscard]] bool still_redundant(const std::vector<const case_spec*>& in_order, ledger_row& row) {
    exact_options both = search_;
    both.load_buffering = true;
    ledger_row found = row;
    if (killed(in_order, both, found, ledger_verdict::killed_load_buffering)) return false;
    row.executions = found.executions;
    keep(row);
    return true;
  }

  void try_cases(const std::vector<const case_spec*>& in_order, ledger_row& row) {
    exact_options options = search_;
    if (killed(in_order, options, row, ledger_verdict::killed)) return;
    const std::uint64_t graphs = row.executions;
    options.load_buffering = true;
    if (killed(in_order, options, row, ledger_verdict::killed_load_buffering)) return;
    row.executions = graphs;
    keep(row);
  }

  [[nodiscard]] bool killed(const std::vector<const case_spec*>& in_order, const exact_options& options,
                            ledger_row& row, ledger_verdict verdict) {
    for (const case_spec* c : in_order) {
      const search_result r = run_exact(*c, options);
      if (r.what != failure::none) {
        row.verdict = verdict;
        row.by = c->name;
        row.what = r.what;
        row.executions = r.executions;
        return true;
      }
      if (r.how == coverage::cut_short) {
        ledger_.holes.push_back(fmt::format("[{}] {}: the search of {} was cut short: {}", row.site, to_string(row.to),
                                            c->name, r.message));
      }
      row.executions += r.executions;
    }
    return false;
  }

  void keep(ledger_row& row) {
    row.verdict = ledger_verdict::redundant;
    row.reason = sources_.reason_for(path_, row.site);
    if (row.reason.empty()) {
      ledger_.holes.push_back(
          fmt::format("[{}] {} → {} is redundant in every model, and the comment at the site does not say 'kept: …'",
                      row.site, to_string(row.from), to_string(row.to)));
    }
  }

  const std::string& path_;
  const std::string& ending_;
  source_index& sources_;
  const std::vector<ledger_row>& expected_;
  const orders_by_case& known_;
  const exact_options search_;
  const std::function<void(std::uint64_t)>& progress_;
  std::vector<entry> entries_;
  ledger ledger_;
};

}  // namespace

ledger make_ledger(const std::string& path, const std::string& ending, source_index& sources,
                   const std::vector<ledger_row>& expected, const orders_by_case& known, bool waits_in_place,
                   const std::function<void(std::uint64_t)>& progress) {
  return maker(path, ending, sources, expected, known, waits_in_place, progress).make();
}

}  // namespace runq::model
