// SPDX-License-Identifier: MIT
// Histories of a model, and whether they are linearizable: checked in every execution that an engine explores.
//
// "Before" is happens-before as the engine knows it. An engine without clocks (Relacy) knows program order only, and
// that construction comes first and finish() last: so it finds fewer errors.
// Fixed arrays: an engine may have taken over operator new.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "atomics.hpp"
#include "call_text.hpp"
#include "id_list.hpp"
#include "judged_calls.hpp"
#include "order_search.hpp"

namespace runq::model {

/// At most `Calls` calls, judged by a specification (wing_gong.hpp): `Spec::call` is what was asked and answered,
/// `progress step(call, phase, variant)` and `unsigned variants(call)` are its steps, and `call_text describe(call)` is
/// what people read, as "take front → 1".
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
    order_search<recorded, Calls> calls{{&records_}, count_};
    for (std::size_t i = 0; i != count_; ++i) {
      for (std::size_t j = 0; j != count_; ++j) {
        if (i == j || !current_engine().happened_before(records_[j].ended, records_[i].began)) continue;
        calls.predecessors[i] |= std::uint64_t{1} << j;
      }
    }
    if (calls.explains_from(initial)) return;
    tell(initial, calls, history_that_fails());
    require(false, failure::not_linearizable,
            "no sequential order explains what the operations returned: not linearizable");
  }

 private:
  struct record {
    moment began, ended;
    call what{};
  };

  /// How the search for an order plays the recorded calls (order_search.hpp).
  struct recorded {
    const std::array<record, Calls>* records;

    [[nodiscard]] unsigned variants(const Spec& s, std::size_t i) const { return s.variants((*records)[i].what); }
    [[nodiscard]] progress step(Spec& s, std::size_t i, unsigned phase, unsigned variant) const {
      return s.step((*records)[i].what, phase, variant);
    }
  };

  void tell(const Spec& initial, const order_search<recorded, Calls>& calls, judged_history& to) const {
    to.count = count_;
    for (std::size_t i = 0; i != count_; ++i) {
      to.calls[i] = {records_[i].began, records_[i].ended, calls.predecessors[i], Spec::describe(records_[i].what)};
    }
    blame(initial, calls, to);
  }

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

  [[nodiscard]] static call_text describe(const call& c) {
    switch (c.kind) {
      case op_kind::append: return call_text("append ").add_list(c.ids.all());
      case op_kind::append_some: return call_text("append ").add_list(c.ids.all()).add(" → full");
      case op_kind::refuse: return call_text("append → full");
      case op_kind::take_front: return took("take front", c);
      case op_kind::take_back: return took("take back", c);
      case op_kind::take_half: return took("take half", c);
      case op_kind::take_lower_half: return took("take lower half", c);
      case op_kind::take_all: return took("take all", c);
      case op_kind::find_empty: return call_text("look → empty");
      case op_kind::find_work: return call_text("look → not empty");
      case op_kind::replace: return replaced(c);
    }
    return {};
  }

  [[nodiscard]] static constexpr unsigned variants(const call&) { return 1; }
  [[nodiscard]] progress step(const call& c, unsigned, unsigned) {
    return apply(c) ? progress::done : progress::illegal;
  }

 private:
  [[nodiscard]] static call_text took(const char* what, const call& c) {
    return call_text(what).add(" → ").add_list(c.ids.all());
  }
  [[nodiscard]] static call_text replaced(const call& c) {
    const bool is_empty = c.ids.size < 2 || c.ids.ids[1] == 0;
    return call_text("put ")
        .add(c.ids.ids[0])
        .add(" → displaced ")
        .add_list(c.ids.all().subspan(is_empty ? c.ids.size : 1));
  }
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
