// SPDX-License-Identifier: MIT
// Random programs, compiled like any program: the front end finds as many executions as the enumerator, with the same
// outcomes, none of them twice; or one of the failures that the enumerator finds.
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <runq/check.hpp>

#include "lines.hpp"
#include "random.hpp"

namespace random_programs {

[[gnu::noinline]] void free_plain(state& s, thread_result& r, unsigned variable) {
  r.has_freed[variable] = true;
  delete s.plain[variable];
}

namespace {

void run(const random_program& p) {
  state s;
  std::array<thread_result, most_threads> results;
  if (p.has_memory) {
    for (unsigned*& plain : s.plain) plain = new unsigned(0);
  }
  std::vector<std::thread> threads;
  threads.reserve(most_threads);
  for (std::size_t t = 0; t != most_threads && p.threads[t] != nullptr; ++t) {
    threads.emplace_back(p.threads[t], std::ref(s), std::ref(results[t]));
  }
  for (std::thread& t : threads) t.join();
  for (unsigned v = 0; p.has_memory && v != plain_variables; ++v) {
    bool has_freed = false;
    for (const thread_result& r : results) has_freed = has_freed || r.has_freed[v];
    if (!has_freed) free_plain(s, results[0], v);
  }
  std::array<unsigned, variables> values{};
  for (std::size_t v = 0; v != variables; ++v) values[v] = s.v[v].load(std::memory_order::relaxed);
  add_outcome(results.data(), threads.size(), values.data());
}

/// Compares one check with what is expected of it; the kind of failure that it found, or an empty text.
std::string compare(const random_program& p, const expectation& expected, std::size_t spurious) {
  const std::string options = "--check-duplicates\n--spurious\n" + std::to_string(spurious);
  setenv("RUNQ_CHECK", options.c_str(), 1);
  forget_outcomes();
  const runq::verdict v = runq::check([&p] { run(p); });
  EXPECT_EQ(v.text().find("met before"), std::string::npos) << v << p.text;
  const std::set<std::string> failures = lines_of(expected.failures);
  if (!failures.empty()) {
    EXPECT_TRUE(failures.contains(v.failure())) << v << expected.failures << p.text;
    return v.failure();
  }
  EXPECT_TRUE(v.passed()) << v << p.text;
  if (!p.waits) {
    EXPECT_EQ(v.executions(), expected.graphs) << v << p.text;
  }
  const char* const found = outcomes();
  EXPECT_NE(found, nullptr);
  EXPECT_EQ(lines_of(found == nullptr ? "" : found), lines_of(expected.outcomes)) << v << p.text;
  return {};
}

std::map<std::string, int> compare_all(std::string_view flavour) {
  static const bool prepared = prepare_outcomes();
  EXPECT_TRUE(prepared);
  std::map<std::string, int> found;
  for (std::size_t i = 0; prepared && i != program_count && !testing::Test::HasFailure(); ++i) {
    if (programs[i].flavour != flavour) continue;
    for (std::size_t spurious = 0; spurious != programs[i].expected.size(); ++spurious) {
      const expectation& expected = programs[i].expected[spurious];
      if (expected.outcomes != nullptr) ++found[compare(programs[i], expected, spurious)];
    }
  }
  return found;
}

TEST(RandomPrograms, OfAnyInstructions) { EXPECT_EQ(compare_all("any")[""], 150); }

TEST(RandomPrograms, WithFencesAndFourThreads) { EXPECT_EQ(compare_all("fenced")[""], 10); }

#ifndef __clang__  // which does not say that a compare-exchange is weak
TEST(RandomPrograms, WithSpuriousFailuresOfWeakExchanges) { EXPECT_EQ(compare_all("weak_exchanges")[""], 3 * 40); }
#endif

TEST(RandomPrograms, WithAMutexPlainMemoryAndTheHeap) {
  std::map<std::string, int> found = compare_all("memory");
  EXPECT_GE(found[""], 5);
  EXPECT_GE(found["data race"], 5);
  EXPECT_GE(found["use after free"], 2);
}

TEST(RandomPrograms, WithLoopsThatWait) {
  std::map<std::string, int> found = compare_all("waiting");
  EXPECT_GE(found[""], 12);
  EXPECT_GE(found["deadlock"], 12);
  EXPECT_GE(found["data race"], 2);
}

}  // namespace
}  // namespace random_programs
