// SPDX-License-Identifier: MIT
// The runtime side of <runq/check.hpp>. A check runs in a process of its own, a copy of this one: what it does to
// memory, to the C library's state and to itself ends with it. The answer comes back through a pipe.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "answer.hpp"
#include "options.hpp"
#define RUNQ_CHECK_RUNTIME
#include "runq/check.hpp"
#include "signals.hpp"
#include "start.hpp"

namespace runq::model::compiled {

namespace {

const runq_check_request* requested = nullptr;

int call_body(int, char**, char**) {
  requested->body(requested->context);
  return 0;
}

/// False when the other side has closed before there were so many bytes.
[[nodiscard]] bool read_all(int from, void* to, std::size_t size) {
  auto* at = static_cast<std::byte*>(to);
  while (size != 0) {
    const ssize_t got = read(from, at, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

/// What the child writes: this, then so many bytes of text.
struct reply {
  runq_check_answer answer{};
  std::size_t text_size = 0;
};

void send(int to, const search_result& r, const answer& a) {
  reply head;
  // For a test, an execution that was only shown is no verdict of all of them.
  head.answer.status = a.status == 0 && r.how != coverage::exhaustive ? 2 : a.status;
  head.answer.executions = r.executions;
  head.answer.seconds = r.seconds;
  const std::string_view name = name_of(r.what);
  name.copy(head.answer.failure, sizeof head.answer.failure - 1);
  head.text_size = a.text.size();
  write_all(to, &head, sizeof head);
  write_all(to, a.text.data(), a.text.size());
}

[[noreturn]] void check_as_child(const runq_check_request& request, const void* callers_stack,
                                 const run_options& options, int to) {
  requested = &request;
  if (!take_signals()) _exit(2);
  session& s = current_session();
  prepare(s, options);
  take_keys();
  s.begin_at(callers_stack);
  const search_result result = s.check(&call_body, 0, nullptr, nullptr, options.search);
  send(to, result, judge(result, s, options));
  _exit(0);
}

/// The reason why there is no answer, or an empty text.
[[nodiscard]] std::string receive(int from, pid_t child, reply& head, std::string& text) {
  bool complete = read_all(from, &head, sizeof head);
  if (complete) {
    text.resize(head.text_size);
    complete = read_all(from, text.data(), text.size());
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (complete) return {};
  if (WIFSIGNALED(status)) return fmt::format("the check was ended by signal {}", WTERMSIG(status));
  return fmt::format("the check ended with status {}", WIFEXITED(status) ? WEXITSTATUS(status) : status);
}

/// The reason why there is no answer, or an empty text.
[[nodiscard]] std::string run(const runq_check_request& request, const void* callers_stack, reply& head,
                              std::string& text) {
  run_options options;
  std::string wrong = read_options(request.options, options);
  const char* const also = std::getenv("RUNQ_CHECK");
  if (wrong.empty() && also != nullptr) wrong = read_options(also, options);
  if (!wrong.empty()) return wrong;
  if (const std::string option = option_of_command(options); !option.empty()) {
    return fmt::format("{} is for runq-check and a program that is checked as a whole, not for a check in a test",
                       option);
  }
  int ends[2];
  if (pipe(ends) != 0) return fmt::format("no pipe: {}", std::strerror(errno));
  std::fflush(nullptr);  // or the child would write it once more
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    check_as_child(request, callers_stack, options, ends[1]);
  }
  close(ends[1]);
  std::string reason =
      child < 0 ? fmt::format("no process: {}", std::strerror(errno)) : receive(ends[0], child, head, text);
  close(ends[0]);
  return reason;
}

}  // namespace

}  // namespace runq::model::compiled

#define RUNQ_EXPORT extern "C" __attribute__((visibility("default")))

RUNQ_EXPORT int runq_check_announce() noexcept {
  runq::model::compiled::has_own_checks = true;
  return 0;
}

RUNQ_EXPORT void runq_check_run(const runq_check_request* request, runq_check_answer* answer,
                                void (*add_text)(void* to, const char* text, std::size_t size), void* to) noexcept {
  using namespace runq::model::compiled;  // NOLINT(google-build-using-namespace): this function has C's name
  const void* const callers_stack = __builtin_dwarf_cfa();
  if (in_program) {
    in_program = false;
    current_session().refuse("a check within a check", __builtin_return_address(0));
  }
  reply head;
  std::string text;
  const std::string reason = run(*request, callers_stack, head, text);
  if (!reason.empty()) {
    head.answer.status = 2;
    text = "no verdict: " + reason + "\n";
  }
  *answer = head.answer;
  add_text(to, text.data(), text.size());
}

RUNQ_EXPORT void runq_check_fail(const char* what, const char* file, int line) noexcept {
  using namespace runq::model::compiled;  // NOLINT(google-build-using-namespace): this function has C's name
  const std::string_view path = file;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (!in_program) {
    std::fprintf(stderr, "%s:%d: %s\n", file, line, what);
    abort();
  }
  const void* const code = __builtin_return_address(0);
  in_program = false;
  current_session().fail(runq::model::failure::check_failed, fmt::format("{}:{}: {}", name, line, what), code);
}

RUNQ_EXPORT void runq_check_assertion(void (*report)(const void*, const void*), const void* a, const void* b,
                                      bool failed) noexcept {
  using namespace runq::model::compiled;  // NOLINT(google-build-using-namespace): this function has C's name
  if (!in_program) return report(a, b);
  const void* const code = __builtin_return_address(0);
  {
    // The framework's locks and notes are no part of what is checked.
    const checker_scope scope;
    report(a, b);
  }
  if (!failed) return;
  in_program = false;
  current_session().fail(runq::model::failure::check_failed, "an assertion of the test fails", code);
}
