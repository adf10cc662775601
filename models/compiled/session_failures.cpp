// SPDX-License-Identifier: MIT
// What becomes of a failure that does not end the check: it is noted, or it is a race that the user accepts.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "session.hpp"

namespace runq::model::compiled {

/// Its kind and where it happens: both lines of a race, all lines at which threads wait for ever. Most have happened
/// before in the same code.
const std::string& session::key_of(failure what, const std::string& message, const std::vector<site>& where) {
  std::vector<const frame*> code;
  if (now_.race[0] != nullptr) {
    code.assign(now_.race.begin(), now_.race.end());
  } else {
    for (const site& at : where) code.push_back(static_cast<const frame*>(at.code));
  }
  std::string as_met = static_cast<char>(what) + message;
  for (const frame* const& at : code) as_met.append(reinterpret_cast<const char*>(&at), sizeof at);
  const auto [known, added] = known_failures_.try_emplace(std::move(as_met));
  if (!added) return known->second;
  std::set<std::string> places;
  for (const frame* const at : code) places.insert(code_.to_text(at));
  known->second = std::to_string(static_cast<int>(what));
  for (const std::string& place : places) known->second += ' ' + place;
  if (now_.race[0] == nullptr) known->second += ' ' + without_numbers(message);
  return known->second;
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
