// SPDX-License-Identifier: MIT
#include "identities.hpp"

#include "exact_graph.hpp"
#include "thread_pointer.hpp"

namespace runq::model::compiled {

bool thread_identities::start() {
  if (!parked_.start(max_threads - 1)) return false;
  main_pointer_ = thread_pointer();
  return true;
}

void thread_identities::remember() {
  storage_.find();
  storage_.remember_main();
}

void thread_identities::take(unsigned thread) noexcept {
  if (thread != taken_) set_thread_pointer(pointer(thread));
  taken_ = thread;
}

unsigned thread_identities::thread_with(pthread_t handle) const noexcept {
  for (unsigned t = 2; t <= max_threads; ++t) {
    if (pthread_equal(this->handle(t), handle) != 0) return t;
  }
  return 0;
}

unsigned thread_identities::thread_with_variable_at(const void* address) const noexcept {
  for (unsigned t = 1; t <= max_threads; ++t) {
    if (storage_.contains(address, pointer(t))) return t;
  }
  return 0;
}

}  // namespace runq::model::compiled
