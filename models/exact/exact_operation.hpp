// SPDX-License-Identifier: MIT
// What a thread asks for: a type for each kind of operation, and `operation`, which holds any of them.
//
// A graph is copied often, so an operation is plain data, and different kinds keep their numbers in the same place.
// Only the constructors below write that place, and only the function with the kind's own word for it reads it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "engine.hpp"
#include "verdict.hpp"

namespace runq::model::exact {

struct event_id {
  std::uint16_t thread = 0xffff;
  std::uint16_t index = 0xffff;
  friend bool operator==(event_id, event_id) noexcept = default;
};
inline constexpr event_id nobody{};

enum class node_kind : std::uint8_t {
  init,   ///< an atomic variable is constructed: the first write in its mo
  read,   ///< of an atomic variable; also the read part of a read-modify-write
  write,  ///< to an atomic variable; also the write part of a read-modify-write, right after its read part
  fence,
  cell_init,  ///< a plain variable is constructed
  cell_read,
  cell_write,
  allocate,  ///< heap memory
  deallocate,
  spawn,   ///< the first event of the thread that it starts comes after it
  end,     ///< the last event of a thread that others may join
  join,    ///< comes after the `end` event that is its source
  choice,  ///< of one of several alternatives; the search explores each
  arrive,  ///< at a barrier; those of one round have no order among them
  depart,  ///< from a barrier: comes after all that have arrived in that round
};

/// What a read would do to the variable.
enum class update : std::uint8_t {
  none,      ///< a load
  modify,    ///< read-modify-write: always writes
  take,      ///< writes the result of `op` if it reads one of the `count` values from `expected` on
  exchange,  ///< compare-exchange: writes if it reads `expected`
};

/// The operations. `of` is the init or cell_init event of a variable.
namespace step {

/// `self`: the event that it becomes.
struct construct_atomic {
  event_id self;
  bool initialised;
  std::uint64_t value;
  std::uint64_t mask;
};
struct load {
  event_id of;
  std::memory_order order;
  event_id like = nobody;  ///< operation::like
  part accessed{};
};
struct store {
  event_id of;
  std::uint64_t value;
  std::memory_order order;
};
struct modify {
  event_id of;
  rmw_op op;
  std::uint64_t operand;
  std::memory_order order;
  part accessed{};
};
/// A store to a part of a variable. It reads the rest of it, as a read-modify-write does, but acquires nothing.
struct overwrite {
  event_id of;
  std::uint64_t value;
  std::memory_order order;
  part accessed;
};
struct exchange {
  event_id of;
  std::uint64_t expected;
  std::uint64_t desired;
  std::memory_order success;
  std::memory_order failure;
  bool weak;
  event_id like = nobody;
  part accessed{};
};
/// Of a mutex: an atomic variable that holds the number of its holder, 0 when unlocked.
struct lock {
  event_id of;
  std::uint64_t holder;
  bool blocking;
  event_id like = nobody;
};
struct unlock {
  event_id of;
};
/// Adds `delta` to one of the `count` values from `first` on: what a lock or a semaphore does.
struct take {
  event_id of;
  std::uint64_t first;
  std::uint64_t count;
  std::uint64_t delta;
  bool blocking;
};
struct fence {
  std::memory_order order;
};
struct construct_cell {
  event_id self;
  bool initialised;
};
struct read_cell {
  event_id of;
  std::uint64_t value;
};
struct write_cell {
  event_id of;
  std::uint64_t value;
};
struct allocate {
  std::size_t bytes;
};
struct deallocate {
  event_id allocation;
};
/// `like`: the first of the threads that begin alike, of which this is another one; 0: it is the first.
struct spawn {
  unsigned thread;
  unsigned like = 0;
};
struct join {
  unsigned thread;
};
struct end {};
/// At a barrier that began for `needed`, as `count` threads, of which `leaving` come to no later round. `looks`: the
/// thread will look at whether it is the one that is told apart.
struct arrive {
  event_id of;
  unsigned needed;
  bool looks;
  unsigned count = 1;
  unsigned leaving = 0;
};
/// From that round of the barrier. `arrival`: the thread's own, right before, if it may be the one that is told apart.
/// `by_token`: it may begin to when the round is over, and must not when the next one is.
struct depart {
  event_id of;
  std::uint32_t round = 0;
  event_id arrival = nobody;
  bool by_token = false;
};
/// Of one of the numbers 0 … alternatives-1.
struct choose {
  unsigned alternatives;
  event_kind shown;
};

}  // namespace step

/// The operation that a thread asks for: everything about an event that the program text and the values read so far
/// determine.
struct operation {
  node_kind kind{};
  event_kind shown{};  ///< the kind that a trace shows
  update change = update::none;
  rmw_op op{};               ///< change == modify, take
  bool weak = false;         ///< change == exchange: may fail spuriously
  bool blocking = false;     ///< change == exchange, take: the thread waits instead of failing
  bool initialised = false;  ///< init, cell_init
  bool looks = false;        ///< arrive
  bool overwrites = false;   ///< change == modify, and its write part: it is a store
  std::memory_order order = std::memory_order::relaxed;
  std::memory_order failure_order = std::memory_order::relaxed;  ///< change == exchange
  event_id variable = nobody;  ///< the init or cell_init event of the variable; the allocate event of a deallocate
  part accessed{};             ///< of the variable
  /// The value written; for a read, the value that it has read is filled in, for a choice the alternative. Of the
  /// others, the number that a trace shows: bytes, or a thread as the trace counts.
  std::uint64_t value = 0;
  std::uint64_t expected = 0;  ///< change == exchange, take; spawn: begins_like(); arrive: leaving(); depart: its round
  std::uint64_t count = 1;     ///< change == take

 private:
  std::uint64_t detail_ = 0;  ///< mask(), operand(), desired(), thread(), arriving() or alternatives()

 public:
  /// Reads what this earlier read of the same thread has read, and nothing else, unless a newer write happens before
  /// it. depart: the thread's arrival.
  event_id like = nobody;

  operation() = default;
  operation(const step::construct_atomic& s) {
    kind = node_kind::init;
    shown = event_kind::store;
    initialised = s.initialised;
    variable = s.self;
    value = s.value;
    detail_ = s.mask;
  }
  operation(const step::load& s) {
    kind = node_kind::read;
    shown = event_kind::load;
    order = s.order;
    variable = s.of;
    like = s.like;
    accessed = s.accessed;
  }
  operation(const step::store& s) {
    kind = node_kind::write;
    shown = event_kind::store;
    order = s.order;
    variable = s.of;
    value = s.value;
  }
  operation(const step::modify& s) {
    kind = node_kind::read;
    shown = event_kind::rmw;
    change = update::modify;
    op = s.op;
    order = s.order;
    variable = s.of;
    detail_ = s.operand;
    accessed = s.accessed;
  }
  operation(const step::overwrite& s) : operation(step::modify{s.of, rmw_op::exchange, s.value, s.order, s.accessed}) {
    shown = event_kind::store;
    overwrites = true;
  }
  operation(const step::exchange& s) {
    kind = node_kind::read;
    shown = event_kind::cas_success;
    change = update::exchange;
    weak = s.weak;
    order = s.success;
    failure_order = s.failure;
    variable = s.of;
    expected = s.expected;
    detail_ = s.desired;
    like = s.like;
    accessed = s.accessed;
  }
  operation(const step::lock& s) {
    kind = node_kind::read;
    shown = event_kind::lock;
    change = update::exchange;
    blocking = s.blocking;
    order = std::memory_order::acquire;
    variable = s.of;
    detail_ = s.holder;
    like = s.like;
  }
  operation(const step::unlock& s) {
    kind = node_kind::write;
    shown = event_kind::unlock;
    order = std::memory_order::release;
    variable = s.of;
  }
  operation(const step::take& s) {
    kind = node_kind::read;
    shown = event_kind::cas_success;
    change = update::take;
    op = rmw_op::add;
    blocking = s.blocking;
    order = std::memory_order::acquire;
    variable = s.of;
    expected = s.first;
    count = s.count;
    detail_ = s.delta;
  }
  operation(const step::fence& s) {
    kind = node_kind::fence;
    shown = event_kind::fence;
    order = s.order;
  }
  operation(const step::construct_cell& s) {
    kind = node_kind::cell_init;
    shown = event_kind::cell_write;
    initialised = s.initialised;
    variable = s.self;
  }
  operation(const step::read_cell& s) {
    kind = node_kind::cell_read;
    shown = event_kind::cell_read;
    variable = s.of;
    value = s.value;
  }
  operation(const step::write_cell& s) {
    kind = node_kind::cell_write;
    shown = event_kind::cell_write;
    variable = s.of;
    value = s.value;
  }
  operation(const step::allocate& s) {
    kind = node_kind::allocate;
    shown = event_kind::allocate;
    value = s.bytes;
  }
  operation(const step::deallocate& s) {
    kind = node_kind::deallocate;
    shown = event_kind::deallocate;
    variable = s.allocation;
  }
  operation(const step::spawn& s) {
    kind = node_kind::spawn;
    shown = event_kind::spawn;
    value = s.thread - 1;
    expected = s.like;
    detail_ = s.thread;
  }
  operation(const step::join& s) {
    kind = node_kind::join;
    shown = event_kind::join;
    value = s.thread - 1;
    detail_ = s.thread;
  }
  operation(const step::end&) {
    kind = node_kind::end;
    shown = event_kind::pause;
  }
  operation(const step::arrive& s) {
    kind = node_kind::arrive;
    shown = event_kind::arrive;
    variable = s.of;
    value = s.needed;
    looks = s.looks;
    expected = s.leaving;
    detail_ = s.count;
  }
  operation(const step::depart& s) {
    kind = node_kind::depart;
    shown = event_kind::depart;
    variable = s.of;
    expected = s.round;
    like = s.arrival;
    value = s.by_token ? 1 : 0;
  }
  operation(const step::choose& s) {
    kind = node_kind::choice;
    shown = s.shown;
    detail_ = s.alternatives;
  }

  /// The write part of a read-modify-write, which has read.
  [[nodiscard]] operation write_part(std::uint64_t mask) const noexcept {
    operation o;
    o.kind = node_kind::write;
    o.shown = shown;
    o.order = order;
    o.variable = variable;
    o.accessed = accessed;
    o.overwrites = overwrites;
    o.value =
        accessed.put(value, change == update::exchange ? desired() : apply(op, accessed.get(value), operand())) & mask;
    return o;
  }

  /// init: the bits that the variable has
  [[nodiscard]] std::uint64_t mask() const noexcept { return detail_; }
  void set_mask(std::uint64_t mask) noexcept { detail_ = mask; }
  /// change == modify, take
  [[nodiscard]] std::uint64_t operand() const noexcept { return detail_; }
  /// change == exchange
  [[nodiscard]] std::uint64_t desired() const noexcept { return detail_; }
  /// spawn, join: the other thread
  [[nodiscard]] unsigned thread() const noexcept { return static_cast<unsigned>(detail_); }
  /// spawn: exact_symmetry.hpp
  [[nodiscard]] unsigned begins_like() const noexcept { return static_cast<unsigned>(expected); }
  /// arrive: as how many threads
  [[nodiscard]] unsigned arriving() const noexcept { return static_cast<unsigned>(detail_); }
  /// arrive: how many of them come to no later round
  [[nodiscard]] unsigned leaving() const noexcept { return static_cast<unsigned>(expected); }
  /// depart
  [[nodiscard]] step::depart departure() const noexcept {
    return {variable, static_cast<std::uint32_t>(expected), like, value != 0};
  }
  /// choice
  [[nodiscard]] unsigned alternatives() const noexcept { return static_cast<unsigned>(detail_); }

  /// Whether others may notice that it was there, without what a read-modify-write does.
  [[nodiscard]] bool changes_memory() const noexcept { return kind == node_kind::write || kind == node_kind::arrive; }
  /// Whether a replayed thread asks for the same operation again.
  [[nodiscard]] bool repeats(const operation& before) const noexcept {
    return kind == before.kind && variable == before.variable && change == before.change && detail_ == before.detail_ &&
           accessed == before.accessed && expected == before.expected &&
           (kind == node_kind::read || kind == node_kind::choice || value == before.value);
  }
};

}  // namespace runq::model::exact
