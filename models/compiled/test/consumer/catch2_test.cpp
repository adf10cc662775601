// SPDX-License-Identifier: MIT
// With Catch2: a verdict is what CHECK and REQUIRE take, and they print it as a person reads it.
#define CATCH_CONFIG_MAIN
#include <atomic>
#include <sstream>
#include <thread>

#include <catch2/catch.hpp>
#include <runq/check.hpp>

namespace {

void hand_over(std::memory_order published) {
  int letter = 0;
  std::atomic<bool> there{false};
  std::thread sender([&] {
    letter = 1;
    there.store(true, published);
  });
  if (there.load(std::memory_order_acquire)) RUNQ_ASSERT(letter == 1);
  sender.join();
}

}  // namespace

TEST_CASE("a verdict that passes is true") {
  REQUIRE(runq::check([] { hand_over(std::memory_order_release); }));
}

TEST_CASE("a verdict that fails is false, and Catch2 shows its text") {
  const runq::verdict v = runq::check([] { hand_over(std::memory_order_relaxed); });
  CHECK_FALSE(v);
  CHECK(v.failure() == "data race");
  CHECK(Catch::Detail::stringify(v) == v.text());
}

TEST_CASE("an assertion that throws fails the execution") {
  CHECK(runq::check([] { REQUIRE(1 + 1 == 3); }).failure() == "crash");
}

// Hidden: a test of this test runs it, and looks at what is printed.
TEST_CASE("fails", "[.fails]") {
  CHECK(runq::check([] { hand_over(std::memory_order_relaxed); }));
}
