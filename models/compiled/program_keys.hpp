// SPDX-License-Identifier: MIT
// Values that belong to a thread, by keys: pthread_key_create() and its like.
#pragma once

#include <array>
#include <climits>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "execution.hpp"
#include "program_code.hpp"
#include "program_memory.hpp"

namespace runq::model::compiled {

using exit_handler = void (*)(void*);

/// The program's keys, and what each thread has under them. What is asked outside of a check is the first thread's.
class program_keys {
 public:
  program_keys(execution& now, program_code& code, program_memory& memory) : now_(now), code_(code), memory_(memory) {}

  /// What there is now is what every execution begins with.
  void remember();
  void begin_execution() { keys_ = keys_before_main_; }
  void begin_thread(unsigned thread);
  /// When the running thread ends.
  void run_handlers();

  [[nodiscard]] unsigned create(exit_handler destroy, const void* code);
  void remove(unsigned key, const void* code);
  [[nodiscard]] void*& value_of(unsigned key, const void* code);

 private:
  struct key_record {
    exit_handler destroy = nullptr;  ///< what ends its values
    bool exists = false;
    step deleted;
  };
  void require(unsigned key, const char* what, bool is_write, const void* code);

  execution& now_;
  program_code& code_;
  program_memory& memory_;
  std::vector<key_record> keys_;  ///< of this execution
  std::vector<key_record> keys_before_main_;
  /// Which number the n-th key that a thread creates has: the same in all executions.
  std::map<std::pair<unsigned, unsigned>, unsigned> numbers_;
  std::array<unsigned, exact::thread_slots> created_{};         ///< keys, by thread
  std::array<std::vector<void*>, exact::thread_slots> values_;  ///< by thread and key
  std::vector<void*> values_before_main_;
  /// A key is no memory: a byte here stands for it, which is accessed like the program's memory.
  std::array<std::uint64_t, PTHREAD_KEYS_MAX> uses_{};
};

}  // namespace runq::model::compiled
