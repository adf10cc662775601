// SPDX-License-Identifier: MIT
// The runtime side of <runq/check.hpp>. A check runs in a process of its own, a copy of this one: what it does to
// memory, to the C library's state and to itself ends with it. The answer comes back through a pipe.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "answer.hpp"
#include "children.hpp"
#include "hook.hpp"
#include "options.hpp"
#define RUNQ_CHECK_RUNTIME
#include "runq/linearizable.hpp"
#include "signals.hpp"
#include "start.hpp"

namespace runq::model::compiled {

namespace {

const runq_check_request* requested = nullptr;

int call_body(int, char**, char**) {
  requested->body(requested->context);
  return 0;
}

/// How the child's answer begins; the text follows.
[[nodiscard]] std::string describe(const search_result& r, const answer& a) {
  runq_check_answer head{};
  // A test that only shows one execution has no verdict.
  head.status = a.status == 0 && r.how == coverage::cut_short ? 2 : a.status;
  head.executions = r.executions;
  head.seconds = r.seconds;
  const std::string name = name_of(r.what);
  name.copy(head.failure, sizeof head.failure - 1);
  std::string said(sizeof head, '\0');
  std::memcpy(said.data(), &head, sizeof head);
  return said + a.text;
}

[[nodiscard]] std::string check_as_child(const runq_check_request& request, const void* callers_stack,
                                         const run_options& options, bool shows_failure = true) {
  requested = &request;
  if (!take_signals() || !start_ticks()) return {};
  session& s = current_session();
  prepare(s, options);
  if (!shows_failure) s.options().describes = false;
  take_keys();
  s.begin_at(callers_stack);
  search_result result = s.check({&call_body, 0, nullptr, nullptr}, options.search);
  if (!options.executed_file.empty() && !s.code().executed().append_to(options.executed_file)) {
    result = {};
    result.message = "limit reached: cannot write " + options.executed_file;
  }
  if (shows_failure) return describe(result, judge(result, s, options));
  answer a = judge_briefly(result, s, options);
  a.text = a.headline + "\n" + not_seen(s);
  return describe(result, a);
}

/// The reason why there is no check, or an empty text.
[[nodiscard]] std::string read_all_options(const char* words, run_options& options) {
  std::string wrong = read_options(words, options);
  const char* const also = std::getenv("RUNQ_CHECK");
  if (wrong.empty() && also != nullptr) wrong = read_options(also, options);
  if (!wrong.empty() || options.of_command.empty()) return wrong;
  return fmt::format("{} is for runq-check and a program that is checked as a whole, not for a check in a test",
                     options.of_command);
}

struct found {
  runq_check_answer head{};
  std::string text;
};

[[nodiscard]] found without_answer(const std::string& reason) {
  found f;
  f.head.status = 2;
  f.text = "no verdict: " + reason + "\n";
  return f;
}
[[nodiscard]] std::string no_process() { return fmt::format("the system gives no process: {}", std::strerror(errno)); }
[[nodiscard]] found read_answer(const child_answer& got) {
  found f;
  if (!got.error.empty()) return without_answer(got.error);
  if (got.text.size() < sizeof f.head) return without_answer("the check ended before it had a verdict");
  std::memcpy(&f.head, got.text.data(), sizeof f.head);
  f.text = got.text.substr(sizeof f.head);
  return f;
}

[[nodiscard]] found run(const runq_check_request& request, const void* callers_stack) {
  run_options options;
  if (const std::string wrong = read_all_options(request.options, options); !wrong.empty()) {
    return without_answer(wrong);
  }
  std::fflush(nullptr);  // otherwise the child would print it once more
  children process;
  if (!process.start(0, [&] { return check_as_child(request, callers_stack, options); })) {
    return without_answer(no_process());
  }
  return read_answer(process.next());
}

/// Some checks of a series, made as one: the first thing that their body does is to choose which of them it is.
struct some_of {
  const runq_check_series* series;
  std::size_t first;
  std::size_t count;

  static void call(void* self) {
    const some_of& s = *static_cast<const some_of*>(self);
    std::size_t number = s.first;
    if (s.count > 1) {
      const checker_scope scope;
      number += current_session().code().choose(static_cast<unsigned>(s.count), nullptr);
    }
    s.series->body(s.series->context, number);
  }
};

/// Hands over the answers of a series in the order of their numbers, whatever order they come in. A process costs more
/// than most checks: several are made by one, and each alone only if they do not pass together.
class series_of_checks {
 public:
  static constexpr std::size_t together = 32;

  series_of_checks(const runq_check_series& series, const run_options& options, const void* callers_stack)
      : series_(series), options_(options), callers_stack_(callers_stack) {
    for (std::size_t first = 0; first < series.count; first += together) {
      add(first, std::min(together, series.count - first));
    }
  }

  template <class Take>
  void run(Take&& take) {
    for (bool go_on = true; go_on && !waiting_.empty();) {
      const some_of next = waiting_.begin()->second;
      const found f = answer_of(next);
      waiting_.erase(waiting_.begin());
      if (f.head.status != 0 && next.count > 1) {
        for (std::size_t i = 0; i != next.count; ++i) add(next.first + i, 1);
        continue;
      }
      for (std::size_t i = 0; go_on && i != next.count; ++i) {
        found one = f;
        if (i != 0) {
          one.head.executions = 0;
          one.head.seconds = 0;
        }
        go_on = take(next.first + i, one);
      }
    }
    while (processes_.running() != 0) static_cast<void>(processes_.next());
  }

 private:
  void add(std::size_t first, std::size_t count) { waiting_.emplace(first, some_of{&series_, first, count}); }

  /// Those that come next are started meanwhile.
  [[nodiscard]] found answer_of(const some_of& wanted) {
    const auto key = [](const some_of& s) { return std::pair(s.first, s.count); };
    for (;;) {
      for (const auto& [first, s] : waiting_) {
        if (processes_.running() >= std::max(series_.jobs, 1U)) break;
        if (begun_.insert(key(s)).second && !start(s)) answers_[key(s)] = without_answer(no_process());
      }
      if (const auto at = answers_.find(key(wanted)); at != answers_.end()) return std::exchange(at->second, {});
      const child_answer got = processes_.next();
      answers_[numbers_[got.number]] = read_answer(got);
    }
  }
  [[nodiscard]] bool start(some_of s) {
    numbers_.emplace_back(s.first, s.count);
    const runq_check_request request{&some_of::call, &s, series_.options};
    return processes_.start(numbers_.size() - 1,
                            [&] { return check_as_child(request, callers_stack_, options_, s.count == 1); });
  }

  const runq_check_series& series_;
  const run_options& options_;
  const void* callers_stack_;
  std::map<std::size_t, some_of> waiting_;  ///< by their first numbers
  std::set<std::pair<std::size_t, std::size_t>> begun_;
  std::map<std::pair<std::size_t, std::size_t>, found> answers_;
  std::vector<std::pair<std::size_t, std::size_t>> numbers_;  ///< of the processes
  children processes_;
};

template <class Take>
void run_series(const runq_check_series& series, const void* callers_stack, Take&& take) {
  run_options options;
  if (const std::string wrong = read_all_options(series.options, options); !wrong.empty()) {
    take(0, without_answer(wrong));
    return;
  }
  std::fflush(nullptr);
  series_of_checks(series, options, callers_stack).run(take);
}

void refuse_within_check(const void* code) {
  if (!this_process.in_program) return;
  this_process.in_program = false;
  current_session().code().refuse("a check within a check", code);
}

}  // namespace

}  // namespace runq::model::compiled

RUNQ_HOOK int runq_check_announce() noexcept {
  runq::model::compiled::this_process.has_own_checks = true;
  return 0;
}

RUNQ_HOOK void runq_check_run(const runq_check_request* request, runq_check_answer* answer,
                              void (*add_text)(void* to, const char* text, std::size_t size), void* to) noexcept {
  using namespace runq::model::compiled;  // NOLINT(google-build-using-namespace): this function has C's name
  const void* const callers_stack = __builtin_dwarf_cfa();
  refuse_within_check(__builtin_return_address(0));
  const found f = run(*request, callers_stack);
  *answer = f.head;
  add_text(to, f.text.data(), f.text.size());
}

RUNQ_HOOK void runq_check_run_series(const runq_check_series* series,
                                     bool (*take)(void* to, std::size_t number, const runq_check_answer* answer,
                                                  const char* text, std::size_t size),
                                     void* to) noexcept {
  using namespace runq::model::compiled;  // NOLINT(google-build-using-namespace): this function has C's name
  const void* const callers_stack = __builtin_dwarf_cfa();
  refuse_within_check(__builtin_return_address(0));
  run_series(*series, callers_stack, [&](std::size_t number, const found& f) {
    return take(to, number, &f.head, f.text.data(), f.text.size());
  });
}

RUNQ_HOOK void runq_check_fail(const char* what, const char* file, int line) noexcept {
  using namespace runq::model::compiled;  // NOLINT(google-build-using-namespace): this function has C's name
  const std::string_view path = file;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (!this_process.in_program) {
    std::fprintf(stderr, "%s:%d: %s\n", file, line, what);
    abort();
  }
  const void* const code = __builtin_return_address(0);
  this_process.in_program = false;
  current_session().code().fail(runq::model::failure::check_failed, fmt::format("{}:{}: {}", name, line, what), code);
}

RUNQ_HOOK void runq_check_assertion(void (*report)(const void*, const void*), const void* a, const void* b,
                                    bool failed) noexcept {
  using namespace runq::model::compiled;  // NOLINT(google-build-using-namespace): this function has C's name
  if (!this_process.in_program) return report(a, b);
  const void* const code = __builtin_return_address(0);
  {
    // The framework's locks and notes are no part of what is checked.
    const checker_scope scope;
    report(a, b);
  }
  if (!failed) return;
  this_process.in_program = false;
  current_session().code().fail(runq::model::failure::check_failed, "an assertion of the test fails", code);
}
