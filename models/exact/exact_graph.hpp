// SPDX-License-Identifier: MIT
// The execution graph of the exact engine: events, program order (po), reads-from (rf), modification order (mo), and
// the vector clocks from which happens-before (hb) and po-union-rf (porf) are read off.
//
// A graph is copied often and must be cheap to copy: events are plain data in one array per thread, edges are indices.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "exact_operation.hpp"
#include "scenario.hpp"

namespace runq::model::exact {

/// The construction of the scenario is thread 0, its threads are 1 … max_threads, and finish() is a thread of its own,
/// so that "happens-before all" and "happens-after all" are ordinary clock entries.
inline constexpr unsigned constructing = 0;
inline constexpr unsigned finishing = max_threads + 1;
inline constexpr unsigned thread_slots = max_threads + 2;

/// In a clock: more events than any thread has.
inline constexpr std::uint16_t all_events = 0xffff;

/// The most events that a thread index leaves room for; exact_options has the limit that applies.
inline constexpr unsigned max_thread_events = 0xfffe;

/// For each thread, how many of its first events belong to the set: every set of events that matters here is a prefix
/// of po.
class clock {
 public:
  [[nodiscard]] std::uint16_t& operator[](unsigned thread) noexcept { return counts_[thread]; }
  [[nodiscard]] std::uint16_t operator[](unsigned thread) const noexcept { return counts_[thread]; }
  [[nodiscard]] bool covers(event_id e) const noexcept { return counts_[e.thread] > e.index; }
  void join(const clock& other) noexcept {
    const auto theirs = other.counts_;  // a copy, which the compiler knows not to overlap with this
    for (unsigned t = 0; t != width; ++t) counts_[t] = counts_[t] > theirs[t] ? counts_[t] : theirs[t];
  }
  /// Whether it covers an event that the other one does not.
  [[nodiscard]] bool exceeds(const clock& other) const noexcept {
    unsigned more = 0;
    for (unsigned t = 0; t != width; ++t) more |= counts_[t] > other.counts_[t] ? 1U : 0U;
    return more != 0;
  }

 private:
  static constexpr unsigned width = std::bit_ceil(thread_slots);  // so that join() becomes a vector instruction
  std::array<std::uint16_t, width> counts_{};
};

/// One event.
struct node : operation {
  bool exclusive = false;       ///< read: its write part follows; write: is the write part of the read before it
  bool spurious = false;        ///< read: a weak compare-exchange that fails although it could succeed
  bool has_no_choice = false;   ///< read: must read what another event has read
  std::uint32_t stamp = 0;      ///< when it was added to the graph
  std::uint32_t place = 0;      ///< write, init: grows along mo; arrive, depart: the round of the barrier
  event_id source = nobody;     ///< read: rf
  event_id newest = nobody;     ///< init: the last write in mo
  event_id older = nobody;      ///< write: its predecessor in mo
  event_id newer = nobody;      ///< write, init: its successor in mo
  event_id revisited = nobody;  ///< write: the read that it revisited when it was added
  event_id memory = nobody;     ///< init, cell_init: the allocate event of the memory it lies in

  clock hb;             ///< what happens-before it, itself included
  clock porf;           ///< what is before it in (po ∪ rf)*, itself included
  clock to_acquire;     ///< what a later acquire fence of this thread adds to hb
  clock release_fence;  ///< hb at the thread's last release fence
  clock released;       ///< write: what a reader that acquires it adds to hb

  node() = default;
  explicit node(const operation& o) : operation(o) {}

  /// The order that applied: a compare-exchange that failed has its own.
  [[nodiscard]] std::memory_order applied_order() const noexcept {
    return (change == update::exchange || change == update::take) && !exclusive ? failure_order : order;
  }
  /// read: whether it writes, having read `value`.
  [[nodiscard]] bool succeeds() const noexcept {
    switch (change) {
      case update::none: return false;
      case update::modify: return true;
      case update::take: return value - expected < count;
      case update::exchange: return accessed.get(value) == expected && !spurious;
    }
    return false;
  }
  /// Whether it accesses that location, atomic or plain; fences and heap events access none. Who departs from a barrier
  /// looks at it no more: it may be gone.
  [[nodiscard]] bool accesses(event_id of) const noexcept {
    return variable == of && kind != node_kind::deallocate && kind != node_kind::depart;
  }
};

/// The events of each thread. Most programs have fewer threads than there is room for: a copy, and loops by next(),
/// pass over the others.
class thread_events {
 public:
  thread_events() = default;
  ~thread_events() = default;
  thread_events(const thread_events&) = default;
  thread_events& operator=(const thread_events& other) {
    for (unsigned t = constructing; t != std::max(end_, other.end_); ++t) of_[t] = other.of_[t];
    of_[finishing] = other.of_[finishing];
    end_ = other.end_;
    return *this;
  }
  [[nodiscard]] std::vector<node>& operator[](unsigned thread) noexcept { return of_[thread]; }
  [[nodiscard]] const std::vector<node>& operator[](unsigned thread) const noexcept { return of_[thread]; }
  /// Makes sure that the thread is not passed over.
  void include(unsigned thread) noexcept {
    if (thread != finishing && thread >= end_) end_ = thread + 1;
  }
  /// From here on there is no thread but `finishing`.
  [[nodiscard]] unsigned end() const noexcept { return end_; }
  [[nodiscard]] unsigned next(unsigned thread) const noexcept { return thread + 1 == end_ ? finishing : thread + 1; }

 private:
  std::array<std::vector<node>, thread_slots> of_;
  unsigned end_ = constructing + 2;  // the first thread is always there
};

class graph {
 public:
  /// All threads proper that have events, or have been started, have numbers below this.
  [[nodiscard]] unsigned end_of_threads() const noexcept { return threads_.end(); }
  /// For loops from `constructing` to thread_slots, which pass over threads that have no events.
  [[nodiscard]] unsigned next_thread(unsigned thread) const noexcept { return threads_.next(thread); }
  [[nodiscard]] unsigned size(unsigned thread) const noexcept { return static_cast<unsigned>(threads_[thread].size()); }
  [[nodiscard]] node& at(event_id e) noexcept { return threads_[e.thread][e.index]; }
  [[nodiscard]] const node& at(event_id e) const noexcept { return threads_[e.thread][e.index]; }
  [[nodiscard]] node& at(unsigned thread, unsigned index) noexcept { return threads_[thread][index]; }
  [[nodiscard]] const node& at(unsigned thread, unsigned index) const noexcept { return threads_[thread][index]; }
  [[nodiscard]] event_id last_of(unsigned thread) const noexcept {
    return {static_cast<std::uint16_t>(thread), static_cast<std::uint16_t>(size(thread) - 1)};
  }
  [[nodiscard]] event_id next_of(unsigned thread) const noexcept {
    return {static_cast<std::uint16_t>(thread), static_cast<std::uint16_t>(size(thread))};
  }
  /// Whether the event is a read-modify-write's write, of another value than was read.
  [[nodiscard]] bool changes_value(event_id e) const noexcept {
    const node& n = at(e);
    return n.kind == node_kind::write && n.exclusive && at(e.thread, e.index - 1U).value != n.value;
  }
  [[nodiscard]] bool contains(event_id e) const noexcept { return e.thread < thread_slots && e.index < size(e.thread); }
  /// Weak compare-exchanges that failed although they could have succeeded.
  [[nodiscard]] unsigned spurious_failures() const noexcept;
  [[nodiscard]] unsigned spurious_failures_of(unsigned thread) const noexcept;
  /// Fences and accesses of the threads proper that are seq_cst, or would be if their compare-exchange failed.
  [[nodiscard]] const std::vector<event_id>& sequential() const noexcept { return sequential_; }

  /// A compiled program: variables are found when they are first used, and come to life in the construction, which has
  /// no other events. They are before everything, and are numbered the same in all graphs: one that this graph does not
  /// use may be there nevertheless.
  bool finds_variables = false;
  /// With finds_variables: makes sure that the variable exists, with `value` as its value before the first write.
  /// Returns false if a read has already found another value.
  [[nodiscard]] bool find_variable(unsigned index, std::uint64_t mask, std::uint64_t value);
  /// The event that started `thread`, or nobody.
  [[nodiscard]] event_id spawner_of(unsigned thread) const noexcept { return spawners_[thread]; }
  /// Whether `thread` has ended.
  [[nodiscard]] bool has_ended(unsigned thread) const noexcept {
    return size(thread) != 0 && threads_[thread].back().kind == node_kind::end;
  }
  /// The clock of what `thread` knows before its first event.
  [[nodiscard]] clock beginning_of(unsigned thread) const noexcept;
  /// What comes before its first event in (po ∪ rf)+.
  [[nodiscard]] clock before_beginning_of(unsigned thread) const noexcept;
  void join(event_id e, event_id end);

  /// The thread whose last event is the read part of a read-modify-write that still lacks its write part; 0: none.
  unsigned unfinished_rmw = 0;

  /// Load buffering: the read that takes its value from a write which depends on it in po ∪ rf; `nobody` if there is
  /// none.
  event_id delayed = nobody;
  /// With a delayed read: the events with stamps up to this one, on which the read and its source depend, stay as they
  /// are.
  std::uint32_t fixed_until = 0;

  /// exact_options::waits_in_place: takes the last event of `thread` back, a read in a wait that has not come to its
  /// end. What has been written up to now is not tried again.
  void take_back_wait(unsigned thread);
  /// The stamp up to which the thread of `read`, before it, had tried all writes in vain; 0: it had tried none. `read`
  /// may be the next event of its thread.
  [[nodiscard]] std::uint32_t tried_until(event_id read) const noexcept;
  /// Whether `write` has revisited a read that was taken back then: the wait depends on it.
  [[nodiscard]] bool was_read_in_vain(event_id write) const noexcept;
  /// Whether a read of the variable that was taken back is one of another thread, and does not happen before `thread`'s
  /// next event, which knows `known`. No thread waits for a variable that ends by an event that it knows of.
  [[nodiscard]] bool was_awaited_beside(event_id variable, unsigned thread, const clock& known) const noexcept;
  /// For a revisit of a read with that stamp: what was added later was not there yet.
  void forget_waits_after(std::uint32_t stamp);

  /// The share of the search that goes on from here (1: all of it), if each choice at an event leads to as many
  /// executions.
  double weight = 1;
  /// How many choices on the way here were not the first: see exact_options::bound.
  std::uint32_t deviations = 0;
  /// Grows with every event.
  [[nodiscard]] std::uint32_t next_stamp() const noexcept { return next_stamp_; }

  /// Appends an event to `thread`, with its stamp and the clocks that its place in po implies.
  event_id append(unsigned thread, const operation& o);
  /// Makes `read` read from `source`: the value, and what is acquired with it. `read` must be the last of its thread.
  void set_source(event_id read, event_id source);
  /// Puts `write` right after `older` into mo.
  void place_after(event_id write, event_id older);
  /// Removes `write` from mo.
  void displace(event_id write);
  /// What who reads those bytes from `source` acquires: of each write that has left some of them.
  [[nodiscard]] clock released_to(part bytes, event_id source) const noexcept;
  /// Computes what a reader of `write` acquires.
  void set_released(event_id write);
  /// Removes all but the first `keep[t]` events of each thread; the remaining ones must not refer to removed ones.
  void restrict_to(const clock& keep);

  /// The graph as bytes that a process with the same addresses can read; `where` is aligned to 64.
  [[nodiscard]] std::size_t packed_bytes() const noexcept;
  void pack(std::byte* where) const noexcept;
  void unpack(const std::byte* where);

 private:
  /// Gives `e` the clocks that its place in po implies, before any rf edge.
  void inherit(event_id e);
  void join_everything(node& first) const;
  /// Whether no other thread is or will be concurrent with the event: such an event closes no cycle.
  [[nodiscard]] bool is_alone(const node& n) const noexcept;

  /// The header before the events in a packed graph.
  struct alignas(node) packed_head {
    std::array<std::uint32_t, thread_slots> sizes;
    std::uint32_t sequential;
    std::uint32_t waits;
    std::uint32_t next_stamp;
    std::uint32_t fixed_until;
    std::uint32_t unfinished_rmw;
    std::uint32_t deviations;
    double weight;
    event_id delayed;
    bool finds_variables;
    std::array<event_id, thread_slots> spawners;
  };

  thread_events threads_;
  std::array<event_id, thread_slots> spawners_{};
  std::vector<event_id> sequential_;
  /// A read that was taken back.
  struct vain_wait {
    event_id read;
    event_id source;          ///< what it read in vain
    std::uint32_t added = 0;  ///< the stamp of the read
    std::uint32_t until = 0;  ///< what was written up to that stamp is not tried again
  };
  std::vector<vain_wait> waits_;
  std::uint32_t next_stamp_ = 1;
};

/// A number that differs, but for collisions of 64 bits, between graphs that differ in events, rf or mo.
[[nodiscard]] std::uint64_t fingerprint(const graph& g) noexcept;

/// Of the events of `thread` that `seen` covers, the last one that accesses `variable`, or nobody.
[[nodiscard]] event_id last_access(const graph& g, unsigned thread, const clock& seen, event_id variable) noexcept;

}  // namespace runq::model::exact
