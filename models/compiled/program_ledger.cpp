// SPDX-License-Identifier: MIT
#include "program_ledger.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "children.hpp"
#include "runtime.hpp"
#include "sites.hpp"
#include "weaker.hpp"

namespace runq::model::compiled {

namespace {

using nlohmann::json;
using order = std::memory_order;

struct entry {
  order_site where;
  order written{};
  std::string site;  ///< as --weaken takes it
};

struct row {
  std::size_t of = 0;  ///< the entry
  order from{};
  order to{};
  std::string verdict;  ///< "needed", "redundant", "no verdict"; empty: not made yet
  std::string what;     ///< the failure, or why there is no verdict
  std::uint64_t executions = 0;
};

/// The last `parts` parts of the path.
[[nodiscard]] std::string_view end_of(std::string_view path, unsigned parts) {
  std::size_t begin = path.size();
  for (; parts != 0 && begin != std::string_view::npos && begin != 0; --parts) begin = path.rfind('/', begin - 1);
  return begin == std::string_view::npos || begin == 0 ? path : path.substr(begin + 1);
}
[[nodiscard]] std::string_view base_name(std::string_view path) { return end_of(path, 1); }

/// What a child says of the check of the program as it is.
[[nodiscard]] std::string describe_unweakened(const search_result& r, session& s, const run_options& options) {
  const answer a = judge(r, s, options);
  json orders = json::array();
  for (const auto& [where, written] : s.code().orders().noted()) {
    orders.push_back({where.file, where.line, static_cast<int>(where.kind), static_cast<int>(written)});
  }
  json said = {{"status", a.status}, {"headline", a.headline}, {"text", a.text}, {"orders", orders}};
  if (a.result != nullptr) said["result"] = *a.result;
  return sent(said);
}

/// What a child says of a check with a weaker order: a failing execution is not shown.
[[nodiscard]] std::string describe_weakened(const search_result& r, session& s, const run_options& options) {
  const answer a = judge_briefly(r, s, options);
  return sent(
      {{"status", a.status}, {"headline", a.headline}, {"what", name_of(r.what)}, {"executions", r.executions}});
}

class maker {
 public:
  maker(const run_options& options, const check_function& check) : options_(options), check_(check) {}

  [[nodiscard]] answer make() {
    answer as_it_is = check_unweakened();
    if (as_it_is.status != 0) return as_it_is;
    for (std::size_t i = 0; i != entries_.size(); ++i) weaken_from(i, entries_[i].written);
    while (!to_do_.empty() || processes_.running() != 0) {
      if (!to_do_.empty() && processes_.running() < options_.jobs) {
        start(to_do_.front());
        to_do_.pop_front();
      } else {
        finish_one();
      }
    }
    return to_answer();
  }

 private:
  [[nodiscard]] answer check_unweakened() {
    const bool started = processes_.start(0, [this] {
      current_session().code().orders().note();
      return describe_unweakened(check_(current_session(), options_), current_session(), options_);
    });
    if (!started)
      return {2, "no verdict: the system gives no process", "no verdict: the system gives no process\n", {}, {}};
    const child_answer got = processes_.next();
    if (!got.error.empty()) return {2, "no verdict: " + got.error, "no verdict: " + got.error + "\n", {}, {}};
    const json said = json::parse(got.text);
    as_it_is_ = said["text"];
    answer a{said["status"], said["headline"], as_it_is_, {}, {}};
    if (said.contains("result")) a.result = std::make_shared<json>(said["result"]);
    if (a.status != 0) a.text = "without any change: " + a.text;
    for (const json& o : said["orders"]) {
      entry e{{o[0], o[1], static_cast<order_of>(o[2].get<int>())}, static_cast<order>(o[3].get<int>()), {}};
      if (is_asked_for(e.where.file)) entries_.push_back(std::move(e));
    }
    for (entry& e : entries_) e.site = site_of(e.where);
    return a;
  }

  /// As much of the path as tells the file from others, and the kind of access only if another one is on the same line.
  [[nodiscard]] std::string site_of(const order_site& where) const {
    unsigned parts = 1;
    const auto is_another = [&](const entry& e) {
      return e.where.file != where.file && path_ends_with(e.where.file, end_of(where.file, parts));
    };
    while (end_of(where.file, parts) != where.file && std::any_of(entries_.begin(), entries_.end(), is_another)) {
      ++parts;
    }
    const bool shares_line = std::any_of(entries_.begin(), entries_.end(), [&where](const entry& e) {
      return e.where.kind != order_of::cas_failure && e.where.kind != where.kind && e.where.line == where.line &&
             e.where.file == where.file;
    });
    const bool any_kind = where.kind != order_of::cas_failure && !shares_line;
    return place_of({std::string(end_of(where.file, parts)), where.line, any_kind, where.kind, {}});
  }

  [[nodiscard]] bool is_asked_for(const std::string& file) const {
    return options_.ledger_of.empty() ||
           std::any_of(options_.ledger_of.begin(), options_.ledger_of.end(),
                       [&file](const std::string& name) { return path_ends_with(file, name); });
  }

  void weaken_from(std::size_t number, order from) {
    for (const order to : weaker(entries_[number].where.kind, from)) {
      if (!tried_.insert({number, to}).second) continue;
      to_do_.push_back(rows_.size());
      rows_.push_back({number, from, to, {}, {}, 0});
    }
  }

  void start(std::size_t number) {
    const row& r = rows_[number];
    const order_site& where = entries_[r.of].where;
    const bool started = processes_.start(number, [this, &r, &where] {
      session& s = current_session();
      run_options options = options_;
      options.weakened = {where.file, where.line, false, where.kind, r.to};
      return describe_weakened(check_(s, options), s, options);
    });
    if (!started) note(number, 2, "the system gives no process");
  }

  void finish_one() {
    const child_answer got = processes_.next();
    if (!got.error.empty()) return note(got.number, 2, got.error);
    const json said = json::parse(got.text);
    rows_[got.number].executions = said["executions"];
    const int status = said["status"];
    note(got.number, status, status == 1 ? said["what"] : said["headline"]);
  }

  void note(std::size_t number, int status, const std::string& what) {
    row& r = rows_[number];
    r.verdict = status == 1 ? "needed" : status == 0 ? "redundant" : "no verdict";
    r.what = what;
    if (status == 0) weaken_from(r.of, order{r.to});
  }

  [[nodiscard]] std::size_t count(std::string_view verdict) const {
    return static_cast<std::size_t>(
        std::count_if(rows_.begin(), rows_.end(), [verdict](const row& r) { return r.verdict == verdict; }));
  }

  [[nodiscard]] static std::string to_text(const row& r) {
    const char* const to = to_string(r.to);
    if (r.verdict == "needed") return fmt::format("  → {:<8} needed: {} in execution {}", to, r.what, r.executions);
    if (r.verdict == "redundant") {
      const bool bounded = r.what.starts_with("bounded");
      return fmt::format("  → {:<8} redundant here: no failure in {} execution{}{}", to, r.executions,
                         r.executions == 1 ? "" : "s", bounded ? ", bounded" : "");
    }
    return fmt::format("  → {:<8} {}", to, r.what.starts_with("no verdict") ? r.what : "no verdict: " + r.what);
  }

  /// In the order of the source; the steps of one order as they were tried.
  [[nodiscard]] std::vector<const row*> sorted() const {
    std::vector<const row*> all;
    for (const row& r : rows_) all.push_back(&r);
    std::stable_sort(all.begin(), all.end(), [](const row* a, const row* b) { return a->of < b->of; });
    return all;
  }

  [[nodiscard]] static std::string heading(const entry& e, source_index& sources) {
    constexpr std::size_t width = 100;
    std::string line = fmt::format("{:<24} {:<7} {:<8}", e.site, name_of(e.where.kind), to_string(e.written));
    const std::string source = sources.text_of({e.where.file.c_str(), e.where.line});
    return line + "  " + source.substr(0, width > line.size() + 2 ? width - line.size() - 2 : 0);
  }

  [[nodiscard]] answer to_answer() {
    source_index sources;
    answer a;
    a.status = count("no verdict") == 0 ? 0 : 2;
    a.ledger = std::make_shared<json>(json::array());
    const entry* last = nullptr;
    std::string lines;
    for (const row* r : sorted()) {
      const entry& e = entries_[r->of];
      if (&e != last) lines += heading(e, sources) + "\n";
      last = &e;
      lines += to_text(*r) + "\n";
      a.ledger->push_back(to_json(e, *r, sources));
    }
    a.headline = fmt::format("ledger: {} order{}, {} weakening{}: {} needed, {} redundant here, {} without a verdict",
                             entries_.size(), entries_.size() == 1 ? "" : "s", rows_.size(),
                             rows_.size() == 1 ? "" : "s", count("needed"), count("redundant"), count("no verdict"));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
    a.text = lines + fmt::format("{} ({:.2f} s)\nas it is: {}", a.headline, seconds, as_it_is_);
    if (entries_.empty()) a.text += "no operation that was executed has an order stronger than relaxed\n";
    return a;
  }

  [[nodiscard]] static json to_json(const entry& e, const row& r, source_index& sources) {
    return {{"header", std::string(base_name(e.where.file))},
            {"file", e.where.file},
            {"line", e.where.line},
            {"kind", name_of(e.where.kind)},
            {"site", e.site},
            {"text", sources.text_of({e.where.file.c_str(), e.where.line})},
            {"arg", e.where.kind == order_of::cas_failure ? 1 : 0},
            {"written", to_string(r.from)},
            {"weaker", to_string(r.to)},
            {"verdict", r.verdict == "needed" ? "killed" : r.verdict},
            {"what", r.verdict == "redundant" ? "none" : r.what},
            {"executions", r.executions},
            {"reason", r.verdict == "redundant" ? r.what : ""}};
  }

  const run_options& options_;
  const check_function& check_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  children processes_;
  std::string as_it_is_;
  std::vector<entry> entries_;
  std::deque<row> rows_;  ///< a deque, so that pointers to rows stay valid
  std::deque<std::size_t> to_do_;
  std::set<std::pair<std::size_t, order>> tried_;
};

}  // namespace

answer make_program_ledger(const run_options& options, const check_function& check) {
  return maker(options, check).make();
}

}  // namespace runq::model::compiled
