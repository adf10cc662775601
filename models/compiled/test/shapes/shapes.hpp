// SPDX-License-Identifier: MIT
// Programs over an atomics policy P. With `runq::std_atomics` they are compiled and checked like any program; with the
// policy of the models they are scenarios. Both ways must lead to the same number of executions.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "runq/atomics.hpp"
#include "runq/chase_lev.hpp"
#include "runq/ring.hpp"

namespace shapes {

constexpr auto relaxed = std::memory_order::relaxed;
constexpr auto acquire = std::memory_order::acquire;
constexpr auto release = std::memory_order::release;
constexpr auto acq_rel = std::memory_order::acq_rel;
constexpr auto seq_cst = std::memory_order::seq_cst;

/// A check that remains where the policy's own checks are compiled away.
template <class P>
void require(bool ok, const char* what) {
  if constexpr (std::is_same_v<P, runq::std_atomics>) {
    if (!ok) std::abort();
  } else {
    P::check(ok, what);
  }
}

/// Each thread: Rounds times push and pop. Nodes are not freed while the threads run.
template <class P, unsigned Threads, int Rounds>
struct treiber_stack {
  static constexpr unsigned threads = Threads;
  struct node {
    typename P::template cell<int> value{0};
    typename P::template cell<node*> next{nullptr};
  };

  void push(node& n, int value) {
    n.value.set(value);
    node* old = head.load(relaxed);
    do {
      n.next.set(old);
    } while (!head.compare_exchange_strong(old, &n, release, relaxed));
  }
  int pop() {
    node* old = head.load(acquire);
    while (old != nullptr && !head.compare_exchange_strong(old, old->next.get(), acquire, acquire)) continue;
    return old == nullptr ? 0 : old->value.get();
  }
  void thread(unsigned i) {
    for (int r = 0; r != Rounds; ++r) {
      push(nodes[i * Rounds + static_cast<unsigned>(r)], 1);
      taken[i] += pop();
    }
  }
  void finish() {
    int all = 0;
    for (const int t : taken) all += t;
    require<P>(all == static_cast<int>(Threads) * Rounds, "as many are taken as were pushed");
  }

  typename P::template atomic<node*> head{nullptr};
  std::array<node, Threads * Rounds> nodes;
  std::array<int, Threads> taken{};
};

/// One producer, one consumer, two slots of plain memory.
template <class P, int Items>
struct spsc_ring {
  static constexpr unsigned threads = 2;

  bool put(int value) {
    const unsigned t = tail.load(relaxed);
    if (t - head.load(acquire) == slots.size()) return false;
    slots[t % slots.size()].set(value);
    tail.store(t + 1, release);
    return true;
  }
  int get() {
    const unsigned h = head.load(relaxed);
    if (h == tail.load(acquire)) return 0;
    const int value = slots[h % slots.size()].get();
    head.store(h + 1, release);
    return value;
  }
  void thread(unsigned i) {
    int expected = 1;
    for (int n = 0; n != Items; ++n) {
      if (i == 0) {
        if (put(expected)) ++expected;
      } else if (const int got = get(); got != 0) {
        require<P>(got == expected++, "in order");
      }
    }
  }
  void finish() {}

  typename P::template atomic<unsigned> head{0};
  typename P::template atomic<unsigned> tail{0};
  std::array<typename P::template cell<int>, 2> slots{typename P::template cell<int>{0},
                                                      typename P::template cell<int>{0}};
};

/// A writer and a reader, which tries twice.
template <class P, int Writes>
struct seqlock {
  static constexpr unsigned threads = 2;

  void thread(unsigned i) {
    if (i == 0) {
      for (unsigned n = 1; n <= Writes; ++n) {
        sequence.store(2 * n - 1, relaxed);
        P::fence(release);
        a.store(n, relaxed);
        b.store(n, relaxed);
        sequence.store(2 * n, release);
      }
      return;
    }
    for (int tries = 0; tries != 2; ++tries) {
      const unsigned before = sequence.load(acquire);
      const unsigned x = a.load(relaxed);
      const unsigned y = b.load(relaxed);
      P::fence(acquire);
      if (before % 2 == 0 && sequence.load(relaxed) == before) require<P>(x == y, "both of one write");
    }
  }
  void finish() {}

  typename P::template atomic<unsigned> sequence{0};
  typename P::template atomic<unsigned> a{0};
  typename P::template atomic<unsigned> b{0};
};

/// Dmitry Vyukov's queue of linked nodes: Producers threads put, one takes.
template <class P, unsigned Producers, int Takes>
struct vyukov_mpsc {
  static constexpr unsigned threads = Producers + 1;
  struct node {
    typename P::template atomic<node*> next{nullptr};
    typename P::template cell<int> value{0};
  };

  void put(node& n, int value) {
    n.value.set(value);
    n.next.store(nullptr, relaxed);
    node* const before = head.exchange(&n, acq_rel);
    before->next.store(&n, release);
  }
  int take() {
    node* const next = tail->next.load(acquire);
    if (next == nullptr) return 0;
    tail = next;
    return next->value.get();
  }
  void thread(unsigned i) {
    if (i != 0) return put(nodes[i], static_cast<int>(i));
    for (int n = 0; n != Takes; ++n) sum += take();
  }
  void finish() {
    for (unsigned i = 0; i != Producers; ++i) sum += take();
    require<P>(sum == static_cast<int>(Producers * (Producers + 1) / 2), "all arrive");
  }

  std::array<node, Producers + 1> nodes;
  typename P::template atomic<node*> head{nodes.data()};
  node* tail = nodes.data();
  int sum = 0;
};

/// Dekker's entry with fences: the threads are never both inside.
template <class P>
struct dekker_fences {
  static constexpr unsigned threads = 2;

  void thread(unsigned i) {
    wants[i].store(1, relaxed);
    P::fence(seq_cst);
    if (wants[1 - i].load(relaxed) == 0) inside.set(static_cast<int>(i));
  }
  void finish() {}

  std::array<typename P::template atomic<int>, 2> wants{0, 0};
  typename P::template cell<int> inside{0};
};

/// Stores and loads with the default order: four threads.
template <class P>
struct independent_reads {
  static constexpr unsigned threads = 4;

  void thread(unsigned i) {
    if (i == 0) x.store(1, seq_cst);
    if (i == 1) y.store(1, seq_cst);
    if (i == 2 && x.load(seq_cst) == 1) first = y.load(seq_cst) == 0;
    if (i == 3 && y.load(seq_cst) == 1) second = x.load(seq_cst) == 0;
  }
  void finish() { require<P>(!(first && second), "one order for both"); }

  typename P::template atomic<int> x{0};
  typename P::template atomic<int> y{0};
  bool first = false;
  bool second = false;
};

/// Increments under a lock.
template <class P, unsigned Threads, int Rounds>
struct locked_counter {
  static constexpr unsigned threads = Threads;

  void thread(unsigned) {
    for (int r = 0; r != Rounds; ++r) {
      mutex.lock();
      count.set(count.get() + 1);
      mutex.unlock();
    }
  }
  void finish() { require<P>(count.get() == static_cast<int>(Threads) * Rounds, "none is lost"); }

  typename P::mutex mutex;
  typename P::template cell<int> count{0};
};

/// The kit's own deque: push push pop pop beside a thief.
template <class P>
struct chase_lev {
  static constexpr unsigned threads = 2;
  using deque_type = runq::basic_chase_lev<int*, P>;

  void thread(unsigned i) {
    if (i == 0) {
      for (int& item : items) static_cast<void>(owner.push(&item));
      for (int n = 0; n != 2; ++n) {
        if (const auto got = owner.pop()) ++**got;
      }
    } else {
      for (int n = 0; n != 2; ++n) {
        if (const auto got = deque.make_thief().steal()) ++*got.value;
      }
    }
  }
  void finish() {
    while (const auto got = owner.pop()) ++**got;
    for (const int item : items) require<P>(item == 1, "each is taken once");
  }

  std::array<int, 3> items{};
  deque_type deque{2};
  typename deque_type::owner owner = deque.make_owner();
};

/// The kit's own ring: push push pop beside a thief.
template <class P, unsigned Thieves>
struct ring {
  static constexpr unsigned threads = Thieves + 1;
  using ring_type = runq::basic_ring<int*, 2, std::uint64_t, P>;

  void thread(unsigned i) {
    if (i == 0) {
      for (int& item : items) require<P>(owner.push(&item), "there is room");
      if (const auto got = owner.pop()) ++**got;
    } else if (const auto got = queue.make_thief().steal()) {
      ++*got.value;
    }
  }
  void finish() {
    while (const auto got = owner.pop()) ++**got;
    for (const int item : items) require<P>(item == 1, "each is taken once");
  }

  std::array<int, 2> items{};
  ring_type queue;
  typename ring_type::owner owner = queue.make_owner();
};

}  // namespace shapes

/// The names of the shapes, for both ways.
#define RUNQ_FOR_EACH_SHAPE(P, USE) \
  USE(treiber_stack, P, 2, 1)       \
  USE(treiber_stack, P, 2, 2)       \
  USE(treiber_stack, P, 3, 1)       \
  USE(spsc_ring, P, 4)              \
  USE(seqlock, P, 3)                \
  USE(vyukov_mpsc, P, 2, 2)         \
  USE(dekker_fences, P)             \
  USE(independent_reads, P)         \
  USE(locked_counter, P, 2, 2)      \
  USE(locked_counter, P, 3, 1)      \
  USE(chase_lev, P)                 \
  USE(ring, P, 1)                   \
  USE(ring, P, 2)
