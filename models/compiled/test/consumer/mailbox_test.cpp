// SPDX-License-Identifier: MIT
#include <atomic>
#include <barrier>
#include <cassert>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <runq/check.hpp>
#include <semaphore.h>

namespace {

template <std::memory_order Publish>
class basic_mailbox {
 public:
  void put(int letter) {
    letter_ = letter;
    full_.store(true, Publish);
  }
  [[nodiscard]] bool take(int& letter) {
    if (!full_.load(std::memory_order::acquire)) return false;
    letter = letter_;
    return true;
  }

 private:
  int letter_ = 0;
  std::atomic<bool> full_{false};
};
using mailbox = basic_mailbox<std::memory_order::release>;
using torn_mailbox = basic_mailbox<std::memory_order::relaxed>;

template <class Box>
void hand_over() {
  Box box;
  std::thread sender([&box] { box.put(42); });
  int letter = 42;
  if (box.take(letter)) {
    EXPECT_EQ(letter, 42);
  }
  sender.join();
}

TEST(Check, FindsNothingWhereNothingIsWrong) {
  const runq::verdict v = runq::check(hand_over<mailbox>);
  EXPECT_TRUE(v.passed()) << v;
  EXPECT_EQ(v.executions(), 2U);
#ifdef __clang__
  EXPECT_EQ(v.text().rfind("bounded: ", 0), 0U) << v;
#else
  EXPECT_EQ(v.text().rfind("exhaustive: ", 0), 0U) << v;
#endif
  RUNQ_EXPECT_CHECKED(hand_over<mailbox>);
}

// Those of the library make more than 30,000 executions of two threads.
TEST(Check, ThreadsHaveNoOrderAtABarrier) {
  std::barrier<> outside(2);
  const auto meet = [&outside] {
    std::barrier<> inside(2);
    std::latch done(2);
    const auto run = [&] {
      for (std::barrier<>* const b : {&inside, &outside}) b->arrive_and_wait();
      done.arrive_and_wait();
    };
    std::thread other(run);
    run();
    other.join();
  };
  const runq::verdict v = runq::check(meet);
  EXPECT_TRUE(v.passed()) << v;
  EXPECT_EQ(v.executions(), 1U) << v;
  meet();  // and without a check
}

TEST(Check, FindsASeededBug) {
  const runq::verdict v = runq::check(hand_over<torn_mailbox>);
  EXPECT_TRUE(v.failed());
  EXPECT_EQ(v.failure(), "data race") << v;
  EXPECT_NE(v.text().find("mailbox_test.cpp:"), std::string::npos) << v;
  EXPECT_NONFATAL_FAILURE(RUNQ_EXPECT_CHECKED(hand_over<torn_mailbox>), "data race");
  EXPECT_NE(testing::PrintToString(v).find("data race"), std::string::npos);
}

TEST(Check, GTestAssertionsInsideCount) {
  std::atomic<int> counter{0};
  const runq::verdict v = runq::check([&counter] {
    std::thread other([&counter] { counter.store(counter.load() + 1); });
    counter.store(counter.load() + 1);
    other.join();
    EXPECT_EQ(counter.load(), 2);
  });
  EXPECT_EQ(v.failure(), "check failed") << v;
  EXPECT_NE(v.text().find("counter.load()"), std::string::npos) << "GoogleTest's text is not shown: " << v;
  EXPECT_FALSE(HasFailure());
}

TEST(Check, ObjectsThatWereInitialisedOutsideOfItMayBeUsed) {
  static sem_t permits;
  static pthread_spinlock_t spin;
  static pthread_barrier_t barrier;
  ASSERT_EQ(sem_init(&permits, 0, 1), 0);
  ASSERT_EQ(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE), 0);
  ASSERT_EQ(pthread_barrier_init(&barrier, nullptr, 2), 0);
  pthread_key_t key{};
  ASSERT_EQ(pthread_key_create(&key, nullptr), 0);
  const auto use_all = [] {
    sem_wait(&permits);
    sem_post(&permits);
    pthread_spin_lock(&spin);
    pthread_spin_unlock(&spin);
    pthread_barrier_wait(&barrier);
  };
  RUNQ_EXPECT_CHECKED([=] {
    std::thread other(use_all);
    use_all();
    other.join();
    pthread_setspecific(key, &permits);
    RUNQ_ASSERT(pthread_getspecific(key) == &permits);
  });
  std::thread other(use_all);  // and afterwards without a check
  use_all();
  other.join();
  EXPECT_EQ(pthread_spin_destroy(&spin), 0);
  EXPECT_EQ(runq::check([] { pthread_spin_lock(&spin); }).failure(), "misuse");
}

TEST(Check, AssertionsAndExceptionsCount) {
  EXPECT_EQ(runq::check([] { RUNQ_ASSERT(1 + 1 == 3); }).failure(), "check failed");
  const runq::verdict v = runq::check([] { throw std::runtime_error("thrown in a check"); });
  EXPECT_EQ(v.failure(), "crash");
  EXPECT_NE(v.text().find("thrown in a check"), std::string::npos) << v;
}

// Every execution, and what comes after the check, finds memory as it was before.
class CheckOfMembers : public testing::Test {
 protected:
  std::atomic<int> member_{0};
  std::vector<int> list_{1, 2, 3};
  int plain_ = 0;
};
int global = 0;

TEST_F(CheckOfMembers, MemoryIsPutBack) {
  int local = 0;
  const auto on_heap = std::make_unique<int>(0);
  std::atomic<int> flag{0};
  const auto body = [&] {
    EXPECT_EQ(local + *on_heap + plain_ + global + list_[1] + member_.load() + flag.load(), 2);
    list_[1] = ++local;
    plain_ = global = *on_heap = 7;
    std::thread other([&] { flag.fetch_add(1); });
    flag.fetch_add(1);
    member_.fetch_add(1);
    other.join();
  };
  const runq::verdict v = runq::check(body);
  EXPECT_TRUE(v.passed()) << v;
  EXPECT_EQ(v.executions(), 2U);
  EXPECT_EQ(local + *on_heap + plain_ + global + list_[1] + member_.load() + flag.load(), 2);
  body();
  EXPECT_EQ(list_[1], 1);
}

TEST(Check, LimitsLeaveNoVerdict) {
  runq::check_options options;
  options.max_executions = 1;
  const runq::verdict v = runq::check(options, hand_over<mailbox>);
  EXPECT_TRUE(v.undecided());
  EXPECT_FALSE(v);
  EXPECT_NE(v.text().find("1 execution"), std::string::npos) << v;
}

TEST(Check, OptionsOfTheCommandAreRefused) {
  for (const char* const options : {"--ledger --jobs 2", "--json file"}) {
    setenv("RUNQ_CHECK", options, 1);
    const runq::verdict v = runq::check([] {});
    unsetenv("RUNQ_CHECK");
    EXPECT_TRUE(v.undecided()) << v;
    EXPECT_NE(v.text().find(" is for runq-check and a program that is checked as a whole"), std::string::npos) << v;
  }
}

TEST(Check, AnExecutionThatIsShownIsNoVerdict) {
  EXPECT_TRUE(runq::verdict().undecided()) << "before any check";
  runq::check_options options;
  options.execution = 1;
  const runq::verdict v = runq::check(options, hand_over<mailbox>);
  EXPECT_TRUE(v.undecided()) << v;
  EXPECT_EQ(v.text().rfind("execution 1, which does not fail", 0), 0U) << v;
}

TEST(Check, WithinACheckIsRefused) {
  const runq::verdict v = runq::check([] { static_cast<void>(runq::check([] {})); });
  EXPECT_TRUE(v.undecided());
  EXPECT_NE(v.text().find("a check within a check"), std::string::npos) << v;
}

// Instrumented code is the program's own outside of checks: real threads, real atomics, real heap.
TEST(OutsideOfChecks, TheProgramRunsAsEver) {
  constexpr int rounds = 10'000;
  std::atomic<int> sum{0};
  std::atomic<unsigned __int128> wide{0};
  static int initialised = 0;
  const auto count = [&] {
    static const int once = ++initialised;
    for (int i = 0; i != rounds; ++i) {
      sum.fetch_add(once);
      unsigned __int128 seen = wide.load();
      while (!wide.compare_exchange_weak(seen, seen + 1)) {
      }
      delete new std::string("somewhere on the heap, because it is long enough");
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i != 4; ++i) threads.emplace_back(count);
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(sum.load(), 4 * rounds);
  EXPECT_TRUE(wide.load() == 4 * rounds);
  EXPECT_EQ(initialised, 1);
}

}  // namespace
