// SPDX-License-Identifier: MIT
// The classic shapes: programs of a few accesses whose outcomes tell memory models apart. shapes.cpp asks all engines
// about most of them, and says what C++20 allows; the exact engine's own tests (models/selftest/exact_test.cpp) know
// how many execution graphs each has.
#pragma once

#include <array>

#include "scenario.hpp"

namespace runq::model::litmus {

inline constexpr auto rlx = std::memory_order::relaxed;
inline constexpr auto acq = std::memory_order::acquire;
inline constexpr auto rel = std::memory_order::release;
inline constexpr auto sc = std::memory_order::seq_cst;

// Variables x, y and z, plain data d, registers r; the outcome is the registers that were used, as digits.
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
  atomic<int> z{0};
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

// 2+2W: each thread stores to both variables, in opposite orders; the outcome is what they end with.
template <std::memory_order First, bool Fence>
struct two_plus_two_writes : shape<2> {
  void thread(unsigned index) override {
    (index == 0 ? x : y).store(1, First);
    if (Fence) atomics::fence(sc);
    (index == 0 ? y : x).store(2, First);
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

// C++20 (P0982): a relaxed store by the same thread no longer continues a release sequence, so there is a data race.
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

// A read-modify-write does continue a release sequence.
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
};

// -- more shapes for the engines' own tests, which know how many execution graphs each has --

struct store_buffering_mixed_acquire final : shape<2> {
  void thread(unsigned index) override {
    if (index == 0) {
      x.store(1, sc);
      r[0] = y.load(acq);
    } else {
      y.store(1, sc);
      atomics::fence(sc);
      r[1] = x.load(rlx);
    }
  }
};

struct two_plus_two_w_release final : two_plus_two_writes<rel, false> {};
struct two_plus_two_w_fences final : two_plus_two_writes<rlx, true> {};

// CoWW: two writers, and a reader that sees the order of their writes.
struct coherent_writes final : shape<2> {
  void thread(unsigned index) override {
    if (index < 2) {
      x.store(static_cast<int>(index) + 1, rlx);
    } else {
      r[0] = x.load(rlx);
      r[1] = x.load(rlx);
    }
  }
};

// Dekker: at most one of the two writes.
struct dekker_exclusion final : shape<1> {
  void thread(unsigned index) override {
    atomic<int>& mine = index == 0 ? x : y;
    atomic<int>& other = index == 0 ? y : x;
    mine.store(1, rlx);
    atomics::fence(sc);
    if (other.load(rlx) == 0) d.set(static_cast<int>(index) + 1);
  }
};

// The outcome of a compare-exchange: 7, or what it saw instead of the expected value.
inline int exchange(atomic<int>& v, int expected, int desired) {
  return v.compare_exchange_strong(expected, desired, rlx, rlx) ? 7 : expected;
}

struct three_exchanges final : shape<3> {
  void thread(unsigned index) override { r[index] = exchange(x, 0, static_cast<int>(index) + 1); }
};
struct three_additions final : shape<3> {
  void thread(unsigned index) override { r[index] = x.fetch_add(1, rlx); }
};
struct two_additions_two_reads final : shape<4> {
  void thread(unsigned index) override { r[index] = index < 2 ? x.fetch_add(1, rlx) : x.load(rlx); }
};

struct exchanges_and_stores final : shape<4> {
  void thread(unsigned index) override {
    if (index == 0) {
      r[0] = exchange(x, 0, 1);
    } else if (index == 1) {
      x.store(2, rlx);
      r[1] = exchange(x, 2, 3);
    } else {
      r[2] = x.load(rlx);
      x.store(0, rlx);
    }
  }
  void finish() override {
    r[3] = x.load(rlx);
    shape::finish();
  }
};

// Z6.U: C++20 and RC11 allow it. Models in which happens-before orders all seq_cst accesses forbid it.
struct z6_u final : shape<4> {
  void thread(unsigned index) override {
    if (index == 0) {
      x.store(1, sc);
      y.store(1, rel);
    } else if (index == 1) {
      r[0] = y.fetch_add(1, sc);
      r[1] = y.load(rlx);
    } else {
      y.store(3, sc);
      r[2] = x.load(sc);
    }
  }
  void finish() override {
    r[3] = y.load(rlx);
    shape::finish();
  }
};

struct two_writers_two_readers final : shape<4> {
  void thread(unsigned index) override {
    if (index < 2) {
      x.store(static_cast<int>(index) + 1, rlx);
      y.store(static_cast<int>(index) + 1, rlx);
    } else {
      r[index - 2] = x.load(rlx);
      r[index] = y.load(rlx);
    }
  }
};

}  // namespace runq::model::litmus
