// SPDX-License-Identifier: MIT
#include "program_waits.hpp"

#include <cstring>
#include <numeric>

#include <fmt/format.h>

#include "register_use.hpp"

namespace runq::model::compiled {

using exact::event_id;

namespace {

[[nodiscard]] std::uint64_t stack_word(const std::byte* at) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

}  // namespace

void program_waits::begin_execution() noexcept {
  for (auto& [at, place] : places_) place.begin_execution();
}

void program_waits::begin_thread(unsigned thread) {
  thread_info& t = threads_[thread];
  t.visits.clear();
  t.came_by.clear();
  t.rounds.clear();
  t.woken.clear();
  t.timed = 0;
  t.timeouts = 0;
  t.spurious_wakeups = 0;
  t.failed_spuriously = 0;
  t.passed.clear();
}

/// What was noted before the last effect. A loop may undo changes of atomic variables: then it comes by as before.
void program_waits::forget_before_effect() {
  const bool has_change = std::exchange(now_.running().has_change, false);
  const bool has_effect = std::exchange(now_.running().has_effect, false);
  thread_info& t = mine();
  const bool has_failed = std::exchange(t.failed_spuriously, now_.running().failed_spuriously) != t.failed_spuriously;
  if (!has_change && !has_effect && !has_failed) return;
  // With a limit that others may use up, the next time a spurious failure will be a success.
  if (has_effect || (has_failed && now_.limits.spurious_of_thread == 0)) {
    t.visits.clear();
    now_.running().shared_access_count = 0;
  }
  t.rounds.clear();
  t.woken.clear();
}

/// A loop that only reads repeats itself until it reads another value. Its state, which decides what it does next, is
/// the registers and its own stack. Other memory is as it was: the thread has written none, and it can see what others
/// write there only after it has read another value.
void program_waits::look_for_loop(const caller_state& caller, const void* code) {
  if (!recognises_loops_) return;
  forget_before_effect();
  const std::size_t most_visits = now_.search->keeps_rounds() ? 128 : 64;  // of longer loops waits are not recognised
  const std::uint64_t state = state_of(caller);
  if (now_.search->on_shortcut()) tell_state(state);
  std::vector<visit>& visits = mine().visits;
  const visit here{code,
                   caller.stack,
                   state,
                   now_.search->position(),
                   mine().timed,
                   now_.running().accesses,
                   now_.running().shared_access_count,
                   now_.running().write_count,
                   now_.running().other_effects,
                   now_.running().access_count};
  // While the thread is replayed, the graph says what it does.
  if (now_.search->at_frontier() && !now_.search->on_shortcut()) {
    if (now_.search->skips_undone_rounds()) look_for_undone_round(here);
    if (const visit* const before = beginning_of_wait(state)) return wait_as_in(*before, code);
    if (now_.search->takes_shortcuts()) look_for_shortcut(here);
  }
  if (visits.size() == most_visits) visits.erase(visits.begin());
  visits.push_back(here);
  if (!now_.search->takes_shortcuts()) return;
  now_.running().moments.resize(here.position + 1);
  now_.running().moments.back() = {state, code};
  std::vector<visit>& passed = mine().came_by;
  if (passed.size() == most_visits) passed.erase(passed.begin());
  passed.push_back(here);
}

/// The running thread is in that state. Since when it has made a round in vain, and so waits; nullptr: it goes on. One
/// such round may be kept: then it is the next one.
const program_waits::visit* program_waits::beginning_of_wait(std::uint64_t state) const {
  const std::vector<visit>& visits = threads_[now_.self.number].visits;
  const auto rounds = std::count_if(visits.begin(), visits.end(), [=](const visit& v) { return v.state == state; });
  const bool is_late_round = rounds >= std::ptrdiff_t{now_.limits.rounds};
  unsigned kept = now_.search->keeps_rounds() ? 1 : 0;
  for (const visit& v : visits) {
    if (v.state == state && undoes_changes_since(v.position, is_late_round) && kept-- == 0) return &v;
  }
  return nullptr;
}

/// Whether the running thread has made a round that changes variables and undoes that, and is where it would be without
/// it. What it has done since its last operation before this is kept, or nothing is.
void program_waits::look_for_undone_round(const visit& now) {
  const std::vector<visit>& passed = mine().came_by;
  if (passed.empty() || now_.running().changed == 0) return;
  const exact::graph& graph = now_.search->current_graph();
  const unsigned self = now_.search->running();
  const visit& kept = passed.back();
  for (auto v = passed.rbegin(); v != passed.rend(); ++v) {
    if (v->position == now.position) continue;
    if (v->timed != now.timed || v->effects != now.effects) return;
    const bool is_here_again = v->state == now.state;
    const bool tries_again =
        v->position < kept.position && graph.at(self, kept.position).repeats(graph.at(self, v->position));
    if (!is_here_again && !tries_again) continue;
    const unsigned end = is_here_again ? now.position : kept.position;
    // What it reads plainly may race with what comes after the round. Of a thread that is alone only writes are
    // counted.
    const visit& last = is_here_again ? now : kept;
    if (v->accesses != last.accesses || v->writes != last.writes) continue;
    exact::undone_round round;
    if (!reads_heap_again(v->position, end) || !atomics_.undone().is_undone(v->position, end, round)) continue;
    const std::optional<std::uint64_t> state = with_writes(now.state, kept.writes);
    if (!is_here_again && !(state && now_.search->is_reached_without(v->position, end, *state))) continue;
    atomics_.undone().leave_out(round);
    leave_out_round(v->position, true, now.code);
  }
}

/// Whether whatever of the heap the running thread has accessed up to `end` it accesses right after that: so if it is
/// freed beside the first access, it is freed beside the later one.
bool program_waits::reads_heap_again(unsigned begin, unsigned end) const {
  const exact::graph& graph = now_.search->current_graph();
  const unsigned self = now_.search->running();
  for (unsigned i = begin; i != end; ++i) {
    const event_id variable = graph.at(self, i).variable;
    if (variable == exact::nobody || !memory_.heap().owns(atomics_.address_of(variable.index))) continue;
    if (end == now_.search->position() || graph.at(self, end).variable != variable) return false;
  }
  return true;
}

/// The state, and what the running thread has written plainly since then; nothing: that is too much.
std::optional<std::uint64_t> program_waits::with_writes(std::uint64_t state, std::size_t since) const {
  const thread_state& t = now_.threads[now_.self.number];
  if (t.write_count - since > t.writes.size()) return {};
  for (std::size_t i = since; i != t.write_count; ++i) {
    const plain_write& w = t.writes[i % t.writes.size()];
    const auto* const begin = static_cast<const unsigned char*>(w.at);
    state = std::accumulate(begin, begin + w.size, state ^ reinterpret_cast<std::uintptr_t>(begin),
                            [](std::uint64_t sum, unsigned char byte) { return mixed(sum, byte); });
  }
  return state;
}

/// On a shortcut the thread must have had no effect that it has not had without it.
void program_waits::tell_state(std::uint64_t state) {
  const std::vector<visit>& passed = mine().came_by;
  const unsigned begin = now_.search->beginning_of_shortcut();
  const auto first = std::find_if(passed.rbegin(), passed.rend(), [=](const visit& v) { return v.position <= begin; });
  const thread_state& t = now_.running();
  const bool is_sure = first != passed.rend() && first->effects == t.other_effects;
  now_.search->tell_state(is_sure ? with_writes(state, first->writes) : std::nullopt);
}

/// What the thread returns is all that is left of its state.
void program_waits::thread_ends(const void* result) {
  if (!recognises_loops_ || !now_.search->takes_shortcuts()) return;
  forget_before_effect();
  const visit here{nullptr,
                   nullptr,
                   reinterpret_cast<std::uintptr_t>(result),
                   now_.search->position(),
                   mine().timed,
                   now_.running().accesses,
                   now_.running().shared_access_count};
  if (now_.search->on_shortcut()) return tell_state(here.state);
  if (now_.search->at_frontier()) look_for_shortcut(here);
}

/// The number of events in the last round of a loop that the running thread has made; 0: there was none.
unsigned program_waits::length_of_last_round(const visit& now) const {
  const std::vector<visit>& visits = threads_[now_.self.number].visits;
  const auto before = [&](const visit& v) {
    const auto end = std::find_if(visits.rbegin(), visits.rend(),
                                  [&](const visit& w) { return w.position <= v.position && &w != &v; });
    return std::find_if(end, visits.rend(), [&](const visit& w) { return w.code == v.code && w.stack == v.stack; });
  };
  if (const auto b = before(now); b != visits.rend()) return now.position - b->position;
  for (auto v = visits.rbegin(); v != visits.rend(); ++v) {
    if (const auto b = before(*v); b != visits.rend()) return v->position - b->position;
  }
  return length_of_failed_attempt(now);
}

/// A compare-exchange that fails may end the loop, which has no second round then: what has failed began where the
/// thread last read that variable. 0: nothing has failed.
unsigned program_waits::length_of_failed_attempt(const visit& now) const {
  const exact::graph& graph = now_.search->current_graph();
  const unsigned self = now_.search->running();
  if (now.position == 0) return 0;
  const unsigned last = now.position - 1;
  const exact::node& failed = graph.at(self, last);
  if (failed.kind != exact::node_kind::read || failed.change != exact::update::exchange || failed.exclusive) return 0;
  for (unsigned i = last; i-- != 0 && exact::only_reads(graph.at(self, i));) {
    if (graph.at(self, i).kind == exact::node_kind::read && graph.at(self, i).variable == failed.variable)
      return last - i;
  }
  return 0;
}

/// Whether the round that the running thread has just made changes nothing but what the thread has read: with the newer
/// values at once, it would be here in the same state. Then another execution shows what follows. Of the thread's last
/// events, one or more are kept; as many as the round has are left out before them.
void program_waits::look_for_shortcut(const visit& now) {
  const unsigned round = length_of_last_round(now);
  if (round == 0) return;
  const std::vector<visit>& visits = mine().visits;
  const exact::graph& graph = now_.search->current_graph();
  const unsigned self = now_.search->running();
  for (unsigned kept = 1; kept <= 2 * round && kept + round <= now.position; ++kept) {
    const unsigned begin = now.position - round - kept;
    const exact::node& old = graph.at(self, begin);
    const exact::node& newer = graph.at(self, now.position - kept);
    if (!exact::only_reads(newer)) return;
    const auto at = [&](unsigned position) {
      return std::find_if(visits.rbegin(), visits.rend(), [=](const visit& v) { return v.position <= position; });
    };
    const auto first = at(begin);
    if (first == visits.rend() || first->timed != now.timed) return;
    const bool may_read_newer = old.kind == exact::node_kind::read && newer.kind == old.kind &&
                                old.variable == newer.variable && old.source != newer.source;
    if (!may_read_newer || !may_be_left_out(begin, now.position - kept)) continue;
    const std::optional<accesses> once = accessed_once(*first, *at(now.position - kept));
    if (!once || (!once->empty() && now_.search->keeps_rounds())) continue;
    if (!now_.search->is_reached_without(begin, now.position - kept, now.state)) continue;
    for (const reads_in_waits::place& p : *once) now_.waits.note(p);
    leave_out_round(begin, once->empty(), now.code);
  }
}

/// The round of a loop that has begun there. `no_race_is_lost`: see exact::search.
void program_waits::leave_out_round(unsigned begin, bool no_race_is_lost, const void* code) {
  now_.search->leave_out_round(begin, no_race_is_lost, code_.here(code));
}

/// What the running thread has accessed between these visits, and not again since then. Who races with the first of two
/// such accesses races with the second one, or has been executed already. Nothing: that is not known.
std::optional<program_waits::accesses> program_waits::accessed_once(const visit& begin, const visit& end) const {
  const thread_state& t = now_.threads[now_.self.number];
  if (t.shared_access_count == t.shared_accesses.size()) return {};
  const shared_access* const first = t.shared_accesses.data() + begin.shared_accesses;
  const shared_access* const again = t.shared_accesses.data() + end.shared_accesses;
  const shared_access* const last = t.shared_accesses.data() + t.shared_access_count;
  accesses found;
  for (const shared_access* a = first; a != again; ++a) {
    if (std::none_of(again, last, [=](const shared_access& later) { return later.stands_for(*a); }))
      found.push_back(place_of(*a));
  }
  add_accessed_once_on_heap(begin.position, end.position, found);
  return found;
}

/// The same of atomic variables on the heap: they may be freed beside a read.
void program_waits::add_accessed_once_on_heap(unsigned begin, unsigned end, accesses& found) const {
  const exact::graph& graph = now_.search->current_graph();
  const unsigned self = now_.search->running();
  const auto is_read_later = [&](event_id variable) {
    for (unsigned i = end; i != now_.search->position(); ++i) {
      if (graph.at(self, i).variable == variable) return true;
    }
    return false;
  };
  for (unsigned i = begin; i != end; ++i) {
    const event_id variable = graph.at(self, i).variable;
    if (variable == exact::nobody || !memory_.heap().owns(atomics_.address_of(variable.index))) continue;
    if (!is_read_later(variable)) add_variable(graph.at(self, i), found);
  }
}

reads_in_waits::place program_waits::place_of(const shared_access& a) const {
  const std::uintptr_t granule = reinterpret_cast<std::uintptr_t>(a.at) - offset_in_granule(a.at);
  return {now_.search->running(),
          granule + static_cast<unsigned>(std::countr_zero(a.bytes)),
          granule + static_cast<unsigned>(std::bit_width(a.bytes)),
          {false, a.is_write}};
}

/// What the running thread's event accesses, if that is a variable.
void program_waits::add_variable(const exact::node& n, accesses& to) const {
  if (n.variable == exact::nobody) return;
  const void* const at = atomics_.address_of(n.variable.index);
  for (const atomic_place& p : memory_.at(at).places()) {
    if (p.variable != n.variable.index || p.is_upper) continue;
    const auto begin = reinterpret_cast<std::uintptr_t>(at);
    to.push_back({now_.search->running(), begin, begin + p.size, {true, n.changes_memory()}});
  }
}

/// Whether the running thread's events from `begin` to `end` could as well not have been there.
bool program_waits::may_be_left_out(unsigned begin, unsigned end) const {
  const exact::graph& graph = now_.search->current_graph();
  const unsigned self = now_.search->running();
  for (unsigned i = begin; i != end; ++i) {
    if (!exact::only_reads(graph.at(self, i))) return false;
  }
  return true;
}

/// Whether the running thread has left every variable that it has changed since then as it was. If it has read nothing
/// new either, it can do the same again, as often as it likes. Two such threads may show each other something new in
/// every round: after some rounds that counts no longer.
bool program_waits::undoes_changes_since(unsigned position, bool is_late_round) const {
  if (now_.running().changed <= position) return true;
  const exact::graph& graph = now_.search->current_graph();
  const unsigned self = now_.search->running();
  for (unsigned i = position; i != now_.search->position(); ++i) {
    const exact::node& n = graph.at(self, i);
    if (n.kind == exact::node_kind::read && !is_late_round && !had_seen(n.source, position)) return false;
    if (n.kind != exact::node_kind::write) continue;
    const bool is_last = n.newer == exact::nobody || n.newer.thread != self;
    if (is_last && !atomics_.restores_value(i, position)) return false;
  }
  return true;
}

/// Whether the running thread knew of the write, or had read it, when it had so many events.
bool program_waits::had_seen(event_id write, unsigned position) const {
  const exact::graph& graph = now_.search->current_graph();
  const unsigned self = now_.search->running();
  if (write.thread == self || write.thread == exact::constructing) return true;
  if (position != 0 && graph.at(self, position - 1).hb.covers(write)) return true;
  for (unsigned i = 0; i != position; ++i) {
    const exact::node& n = graph.at(self, i);
    if (n.kind == exact::node_kind::read && n.source == write) return true;
  }
  return false;
}

/// The running thread is where it was then.
void program_waits::wait_as_in(const visit& before, const void* code) {
  note_accesses_since(before.position, before.plain);
  // The round had a compare-exchange that failed for no reason: without it, the thread is where it is now.
  if (now_.running().failed_spuriously > before.position) now_.search->leave_out();
  // A deadline may end this: an execution in which it does is explored, too.
  if (before.timed != mine().timed) wait_for_others(before.position, code);
  if (now_.running().changed > before.position) {
    now_.omitted.undone_changes = true;
    wait_for_others(before.position, code);  // who may wait for a change that the next round makes again
  }
  if (takes_locks_since(before.position)) now_.omitted.lock_rounds = true;
  if (now_.running().repeated > before.position) now_.omitted.repeated_stores = true;
  now_.search->await_since(before.position);
  // Each round may race with what others do.
  if (before.accesses != now_.running().accesses) now_.search->block(code_.here(code));
  now_.search->await_failed(code_.here(code));
  begin_round_again(before.position);
}

/// What the running thread has accessed since it had so many events, and plain accesses: see reads_in_waits. Of its own
/// stack what it accesses is noted of main() only: of another thread it may be all, which it may have written.
void program_waits::note_accesses_since(unsigned position, std::size_t plain) {
  if (now_.search->on_shortcut() || now_.search->keeps_rounds()) return;
  const unsigned self = now_.search->running();
  const thread_state& t = now_.running();
  if (t.last_lost > plain) now_.waits.note({self, 0, ~std::uintptr_t{0}, {false, true}});
  for (const thread_state::last_access& a : t.last_accesses) {
    const auto* const granule = reinterpret_cast<const void*>(a.granule);
    if (a.number > plain) now_.waits.note(place_of({granule, a.bytes, false}));
    if (a.write_number > plain) now_.waits.note(place_of({granule, a.written, true}));
  }
  if (self != main_thread) {
    const auto stack = reinterpret_cast<std::uintptr_t>(now_.self.stack);
    now_.waits.note({self, stack, stack + exact::fiber_stack_bytes, {false, true}});
  }
  accesses variables;
  for (unsigned i = position; i != now_.search->position(); ++i) {
    add_variable(now_.search->current_graph().at(self, i), variables);
  }
  for (const reads_in_waits::place& p : variables) now_.waits.note(p);
}

/// The one read of the round was taken back, and is not counted. Nothing else was noted: what leaves no event in the
/// round accesses an object of the program.
void program_waits::begin_round_again(unsigned position) {
  thread_info& t = mine();
  const auto counted =
      std::find_if(t.rounds.begin(), t.rounds.end(), [=](const rounds_at& r) { return r.last.index == position; });
  if (counted == t.rounds.end()) return;
  if (t.before_last_read.count == 0) {
    t.rounds.erase(counted);
  } else {
    *counted = t.before_last_read;
  }
}

bool program_waits::takes_locks_since(unsigned position) const {
  const exact::graph& graph = now_.search->current_graph();
  for (unsigned i = position; i != now_.search->position(); ++i) {
    if (graph.changes_value({static_cast<std::uint16_t>(now_.search->running()), static_cast<std::uint16_t>(i)})) {
      return true;
    }
  }
  return false;
}

/// The state of the running thread: its registers, its stack, and the locks that it holds. The words of the stack are
/// taken by four independent sums, because a multiplication takes longer than all the rest.
std::uint64_t program_waits::state_of(const caller_state& caller) {
  constexpr std::size_t lanes = 4;
  const auto mix = [](std::uint64_t& sum, std::uint64_t word) { sum = mixed(sum, word); };
  std::array<std::uint64_t, lanes> sums{1, 2, 3, 4};
  const std::byte* const end = now_.self.stack + exact::fiber_stack_bytes;
  const std::byte* at = caller.stack;
  now_.search->running_stack().note_use(at);
  for (; at + lanes * sizeof(std::uint64_t) <= end; at += lanes * sizeof(std::uint64_t)) {
    for (std::size_t i = 0; i != lanes; ++i) mix(sums[i], stack_word(at + i * sizeof(std::uint64_t)));
  }
  std::uint64_t state = 0;
  for (; at + sizeof(std::uint64_t) <= end; at += sizeof(std::uint64_t)) mix(state, stack_word(at));
  for (const std::uint64_t sum : sums) mix(state, sum);
  caller_state used = caller;
  forget_unused(used, reinterpret_cast<const void*>(stack_word(caller.stack)));
  for (const std::uint64_t r : used.registers) mix(state, r);
  for (const taken_lock& l : now_.running().taken) mix(state, reinterpret_cast<std::uintptr_t>(l.lock));
  for (const held_lock& h : now_.running().held) {
    if (h.times > 1) mix(state, reinterpret_cast<std::uintptr_t>(h.lock) + h.times);  // a recursive mutex
  }
  return state;
}

/// A loop that counts its rounds is never in the same state twice. After some rounds the search explores only
/// executions in which the loop ends by itself: it reads what it has read before, whatever has been written meanwhile.
/// A loop that writes, or goes on for more than bounds::most_rounds, waits until it reads something else: what follows
/// its end by the count is not explored.
event_id program_waits::read_in_earlier_round(const caller_state& caller, const void* at, bool may_write,
                                              const void* code) {
  if (!recognises_loops_ || now_.search->on_shortcut()) return exact::nobody;
  forget_before_effect();
  const event_id next{static_cast<std::uint16_t>(now_.search->running()),
                      static_cast<std::uint16_t>(now_.search->position())};
  for (rounds_at& r : mine().rounds) {
    if (r.code != code || r.stack != caller.stack || r.at != at) continue;
    const event_id last = r.last;
    const std::uint64_t value = now_.search->current_graph().at(last).value;
    mine().before_last_read = r;
    if (value != r.value) r.count = 1;
    r.value = value;
    r.last = next;
    if (++r.count <= now_.limits.rounds) return exact::nobody;
    if (!counts_in_vain(code)) now_.omitted.rounds = true;
    if (may_write || r.count > bounds::most_rounds) wait_for_others(last.index, code);
    return last;
  }
  mine().before_last_read = {};
  mine().rounds.push_back({code, caller.stack, at, 1, next, 0});
  return exact::nobody;
}

/// std::atomic::wait() spins for a fixed number of rounds, and forgets how many it took.
bool program_waits::counts_in_vain(const void* code) { return code_.is_from(code, "bits/atomic_wait.h"); }

void program_waits::note_taken(const void* lock) {
  mine().rounds.clear();
  now_.running().taken.push_back({lock, now_.search->position()});
}

/// A loop that waits may take a lock and give it back in each round. It may not give a lock back and take it again:
/// another thread may have had the lock in between, and what this thread saw before is then older than what it sees
/// now.
void program_waits::note_given_back(const void* lock) {
  std::vector<taken_lock>& taken = now_.running().taken;
  const auto found = std::find_if(taken.begin(), taken.end(), [&](const taken_lock& l) { return l.lock == lock; });
  if (found == taken.end()) return now_.note_effect();
  thread_info& t = mine();
  t.rounds.clear();
  for (std::vector<visit>* const before : {&t.visits, &t.woken}) {
    std::erase_if(*before, [&](const visit& v) { return v.position >= found->position; });
  }
  taken.erase(found);
}

program_waits::wait_begun program_waits::before_wait(const caller_state& caller) {
  if (!recognises_loops_) return {0, wait_begun::no_round};
  forget_before_effect();
  const std::uint64_t state = state_of(caller);
  unsigned kept = now_.search->keeps_rounds() ? 1 : 0;
  for (const visit& v : mine().woken) {
    if (v.state == state && kept-- == 0) return {state, v.position, v.plain};
  }
  return {state, wait_begun::no_round};
}

void program_waits::note_woken(const wait_begun& wait) {
  if (!recognises_loops_) return;
  forget_before_effect();
  mine().woken.push_back({nullptr, nullptr, wait.state, now_.search->position(), mine().timed});
  mine().woken.back().plain = now_.running().access_count;
}

/// A round that changes nothing and leads back to the wait may be left out, as one of a loop that takes locks.
void program_waits::leave_out_round(const wait_begun& wait, const void* code) {
  // While the thread is replayed, the graph says what it does.
  if (wait.round == wait_begun::no_round || !now_.search->at_frontier()) return;
  if (takes_locks_since(wait.round)) now_.omitted.lock_rounds = true;
  note_accesses_since(wait.round, wait.plain);
  wait_for_others(wait.round, code);
}

bool program_waits::may_wake_for_no_reason(const void* code) {
  thread_info& t = mine();
  if (t.spurious_wakeups == now_.limits.spurious_wakeups) {
    now_.omitted.spurious_wakeups = true;
    return false;
  }
  if (code_.choose(2, code, event_kind::wake_up) == 0) return false;
  ++t.spurious_wakeups;
  return true;
}

bool program_waits::returns_at_once(const wait_begun& wait, const void* code) {
  if (!now_.limits.wakes_at_once_only) return false;
  now_.omitted.spurious_wakeups = true;
  leave_out_round(wait, code);
  if (!may_wake_for_no_reason(code)) return false;
  note_woken(wait);
  return true;
}

bool program_waits::wakes_up_for_no_reason(const wait_begun& wait, const void* code) {
  if (now_.limits.wakes_at_once_only) return false;
  leave_out_round(wait, code);
  return may_wake_for_no_reason(code);
}

unsigned program_waits::begin_waiting(const void* at, const void* code) {
  const auto number =
      static_cast<unsigned>(atomics_.rmw(&place_of(at).begun, 4, rmw_op::add, 1, std::memory_order::relaxed, code));
  if (number >= waiting_place::most) {
    now_.search->give_up(
        fmt::format("limit reached: {} waits for one condition variable or atomic", waiting_place::most));
  }
  return number;
}

unsigned program_waits::begin_waiting_for_condition(const void* at, const void* mutex, const void* code) {
  const step by = code_.step_here(code);
  const unsigned number = begin_waiting(at, code);
  waiting_place& place = place_of(at);
  for (unsigned i = 0; i != number; ++i) {
    const auto& other = place.waiters[i];
    if (place.woken[i] != 0 || other.mutex == mutex) continue;
    code_.fail(failure::misuse,
               fmt::format("T{} waits for {} with another mutex than T{}, which waits for it at {}", by.thread - 1,
                           memory_.name_of_object(a_condition_variable, at), other.thread - 1, code_.to_text(other.at)),
               code);
  }
  place.waiters[number] = {by, mutex};
  return number;
}

void program_waits::wait_until_woken(const void* at, unsigned number, bool for_ever, const void* code) {
  wait_while(&place_of(at).woken[number], 1, 0, std::memory_order::relaxed, for_ever, code);
}

bool program_waits::stop_waiting(const void* at, unsigned number, const void* code) {
  std::uint64_t expected = 0;
  return atomics_.compare_exchange(&place_of(at).woken[number], 1, expected, 2, false, std::memory_order::relaxed,
                                   std::memory_order::relaxed, code);
}

unsigned program_waits::wake(const void* at, unsigned most, const void* code) {
  waiting_place& place = place_of(at);
  // Reads the newest count: a thread has begun to wait before this, or it sees what was done before this.
  const std::uint64_t begun = atomics_.rmw(&place.begun, 4, rmw_op::add, 0, std::memory_order::relaxed, code);
  std::vector<unsigned> asleep;
  for (unsigned i = 0; i != begun && i != waiting_place::most; ++i) {
    if (atomics_.load(&place.woken[i], 1, std::memory_order::relaxed, code) == 0) asleep.push_back(i);
  }
  unsigned woken = 0;
  while (!asleep.empty() && woken < most) {
    const auto chosen = asleep.size() <= most - woken ? 0 : code_.choose(static_cast<unsigned>(asleep.size()), code);
    const auto who = asleep.begin() + chosen;
    std::uint64_t expected = 0;
    if (atomics_.compare_exchange(&place.woken[*who], 1, expected, 1, false, std::memory_order::relaxed,
                                  std::memory_order::relaxed, code)) {
      ++woken;
    }
    asleep.erase(who);
  }
  return woken;
}

void program_waits::wait_while(const void* at, unsigned size, std::uint64_t value, std::memory_order order,
                               bool for_ever, const void* code) {
  now_.note_effect();
  const unsigned since = now_.search->position();
  now_.search->await_begin();
  while (atomics_.load(at, size, order, code) == value) {
    if (!for_ever && !now_.limits.judges_timed_waits) wait_for_others(since, code);
    now_.search->await_failed(code_.here(code));
  }
}

void program_waits::wait_until_above(const void* at, std::uint64_t value, const void* code) {
  now_.note_effect();
  now_.search->await_begin();
  while (atomics_.load(at, 4, std::memory_order::acquire, code) <= value) {
    now_.search->await_failed(code_.here(code));
  }
}

void program_waits::wait_for_others(unsigned since, const void* code) {
  now_.search->wait_unjudged(since, code_.here(code));
}

bool program_waits::times_out(const void* code) {
  thread_info& t = mine();
  ++t.timed;
  if (t.timeouts == now_.limits.timeouts) {
    now_.omitted.timeouts = true;
    return false;
  }
  if (now_.search->choose(2, code_.here(code), event_kind::time_out) == 0) return false;
  ++t.timeouts;
  now_.note_effect();
  return true;
}

/// What the running thread knows of: clocks never go back along happens-before.
std::uint64_t program_waits::known_time() const {
  constexpr std::uint64_t at_start = 1'000'000'000'000;  // any time but 0
  const exact::clock known = now_.search->knows();
  const unsigned self = now_.search->running();
  std::uint64_t time = at_start;
  for (unsigned t = 1; t <= max_threads; ++t) {
    for (const passed_time& p : threads_[t].passed) {
      if (p.until > time && (t == self || p.at.before(known))) time = p.until;
    }
  }
  return time;
}

std::uint64_t program_waits::time(const void* code) {
  now_.omitted.clocks = true;
  constexpr std::uint64_t long_enough = 1'000'000'000ULL * 3600 * 24;
  if (times_out(code)) let_time_pass_until(known_time() + long_enough);
  return known_time();
}

void program_waits::let_time_pass_until(std::uint64_t nanoseconds) {
  mine().passed.push_back(
      {{{}, now_.search->position(), static_cast<std::uint8_t>(now_.search->running())}, nanoseconds});
}

void program_waits::require_no_waiter(const void* begin, std::size_t size, const char* what, const void* code) {
  for (const auto& [key, place] : places_) {
    if (key.first < begin || key.first >= static_cast<const std::byte*>(begin) + size) continue;
    for (unsigned i = 0; i != std::min(place.begun, waiting_place::most); ++i) {
      if (place.woken[i] != 0 || place.waiters[i].thread == 0) continue;
      code_.fail(
          failure::misuse,
          fmt::format("{} is {} while T{} waits for it at {}", memory_.name_of_object(a_condition_variable, key.first),
                      what, place.waiters[i].thread - 1, code_.to_text(place.waiters[i].at)),
          code);
    }
  }
}

bool program_waits::tells(unsigned variable, std::uint64_t value) const noexcept {
  const void* const word = atomics_.address_of(variable);
  for (const auto& [key, place] : places_) {
    if (word >= &place && word < &place + 1) return word != &place.begun && value == 1;  // see waiting_place::woken
  }
  return true;
}

const void* program_waits::awaited_at(const void* word) const noexcept {
  for (const auto& [key, place] : places_) {
    if (word >= &place && word < &place + 1) return key.first;
  }
  return nullptr;
}

}  // namespace runq::model::compiled
