// SPDX-License-Identifier: MIT
#include "beginning.hpp"

#include <cstring>

#include <pthread.h>

#include "branches.hpp"

namespace runq::model::compiled {

void program_beginning::is_in_the_middle(const void* callers_stack) {
  pthread_attr_t attributes;
  void* lowest = nullptr;
  std::size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  const std::byte* const end = static_cast<std::byte*>(lowest) + size;
  callers_begin_ = static_cast<std::byte*>(const_cast<void*>(callers_stack));
  callers_stack_.assign(static_cast<const std::byte*>(callers_begin_), end);
}

void program_beginning::remember() {
  files_.remember();
  identities_.remember();
  heap_.remember();
}

void program_beginning::add_memory() {
  for (const noted_ways& w : all_noted_ways()) memory_.leave_out(w.begin, w.size);
  memory_.add_global_variables();
  if (heap_.used_before_main() != 0) memory_.add(heap_.memory_before_main(), heap_.used_before_main());
}

void program_beginning::restore() noexcept {
  memory_.restore();
  identities_.begin_execution();
  if (!callers_stack_.empty()) std::memcpy(callers_begin_, callers_stack_.data(), callers_stack_.size());
  for (const auto& [at, value] : originals_) std::memcpy(at, &value, sizeof value);
  files_.close_others();
}

/// Whether that memory is put back anyway, or is new in every execution.
bool program_beginning::is_put_back(const void* at) const noexcept {
  const auto within = [at](const std::byte* begin, std::size_t size) { return at >= begin && at < begin + size; };
  return heap_.owns(at) || memory_.contains(at) || within(callers_begin_, callers_stack_.size()) ||
         now_.on_a_stack(at) || identities_.thread_with_variable_at(at) != 0;
}

/// Of each granule, what it holds before the first write.
void program_beginning::keep_granules(const void* at, std::size_t size) {
  const auto* part = static_cast<const std::byte*>(at) - offset_in_granule(at);
  for (const std::byte* const end = static_cast<const std::byte*>(at) + size; part < end; part += granule_bytes) {
    granule& g = shadow_.of(part);
    if (g.is_put_back) continue;
    g.is_put_back = true;
    if (is_put_back(part)) continue;
    auto* const word = reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(part));
    std::uint64_t value = 0;
    std::memcpy(&value, word, sizeof value);
    originals_.emplace_back(word, value);
  }
}

}  // namespace runq::model::compiled
