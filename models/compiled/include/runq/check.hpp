// SPDX-License-Identifier: MIT
// Checks a piece of code with threads in it, as a function of a test: every execution that the memory model allows.
//
//     RUNQ_TEST(Mailbox, HandsOver) {
//       mailbox box;
//       std::thread sender([&] { box.put(42); });
//       if (const auto got = box.take()) EXPECT_EQ(*got, 42);
//       sender.join();
//     }
//
// The test links the CMake target `runq::check`, which compiles it with the instrumentation of ThreadSanitizer, and
// links a runtime of its own in place of the sanitizer's. docs/checking.md says what is modelled. Outside of a check
// the program runs as ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <utility>

extern "C" {

// The runtime, librunq_check.so.
struct runq_check_request {
  void (*body)(void*);
  void* context;
  const char* options;  ///< as those of the command, separated by line ends
};
struct runq_check_answer {
  int status;  ///< 0: no execution fails; 1: one does; 2: no verdict
  std::uint64_t executions;
  double seconds;
  char failure[32];  ///< "data race" …; empty if nothing fails
};
int runq_check_announce() noexcept;
void runq_check_run(const runq_check_request* request, runq_check_answer* answer,
                    void (*add_text)(void* to, const char* text, std::size_t size), void* to) noexcept;
[[noreturn]] void runq_check_fail(const char* what, const char* file, int line) noexcept;
/// Calls `report`, which a test framework has for a failed assertion; in a check, the execution fails by it.
void runq_check_assertion(void (*report)(const void*, const void*), const void* a, const void* b, bool failed) noexcept;
}

namespace runq {

/// How a check is made. Reaching a limit ends it without a verdict.
struct check_options {
  std::uint64_t max_executions = 1'000'000'000;
  unsigned max_events = 2'000;      ///< operations of one thread in one execution
  unsigned time_limit_seconds = 0;  ///< 0: none
  bool leaks = true;                ///< memory that is allocated in the check and never freed is a failure
  bool every_iteration = false;     ///< explore each round of a loop that waits, rather than as waiting
  /// Explore only executions that deviate from the first one at most so often; -1: all.
  std::int64_t bound = -1;
  std::uint64_t sample = 0;     ///< no search, but so many random walks through it; 0: search
  std::uint64_t seed = 1;       ///< of the walks
  std::uint64_t execution = 0;  ///< show execution number …, which is no verdict if it passes; 0: none
};

namespace detail {
/// As the runtime reads them.
[[nodiscard]] inline std::string words_of(const check_options& options) {
  std::string text = "--max-executions\n" + std::to_string(options.max_executions) + "\n--max-events\n" +
                     std::to_string(options.max_events) + "\n--time-limit\n" +
                     std::to_string(options.time_limit_seconds) + "\n--execution\n" + std::to_string(options.execution);
  if (!options.leaks) text += "\n--no-leaks";
  if (options.every_iteration) text += "\n--every-iteration";
  if (options.bound >= 0) text += "\n--bound\n" + std::to_string(options.bound);
  if (options.sample != 0) {
    text += "\n--sample\n" + std::to_string(options.sample) + "\n--seed\n" + std::to_string(options.seed);
  }
  return text;
}
}  // namespace detail

/// What a check has found. False in a condition unless no execution fails.
class verdict {
 public:
  /// No execution fails of those that C++20 allows and the check has explored. text() says what was left out, which
  /// with a bound or a sample is most.
  [[nodiscard]] bool passed() const noexcept { return answer_.status == 0; }
  /// An execution fails.
  [[nodiscard]] bool failed() const noexcept { return answer_.status == 1; }
  /// Neither is known: a limit was reached, one execution was only shown, or the code does what is not modelled.
  [[nodiscard]] bool undecided() const noexcept { return answer_.status != 0 && answer_.status != 1; }
  explicit operator bool() const noexcept { return passed(); }

  /// What kind of failure: "data race", "deadlock", "check failed", "use after free", "leak", "crash" …; empty if none.
  [[nodiscard]] std::string failure() const { return answer_.failure; }
  /// How many executions were explored, a failing one included.
  [[nodiscard]] std::uint64_t executions() const noexcept { return answer_.executions; }
  [[nodiscard]] double seconds() const noexcept { return answer_.seconds; }
  /// The verdict as a person reads it, with the execution that fails.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

  /// For test frameworks, which print values so.
  friend std::ostream& operator<<(std::ostream& out, const verdict& v) { return out << v.text_; }

 private:
  template <class Body>
  friend verdict check(const check_options& options, Body&& body);

  runq_check_answer answer_{.status = 2, .executions = 0, .seconds = 0, .failure = {}};  // until check() has one
  std::string text_;
};

/// Calls `body` once for every execution of it that the memory model allows, and says whether any fails: by an
/// assertion, a data race, a crash, an uncaught exception, memory used after it was freed, a deadlock, a leak. Each
/// call finds the memory of the process as it is now: what `body` does has no effect on the program after the check. It
/// runs on the thread that called check(), and starts others as it likes. Not to be called within a check.
template <class Body>
[[nodiscard]] verdict check(const check_options& options, Body&& body) {
  const std::string text = detail::words_of(options);
  auto invoke = [&body] { body(); };
  const auto call = +[](void* self) { (*static_cast<decltype(invoke)*>(self))(); };
  const runq_check_request request{call, &invoke, text.c_str()};
  verdict found;
  const auto add =
      +[](void* to, const char* more, std::size_t size) { static_cast<std::string*>(to)->append(more, size); };
  runq_check_run(&request, &found.answer_, add, &found.text_);
  return found;
}
template <class Body>
[[nodiscard]] verdict check(Body&& body) {
  return check(check_options{}, std::forward<Body>(body));
}

#ifndef RUNQ_CHECK_RUNTIME
namespace detail {
/// Tells the runtime that the program is a test with checks in it, rather than one to be checked as a whole.
[[maybe_unused, gnu::used]] inline const int announced = runq_check_announce();
}  // namespace detail
#endif

}  // namespace runq

#ifndef RUNQ_CHECK_RUNTIME
// GoogleTest's testing::internal::AssertHelper::operator=(const Message&) const, which every failed assertion calls:
// the linker sends these calls to the second function below (target runq::check). The helper begins with a pointer to a
// structure, which begins with the kind of the assertion.
extern "C" {
__attribute__((weak)) void runq_gtest_report(const void* helper, const void* message) __asm__(
    "__real__ZNK7testing8internal12AssertHelperaSERKNS_7MessageE");
void runq_gtest_assertion(const void* helper,
                          const void* message) __asm__("__wrap__ZNK7testing8internal12AssertHelperaSERKNS_7MessageE");
__attribute__((weak, used)) void runq_gtest_assertion(const void* helper, const void* message) {
  constexpr int non_fatal_failure = 1;
  constexpr int fatal_failure = 2;
  const int kind = **static_cast<const int* const*>(helper);
  runq_check_assertion(&runq_gtest_report, helper, message, kind == non_fatal_failure || kind == fatal_failure);
}
}
#endif

/// For GoogleTest: a non-fatal failure with the execution that fails, unless none does. Takes what check() takes.
/// Compilers count all of a macro's arguments as one line, so a body that is written inside the macro has one line in
/// the counterexample: give the body a name before, or use RUNQ_TEST.
#define RUNQ_EXPECT_CHECKED(...)                                                                    \
  switch (0)                                                                                        \
  case 0:                                                                                           \
  default:                                                                                          \
    if (const ::runq::verdict runq_verdict_ = ::runq::check(__VA_ARGS__); runq_verdict_.passed()) { \
    } else                                                                                          \
      ADD_FAILURE() << runq_verdict_

/// For GoogleTest: a test whose body is checked, each execution of it.
///     RUNQ_TEST(Mailbox, HandsOver) { … }
#define RUNQ_TEST(suite, name)                                              \
  static void runq_body_of_##suite##_##name();                              \
  TEST(suite, name) { RUNQ_EXPECT_CHECKED(runq_body_of_##suite##_##name); } \
  static void runq_body_of_##suite##_##name()

/// An assertion that NDEBUG does not leave out: fails the running execution of a check, or stops the program.
#define RUNQ_ASSERT(...) \
  ((__VA_ARGS__) ? static_cast<void>(0) : runq_check_fail("assertion fails: " #__VA_ARGS__, __FILE__, __LINE__))
