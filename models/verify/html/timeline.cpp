// SPDX-License-Identifier: MIT
#include "timeline.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "calls.hpp"
#include "common.hpp"
#include "execution.hpp"
#include "layout.hpp"

namespace runq::model::html {

namespace {

constexpr std::string_view timeline_script =
#include "timeline.js.inc"
    ;

constexpr std::string_view timeline_legend = R"(
<details class="legend" open><summary>How to read this</summary>
<p>Time runs downwards; each box is one step of one thread, and its number is that of the text form. A step names the
variable (<b>v3</b>; beside it what the program calls it), the value read (→) or written (←), and the memory order as
executed. The second line is the place in the source, the <b>[site]</b> that the comment above names, if any, and the
code.</p>
<ul>
<li><svg width="46" height="10" class="c0"><path class="l" d="M1 5H38"/><path class="h" d="M45 5L38 1V9Z"/></svg>
  reads from: the value at the arrow's head was written at its tail. Arrows within one thread are thin.
  “initial” is the value from construction.</li>
<li><svg width="46" height="10" class="stale"><path class="l" d="M1 5H38"/><path class="h" d="M45 5L38 1V9Z"/></svg>
  a stale read: it saw an older value, although a newer one had been written (dotted, from the newer write). C++20 allows
  that unless happens-before forbids it; a correct algorithm must live with it.</li>
<li><svg width="46" height="10" class="conflict"><path class="l" d="M1 5H38"/><path class="h" d="M45 5L38 1V9Z"/></svg>
  no happens-before: the last access of another thread to what the failing step reads or writes.</li>
<li><span class="badge weak">weakened</span> the operation whose memory order the mutant changed.
  <span class="badge bad">failure</span> the step at which the failure was noticed; its cause is usually earlier.</li>
<li>Point at a step to see all it says at the foot of the window, with its arrows and every step on the same variable;
  click to keep it, Escape to let go, ↑ ↓ to walk.</li>
</ul></details>
)";

[[nodiscard]] std::string place_of(const step& s) {
  if (s.line == 0) return {};
  const std::string site = s.site.empty() ? "" : fmt::format(" <span class=\"site\">[{}]</span>", escaped(s.site));
  return fmt::format("<span class=\"place\">{}:{}</span>{}", escaped(base_name(s.file)), s.line, site);
}

[[nodiscard]] std::string effect(const step& s) {
  if (s.kind == "load" || s.kind == "read") return "→ " + s.value;
  if (s.kind == "store" || s.kind == "write") return "← " + s.value;
  if (s.kind == "rmw" || s.kind == "cas ok") return s.value + " ⇒ " + s.written;
  if (s.kind == "cas failed") return "saw " + s.value;
  if (s.kind == "allocate") return s.value + " bytes";
  if (s.kind == "lock" && s.value == "0") return "failed or waiting";
  return {};
}

// Relacy says "DATA RACE" about a data race.
[[nodiscard]] bool says_the_same(const std::string& message, const std::string& what) {
  return message.empty() || std::equal(message.begin(), message.end(), what.begin(), what.end(), [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
         });
}

// The order stands beside the operation already, and room is short.
[[nodiscard]] std::string abbreviated(std::string source) {
  constexpr std::string_view noise = "std::memory_order::";
  for (std::size_t at = source.find(noise); at != std::string::npos; at = source.find(noise, at)) {
    source.erase(at, noise.size());
  }
  return source;
}

/// One page in the making: the execution and what is derived from it.
class page {
 public:
  page(const json& search, const json& report)
      : search_(search),
        result_(object(search, "result")),
        report_(report),
        execution_(read_execution(search)),
        layout_(lay_out(execution_)) {
    colour_variables();
  }

  [[nodiscard]] std::string render() const {
    const std::string title = text(search_, "case") + " · " + label_of(search_);
    const std::string body =
        fmt::format("<nav><a href=\"index.html\">all results</a></nav>\n<h1>{}</h1>\n{}{}{}{}{}{}{}", escaped(title),
                    facts(), calls_section(result_), controls(), construction(), chart(), timeline_legend, as_text());
    return document(title, body, timeline_script);
  }

 private:
  [[nodiscard]] const step& at(int index) const { return execution_.steps[static_cast<std::size_t>(index)]; }

  // Colours go to the variables that matter; the others stay grey.
  void colour_variables() {
    constexpr int palette = 8;
    for (const step& s : execution_.steps) {
      if (s.minor || s.location == 0 || s.construction) continue;
      const int next = static_cast<int>(colours_.size()) % palette;
      colours_.try_emplace(s.location, next);
    }
  }
  [[nodiscard]] std::string colour(const step& s) const {
    const auto it = colours_.find(s.location);
    return it == colours_.end() ? "cx" : fmt::format("c{}", it->second);
  }

  // ----- above the timeline

  [[nodiscard]] static std::string fact(const char* name, const std::string& html) {
    return html.empty() ? "" : fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, html);
  }

  // The order as it is in the shipped header, where the ledger knows it.
  [[nodiscard]] std::string shipped_order() const {
    const std::string site = changed_site(search_);
    for (const json& row : list(report_, "ledger")) {
      if (!site.empty() && text(row, "site") == site) return text(row, "written");
    }
    return {};
  }

  [[nodiscard]] bool in_source() const { return label_of(search_) == "in the source"; }
  [[nodiscard]] std::string mutant_name() const {
    const std::string name = text(search_, "case");
    return in_source() ? name.substr(name.find('/') + 1) : label_of(search_);
  }

  [[nodiscard]] std::string change() const {
    if (!is_mutant(search_) || is_seeded_bug(search_)) return {};
    const std::string changed = text(search_, "changed");
    std::string html =
        fmt::format("<b>{}</b>", escaped(in_source() ? mutant_name() + " " + label_of(search_) : mutant_name()));
    if (!changed.empty()) html += fmt::format(" <code>{}</code>", escaped(changed));
    const std::string shipped = shipped_order();
    if (!shipped.empty()) html += fmt::format(", in the shipped header {}", escaped(shipped));
    return html;
  }

  [[nodiscard]] std::string failure() const {
    const std::string what = text(result_, "what");
    if (what.empty() || what == "none") return {};
    std::string html = fmt::format("<b class=\"bad-text\">{}</b>", escaped(what));
    if (const std::string message = text(result_, "message"); !says_the_same(message, what))
      html += ": " + escaped(message);
    if (const std::string where = text(result_, "where"); !where.empty())
      html += fmt::format(" at <code>{}</code>", escaped(where));
    return html;
  }

  [[nodiscard]] std::string found_by() const {
    const std::string search = text(search_, "search");
    const std::string by = text(result_, "by");
    std::string html = escaped(engine_of(search_));
    if (search != label_of(search_) || !is_mutant(search_)) html += ", " + escaped(search);
    if (!by.empty() && by != text(search_, "case")) html += ", by case " + escaped(by);
    html +=
        fmt::format(", {} {}", unit_of(search_), grouped(number(result_, is_litmus(search_) ? "shown" : "executions")));
    return html + other_engine();
  }

  // What the other engine says about a program that must fail.
  [[nodiscard]] std::string other_engine() const {
    const json& relacy = object(result_, "relacy");
    if (relacy.empty()) return {};
    if (text(relacy, "what") == "none") return "; Relacy does not notice it";
    return fmt::format("; Relacy: {} at execution {}", escaped(text(relacy, "what")),
                       grouped(number(relacy, "executions")));
  }

  // Killed mutants replay by name: their search stops at the first failure.
  [[nodiscard]] std::string replay() const {
    if (std::string command = text(search_, "command"); !command.empty()) return command;
    std::string given = text(search_, "replay");
    if (given.starts_with("./") || given.starts_with("cmake")) return given;
    std::string command = "./kit verify --case " + text(search_, "case");
    if (!given.empty()) command += " " + given;
    if (is_litmus(search_)) return command;  // which prints the execution that has the outcome
    if (!is_mutant(search_)) return fmt::format("{} --execution {}", command, number(result_, "executions"));
    if (!given.empty() || is_seeded_bug(search_)) return command;
    return command + " --mutant " + mutant_name();
  }

  [[nodiscard]] std::string facts() const {
    return "<dl class=\"facts\">\n" + fact("property", escaped(property_of(search_))) + fact("mutant", change()) +
           fact("weakened", escaped(text(search_, "weakened"))) + fact("failure", failure()) +
           fact("why", escaped(text(result_, "why"))) + fact("found by", found_by()) +
           fact("replay", fmt::format("<code class=\"command\">{}</code>", escaped(replay()))) + "</dl>\n";
  }

  [[nodiscard]] std::string variable(const step& s) const {
    if (s.location == 0) return {};
    const auto name = execution_.names.find(s.location);
    return fmt::format("<span class=\"var {}\">v{}{}</span>", colour(s), s.location,
                       name == execution_.names.end() ? "" : fmt::format(" <i>{}</i>", escaped(name->second)));
  }

  [[nodiscard]] std::string controls() const {
    std::string chips;
    std::vector<std::uint64_t> done;
    for (const step& s : execution_.steps) {
      if (!colours_.contains(s.location) || std::find(done.begin(), done.end(), s.location) != done.end()) continue;
      done.push_back(s.location);
      chips += fmt::format(R"(<button type="button" data-v="{}">{}</button>)", s.location, variable(s));
    }
    return fmt::format(
        "<input type=\"checkbox\" id=\"dim\" checked><label for=\"dim\">dim steps of no part in this</label>\n"
        "<input type=\"checkbox\" id=\"own\" checked><label for=\"own\">arrows within a thread</label>\n"
        "<div class=\"chips\">{}</div>\n",
        chips);
  }

  [[nodiscard]] std::string construction() const {
    std::string rows;
    int count = 0;
    for (const step& s : execution_.steps) {
      if (!s.construction) continue;
      ++count;
      rows += fmt::format(
          "<div class=\"ev built\" id=\"e{0}\" data-v=\"{1}\" data-i=\"{0}\"><span class=\"n\">{2}</span>"
          "<b>{3}</b> {4} <span class=\"val\">{5}</span> {6} <code>{7}</code></div>\n",
          s.index, s.location, s.index + 1, escaped(s.kind), variable(s), escaped(effect(s)), place_of(s),
          escaped(s.source));
    }
    if (count == 0) return {};
    return fmt::format(
        "<details class=\"built\"><summary>construction, before the threads start: {} {}</summary>\n{}</details>\n",
        count, count == 1 ? "step" : "steps", rows);
  }

  // ----- the timeline

  [[nodiscard]] std::string link(int index) const {
    const step& s = at(index);
    return fmt::format("<a href=\"#e{}\">step {}</a> ({}{}{})", index, index + 1, thread_name(s.thread),
                       s.line == 0 ? "" : ", ", place_of(s));
  }

  [[nodiscard]] std::string source_of_value(const step& s) const {
    if (!s.reads()) return {};
    if (s.reads_from == nothing) return "No earlier step wrote this value: it is the initial one.";
    return fmt::format("Reads what {} wrote{}{}.", link(s.reads_from),
                       s.reads_from > s.index ? ", later in this order: the read was delayed (load buffering)" : "",
                       s.inferred ? " (the last write of that value)" : "");
  }

  /// All there is to say about a step; shown at the foot of the window while one points at it.
  [[nodiscard]] std::string more(const step& s) const {
    std::string html = fmt::format("<p><b>step {} · {} · {}</b> {} <span class=\"val\">{}</span> {} {}</p>",
                                   s.index + 1, thread_name(s.thread), escaped(s.kind), variable(s), escaped(effect(s)),
                                   escaped(s.order), place_of(s));
    if (!s.source.empty()) html += fmt::format("<pre>{}</pre>", escaped(s.source));
    std::string notes = source_of_value(s);
    if (s.stale) {
      notes += fmt::format(" <span class=\"bad-text\">Stale: ignored the newer value {}{}.</span>", escaped(s.newest),
                           s.ignored == nothing ? "" : " of " + link(s.ignored));
    }
    if (s.conflict != nothing) notes += fmt::format(" Nothing orders it after {}.", link(s.conflict));
    return html + (notes.empty() ? "" : "<p>" + notes + "</p>");
  }

  [[nodiscard]] std::string badges(const step& s) const {
    std::string html;
    if (s.reads() && !s.minor && s.conflict == nothing && (s.reads_from == nothing || at(s.reads_from).construction))
      html += "<span class=\"from\">initial</span>";
    if (s.reads_from > s.index) html += "<span class=\"badge bad\">from a later step</span>";
    if (s.stale) html += fmt::format("<span class=\"badge bad\">stale, ignored a newer {}</span>", escaped(s.newest));
    if (s.weakened) html += "<span class=\"badge weak\">weakened</span>";
    if (s.failing) html += "<span class=\"badge bad\">failure</span>";
    if (s.stuck) html += "<span class=\"badge bad\">last step</span>";
    return html;
  }

  [[nodiscard]] static std::string classes(const step& s) {
    std::string names = s.minor ? "ev minor" : "ev";
    if (s.stale) names += " stale";
    if (s.weakened) names += " weakened";
    if (s.failing || s.stuck) names += " failing";
    return names;
  }

  // A minor step has one line, which must hold its place too.
  [[nodiscard]] std::string face(const step& s) const {
    const std::string order =
        s.order.empty() ? "" : fmt::format("<span class=\"ord {0}\">{0}</span>", escaped(s.order));
    const std::string first =
        fmt::format(R"(<span class="n">{}</span><b>{}</b>{}<span class="val">{}</span>{}{})", s.index + 1,
                    escaped(s.kind), variable(s), escaped(effect(s)), order, badges(s));
    const std::string second = fmt::format("{} <code>{}</code>", place_of(s), escaped(abbreviated(s.source)));
    if (s.minor) return fmt::format(R"(<div class="l1">{} <span class="l2">{}</span></div>)", first, second);
    return fmt::format(R"(<div class="l1">{}</div><div class="l2">{}</div>)", first, second);
  }

  [[nodiscard]] std::string render(const step& s) const {
    const box& b = layout_.boxes[static_cast<std::size_t>(s.index)];
    return fmt::format(
        "<div class=\"{}\" id=\"e{}\" tabindex=\"0\" data-i=\"{}\" data-v=\"{}\" "
        "style=\"left:{}px;top:{}px;width:{}px;height:{}px\"><div class=\"face\">{}</div><div "
        "class=\"more\">{}</div></div>\n",
        classes(s), s.index, s.index, s.location, b.left, b.top, b.width, b.height, face(s), more(s));
  }

  [[nodiscard]] std::string render(const arrow& a) const {
    const step& to = at(a.to);
    std::string names = "rf";
    if (a.kind == arrow_kind::ignored) names = "ignored";
    if (a.kind == arrow_kind::conflict) names = "conflict";
    if (a.kind == arrow_kind::reads_from && to.stale) names += " stale";
    // The read that fails in a race is its own conflict: one red arrow, not two on top of each other.
    if (a.kind == arrow_kind::reads_from && to.conflict == a.from) names += " conflict";
    if (a.own) names += " own";
    if (to.minor) names += " faint";
    return fmt::format(
        "<g class=\"{} {}\" data-from=\"{}\" data-to=\"{}\"><path class=\"l\" d=\"{}\"/><path class=\"h\" "
        "d=\"{}\"/></g>\n",
        names, colour(to), a.from, a.to, a.line, a.head);
  }

  [[nodiscard]] std::string heads() const {
    std::string html;
    for (std::size_t i = 0; i != layout_.columns.size(); ++i) {
      const box& c = layout_.columns[i];
      html += fmt::format("<div style=\"left:{}px;width:{}px\">{}</div>", c.left, c.width,
                          thread_name(execution_.columns[i]));
    }
    return fmt::format("<div class=\"heads\" style=\"width:{}px\">{}</div>\n", layout_.width, html);
  }

  [[nodiscard]] std::string chart() const {
    std::string lanes;
    for (const box& c : layout_.columns)
      lanes += fmt::format(R"(<div class="lane" style="left:{}px;width:{}px"></div>)", c.left, c.width);
    std::string arrows;
    for (const arrow& a : layout_.arrows) arrows += render(a);
    std::string boxes;
    for (const step& s : execution_.steps) {
      if (!s.construction) boxes += render(s);
    }
    return fmt::format(
        "<section class=\"chart\">\n{}<div class=\"time\" style=\"width:{}px;height:{}px\">{}\n"
        "<svg width=\"{}\" height=\"{}\" aria-hidden=\"true\">\n{}</svg>\n{}</div>\n{}</section>\n",
        heads(), layout_.width, layout_.height, lanes, layout_.width, layout_.height, arrows, boxes, end());
  }

  [[nodiscard]] std::string end() const {
    const std::string what = failure();
    return what.empty() ? "" : fmt::format("<div class=\"end\" style=\"width:{}px\">{}</div>\n", layout_.width, what);
  }

  [[nodiscard]] std::string as_text() const {
    std::string lines;
    for (const json& line : list(result_, "counterexample")) {
      if (line.is_string()) lines += escaped(line.get<std::string>()) + "\n";
    }
    return lines.empty() ? "" : fmt::format("<details><summary>as text</summary><pre>{}</pre></details>\n", lines);
  }

  const json& search_;
  const json& result_;
  const json& report_;
  const execution execution_;
  const layout layout_;
  std::map<std::uint64_t, int> colours_;
};

}  // namespace

std::string timeline_page(const json& search, const json& report) { return page(search, report).render(); }

}  // namespace runq::model::html
