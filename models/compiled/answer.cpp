// SPDX-License-Identifier: MIT
#include "answer.hpp"

#include <cerrno>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "counterexample.hpp"
#include "json.hpp"
#include "outside.hpp"
#include "result_json.hpp"
#include "runtime.hpp"
#include "size_words.hpp"

namespace runq::model::compiled {

std::string name_of(failure what) {
  return what == failure::none ? std::string() : nlohmann::json(what).get<std::string>();
}

namespace {

/// How many executions there would be without --symmetry on, if these are more.
[[nodiscard]] std::string up_to_symmetry(const search_result& r) {
  const auto explored = static_cast<double>(r.executions);
  if (!r.up_to_symmetry || r.how == coverage::sampled || r.arranged <= explored) return {};
  return fmt::format(", up to symmetry: {} of {:.0f}", r.executions, r.arranged);
}

[[nodiscard]] std::string counted(const search_result& r) {
  const std::string blocked = r.blocked == 0 ? "" : fmt::format(", +{} blocked", r.blocked);
  return fmt::format("{} execution{} explored{}{}, {:.2f} s", r.executions, r.executions == 1 ? "" : "s",
                     up_to_symmetry(r), blocked, r.seconds);
}

[[nodiscard]] std::string describe(const search_result& r, session& s, source_index& sources) {
  std::string text;
  for (const std::string& line : render_counterexample(r, sources)) text += line + "\n";
  if (!s.output().empty()) text += "output of this execution:\n" + s.output();
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

/// ", with queue.cpp:42/load weakened to relaxed"
[[nodiscard]] std::string changed(const order_change& weakened) {
  return weakened.line == 0 ? "" : fmt::format(", with {} weakened to {}", place_of(weakened), to_string(weakened.to));
}

/// How many executions there are, as far as random walks tell.
[[nodiscard]] std::string about(const search_result& r) {
  constexpr double largest = 1e15;
  if (!(r.estimated < largest)) return "more than 10^15";
  if (r.walks == 1) return fmt::format("about {}", roughly(r.estimated));
  return fmt::format("about {} (standard error {})", roughly(r.estimated), roughly(r.standard_error));
}

/// The word of the verdict, and what it covers. `left_out_more`: besides load buffering and what the word itself says.
[[nodiscard]] std::string found_nothing(const search_result& r, const run_options& options, bool left_out_more) {
  const std::string with = changed(options.weakened);
  const unsigned bound = options.search.bound;
  if (r.how == coverage::sampled) {
    return fmt::format("sampled{}: no failure in {} random walk{} through {} executions", with, r.walks,
                       r.walks == 1 ? "" : "s", about(r));
  }
  if (r.how != coverage::bounded) {
    return fmt::format("{}{}: no execution that C++20 allows fails", left_out_more ? "bounded" : "exhaustive", with);
  }
  if (r.cut_off == 0) {
    return fmt::format("bounded {}{}: no execution that C++20 allows fails, and none is beyond the bound", bound, with);
  }
  return fmt::format("bounded {}{}: no execution with so many deviations fails", bound, with);
}

/// What C++20 allows and the search did not explore, apart from load buffering.
[[nodiscard]] std::string also_left_out(session& s) {
  const left_out& omitted = s.omitted();
  const bounds& limits = s.limits();
  std::string also;
  if (omitted.spurious_failures) {
    also += limits.spurious_of_thread != 0
                ? std::string(", more than one spurious failure of a weak compare-exchange in a thread (--spurious N)")
            : limits.spurious_failures == 0
                ? std::string(", spurious failures of weak compare-exchanges (--spurious N)")
                : fmt::format(", more than {} spurious failures in an execution", limits.spurious_failures);
  }
  if (omitted.unknown_weakness) also += ", failures of compare-exchanges that this compiler does not tell to be weak";
  if (omitted.local_members) {
    also += ", plain accesses of a function to members of its own variables, which clang does not show";
  }
  if (omitted.spurious_wakeups) {
    also += limits.wakes_at_once_only
                ? std::string(", spurious wake-ups but for one of a thread when its wait begins (--spurious-wakeups N)")
            : limits.spurious_wakeups == 0
                ? std::string(", spurious wake-ups (--spurious-wakeups N)")
                : fmt::format(", more than {} spurious wake-up{} of a thread", limits.spurious_wakeups,
                              limits.spurious_wakeups == 1 ? "" : "s");
  }
  if (omitted.unordered_reuse && limits.reused != 0) also += ", blocks that another thread frees at the same time";
  if (omitted.reuse) {
    also += limits.reused == 0 ? std::string(", memory that is allocated again after it was freed (--reuse N)")
                               : fmt::format(", more than {} block{} that a thread allocates again", limits.reused,
                                             limits.reused == 1 ? "" : "s");
  }
  if (omitted.values) {
    also += fmt::format(", values of __VERIFIER_nondet_…() beyond {} (--nondet LO..HI)", to_text(limits.any_value));
  }
  if (omitted.tries) {
    also += limits.spurious_failures == 0 ? std::string(", a try_lock() that fails for no reason (--spurious N)")
                                          : fmt::format(", more than {} try_lock() of a thread that fail for no reason",
                                                        limits.spurious_failures);
  }
  if (omitted.consume) also += ", what consume orders less than acquire does";
  if (omitted.repeated_stores) also += ", writes between the rounds of a loop that stores the same again in each";
  if (omitted.undone_changes) also += ", further rounds of a loop that undoes in each what it changes";
  if (omitted.clocks) also += ", clocks that go on by less than a day";
  if (omitted.timeouts) also += fmt::format(", more than {} timeouts of a thread (--timeouts N)", limits.timeouts);
  if (omitted.rounds) {
    also += fmt::format(
        ", what follows a loop that waits and counts unless it ends within {} rounds or by its count within {} reads "
        "(--rounds N)",
        limits.rounds, bounds::most_rounds);
  }
  if (omitted.mixed_sizes) {
    also += fmt::format(
        ", threads that see the parts of an atomic variable change in different orders (accessed in different sizes at "
        "{})",
        fmt::join(s.atomics().words().places(), ", "));
  }
  if (omitted.lock_memory) {
    also += fmt::format(", what atomic operations on the memory of a lock tell of its state, and change of it (at {})",
                        fmt::join(s.atomics().words().lock_places(), ", "));
  }
  if (const auto lines = s.read_while_waiting().lines(); !lines.empty()) {
    also += fmt::format(
        ", races between what a loop accesses in vain and accesses that follow it, but do not happen after it "
        "(at {}; --keep-rounds late)",
        fmt::join(lines, ", "));
  }
  if (omitted.lock_rounds && omitted.failed_tries) {
    also += ", failures of try_lock because of a thread that repeats a round in which it takes locks and returns them";
  }
  if (!all_unseen_code(s).empty()) also += ", code that is not seen (named below)";
  return also;
}

[[nodiscard]] nlohmann::json not_seen_json(session& s) {
  nlohmann::json list = nlohmann::json::array();
  for (const unseen_code& u : all_unseen_code(s)) list.push_back({{"what", u.what}, {"times", u.times}});
  return list;
}

/// What the word of the verdict leaves out.
[[nodiscard]] std::string left_out_by_word(const search_result& r, unsigned bound) {
  if (r.how == coverage::sampled) return ", what no walk has met";
  if (r.how != coverage::bounded || r.cut_off == 0) return "";
  return fmt::format(", more than {} deviation{} (--bound N)", bound, bound == 1 ? "" : "s");
}

/// No search explores all load buffering, which C++20 allows and RC11 forbids.
[[nodiscard]] std::string passed(const search_result& r, session& s, const run_options& options) {
  const std::string also = also_left_out(s);
  return fmt::format("{}; left out: load buffering{}{}{} ({})", found_nothing(r, options, !also.empty()),
                     options.search.load_buffering ? ", but for what --load-buffering tries" : "",
                     left_out_by_word(r, options.search.bound), also, counted(r));
}

/// Whether there is nothing to judge, only one execution to show, which the user asked for.
[[nodiscard]] bool is_only_shown(const search_result& r, const run_options& options) {
  return r.how == coverage::cut_short && (options.search.show_execution != 0 || options.has_path) && !r.trace.empty();
}

/// Whether executions have numbers of their own; if not, their paths identify them.
[[nodiscard]] bool are_counted(session& s, const run_options& options) {
  return options.search.walks == 0 && s.options().source == nullptr && !options.has_path;
}

[[nodiscard]] bool wants_result(const run_options& options) {
  return !(options.json_file.empty() && options.html_dir.empty() && options.sarif_file.empty() &&
           options.junit_file.empty());
}

/// The engine's message about a limit, in the words of who has chosen it: the command's options, or the members of
/// runq::check_options.
[[nodiscard]] std::string limit_in_words(std::string message, bool by_command) {
  const auto replace = [&message](std::string_view from, std::string_view to) {
    if (const auto at = message.find(from); at != std::string::npos) message.replace(at, from.size(), to);
  };
  replace("the scenario", "the program");
  replace("max_sequential = ", "");
  replace(" seq_cst events", " concurrent seq_cst operations");
  replace("max_events_per_thread = ", by_command ? "--max-events " : "max_events = ");
  if (by_command) {
    replace("max_executions = ", "--max-executions ");
    replace("time_limit_seconds", "--time-limit");
  } else {
    replace("raise --max-events", "raise max_events");
  }
  return message;
}

/// How far a search has come that has used up its time, or its executions.
[[nodiscard]] std::string so_far(const search_result& r, session& s) {
  const bool is_budget = r.message.starts_with("limit reached: time_limit_seconds") ||
                         r.message.starts_with("limit reached: max_executions");
  if (r.how != coverage::cut_short || !is_budget) return {};
  const double percent = 100 * s.weight_done();
  return fmt::format("so far no execution fails{}\n",
                     percent > 0 ? fmt::format(": about {:.2g} % of the search", percent) : "");
}

/// As compilers print errors: where it fails, and the step that it is not ordered with.
[[nodiscard]] std::string for_editors(const search_result& r, source_index& sources) {
  const auto line = [&](const site& where, std::string_view kind, std::string_view text) {
    return where.line == 0
               ? ""
               : fmt::format("{}:{}:{}: {}: {}\n", where.file, where.line, sources.column_of(where), kind, text);
  };
  std::string text = line(r.where, "error", fmt::format("{}: {}", name_of(r.what), r.message));
  if (r.partner != no_event) text += line(r.trace[r.partner].where, "note", "the other one is here");
  return text;
}

/// With --all-failures the search takes other ways, and an execution may fail several times.
[[nodiscard]] std::string path_option(const search_result& r, session& s, const run_options& options) {
  std::string text = options.search.all_failures ? "--all-failures 1 " : "";
  if (r.began_again) text += "--waits-in-place off --skip-retries off ";
  if (r.keeps_rounds) text += "--keep-rounds on ";
  if (r.up_to_symmetry) text += "--symmetry on ";
  if (r.explores_undone_rounds && options.search.skips_undone_rounds && !r.began_again)
    text += "--skip-retries reading ";
  if (r.orders_barriers && !options.search.all_failures && !options.search.load_buffering) {
    text += "--barriers-in-order ";
  }
  text += "--path " + path_text(s.last_way());
  if (options.search.shown_failure != 0) text += fmt::format("/{}", options.search.shown_failure);
  return text;
}

}  // namespace

std::string not_seen(session& s) {
  std::string lines;
  for (const unseen_code& u : all_unseen_code(s)) {
    lines += fmt::format("not seen: {}", u.what);
    const char* const how = u.what.starts_with("inline assembly") ? "executed" : "called";
    if (u.times != 0) lines += fmt::format(": {} {} time{}", how, u.times, u.times == 1 ? "" : "s");
    lines += '\n';
  }
  return lines;
}

std::string not_met(const session& s) {
  std::string lines;
  for (const code_line& l : s.relaxed().not_met()) {
    lines += fmt::format("note: no plain access was executed at {} while another thread ran\n", to_text(l));
  }
  return lines;
}

void write_all(int to, const void* from, std::size_t size) noexcept {
  const auto* at = static_cast<const std::byte*>(from);
  while (size != 0) {
    const ssize_t written = write(to, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    at += written;
    size -= static_cast<std::size_t>(written);
  }
}

answer judge_briefly(const search_result& r, session& s, const run_options& options) {
  const order_change& weakened = options.weakened;
  const std::set<std::string>& weakened_in = s.code().orders().weakened_in();
  const auto say = [](int status, std::string headline) { return answer{status, std::move(headline), {}, {}, {}}; };
  if (weakened_in.size() > 1) {
    return say(2, fmt::format("no verdict: {} is the name of several files: {}; give more of the path", weakened.file,
                              fmt::join(weakened_in, ", ")));
  }
  if (r.what != failure::none) {
    const std::string number = are_counted(s, options) ? fmt::format(" in execution {}", r.executions) : "";
    return say(1, fmt::format("FAIL{}{}: {}: {}", number, changed(weakened), name_of(r.what), r.message));
  }
  if (weakened.line != 0 && !s.code().orders().was_weakened()) {
    return say(2, fmt::format("no verdict: no operation at {} was executed whose order is stronger than {}",
                              place_of(weakened), to_string(weakened.to)));
  }
  const bool is_shown = is_only_shown(r, options);
  if (const std::string size = size_not_asked_for(); !size.empty() && (is_shown || r.how != coverage::cut_short)) {
    return say(2, fmt::format("no verdict: --size: the program asks for no {} (<runq/grow.hpp>)", size));
  }
  if (is_shown) {
    return say(0, options.has_path ? fmt::format("the execution at {}, which does not fail:", path_text(options.path))
                                   : fmt::format("execution {}, which does not fail:", r.executions));
  }
  if (r.how == coverage::cut_short) {
    const bool by_command = s.memory().beginning().is_of_whole_program();
    return say(2, fmt::format("no verdict: {} ({})", limit_in_words(r.message, by_command), counted(r)));
  }
  if (r.executions == 0) {
    // Without what is left out, nobody could tell a program that waits for ever from one whose loop is too long.
    const std::string also = also_left_out(s);
    return say(2, fmt::format("no verdict: all of {} executions wait for ever, or see old values for ever{}{}",
                              r.blocked, also.empty() ? "" : "; left out: ", also.empty() ? "" : also.substr(2)));
  }
  return say(0, passed(r, s, options));
}

answer judge(const search_result& r, session& s, const run_options& options) {
  source_index sources;
  answer a = judge_briefly(r, s, options);
  a.text = a.headline + "\n";
  if (r.what != failure::none || is_only_shown(r, options)) a.text += describe(r, s, sources);
  if (r.what != failure::none) {
    a.text += fmt::format("T0 is the thread that {}.{}\n",
                          s.memory().beginning().is_of_whole_program() ? "runs main()" : "calls check()",
                          are_counted(s, options) ? "" : " To see this execution again: " + path_option(r, s, options));
    if (options.for_editors) a.text += for_editors(r, sources);
  } else if (s.statistics().duplicates != 0) {
    a.text += fmt::format("{} executions were met before\n", s.statistics().duplicates);
  }
  if (r.began_again) {
    a.text +=
        "note: a thread waits for a variable that is freed, or written otherwise than atomically, beside that, or what "
        "it reads in a round that fails may be: all was explored again, as with --waits-in-place off --skip-retries "
        "off\n";
  }
  if (r.keeps_rounds && !options.search.keeps_rounds) {
    a.text +=
        "note: an access follows a loop, but does not happen after it, and may race with a round in vain that was "
        "left out: all was explored again, as with --keep-rounds on\n";
  }
  if (r.told_apart) {
    a.text +=
        fmt::format("note: threads that begin alike are told apart{}{}: all was explored, as with --symmetry off\n",
                    r.told_apart_by.empty() ? "" : ": ", r.told_apart_by);
  }
  if (options.without_assertions) a.text += "note: NDEBUG leaves out the assertions of the program\n";
  a.text += so_far(r, s);
  if (s.options().source == nullptr) a.text += not_met(s);  // else others may have met it
  a.text += not_seen(s);
  if (wants_result(options)) {
    a.result = std::make_shared<nlohmann::json>(result_json(r, sources));
    (*a.result)["waits_in_place"] = options.search.waits_in_place && !r.began_again;
    if (nlohmann::json list = not_seen_json(s); !list.empty()) (*a.result)["not_seen"] = std::move(list);
  }
  return a;
}

}  // namespace runq::model::compiled
