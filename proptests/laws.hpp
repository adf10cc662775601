// SPDX-License-Identifier: MIT
// Laws, and the program that runs them with RapidCheck.
//
// A law is a property and a name that says what is promised. A `stateful_law` runs random calls on a candidate and on
// its specification; a `threads_law` runs random scripts on real threads. Both take any candidate, and are templates
// over the specification that soon forget its type (any_spec.hpp).
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <rapidcheck.h>
#include <rapidcheck/state.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "any_spec.hpp"
#include "history.hpp"
#include "operations.hpp"
#include "threads.hpp"

namespace runq::props {

// RapidCheck prints generated values with these.
inline void showValue(const operation& o, std::ostream& out) { out << o; }

/// The present run as the code of a unit test; printed when a law fails, also when the process is about to die.
class transcript {
 public:
  static void begin(const paste& words, const std::string& comment) {
    text() = {};
    text().words = words;
    text().comment = comment;
  }
  static void add(const std::string& code) { text().lines += "  " + code + "\n"; }
  static void replace(const std::string& whole) {
    text() = {};
    text().whole = whole;
  }
  static void name(const std::string& suite, const std::string& law) {
    text() = {};
    names() = suite + ", " + law;
  }
  [[nodiscard]] static std::string code() {
    const parts& t = text();
    if (!t.whole.empty()) return "TEST(" + names() + ") {\n" + t.whole + "}\n";
    return t.words.at_namespace_scope + "TEST(" + names() + ") {  // " + t.comment + "\n" + t.words.setup + t.lines +
           t.words.cleanup + "}\n";
  }

 private:
  struct parts {
    paste words;
    std::string comment, lines, whole;
  };
  static parts& text() {
    static parts t;
    return t;
  }
  static std::string& names() {
    static std::string n;
    return n;
  }
};

/// How many calls a law has made. Cases without calls would show nothing.
inline std::uint64_t& calls_made() {
  static std::uint64_t n = 0;
  return n;
}

/// How many histories of threads a law has judged. An undecided history shows nothing, so the law fails.
struct histories {
  std::uint64_t judged = 0;
  std::uint64_t undecided = 0;
  std::size_t configurations = default_configurations;  ///< at most so many each
};
inline histories& histories_judged() {
  static histories h;
  return h;
}

/// One law of a suite. Runs inside rc::check: it draws from generators and fails by RC_FAIL.
struct law {
  std::string name;
  std::function<void()> body;
  int cost = 1;  ///< runs one in `cost` of the cases that were asked for
};

/// Runs laws by name and prints one line for each: verdict, name, cases run, seed. `--help` lists the options.
class suite {
 public:
  explicit suite(std::string stem) : stem_(std::move(stem)) {}

  void add(law l) { laws_.push_back(std::move(l)); }
  void add(std::vector<law> laws) {
    for (law& l : laws) laws_.push_back(std::move(l));
  }

  int run(int argc, char** argv);

 private:
  enum class result : std::uint8_t { passed, failed, gave_up };
  struct options {
    std::set<std::string> only, must_fail;
    std::string paste_file;
    int cases = 1000;
  };

  result run_one(const law& l, rc::detail::TestParams params, const options& chosen) const;
  result run_apart(const law& l, const rc::detail::TestParams& params, const options& chosen) const;
  template <class Run>
  static int in_child(const law& l, Run&& run);

  std::string stem_;
  std::vector<law> laws_;
};

namespace detail {

// Prints the code that repeats the failure even when a contract or a sanitizer stops the process. If it was the C
// library that stopped the process, because the heap is destroyed, printing may abort again, or wait for ever for the
// lock of the heap: then the process dies without the code.
inline void print_repro_and_die(int sig) {
  constexpr unsigned most_seconds = 5;
  std::signal(sig, SIG_DFL);
  alarm(most_seconds);
  const std::string code = "\nthe process died in:\n" + transcript::code();
  (void)!write(STDERR_FILENO, code.data(), code.size());
  (void)raise(sig);
}

inline double seconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

}  // namespace detail

inline suite::result suite::run_one(const law& l, rc::detail::TestParams params, const options& chosen) const {
  const bool must_fail = chosen.must_fail.count(l.name) != 0;
  const rc::detail::Configuration& config = rc::detail::configuration();
  params.maxSuccess = std::max(1, params.maxSuccess / l.cost);
  const std::uint64_t seed = params.seed;
  // Every law gets other calls, but one seed determines all of them.
  for (const char c : l.name) params.seed = (params.seed ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  if (must_fail) {
    params.disableShrinking = chosen.paste_file.empty();
    params.maxSuccess = 2000;
  }
  transcript::name(stem_, l.name);
  rc::detail::TestMetadata about;
  about.id = stem_ + "/" + l.name;
  about.description = about.id;
  calls_made() = 0;
  histories& threads = histories_judged();
  threads.judged = threads.undecided = 0;
  const auto begun = std::chrono::steady_clock::now();
  // A listener that prints nothing; RapidCheck's own prints dots.
  struct silent final : rc::detail::TestListener {
    void onTestCaseFinished(const rc::detail::CaseDescription&) override { ++cases; }
    void onShrinkTried(const rc::detail::CaseDescription&, bool) override {}
    void onTestFinished(const rc::detail::TestMetadata&, const rc::detail::TestResult&) override {}
    int cases = 0;
  } listener;
  const rc::detail::TestResult outcome =
      rc::detail::checkProperty(rc::detail::toProperty([&l] { l.body(); }), about, params, listener, config.reproduce);

  rc::detail::SuccessResult success;
  rc::detail::FailureResult failure;
  rc::detail::GaveUpResult tired;
  std::ostringstream line;
  line << about.id << "  " << listener.cases << " cases  " << calls_made() << " calls  ";
  if (threads.judged != 0) line << threads.judged << " histories, " << threads.undecided << " undecided  ";
  line << "seed " << seed << "  ";
  line.precision(2);
  line << std::fixed << detail::seconds_since(begun) << " s";
  if (outcome.match(success) && threads.undecided != 0 && !must_fail) {
    std::cout << "UNDECIDED  " << line.str() << "\nthe search for an order of the calls stopped after "
              << threads.configurations << " configurations: shorten the scripts, or give --configurations"
              << std::endl;
    return result::gave_up;
  }
  if (outcome.match(success)) {
    std::cout << (must_fail ? "SURVIVED  " : "PASS  ") << line.str() << std::endl;
    return result::passed;
  }
  if (outcome.match(tired)) {
    std::cout << "GAVE UP  " << line.str() << "\n" << tired.description << std::endl;
    return result::gave_up;
  }
  if (!outcome.match(failure)) {
    std::cout << "ERROR  " << line.str() << "\n" << outcome << std::endl;
    return result::gave_up;
  }
  if (must_fail) {
    std::cout << "KILLED  " << line.str() << "  " << failure.description.substr(0, failure.description.find('\n'))
              << std::endl;
  } else {
    rc::detail::Configuration again;
    again.testParams.seed = seed;
    again.reproduce = {{about.id, failure.reproduce}};
    std::cout << "FAIL  " << line.str() << "\n"
              << failure.description << "\n"
              << "again: RC_PARAMS=\"seed=" << seed << " max_success=" << params.maxSuccess * l.cost << "\" and --only "
              << l.name << "\n"
              << "only the shrunk case: RC_PARAMS=\"" << rc::detail::configToMinimalString(again) << "\"\n"
              << "as a unit test:\n"
              << "----------------------------------------\n"
              << transcript::code() << "----------------------------------------" << std::endl;
  }
  if (!chosen.paste_file.empty()) {
    if (std::FILE* file = std::fopen(chosen.paste_file.c_str(), "w"); file != nullptr) {
      std::fputs(transcript::code().c_str(), file);
      std::fclose(file);
    }
  }
  return result::failed;
}

// In a child process, for a law that must fail. A seeded bug may make a contract stop the process, which counts as
// noticed, too. A bug may also destroy memory, or loop for ever, before the law sees a wrong answer: then the law tries
// again, with another seed.
inline suite::result suite::run_apart(const law& l, const rc::detail::TestParams& params, const options& chosen) const {
  constexpr std::uint64_t most_tries = 10;
  for (std::uint64_t tries = 0; tries != most_tries; ++tries) {
    rc::detail::TestParams seeded = params;
    seeded.seed += tries;
    const int status = in_child(l, [&] { return run_one(l, seeded, chosen); });
    if (WIFEXITED(status)) return static_cast<result>(WEXITSTATUS(status));
    const bool contract = WTERMSIG(status) == SIGABRT;
    std::cout << (contract ? "KILLED  " : "AGAIN  ") << stem_ << "/" << l.name << "  "
              << (contract ? "a contract stopped the process" : strsignal(WTERMSIG(status))) << std::endl;
    if (contract) return result::failed;
  }
  std::cout << "ERROR  " << stem_ << "/" << l.name << "  none of " << most_tries << " runs came to its end"
            << std::endl;
  return result::gave_up;
}

// How the child that runs the law ended, as waitpid() reports it. A child that loops for ever ends with SIGXCPU, and
// one that waits for ever with SIGALRM. Without threads a law fails in a fraction of a second.
template <class Run>
int suite::in_child(const law& l, Run&& run) {
  const rlim_t most_seconds_of_processor_time = l.cost == 1 ? 10 : 30;
  constexpr unsigned most_seconds = 60;
  std::cout.flush();
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{most_seconds_of_processor_time, most_seconds_of_processor_time + 5};
    setrlimit(RLIMIT_CPU, &limit);
    alarm(most_seconds);
    const result end = run();
    std::cout.flush();
    _exit(static_cast<int>(end));
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    std::cerr << "no child process: " << std::strerror(errno) << std::endl;
    std::exit(2);
  }
  return status;
}

inline int suite::run(int argc, char** argv) {
  options chosen;
  bool list = false;
  CLI::App app("The laws of " + stem_ +
               ". RapidCheck's own parameters: RC_PARAMS=\"seed=… max_success=… reproduce=…\"");
  app.add_flag("--list", list, "print the names of the laws, and run none");
  app.add_option("--only", chosen.only, "only laws whose name contains TEXT; may be repeated")
      ->allow_extra_args(false)
      ->type_name("TEXT");
  app.add_option("--must-fail", chosen.must_fail, "run law NAME and succeed only if it fails; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME");
  app.add_option("--paste", chosen.paste_file, "write the code of the first failure to FILE")->type_name("FILE");
  app.add_option("--configurations", histories_judged().configurations, "try at most N configurations of a history")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000'000'000}))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--cases", chosen.cases, "cases per law, and a fifth of N, run five times each, for threads")
      ->envname("RUNQ_PROP_CASES")
      ->check(CLI::Range(1, 1'000'000'000))
      ->type_name("N")
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  if (list) {
    for (const law& l : laws_) std::cout << l.name << "\n";
    return 0;
  }
  std::signal(SIGABRT, detail::print_repro_and_die);

  const char* rapidcheck_says = std::getenv("RC_PARAMS");
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  if (rapidcheck_says == nullptr || std::string(rapidcheck_says).find("max_success") == std::string::npos) {
    params.maxSuccess = chosen.cases;
  }
  std::cout << stem_ << ": seed " << params.seed << ", up to " << params.maxSuccess
            << " cases per law; to repeat: RC_PARAMS=\"seed=" << params.seed << "\"" << std::endl;

  std::size_t bad = 0;
  std::size_t ran = 0;
  std::set<std::string> not_found = chosen.must_fail;
  for (const law& l : laws_) {
    bool wanted = chosen.only.empty() && chosen.must_fail.empty();
    for (const std::string& text : chosen.only) wanted = wanted || l.name.find(text) != std::string::npos;
    const bool must_fail = not_found.erase(l.name) != 0;
    if (!wanted && !must_fail) continue;
    ++ran;
    const result end = must_fail ? run_apart(l, params, chosen) : run_one(l, params, chosen);
    if (end != (must_fail ? result::failed : result::passed)) ++bad;
  }
  for (const std::string& name : not_found) std::cout << "there is no law called " << name << std::endl;
  if (ran == 0) std::cout << "no law matches" << std::endl;
  std::cout << stem_ << ": " << ran << " laws, " << bad << (chosen.must_fail.empty() ? " failed" : " not as asked")
            << std::endl;
  return bad == 0 && ran != 0 && not_found.empty() ? 0 : 1;
}

/// What a stateful law checks.
struct focus {
  std::string name;
  /// The calls that it makes. A call that is listed twice is made twice as often; calls that a candidate does not have
  /// are left out.
  std::vector<verb> mix;
  /// Whether an answer agrees with the expected one; empty: the law does not consult the specification.
  std::function<bool(const operation&, const outcome& want, const outcome& seen)> agree;
  /// The calls that the law is about: it is not run on candidates that lack one of them.
  std::vector<verb> needs{};
  /// Whether every element that went in, and no other, comes out, and exactly once. Does not consult the specification.
  bool conserve = false;
  /// Whether actor 0 and the thieves get the elements in the order in which actor 0, which alone puts, has put them.
  bool in_order = false;
  /// Whether to make the same calls on a second candidate, whose counters start elsewhere, and compare all answers.
  bool any_start = false;
};

/// For calls with one of these verbs, everything that the call returns must agree.
inline auto agree_on(std::vector<verb> verbs) {
  return [verbs = std::move(verbs)](const operation& o, const outcome& want, const outcome& seen) {
    for (const verb v : verbs) {
      if (v == o.what) return want == seen;
    }
    return true;
  };
}
inline bool agree_on_all(const operation&, const outcome& want, const outcome& seen) { return want == seen; }

namespace detail {

struct model {
  any_spec spec;
  value next = 1;
};

/// A candidate under test, with a record of the calls made on it.
class execution {
 public:
  execution(const candidate& c, const focus& f, std::uint64_t start, std::size_t queues)
      : candidate_(c), focus_(f), start_(start), queues_(queues), words_(c.code(start, queues)) {
    subject_ = c.make(start, queues);
    if (f.any_start) twin_ = c.make(0, queues);
    transcript::begin(words_, c.name + ", counters from " + std::to_string(start));
  }

  void run(const any_spec& before, const operation& o) {
    ++calls_made();
    any_spec after = before;
    const outcome want = after.apply(o);
    transcript::add(before.traits().code(o, want, words_));
    const outcome seen = subject_->apply(o);
    std::ostringstream what;
    what << o << " of " << candidate_.name << ", counters from " << start_;
    if (focus_.agree && !focus_.agree(o, want, seen)) {
      what << "\nexpected " << want << "\ngot      " << seen;
      RC_FAIL(what.str());
    }
    if (twin_) {
      const outcome other = twin_->apply(o);
      if (!(other == seen)) {
        what << "\nwith counters from 0  " << other << "\nwith counters as here " << seen;
        RC_FAIL(what.str());
      }
    }
    const values in = before.traits().entered(o, seen);
    entered_.insert(in.begin(), in.end());
    if (o.actor == 0) pushed_ += in.size();
    for (const value v : seen.taken) left(v, what.str());
  }

  // Empties the queues, and crosses the wrap-around of the counters if the calls so far have not.
  void finish(any_spec spec, value next) {
    const spec_traits& traits = spec.traits();
    const auto call = [&](operation o) {
      o.first = next;
      next += static_cast<value>(traits.fresh_values(o));
      run(spec, o);
      return spec.apply(o);
    };
    if (candidate_.index_bits != 0) {
      const std::uint64_t to_wrap = candidate_.index_bits == 64 ? 0 - start_ : (1ULL << candidate_.index_bits) - start_;
      for (const operation& o : traits.emptying(queues_)) {
        while (call(o).what != answer::empty) {
        }
      }
      const auto chunk = static_cast<std::uint16_t>(std::min<std::size_t>(candidate_.capacity, 1024));
      while (pushed_ < to_wrap) {
        call({verb::push_run, 0, 0, chunk, 0, 0});
        call({verb::pop_run, 0, 0, chunk, 0, 0});
        if (entered_.empty()) break;  // the queue accepts no element: another law reports that
      }
    }
    for (const operation& o : traits.emptying(queues_)) {
      while (call(o).what != answer::empty) {
      }
      // Makes one more call, which should find nothing: the queue may hold more elements than it should.
      transcript::add(traits.code(o, {answer::empty, 0, {}, false}, words_));
      for (const value v : subject_->apply(o).taken) left(v, "when all is taken");
    }
    if (focus_.conserve && gone_.size() != entered_.size()) {
      RC_FAIL(std::to_string(entered_.size()) + " went into " + candidate_.name + ", " + std::to_string(gone_.size()) +
              " came out");
    }
  }

 private:
  void left(value v, const std::string& where) {
    if (focus_.conserve) {
      if (entered_.count(v) == 0) RC_FAIL("never put in: " + std::to_string(v) + ", from " + where);
      if (!gone_.insert(v).second) RC_FAIL("taken twice: " + std::to_string(v) + ", by " + where);
    }
    if (focus_.in_order) {
      if (v <= last_) RC_FAIL(std::to_string(v) + " came out after " + std::to_string(last_) + ", by " + where);
      last_ = v;
    }
  }

  const candidate& candidate_;
  const focus& focus_;
  std::uint64_t start_;
  std::size_t queues_;
  paste words_;
  std::unique_ptr<subject> subject_, twin_;
  std::set<value> entered_, gone_;
  std::uint64_t pushed_ = 0;
  value last_ = 0;
};

class command final : public rc::state::Command<model, execution> {
 public:
  explicit command(const operation& o) : call_(o) {}
  void apply(model& m) const override {
    const operation o = at(m);
    m.next += static_cast<value>(m.spec.traits().fresh_values(o));
    (void)m.spec.apply(o);
  }
  void run(const model& m, execution& e) const override { e.run(m.spec, at(m)); }
  void show(std::ostream& out) const override { out << call_; }

 private:
  operation at(const model& m) const {
    operation o = call_;
    o.first = m.next;
    return o;
  }
  operation call_;
};

/// A number from `low` to `high` - 1, all of them at every size: RapidCheck's inRange() offers the lower part of the
/// range only while the size is small, and within gen::resize(). Shrinks to `low`.
template <class T>
rc::Gen<T> between(T low, T high) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(low, high));
}

/// Any call of these, on `queues` queues.
inline rc::Gen<operation> any_operation(const spec_traits& traits, std::vector<verb> mix, const candidate& c,
                                        std::size_t first_actor, std::size_t actors, std::size_t queues) {
  const int most = static_cast<int>(std::min<std::size_t>(c.capacity, 300) + 3);
  return rc::gen::map(
      rc::gen::tuple(between<std::size_t>(0, mix.size()), detail::between<std::size_t>(0, actors),
                     rc::gen::weightedOneOf<int>({{3, between(0, 5)}, {1, between(0, most)}}), detail::between(0, 6)),
      [=, tidy = traits.tidy](const std::tuple<std::size_t, std::size_t, int, int>& drawn) {
        operation o;
        o.what = mix[std::get<0>(drawn)];
        o.actor = static_cast<std::uint8_t>(first_actor + std::get<1>(drawn));
        o.n = static_cast<std::uint16_t>(std::get<2>(drawn));
        o.m = static_cast<std::uint16_t>(std::get<3>(drawn));
        return tidy(o, c, queues);
      });
}

inline std::vector<verb> only_those_of(const candidate& c, const std::vector<verb>& mix) {
  std::vector<verb> mine;
  for (const verb v : mix) {
    if (c.has(v)) mine.push_back(v);
  }
  return mine;
}

/// A start from which at most some 2 · capacity pushes cross the wrap-around.
inline std::uint64_t start_near_wrap(const candidate& c, std::uint64_t before) {
  if (c.index_bits == 0) return 0;
  const std::uint64_t start = 0 - before;
  return c.index_bits == 64 ? start : start & ((1ULL << c.index_bits) - 1);
}

/// Runs one case of a law about sequences of calls. `make` is the specification of a candidate with so many queues.
inline void run_stateful_case(const std::vector<candidate>& candidates, const focus& f, const spec_traits& traits,
                              any_spec (*make)(const candidate&, std::size_t)) {
  const candidate& c = candidates[*between<std::size_t>(0, candidates.size())];
  const std::size_t queues = traits.how_many;
  const int near = static_cast<int>(std::min<std::size_t>(2 * std::min<std::size_t>(c.capacity, 64), 127));
  const std::uint64_t start = start_near_wrap(c, static_cast<std::uint64_t>(*between(1, near + 1)));
  const std::vector<verb> mix = only_those_of(c, f.mix);
  RC_PRE(!mix.empty());
  const model initial{make(c, queues)};
  const auto any = any_operation(traits, mix, c, 0, queues, queues);
  const bool one_producer = f.in_order;
  const auto commands = *rc::state::gen::commands(initial, [&](const model&) {
    return rc::gen::map(any, [=](operation o) {
      if (one_producer && o.victim == o.actor) o.actor = o.victim = 0;
      if (one_producer && o.victim != o.actor) o.actor = 1, o.victim = 0;
      return std::shared_ptr<const rc::state::Command<model, execution>>(std::make_shared<const command>(o));
    });
  });
  execution e(c, f, start, queues);
  model m = initial;
  rc::state::runAll(commands, initial, e);
  rc::state::applyAll(commands, m);
  e.finish(m.spec, m.next);
}

}  // namespace detail

/// A law about sequences of calls on each of the candidates; each case draws one of them.
template <class Spec>
[[nodiscard]] law stateful_law(const std::vector<candidate>& candidates, const focus& f) {
  return {f.name, [candidates, f] {
            detail::run_stateful_case(candidates, f, detail::traits_of<Spec>, detail::any_spec::of<Spec>);
          }};
}

/// One law for each focus that some candidate can be asked about.
template <class Spec>
[[nodiscard]] std::vector<law> stateful_laws(const std::vector<candidate>& candidates, const std::vector<focus>& all) {
  std::vector<law> laws;
  for (const focus& f : all) {
    std::vector<candidate> able;
    for (const candidate& c : candidates) {
      // A candidate whose counters always start at 0 shows nothing about other starts.
      if (f.any_start && c.index_bits == 0) continue;
      if (detail::only_those_of(c, f.needs).size() == f.needs.size()) able.push_back(c);
    }
    if (!able.empty()) laws.push_back(stateful_law<Spec>(able, f));
  }
  return laws;
}

namespace detail {

/// Runs one case of a law about real threads. Once a script has failed, which makes it `suspicious`, each smaller
/// script must pass more runs before it counts as passing.
inline void run_threads_case(const std::vector<candidate>& candidates, bool pinned, bool& suspicious,
                             const spec_traits& traits,
                             threads_report (*attempt)(const candidate&, const script&, std::uint64_t chaos_seed,
                                                       std::size_t times, std::size_t configurations)) {
  const candidate& c = candidates[*between<std::size_t>(0, candidates.size())];
  const auto threads = *between<std::size_t>(2, 5);
  script s;
  s.pin = !pinned ? pinning::none : *rc::gen::element(pinning::one_core, pinning::spread);
  s.start = start_near_wrap(c, static_cast<std::uint64_t>(*between(1, 9)));
  s.prefill = static_cast<std::uint16_t>(*between(0, 5));
  for (std::size_t t = 0; t != threads; ++t) {
    const auto mix = only_those_of(c, traits.concurrent_mix(t));
    auto calls =
        *rc::gen::resize(30, rc::gen::container<std::vector<operation>>(any_operation(traits, mix, c, t, 1, threads)));
    if (calls.size() > 12) calls.resize(12);
    // Most of the calls go to queue 0, so that threads meet there.
    for (operation& o : calls) {
      if (t != 0 && o.victim != o.actor && o.m < 5) o.victim = 0;
      o.n = std::min<std::uint16_t>(o.n, 6);
    }
    s.threads.push_back(std::move(calls));
  }
  const auto seed = *rc::gen::noShrink(rc::gen::arbitrary<std::uint32_t>());
  const auto report = attempt(c, s, seed, suspicious ? 300 : 5, histories_judged().configurations);
  calls_made() += report.runs * s.calls();
  histories_judged().judged += report.runs;
  histories_judged().undecided += report.undecided;
  if (report.failure.empty()) return;
  suspicious = true;
  std::ostringstream code;
  code << "  using namespace runq::props;\n  EXPECT_TRUE(holds_on_threads<" << traits.type_name << ">(" << c.expression
       << ",\n    " << s << ",\n    " << seed << "U, 10000));\n";
  transcript::replace(code.str());
  RC_FAIL(c.name + ", " + report.failure);
}

}  // namespace detail

/// A law about real threads: every history can be explained by the specification.
template <class Spec>
[[nodiscard]] law threads_law(const std::string& name, const std::vector<candidate>& candidates, bool pinned) {
  auto suspicious = std::make_shared<bool>(false);
  return {
      name,
      [=] { detail::run_threads_case(candidates, pinned, *suspicious, detail::traits_of<Spec>, try_on_threads<Spec>); },
      5};
}

}  // namespace runq::props
