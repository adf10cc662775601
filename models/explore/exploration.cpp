// SPDX-License-Identifier: MIT
#include "exploration.hpp"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <map>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <sys/wait.h>

#include "fibers.hpp"
#include "json.hpp"
#include "modules.hpp"
#include "smaller.hpp"
#include "tests.hpp"

namespace runq::model::explore {

namespace {

[[nodiscard]] std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<std::size_t>(at), ",");
  }
  return text;
}

[[nodiscard]] std::string name_of(failure what) { return nlohmann::json(what).get<std::string>(); }

class exploration {
 public:
  exploration(const exploration_options& options, const program& p) : options_(options), program_(p) {}

  [[nodiscard]] explored explore() {
    begin_ = seconds_now();
    slots_.resize(options_.jobs);
    for (run_slot& s : slots_) s = make_slot();
    if (!measure_steps()) run_all();
    seconds_ = seconds_now() - begin_;
    if (!failed_.empty()) {
      tell_first_failure();
    } else if (!refused_.empty()) {
      tell_refused();
    } else if (!skipped_.empty()) {
      tell_skipped();
    } else {
      tell_nothing_found();
    }
    for (const run_slot& s : slots_) give_back(s);
    return std::move(answer_);
  }

 private:
  /// A run that tells how many steps the others are to expect, and which memory they need; it depends on nothing but
  /// the program.
  [[nodiscard]] bool measure_steps() {
    run_slot& slot = slots_.front();
    run_request measuring;
    measuring.seed = 0;
    measuring.measures = true;
    start_run(slot, measuring, options_, program_);
    int status = 0;
    waitpid(slot.process, &status, 0);
    finish(slot, status);
    expected_ = slot.report->done;
    used_ = slot.report->used;
    prepare(used_);
    if (!options_.only.empty()) skipped_ = reason_of_skip(output_of(slot));
    return !failed_.empty() || !refused_.empty() || !skipped_.empty();
  }

  /// Once, what each run would have to do.
  static void prepare(const working_set& used) {
    for (std::uint32_t i = 0; i != used.threads; ++i) prepare_place(i);
    for (std::uint32_t i = 0; i != used.region_count; ++i) prepare_region(used.regions[i]);
  }

  void run_all() {
    for (run_slot& slot : slots_) slot.process = 0;
    start_runs();
    while (std::any_of(slots_.begin(), slots_.end(), [](const run_slot& s) { return s.process != 0; })) {
      int status = 0;
      const pid_t ended = waitpid(-1, &status, 0);
      const auto slot =
          std::find_if(slots_.begin(), slots_.end(), [&](const run_slot& s) { return s.process == ended; });
      if (slot == slots_.end()) continue;
      slot->process = 0;
      finish(*slot, status);
      if (notes_pairs()) pool_.note(slot->seed - options_.seed, slot->before, slot->seed, pairs_of(*slot));
      start_runs();
    }
  }

  void start_runs() {
    for (run_slot& slot : slots_) {
      if (slot.process != 0) continue;
      const bool is_over = !refused_.empty() || !failed_.empty() || started_ == options_.runs ||
                           (options_.time_limit != 0 && seconds_now() - begin_ > options_.time_limit);
      if (is_over || (notes_pairs() && !pool_.learn_for(started_))) return;
      run_request next = request(options_.seed + started_++);
      next.notes_pairs = notes_pairs();
      if (options_.feedback == feedback_mode::on) begin_as_another(next);
      start_run(slot, next, options_, program_);
    }
  }

  void begin_as_another(run_request& next) {
    leads before = pool_.pool().choose(next.seed);
    if (before.empty()) return;
    next.before = std::move(before);
    ++began_as_others_;
  }

  [[nodiscard]] bool notes_pairs() const { return options_.feedback != feedback_mode::off; }
  [[nodiscard]] static std::span<const seen_pair> pairs_of(const run_slot& slot) {
    return {slot.report->pairs.list, slot.report->pairs.count};
  }

  [[nodiscard]] run_request request(std::uint64_t seed) const {
    run_request r;
    r.seed = seed;
    r.before = options_.before;
    if (seed != 0) r.expected = expected_;
    r.uses = &used_;
    return r;
  }

  void finish(const run_slot& slot, int status) {
    const run_outcome o = outcome_of(slot, status);
    const run_counts& done = slot.report->done;
    ++runs_;
    total_.steps += done.steps;
    total_.switches += done.switches;
    total_.old_values += done.old_values;
    total_.inserted += done.inserted;
    total_.threads = std::max(total_.threads, done.threads);
    if (o.how == run_end::refused) refused_ = o.text;
    if (o.how == run_end::passed || !options_.judges) ++statuses_[o.status];
    if (o.how == run_end::failed && (options_.judges || o.status == 0)) {
      failed_[slot.seed] = {o, slot.before};
    }
  }

  /// The same run, which leaves what chance decides.
  [[nodiscard]] run_outcome repeat(run_request r) {
    r.records = &recorded();
    return run_once(slots_.front(), r, options_, program_);
  }
  [[nodiscard]] static recording& recorded() {
    static auto* const all = static_cast<recording*>(shared_memory(sizeof(recording)));
    return *all;
  }

  void tell_first_failure() {
    // Of several at the same time the one with the least seed, so that the answer does not depend on the pace.
    const auto& [number, failing] = *failed_.begin();
    const run_outcome& first = failing.outcome;
    run_request shown = request(number);
    shown.before = failing.before;
    const run_request found = shown;
    const std::string seed = text_of(found.before, number);
    const run_outcome again = repeat(shown);
    const bool is_repeated = is_same_failure(again, first);
    small_run small;
    if (is_repeated && options_.makes_smaller) {
      small = make_smaller(slots_.front(), shown, options_, program_, recorded(), first);
    }
    const bool is_smaller = !small.words.empty();
    if (is_smaller) {
      shown.follows = &small.needed;
      shown.watched = run_once(slots_.front(), shown, options_, program_).address;
    } else {
      shown.watched = first.address;
    }
    shown.tells = true;
    const run_outcome told = run_once(slots_.front(), shown, options_, program_);
    const bool is_told = is_repeated && is_same_failure(told, first);
    const run_slot& slot = slots_.front();
    const std::string message = is_told ? told.text : first.text;
    const std::uint64_t steps = slot.report->done.steps;
    std::string text = fmt::format("FAIL {}: {}", name_of(first.what), message);
    const std::string headline = text.substr(0, text.find('\n'));
    const std::string tiny = options_.tiny.empty() ? "" : write_tiny_program(seed, headline, is_told);
    answer_.wrote_tiny = tiny.starts_with("tiny program: ");
    if (text.back() != '\n') text += '\n';
    if (const std::string output = output_of(slot); !output.empty()) text += "output of this run:\n" + output;
    nlohmann::json execution = {{"what", name_of(first.what)}, {"message", message}};
    if (const nlohmann::json json = nlohmann::json::parse(slot.report->json, nullptr, false); json.is_object())
      execution = json;
    std::string memory;
    if (!is_told) {
      text +=
          "not repeated: a second run with the same seed did something else; the program depends on something that "
          "is not pinned\n";
    } else {
      if (is_smaller) text += small.words + "\n";
      if (options_.weak_memory) memory = is_memory_needed(found, first, is_smaller ? &small : nullptr, text);
    }
    text += tiny;
    text += fmt::format("seed {}, {} of {} runs made, {:.2f} s; the run that is shown has {} steps\n", seed,
                        with_commas(runs_), with_commas(options_.runs + 1), seconds_, with_commas(steps));
    const std::string command = fmt::format("{} --seed {} --runs 1{}", options_.repeat, seed, options_.arguments);
    text += fmt::format("repeat: {}\n", command);
    answer(1, headline, text, execution, command,
           {{"verdict", "failed"},
            {"failure", name_of(first.what)},
            {"message", message},
            {"seed", number},
            {"seeds", seed},
            {"repeated", is_told},
            {"smaller", small.words},
            {"changes", is_smaller ? nlohmann::json(small.needed.size()) : nlohmann::json()},
            {"steps_shown", steps},
            {"weak_memory", memory},
            {"execution", execution.contains("trace") ? execution : nlohmann::json()}});
  }

  /// As a program for the exact checker, if it fits. Returns a line that says so.
  [[nodiscard]] std::string write_tiny_program(const std::string& seed, const std::string& headline,
                                               bool is_told) const {
    const run_report& told = *slots_.front().report;
    if (!is_told || told.tiny[0] == '\0') return "no tiny program: the steps of the run are not known\n";
    if (!told.is_tiny) return fmt::format("no tiny program: {}\n", told.tiny);
    std::ofstream file(options_.tiny);
    file << fmt::format("// What {} does with seed {}, as a program for the exact checker. There it fails so:\n// {}\n",
                        options_.title, seed, headline)
         << told.tiny;
    file.close();
    if (!file) return fmt::format("no tiny program: cannot write {}\n", options_.tiny);
    return fmt::format("tiny program: {}, for the exact checker\n", options_.tiny);
  }

  /// "needed", "not needed", or "other": without old values another failure. Adds a line that says so.
  [[nodiscard]] std::string is_memory_needed(run_request strong, const run_outcome& first, const small_run* small,
                                             std::string& text) {
    if (small != nullptr && !small->needs_weak_memory) {
      text += "weak memory: not needed; the run that is shown has no old values\n";
      return "not needed";
    }
    strong.weak_memory = false;
    const run_outcome o = run_once(slots_.front(), strong, options_, program_);
    if (o.how == run_end::passed) {
      text += "weak memory: needed; with the same seed and without old values no failure\n";
      return "needed";
    }
    if (o.what == first.what) {
      text += "weak memory: not needed; the same seed fails without old values, too\n";
      return "not needed";
    }
    text +=
        fmt::format("weak memory: with the same seed and without old values another failure: {}\n", name_of(o.what));
    return "other";
  }

  void tell_refused() {
    answer(2, refused_, "runq-explore: " + refused_ + "\n", {}, options_.repeat + options_.arguments,
           {{"verdict", "none"}, {"message", refused_}});
  }

  void tell_skipped() {
    const std::string headline = "not explored: the test skips itself: " + skipped_;
    answer(0, headline, headline + "\n", {{"executions", runs_}, {"seconds", seconds_}},
           options_.repeat + options_.arguments, {{"verdict", "skipped"}, {"message", skipped_}});
  }

  void tell_nothing_found() {
    const std::string headline =
        fmt::format("explored: {} runs, and none fails ({:.2f} s)", with_commas(runs_), seconds_);
    std::string text = headline + "\n";
    text += fmt::format(
        "  in a run, on average: {} steps, {} switches of threads, {} reads of old values, {} stores before others in "
        "modification order; up to {} threads\n",
        with_commas(total_.steps / runs_), with_commas(total_.switches / runs_), with_commas(total_.old_values / runs_),
        with_commas(total_.inserted / runs_), total_.threads);
    text +=
        fmt::format("  seeds 0 and {} to {}, strategy {}; not explored: all other schedules and reads\n",
                    text_of(options_.before, options_.seed), options_.seed + runs_ - 2, explore::name_of(options_.how));
    if (notes_pairs()) text += tell_feedback();
    if (const std::string names = not_instrumented(); !names.empty()) {
      text += fmt::format("  not instrumented, so that what they read and write is not seen: {}\n", names);
    }
    if (!options_.judges) {
      for (const auto& [status, times] : statuses_) text += fmt::format("status {}: {}\n", status, times);
    }
    answer(0, headline, text, {{"executions", runs_}, {"seconds", seconds_}}, options_.repeat + options_.arguments,
           {{"verdict", "explored"}});
  }

  [[nodiscard]] std::string tell_feedback() {
    pool_.learn_all();
    return fmt::format("  feedback: {} pairs of places in the code seen; {} runs began as earlier ones\n",
                       pool_.pool().pairs(), with_commas(began_as_others_));
  }

  void answer(int status, const std::string& headline, const std::string& text, nlohmann::json result,
              const std::string& command, nlohmann::json as_json) {
    answer_.result = {options_.title, status, headline, text, std::move(result), "explored", "explorer", command};
    as_json["runs"] = runs_;
    as_json["steps"] = total_.steps;
    as_json["switches"] = total_.switches;
    as_json["old_values"] = total_.old_values;
    as_json["inserted"] = total_.inserted;
    as_json["threads"] = total_.threads;
    as_json["seconds"] = seconds_;
    if (notes_pairs()) as_json["pairs"] = pool_.pool().pairs();
    as_json["strategy"] = explore::name_of(options_.how);
    nlohmann::json statuses;
    for (const auto& [number, times] : statuses_) statuses[std::to_string(number)] = times;
    as_json["statuses"] = statuses;
    answer_.as_json = std::move(as_json);
  }

  struct failing_run {
    run_outcome outcome;
    leads before;
  };

  explored answer_;
  exploration_options options_;
  program program_;
  std::vector<run_slot> slots_;
  double begin_ = 0;
  double seconds_ = 0;
  run_counts expected_;  ///< what the first run has done
  working_set used_{};
  std::uint64_t runs_ = 0;
  run_counts total_;
  std::map<int, std::uint64_t> statuses_;
  std::map<std::uint64_t, failing_run> failed_;
  std::uint64_t started_ = 0;
  std::uint64_t began_as_others_ = 0;
  ordered_pool pool_;
  std::string refused_;
  std::string skipped_;  ///< why a test has skipped itself
};

}  // namespace

double seconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

explored explore(const exploration_options& options, const program& p) { return exploration(options, p).explore(); }

}  // namespace runq::model::explore
