// SPDX-License-Identifier: MIT
// Random programs with loops that try again, and access other memory in each round: what a thread does in a failed
// round that is left out may race with what others do after the loop. The same with --skip-retries off, where each
// round is explored, must fail as often, and end in the same ways.
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
  add,
  replace,  ///< the current block by another one
  // Each tries to change a variable, or the current block, and accesses other memory in each round:
  add_reading,
  add_reading_first,  ///< and loads again in each round
  add_reading_atomically,
  replace_reading,  ///< the block that it wants to replace
  replace_reading_atomically,
  replace_new,  ///< by one that it has allocated
  // These tell others that they are here.
  tell,
  tell_release,
  // These access memory if they were told so; the first two in any case.
  write,
  write_block,
  write_if,
  write_if_acquire,
  write_if_atomically,
  write_block_if,
  write_block_if_acquire,
  free_if,
  free_if_acquire
};
constexpr const char* names[] = {"load",
                                 "store",
                                 "add",
                                 "replace",
                                 "add_reading",
                                 "add_reading_first",
                                 "add_reading_atomically",
                                 "replace_reading",
                                 "replace_reading_atomically",
                                 "replace_new",
                                 "tell",
                                 "tell_release",
                                 "write",
                                 "write_block",
                                 "write_if",
                                 "write_if_acquire",
                                 "write_if_atomically",
                                 "write_block_if",
                                 "write_block_if_acquire",
                                 "free_if",
                                 "free_if_acquire"};
constexpr unsigned loops_from = static_cast<unsigned>(step::add_reading);
constexpr unsigned tells_from = static_cast<unsigned>(step::tell);
constexpr unsigned accesses_from = static_cast<unsigned>(step::write);
constexpr unsigned late_from = static_cast<unsigned>(step::write_if);
constexpr unsigned kinds = static_cast<unsigned>(step::free_if_acquire) + 1;

using instruction = instruction_of<step>;
struct program {
  std::vector<std::vector<instruction>> threads;
  [[nodiscard]] std::string text() const { return text_of(threads, names); }
};

using variable = std::atomic<unsigned>;
struct block {
  unsigned plain = 0;
  variable v{0};
};
struct shared {
  variable v[2]{};
  variable told[2]{};
  unsigned memory[2]{};
  block* blocks[2]{new block, new block};
  block others[most_threads]{};
  std::atomic<block*> current{blocks[0]};
};
/// What a thread has done to the blocks.
struct of_blocks {
  block* made = nullptr;
  bool freed[2]{};
};

[[gnu::noinline]] unsigned add(variable& v) {
  unsigned found = v.load(relaxed);
  while (!v.compare_exchange_strong(found, found + 1, acquire, relaxed)) {
  }
  return found;
}
template <class Look>
[[gnu::noinline]] unsigned add_looking(variable& v, unsigned* memory, Look look) {
  unsigned found = v.load(acquire);
  do look(memory[found % 2]);
  while (!v.compare_exchange_strong(found, found + 1, std::memory_order::acq_rel, acquire));
  return found;
}
[[gnu::noinline]] unsigned add_reading_first(variable& v, unsigned* memory) {
  for (;;) {
    unsigned found = v.load(acquire);
    look_at(memory[found % 2]);
    if (v.compare_exchange_strong(found, found + 1, release, relaxed)) return found;
  }
}
template <class Look>
[[gnu::noinline]] void replace(std::atomic<block*>& current, block* by, Look look) {
  block* found = current.load(acquire);
  do look(*found);
  while (!current.compare_exchange_strong(found, by, std::memory_order::acq_rel, acquire));
}

void run_thread(const std::vector<instruction>& steps, shared& s, thread_result& r, unsigned own, of_blocks& done) {
  block& mine = s.others[own - 1];
  for (const instruction& i : steps) {
    variable& v = s.v[i.of];
    variable& told = s.told[i.of];
    const auto free = [&] {
      if (done.freed[i.of]) return;
      done.freed[i.of] = true;
      delete s.blocks[i.of];
    };
    switch (i.what) {
      case step::load: r.note(v.load(relaxed)); break;
      case step::store: v.store(own, relaxed); break;
      case step::add: r.note(add(v)); break;
      case step::replace: replace(s.current, i.of == 0 ? &mine : s.blocks[1], [](block&) {}); break;
      case step::add_reading: r.note(add_looking(v, s.memory, look_at)); break;
      case step::add_reading_first: r.note(add_reading_first(v, s.memory)); break;
      case step::add_reading_atomically: r.note(add_looking(v, s.memory, look_at_atomically)); break;
      case step::replace_reading: replace(s.current, &mine, [](block& b) { look_at(b.plain); }); break;
      case step::replace_reading_atomically:
        replace(s.current, &mine, [](block& b) { static_cast<void>(b.v.load(relaxed)); });
        break;
      case step::replace_new:
        if (done.made == nullptr) done.made = new block;
        replace(s.current, done.made, [](block& b) { look_at(b.plain); });
        break;
      case step::tell: told.store(own, relaxed); break;
      case step::tell_release: told.store(own, release); break;
      case step::write: s.memory[i.of] = own; break;
      case step::write_block: mine.plain = own; break;
      case step::write_if:
        if (told.load(relaxed) != 0) s.memory[i.of] = own;
        break;
      case step::write_if_acquire:
        if (told.load(acquire) != 0) s.memory[i.of] = own;
        break;
      case step::write_if_atomically:
        if (told.load(relaxed) != 0) std::atomic_ref(s.memory[i.of]).store(own, relaxed);
        break;
      case step::write_block_if:
        if (told.load(relaxed) != 0) s.blocks[i.of]->plain = own;
        break;
      case step::write_block_if_acquire:
        if (told.load(acquire) != 0) s.blocks[i.of]->plain = own;
        break;
      case step::free_if:
        if (told.load(relaxed) != 0) free();
        break;
      case step::free_if_acquire:
        if (told.load(acquire) != 0) free();
        break;
    }
  }
}

void run(const program& p) {
  shared s;
  std::array<thread_result, most_threads> results;
  std::array<of_blocks, most_threads> done;
  std::vector<std::thread> threads;
  threads.reserve(most_threads);
  for (std::size_t t = 0; t != p.threads.size(); ++t) {
    threads.emplace_back([&p, &s, &results, &done, t] {
      run_thread(p.threads[t], s, results[t], static_cast<unsigned>(t) + 1, done[t]);
    });
  }
  for (std::thread& t : threads) t.join();
  const unsigned values[variables] = {s.v[0], s.v[1], s.memory[0], s.memory[1]};
  bool is_freed[2]{};
  for (const of_blocks& d : done) {
    delete d.made;
    for (unsigned i = 0; i != 2; ++i) is_freed[i] = is_freed[i] || d.freed[i];
  }
  for (unsigned i = 0; i != 2; ++i) {
    if (!is_freed[i]) delete s.blocks[i];
  }
  add_outcome(results.data(), threads.size(), values);
}

[[nodiscard]] found search(const program& p, bool on) {
  return explore("--check-duplicates\n" + limits_of_size(on) + "--skip-retries\n" + (on ? "reading" : "off"),
                 [&p] { run(p); });
}

class generator {
 public:
  explicit generator(unsigned seed) : random_(seed) {}

  /// One thread tries, and tells that it has; another one makes it fail, and accesses memory if it was told so.
  [[nodiscard]] program make() {
    program p;
    p.threads.resize(threads_of_program(2 + below(2) + below(4) / 3));
    p.threads[0] = {{from(loops_from, tells_from), 0}, {from(tells_from, accesses_from), 0}};
    p.threads[1] = {{from(1, tells_from), 0}, {from(late_from, kinds), 0}};
    for (std::size_t t = 0; t != p.threads.size(); ++t) {
      if (t > 1) p.threads[t].push_back(any());
      if (p.threads.size() < 4 && below(3) == 0) {
        p.threads[t].insert(p.threads[t].begin() + below(static_cast<unsigned>(p.threads[t].size()) + 1), any());
      }
    }
    return p;
  }

 private:
  [[nodiscard]] unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }
  [[nodiscard]] step from(unsigned first, unsigned end) { return static_cast<step>(first + below(end - first)); }
  [[nodiscard]] instruction any() {
    const unsigned first = below(3) == 0 ? late_from : 0;
    return {below(2) == 0 ? from(1, tells_from) : from(first, kinds), below(3) / 2};
  }

  std::mt19937 random_;
};

TEST(failed_rounds, agree_with_every_round_on_random_programs) {
  EXPECT_TRUE(prepare_outcomes());
  generator programs(number_from("RUNQ_FAILED_ROUNDS_SEED", 1));
  unsigned compared = 0, fewer = 0, failed = 0, again = 0, only_again = 0;
  for (unsigned n = number_from("RUNQ_FAILED_ROUNDS", 40); n != 0 && !HasFailure(); --n) {
    const program p = programs.make();
    const found all = search(p, false);
    if (all.status == 2) continue;
    ++compared;
    const found some = search(p, true);
    ASSERT_EQ(some.status, all.status) << p.text() << some.text << all.text;
    EXPECT_EQ(some.text.find("met before"), std::string::npos) << p.text() << some.text;
    const bool begins_again = some.text.find("--keep-rounds on") != std::string::npos;
    if (begins_again) ++again;
    if (all.status == 1) {
      ++failed;
      if (begins_again) ++only_again;
      continue;
    }
    if (some.executions < all.executions) ++fewer;
    EXPECT_EQ(some.outcomes, all.outcomes) << p.text();
  }
  std::printf("%u compared, %u in fewer executions, %u failed, %u began again, %u of them failed\n", compared, fewer,
              failed, again, only_again);
  EXPECT_GT(fewer, compared / 50);
  EXPECT_GT(only_again, compared / 100);
}

}  // namespace

}  // namespace random_programs
