// SPDX-License-Identifier: MIT
#include "tiny.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "limits.hpp"

namespace runq::model::explore {

namespace {

constexpr std::uint32_t nothing = ~0U;

[[nodiscard]] bool is_atomic_step(const event& e) {
  return e.kind == event_kind::load || e.kind == event_kind::store || e.kind == event_kind::rmw ||
         e.kind == event_kind::cas_success || e.kind == event_kind::cas_failure;
}
[[nodiscard]] bool is_of_mutex(const event& e) {
  return e.kind == event_kind::unlock || (e.kind == event_kind::lock && e.value == 1);
}
[[nodiscard]] bool is_plain(const event& e) { return reads_plain(e) || writes_plain(e); }
[[nodiscard]] bool is_of_thread(const event& e) { return e.kind == event_kind::spawn || e.kind == event_kind::join; }
[[nodiscard]] int child_of(const event& e) { return static_cast<int>(e.value); }

[[nodiscard]] std::string_view words_of(std::memory_order order) {
  switch (order) {
    case std::memory_order::relaxed: return "relaxed";
    case std::memory_order::consume:
    case std::memory_order::acquire: return "acquire";
    case std::memory_order::release: return "release";
    case std::memory_order::acq_rel: return "acq_rel";
    default: return "seq_cst";
  }
}

/// A step of the run that is part of the program.
struct kept_step {
  const event* e = nullptr;
  std::uint32_t object = nothing;
  std::uint32_t value = 0;    ///< the number of the store that it reads from, or is; of a lock, the locks before it
  std::uint32_t written = 0;  ///< of a read-modify-write, the number of its store
};

class writer {
 public:
  explicit writer(const search_result& run) : run_(run) {}

  [[nodiscard]] tiny_program write() {
    if (find_ends() && number_stores()) {
      leave_out_what_one_thread_uses();
      leave_out_repeated_reads();
      if (operations() > most_operations_of_tiny) leave_out_what_is_not_read();
      leave_out_idle_threads();
      if (is_small() && has_same_order()) return {text(), {}};
    }
    return {{}, why_not_};
  }

 private:
  [[nodiscard]] bool no(std::string why) {
    why_not_ = std::move(why);
    return false;
  }
  [[nodiscard]] bool is_race() const { return run_.what == failure::data_race; }
  [[nodiscard]] bool is_deadlock() const { return run_.what == failure::deadlock; }
  [[nodiscard]] const event& last() const { return run_.trace.back(); }
  [[nodiscard]] std::uint32_t place_of(const event& e) const {
    return static_cast<std::uint32_t>(&e - run_.trace.data());
  }

  /// Whether the failure is one that steps of this kind can show.
  [[nodiscard]] bool find_ends() {
    if (run_.what != failure::check_failed && run_.what != failure::crash && !is_race() && !is_deadlock()) {
      return no("it is no data race, failed check, crash or deadlock");
    }
    if (is_race()) {
      if (run_.trace.size() < 2 || run_.partner >= run_.trace.size() - 2)
        return no("an access of the race was not noted");
      const event& first = run_.trace[run_.partner];
      const event& second = run_.trace[run_.trace.size() - 2];
      if (!is_plain(first) || !is_plain(second) || first.location != second.location) {
        return no("the accesses of the race are atomic in part, or of different sizes");
      }
    }
    for (const stuck_thread& s : run_.stuck) {
      if (s.joins < 0 && !waits_for_lock(s.thread)) return no(fmt::format("T{} waits for what is no mutex", s.thread));
    }
    return true;
  }

  /// Its last step.
  [[nodiscard]] bool waits_for_lock(int thread) const {
    const auto end = run_.trace.rend();
    const auto at = std::find_if(run_.trace.rbegin() + 1, end, [&](const event& e) { return e.thread == thread; });
    return at != end && at->kind == event_kind::lock && at->value == 0;
  }

  /// Each variable's stores get numbers, its first value 0; so a value says which store it comes from.
  [[nodiscard]] bool number_stores() {
    std::map<std::uint32_t, std::uint32_t> generation;  // by location: the object
    std::map<std::uint32_t, std::uint32_t> stores;      // by object
    std::map<std::uint32_t, std::uint32_t> number;      // by step that writes
    std::set<int> started;
    for (const event& e : run_.trace) {
      kept_step s;
      s.e = &e;
      if (e.kind == event_kind::spawn && !started.insert(child_of(e)).second) {
        return no("a thread's number was used twice");
      }
      if (is_atomic_step(e)) {
        const bool begins_again =
            reads(e) && e.reads_from == no_event && !e.stale && stores[object_of(generation, e)] != 0;
        if (begins_again) generation[e.location] = objects_++;
        s.object = object_of(generation, e);
        if (reads(e) && e.reads_from != no_event) s.value = number[e.reads_from];
        if (writes(e)) {
          const std::uint32_t next = ++stores[s.object];
          number[place_of(e)] = next;
          (reads(e) ? s.written : s.value) = next;
        }
      } else if (is_of_mutex(e)) {
        s.object = object_of(generation, e);
        s.value = stores[s.object];
        if (e.kind == event_kind::lock) ++stores[s.object];
      } else if (is_plain(e)) {
        s.object = object_of(generation, e);
      } else if (e.kind != event_kind::fence && !is_of_thread(e)) {
        continue;
      }
      steps_.push_back(s);
    }
    return true;
  }
  [[nodiscard]] std::uint32_t object_of(std::map<std::uint32_t, std::uint32_t>& generation, const event& e) {
    const auto [at, is_new] = generation.try_emplace(e.location, objects_);
    if (is_new) ++objects_;
    return at->second;
  }

  template <class Question>
  void leave_out(Question&& question) {
    steps_.erase(std::remove_if(steps_.begin(), steps_.end(), question), steps_.end());
  }
  [[nodiscard]] std::set<std::uint32_t> objects_of(int thread) const {
    std::set<std::uint32_t> found;
    for (const kept_step& s : steps_) {
      if (s.e->thread == thread && s.object != nothing) found.insert(s.object);
    }
    return found;
  }

  void leave_out_what_one_thread_uses() {
    std::map<std::uint32_t, std::set<int>> users;
    std::set<std::uint32_t> written;
    for (const kept_step& s : steps_) {
      if (s.object == nothing) continue;
      users[s.object].insert(s.e->thread);
      if (!is_atomic_step(*s.e) || writes(*s.e)) written.insert(s.object);
    }
    // A deadlock's mutex is wanted by one that has not taken it.
    for (const stuck_thread& s : run_.stuck) {
      if (s.joins < 0) users[wanted_by(s.thread)].insert(s.thread);
    }
    leave_out([&](const kept_step& s) {
      return s.object != nothing && (users[s.object].size() == 1 || written.count(s.object) == 0);
    });
  }

  /// The same read again, from the same store, adds nothing.
  void leave_out_repeated_reads() {
    std::map<int, kept_step> before;
    leave_out([&](const kept_step& s) {
      kept_step& b = before[s.e->thread];
      const bool is_repeated = b.e != nullptr && s.e->kind == event_kind::load && b.e->kind == event_kind::load &&
                               b.object == s.object && b.value == s.value && b.e->order == s.e->order;
      b = s;
      return is_repeated;
    });
  }

  /// The mutex that a thread waits for; `nothing`, if it has never been taken.
  [[nodiscard]] std::uint32_t wanted_by(int thread) const {
    const auto at =
        std::find_if(run_.trace.rbegin() + 1, run_.trace.rend(), [&](const event& e) { return e.thread == thread; });
    for (const kept_step& s : steps_) {
      if (is_of_mutex(*s.e) && s.e->location == at->location) return s.object;
    }
    return nothing;
  }

  [[nodiscard]] std::set<int> failing_threads() const {
    std::set<int> found{last().thread};
    if (is_race()) found.insert(run_.trace[run_.partner].thread);
    for (const stuck_thread& s : run_.stuck) found.insert(s.thread);
    return found;
  }

  /// What no failing thread uses, nor any whose stores they read.
  void leave_out_what_is_not_read() {
    std::set<int> threads = failing_threads();
    std::set<std::uint32_t> objects;
    for (std::size_t before = 0; before != objects.size() + threads.size();) {
      before = objects.size() + threads.size();
      for (const int t : threads) {
        const auto more = objects_of(t);
        objects.insert(more.begin(), more.end());
      }
      for (const kept_step& s : steps_) {
        if (objects.count(s.object) != 0 && writes(*s.e)) threads.insert(s.e->thread);
      }
    }
    const std::size_t all = steps_.size();
    leave_out([&](const kept_step& s) { return s.object != nothing && objects.count(s.object) == 0; });
    leave_out([&](const kept_step& s) { return s.e->kind == event_kind::fence && threads.count(s.e->thread) == 0; });
    left_out_ = all - steps_.size();
  }

  void leave_out_idle_threads() {
    for (bool again = true; again;) {
      std::set<int> busy = failing_threads();
      busy.insert(0);
      for (const kept_step& s : steps_) {
        const bool is_only_its_end = s.e->kind == event_kind::join;
        if (!is_only_its_end) busy.insert(s.e->thread);
      }
      const std::size_t before = steps_.size();
      leave_out([&](const kept_step& s) {
        return busy.count(s.e->thread) == 0 || (is_of_thread(*s.e) && busy.count(child_of(*s.e)) == 0);
      });
      again = steps_.size() != before;
    }
  }

  template <class Question>
  [[nodiscard]] bool has(Question&& question) const {
    return std::any_of(steps_.begin(), steps_.end(), [&](const kept_step& s) { return question(*s.e); });
  }
  [[nodiscard]] std::size_t operations() const {
    return static_cast<std::size_t>(
        std::count_if(steps_.begin(), steps_.end(), [](const kept_step& s) { return !is_of_thread(*s.e); }));
  }
  [[nodiscard]] std::set<int> threads() const {
    std::set<int> found = failing_threads();
    found.insert(0);
    for (const kept_step& s : steps_) found.insert(s.e->thread);
    return found;
  }
  [[nodiscard]] bool is_small() {
    const std::size_t n = operations();
    if (n > most_operations_of_tiny)
      return no(fmt::format("{} operations matter; {} are the most", n, most_operations_of_tiny));
    const std::size_t t = threads().size();
    if (t > most_threads_of_tiny) return no(fmt::format("{} threads matter; {} are the most", t, most_threads_of_tiny));
    return true;
  }

  // --- happens-before ------------------------------------------------------------------------------------------------

  /// By thread, how many of its kept steps are known.
  using knowledge = std::map<int, std::size_t>;
  static void learn(knowledge& to, const knowledge& from) {
    for (const auto& [thread, steps] : from) to[thread] = std::max(to[thread], steps);
  }
  struct thread_knowledge {
    knowledge now, pending, released;
  };

  /// Whether the program orders its steps as they were ordered in the run: nothing else has ordered them there.
  [[nodiscard]] bool has_same_order() {
    std::map<int, thread_knowledge> all;
    std::map<int, std::size_t> made;
    std::map<std::pair<std::uint32_t, std::uint32_t>, knowledge> messages;  // by object and number of the store
    std::map<std::uint32_t, knowledge> unlocked;
    std::vector<std::size_t> index;
    for (std::size_t i = 0; i != steps_.size(); ++i) {
      const kept_step& s = steps_[i];
      const event& e = *s.e;
      thread_knowledge& mine = all[e.thread];
      index.push_back(made[e.thread]);
      mine.now[e.thread] = ++made[e.thread];
      if (e.kind == event_kind::join) learn(mine.now, all[child_of(e)].now);
      if (e.kind == event_kind::lock) learn(mine.now, unlocked[s.object]);
      if (e.kind == event_kind::fence && acquires(e.order)) learn(mine.now, mine.pending);
      const bool is_atomic = is_atomic_step(e);
      if (is_atomic && reads(e)) learn(acquires(e.order) ? mine.now : mine.pending, messages[{s.object, s.value}]);
      if (e.kind == event_kind::spawn) all[child_of(e)].now = mine.now;
      if (e.kind == event_kind::unlock) unlocked[s.object] = mine.now;
      if (e.kind == event_kind::fence && releases(e.order)) mine.released = mine.now;
      if (is_atomic && writes(e)) {
        knowledge message = releases(e.order) ? mine.now : mine.released;
        if (reads(e)) learn(message, messages[{s.object, s.value}]);
        messages[{s.object, reads(e) ? s.written : s.value}] = message;
      }
      for (std::size_t k = 0; k != i; ++k) {
        const event& before = *steps_[k].e;
        if (before.thread == e.thread) continue;
        const bool here = mine.now[before.thread] > index[k];
        if (here != includes(e.known, before)) {
          return no(fmt::format("steps of T{} and T{} are ordered by what is none of these operations", before.thread,
                                e.thread));
        }
      }
    }
    return true;
  }

  // --- the text ------------------------------------------------------------------------------------------------------

  [[nodiscard]] std::string place(const event& e) const {
    if (e.where.line == 0) return {};
    const std::string_view file = e.where.file;
    return fmt::format("  // {}:{}", file.substr(file.rfind('/') + 1), e.where.line);
  }

  [[nodiscard]] std::string line_of(const kept_step& s) const {
    const event& e = *s.e;
    const std::uint32_t n = s.object;
    switch (e.kind) {
      case event_kind::load:
      case event_kind::cas_failure:
        return fmt::format("if (x{}.load({}) != {}) return;", n, words_of(e.order), s.value);
      case event_kind::store: return fmt::format("x{}.store({}, {});", n, s.value, words_of(e.order));
      case event_kind::rmw:
      case event_kind::cas_success:
        return fmt::format("if (!changes(x{}, {}, {}, {})) return;", n, s.value, s.written, words_of(e.order));
      case event_kind::fence: return fmt::format("std::atomic_thread_fence({});", words_of(e.order));
      case event_kind::lock: return fmt::format("if (!locks(m{0}, turn{0}, {1})) return;", n, s.value);
      case event_kind::unlock: return fmt::format("m{}.unlock();", n);
      case event_kind::cell_read: return fmt::format("static_cast<void>(d{});", n);
      case event_kind::cell_write: return fmt::format("d{} = 1;", n);
      case event_kind::spawn: return fmt::format("threads[{0}] = std::thread(t{0});", child_of(e));
      default: return fmt::format("threads[{}].join();", child_of(e));
    }
  }

  [[nodiscard]] static bool has_condition(const kept_step& s) {
    return (is_atomic_step(*s.e) && reads(*s.e)) || s.e->kind == event_kind::lock;
  }

  /// Threads other than the failing one that may see something else than in the run.
  [[nodiscard]] std::set<int> with_conditions() const {
    std::set<int> found;
    for (const kept_step& s : steps_) {
      if (has_condition(s) && s.e->thread != last().thread) found.insert(s.e->thread);
    }
    return found;
  }

  [[nodiscard]] std::string end_of(int thread) const {
    if (is_race()) return {};
    if (is_deadlock()) {
      for (const stuck_thread& s : run_.stuck) {
        if (s.thread != thread) continue;
        return s.joins >= 0 ? fmt::format("  threads[{}].join();\n", s.joins)
                            : fmt::format("  m{0}.lock();\n  m{0}.unlock();\n", wanted_by(thread));
      }
      return {};
    }
    const auto others = with_conditions();
    if (thread == last().thread) {
      // Relaxed, so that they order nothing.
      return others.empty() ? "  assert(false);\n"
                            : fmt::format("  assert(as_in_the_run.load(relaxed) != {});\n", others.size());
    }
    return others.count(thread) != 0 ? "  as_in_the_run.fetch_add(1, relaxed);\n" : "";
  }

  [[nodiscard]] std::string declarations() const {
    std::map<std::uint32_t, std::string> by_object;
    for (const kept_step& s : steps_) {
      if (s.object == nothing) continue;
      const auto name = run_.variables.find(s.e->location);
      const std::string comment = name == run_.variables.end() ? "" : "  // " + name->second;
      by_object[s.object] = is_of_mutex(*s.e)
                                ? fmt::format("std::mutex m{0};{1}\nint turn{0} = 0;\n", s.object, comment)
                            : is_plain(*s.e) ? fmt::format("volatile int d{} = 0;{}\n", s.object, comment)
                                             : fmt::format("std::atomic<int> x{}{{0}};{}\n", s.object, comment);
    }
    std::string all;
    for (const auto& [object, line] : by_object) all += line;
    if (!is_race() && !is_deadlock() && !with_conditions().empty()) all += "std::atomic<int> as_in_the_run{0};\n";
    return all;
  }

  [[nodiscard]] std::string text() const {
    std::string all =
        "// A thread goes on only while it reads from the same stores as in that run; stores are numbered.\n";
    if (left_out_ != 0) {
      all += fmt::format(
          "// Left out: {} operations on variables that no failing thread depends on, unless by plain memory.\n",
          left_out_);
    }
    all +=
        "#include <atomic>\n#include <cassert>\n#include <mutex>\n#include <thread>\n\n"
        "using enum std::memory_order;\n\n" +
        declarations() + fmt::format("std::thread threads[{}];\n\n", *threads().rbegin() + 1);
    if (has([](const event& e) { return is_rmw(e) && is_atomic_step(e); })) {
      all +=
          "bool changes(std::atomic<int>& x, int from, int to, std::memory_order order) {\n"
          "  return x.compare_exchange_strong(from, to, order, relaxed);\n}\n";
    }
    if (has(is_of_mutex)) {
      all +=
          "bool locks(std::mutex& m, int& turn, int mine) {\n"
          "  m.lock();\n  if (turn == mine) {\n    ++turn;\n    return true;\n  }\n  m.unlock();\n  return false;\n}\n";
    }
    const std::set<int> every = threads();
    for (auto t = every.rbegin(); t != every.rend(); ++t) {  // who starts another comes before it in numbers
      all += fmt::format("void t{}() {{\n", *t);
      for (const kept_step& s : steps_) {
        if (s.e->thread == *t) all += "  " + line_of(s) + place(*s.e) + "\n";
      }
      all += end_of(*t) + "}\n";
    }
    all += "\nint main() {\n  t0();\n  for (std::thread& t : threads) {\n    if (t.joinable()) t.join();\n  }\n}\n";
    return all;
  }

  const search_result& run_;
  std::string why_not_;
  std::vector<kept_step> steps_;
  std::uint32_t objects_ = 0;
  std::size_t left_out_ = 0;
};

}  // namespace

tiny_program tiny_program_of(const search_result& run) { return writer(run).write(); }

}  // namespace runq::model::explore
