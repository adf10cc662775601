// SPDX-License-Identifier: MIT
#include "several_searches.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "children.hpp"
#include "progress.hpp"

namespace runq::model::compiled {

using nlohmann::json;

static void to_json(json& j, const mixed_word& w) { j = {reinterpret_cast<std::uintptr_t>(w.begin), w.size}; }
static void from_json(const json& j, mixed_word& w) {
  w = {reinterpret_cast<std::byte*>(j[0].get<std::uintptr_t>()), j[1]};
}

namespace {

[[nodiscard]] std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }
[[nodiscard]] std::string short_text(const code_line& l) { return to_text(code_line{base_name(l.file), l.line}); }

[[nodiscard]] json to_json(const code_line& l) { return json::array({l.file, l.line}); }
[[nodiscard]] code_line line_of(const json& j) { return {j[0], j[1]}; }

[[nodiscard]] const char* plural(std::uint64_t count) { return count == 1 ? "" : "s"; }

class searches {
 public:
  searches(const run_options& options, const check_function& check) : options_(options), check_(check) {}

  [[nodiscard]] answer make() {
    run_options all = options_;
    all.has_path = false;
    json said;
    // Until no accepted race is left: each round has two lines more that count as relaxed.
    do {
      said = search(all);
    } while (relaxes_more(said));
    if (options_.has_path) said = search(to_show(options_));
    answer a = said.contains("failures") ? show_all(said) : to_answer(said);
    say_what_was_accepted(a);
    return a;
  }

 private:
  /// A search knows of all words from its beginning.
  [[nodiscard]] static run_options to_show(run_options options) {
    options.path.larger_at.clear();
    return options;
  }
  /// A search as a child, and what it says.
  [[nodiscard]] json search(const run_options& options) {
    children process;
    if (!process.start(0, [&] { return search_here(options); })) return json{{"error", "the system gives no process"}};
    const child_answer got = process.next();
    if (!got.error.empty()) return json{{"error", got.error}};
    json said = json::parse(got.text);
    words_ = said["words"].get<std::vector<mixed_word>>();
    places_ = said["places"];
    lock_places_ = said["locks"];
    add_asked_sizes(said["sizes"]);
    return said;
  }

  [[nodiscard]] std::string search_here(const run_options& options) {
    session& s = current_session();
    for (const code_line& l : relaxed_) s.relaxed().add_of_race(l);
    mixed_words& words = s.atomics().words();
    words.begin_with(words_);
    for (const std::string& where : places_) words.note_place(where);
    for (const std::string& where : lock_places_) words.note_lock_place(where);
    json said = result_of_search(s, options);
    said["words"] = words.all();
    said["places"] = words.places();
    said["locks"] = words.lock_places();
    said["sizes"] = asked_sizes();
    return sent(said);
  }

  [[nodiscard]] json result_of_search(session& s, const run_options& options) {
    s.options().is_accepted = [this](const code_line& a, const code_line& b) {
      return options_.accepted.accepts(a, b) && !(is_relaxed(a) && is_relaxed(b));
    };
    search_result r = check_(s, options);
    r.began_again = r.began_again || began_again_;
    end_progress();
    if (!options.executed_file.empty() && !s.code().executed().append_to(options.executed_file)) {
      return {{"error", "cannot write " + options.executed_file}};
    }
    if (const std::vector<code_line>& lines = s.accepted_race(); !lines.empty()) {
      return {{"race", json::array({to_json(lines[0]), to_json(lines[1])})}};
    }
    if (!options.has_path && !s.failures().all().empty()) return describe(s.failures(), r);
    const answer a = judge(r, s, options);
    json said = {{"status", a.status}, {"headline", a.headline}, {"text", a.text}};
    if (a.result != nullptr) said["result"] = *a.result;
    return said;
  }

  [[nodiscard]] static json describe(const distinct_failures& found, const search_result& r) {
    json failures = json::array();
    for (const distinct_failure& f : found.all()) {
      failures.push_back({{"path", f.path}, {"number", f.number}, {"steps", f.steps}, {"executions", f.executions}});
    }
    const bool ended = r.how != coverage::cut_short;
    return {{"failures", failures},
            {"failing", found.failing_executions()},
            {"executions", r.executions},
            {"blocked", r.blocked},
            {"seconds", r.seconds},
            {"keeps_rounds", r.keeps_rounds},
            {"began_again", r.began_again},
            {"explores_undone_rounds", r.explores_undone_rounds},
            {"end", ended             ? ""
                    : found.is_full() ? "; there may be more: the search has stopped"
                                      : "; there may be more: " + r.message}};
  }

  // --- accepted races -----------------------------------------------------------------------------------------------

  [[nodiscard]] bool is_relaxed(const code_line& l) const {
    return std::find(relaxed_.begin(), relaxed_.end(), l) != relaxed_.end();
  }
  /// Notes the accepted race that has ended a search.
  [[nodiscard]] bool relaxes_more(const json& said) {
    if (!said.contains("race")) return false;
    race found{line_of(said["race"][0]), line_of(said["race"][1]), {}};
    if (const auto* const e = options_.accepted.accepting(found.a, found.b)) found.reason = e->reason;
    for (const code_line& l : {found.a, found.b}) {
      if (!is_relaxed(l)) relaxed_.push_back(l);
    }
    races_.push_back(std::move(found));
    return true;
  }
  void say_what_was_accepted(answer& a) const {
    if (!races_.empty()) {
      a.text += fmt::format("accepted: {} race{}", races_.size(), plural(races_.size()));
      const char* separator = " at ";
      for (const race& r : races_) {
        a.text += fmt::format("{}{}", separator, short_text(r.a));
        if (r.a != r.b) a.text += fmt::format(" and {}", short_text(r.b));
        if (!r.reason.empty()) a.text += fmt::format(" ({})", r.reason);
        separator = "; ";
      }
      a.text += '\n';
    }
    for (const auto& e : options_.accepted.entries) {
      if (!is_needed(e)) a.text += fmt::format("accepted, but not met: race:{}\n", to_text(e.at));
    }
    if (a.result == nullptr) return;
    json list = json::array();
    for (const race& r : races_)
      list.push_back({{"at", json::array({to_text(r.a), to_text(r.b)})}, {"reason", r.reason}});
    (*a.result)["accepted"] = std::move(list);
  }
  [[nodiscard]] bool is_needed(const accepted_races::entry& e) const {
    return std::any_of(races_.begin(), races_.end(), [&](const race& r) {
      const accepted_races only{{e}, false};
      return only.accepts(r.a, r.b);
    });
  }

  // --- several failures ---------------------------------------------------------------------------------------------

  [[nodiscard]] answer to_answer(const json& said) {
    if (said.contains("error")) {
      const std::string headline = "no verdict: " + said["error"].get<std::string>();
      return {2, headline, headline + "\n", {}, {}};
    }
    answer a{said["status"], said["headline"], said["text"], {}, {}};
    if (said.contains("result")) a.result = std::make_shared<json>(said["result"]);
    return a;
  }

  [[nodiscard]] answer show_all(const json& said) {
    const json& failures = said["failures"];
    const std::size_t count = failures.size();
    answer a;
    a.status = 1;
    a.headline =
        fmt::format("FAIL: {} different failure{} in {} of {} executions{}{}, {:.2f} s", count, plural(count),
                    said["failing"].get<std::uint64_t>(), said["executions"].get<std::uint64_t>(),
                    said["blocked"] == 0 ? "" : fmt::format(", +{} blocked", said["blocked"].get<std::uint64_t>()),
                    said["end"].get<std::string>(), said["seconds"].get<double>());
    a.text = a.headline + "\n";
    for (std::size_t i = 0; i != count; ++i) {
      const answer one = show(failures[i], said);
      a.text += fmt::format("\nfailure {} of {}, in {} execution{}; this is the smallest:\n{}", i + 1, count,
                            failures[i]["executions"].get<std::uint64_t>(),
                            plural(failures[i]["executions"].get<std::uint64_t>()), one.text);
      if (one.status != 1) a.status = 2;
      a.each.push_back(one);
    }
    if (!a.each.empty()) a.result = a.each.front().result;
    return a;
  }
  /// The way to it is one of the search that has found it: what that one has given up is not tried again.
  [[nodiscard]] answer show(const json& failure, const json& found_by) {
    run_options options = options_;
    options.search.keeps_rounds = found_by["keeps_rounds"];
    began_again_ = found_by["began_again"];
    if (began_again_) options.search.waits_in_place = options.search.skips_retries = false;
    if (found_by["explores_undone_rounds"]) options.search.skips_undone_rounds = false;
    options.path.last = failure["path"].get<exact::way>();
    options.has_path = true;
    options.search.shown_failure = failure["number"];
    return to_answer(search(options));
  }

  struct race {
    code_line a;
    code_line b;
    std::string reason;
  };
  const run_options& options_;
  const check_function& check_;
  std::vector<code_line> relaxed_;
  std::vector<std::string> places_;
  std::vector<std::string> lock_places_;
  std::vector<mixed_word> words_;  ///< that the last search has found: the ways through it are those of these
  std::vector<race> races_;
  bool began_again_ = false;  ///< the search whose failures are shown now
};

}  // namespace

bool takes_several_searches(const run_options& options) {
  return options.search.all_failures || !options.accepted.is_empty();
}

answer check_by_several_searches(const run_options& options, const check_function& check) {
  return searches(options, check).make();
}

}  // namespace runq::model::compiled
