// SPDX-License-Identifier: MIT
// The classic shapes: for each, the outcome that tells memory models apart, whether C++20 allows it, and whether each
// engine shows it. They calibrate the engines: an outcome that C++20 allows and an engine never shows is a bug that
// this engine cannot find; one that C++20 forbids and an engine shows is a false alarm. docs/limits.md says so in
// words.
#include <array>

#include "scenario.hpp"

namespace runq::model {
namespace {

constexpr auto rlx = std::memory_order::relaxed;
constexpr auto acq = std::memory_order::acquire;
constexpr auto rel = std::memory_order::release;
constexpr auto sc = std::memory_order::seq_cst;

// Variables x and y, plain data d, registers r; the outcome is the registers that were used, as digits.
template <std::size_t Registers>
class shape : public scenario {
 public:
  void finish() override {
    std::array<char, Registers + 1> text{};
    for (std::size_t i = 0; i != Registers; ++i) text[i] = static_cast<char>('0' + r[i]);
    record_outcome(text.data());
  }

 protected:
  atomic<int> x{0};
  atomic<int> y{0};
  cell<int> d;
  std::array<int, Registers> r{};
};

struct store_buffering final : shape<2> {
  void thread(unsigned index) override {
    if (index == 0) {
      x.store(1, rlx);
      r[0] = y.load(rlx);
    } else {
      y.store(1, rlx);
      r[1] = x.load(rlx);
    }
  }
};

struct store_buffering_fences final : shape<2> {
  void thread(unsigned index) override {
    if (index == 0) {
      x.store(1, rlx);
      atomics::fence(sc);
      r[0] = y.load(rlx);
    } else {
      y.store(1, rlx);
      atomics::fence(sc);
      r[1] = x.load(rlx);
    }
  }
};

struct store_buffering_seq_cst final : shape<2> {
  void thread(unsigned index) override {
    if (index == 0) {
      x.store(1, sc);
      r[0] = y.load(sc);
    } else {
      y.store(1, sc);
      r[1] = x.load(sc);
    }
  }
};

struct store_buffering_mixed final : shape<2> {
  void thread(unsigned index) override {
    if (index == 0) {
      x.store(1, sc);
      r[0] = y.load(sc);
    } else {
      y.store(1, rlx);
      atomics::fence(sc);
      r[1] = x.load(rlx);
    }
  }
};

struct load_buffering final : shape<2> {
  void thread(unsigned index) override {
    if (index == 0) {
      r[0] = x.load(rlx);
      y.store(1, rlx);
    } else {
      r[1] = y.load(rlx);
      x.store(1, rlx);
    }
  }
};

struct message_passing final : shape<2> {
  void thread(unsigned index) override {
    if (index == 0) {
      x.store(1, rlx);
      y.store(1, rlx);
    } else {
      r[0] = y.load(rlx);
      r[1] = x.load(rlx);
    }
  }
};

struct message_passing_release_acquire final : shape<2> {
  void thread(unsigned index) override {
    if (index == 0) {
      x.store(1, rlx);
      y.store(1, rel);
    } else {
      r[0] = y.load(acq);
      r[1] = x.load(rlx);
    }
  }
};

struct iriw_release_acquire final : shape<4> {
  void thread(unsigned index) override {
    if (index == 0) {
      x.store(1, rel);
    } else if (index == 1) {
      y.store(1, rel);
    } else if (index == 2) {
      r[0] = x.load(acq);
      r[1] = y.load(acq);
    } else {
      r[2] = y.load(acq);
      r[3] = x.load(acq);
    }
  }
};

struct iriw_seq_cst final : shape<4> {
  void thread(unsigned index) override {
    if (index == 0) {
      x.store(1, sc);
    } else if (index == 1) {
      y.store(1, sc);
    } else if (index == 2) {
      r[0] = x.load(sc);
      r[1] = y.load(sc);
    } else {
      r[2] = y.load(sc);
      r[3] = x.load(sc);
    }
  }
};

struct iriw_fences final : shape<4> {
  void thread(unsigned index) override {
    if (index == 0) {
      x.store(1, rlx);
    } else if (index == 1) {
      y.store(1, rlx);
    } else if (index == 2) {
      r[0] = x.load(rlx);
      atomics::fence(sc);
      r[1] = y.load(rlx);
    } else {
      r[2] = y.load(rlx);
      atomics::fence(sc);
      r[3] = x.load(rlx);
    }
  }
};

struct coherence final : shape<2> {
  void thread(unsigned index) override {
    if (index == 0) {
      x.store(1, rlx);
      x.store(2, rlx);
    } else {
      r[0] = x.load(rlx);
      r[1] = x.load(rlx);
    }
  }
};

struct wrc final : shape<3> {
  void thread(unsigned index) override {
    if (index == 0) {
      x.store(1, rlx);
    } else if (index == 1) {
      r[0] = x.load(rlx);
      y.store(1, rlx);
    } else {
      r[1] = y.load(rlx);
      r[2] = x.load(rlx);
    }
  }
};

struct wrc_release_acquire final : shape<3> {
  void thread(unsigned index) override {
    if (index == 0) {
      x.store(1, rel);
    } else if (index == 1) {
      r[0] = x.load(acq);
      y.store(1, rel);
    } else {
      r[1] = y.load(acq);
      r[2] = x.load(acq);
    }
  }
};

struct rwc_fences final : shape<3> {
  void thread(unsigned index) override {
    if (index == 0) {
      x.store(1, rlx);
    } else if (index == 1) {
      r[0] = x.load(rlx);
      atomics::fence(sc);
      r[1] = y.load(rlx);
    } else {
      y.store(1, rlx);
      atomics::fence(sc);
      r[2] = x.load(rlx);
    }
  }
};

// 2+2W: both variables end with the value that was stored first.
struct two_plus_two_w final : shape<2> {
  void thread(unsigned index) override {
    if (index == 0) {
      x.store(1, rlx);
      y.store(2, rlx);
    } else {
      y.store(1, rlx);
      x.store(2, rlx);
    }
  }
  void finish() override {
    r = {x.load(rlx), y.load(rlx)};
    shape::finish();
  }
};

// A failing compare-exchange reads a value that is older than the newest.
struct stale_failed_cas final : shape<2> {
  void thread(unsigned index) override {
    if (index == 0) {
      x.store(1, rlx);
      y.store(1, rlx);
    } else {
      r[0] = y.load(rlx);
      int expected = 5;
      x.compare_exchange_strong(expected, 9, rlx, rlx);
      r[1] = expected;
    }
  }
};

// After a relaxed flag, a load may still see the value from before four stores.
struct stale_depth final : shape<2> {
  void thread(unsigned index) override {
    if (index == 0) {
      for (int i = 1; i <= 4; ++i) x.store(i, rlx);
      y.store(1, rlx);
    } else {
      r[0] = y.load(rlx);
      r[1] = x.load(rlx);
    }
  }
};

// C++20 (P0982): a relaxed store by the same thread no longer continues a release sequence, so the data race.
struct release_sequence_same_thread final : shape<1> {
  void thread(unsigned index) override {
    if (index == 0) {
      d.set(1);
      x.store(1, rel);
      x.store(2, rlx);
    } else if (x.load(acq) == 2) {
      r[0] = d.get();
    }
  }
};

// A read-modify-write does continue it.
struct release_sequence_rmw final : shape<1> {
  void thread(unsigned index) override {
    if (index == 0) {
      d.set(1);
      x.store(1, rel);
    } else if (index == 1) {
      x.fetch_add(1, rlx);
    } else if (x.load(acq) == 2) {
      r[0] = d.get();
    }
  }
};

// Dekker with fences alone excludes, but does not synchronise: plain data behind it races.
struct dekker_fences final : shape<1> {
  void thread(unsigned index) override {
    if (index == 0) {
      d.set(1);
      atomics::fence(sc);
      if (y.load(rlx) == 0) z.store(1, rlx);
    } else {
      y.store(1, rlx);
      atomics::fence(sc);
      if (z.load(rlx) == 1) r[0] = d.get();
    }
  }
  atomic<int> z{0};
};

const bool added[] = {
    add_case<store_buffering>({.name = "litmus/store_buffering",
                               .property = "SB, relaxed: both threads miss the other's store",
                               .threads = 2,
                               .litmus = {"00", true, true, true}}),
    add_case<store_buffering_fences>({.name = "litmus/store_buffering_fences",
                                      .property = "SB with seq_cst fences between store and load",
                                      .threads = 2,
                                      .litmus = {"00", false, false, false}}),
    add_case<store_buffering_seq_cst>({.name = "litmus/store_buffering_seq_cst",
                                       .property = "SB with seq_cst accesses",
                                       .threads = 2,
                                       .litmus = {"00", false, false, false}}),
    add_case<store_buffering_mixed>({.name = "litmus/store_buffering_mixed",
                                     .property = "SB, seq_cst accesses in one thread and a fence in the other",
                                     .threads = 2,
                                     .litmus = {"00", false, true, false}}),
    add_case<load_buffering>({.name = "litmus/load_buffering",
                              .property = "LB, relaxed: each thread reads what the other stores later",
                              .threads = 2,
                              .litmus = {"11", true, false, false}}),
    add_case<message_passing>({.name = "litmus/message_passing",
                               .property = "MP, relaxed: the flag arrives before the data",
                               .threads = 2,
                               .litmus = {"10", true, true, true}}),
    add_case<message_passing_release_acquire>({.name = "litmus/message_passing_release_acquire",
                                               .property = "MP, release and acquire",
                                               .threads = 2,
                                               .litmus = {"10", false, false, false}}),
    add_case<iriw_release_acquire>({.name = "litmus/iriw_release_acquire",
                                    .property = "IRIW: two readers see two writes in opposite orders",
                                    .threads = 4,
                                    .litmus = {"1010", true, true, true}}),
    add_case<iriw_seq_cst>({.name = "litmus/iriw_seq_cst",
                            .property = "IRIW with seq_cst accesses",
                            .threads = 4,
                            .litmus = {"1010", false, false, false}}),
    add_case<iriw_fences>({.name = "litmus/iriw_fences",
                           .property = "IRIW, relaxed, with seq_cst fences between the loads",
                           .threads = 4,
                           .litmus = {"1010", false, false, false}}),
    add_case<coherence>({.name = "litmus/coherence",
                         .property = "CoRR: two loads of one variable go backwards",
                         .threads = 2,
                         .litmus = {"21", false, false, false}}),
    add_case<wrc>({.name = "litmus/wrc",
                   .property = "WRC, relaxed: causality through a third thread is lost",
                   .threads = 3,
                   .litmus = {"110", true, true, true}}),
    add_case<wrc_release_acquire>({.name = "litmus/wrc_release_acquire",
                                   .property = "WRC, release and acquire",
                                   .threads = 3,
                                   .litmus = {"110", false, false, false}}),
    add_case<rwc_fences>({.name = "litmus/rwc_fences",
                          .property = "RWC with seq_cst fences",
                          .threads = 3,
                          .litmus = {"100", false, false, false}}),
    add_case<two_plus_two_w>({.name = "litmus/two_plus_two_w",
                              .property = "2+2W, relaxed: modification orders run against program order",
                              .threads = 2,
                              .litmus = {"11", true, false, true}}),
    add_case<stale_failed_cas>({.name = "litmus/stale_failed_cas",
                                .property = "a failing compare-exchange sees an old value",
                                .threads = 2,
                                .litmus = {"10", true, false, true}}),
    add_case<stale_depth>({.name = "litmus/stale_depth",
                           .property = "a load sees a value from four stores ago",
                           .threads = 2,
                           .litmus = {"10", true, false, true}}),
    add_case<release_sequence_same_thread>({.name = "litmus/release_sequence_same_thread",
                                            .property = "a relaxed store of the same thread ends a release sequence",
                                            .threads = 2,
                                            .litmus = {"race", true, false, true}}),
    add_case<release_sequence_rmw>({.name = "litmus/release_sequence_rmw",
                                    .property = "a read-modify-write continues a release sequence",
                                    .threads = 3,
                                    .litmus = {"race", false, false, false}}),
    add_case<dekker_fences>({.name = "litmus/dekker_fences",
                             .property = "fences order, but data needs release and acquire",
                             .threads = 2,
                             .litmus = {"race", true, false, true}}),
};

}  // namespace
}  // namespace runq::model
