// SPDX-License-Identifier: MIT
#include "program_keys.hpp"

#include <fmt/format.h>

namespace runq::model::compiled {

void program_keys::remember() {
  keys_before_main_ = keys_;
  values_before_main_ = values_[1];
}

void program_keys::begin_thread(unsigned thread) {
  created_[thread] = 0;
  values_[thread].clear();
  if (thread == 1) values_[1] = values_before_main_;
}

unsigned program_keys::create(exit_handler destroy, const void* code) {
  auto number = static_cast<unsigned>(keys_.size());
  if (now_.search != nullptr) {
    const auto next = static_cast<unsigned>(keys_before_main_.size() + numbers_.size());
    number = numbers_.try_emplace({now_.search->running(), created_[now_.self.number]++}, next).first->second;
    now_.note_effect();
    if (number >= uses_.size()) now_.search->give_up(fmt::format("limit reached: {} keys", uses_.size()));
    memory_.access(&uses_[number], 1, true, code);
  }
  if (keys_.size() <= number) keys_.resize(number + 1);
  keys_[number] = {destroy, true, {}};
  return number;
}

void program_keys::require(unsigned key, const char* what, bool is_write, const void* code) {
  if (key >= keys_.size() || (!keys_[key].exists && keys_[key].deleted.thread == 0)) {
    code_.fail(failure::misuse, fmt::format("a key is {} that was not created", what), code);
  }
  if (!keys_[key].exists) {
    code_.fail(failure::misuse,
               fmt::format("a key is {} after or while it is deleted by T{} at {}", what, keys_[key].deleted.thread - 1,
                           code_.to_text(keys_[key].deleted.at)),
               code);
  }
  const program_memory::object_call call{nullptr, nullptr, is_write ? "deleted" : nullptr};
  memory_.access_in_call(call, &uses_[key], 1, is_write, code);
}

void program_keys::remove(unsigned key, const void* code) {
  if (now_.search != nullptr) {
    require(key, "deleted", true, code);
    keys_[key].deleted = code_.step_here(code);
  } else if (key >= keys_.size()) {
    return;
  }
  keys_[key].exists = false;
}

void*& program_keys::value_of(unsigned key, const void* code) {
  if (now_.search != nullptr) require(key, "used", false, code);
  std::vector<void*>& values = values_[now_.search == nullptr ? 1 : now_.self.number];
  if (values.size() <= key) values.resize(key + 1);
  return values[key];
}

/// Repeats it as often as the C library does, because a handler may set values again.
void program_keys::run_handlers() {
  std::vector<void*>& values = values_[now_.self.number];
  for (int round = 0; round != PTHREAD_DESTRUCTOR_ITERATIONS; ++round) {
    for (unsigned key = 0; key != values.size(); ++key) {
      void* const value = std::exchange(values[key], nullptr);
      if (value != nullptr && keys_[key].exists && keys_[key].destroy != nullptr) keys_[key].destroy(value);
    }
  }
}

}  // namespace runq::model::compiled
