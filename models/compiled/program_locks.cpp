// SPDX-License-Identifier: MIT
#include "program_locks.hpp"

#include <fmt/format.h>

namespace runq::model::compiled {

void program_locks::note_failed_try(const void* code) {
  if (!code_.is_in_std_lock(code)) now_.omitted.failed_tries = true;
}

/// std::lock() only tries again.
bool program_locks::fails_for_no_reason(const void* code) {
  if (!code_.is_in_try_lock(code) || code_.is_in_std_lock(code)) return false;
  unsigned& failed = failed_tries_[now_.self.number];
  if (failed == now_.limits.spurious_failures) {
    now_.omitted.tries = true;
    return false;
  }
  if (code_.choose(2, code, event_kind::refusal) == 0) return false;
  ++failed;
  return true;
}

void program_locks::lock(void* mutex, const void* code) {
  atomics_.lock(mutex, code);
  waits_.note_taken(mutex);
}

bool program_locks::try_lock(void* mutex, const void* code, exact::event_id like) {
  const bool done = atomics_.try_lock(mutex, like, code);
  if (done) {
    waits_.note_taken(mutex);
  } else {
    note_failed_try(code);
  }
  return done;
}

void program_locks::unlock(void* mutex, const void* code) {
  waits_.note_given_back(mutex);
  atomics_.unlock(mutex, code);
}

bool program_locks::take(void* at, unsigned size, std::uint64_t first, std::uint64_t count, std::uint64_t delta,
                         bool blocking, taken_from what, const void* code) {
  const bool done = atomics_.take(at, size, first, count, delta, blocking, code);
  if (what == taken_from::semaphore) {
    if (done) now_.note_effect();
  } else if (done) {
    waits_.note_taken(at);
  } else {
    note_failed_try(code);
  }
  return done;
}

void program_locks::give_back(void* at, unsigned size, std::uint64_t delta, bool is_all, const void* code) {
  waits_.note_given_back(at);
  atomics_.give_back(at, size, delta, is_all, code);
}

held_lock& program_locks::holding(const void* lock) {
  std::vector<held_lock>& all = now_.running().held;
  for (held_lock& h : all) {
    if (h.lock == lock) return h;
  }
  return all.emplace_back(held_lock{lock, 0, nullptr, {}});
}

void program_locks::note_held(const object_kind& kind, const void* lock, const void* code) {
  held_lock& h = holding(lock);
  if (++h.times != 1) return;
  h.kind = &kind;
  h.since = code_.place(code);
}

void program_locks::require_held(const object_kind& kind, const void* lock, const void* code) {
  if (held(lock) != 0) return;
  code_.fail(failure::misuse,
             fmt::format("T{} gives back {}, which it does not hold", now_.search->running() - 1,
                         memory_.name_of_object(kind, lock)),
             code);
}

void program_locks::require_not_held(const void* begin, std::size_t size, const char* what, const void* code) {
  const auto within = [=](const void* at) { return at >= begin && at < static_cast<const std::byte*>(begin) + size; };
  for (unsigned t = 1; t <= max_threads; ++t) {
    for (const held_lock& h : now_.threads[t].held) {
      if (h.times == 0 || !within(h.lock)) continue;
      code_.fail(failure::misuse,
                 fmt::format("{} is {} while T{} holds it, taken at {}", memory_.name_of_object(*h.kind, h.lock), what,
                             t - 1, code_.to_text(h.since)),
                 code);
    }
  }
}

/// No other thread may give it back. If one waits for it, that is a deadlock.
/// The calls of a generated program may end between lock() and unlock().
bool program_locks::are_abandoned(const program_threads& threads) {
  for (unsigned t = 1; t <= max_threads; ++t) {
    if (!threads.has_ended(t) || threads.has_called(t)) continue;
    for (const held_lock& h : now_.threads[t].held) {
      if (h.times == 0) continue;
      now_.search->report(failure::misuse,
                          fmt::format("T{} has ended while it holds {}, taken at {}", t - 1,
                                      memory_.name_of_object(*h.kind, h.lock), code_.to_text(h.since)),
                          {"", 0, code_.frame_at(h.since)});
      return true;
    }
  }
  return false;
}

}  // namespace runq::model::compiled
