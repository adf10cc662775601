// SPDX-License-Identifier: MIT
// What becomes of a failure that does not end the check: it is noted, or it is a race that the user accepts.
#include <algorithm>

#include <fmt/format.h>

#include "session.hpp"

namespace runq::model::compiled {

/// Its kind and where it happens: both lines of a race, all lines at which threads wait for ever.
std::string session::key_of(failure what, const std::string& message, const std::vector<site>& where) {
  std::vector<std::string> places;
  if (now_.race[0] != nullptr) {
    for (const frame* const at : now_.race) places.push_back(code_.to_text(at));
  } else {
    for (const site& at : where) places.push_back(code_.to_text(static_cast<const frame*>(at.code)));
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::string key = std::to_string(static_cast<int>(what));
  for (const std::string& place : places) key += ' ' + place;
  if (now_.race[0] == nullptr) key += ' ' + without_numbers(message);
  return key;
}

bool session::note_failure(failure what, const std::string& message, const std::vector<site>& where,
                           std::size_t steps) {
  note_accepted_race();
  if (!accepted_race_.empty()) return false;
  if (failures_here_ == 0) failures_.note_failing_execution();
  const bool goes_on =
      failures_.note(key_of(what, message, where), failures_here_++, steps, [this] { return now_.search->way_here(); });
  now_.shown.clear();
  now_.race = {};
  return goes_on;
}

void session::note_accepted_race() {
  if (now_.race[0] == nullptr || !options_.is_accepted) return;
  std::vector<code_line> lines;
  for (const frame* const at : now_.race) {
    const site where = code_.own_line(at);
    lines.push_back({where.file, where.line});
  }
  const bool is_known = lines[0].line != 0 && lines[1].line != 0;
  if (is_known && options_.is_accepted(lines[0], lines[1])) accepted_race_ = lines;
}

}  // namespace runq::model::compiled
