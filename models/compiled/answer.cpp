// SPDX-License-Identifier: MIT
#include "answer.hpp"

#include <cerrno>

#include <fmt/format.h>
#include <unistd.h>

#include "counterexample.hpp"
#include "result_json.hpp"
#include "runtime.hpp"

namespace runq::model::compiled {

const char* name_of(failure what) {
  switch (what) {
    case failure::none: return "";
    case failure::check_failed: return "check failed";
    case failure::lost: return "lost";
    case failure::run_twice: return "run twice";
    case failure::out_of_order: return "out of order";
    case failure::not_linearizable: return "not linearizable";
    case failure::data_race: return "data race";
    case failure::uninitialised_read: return "uninitialised read";
    case failure::use_after_free: return "use after free";
    case failure::double_free: return "double free";
    case failure::leak: return "leak";
    case failure::unpublished_allocation: return "unpublished allocation";
    case failure::deadlock: return "deadlock";
    case failure::livelock: return "livelock";
    case failure::misuse: return "misuse";
    case failure::crash: return "crash";
  }
  return "failure";
}

namespace {

[[nodiscard]] std::string counted(const search_result& r) {
  return fmt::format("{} execution{} explored, {:.2f} s", r.executions, r.executions == 1 ? "" : "s", r.seconds);
}

[[nodiscard]] std::string describe(const search_result& r, session& s, source_index& sources) {
  std::string text;
  for (const std::string& line : render_counterexample(r, sources)) text += line + "\n";
  if (!s.output().empty()) text += "output of this execution:\n" + s.output();
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

/// Load buffering is what RC11 forbids and C++20 does not; no search has all of it.
[[nodiscard]] std::string passed(const left_out& omitted, bool load_buffering) {
  std::string also;
  const bounds& limits = current_session().limits();
  if (omitted.spurious_failures) {
    also += limits.spurious_failures == 0
                ? std::string(", spurious failures of weak compare-exchanges (--spurious N)")
                : fmt::format(", more than {} spurious failures in an execution", limits.spurious_failures);
  }
  if (omitted.unknown_weakness) also += ", failures of compare-exchanges that this compiler does not tell to be weak";
  if (omitted.local_members) {
    also += ", plain accesses of a function to members of its own variables, which clang does not show";
  }
  if (omitted.spurious_wakeups) also += ", spurious wake-ups";
  if (omitted.clocks) also += ", clocks that go on by less than a day";
  if (omitted.timeouts) also += fmt::format(", more than {} timeouts of a thread (--timeouts N)", limits.timeouts);
  if (omitted.rounds) {
    also +=
        fmt::format(", ends of loops that wait and count between round {} and the last (--rounds N)", limits.rounds);
  }
  return fmt::format("{}: no execution that C++20 allows fails; left out: load buffering{}{}",
                     also.empty() ? "exhaustive" : "bounded",
                     load_buffering ? ", but for what --load-buffering tries" : "", also);
}

}  // namespace

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

answer judge(const search_result& r, session& s, const run_options& options) {
  source_index sources;
  answer a;
  if (!options.json_file.empty() || !options.html_dir.empty()) {
    a.result = std::make_shared<nlohmann::json>(result_json(r, sources));
  }
  if (r.what != failure::none) {
    a.status = 1;
    a.headline = fmt::format("FAIL in execution {}: {}: {}", r.executions, name_of(r.what), r.message);
    a.text = fmt::format("{}\n{}T0 is the thread that {}.\n", a.headline, describe(r, s, sources),
                         s.is_whole_program() ? "runs main()" : "calls check()");
    return a;
  }
  const auto without_failure = [&a](int status, std::string headline) {
    a.status = status;
    a.headline = std::move(headline);
    a.text = a.headline + "\n";
    return a;
  };
  const order_change& weakened = options.weakened;
  if (weakened.line != 0 && !s.orders().was_weakened()) {
    return without_failure(
        2, fmt::format("no verdict: no operation at {}:{} was executed whose order is stronger than {}", weakened.file,
                       weakened.line, to_string(weakened.to)));
  }
  if (r.how != coverage::exhaustive) {
    if (options.search.show_execution != 0 && !r.trace.empty()) {
      without_failure(0, fmt::format("execution {}, which does not fail:", options.search.show_execution));
      a.text += describe(r, s, sources);
      return a;
    }
    return without_failure(2, fmt::format("no verdict: {} ({})", r.message, counted(r)));
  }
  if (r.executions == 0) {
    return without_failure(
        2, fmt::format("no verdict: all of {} executions wait for ever, or see old values for ever", r.blocked));
  }
  without_failure(0, fmt::format("{} ({})", passed(s.omitted(), options.search.load_buffering), counted(r)));
  if (s.statistics().duplicates != 0) {
    a.text += fmt::format("{} executions were met before\n", s.statistics().duplicates);
  }
  return a;
}

}  // namespace runq::model::compiled
