// SPDX-License-Identifier: MIT
#include "alike_threads.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "execution.hpp"

namespace runq::model::compiled {

void alike_threads::begin_execution() noexcept {
  for (start& s : starts_) s.by = 0;
  any_ = false;
}

unsigned alike_threads::first_like(execution& now, unsigned thread, void* (*function)(void*), const void* argument,
                                   std::span<const std::byte> bytes) {
  if (!now.search->is_up_to_symmetry()) return 0;
  start& own = starts_[thread];
  own = {now.self.number, now.search->position(), function, argument, {bytes.begin(), bytes.end()}};
  own.first = thread;
  own.last = own.position;
  const unsigned since = now.search->beginning_of_starts();
  for (unsigned t = 1; t != starts_.size(); ++t) {
    start& other = starts_[t];
    if (t == thread || other.by != own.by || other.first != t || other.position < since) continue;
    const bool is_same = bytes.empty() ? other.argument == argument : !other.bytes.empty();
    if (other.function != function || !is_same || !std::ranges::equal(other.bytes, own.bytes)) continue;
    if (now.limits.reused != 0) now.search->give_up_symmetry("memory is allocated again, as --reuse asks for");
    if (other.identity != nullptr) now.search->give_up_symmetry(other.identity);
    other.has_others = any_ = true;
    other.last = own.position;
    own.first = t;
    return t;
  }
  return 0;
}

void alike_threads::use_identity(execution& now, const char* what) {
  if (now.search == nullptr || !now.search->is_up_to_symmetry()) return;
  starts_[now.self.number].identity = what;
  if (any_ && is_one(now.self.number)) now.search->give_up_symmetry(what);
}

/// Whether that was done between the first and the last start of threads that begin as `thread` does: it comes before
/// some of them only.
bool alike_threads::is_between_starts(unsigned thread, const step& access) const noexcept {
  const start& first = starts_[starts_[thread].first];
  return first.by == access.thread && access.position > first.position && access.position <= first.last;
}

void alike_threads::compare(execution& now, const step& old, const step& access) {
  if (is_one(access.thread) && is_between_starts(access.thread, old)) {
    now.search->give_up_symmetry("they use what is accessed between their starts");
  }
  if (!is_one(old.thread)) return;
  if (is_between_starts(old.thread, access)) {
    now.search->give_up_symmetry("what they use is accessed between their starts");
  }
  if (now.search->is_between_joins()) now.search->give_up_symmetry("what they use is accessed between their joins");
}

void alike_threads::access_atomic(execution& now, const step& access) {
  if (!any_) return;
  const auto is_between = [&](unsigned t) { return is_one(t) && is_between_starts(t, access); };
  for (unsigned t = 1; t != starts_.size(); ++t) {
    if (is_between(t) || now.search->is_between_joins()) {
      now.search->give_up_symmetry("an atomic variable is accessed plainly between their starts or joins");
    }
  }
}

void alike_threads::share_stack(execution& now, unsigned owner) {
  if (any_ && is_one(owner)) now.search->give_up_symmetry("another thread uses the stack of one of them");
}

void alike_threads::write(execution& now, const void* at, unsigned size) {
  if (!any_) return;
  for (unsigned i = 0; i + sizeof(void*) <= size; i += sizeof(void*)) {
    const void* word = nullptr;
    std::memcpy(&word, static_cast<const std::byte*>(at) + i, sizeof word);
    const unsigned owner = now.thread_with_variable_at(word);
    if (owner != 0 && is_one(owner)) {
      now.search->give_up_symmetry("the address of a variable of one of them is written to an atomic variable");
    }
  }
}

void alike_threads::look_at_result(execution& now, unsigned thread, const void* result) {
  if (!any_ || !is_one(thread)) return;
  start& first = starts_[starts_[thread].first];
  if (first.is_joined && first.result != result) now.search->give_up_symmetry("they return different values");
  first.is_joined = true;
  first.result = result;
}

}  // namespace runq::model::compiled
