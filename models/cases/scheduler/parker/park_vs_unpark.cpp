// SPDX-License-Identifier: MIT
// One thread sleeps, others wake it: every token is taken, and the thread that takes it sees what its waker did. In
// these models only a token, or the clock if there is one, ends a sleep: so a lost wake-up is a deadlock.
#include "futex.hpp"
#include "runq/protocol/parker.hpp"
#include "scenario.hpp"

namespace runq::model {
namespace {

using parker_type = basic_parker<futex, atomics>;

// Thread 0: parks ‖ waker: writes, unparks.
struct park_vs_unpark final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      sleeper.park();
      require(news.get() == 1, "the woken thread does not see what it was woken for");
    } else {
      news.set(1);
      sleeper.unpark();
    }
  }
  void finish() override { require(!sleeper.has_token(), "a token was taken and is still there"); }

  parker_type sleeper;
  cell<int> news{0};
};

// Thread 0: parks twice ‖ waker: unparks, and again when the first token has been taken.
struct park_again final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      sleeper.park();
      taken.store(1, std::memory_order::release);
      sleeper.park();
    } else {
      sleeper.unpark();
      await([this] { return taken.load(std::memory_order::acquire) != 0; });
      sleeper.unpark();
    }
  }

  parker_type sleeper;
  atomic<int> taken{0};
};

// Each waker sets a flag; the thread sleeps until it has seen all flags.
template <unsigned Wakers>
struct wakers : scenario {
  wakers() {
    for (auto& s : said) s.store(0, std::memory_order::relaxed);
  }
  void say(unsigned waker) {
    said[waker].store(1, std::memory_order::relaxed);
    sleeper.unpark();
  }
  [[nodiscard]] bool heard_all() const {
    for (const auto& s : said) {
      if (s.load(std::memory_order::relaxed) == 0) return false;
    }
    return true;
  }

  parker_type sleeper;
  atomic<int> said[Wakers];
};

// Thread 0: parks until it has seen both flags ‖ two wakers: set a flag, unpark. One token may stand for both.
struct two_wakers final : wakers<2> {
  void thread(unsigned index) override {
    if (index != 0) return say(index - 1);
    while (!heard_all()) sleeper.park();
  }
};

// Thread 0: leaves itself a token, then parks until it has seen the flag ‖ waker: sets it, unparks.
struct put_vs_unpark final : wakers<1> {
  void thread(unsigned index) override {
    if (index != 0) return say(0);
    sleeper.put();
    while (!heard_all()) sleeper.park();
  }
};

// Thread 0: looks, takes the token if it is there, else parks ‖ waker: writes, unparks.
struct take_vs_unpark final : scenario {
  void thread(unsigned index) override {
    if (index != 0) {
      news.set(1);
      sleeper.unpark();
      return;
    }
    const bool there = sleeper.has_token();
    const bool taken = sleeper.take();
    require(taken || !there, "a token was seen and then not there");
    if (!taken) sleeper.park();
    require(news.get() == 1, "the thread that took the token does not see what it was left for");
  }

  parker_type sleeper;
  cell<int> news{0};
};

// Thread 0: parks for a time; when that is over, parks without end ‖ waker: writes, unparks ‖ the time passes.
struct park_for_vs_unpark final : scenario {
  void thread(unsigned index) override {
    if (index == 1) {
      news.set(1);
      sleeper.unpark();
    } else if (index == 2) {
      clock.pass();
    } else {
      if (!sleeper.park_for(1)) sleeper.park();
      require(news.get() == 1, "the woken thread does not see what it was woken for");
    }
  }
  void finish() override { require(!sleeper.has_token(), "a token was taken and is still there"); }

  deadline_clock clock;
  parker_type sleeper{&clock};
  cell<int> news{0};
};

const bool added[] = {
    add_case<park_vs_unpark>({
        .name = "parker/park_vs_unpark",
        .property = "a thread that sleeps, or is about to, wakes when it is woken, and sees what its waker did",
        .threads = 2,
        .mutants = {{"park_relaxed", "parker.park", std::memory_order::relaxed},
                    {"unpark_relaxed", "parker.unpark", std::memory_order::relaxed}},
        .kept_for = "the sleep has no time limit",
    }),
    add_case<park_again>({
        .name = "parker/park_again",
        .property = "every token is taken once, and the next park() waits for another one",
        .threads = 2,
        .kept_for = "the token is used again",
    }),
    add_case<two_wakers>({
        .name = "parker/two_wakers",
        .property = "a park() that takes one token of two unpark() calls sees what came before both",
        .threads = 3,
        .kept_for = "two calls of unpark() leave one token",
    }),
    add_case<put_vs_unpark>({
        .name = "parker/put_vs_unpark",
        .property = "a thread that leaves a token for itself still sees what came before another thread's token",
        .threads = 2,
    }),
    add_case<take_vs_unpark>({
        .name = "parker/take_vs_unpark",
        .property = "a token that is seen can be taken, and the thread that takes it sees what its waker did",
        .threads = 2,
        .mutants = {{"take_relaxed", "parker.take", std::memory_order::relaxed}},
        .kept_for = "the thread does not sleep",
    }),
    add_case<park_for_vs_unpark>({
        .name = "parker/park_for_vs_unpark",
        .property = "a token that comes after the time limit stays for the next park()",
        .threads = 3,
    }),
};

}  // namespace
}  // namespace runq::model
