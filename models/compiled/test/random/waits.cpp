// SPDX-License-Identifier: MIT
// Random programs with loops that access memory while they wait: what threads do in rounds that are left out may race
// with what others do after the loop. The same programs with loops that make up to two such rounds, and count them, so
// that each is explored, must fail as often, and end as they do.
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
  store,
  store_release,
  load,
  await,
  await_acquire,
  read,   ///< plainly
  write,  ///< likewise
  read_atomically,
  write_atomically,
  fence,
  // Each waits for the variable, and meanwhile accesses, in each round:
  wait_reading,
  wait_reading_acquire,
  wait_reading_first,  ///< before it looks
  wait_reading_after,  ///< a first look at the other variable
  wait_reading_atomically,
  wait_adding_nothing,
  wait_reading_either  ///< of two, as the other variable says
};
constexpr const char* names[] = {"store",
                                 "store_release",
                                 "load",
                                 "await",
                                 "await_acquire",
                                 "read",
                                 "write",
                                 "read_atomically",
                                 "write_atomically",
                                 "fence",
                                 "wait_reading",
                                 "wait_reading_acquire",
                                 "wait_reading_first",
                                 "wait_reading_after",
                                 "wait_reading_atomically",
                                 "wait_adding_nothing",
                                 "wait_reading_either"};
constexpr unsigned waits_from = static_cast<unsigned>(step::wait_reading);
constexpr unsigned kinds = static_cast<unsigned>(step::wait_reading_either) + 1;

using instruction = instruction_of<step>;
struct program {
  std::vector<std::vector<instruction>> threads;
  [[nodiscard]] std::string text() const { return text_of(threads, names); }
};

using variable = std::atomic<unsigned>;
struct shared {
  variable v[2]{};
  unsigned memory[2]{};
};

[[gnu::noinline]] void add_nothing_to(unsigned& memory) { std::atomic_ref(memory).fetch_add(0, relaxed); }

/// Waits until `ends()`, and after each round in vain does `meanwhile()`.
template <class Ends, class Meanwhile>
void wait(bool counts, Ends ends, Meanwhile meanwhile) {
  if (!counts) {
    while (!ends()) meanwhile();
    return;
  }
  for (unsigned n = 0; n != 2; ++n) {
    if (ends()) return;
    meanwhile();
  }
  while (!ends()) {
  }
}

void run_thread(const std::vector<instruction>& steps, shared& s, thread_result& r, unsigned own, bool counts) {
  for (const instruction& i : steps) {
    variable& v = s.v[i.of];
    variable& other = s.v[1 - i.of];
    unsigned& memory = s.memory[i.of];
    const auto is_set = [&v] { return v.load(relaxed) != 0; };
    const auto look = [&memory] { look_at(memory); };
    switch (i.what) {
      case step::store: v.store(own, relaxed); break;
      case step::store_release: v.store(own, release); break;
      case step::load: r.note(v.load(relaxed)); break;
      case step::await: wait(false, is_set, [] {}); break;
      case step::await_acquire:
        wait(
            false, [&v] { return v.load(acquire) != 0; }, [] {});
        break;
      case step::read: r.note(memory); break;
      case step::write: memory = own; break;
      case step::read_atomically: r.note(std::atomic_ref(memory).load(relaxed)); break;
      case step::write_atomically: std::atomic_ref(memory).store(own, relaxed); break;
      case step::fence: std::atomic_thread_fence(std::memory_order::acq_rel); break;
      case step::wait_reading: wait(counts, is_set, look); break;
      case step::wait_reading_acquire:
        wait(
            counts, [&v] { return v.load(acquire) != 0; }, look);
        break;
      case step::wait_reading_first:
        wait(
            counts,
            [&] {
              look();
              return is_set();
            },
            [] {});
        break;
      case step::wait_reading_after:
        wait(
            counts, [&] { return other.load(acquire) != 0 && is_set(); }, look);
        break;
      case step::wait_reading_atomically: wait(counts, is_set, [&memory] { look_at_atomically(memory); }); break;
      case step::wait_adding_nothing: wait(counts, is_set, [&memory] { add_nothing_to(memory); }); break;
      case step::wait_reading_either:
        wait(counts, is_set, [&] { look_at(other.load(relaxed) == 0 ? memory : s.memory[1 - i.of]); });
        break;
    }
  }
}

void run(const program& p, bool counts) {
  shared s;
  std::array<thread_result, most_threads> results;
  std::vector<std::thread> threads;
  threads.reserve(most_threads);
  for (std::size_t t = 0; t != p.threads.size(); ++t) {
    threads.emplace_back([&p, &s, &results, t, counts] {
      run_thread(p.threads[t], s, results[t], static_cast<unsigned>(t) + 1, counts);
    });
  }
  for (std::thread& t : threads) t.join();
  const unsigned values[random_programs::variables] = {s.v[0], s.v[1], s.memory[0], s.memory[1]};
  add_outcome(results.data(), threads.size(), values);
}

[[nodiscard]] found search(const program& p, bool counts) {
  return explore("--check-duplicates\n" + limits_of_size(!counts), [&p, counts] { run(p, counts); });
}

class generator {
 public:
  explicit generator(unsigned seed) : random_(seed) {}

  /// One thread waits, says by a store that it has, and another one waits for that, or looks, and then accesses memory.
  [[nodiscard]] program make() {
    program p;
    p.threads.resize(threads_of_program(2 + below(2)));
    p.threads[0] = {{any_wait(), 0}, {any_store(), 1}};
    p.threads[1] = {{any_store(), 0}, {any_await(), 1}, {any_access(), below(2)}};
    if (below(4) == 0) tell_twice(p);
    if (below(3) == 0) p.threads[0].insert(p.threads[0].begin() + below(3), any());
    if (below(3) == 0) p.threads[1].insert(p.threads[1].begin() + below(4), any());
    for (std::size_t t = 2; t < p.threads.size(); ++t) {
      for (unsigned i = 1 + below(2); i != 0; --i) p.threads[t].push_back(any());
    }
    return p;
  }

 private:
  /// By release and acquire, and then by a relaxed store once more: nothing races with the rounds.
  static void tell_twice(program& p) {
    p.threads[0].back().what = step::store_release;
    p.threads[0].push_back({step::store, 0});
    p.threads[1][1].what = step::await_acquire;
    p.threads[1].insert(p.threads[1].begin() + 2, {step::load, 0});
  }
  [[nodiscard]] unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }
  [[nodiscard]] step any_wait() { return static_cast<step>(waits_from + below(kinds - waits_from)); }
  [[nodiscard]] step any_store() { return below(3) == 0 ? step::store_release : step::store; }
  [[nodiscard]] step any_await() {
    static constexpr step some[] = {step::await, step::await, step::await_acquire, step::load};
    return some[below(std::size(some))];
  }
  [[nodiscard]] step any_access() { return static_cast<step>(static_cast<unsigned>(step::read) + below(4)); }
  [[nodiscard]] instruction any() {
    return {below(4) == 0 ? any_wait() : static_cast<step>(below(waits_from)), below(2)};
  }

  std::mt19937 random_;
};

TEST(waits, agree_with_every_round_on_random_programs) {
  EXPECT_TRUE(prepare_outcomes());
  generator programs(number_from("RUNQ_WAITS_SEED", 1));
  unsigned compared = 0, failed = 0, again = 0, only_again = 0;
  for (unsigned n = number_from("RUNQ_WAITS", 150); n != 0 && !HasFailure(); --n) {
    const program p = programs.make();
    const found counting = search(p, true);
    if (counting.status == 2) continue;
    ++compared;
    const found waiting = search(p, false);
    ASSERT_EQ(waiting.status, counting.status) << p.text() << waiting.text << counting.text;
    EXPECT_EQ(waiting.text.find("met before"), std::string::npos) << p.text() << waiting.text;
    const bool begins_again = waiting.text.find("--keep-rounds on") != std::string::npos;
    if (begins_again) ++again;
    if (counting.status == 1) {
      ++failed;
      if (begins_again) ++only_again;
      continue;
    }
    EXPECT_EQ(waiting.outcomes, counting.outcomes) << p.text();
  }
  std::printf("%u compared, %u failed, %u began again, %u of them failed\n", compared, failed, again, only_again);
  EXPECT_GT(only_again, compared / 100);
  EXPECT_GT(again, only_again);
}

}  // namespace

}  // namespace random_programs
