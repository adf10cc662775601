// SPDX-License-Identifier: MIT
#include "litmus_shapes.hpp"

namespace runq::model::reference {

namespace {

constexpr auto rlx = std::memory_order::relaxed;
constexpr auto acq = std::memory_order::acquire;
constexpr auto rel = std::memory_order::release;
constexpr auto sc = std::memory_order::seq_cst;

using state = litmus_state;

std::string digits(std::initializer_list<int> values) {
  std::string text;
  for (const int v : values) text += std::to_string(v);
  return text;
}
template <std::size_t... I>
std::string registers(state& s) {
  return digits({s.r[I]...});
}
std::string x_and_y(state& s) { return digits({s.x.load(rlx), s.y.load(rlx)}); }

// One thread stores to each variable and loads the other one.
template <std::memory_order Store, std::memory_order Load, bool Fence>
void store_buffering(state& s, unsigned t) {
  atomic<int>& mine = t == 0 ? s.x : s.y;
  atomic<int>& other = t == 0 ? s.y : s.x;
  mine.store(1, Store);
  if (Fence) atomics::fence(sc);
  s.r[t] = other.load(Load);
}
void store_buffering_mixed(state& s, unsigned t) {
  if (t == 0) {
    store_buffering<sc, sc, false>(s, t);
  } else {
    store_buffering<rlx, rlx, true>(s, t);
  }
}
void store_buffering_mixed_acquire(state& s, unsigned t) {
  if (t == 0) {
    store_buffering<sc, acq, false>(s, t);
  } else {
    store_buffering<sc, rlx, true>(s, t);
  }
}

void load_buffering(state& s, unsigned t) {
  atomic<int>& first = t == 0 ? s.x : s.y;
  atomic<int>& second = t == 0 ? s.y : s.x;
  s.r[t] = first.load(rlx);
  second.store(1, rlx);
}

template <std::memory_order Store, std::memory_order Load>
void message_passing(state& s, unsigned t) {
  if (t == 0) {
    s.x.store(1, rlx);
    s.y.store(1, Store);
  } else {
    s.r[0] = s.y.load(Load);
    s.r[1] = s.x.load(rlx);
  }
}

// Two writers, two readers that look in opposite directions.
template <std::memory_order Store, std::memory_order Load, bool Fence>
void independent_reads(state& s, unsigned t) {
  if (t < 2) {
    (t == 0 ? s.x : s.y).store(1, Store);
    return;
  }
  const unsigned r = 2 * (t - 2);
  s.r[r] = (t == 2 ? s.x : s.y).load(Load);
  if (Fence) atomics::fence(sc);
  s.r[r + 1] = (t == 2 ? s.y : s.x).load(Load);
}

template <std::memory_order Store, bool Fence>
void two_plus_two_writes(state& s, unsigned t) {
  (t == 0 ? s.x : s.y).store(1, Store);
  if (Fence) atomics::fence(sc);
  (t == 0 ? s.y : s.x).store(2, Store);
}

void coherent_reads(state& s, unsigned t) {
  if (t == 0) {
    s.x.store(1, rlx);
    s.x.store(2, rlx);
  } else {
    s.r[0] = s.x.load(rlx);
    s.r[1] = s.x.load(rlx);
  }
}
void coherent_writes(state& s, unsigned t) {
  if (t < 2) {
    s.x.store(static_cast<int>(t) + 1, rlx);
  } else {
    s.r[0] = s.x.load(rlx);
    s.r[1] = s.x.load(rlx);
  }
}

template <std::memory_order Store, std::memory_order Load>
void write_to_read_causality(state& s, unsigned t) {
  if (t == 0) {
    s.x.store(1, Store);
  } else if (t == 1) {
    s.r[0] = s.x.load(Load);
    s.y.store(1, Store);
  } else {
    s.r[1] = s.y.load(Load);
    s.r[2] = s.x.load(Load == acq ? acq : rlx);
  }
}
void read_to_write_causality(state& s, unsigned t) {
  if (t == 0) {
    s.x.store(1, rlx);
  } else if (t == 1) {
    s.r[0] = s.x.load(rlx);
    atomics::fence(sc);
    s.r[1] = s.y.load(rlx);
  } else {
    s.y.store(1, rlx);
    atomics::fence(sc);
    s.r[2] = s.x.load(rlx);
  }
}

int exchange(atomic<int>& x, int expected, int desired) {
  return x.compare_exchange_strong(expected, desired, rlx, rlx) ? 7 : expected;
}

void stale_failed_exchange(state& s, unsigned t) {
  if (t == 0) {
    s.x.store(1, rlx);
    s.y.store(1, rlx);
  } else {
    s.r[0] = s.y.load(rlx);
    s.r[1] = exchange(s.x, 5, 9);
  }
}
void stale_depth(state& s, unsigned t) {
  if (t == 0) {
    for (int i = 1; i <= 4; ++i) s.x.store(i, rlx);
    s.y.store(1, rlx);
  } else {
    s.r[0] = s.y.load(rlx);
    s.r[1] = s.x.load(rlx);
  }
}

// C++20: a later relaxed store of the same thread is no part of the release sequence.
void same_thread_release_sequence(state& s, unsigned t) {
  if (t == 0) {
    s.d.set(1);
    s.x.store(1, rel);
    s.x.store(2, rlx);
  } else if (s.x.load(acq) == 2) {
    s.r[0] = s.d.get();
  }
}
void rmw_release_sequence(state& s, unsigned t) {
  if (t == 0) {
    s.d.set(1);
    s.x.store(1, rel);
  } else if (t == 1) {
    s.x.fetch_add(1, rlx);
  } else if (s.x.load(acq) == 2) {
    s.r[0] = s.d.get();
  }
}

// Fences decide who goes first, but order no plain accesses.
void dekker_then_flag(state& s, unsigned t) {
  if (t == 0) {
    s.d.set(1);
    atomics::fence(sc);
    if (s.y.load(rlx) == 0) s.z.store(1, rlx);
  } else {
    s.y.store(1, rlx);
    atomics::fence(sc);
    if (s.z.load(rlx) == 1) s.r[0] = s.d.get();
  }
}
void dekker(state& s, unsigned t) {
  atomic<int>& mine = t == 0 ? s.x : s.y;
  atomic<int>& other = t == 0 ? s.y : s.x;
  mine.store(1, rlx);
  atomics::fence(sc);
  if (other.load(rlx) == 0) s.d.set(static_cast<int>(t) + 1);
}

void three_exchanges(state& s, unsigned t) { s.r[t] = exchange(s.x, 0, static_cast<int>(t) + 1); }
void three_additions(state& s, unsigned t) { s.r[t] = s.x.fetch_add(1, rlx); }
void two_additions_two_reads(state& s, unsigned t) { s.r[t] = t < 2 ? s.x.fetch_add(1, rlx) : s.x.load(rlx); }
void exchanges_and_stores(state& s, unsigned t) {
  if (t == 0) {
    s.r[0] = exchange(s.x, 0, 1);
  } else if (t == 1) {
    s.x.store(2, rlx);
    s.r[1] = exchange(s.x, 2, 3);
  } else {
    s.r[2] = s.x.load(rlx);
    s.x.store(0, rlx);
  }
}

// RC11 and C++20 allow more than models that take hb between seq_cst accesses for an order of them.
void z6_u(state& s, unsigned t) {
  if (t == 0) {
    s.x.store(1, sc);
    s.y.store(1, rel);
  } else if (t == 1) {
    s.r[0] = s.y.fetch_add(1, sc);
    s.r[1] = s.y.load(rlx);
  } else {
    s.y.store(3, sc);
    s.r[2] = s.x.load(sc);
  }
}
void two_writers_two_readers(state& s, unsigned t) {
  if (t < 2) {
    s.x.store(static_cast<int>(t) + 1, rlx);
    s.y.store(static_cast<int>(t) + 1, rlx);
  } else {
    s.r[t] = s.x.load(rlx);
    s.r[t + 2] = s.y.load(rlx);
  }
}

std::string registers_and_x(state& s) { return registers<0, 1, 2>(s) + digits({s.x.load(rlx)}); }
std::string registers_and_y(state& s) { return registers<0, 1, 2>(s) + digits({s.y.load(rlx)}); }

}  // namespace

const std::vector<litmus_shape>& litmus_shapes() {
  static const std::vector<litmus_shape> all{
      {"SB", 2, store_buffering<rlx, rlx, false>, registers<0, 1>, 4, nullptr, "00"},
      {"SB+fences", 2, store_buffering<rlx, rlx, true>, registers<0, 1>, 3, "00", "01"},
      {"SB+sc", 2, store_buffering<sc, sc, false>, registers<0, 1>, 3, "00", "01"},
      {"SB+sc+fence", 2, store_buffering_mixed, registers<0, 1>, 3, "00", "01"},
      {"SB+sc+acquire+fence", 2, store_buffering_mixed_acquire, registers<0, 1>, 4, nullptr, "00"},
      {"LB", 2, load_buffering, registers<0, 1>, 3, "11", "01"},
      {"MP", 2, message_passing<rlx, rlx>, registers<0, 1>, 4, nullptr, "10"},
      {"MP+rel+acq", 2, message_passing<rel, acq>, registers<0, 1>, 3, "10", "11"},
      {"IRIW+rel+acq", 4, independent_reads<rel, acq, false>, registers<0, 1, 2, 3>, 16, nullptr, "1010"},
      {"IRIW+sc", 4, independent_reads<sc, sc, false>, registers<0, 1, 2, 3>, 15, "1010", "1011"},
      {"IRIW+fences", 4, independent_reads<rlx, rlx, true>, registers<0, 1, 2, 3>, 15, "1010", "1011"},
      {"2+2W", 2, two_plus_two_writes<rlx, false>, x_and_y, 4, nullptr, "11"},
      {"2+2W+rel", 2, two_plus_two_writes<rel, false>, x_and_y, 4, nullptr, "11"},
      {"2+2W+fences", 2, two_plus_two_writes<rlx, true>, x_and_y, 3, "11", "22"},
      {"CoRR", 2, coherent_reads, registers<0, 1>, 6, "21", "12"},
      {"CoWW", 3, coherent_writes, registers<0, 1>, 12, nullptr, "21"},
      {"WRC", 3, write_to_read_causality<rlx, rlx>, registers<0, 1, 2>, 8, nullptr, "110"},
      {"WRC+rel+acq", 3, write_to_read_causality<rel, acq>, registers<0, 1, 2>, 7, "110", "111"},
      {"RWC+fences", 3, read_to_write_causality, registers<0, 1, 2>, 7, "100", "101"},
      {"stale failed CAS", 2, stale_failed_exchange, registers<0, 1>, 4, nullptr, "10"},
      {"stale depth", 2, stale_depth, registers<0, 1>, 10, nullptr, "10"},
      {"release sequence, same thread", 2, same_thread_release_sequence, registers<0>, 0},
      {"release sequence, RMW", 3, rmw_release_sequence, registers<0>, 6, nullptr, "1"},
      {"Dekker+fences, flag", 2, dekker_then_flag, registers<0>, 0},
      {"Dekker+fences", 2, dekker, registers<0>, 3},
      {"3 CAS", 3, three_exchanges, registers<0, 1, 2>, 3, nullptr, "711"},
      {"3 fetch_add", 3, three_additions, registers<0, 1, 2>, 6, nullptr, "210"},
      {"2 fetch_add + 2 readers", 4, two_additions_two_reads, registers<0, 1, 2, 3>, 18, nullptr, "0112"},
      {"CAS mix", 3, exchanges_and_stores, registers_and_x, 27},
      {"Z6.U", 3, z6_u, registers_and_y, 24},
      {"2 writers + 2 readers", 4, two_writers_two_readers, registers<2, 3, 4, 5>, 324},
  };
  return all;
}

}  // namespace runq::model::reference
