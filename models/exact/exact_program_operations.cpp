// SPDX-License-Identifier: MIT
#include "exact_program_operations.hpp"

#include <utility>

#include "exact_barrier.hpp"
#include "exact_record.hpp"

namespace runq::model::exact {

location program_operations::find_variable(unsigned index, std::uint64_t mask, std::uint64_t value, site where) {
  if (!run_.g->find_variable(index, mask, value)) {
    report_here(failure::misuse, "the program is not deterministic: replayed, a variable begins with another value",
                where);
  }
  return known_variable(index, mask);
}

location program_operations::known_variable(unsigned index, std::uint64_t mask) noexcept {
  return {to_record({static_cast<std::uint16_t>(constructing), static_cast<std::uint16_t>(index)}, true), mask};
}

void program_operations::spawn(unsigned thread, site where, unsigned like) {
  executor_.perform(step::spawn{thread, like}, where);
  executor_.start(thread);
}

void program_operations::join(unsigned thread, site where) { executor_.perform(step::join{thread}, where); }

unsigned program_operations::choose(unsigned alternatives, site where, event_kind shown) {
  const event_id e = executor_.perform(step::choose{alternatives, shown}, where);
  return static_cast<unsigned>(run_.g->at(e).value);
}

std::uint64_t program_operations::load(location& at, std::memory_order order, event_id like, site where) {
  const operation wanted = step::load{variable_of(at, where), order, like, at.accessed};
  return at.accessed.get(run_.g->at(executor_.perform(wanted, where)).value);
}

void program_operations::store(location& at, std::uint64_t value, std::memory_order order, site where) {
  if (at.accessed.is_whole()) return scenario_operations::store(at, value, order, where);
  executor_.perform(step::overwrite{variable_of(at, where), value, order, at.accessed}, where);
}

bool program_operations::compare_exchange(location& at, std::uint64_t& expected, std::uint64_t desired, bool weak,
                                          std::memory_order success, std::memory_order failure, event_id like,
                                          site where) {
  return exchange(expected,
                  step::exchange{variable_of(at, where), expected, desired, success, failure, weak, like, at.accessed},
                  where);
}

bool program_operations::mutex_try_lock(location& at, event_id like, site where) {
  std::uint64_t holder = 0;
  return exchange(holder, step::lock{variable_of(at, where), run_.current + 1, false, like}, where);
}

bool program_operations::take(location& at, std::uint64_t first, std::uint64_t count, std::uint64_t delta,
                              bool blocking, site where) {
  for (;;) {
    if (blocking) await_begin();
    const event_id e = executor_.perform(step::take{variable_of(at, where), first, count, delta, blocking}, where);
    if (run_.g->at(e).exclusive) return true;
    if (!blocking) return false;
    await_failed(where);
  }
}

event_id program_operations::arrive(location& at, arriving how, site where) {
  return executor_.perform(step::arrive{variable_of(at, where), how.needed, how.looks, how.count, how.leaving}, where);
}

bool program_operations::depart(event_id arrival, site where) {
  const event_id barrier = run_.g->at(arrival).variable;
  const std::uint32_t round = run_.g->at(arrival).place;
  executor_.perform(step::depart{barrier, round, arrival}, where);
  const serial_choice choice = choice_in(*run_.g, barrier, round);
  const unsigned own = choice.number_of(arrival.thread);
  if (own == choice.count) return false;
  if (choice.made == nobody) return true;
  return own == (own == 0 ? choose(choice.alternatives, where) : run_.g->at(choice.made).value);
}

void program_operations::depart(location& at, std::uint32_t round, bool by_token, site where) {
  executor_.perform(step::depart{variable_of(at, where), round, nobody, by_token}, where);
}

void program_operations::give_up_rounds(const std::string& why) {
  if (on_shortcut()) run_.abandon();
  executor_.give_up_rounds(why);
}

void program_operations::block(site where) {
  run_.running().where = where;
  run_.stop_running_thread(status::waiting);
}

void program_operations::wait_unjudged(unsigned since, site where) {
  await_since(since);
  run_.running().where = where;
  run_.stop_running_thread(status::discarded);
}

bool program_operations::is_reached_without(unsigned begin, unsigned kept, std::uint64_t state) {
  shortcut s{run_.current, begin, {}};
  for (unsigned i = kept; i != position(); ++i) s.kept.push_back(run_.g->at(run_.current, i));
  s.key = shortcuts::key_of(*run_.g, s);
  if (const shortcuts::state* const known = run_.known_shortcuts.find(s.key)) return *known == state;
  run_.wanted_shortcut = std::move(s);
  run_.abandon();
}

shortcuts::state program_operations::state_after(event_id read, std::uint64_t value, std::uint64_t key, bool may_read) {
  const shortcuts::state* known = run_.known_shortcuts.find(key);
  may_read = may_read && known != nullptr && *known == shortcuts::depends_on_memory;
  if (may_read) {
    key = (key ^ shortcuts::past_of(*run_.g, read)) * 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
    known = run_.known_shortcuts.find(key);
  }
  if (known != nullptr) return *known;
  shortcut s{read.thread, read.index, {run_.g->at(read)}, true, may_read, key};
  s.kept.front().value = value;
  s.kept.front().source = nobody;
  if (s.kept.front().exclusive) s.kept.push_back(run_.g->at(read.thread, read.index + 1U));
  run_.wanted_shortcut = std::move(s);
  run_.abandon();
}

void program_operations::tell_state(shortcuts::state state) {
  if (position() != run_.followed->end()) return;
  run_.followed_to = state;
  run_.abandon();
}

clock program_operations::knows() const noexcept {
  const thread_state& t = run_.running();
  return t.position == 0 ? run_.g->beginning_of(run_.current) : run_.g->at(run_.current, t.position - 1).hb;
}

void program_operations::report(failure what, std::string message, site where) {
  if (on_shortcut()) run_.abandon();
  judge_.report(what, std::move(message), where);
}

void program_operations::report_here(failure what, std::string message, site where) {
  if (on_shortcut()) run_.abandon();
  judge_.report_here(what, std::move(message), where);
}

void program_operations::give_up(std::string message) {
  if (on_shortcut()) run_.abandon();
  found_.cut_short(std::move(message));
  run_.abandon();
}

void program_operations::leave_out_round(unsigned since, bool no_race_is_lost, site where) {
  run_.has_left_out_round = true;
  if (run_.is_used_beside_rounds) require_no_round_left_out();
  if (no_race_is_lost && permanent_in(*run_.g).covers(run_.g->last_of(run_.current))) leave_out();
  wait_unjudged(since, where);
}

void program_operations::require_no_round_left_out() {
  run_.is_used_beside_rounds = true;
  if (!run_.has_left_out_round) return;
  give_up_waits_in_place(
      "a thread accesses what another one may have accessed in a round that is left out; check with --skip-retries "
      "off");
}

void program_operations::note_other_use(unsigned variable) {
  const event_id of{static_cast<std::uint16_t>(constructing), static_cast<std::uint16_t>(variable)};
  if (run_.differences.has(of)) give_up_undone_rounds();
}

void program_operations::give_up_undone_rounds() {
  found_.misled = technique::undone_rounds;
  give_up(
      "a thread might tell that another one has changed a variable and undone that, in a round that is left out; check "
      "with --skip-retries reading");
}

void program_operations::begin_again_with_differences() {
  found_.knows_more = true;
  give_up("a round that is left out was not known when the search began");
}

void program_operations::give_up_sizes(std::string message) {
  found_.sizes_differ = found_.sizes_differ || !on_shortcut();
  give_up(std::move(message));
}

void program_operations::give_up_waits_in_place(std::string message) {
  if (!on_shortcut()) found_.misled = technique::waits_in_place;
  give_up(std::move(message));
}

}  // namespace runq::model::exact
