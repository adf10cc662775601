// SPDX-License-Identifier: MIT
// The steps of a trace: what each kind reads and writes, whether a step acquires or releases, what happened before it,
// and the words for it. The engines write traces in these words, and everything that explains an execution reads them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine.hpp"

namespace runq::model {

enum class event_kind : unsigned char {
  load,
  store,
  rmw,
  cas_success,
  cas_failure,
  fence,
  cell_read,
  cell_write,
  lock,
  unlock,
  allocate,
  deallocate,
  pause,
  spawn,  ///< starts the thread with the number `value`
  join,   ///< has waited for the end of the thread with the number `value`
  choice,
  arrive,  ///< at a barrier for `value` threads
  depart,  ///< from it: as many have arrived
  // Choices that are not shown if their value is 0: then nothing happens.
  stop,      ///< stops for ever
  wake_up,   ///< a wait ends for no reason
  time_out,  ///< a timed wait ends, because its time is over
  refusal,   ///< a try_lock() fails for no reason
  reuse,     ///< an allocation gets memory that was freed
  failure
};

/// What holds of all steps of a kind.
struct step_words {
  std::string_view name;  ///< in JSON
  bool reads;             ///< an atomic variable, or a mutex, which is one for the engines
  bool writes;            ///< such a one; of `lock`: if it was taken
  bool is_plain;          ///< it accesses plain memory
  bool has_order;         ///< a memory order is written at it
  /// A line of text: {0} is the variable, {1} the value, {2} what a read-modify-write wrote, {3} the value as a number.
  std::string_view text;
};

/// By kind.
inline constexpr std::array<step_words, 24> words_of_steps{{
    {"load", true, false, false, true, "load  {0} → {1}"},
    {"store", false, true, false, true, "store {0} ← {1}"},
    {"rmw", true, true, false, true, "rmw   {0} {1} → {2}"},
    {"cas ok", true, true, false, true, "cas   {0} {1} → {2}"},
    {"cas failed", true, false, false, true, "cas   {0} failed, saw {1}"},
    {"fence", false, false, false, true, "fence"},
    {"read", false, false, true, false, "read  plain {0}"},
    {"write", false, false, true, false, "write plain {0}"},
    {"lock", true, true, false, false, "lock  {0}"},
    {"unlock", false, true, false, false, "unlock {0}"},
    {"allocate", false, false, false, false, "allocate {0}"},
    {"free", false, false, false, false, "free  {0}"},
    {"pause", false, false, false, false, "pause"},
    {"spawn", false, false, false, false, "start T{3}"},
    {"join", false, false, false, false, "join  T{3}"},
    {"choice", false, false, false, false, "choose {3}"},
    {"arrive", false, false, false, false, "arrive at {0}, of {3}"},
    {"depart", false, false, false, false, "depart from {0}"},
    {"stop", false, false, false, false, "stops for ever"},
    {"wake up", false, false, false, false, "wakes up for no reason"},
    {"time out", false, false, false, false, "its time is over"},
    {"refusal", false, false, false, false, "try_lock() fails for no reason"},
    {"reuse", false, false, false, false, "gets memory again that was freed"},
    {"check", false, false, false, false, "FAILS HERE"},
}};
[[nodiscard]] constexpr const step_words& words_of(event_kind kind) noexcept {
  return words_of_steps[static_cast<std::size_t>(kind)];
}

/// Whether the step is a choice not to do that.
[[nodiscard]] constexpr bool does_nothing(event_kind kind, std::uint64_t value) noexcept {
  return kind >= event_kind::stop && kind <= event_kind::reuse && value == 0;
}

inline constexpr std::uint32_t no_event = ~0U;

/// The first events of each thread, as many as it says: [0] of the construction, [t + 1] of thread t. Threads at the
/// end may be left out, of which it then has no event.
using known_events = std::vector<std::uint32_t>;

/// What a step does at a barrier.
struct barrier_step {
  std::uint32_t arrivals = 1;  ///< arrive: as so many threads
  std::uint32_t leaving = 0;   ///< arrive: of these, so many come to no later round
  std::uint32_t round = 0;     ///< depart: from which, counted from 0
};

/// One step of the failing execution, in an order that respects what each step read.
struct event {
  event_kind kind{};
  int thread = -1;  ///< -1: construction or finish
  site where{};
  std::memory_order order{};            ///< as executed, so after any weakening
  std::uint32_t location = 0;           ///< 1, 2, … in order of first appearance; 0: none
  std::uint64_t value = 0;              ///< read, or written; for an RMW, read; for a lock, 1: taken, 0: not
  std::uint64_t written = 0;            ///< for an RMW, written
  std::uint32_t reads_from = no_event;  ///< index of the event that wrote the value read, where the engine knows it
  std::uint64_t newest = 0;             ///< for a read: the newest value of the location at that step
  bool spurious = false;                ///< a compare-exchange that failed although it read what it expected
  bool stale = false;                   ///< a read that ignored newer values
  std::uint32_t position = 0;           ///< exact engine: events of its thread before it
  bool weakened = false;                ///< `order` is weaker than what is written in the source
  bool constructs = false;              ///< begins the life of the location; this write is not atomic
  std::uint32_t place = no_event;       ///< of an atomic write, where the engine knows it: grows along its mo
  std::uint32_t memory = 0;             ///< the number of the allocation that the location lies in; 0: none
  barrier_step barrier{};
  std::uint8_t signed_bytes = 0;  ///< of the location, if its value is a number that may be negative
  part accessed{};                ///< the bytes of the location that `value`, `written` and `newest` are those of
  known_events known{};           ///< exact engine: what happens before it
  known_events released{};        ///< exact engine: of a write, what a reader that acquires it knows from it
};

/// Whether a step reads an atomic variable or a mutex. Plain memory is apart: see reads_plain().
[[nodiscard]] inline bool reads(const event& e) noexcept { return words_of(e.kind).reads; }
/// Whether a step writes an atomic variable or a mutex. A lock that was not taken writes nothing.
[[nodiscard]] inline bool writes(const event& e) noexcept {
  return words_of(e.kind).writes && (e.kind != event_kind::lock || e.value == 1);
}
[[nodiscard]] inline bool is_rmw(const event& e) noexcept { return reads(e) && writes(e); }
[[nodiscard]] inline bool reads_plain(const event& e) noexcept { return e.kind == event_kind::cell_read; }
[[nodiscard]] inline bool writes_plain(const event& e) noexcept { return e.kind == event_kind::cell_write; }

[[nodiscard]] constexpr bool acquires(std::memory_order o) noexcept {
  return o != std::memory_order::relaxed && o != std::memory_order::release;
}
[[nodiscard]] constexpr bool releases(std::memory_order o) noexcept {
  return o == std::memory_order::release || o == std::memory_order::acq_rel || o == std::memory_order::seq_cst;
}
/// Whether a read or a fence acquires. A lock that was not taken does not.
[[nodiscard]] inline bool acquires(const event& e) noexcept {
  return e.kind == event_kind::lock ? e.value == 1 : acquires(e.order);
}

/// Whether the events that are known include this one.
[[nodiscard]] inline bool includes(const known_events& known, const event& e) noexcept {
  const auto thread = static_cast<std::size_t>(e.thread + 1);
  return thread < known.size() && known[thread] > e.position;
}
/// Whether step `a` of a trace happens before step `b`, where the engine knows that.
[[nodiscard]] inline bool happens_before(const std::vector<event>& trace, std::size_t a, std::size_t b) noexcept {
  if (a >= b) return false;
  // The construction comes before all else; what finish() does comes after all else, and so only before its own steps.
  const event& first = trace[a];
  return first.thread < 0 || first.thread == trace[b].thread || includes(trace[b].known, first);
}

}  // namespace runq::model
