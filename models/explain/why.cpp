// SPDX-License-Identifier: MIT
#include "why.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "calls.hpp"
#include "counterexample.hpp"
#include "runtime.hpp"
#include "source_names.hpp"

namespace runq::model {

namespace {

[[nodiscard]] std::uint64_t value_written(const event& e) { return is_rmw(e) ? e.written : e.value; }

class reason {
 public:
  reason(const search_result& r, const std::map<std::uint32_t, std::string>& names)
      : r_(r), trace_(r.trace), digits_(digits_of(r.trace)), names_(names) {}

  [[nodiscard]] explanation find() {
    if (r_.what == failure::none || trace_.empty()) return {};
    if (!r_.knows_sources) {
      if (r_.what == failure::not_linearizable) say(why_no_order(r_));
      return std::move(found_);
    }
    find_failing();
    switch (r_.what) {
      case failure::data_race:
      case failure::uninitialised_read:
      case failure::unpublished_allocation:
      case failure::use_after_free:
      case failure::double_free: explain_conflict(); break;
      case failure::check_failed:
      case failure::lost:
      case failure::run_twice:
      case failure::out_of_order:
      case failure::crash: explain_values(); break;
      case failure::not_linearizable: explain_answers(); break;
      case failure::not_lock_free:
      case failure::deadlock: explain_waiting(); break;
      case failure::leak: explain_leak(); break;
      default: break;
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] std::string step(std::size_t i) {
    found_.steps.push_back(i);
    return fmt::format("step {}", i + 1);
  }
  [[nodiscard]] std::string thread(int number) const { return number < 0 ? "main" : fmt::format("T{}", number); }
  [[nodiscard]] std::string variable(const event& e) const {
    const auto name = names_.find(e.location);
    const bool has_name = name != names_.end() && !name->second.empty();
    return (has_name ? name_in_step(e.kind, name->second) : fmt::format("v{}", e.location)) + e.accessed.text();
  }
  void say(std::string sentence) { found_.sentence = std::move(sentence); }

  template <class Accept>
  [[nodiscard]] std::optional<std::size_t> last_before(std::size_t index, Accept accept) const {
    for (std::size_t i = index; i-- != 0;) {
      if (accept(trace_[i])) return i;
    }
    return std::nullopt;
  }

  /// The engine ends a trace with a step that only says which thread fails; the operation is the one before.
  void find_failing() {
    const event& last = trace_.back();
    const auto own = last_before(trace_.size() - 1, [&](const event& e) { return e.thread == last.thread; });
    found_.failing = static_cast<std::uint32_t>(own.value_or(trace_.size() - 1));
  }

  // ----- which thread does not know of which step

  /// Whether a step that reads `write` and acquires it then knows of `step`.
  [[nodiscard]] bool hands_on(std::size_t write, std::size_t step) const {
    return includes(trace_[write].released, trace_[step]);
  }

  /// Whether `to` comes after `from` in program order or by what was read.
  [[nodiscard]] bool leads_to(std::size_t from, std::size_t to) const {
    std::vector<bool> reached(trace_.size(), false);
    std::set<int> threads;  // threads that have made a step that it leads to
    for (std::size_t i = from; i <= to; ++i) {
      const event& e = trace_[i];
      const bool by_read = reads(e) && e.reads_from != no_event && e.reads_from < i && reached[e.reads_from];
      const bool by_join = e.kind == event_kind::join && threads.contains(static_cast<int>(e.value));
      reached[i] = i == from || by_read || by_join || threads.contains(e.thread);
      if (!reached[i]) continue;
      threads.insert(e.thread);
      if (e.kind == event_kind::spawn) threads.insert(static_cast<int>(e.value));
    }
    return reached[to];
  }

  /// A read on the way from `first` to `second`. The write that it reads comes from a thread that knows of `first`, but
  /// the read does not acquire that knowledge.
  [[nodiscard]] std::optional<std::size_t> broken_link(std::size_t first, std::size_t second) const {
    std::optional<std::size_t> found;
    for (std::size_t i = first + 1; i <= second; ++i) {
      const event& e = trace_[i];
      if (!reads(e) || e.reads_from == no_event || e.reads_from >= i) continue;
      const std::size_t source = e.reads_from;
      if (trace_[source].thread == e.thread) continue;
      // A read-modify-write that does not acquire hands on what it does not know.
      const bool source_knows = source == first || happens_before(trace_, first, source) || hands_on(source, first);
      if (!source_knows || happens_before(trace_, first, i)) continue;
      if (i != second && !leads_to(i, second)) continue;
      // If the failing step knows of the reader, this is the only link that is missing.
      const bool is_last = i == second || happens_before(trace_, i, second);
      if (!found || is_last) found = i;
    }
    return found;
  }

  [[nodiscard]] static std::string described(const event& e) {
    return fmt::format("{}{}", to_string(e.order), e.weakened ? " (weakened)" : "");
  }

  /// "step 20 acquires from step 13, which is relaxed"
  [[nodiscard]] std::string describe_link(std::size_t read, std::size_t first) {
    const std::size_t write = trace_[read].reads_from;
    const event& r = trace_[read];
    const event& w = trace_[write];
    if (variable(w).starts_with(waiters)) return fmt::format("{} only wakes {}", step(write), thread(r.thread));
    const bool is_released = hands_on(write, first);
    if (acquires(r) && !is_released) {
      return fmt::format("{} acquires from {}, which is {}{}", step(read), step(write), described(w),
                         w.order == std::memory_order::relaxed ? "" : " and releases nothing");
    }
    if (is_released) {
      return fmt::format("{} reads what {} releases, but is itself {}", step(read), step(write), described(r));
    }
    return fmt::format("{} ({}) reads from {} ({})", step(read), described(r), step(write), described(w));
  }

  /// Why `first` does not happen before `second`.
  [[nodiscard]] std::string unordered(std::size_t first, std::size_t second) {
    if (const auto link = broken_link(first, second)) {
      return fmt::format("{}, so {} does not happen before {}", describe_link(*link, first), step(first), step(second));
    }
    return fmt::format("nothing that {} reads up to {} comes from {} after {}, so nothing orders the two",
                       thread(trace_[second].thread), step(second), thread(trace_[first].thread), step(first));
  }

  void explain_conflict() {
    const std::size_t failing = found_.failing;
    std::optional<std::size_t> partner;
    if (r_.partner != no_event && r_.partner < trace_.size()) partner = r_.partner;
    if (!partner && trace_[failing].location != 0) {
      partner = last_before(failing, [&](const event& e) {
        return e.location == trace_[failing].location && e.thread != trace_[failing].thread &&
               (writes(e) || writes_plain(e));
      });
    }
    if (!partner) {
      if (r_.what == failure::uninitialised_read) say(fmt::format("no step before {} writes there", step(failing)));
      return;
    }
    if (*partner == failing) return;
    if (happens_before(trace_, *partner, failing)) {
      say(fmt::format("{} happens before {}, and {}", step(*partner), step(failing),
                      r_.what == failure::double_free      ? "both free the same memory"
                      : r_.what == failure::use_after_free ? "has freed what it uses"
                                                           : "is in conflict with it"));
      return;
    }
    found_.unordered = static_cast<std::uint32_t>(*partner);
    const std::string missing = unordered(*partner, failing);
    const auto is_of_both = [&](int thread) {
      return thread == trace_[failing].thread || thread == trace_[*partner].thread;
    };
    // Without a link that is broken, an old value may have led one of them here.
    say(missing + (broken_link(*partner, failing) ? "" : what_was_not_seen(is_of_both)));
  }

  // ----- what was read

  [[nodiscard]] std::optional<std::size_t> write_of_newest(std::size_t read) const {
    const event& e = trace_[read];
    return last_before(
        read, [&](const event& w) { return w.location == e.location && writes(w) && value_written(w) == e.newest; });
  }

  void explain_values() {
    const int thread = trace_.back().thread;
    const auto is_stale = [&](const event& e) { return e.stale && (thread < 0 || e.thread == thread); };
    auto stale = last_before(trace_.size(), is_stale);
    if (!stale) stale = last_before(trace_.size(), [](const event& e) { return e.stale; });
    const bool is_delayed = std::any_of(trace_.begin(), trace_.end(), [&](const event& e) {
      return e.reads_from != no_event && e.reads_from > static_cast<std::size_t>(&e - trace_.data());
    });
    if (stale && !is_delayed) {
      const auto newest = write_of_newest(*stale);
      if (!newest) return;
      say(fmt::format("{} does not see {}: {}", step(*stale), step(*newest), unordered(*newest, *stale)));
      return;
    }
    for (std::size_t i = 0; i != trace_.size(); ++i) {
      const event& e = trace_[i];
      if (!reads(e) || e.location == 0) continue;
      if (e.reads_from != no_event && e.reads_from > i) {
        say(fmt::format("{} reads what {} writes only later: the read was delayed (load buffering)", step(i),
                        step(e.reads_from)));
        return;
      }
      const auto last = last_before(i, [&](const event& w) { return w.location == e.location && writes(w); });
      if (!last || e.reads_from == no_event || e.reads_from == *last) continue;
      say(fmt::format("{} reads from {}, and not from {}, which comes later in this order only", step(i),
                      step(e.reads_from), step(*last)));
      return;
    }
    say(interleaving());
  }

  /// What the calls answered, and how that came about.
  void explain_answers() {
    explain_values();
    const std::string answers = why_no_order(r_);
    if (answers.empty()) return;
    const std::string& values = found_.sentence;
    say(answers + (values.empty() ? "" : "; " + values));
  }

  /// Every read sees the last write before it: only the order in which the threads take turns matters.
  [[nodiscard]] std::string interleaving() {
    const int first_thread = trace_.front().thread;
    const auto is_of_it = [first_thread](const event& e) { return e.thread == first_thread; };
    if (std::all_of(trace_.begin(), trace_.end(), is_of_it)) {
      return fmt::format("{} alone leads here: no other thread makes a step", thread(first_thread));
    }
    std::map<std::uint32_t, std::set<int>> users;
    for (const event& e : trace_) {
      if (e.location != 0 && e.thread >= 0) users[e.location].insert(e.thread);
    }
    std::vector<std::size_t> turns;  // the last step of each
    for (std::size_t i = 0; i != trace_.size(); ++i) {
      const event& e = trace_[i];
      if (e.thread < 0 || !(reads(e) || writes(e)) || users[e.location].size() < 2) continue;
      if (!turns.empty() && trace_[turns.back()].thread == e.thread) turns.pop_back();
      turns.push_back(i);
    }
    std::string text =
        "every read sees the last write before it: the order of the steps alone leads here, whatever "
        "the memory orders";
    if (turns.size() < 2) return text;
    constexpr std::size_t most = 8;
    const std::size_t first = turns.size() > most ? turns.size() - most : 0;
    for (std::size_t i = first; i != turns.size(); ++i) {
      text += fmt::format("{} {} up to {}",
                          i != first   ? ", then"
                          : first == 0 ? ":"
                                       : ": at last",
                          thread(trace_[turns[i]].thread), step(turns[i]));
    }
    return text;
  }

  // ----- which thread waits for which

  /// The step at which `thread` took the lock that it still holds at the end.
  [[nodiscard]] std::optional<std::size_t> held_since(std::uint32_t lock) const {
    const auto last = last_before(trace_.size(), [&](const event& e) {
      return e.location == lock && (e.kind == event_kind::unlock || (e.kind == event_kind::lock && e.value == 1));
    });
    return last && trace_[*last].kind == event_kind::lock ? last : std::nullopt;
  }

  [[nodiscard]] std::optional<std::size_t> last_step_of(int thread) const {
    return last_before(trace_.size() - 1, [&](const event& e) { return e.thread == thread; });
  }

  /// Whether the thread waits for a lock in that step, its last one. It may have tried a lock in vain there, and wait
  /// for something else.
  [[nodiscard]] bool waits_for_lock(std::size_t last) const {
    const event& e = trace_[last];
    const auto is_elsewhere = [&e](const stuck_thread& s) {
      const bool is_later = s.since != no_event && s.since > e.position;
      return s.thread == e.thread && (s.joins >= 0 || s.stopped || s.at_barrier || is_later);
    };
    return e.kind == event_kind::lock && e.value == 0 && std::none_of(r_.stuck.begin(), r_.stuck.end(), is_elsewhere);
  }

  void explain_waiting() {
    const int thread = trace_.back().thread;
    const auto last = last_step_of(thread);
    const std::string who = this->thread(thread);
    if (const int joins = joined_by(thread); joins >= 0) {
      return say(fmt::format("{} waits for the end of {}", who, this->thread(joins)) + what_others_do("") +
                 last_wake_ups() + what_was_not_seen());
    }
    if (last && waits_for_lock(*last)) return say(chain_of_locks(*last) + who_has_stopped());
    if (is_at_barrier(thread) && !(last && trace_[*last].kind == event_kind::arrive)) {
      return say(fmt::format("{} waits until enough threads have arrived at {}", who, barrier_of_trace()) +
                 what_others_do("no thread is left to do so"));
    }
    if (!last) return;
    const event& e = trace_[*last];
    if (e.kind == event_kind::arrive) {
      return say(
          fmt::format("{} waits at {} until {} threads have arrived at {}", who, step(*last), e.value, variable(e)) +
          what_others_do("no thread is left to do so"));
    }
    if (!reads(e) || e.location == 0) {
      return say(fmt::format("{} waits", who) + what_others_do("no thread that could go on is left"));
    }
    if (variable(e).starts_with(waiters)) {
      return say(fmt::format("{} waits at {} until another thread wakes the {}", who, step(*last), waiters_of(e)) +
                 what_others_do("no thread is left to do so") + last_wake_ups() + what_was_not_seen());
    }
    say(fmt::format("{} waits at {} until {} is another value than {}", who, step(*last), variable(e),
                    shown(e, e.value)) +
        what_others_do("no thread is left to write one") + what_was_overwritten(e) + last_wake_ups() +
        what_was_not_seen());
  }

  [[nodiscard]] bool is_at_barrier(int thread) const {
    return std::any_of(r_.stuck.begin(), r_.stuck.end(),
                       [&](const stuck_thread& s) { return s.thread == thread && s.at_barrier; });
  }
  /// The one at which threads have arrived, if it is only one.
  [[nodiscard]] std::string barrier_of_trace() const {
    std::set<std::string> names;
    for (const event& e : trace_) {
      if (e.kind == event_kind::arrive) names.insert(variable(e));
    }
    return names.size() == 1 ? *names.begin() : "a barrier or a latch";
  }

  /// Of each thread that sleeps for ever the wake-up that came too early.
  [[nodiscard]] std::string last_wake_ups() {
    std::set<int> waiting{trace_.back().thread};
    for (const stuck_thread& s : r_.stuck) waiting.insert(s.thread);
    std::string text;
    for (const int number : waiting) {
      const auto last = last_step_of(number);
      if (last && variable(trace_[*last]).starts_with(waiters)) text += last_wake_up(*last);
    }
    return text;
  }

  /// Who begins to wait counts itself, in the last read-modify-write of a variable for waiters before it waits; who
  /// wakes reads this count.
  [[nodiscard]] std::string last_wake_up(std::size_t waits) {
    const auto is_count = [&](const event& e) { return is_rmw(e) && variable(e).starts_with(waiters); };
    const auto begins =
        last_before(waits, [&](const event& e) { return is_count(e) && e.thread == trace_[waits].thread; });
    if (!begins) return {};
    const event& count = trace_[*begins];
    const auto wakes = last_before(*begins, [&](const event& e) {
      return is_count(e) && e.location == count.location && e.thread != count.thread && e.written == e.value;
    });
    if (!wakes) return {};
    return fmt::format("; {} wakes the {} for the last time, before {} begins to wait in {}", step(*wakes),
                       waiters_of(count), thread(count.thread), step(*begins));
  }

  static constexpr std::string_view waiters = "waiters of ";
  /// "waiters of cv", without what tells variables of one name apart.
  [[nodiscard]] std::string waiters_of(const event& e) const { return variable(e).substr(0, variable(e).find('(')); }

  [[nodiscard]] static bool is_old(const event& e) { return e.stale && e.newest != e.value; }

  /// The last old value that one of these threads has read.
  template <class Accept>
  [[nodiscard]] std::string what_was_not_seen(Accept of) {
    const auto old = last_before(trace_.size(), [&](const event& e) { return is_old(e) && of(e.thread); });
    const auto newest = old ? write_of_newest(*old) : std::nullopt;
    if (!newest) return {};
    return fmt::format("; {} does not see {}: {}", step(*old), step(*newest), unordered(*newest, *old));
  }
  /// The last one that a waiting thread has read, and the last one of the others: who wakes can have missed who waits.
  [[nodiscard]] std::string what_was_not_seen() {
    const auto waits = [&](int thread) {
      return thread == trace_.back().thread ||
             std::any_of(r_.stuck.begin(), r_.stuck.end(), [&](const stuck_thread& s) { return s.thread == thread; });
    };
    return what_was_not_seen(waits) + what_was_not_seen([&](int thread) { return !waits(thread); });
  }

  /// A value of the step's variable.
  [[nodiscard]] std::string shown(const event& e, std::uint64_t value) const {
    return render_value(value, digits_, e.signed_bytes);
  }

  /// Which value of another thread the one that is read has replaced.
  [[nodiscard]] std::string what_was_overwritten(const event& read) {
    if (read.reads_from == no_event) return {};
    const event& last = trace_[read.reads_from];
    const auto before = last_before(read.reads_from, [&](const event& w) {
      return w.location == last.location && writes(w) && w.place <= last.place;
    });
    if (!before || trace_[*before].thread == last.thread || value_written(trace_[*before]) == read.value) return {};
    return fmt::format("; {} writes that over {}, which {} has written", step(read.reads_from),
                       shown(trace_[*before], value_written(trace_[*before])), step(*before));
  }

  [[nodiscard]] std::string has_stopped(int number) {
    const auto last = last_step_of(number);
    return fmt::format("{} has stopped for ever{}", thread(number), last ? " at " + step(*last) : "");
  }
  [[nodiscard]] std::string who_has_stopped() {
    const auto one = std::find_if(r_.stuck.begin(), r_.stuck.end(), [](const stuck_thread& s) { return s.stopped; });
    return one == r_.stuck.end() ? "" : ", and " + has_stopped(one->thread);
  }

  /// The thread whose end `thread` waits for; -1: it does not.
  [[nodiscard]] int joined_by(int thread) const {
    for (const stuck_thread& s : r_.stuck) {
      if (s.thread == thread) return s.joins;
    }
    return -1;
  }

  /// What the other waiting threads wait for, besides the one that is explained; the text `nobody` if there are none.
  [[nodiscard]] std::string what_others_do(const char* nobody) {
    std::string text;
    for (const stuck_thread& s : r_.stuck) {
      if (s.thread == trace_.back().thread) continue;
      text += text.empty() ? "; " : ", and ";
      const auto last = last_step_of(s.thread);
      if (s.stopped) {
        text += has_stopped(s.thread);
      } else if (s.joins >= 0) {
        text += fmt::format("{} waits for the end of {}", thread(s.thread), thread(s.joins));
      } else if (last && waits_for_lock(*last)) {
        text += chain_of_locks(*last);
      } else if (last) {
        text += fmt::format("{} waits at {}, too", thread(s.thread), step(*last));
      } else {
        text += thread(s.thread) + " waits since before the steps that are shown";
      }
    }
    return text.empty() && *nobody != '\0' ? std::string(", and ") + nobody : text;
  }

  /// "T1 waits at step 9 for a, which T2 holds since step 4, and T2 waits …", up to a thread that was named.
  [[nodiscard]] std::string chain_of_locks(std::size_t first) {
    std::string text;
    std::vector<int> seen;
    for (std::optional<std::size_t> waits = first; waits && waits_for_lock(*waits);) {
      const event& e = trace_[*waits];
      if (std::find(seen.begin(), seen.end(), e.thread) != seen.end()) break;
      seen.push_back(e.thread);
      text += fmt::format("{}{} waits at {} for {}", text.empty() ? "" : ", and ", thread(e.thread), step(*waits),
                          variable(e));
      const auto held = held_since(e.location);
      if (!held) break;
      const int holder = trace_[*held].thread;
      text += holder == e.thread ? fmt::format(", which it holds itself since {}", step(*held))
                                 : fmt::format(", which {} holds since {}", thread(holder), step(*held));
      waits = last_step_of(holder);
    }
    return text;
  }

  void explain_leak() {
    const auto made = r_.partner != no_event && r_.partner < trace_.size()
                          ? std::optional<std::size_t>(r_.partner)
                          : last_before(trace_.size(), [&](const event& e) {
                              return e.kind == event_kind::allocate && e.where.line == r_.where.line;
                            });
    if (made) say(fmt::format("{} allocates it, and no step frees it", step(*made)));
  }

  const search_result& r_;
  const std::vector<event>& trace_;
  const unsigned digits_;  ///< of the trace's addresses
  const std::map<std::uint32_t, std::string>& names_;
  explanation found_;
};

}  // namespace

explanation why(const search_result& r, const std::map<std::uint32_t, std::string>& names) {
  return reason(r, names).find();
}

}  // namespace runq::model
