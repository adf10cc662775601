// SPDX-License-Identifier: MIT
// Random programs with barriers of pthreads: that threads of one round have no order loses no outcome, no failure, and
// adds none. More threads may come to a barrier than it needs, or fewer.
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <pthread.h>
#include <runq/check.hpp>

#include "on_and_off.hpp"
#include "random.hpp"

namespace random_programs {

namespace {

constexpr unsigned barriers = 2;

enum class step : std::uint8_t {
  load,
  load_acquire,
  store,
  store_release,
  add,
  fence,
  read_plain,
  write_plain,
  lock,       ///< and unlock
  wait,       ///< at a barrier
  wait_look,  ///< and look at which thread is told apart
  wait_if,    ///< if the last value that was read is 0
  begin_new   ///< the thread that is told apart destroys the barrier, and initialises it again
};
constexpr const char* names[] = {"load",      "load_acquire", "store",       "store_release", "add",
                                 "fence",     "read_plain",   "write_plain", "lock",          "wait",
                                 "wait_look", "wait_if",      "begin_new"};

using instruction = instruction_of<step>;
struct program {
  std::vector<std::vector<instruction>> threads;
  unsigned needed[barriers];

  [[nodiscard]] std::string text() const {
    return "needed: " + std::to_string(needed[0]) + ", " + std::to_string(needed[1]) + "\n" + text_of(threads, names);
  }
};

struct shared {
  std::atomic<unsigned> v[2]{};
  unsigned plain[2]{};
  std::mutex mutex;
  pthread_barrier_t b[barriers];
};

void run_thread(const std::vector<instruction>& steps, const program& p, shared& s, thread_result& r, unsigned own) {
  unsigned last = 0;
  for (const instruction& i : steps) {
    switch (i.what) {
      case step::load: r.note(last = s.v[i.of].load(std::memory_order::relaxed)); break;
      case step::load_acquire: r.note(last = s.v[i.of].load(std::memory_order::acquire)); break;
      case step::store: s.v[i.of].store(own, std::memory_order::relaxed); break;
      case step::store_release: s.v[i.of].store(own, std::memory_order::release); break;
      case step::add: r.note(last = s.v[i.of].fetch_add(1, std::memory_order::relaxed)); break;
      case step::fence: std::atomic_thread_fence(std::memory_order::seq_cst); break;
      case step::read_plain: last = s.plain[i.of]; break;
      case step::write_plain: s.plain[i.of] = own; break;
      case step::lock:
        s.mutex.lock();
        s.mutex.unlock();
        break;
      case step::wait_if:
        if (last != 0) break;
        [[fallthrough]];
      case step::wait: pthread_barrier_wait(&s.b[i.of]); break;
      case step::wait_look: r.note(pthread_barrier_wait(&s.b[i.of]) != 0 ? 1 : 0); break;
      case step::begin_new:
        if (pthread_barrier_wait(&s.b[i.of]) != 0) {
          pthread_barrier_destroy(&s.b[i.of]);
          pthread_barrier_init(&s.b[i.of], nullptr, p.needed[i.of]);
          r.note(1);
        }
        break;
    }
  }
}

void run(const program& p) {
  shared s;
  std::array<thread_result, most_threads> results;
  for (unsigned b = 0; b != barriers; ++b) pthread_barrier_init(&s.b[b], nullptr, p.needed[b]);
  std::vector<std::thread> threads;
  threads.reserve(most_threads);
  for (std::size_t t = 0; t != p.threads.size(); ++t) {
    threads.emplace_back(
        [&p, &s, &results, t] { run_thread(p.threads[t], p, s, results[t], static_cast<unsigned>(t) + 1); });
  }
  for (std::thread& t : threads) t.join();
  const unsigned values[variables] = {s.v[0], s.v[1], s.plain[0], s.plain[1]};
  for (pthread_barrier_t& b : s.b) pthread_barrier_destroy(&b);
  add_outcome(results.data(), threads.size(), values);
}

[[nodiscard]] found search(const program& p, bool on) {
  const std::string options = "--check-duplicates\n--every-iteration\n--max-executions\n20000";
  return explore(options + (on ? "" : "\n--barriers-in-order"), [&p] { run(p); });
}

class generator {
 public:
  explicit generator(unsigned seed) : random_(seed) {}

  [[nodiscard]] program make() {
    program p;
    const unsigned threads = 2 + below(2) + below(8) / 7;
    for (unsigned& n : p.needed) n = below(4) != 0 ? threads : 1 + below(threads + 1);
    const unsigned rounds = threads == 2 ? 1 + below(3) : 1 + below(2);
    const bool has_plain = below(2) == 0;
    const bool comes_late = below(4) == 0;  // some thread waits, or does not
    p.threads.resize(threads);
    for (auto& thread : p.threads) {
      for (unsigned i = 0; i != rounds; ++i) {
        add_accesses(thread, threads, has_plain);
        thread.push_back({wait(comes_late), below(5) / 4});
      }
      add_accesses(thread, threads, has_plain);
    }
    if (below(3) == 0) make_alike(p);
    return p;
  }

 private:
  [[nodiscard]] unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }

  void add_accesses(std::vector<instruction>& to, unsigned threads, bool has_plain) {
    for (unsigned i = below(threads == 2 ? 3 : 2); i != 0; --i) {
      constexpr step any[] = {step::load, step::load_acquire, step::store, step::store_release,
                              step::add,  step::fence,        step::lock,  step::load};
      if (has_plain && below(4) == 0) {
        to.push_back({below(3) == 0 ? step::write_plain : step::read_plain, below(2)});
      } else {
        to.push_back({any[below(8)], below(3) / 2});
      }
    }
  }
  [[nodiscard]] step wait(bool comes_late) {
    if (comes_late && below(2) == 0) return step::wait_if;
    const unsigned n = below(10);
    return n == 0 ? step::begin_new : n < 3 ? step::wait_look : step::wait;
  }
  /// All threads use the same barrier in each round, as most programs do.
  static void make_alike(program& p) {
    for (auto& thread : p.threads) {
      for (instruction& i : thread) {
        if (i.what >= step::wait) i.of = 0;
      }
    }
  }

  std::mt19937 random_;
};

TEST(barriers, agree_with_arrivals_in_order_on_random_programs) {
  ASSERT_TRUE(prepare_outcomes());
  const unsigned count = number_from("RUNQ_BARRIER_PROGRAMS", 150);
  generator programs(number_from("RUNQ_BARRIER_SEED", 1));
  const auto fails_in_one_way = [](const program& p) {
    return p.text().find("plain") == std::string::npos && p.text().find("begin_new") == std::string::npos;
  };
  tally t;
  compare_on_and_off(
      count, [&] { return programs.make(); }, search, fails_in_one_way, t);
  EXPECT_GT(t.fewer, count / 5);
  EXPECT_GT(t.failed, count / 10);
  EXPECT_GT(t.passed, count / 4);
}

}  // namespace

}  // namespace random_programs
