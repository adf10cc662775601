// SPDX-License-Identifier: MIT
// Random programs with loops that try again: that failed rounds are left out loses no outcome, no failure, and adds
// none.
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <runq/check.hpp>

#include "on_and_off.hpp"
#include "random.hpp"

namespace random_programs {

namespace {

enum class step : std::uint8_t {
  load,
  store,
  store_release,
  write_plain,
  read_plain,
  add,  ///< by a loop that carries what its compare-exchange has found
  add_weak,
  add_acquire,  ///< its load acquires, its compare-exchange does not when it fails
  add_reread,   ///< by a loop that loads again in each round
  add_other,    ///< what another variable holds, which is read in each round
  add_unless,   ///< another variable holds that value: then it leaves the loop
  add_fenced,
  add_noting,    ///< and keeps what it found first
  add_counting,  ///< and keeps how often it has tried
  add_knowing,   ///< and writes on its way what it found first, if that is 1
  add_reading,   ///< and reads plain memory in each round
  add_on_heap,
  swap_both,  ///< two variables, one compare-exchange after the other
  read_both,  ///< until two reads of a variable find the same, with one of another between
  // Locks that readers take by adding 1, and a writer by adding 4: who fails takes that back.
  share,
  share_spinning,  ///< and adds again at once
  share_or_not,    ///< and gives up
  share_noting,    ///< and keeps what it found first
  share_counting,  ///< and keeps how often it has failed
  share_telling,   ///< and writes plainly, if it has failed
  share_both,      ///< of two locks, and takes both back
  share_twice,     ///< one while it has one
  lend,            ///< takes its share back for a moment
  own,
  own_or_share,
  pass,          ///< adds, and takes that back, and does not look
  share_read,    ///< and reads plain memory in a round that fails
  share_in_two,  ///< in two steps
  pass_until,    ///< the variable is not 0: adds, and takes that back, in each round
  // These look at a lock.
  peek,
  peek_and_store,  ///< only if the lock is taken
  peek_until,      ///< it is free, or the variable is not 0
  count,           ///< by an addition of 0
  swap_taken,      ///< a compare-exchange of what is there while a reader fails, for the same
  fail_beside,     ///< an assertion fails if a reader fails at that moment
  fail_by_two,     ///< two of them
  read_lock,       ///< plainly
  // Beside one thread only: others would wait in many ways.
  keep  ///< all of a lock, and never give it back
};
constexpr const char* names[] = {
    "load",          "store",        "store_release",  "write_plain",  "read_plain",   "add",
    "add_weak",      "add_acquire",  "add_reread",     "add_other",    "add_unless",   "add_fenced",
    "add_noting",    "add_counting", "add_knowing",    "add_reading",  "add_on_heap",  "swap_both",
    "read_both",     "share",        "share_spinning", "share_or_not", "share_noting", "share_counting",
    "share_telling", "share_both",   "share_twice",    "lend",         "own",          "own_or_share",
    "pass",          "share_read",   "share_in_two",   "pass_until",   "peek",         "peek_and_store",
    "peek_until",    "count",        "swap_taken",     "fail_beside",  "fail_by_two",  "read_lock",
    "keep"};
constexpr unsigned loops_from = static_cast<unsigned>(step::add);
constexpr unsigned locks_from = static_cast<unsigned>(step::share);
constexpr unsigned looks_from = static_cast<unsigned>(step::peek);
constexpr unsigned kinds = static_cast<unsigned>(step::read_lock) + 1;

using instruction = instruction_of<step>;
struct program {
  std::vector<std::vector<instruction>> threads;
  bool keeps_own = false;  ///< each thread keeps what it finds on its stack, not on that of main()

  [[nodiscard]] std::string text() const { return (keeps_own ? "own results\n" : "") + text_of(threads, names); }
};

struct shared {
  std::atomic<unsigned> v[2]{};
  unsigned plain[2]{};
  std::atomic<unsigned> lock{};
  std::atomic<unsigned>* heap_lock = new std::atomic<unsigned>(0);
  std::atomic<unsigned>* heap = new std::atomic<unsigned>(0);
};

using variable = std::atomic<unsigned>;

[[gnu::noinline]] unsigned add(variable& v, std::memory_order first, std::memory_order failure) {
  unsigned found = v.load(first);
  while (!v.compare_exchange_strong(found, found + 1, acquire, failure)) {
  }
  return found;
}
[[gnu::noinline]] unsigned add_weak(variable& v) {
  unsigned found = v.load(relaxed);
  while (!v.compare_exchange_weak(found, found + 1, std::memory_order::acq_rel, relaxed)) {
  }
  return found;
}
[[gnu::noinline]] unsigned add_reread(variable& v) {
  for (;;) {
    unsigned found = v.load(acquire);
    if (v.compare_exchange_strong(found, found + 1, release, relaxed)) return found;
  }
}
[[gnu::noinline]] unsigned add_other(variable& v, const variable& other) {
  unsigned found = v.load(acquire);
  for (;;) {
    const unsigned more = other.load(relaxed);
    if (v.compare_exchange_strong(found, found + 1 + more, std::memory_order::acq_rel, acquire)) return found + more;
  }
}
[[gnu::noinline]] unsigned add_unless(variable& v, const variable& other) {
  unsigned found = v.load(relaxed);
  do {
    if (other.load(acquire) == found) return 9;
  } while (!v.compare_exchange_strong(found, found + 1, release, relaxed));
  return found;
}
[[gnu::noinline]] unsigned add_fenced(variable& v) {
  unsigned found = v.load(relaxed);
  for (;;) {
    std::atomic_thread_fence(std::memory_order::seq_cst);
    if (v.compare_exchange_strong(found, found + 1, relaxed, relaxed)) return found;
  }
}
[[gnu::noinline]] unsigned add_noting(variable& v) {
  unsigned found = v.load(relaxed);
  const unsigned first = found;
  while (!v.compare_exchange_strong(found, found + 1, release, acquire)) {
  }
  return 10 * first + found;
}
[[gnu::noinline]] unsigned add_counting(variable& v) {
  unsigned tried = 0;
  unsigned found = v.load(acquire);
  while (!v.compare_exchange_strong(found, found + 1, release, acquire)) ++tried;
  return 10 * tried + found;
}
[[gnu::noinline]] unsigned add_knowing(variable& v, unsigned& own) {
  unsigned found = v.load(relaxed);
  if (found == 1) own = 1;
  while (!v.compare_exchange_strong(found, found + 1, acquire, relaxed)) {
  }
  return found;
}
[[gnu::noinline]] unsigned add_reading(variable& v, const unsigned& plain) {
  unsigned found = v.load(acquire);
  for (;;) {
    const unsigned more = plain;
    if (v.compare_exchange_strong(found, found + 1 + more, std::memory_order::acq_rel, acquire)) return found + more;
  }
}
[[gnu::noinline]] unsigned swap_both(variable& v, variable& other) {
  unsigned found = v.load(relaxed);
  for (;;) {
    if (!v.compare_exchange_strong(found, found + 2, acquire, acquire)) continue;
    unsigned also = found;
    other.compare_exchange_strong(also, found + 1, release, relaxed);
    return 10 * also + found;
  }
}
[[gnu::noinline]] unsigned read_both(const variable& v, const variable& other) {
  unsigned before, also;
  do {
    before = v.load(acquire);
    also = other.load(relaxed);
    std::atomic_thread_fence(acquire);
  } while (v.load(relaxed) != before);
  return 10 * before + also;
}

constexpr unsigned all = 4;  // more than there are readers

[[gnu::noinline]] unsigned share(variable& lock, const variable& v) {
  while (lock.fetch_add(1, acquire) >= all) {
    lock.fetch_sub(1, relaxed);
    while (lock.load(relaxed) >= all) {
    }
  }
  const unsigned found = v.load(relaxed);
  lock.fetch_sub(1, release);
  return found;
}
[[gnu::noinline]] unsigned share_spinning(variable& lock, const unsigned& plain) {
  unsigned before = lock.fetch_add(1, acquire);
  while (before >= all) {
    lock.fetch_sub(1, relaxed);
    before = lock.fetch_add(1, acquire);
  }
  const unsigned found = plain;
  lock.fetch_sub(1, release);
  return found;
}
[[gnu::noinline]] unsigned share_or_not(variable& lock, const variable& v) {
  if (lock.fetch_add(1, acquire) >= all) {
    lock.fetch_sub(1, relaxed);
    return 9;
  }
  const unsigned found = v.load(relaxed);
  lock.fetch_sub(1, release);
  return found;
}
[[gnu::noinline]] unsigned share_noting(variable& lock) {
  unsigned before = lock.fetch_add(1, acquire);
  const unsigned first = before;
  while (before >= all) {
    lock.fetch_sub(1, relaxed);
    before = lock.fetch_add(1, acquire);
  }
  lock.fetch_sub(1, release);
  return first;
}
[[gnu::noinline]] unsigned share_counting(variable& lock) {
  unsigned tried = 0;
  while (lock.fetch_add(1, acquire) >= all) {
    lock.fetch_sub(1, relaxed);
    while (lock.load(relaxed) >= all) {
    }
    ++tried;
  }
  lock.fetch_sub(1, release);
  return tried;
}
[[gnu::noinline]] void share_telling(variable& lock, unsigned& own) {
  while (lock.fetch_add(1, acquire) >= all) {
    own = 1;
    lock.fetch_sub(1, relaxed);
    while (lock.load(relaxed) >= all) {
    }
  }
  lock.fetch_sub(1, release);
}
[[gnu::noinline]] unsigned share_both(variable& lock, variable& other, const variable& v) {
  for (;;) {
    const unsigned one = lock.fetch_add(1, acquire);
    const unsigned two = other.fetch_add(1, acquire);
    if (one < all && two < all) break;
    other.fetch_sub(1, relaxed);
    lock.fetch_sub(1, relaxed);
    while (lock.load(relaxed) >= all) {
    }
  }
  const unsigned found = v.load(relaxed);
  other.fetch_sub(1, release);
  lock.fetch_sub(1, release);
  return found;
}
[[gnu::noinline]] unsigned share_twice(variable& lock, const variable& v) {
  lock.fetch_add(1, acquire);
  const unsigned found = share_or_not(lock, v);
  lock.fetch_sub(1, release);
  return found;
}
[[gnu::noinline]] unsigned lend(variable& lock, const variable& v) {
  unsigned found = 9;
  if (lock.fetch_add(1, acquire) < all) {
    while (v.load(relaxed) == 0 && lock.fetch_sub(1, release) >= 2) lock.fetch_add(1, acquire);
    found = v.load(relaxed);
  }
  lock.fetch_sub(1, release);
  return found;
}
[[gnu::noinline]] unsigned own_or_share(variable& lock, variable& v, unsigned own) {
  unsigned found = 9;
  if (lock.fetch_add(all, acquire) == 0) {
    v.store(own, relaxed);
    lock.fetch_sub(all, release);
    return found;
  }
  lock.fetch_sub(all, relaxed);
  return share(lock, v);
}
[[gnu::noinline]] void pass(variable& lock, unsigned more) {
  lock.fetch_add(more, acquire);
  lock.fetch_sub(more, release);
}
[[gnu::noinline]] unsigned share_read(variable& lock, const unsigned& plain) {
  unsigned found = 0;
  while (lock.fetch_add(1, acquire) >= all) {
    found = plain;
    asm volatile("" : : "r"(found));
    lock.fetch_sub(1, relaxed);
    while (lock.load(relaxed) >= all) {
    }
  }
  lock.fetch_sub(1, release);
  return 0;
}
[[gnu::noinline]] unsigned share_in_two(variable& lock, const variable& v) {
  while (lock.fetch_add(1, acquire) >= all) {
    lock.fetch_add(1, relaxed);
    lock.fetch_sub(2, relaxed);
    while (lock.load(relaxed) >= all) {
    }
  }
  const unsigned found = v.load(relaxed);
  lock.fetch_sub(1, release);
  return found;
}
[[gnu::noinline]] void pass_until(variable& lock, const variable& v) {
  while (v.load(relaxed) == 0) {
    lock.fetch_add(1, acquire);
    lock.fetch_sub(1, release);
  }
}
[[gnu::noinline]] unsigned peek_until(const variable& lock, const variable& v) {
  while (lock.load(relaxed) >= all && v.load(relaxed) == 0) {
  }
  return v.load(relaxed);
}
[[gnu::noinline]] unsigned swap_taken(variable& lock) {
  unsigned expected = all + 1;
  return lock.compare_exchange_strong(expected, all + 1, relaxed) ? 1 : 0;
}
[[gnu::noinline]] unsigned read_lock(const variable& lock) {
  unsigned found;
  __builtin_memcpy(&found, reinterpret_cast<const char*>(&lock), sizeof found);
  return found;
}
[[gnu::noinline]] void own_all(variable& lock, variable& v, unsigned& plain, unsigned own) {
  while (lock.fetch_add(all, acquire) != 0) {
    lock.fetch_sub(all, relaxed);
    while (lock.load(relaxed) != 0) {
    }
  }
  v.store(own, relaxed);
  plain = own;
  lock.fetch_sub(all, release);
}

void run_thread(const std::vector<instruction>& steps, shared& s, thread_result& r, unsigned own) {
  unsigned knows = 0;
  for (const instruction& i : steps) {
    variable& v = s.v[i.of];
    variable& other = s.v[1 - i.of];
    variable& lock = i.of == 0 ? s.lock : *s.heap_lock;
    variable& other_lock = i.of == 0 ? *s.heap_lock : s.lock;
    switch (i.what) {
      case step::load: r.note(v.load(acquire)); break;
      case step::store: v.store(own, relaxed); break;
      case step::store_release: v.store(own, release); break;
      case step::write_plain: s.plain[i.of] = own; break;
      case step::read_plain: r.note(s.plain[i.of]); break;
      case step::add: r.note(add(v, relaxed, relaxed)); break;
      case step::add_weak: r.note(add_weak(v)); break;
      case step::add_acquire: r.note(add(v, acquire, relaxed)); break;
      case step::add_reread: r.note(add_reread(v)); break;
      case step::add_other: r.note(add_other(v, other)); break;
      case step::add_unless: r.note(add_unless(v, other)); break;
      case step::add_fenced: r.note(add_fenced(v)); break;
      case step::add_noting: r.note(add_noting(v)); break;
      case step::add_counting: r.note(add_counting(v)); break;
      case step::add_knowing:
        r.note(add_knowing(v, knows));
        r.note(knows);
        break;
      case step::add_reading: r.note(add_reading(v, s.plain[i.of])); break;
      case step::add_on_heap: r.note(add(*s.heap, acquire, acquire)); break;
      case step::swap_both: r.note(swap_both(v, other)); break;
      case step::read_both: r.note(read_both(v, other)); break;
      case step::share: r.note(share(lock, v)); break;
      case step::share_spinning: r.note(share_spinning(lock, s.plain[i.of])); break;
      case step::share_or_not: r.note(share_or_not(lock, v)); break;
      case step::share_noting: r.note(share_noting(lock)); break;
      case step::share_counting: r.note(share_counting(lock)); break;
      case step::share_telling:
        share_telling(lock, knows);
        r.note(knows);
        break;
      case step::share_both: r.note(share_both(lock, other_lock, v)); break;
      case step::share_twice: r.note(share_twice(lock, v)); break;
      case step::lend: r.note(lend(lock, v)); break;
      case step::own: own_all(lock, v, s.plain[i.of], own); break;
      case step::own_or_share: r.note(own_or_share(lock, v, own)); break;
      case step::pass: pass(lock, 2 * all); break;
      case step::share_read: r.note(share_read(lock, s.plain[i.of])); break;
      case step::share_in_two: r.note(share_in_two(lock, v)); break;
      case step::pass_until: pass_until(lock, v); break;
      case step::keep: lock.fetch_add(all, acquire); break;
      case step::fail_beside: RUNQ_ASSERT(lock.load(relaxed) != all + 1); break;
      case step::fail_by_two: RUNQ_ASSERT(lock.load(relaxed) != all + 2); break;
      case step::peek: r.note(lock.load(relaxed)); break;
      case step::peek_and_store:
        if (lock.load(acquire) >= all) v.store(own, relaxed);
        break;
      case step::peek_until: r.note(peek_until(lock, v)); break;
      case step::count: r.note(lock.fetch_add(0, relaxed)); break;
      case step::swap_taken: r.note(swap_taken(lock)); break;
      case step::read_lock: r.note(read_lock(lock)); break;
    }
  }
}

void run(const program& p) {
  shared s;
  std::array<thread_result, most_threads> results;
  std::vector<std::thread> threads;
  threads.reserve(most_threads);
  for (std::size_t t = 0; t != p.threads.size(); ++t) {
    threads.emplace_back([&p, &s, &results, t] {
      const auto number = static_cast<unsigned>(t);
      thread_result own;
      run_thread(p.threads[t], s, p.keeps_own ? own : results[t], number + 1);
      if (p.keeps_own) note_end_of_thread(number, own);
    });
  }
  for (std::thread& t : threads) t.join();
  const unsigned values[variables] = {s.v[0], s.v[1], s.plain[0], *s.heap};
  delete s.heap;
  delete s.heap_lock;
  if (p.keeps_own) return add_unordered_outcome(values);
  add_outcome(results.data(), threads.size(), values);
}

[[nodiscard]] found search(const program& p, bool on) {
  return explore("--check-duplicates\n" + limits_of_size(on) + "--skip-retries\n" + (on ? "on" : "off"),
                 [&p] { run(p); });
}

class generator {
 public:
  explicit generator(unsigned seed) : random_(seed) {}

  [[nodiscard]] program make() {
    program p;
    p.threads.resize(threads_of_program(2 + below(2)));
    const bool has_plain = below(3) == 0;
    const bool has_lock = below(3) == 0;
    const unsigned most = (p.threads.size() == 2 ? 3 : 2) - (has_lock ? 1 : 0);
    for (auto& thread : p.threads) {
      for (unsigned i = 1 + below(most); i != 0; --i) {
        thread.push_back({has_lock && below(4) != 0 ? kind_of_lock() : kind(has_plain), below(3) / 2});
      }
    }
    return p;
  }
  /// Threads that mostly use locks.
  [[nodiscard]] program make_with_locks() {
    program p;
    p.threads.resize(threads_of_program(2 + below(2)));
    p.keeps_own = below(4) != 0;
    const unsigned most = p.threads.size() == 2 ? 2 : 1;
    const bool one_looks = below(2) == 0;
    for (auto& thread : p.threads) {
      for (unsigned i = 1 + below(most); i != 0; --i) {
        thread.push_back({below(5) == 0 ? kind(false) : kind_of_lock(), below(5) / 4});
      }
    }
    if (below(3) == 0) p.threads.front().push_back({kind_of_lock(), 0});
    if (p.threads.size() == 2 && below(8) == 0) p.threads.front().back() = {step::keep, 0};
    if (one_looks) p.threads.back().back() = {static_cast<step>(looks_from + below(kinds - looks_from)), 0};
    return p;
  }

 private:
  [[nodiscard]] unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }
  [[nodiscard]] step kind(bool has_plain) {
    if (below(3) == 0) return static_cast<step>(below(has_plain ? loops_from : 3));
    const auto any = static_cast<step>(loops_from + below(locks_from - loops_from));
    return any == step::add_reading && !has_plain ? step::add : any;
  }
  [[nodiscard]] step kind_of_lock() {
    static constexpr step usual[] = {step::share, step::share, step::share_spinning, step::own, step::own};
    if (below(2) == 0) return usual[below(std::size(usual))];
    return static_cast<step>(locks_from + below((below(4) == 0 ? kinds : looks_from) - locks_from));
  }

  std::mt19937 random_;
};

/// Whether it may fail by races only.
[[nodiscard]] bool fails_in_one_way(const program& p) {
  for (const step other : {step::read_lock, step::keep, step::fail_beside, step::fail_by_two}) {
    if (p.text().find(names[static_cast<unsigned>(other)]) != std::string::npos) return false;
  }
  return true;
}

[[nodiscard]] tally compare(program (generator::*make)(), unsigned seed, unsigned count) {
  tally t;
  EXPECT_TRUE(prepare_outcomes());
  generator programs(seed);
  compare_on_and_off(
      count, [&] { return (programs.*make)(); }, search, fails_in_one_way, t);
  EXPECT_GT(t.passed, (t.passed + t.failed) / 3);
  return t;
}

/// By the seed. With the full budget there are more of them: each is a process, and remembers what it has met.
class retries : public testing::TestWithParam<unsigned> {};

TEST_P(retries, agree_with_every_round_on_random_programs) {
  const tally t = compare(&generator::make, GetParam(), 200);
  EXPECT_GT(t.fewer, t.passed / 5);
  EXPECT_GT(t.failed, t.passed / 100);
}

TEST_P(retries, agree_with_every_round_on_random_locks) {
  const tally t = compare(&generator::make_with_locks, GetParam(), 100);
  EXPECT_GT(t.fewer, t.passed / 50);
}

INSTANTIATE_TEST_SUITE_P(seeds, retries, testing::Range(1U, number_from("RUNQ_RETRY_SEEDS", RUNQ_RETRY_SEEDS) + 1));

}  // namespace

}  // namespace random_programs
