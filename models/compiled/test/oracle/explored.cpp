// SPDX-License-Identifier: MIT
// The generated programs under ./kit explore: an outcome that the enumerator does not have ends a run with status 1.
// `right FILE`: those in which no execution fails, one after the other; which outcomes came is added to FILE.
// `wrong N`: the N-th of those in which some execution fails, after a line with what fails in them; status 3: there are
// no more.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "oracle.hpp"

namespace oracle_programs {

namespace {

constexpr int no_such_program = 3;

/// The explorer needs seconds to see that a loop waits without end; and its condition variables wake for no reason,
/// which the enumerator's never do.
bool is_left_out(const oracle_program& p) {
  const std::string_view family = p.family;
  const bool never_ends = std::string_view(p.expected[0].failures).find("deadlock") != std::string_view::npos;
  if (family.substr(0, 6) == "notify") return true;
  return never_ends && family.find("awaits") != std::string_view::npos;
}

/// What the enumerator finds if each weak compare-exchange may fail for no reason; nullptr: it has not been asked, or
/// the program is left out.
const expectation* expected_of(const oracle_program& p) {
  unsigned weak = 0;
  const std::string_view text = p.text;
  for (std::size_t at = text.find("weak cas"); at != std::string_view::npos; at = text.find("weak cas", at + 1)) ++weak;
  const bool is_known = weak < p.expected.size() && p.expected[weak].outcomes != nullptr && !is_left_out(p);
  return is_known ? &p.expected[weak] : nullptr;
}

template <class Function>
void for_each(bool is_right, Function f) {
  for (const program_list* l = all_lists; l != nullptr; l = l->next) {
    for (std::size_t i = 0; i != l->count; ++i) {
      const expectation* const e = expected_of(l->programs[i]);
      if (e != nullptr && (*e->failures == '\0') == is_right) f(l->programs[i], *e);
    }
  }
}

/// Which line of the expected ones it is, and how many they are: "2/5".
std::string place_among(const std::string& outcome, std::string_view expected) {
  unsigned place = 0, count = 0;
  for (std::size_t begin = 0; begin != expected.size(); ++count) {
    const std::size_t end = expected.find('\n', begin) + 1;
    if (expected.substr(begin, end - begin) == outcome) place = count + 1;
    begin = end;
  }
  return place == 0 ? std::string() : std::to_string(place) + "/" + std::to_string(count);
}

/// A run that fails shows the last lines of its output.
void tell(const oracle_program& p) {
  std::printf("%s\n%s", p.family, p.text);
  std::fflush(stdout);
}

std::string run_and_judge(const oracle_program& p, const expectation& e) {
  random_programs::forget_outcomes();
  tell(p);
  run(p);
  const std::string outcome = random_programs::outcomes();
  std::string place = place_among(outcome, e.outcomes);
  if (place.empty()) {
    std::printf("forbidden: %sallowed:\n%s", outcome.c_str(), e.outcomes);
    std::exit(1);
  }
  return place;
}

int run_right(const char* file) {
  std::string seen;
  unsigned number = 0;
  for_each(true, [&](const oracle_program& p, const expectation& e) {
    seen += std::to_string(number++) + " " + run_and_judge(p, e) + "\n";
  });
  const int to = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  return to >= 0 && write(to, seen.data(), seen.size()) == static_cast<ssize_t>(seen.size()) ? 0 : 2;
}

int run_wrong(unsigned long wanted) {
  unsigned long number = 0;
  int status = no_such_program;
  for_each(false, [&](const oracle_program& p, const expectation& e) {
    if (number++ != wanted) return;
    std::string failures = e.failures;
    for (char& c : failures) c = c == '\n' ? ';' : c;
    std::printf("fails by: %s\n", failures.c_str());
    tell(p);
    run(p);
    status = 0;
  });
  return status;
}

}  // namespace
}  // namespace oracle_programs

int main(int, char** arguments) {
  if (!random_programs::prepare_outcomes()) return 2;
  return arguments[1] == std::string_view("right")
             ? oracle_programs::run_right(arguments[2])
             : oracle_programs::run_wrong(std::strtoul(arguments[2], nullptr, 10));
}
