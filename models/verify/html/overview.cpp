// SPDX-License-Identifier: MIT
#include "overview.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "common.hpp"

namespace runq::model::html {

namespace {

constexpr std::string_view script =
#include "overview.js.inc"
    ;

constexpr std::string_view legend = R"(
<section><h2 id="words">What the words mean</h2>
<dl class="words">
<dt class="good-text">exhaustive</dt><dd>exact engine: every consistent execution graph of the program was visited, and none fails</dd>
<dt>explored</dt><dd>execution graphs by the exact engine, each standing for many runs; executions by Relacy. blocked: abandoned, because a thread waits for good there</dd>
<dt class="good-text">full search</dt><dd>Relacy: every execution in Relacy's memory model, which lacks some that C++20 allows (the litmus table)</dd>
<dt class="good-text">bounded N</dt><dd>Relacy: as full search, but at most N pre-emptions of a running thread</dd>
<dt class="good-text">sampled</dt><dd>a number of random executions; nothing is proved</dd>
<dt class="bad-text">not finished</dt><dd>a limit was reached first; counted as a failure</dd>
<dt class="good-text">killed</dt><dd>a search notices the mutant, as it must; the counterexample is linked</dd>
<dt class="bad-text">survived</dt><dd>no search notices the mutant: a check is missing, or the order is stronger than needed</dd>
<dt class="warn-text">blind spot</dt><dd>C++20 allows the outcome, the engine never shows it: bugs that need it are missed by this engine</dd>
<dt class="warn-text">false alarm</dt><dd>the engine shows an outcome that C++20 forbids: a failure of this engine may not be one</dd>
<dt class="good-text">killed under load buffering</dt><dd>ledger: only executions in which a read sees a later write show it; RC11 has none, hardware may</dd>
<dt class="warn-text">redundant</dt><dd>ledger: complete searches with the weaker order fail nowhere, in the named model; the reason says why it stays</dd>
</dl></section>
)";

[[nodiscard]] std::string stem_of(const std::string& name) { return name.substr(0, name.find('/')); }

[[nodiscard]] std::string cell(const std::string& html, const char* names = "") {
  return *names == '\0' ? "<td>" + html + "</td>" : fmt::format("<td class=\"{}\">{}</td>", names, html);
}
[[nodiscard]] std::string number_cell(std::uint64_t n, const std::string& unit = {}) {
  return fmt::format(R"(<td class="num" data-s="{}">{}{}{}</td>)", n, unit, unit.empty() ? "" : " ", grouped(n));
}
[[nodiscard]] std::string seconds_cell(double seconds) {
  return fmt::format(R"(<td class="num" data-s="{}">{:.3f}</td>)", seconds, seconds);
}

[[nodiscard]] std::string counterexample_link(const std::string& page, const std::string& words = "counterexample") {
  return page.empty() ? "" : fmt::format("<a href=\"{}\">{}</a>", escaped(page), words);
}

[[nodiscard]] std::string table(const std::string& id, const std::string& heads, const std::string& rows) {
  return fmt::format("<table id=\"{}\"><thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody></table>\n", id, heads, rows);
}

[[nodiscard]] std::string section(const std::string& title, const std::string& note, const std::string& html) {
  return fmt::format("<section><h2>{} <small class=\"shown\"></small></h2>\n{}{}</section>\n", title,
                     note.empty() ? "" : "<p>" + note + "</p>\n", html);
}

struct fraction {
  unsigned part = 0;
  unsigned all = 0;
  void count(bool good) {
    ++all;
    part += good ? 1 : 0;
  }
  [[nodiscard]] std::string words() const { return fmt::format("{}/{}", part, all); }
};

struct tally {
  fraction searches, mutants, corpus, bugs;
  unsigned failed = 0;

  void add(const json& search) {
    const outcome o = judged(search);
    failed += o == outcome::failed ? 1 : 0;
    if (o == outcome::remark) return;
    if (!is_mutant(search)) return searches.count(o == outcome::passed);
    (is_corpus(search) ? corpus : is_seeded_bug(search) ? bugs : mutants).count(o == outcome::killed);
  }
};

class overview {
 public:
  overview(const json& report, const std::vector<std::string>& pages) : report_(report), pages_(pages) {
    std::map<std::string, bool> shapes;  // a litmus test counts once, whatever the number of engines
    for (const json& search : searches()) {
      if (is_litmus(search)) {
        bool& good = shapes.try_emplace(text(search, "case"), true).first->second;
        good = good && judged(search) == outcome::as_expected;
      } else {
        total_.add(search);
        by_queue_[stem_of(text(search, "case"))].add(search);
      }
    }
    total_.failed += static_cast<unsigned>(list(report, "problems").size());
    for (const auto& [name, good] : shapes) {
      litmus_.count(good);
      total_.failed += good ? 0 : 1;
    }
  }

  [[nodiscard]] std::string render() const {
    const std::string body =
        fmt::format("<h1>runqkit: what the model checker found</h1>\n{}{}{}{}{}{}{}{}{}{}", summary(), environment(),
                    queues(), filter(), failures(), cases(), bugs(), mutants(), litmus(), ledger()) +
        std::string(legend);
    return document("runqkit verify", body, script);
  }

 private:
  [[nodiscard]] const json& searches() const { return list(report_, "searches"); }

  [[nodiscard]] static std::string card(const std::string& big, const std::string& small, bool good) {
    return fmt::format("<div class=\"card {}\"><b>{}</b> {}</div>", good ? "good" : "bad", big, small);
  }
  [[nodiscard]] static std::string card(const fraction& f, const std::string& small) {
    return f.all == 0 ? "" : card(f.words(), small, f.part == f.all);
  }

  [[nodiscard]] std::string summary() const {
    return "<div class=\"cards\">" + card(total_.searches, "searches passed") +
           card(litmus_, "litmus tests as expected") + card(total_.corpus, "bugs of the corpus caught") +
           card(total_.bugs, "other seeded bugs caught") + card(total_.mutants, "mutants killed") +
           card(std::to_string(total_.failed), "failed", total_.failed == 0) + "</div>\n";
  }

  [[nodiscard]] std::string environment() const {
    std::string words = "runqkit " + escaped(text(report_, "version"));
    if (const std::string compiler = text(report_, "compiler"); !compiler.empty())
      words += ", compiler " + escaped(compiler);
    if (const std::string budget = text(report_, "budget"); !budget.empty()) words += ", budget " + escaped(budget);
    return "<p class=\"env\">" + words + "</p>\n";
  }

  [[nodiscard]] std::string queues() const {
    std::string rows;
    for (const auto& [stem, t] : by_queue_) {
      const auto shown = [](const fraction& f) { return cell(f.all == 0 ? "" : f.words(), "num"); };
      fraction bugs = t.bugs;
      bugs.part += t.corpus.part;
      bugs.all += t.corpus.all;
      rows += "<tr>" + cell("<b>" + escaped(stem) + "</b>") + shown(t.searches) + shown(t.mutants) + shown(bugs) +
              cell(t.failed == 0 ? "" : std::to_string(t.failed), "num bad-text") + "</tr>\n";
    }
    return table("queues",
                 "<th></th><th>searches passed</th><th>mutants killed</th><th>seeded bugs caught</th><th>failed</th>",
                 rows);
  }

  [[nodiscard]] std::string filter() const {
    std::string choices;
    for (const auto& [stem, t] : by_queue_) {
      if (!stem.empty()) choices += fmt::format(R"(<button type="button" data-q="{0}">{0}</button>)", escaped(stem));
    }
    if (litmus_.all != 0) choices += R"(<button type="button" data-q="litmus">litmus</button>)";
    // Without a script there is nothing to filter with.
    return fmt::format(
        "<div class=\"filter\" hidden><input type=\"search\" placeholder=\"filter all tables: case, mutant, "
        "site, verdict\" aria-label=\"filter\">{}</div>\n",
        choices);
  }

  // What needs attention comes first, wherever it belongs.
  [[nodiscard]] std::string failures() const {
    std::string rows;
    for (std::size_t i = 0; i != searches().size(); ++i) {
      const json& s = searches()[i];
      if (judged(s) != outcome::failed) continue;
      rows += "<tr class=\"bad\">" + cell(escaped(text(s, "case"))) + cell(escaped(label_of(s))) +
              cell(escaped(engine_of(s))) + cell(escaped(verdict_words(s)), "bad-text") +
              cell(counterexample_link(pages_[i])) + "</tr>\n";
    }
    for (const json& problem : list(report_, "problems")) {
      rows += "<tr class=\"bad\">" + cell(escaped(text(problem, "about"))) + cell("") + cell("") +
              cell(escaped(text(problem, "what")), "bad-text") + cell("") + "</tr>\n";
    }
    if (rows.empty()) return {};
    return section("Failed", "",
                   table("failed", "<th>case</th><th>search</th><th>engine</th><th>why</th><th></th>", rows));
  }

  [[nodiscard]] std::string cases() const {
    std::string rows;
    std::string last;
    for (std::size_t i = 0; i != searches().size(); ++i) {
      const json& s = searches()[i];
      if (is_litmus(s) || is_mutant(s)) continue;
      const std::string name = text(s, "case");
      rows += case_row(s, pages_[i], name == last);
      last = name;
    }
    return section("Cases", "",
                   table("cases",
                         "<th>case</th><th>verdict</th><th>engine</th><th>search</th><th>explored</th>"
                         "<th>blocked</th><th>seconds</th><th></th><th>property</th>",
                         rows));
  }
  [[nodiscard]] static std::string case_row(const json& s, const std::string& page, bool again) {
    const json& result = object(s, "result");
    const bool good = judged(s) != outcome::failed;
    const std::string property = text(s, "property");
    const std::string name = escaped(text(s, "case"));
    return fmt::format("<tr data-q=\"{}\"{}>", escaped(stem_of(text(s, "case"))), good ? "" : " class=\"bad\"") +
           cell(name, again ? "again" : "first") +
           cell(escaped(verdict_words(s)), !good                          ? "bad-text"
                                           : judged(s) == outcome::passed ? "good-text"
                                                                          : "") +
           cell(escaped(engine_of(s))) + cell(escaped(label_of(s))) + number_cell(number(result, "executions")) +
           number_cell(number(result, "blocked")) + seconds_cell(real(result, "seconds")) +
           cell(counterexample_link(page)) + cell(again ? "" : escaped(property), "property") + "</tr>\n";
  }

  static constexpr const char* failing_heads =
      "<th>case</th><th>{}</th><th>verdict</th><th></th><th>by</th>"
      "<th>at</th><th>relacy</th><th>where</th>";

  [[nodiscard]] std::string bugs() const {
    std::string rows;
    for (std::size_t i = 0; i != searches().size(); ++i) {
      const json& s = searches()[i];
      if (is_seeded_bug(s)) rows += failing_row(s, pages_[i], cell(escaped(text(s, "property")), "property"), "caught");
    }
    if (rows.empty()) return {};
    return section("Seeded bugs", "Programs that are wrong on purpose, most of them bugs from history.",
                   table("bugs", fmt::format(failing_heads, "what is claimed of it"), rows));
  }

  [[nodiscard]] std::string mutants() const {
    std::string rows;
    for (std::size_t i = 0; i != searches().size(); ++i) {
      const json& s = searches()[i];
      if (!is_mutant(s) || is_seeded_bug(s)) continue;
      const std::string changed = text(s, "changed");
      std::string mutant = "<b>" + escaped(label_of(s)) + "</b>";
      if (!changed.empty()) mutant += "<div class=\"sub\"><code>" + escaped(changed) + "</code></div>";
      rows += failing_row(s, pages_[i], cell(mutant, "change"), "killed");
    }
    if (rows.empty()) return {};
    return section(
        "Mutants",
        "The shipped headers with one order weakened or one step changed; a search must notice each. " + undecided(),
        table("mutants", fmt::format(failing_heads, "change"), rows));
  }

  // Those of the searches that must find nothing which were cut off before they found anything.
  [[nodiscard]] std::string undecided() const {
    unsigned n = 0;
    for (const json& s : searches()) {
      for (const json& c : list(object(s, "result"), "cases")) {
        n += text(c, "what") == "none" && text(c, "how") == "cut_short" ? 1 : 0;
      }
    }
    return n == 0 ? ""
                  : fmt::format(
                        "{} searches of cases that a mutant does not name were cut off: whether those notice it "
                        "is undecided.",
                        n);
  }

  /// A program that must fail. `about` is the cell that says what is wrong with it.
  [[nodiscard]] static std::string failing_row(const json& s, const std::string& page, const std::string& about,
                                               const char* good) {
    const json& result = object(s, "result");
    const bool noticed = judged(s) == outcome::killed;
    return fmt::format("<tr data-q=\"{}\"{}>", escaped(stem_of(text(s, "case"))), noticed ? "" : " class=\"bad\"") +
           cell(escaped(text(s, "case"))) + about +
           cell(noticed ? good : escaped(verdict_words(s)), noticed ? "good-text" : "bad-text") +
           cell(counterexample_link(page)) + cell(noticed ? killer(s) : "") +
           number_cell(number(result, "executions"), unit_of(s)) + cell(relacy_words(s)) +
           cell("<code>" + escaped(text(result, "where")) + "</code>", "where") + "</tr>\n";
  }
  [[nodiscard]] static std::string killer(const json& s) {
    const json& result = object(s, "result");
    // Relacy repeats the kind of failure in capitals; a check says something.
    const bool check = text(result, "what") == "check failed";
    std::string html = escaped(text(result, check ? "message" : "what"));
    if (const std::string by = text(result, "by"); !by.empty() && by != text(s, "case"))
      html += fmt::format("<div class=\"sub\">{}</div>", escaped(by));
    return html;
  }
  [[nodiscard]] static std::string relacy_words(const json& s) {
    const json& relacy = object(object(s, "result"), "relacy");
    if (relacy.empty()) return {};
    if (text(relacy, "what") == "none") return "not noticed";
    return "execution\u00a0" + grouped(number(relacy, "executions"));
  }

  // ----- litmus: a row per shape, a column per engine

  struct shape {
    const json* question = nullptr;
    std::map<std::string, std::size_t> searches;  ///< by engine
  };

  [[nodiscard]] static std::string column_of(const json& search) {
    const std::string label = label_of(search);
    return label.empty() || label == "litmus" ? engine_of(search) : engine_of(search) + ", " + label;
  }

  [[nodiscard]] std::string litmus() const {
    std::vector<std::string> order;
    std::vector<std::string> engines;
    std::map<std::string, shape> shapes;
    for (std::size_t i = 0; i != searches().size(); ++i) {
      const json& s = searches()[i];
      if (!is_litmus(s)) continue;
      const std::string name = text(s, "case");
      const std::string engine = column_of(s);
      if (!shapes.contains(name)) order.push_back(name);
      if (std::find(engines.begin(), engines.end(), engine) == engines.end()) engines.push_back(engine);
      shapes[name].question = &object(s, "litmus");
      shapes[name].searches.emplace(engine, i);
    }
    if (order.empty()) return {};
    std::string heads = "<th>shape</th><th>outcome</th><th>C++20</th>";
    for (const std::string& engine : engines) heads += "<th>" + escaped(engine) + "</th>";
    std::string rows;
    for (const std::string& name : order) rows += litmus_row(name, shapes.at(name), engines);
    return section("Litmus tests",
                   "What C++20 allows, and what each engine shows: how far a PASS of it can be trusted.",
                   table("litmus", heads, rows));
  }
  [[nodiscard]] std::string litmus_row(const std::string& name, const shape& of,
                                       const std::vector<std::string>& engines) const {
    const std::string property = property_of(searches()[of.searches.begin()->second]);
    std::string row = fmt::format(R"(<tr data-q="litmus"><td title="{}"><b>{}</b><div class="sub">{}</div></td>)",
                                  escaped(property), escaped(name.substr(name.find('/') + 1)), escaped(property)) +
                      cell("<code>" + escaped(text(*of.question, "outcome")) + "</code>") +
                      cell(flag(*of.question, "cpp20") ? "allowed" : "forbidden");
    for (const std::string& engine : engines) {
      const auto it = of.searches.find(engine);
      row += it == of.searches.end() ? cell("–", "absent") : litmus_cell(it->second);
    }
    return row + "</tr>\n";
  }
  [[nodiscard]] std::string litmus_cell(std::size_t i) const {
    const json& s = searches()[i];
    const json& result = object(s, "result");
    if (result.contains("error")) return cell("error: " + escaped(text(result, "error")), "bad-text");
    const litmus_verdict v = litmus_of(s);
    const std::string shown = pages_[i].empty() ? (v.shown ? "shown" : "not shown")
                                                : counterexample_link(pages_[i], v.shown ? "shown" : "not shown");
    std::string badge;
    if (v.allowed && !v.shown) badge = " <span class=\"badge warn\">blind spot</span>";
    if (!v.allowed && v.shown) badge = " <span class=\"badge warn\">false alarm</span>";
    if (!v.as_pinned) badge += " <span class=\"badge bad\">not as pinned</span>";
    return cell(shown + badge);
  }

  // ----- the ledger

  [[nodiscard]] std::string ledger() const {
    std::string rows;
    std::map<std::string, unsigned> counts;
    for (const json& row : list(report_, "ledger")) {
      const std::string verdict = text(row, "verdict");
      ++counts[verdict.empty() ? "without a verdict" : verdict];
      rows += ledger_row(row);
    }
    if (rows.empty()) return {};
    std::string note = "Every memory order of the headers, weakened one step at a time.";
    for (const auto& [verdict, count] : counts) note += fmt::format(" <b>{}</b> {}.", count, escaped(verdict));
    return section("Order ledger", note,
                   table("ledger",
                         "<th>header</th><th>site</th><th>written</th><th>weakened to</th><th>verdict</th>"
                         "<th>evidence</th><th>graphs</th>",
                         rows));
  }
  [[nodiscard]] std::string ledger_row(const json& row) const {
    const std::string verdict = text(row, "verdict");
    const char* const tone = verdict.empty() ? "bad-text" : verdict.starts_with("killed") ? "good-text" : "warn-text";
    const std::string header = text(row, "header");
    const std::string site = text(row, "site");
    const std::string failure_order = number(row, "arg") == 0 ? "" : " <span class=\"sub\">on failure</span>";
    return fmt::format("<tr data-q=\"{}\">", escaped(stem_of_header(header))) +
           cell("<code>" + escaped(base_name(header)) + "</code>") +
           cell("<code>[" + escaped(site) + "]</code>" + failure_order) + cell(escaped(text(row, "written"))) +
           cell(escaped(text(row, "weaker"))) + cell(verdict.empty() ? "NO VERDICT" : escaped(verdict), tone) +
           cell(evidence(row)) + number_cell(number(row, "executions")) + "</tr>\n";
  }
  [[nodiscard]] static std::string stem_of_header(const std::string& header) {
    const std::string name = base_name(header);
    return name.substr(0, name.find('.'));
  }
  [[nodiscard]] std::string evidence(const json& row) const {
    std::string html = escaped(text(row, "case"));
    if (const std::string what = text(row, "what"); !what.empty() && what != "none") html += ": " + escaped(what);
    if (const std::string link = counterexample_link(page_of(row)); !link.empty()) html += " · " + link;
    if (const std::string reason = text(row, "reason"); !reason.empty())
      html += fmt::format("<div class=\"sub\">{}</div>", escaped(reason));
    return html;
  }
  // The mutant that makes the same change in the same case, if it was run.
  [[nodiscard]] std::string page_of(const json& row) const {
    for (std::size_t i = 0; i != searches().size(); ++i) {
      const json& s = searches()[i];
      if (is_mutant(s) && !pages_[i].empty() && text(s, "case") == text(row, "case") &&
          changed_site(s) == text(row, "site") && text(s, "changed").ends_with(text(row, "weaker"))) {
        return pages_[i];
      }
    }
    return {};
  }

  const json& report_;
  const std::vector<std::string>& pages_;
  tally total_;
  fraction litmus_;
  std::map<std::string, tally> by_queue_;
};

}  // namespace

std::string overview_page(const json& report, const std::vector<std::string>& pages) {
  return overview(report, pages).render();
}

}  // namespace runq::model::html
