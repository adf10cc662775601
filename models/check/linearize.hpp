// SPDX-License-Identifier: MIT
// Histories of a model, and whether a sequential order explains them. Asked of every execution that an engine explores.
//
// "Before" is happens-before as the engine knows it; an engine without clocks (Relacy) knows program order only, and
// that construction comes first and finish() last, and so judges less.
// Fixed arrays: an engine may have taken over operator new.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "atomics.hpp"
#include "id_list.hpp"
#include "wing_gong.hpp"

namespace runq::model {

/// At most `Calls` calls, judged by a specification (wing_gong.hpp): `Spec::call` is what was asked and answered, and
/// `progress step(call, phase, variant)` and `unsigned variants(call)` are its steps.
template <class Spec, std::size_t Calls>
class call_log {
 public:
  using call = typename Spec::call;

  /// To be called before an operation begins.
  [[nodiscard]] static moment begin() { return current_engine().now(); }

  /// To be called after an operation has ended, with what begin() returned.
  void add(moment began, const call& what) {
    require(count_ != Calls, "limit reached: more operations than this history has room for");
    records_[count_++] = {began, current_engine().now(), what};
  }

  /// Fails the execution if no sequential order explains it, from `initial` on. In finish(), once.
  void require_linearizable(const Spec& initial) const {
    search calls{records_, count_};
    for (std::size_t i = 0; i != count_; ++i) {
      for (std::size_t j = 0; j != count_; ++j) {
        if (i == j || !current_engine().happened_before(records_[j].ended, records_[i].began)) continue;
        calls.predecessors[i] |= std::uint64_t{1} << j;
      }
    }
    Spec state = initial;
    nothing_seen none;
    require(explains(state, calls, none), failure::not_linearizable,
            "no sequential order explains what the operations returned: not linearizable");
  }

 private:
  static_assert(Calls <= 64);

  struct record {
    moment began, ended;
    call what{};
  };

  struct position {
    unsigned phase = 0;
    unsigned variant = 0;
    bool done = false;
  };

  struct search {
    const std::array<record, Calls>& records;
    const std::size_t count;
    std::array<std::uint64_t, Calls> predecessors{};
    std::array<position, Calls> positions{};

    [[nodiscard]] std::uint64_t pending() const {
      std::uint64_t bits = 0;
      for (std::size_t i = 0; i != count; ++i) bits |= std::uint64_t{positions[i].done ? 0U : 1U} << i;
      return bits;
    }
    [[nodiscard]] bool all_done() const { return pending() == 0; }
    template <class Try>
    [[nodiscard]] bool any_that_may_go(Try&& attempt) {
      const std::uint64_t waiting = pending();
      for (std::size_t i = 0; i != count; ++i) {
        if (!positions[i].done && (predecessors[i] & waiting) == 0 && attempt(i)) return true;
      }
      return false;
    }
    [[nodiscard]] position& at(std::size_t i) { return positions[i]; }
    [[nodiscard]] unsigned variants(const Spec& s, std::size_t i) const { return s.variants(records[i].what); }
    [[nodiscard]] progress step(Spec& s, std::size_t i) const {
      return s.step(records[i].what, positions[i].phase, positions[i].variant);
    }
    void finish(std::size_t i) { positions[i].done = true; }
  };

  // The histories of a model are short: nothing is remembered.
  struct nothing_seen {
    [[nodiscard]] static constexpr bool is_new(const Spec&, const search&) { return true; }
  };

  std::size_t count_ = 0;
  std::array<record, Calls> records_{};
};

/// What an operation on one queue did, and the condition under which the sequential queue does the same.
enum class op_kind : unsigned char {
  append,           ///< added `ids` at the back; fits
  append_some,      ///< added `ids` at the back and stopped because the queue was full
  refuse,           ///< a push that found the queue full
  take_front,       ///< took exactly `ids` from the front
  take_back,        ///< took its one id from the back
  take_half,        ///< took ids.size() = min(⌈size/2⌉, limit) from the front
  take_lower_half,  ///< took ids.size() = ⌊size/2⌋ from the front
  take_all,         ///< took everything
  find_empty,       ///< found nothing
  find_work,        ///< was told that there is something
  replace,          ///< a slot: put ids[0], displaced ids[1] (0: the slot was empty)
};

/// A queue of at most `Items` elements at a time, of which `capacity` fit. Every operation is one step.
template <std::size_t Items>
class queue_spec {
 public:
  struct call {
    op_kind kind{};
    std::size_t limit = 0;
    id_list<Items> ids{};
  };

  explicit queue_spec(std::size_t capacity) : capacity_(capacity) {}

  [[nodiscard]] static constexpr unsigned variants(const call&) { return 1; }
  [[nodiscard]] progress step(const call& c, unsigned, unsigned) {
    return apply(c) ? progress::done : progress::illegal;
  }

 private:
  // Performs `c`; false if the sequential queue would have answered differently.
  [[nodiscard]] bool apply(const call& c) {
    const std::size_t size = inside_.size;
    switch (c.kind) {
      case op_kind::append: return append(c);
      case op_kind::append_some: return append(c) && inside_.size == capacity_;
      case op_kind::refuse: return size == capacity_;
      case op_kind::take_front: return take(c, c.ids.size);
      case op_kind::take_half: return take(c, std::min(size - size / 2, c.limit));
      case op_kind::take_lower_half: return take(c, size / 2);
      case op_kind::take_all: return take(c, size);
      case op_kind::take_back: return size != 0 && inside_.ids[--inside_.size] == c.ids.ids[0];
      case op_kind::find_empty: return size == 0;
      case op_kind::find_work: return size != 0;
      case op_kind::replace: return replace(c);
    }
    return false;
  }
  [[nodiscard]] bool append(const call& c) {
    return inside_.size + c.ids.size <= capacity_ && inside_.append(c.ids.all());
  }
  [[nodiscard]] bool take(const call& c, std::size_t n) {
    if (n != c.ids.size || !inside_.starts_with(c.ids.all())) return false;
    inside_.drop_front(n);
    return true;
  }
  [[nodiscard]] bool replace(const call& c) {
    const int displaced = inside_.size == 0 ? 0 : inside_.ids[0];
    inside_.ids[0] = c.ids.ids[0];
    inside_.size = 1;
    return displaced == (c.ids.size == 2 ? c.ids.ids[1] : 0);
  }

  std::size_t capacity_;
  id_list<Items> inside_{};
};

/// `Operations` at most, on one queue of at most `Items` elements at a time, of which `capacity` fit.
template <std::size_t Operations, std::size_t Items>
class history {
 public:
  explicit history(std::size_t capacity = Items) : capacity_(capacity) {}

  /// To be called before an operation begins.
  [[nodiscard]] static moment begin() { return current_engine().now(); }

  /// To be called after an operation has ended, with what begin() returned.
  void add(moment began, op_kind kind, std::span<const int> ids, std::size_t limit = Items) {
    typename queue_spec<Items>::call c{kind, limit, {}};
    require(c.ids.append(ids), "limit reached: more elements than this history has room for");
    calls_.add(began, c);
  }

  /// Fails the execution if no sequential order explains it. In finish(), once.
  void require_linearizable() const { calls_.require_linearizable(queue_spec<Items>(capacity_)); }

 private:
  std::size_t capacity_;
  call_log<queue_spec<Items>, Operations> calls_;
};

}  // namespace runq::model
