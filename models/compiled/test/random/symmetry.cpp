// SPDX-License-Identifier: MIT
// Random programs whose threads begin alike, all or some of them: what is explored up to symmetry loses no outcome but
// for who of them is who, and no failure, adds none, and stands for as many executions as there are.
#include <condition_variable>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <pthread.h>
#include <runq/check.hpp>
#include <semaphore.h>

#include "on_and_off.hpp"
#include "random.hpp"

namespace random_programs {

namespace {

constexpr auto acq_rel = std::memory_order::acq_rel;
constexpr auto seq_cst = std::memory_order::seq_cst;

enum class step : std::uint8_t {
  load,
  load_acquire,
  load_seq_cst,
  store,
  store_release,
  store_seq_cst,
  fetch_add,
  swap,
  take,       ///< by a compare-exchange of 0
  take_weak,  ///< which may fail for no reason
  add,        ///< by a loop
  fence,
  lock,         ///< and unlock
  try_lock,     ///< likewise
  lock_shared,  ///< likewise
  share,        ///< a lock that readers take by adding 1, and owners by adding 8: who fails takes that back
  own,          ///< likewise
  peek,         ///< at that lock
  store_other,  ///< if what was read last is 0, to the other variable
  await,        ///< until the variable is not 0
  atomic_wait,  ///< likewise
  notify_one,   ///< after a store
  signal,       ///< one who awaits that
  await_signal,
  post,  ///< a semaphore
  await_post,
  barrier,  ///< of two
  read_plain,
  write_plain
};
constexpr const char* names[] = {"load",          "load_acquire", "load_seq_cst", "store",        "store_release",
                                 "store_seq_cst", "fetch_add",    "swap",         "take",         "take_weak",
                                 "add",           "fence",        "lock",         "try_lock",     "lock_shared",
                                 "share",         "own",          "peek",         "store_other",  "await",
                                 "atomic_wait",   "notify_one",   "signal",       "await_signal", "post",
                                 "await_post",    "barrier",      "read_plain",   "write_plain"};
constexpr unsigned kinds = static_cast<unsigned>(step::write_plain) + 1;
constexpr unsigned shares_from = static_cast<unsigned>(step::share);
constexpr unsigned shares = static_cast<unsigned>(step::peek) + 1 - shares_from;
constexpr unsigned kinds_that_pass = static_cast<unsigned>(step::await);

using instruction = instruction_of<step>;
struct program {
  std::vector<std::vector<instruction>> bodies;
  std::vector<unsigned> threads;  ///< which of them each thread executes
  bool main_does = false;         ///< main() executes the second one meanwhile

  [[nodiscard]] std::string text() const {
    std::string t = "threads:";
    for (const unsigned body : threads) t += ' ' + std::to_string(body);
    t += main_does ? "; main: 1\n" : "\n";
    return t + text_of(bodies, names);
  }
};

struct shared {
  std::atomic<unsigned> v[2]{};
  unsigned plain[2]{};
  std::mutex mutex;
  std::shared_mutex shared_mutex;
  std::atomic<unsigned> shares{};
  unsigned signals = 0;
  std::condition_variable signalled;
  sem_t semaphore;
  pthread_barrier_t barrier;

  shared() {
    sem_init(&semaphore, 0, 0);
    pthread_barrier_init(&barrier, nullptr, 2);
  }
};

[[gnu::noinline]] unsigned add(std::atomic<unsigned>& v) {
  unsigned found = v.load(relaxed);
  while (!v.compare_exchange_strong(found, found + 1, acquire, relaxed)) {
  }
  return found;
}

constexpr unsigned all_shares = 8;
void add_share(std::atomic<unsigned>& shares, unsigned own, unsigned free_below) {
  while (shares.fetch_add(own, acquire) >= free_below) {
    shares.fetch_sub(own, relaxed);
    while (shares.load(relaxed) >= free_below) {
    }
  }
}

void run_thread(const std::vector<instruction>& steps, shared& s, thread_result& r, unsigned body) {
  unsigned last = 0;
  unsigned written = 10 * (body + 1);
  const auto note = [&](unsigned value) { r.note(last = value); };
  for (const instruction& i : steps) {
    std::atomic<unsigned>& v = s.v[i.of];
    unsigned expected = 0;
    ++written;
    switch (i.what) {
      case step::load: note(v.load(relaxed)); break;
      case step::load_acquire: note(v.load(acquire)); break;
      case step::load_seq_cst: note(v.load(seq_cst)); break;
      case step::store: v.store(written, relaxed); break;
      case step::store_release: v.store(written, release); break;
      case step::store_seq_cst: v.store(written, seq_cst); break;
      case step::fetch_add: note(v.fetch_add(1, acq_rel)); break;
      case step::swap: note(v.exchange(written, relaxed)); break;
      case step::take:
        v.compare_exchange_strong(expected, written, acq_rel, acquire);
        note(expected);
        break;
      case step::take_weak: note(v.compare_exchange_weak(expected, written, relaxed, relaxed) ? 1 : 0); break;
      case step::add: note(add(v)); break;
      case step::fence: std::atomic_thread_fence(seq_cst); break;
      case step::lock:
        s.mutex.lock();
        note(v.load(relaxed));
        s.mutex.unlock();
        break;
      case step::try_lock:
        if (!s.mutex.try_lock()) {
          note(7);
          break;
        }
        note(v.load(relaxed));
        s.mutex.unlock();
        break;
      case step::lock_shared:
        s.shared_mutex.lock_shared();
        note(v.load(relaxed));
        s.shared_mutex.unlock_shared();
        break;
      case step::share:
        add_share(s.shares, 1, all_shares);
        note(v.load(relaxed));
        s.shares.fetch_sub(1, release);
        break;
      case step::own:
        add_share(s.shares, all_shares, 1);
        v.store(written, relaxed);
        s.shares.fetch_sub(all_shares, release);
        break;
      case step::peek:
        if (s.shares.load(acquire) >= all_shares) v.store(written, relaxed);
        break;
      case step::store_other:
        if (last == 0) s.v[1 - i.of].store(written, release);
        break;
      case step::await:
        while (v.load(acquire) == 0) {
        }
        break;
      case step::atomic_wait: v.wait(0, acquire); break;
      case step::notify_one:
        v.store(written, release);
        v.notify_one();
        break;
      case step::signal: {
        const std::scoped_lock locked(s.mutex);
        ++s.signals;
        s.signalled.notify_one();
        break;
      }
      case step::await_signal: {
        std::unique_lock locked(s.mutex);
        while (s.signals == 0) s.signalled.wait(locked);
        --s.signals;
        break;
      }
      case step::post: sem_post(&s.semaphore); break;
      case step::await_post: sem_wait(&s.semaphore); break;
      case step::barrier: note(pthread_barrier_wait(&s.barrier) == 0 ? 0 : 1); break;
      case step::read_plain: note(s.plain[i.of]); break;
      case step::write_plain: s.plain[i.of] = written; break;
    }
  }
}

void run(const program& p) {
  shared s;
  std::vector<std::thread> threads;
  threads.reserve(most_threads);
  for (const unsigned body : p.threads) {
    threads.emplace_back([&p, &s, body] {
      thread_result r;
      run_thread(p.bodies[body], s, r, body);
      note_end_of_thread(body, r);
    });
  }
  if (p.main_does) {
    thread_result r;
    run_thread(p.bodies[1], s, r, 1);
    note_end_of_thread(1, r);
  }
  for (std::thread& t : threads) t.join();
  const unsigned values[variables] = {s.v[0], s.v[1], s.plain[0], s.plain[1]};
  add_unordered_outcome(values);
}

/// Executions for which those stand that were explored.
[[nodiscard]] std::uint64_t executions_of(const found& f) {
  const std::string before = "up to symmetry: " + std::to_string(f.executions) + " of ";
  const std::size_t at = f.text.find(before);
  return at == std::string::npos ? f.executions : std::stoull(f.text.substr(at + before.size()));
}

[[nodiscard]] found search(const program& p, bool on, const std::string& more) {
  const std::string options = "--check-duplicates\n--max-executions\n6000" + more;
  found f = explore(options + (on ? "\n--symmetry\non" : ""), [&p] { run(p); });
  if (on) EXPECT_EQ(f.text.find("told apart"), std::string::npos) << p.text() << f.text;
  return f;
}

class generator {
 public:
  generator(unsigned seed, bool may_fail, bool has_shares)
      : random_(seed), may_fail_(may_fail), has_shares_(has_shares) {}

  [[nodiscard]] program make() {
    static const std::vector<unsigned> threads[] = {{0, 0},       {0, 0},       {0, 0, 0},   {0, 0, 0},
                                                    {0, 0, 1},    {1, 0, 0},    {0, 1, 0},   {0, 0, 1, 1},
                                                    {0, 1, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 0}};
    program p;
    p.threads = threads[below(std::size(threads))];
    p.bodies.resize(2);
    const unsigned most = p.threads.size() == 2 ? 4 : p.threads.size() == 3 ? 3 : 2;
    p.main_does = p.threads.size() != most_threads && below(3) == 0;
    const bool may_fail = may_fail_ && below(3) == 0;
    for (auto& body : p.bodies) {
      for (unsigned i = 1 + below(most); i != 0; --i) {
        const unsigned any = below(may_fail ? kinds : kinds_that_pass);
        body.push_back(
            {static_cast<step>(has_shares_ && below(3) != 0 ? shares_from + below(shares) : any), below(3) / 2});
      }
    }
    return p;
  }

 private:
  [[nodiscard]] unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }

  std::mt19937 random_;
  bool may_fail_;
  bool has_shares_;  ///< most steps are of that lock
};

void compare(const std::string& options, bool counts, bool has_shares = false) {
  ASSERT_TRUE(prepare_outcomes());
  const unsigned count = number_from("RUNQ_SYMMETRY_PROGRAMS", has_shares ? 30 : 100);
  generator programs(number_from("RUNQ_SYMMETRY_SEED", 1), !counts, has_shares);
  std::uint64_t all = 0;
  const auto search_and_count = [&](const program& p, bool on) {
    const found f = search(p, on, options);
    if (!on) all = f.status == 0 ? f.executions : 0;
    if (on && all != 0 && counts) EXPECT_EQ(executions_of(f), all) << p.text() << f.text;
    return f;
  };
  tally t;
  compare_on_and_off(
      count, [&] { return programs.make(); }, search_and_count,
      [](const program& p) { return p.text().find("plain") == std::string::npos; }, t);
  EXPECT_GT(t.fewer, count / (has_shares ? 5 : 3));
  if (!counts && !has_shares) EXPECT_GT(t.failed, count / 40);
  EXPECT_GT(t.passed, count / 3);
}

TEST(symmetry, stands_for_all_executions_of_random_programs) { compare("\n--every-iteration", true); }

/// Also of programs that may wait for ever, or race. Which rounds of a loop are left out may depend on what lies on the
/// stacks of its thread and of others, so the numbers may differ.
TEST(symmetry, agrees_with_all_executions_of_random_programs) { compare("", false); }

TEST(symmetry, agrees_where_rounds_are_undone) { compare("\n--skip-retries\non", false, true); }

}  // namespace

}  // namespace random_programs
