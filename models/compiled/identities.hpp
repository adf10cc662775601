// SPDX-License-Identifier: MIT
// What the operating system and libraries know a program's threads by.
#pragma once

#include <pthread.h>

#include "memory.hpp"

namespace runq::model::compiled {

/// The identities of the program's threads: each has a handle, and thread-local variables. That of the first thread is
/// the one of the thread that makes the check; for the others, operating-system threads are parked.
class thread_identities {
 public:
  /// On the thread that makes the check, before it begins. False when the system gives no more threads.
  [[nodiscard]] bool start();
  /// What the first thread's variables hold now is what every execution begins with.
  void remember();
  void begin_execution() noexcept { storage_.restore_main(); }

  /// The running fiber becomes that thread.
  void take(unsigned thread) noexcept;
  /// Thread-local variables as a new thread has them.
  void renew(unsigned thread) const noexcept { storage_.reset(pointer(thread)); }
  /// Of another thread than the first.
  [[nodiscard]] pthread_t handle(unsigned thread) const noexcept { return parked_.handle(thread - 2); }
  /// The thread with that handle, which is not the first; 0: there is none.
  [[nodiscard]] unsigned thread_with(pthread_t handle) const noexcept;
  /// The thread to whose variables the address belongs; 0: to none's.
  [[nodiscard]] unsigned thread_with_variable_at(const void* address) const noexcept;

 private:
  [[nodiscard]] std::byte* pointer(unsigned thread) const noexcept {
    return thread == 1 ? main_pointer_ : parked_.pointer(thread - 2);
  }

  thread_storage storage_;
  parked_threads parked_;
  std::byte* main_pointer_ = nullptr;
  unsigned taken_ = 1;
};

}  // namespace runq::model::compiled
